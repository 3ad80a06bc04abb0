#include "core/baseline/draw_paths.h"

namespace fidelio {

using Eigen::Index;

DrawPaths::DrawPaths(const std::vector<const GpPosterior*>& posteriors, const Vector& weights,
                     std::vector<Random>& random) {
  std::vector<std::vector<size_t>> functions(posteriors.size());  // of every component
  for (size_t i = 0; i < random.size(); ++i) {
    double rest = random[i].Uniform();
    size_t k = 0;
    while (k + 1 < posteriors.size() && rest >= weights[static_cast<Index>(k)])
      rest -= weights[static_cast<Index>(k++)];
    functions[k].push_back(i);
  }
  members_.resize(random.size());
  for (size_t k = 0; k < posteriors.size(); ++k) {
    if (functions[k].empty()) continue;
    std::vector<Random> own;
    for (const size_t i : functions[k]) {
      members_[i] = {groups_.size(), own.size()};
      own.push_back(random[i]);
    }
    groups_.emplace_back(*posteriors[k], own);
    for (size_t j = 0; j < own.size(); ++j) random[functions[k][j]] = own[j];
  }
}

Matrix DrawPaths::Evaluate(const Matrix& z) const {
  std::vector<Matrix> f;
  for (const GpPaths& group : groups_) f.push_back(group.Evaluate(z));
  Matrix result(z.rows(), static_cast<Index>(members_.size()));
  for (size_t i = 0; i < members_.size(); ++i) {
    result.col(static_cast<Index>(i)) = f[members_[i].first].col(static_cast<Index>(members_[i].second));
  }
  return result;
}

Vector DrawPaths::Evaluate(const Matrix& z, size_t path) const {
  return groups_[members_[path].first].Evaluate(z, members_[path].second);
}

}  // namespace fidelio
