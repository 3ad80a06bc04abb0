#include "core/dgp/moments/moment_paths.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fidelio {

using Eigen::Index;

MomentPaths::MomentPaths(const MomentPosterior& posterior, const std::vector<int>& links, std::vector<Random> random,
                         const Matrix& first)
    : posterior_(posterior), paths_(links.size()) {
  for (size_t i = 0; i < links.size(); ++i) {
    Path& path = paths_[i];
    path.link = links[i];
    path.first = posterior_.first_->Draw(random[i]);
    path.layers.emplace_back();
    for (int t = 1; t < static_cast<int>(posterior_.levels_.size()); ++t) {
      path.layers.push_back(DrawLayer(t, path.link, random[i]));
    }
    UpdateByData(path, first.size() > 0 ? Vector(first.col(static_cast<Index>(i))) : Vector(), random[i]);
  }
}

MomentPaths::Layer MomentPaths::DrawLayer(int t, int link, Random& random) const {
  const MomentModel& model = *posterior_.model_;
  const SpectralFactor over_x{.family = model.recipe.kernel, .dimensions = model.data.dimension()};
  Layer layer;
  layer.own.emplace(std::vector{over_x}, kPathWaves, random);
  layer.link.emplace(over_x, kPathWaves, random);
  layer.offset = std::sqrt(posterior_.levels_[t].links[link].prior_offset) * random.Normal();
  if (model.recipe.trend) layer.trend.emplace(model.data.dimension(), model.recipe.trend_curvature, random);
  return layer;
}

MomentPaths::Inputs MomentPaths::InputsAt(const Matrix& x, int t) const {
  const MomentModel& model = *posterior_.model_;
  Inputs inputs;
  inputs.x = x;
  if (t == 0) {
    posterior_.first_->Inputs(x, inputs.own);
    return inputs;
  }
  inputs.own = x * posterior_.levels_[t].delta_inverse.asDiagonal();
  inputs.rho = x * posterior_.levels_[t].rho_inverse.asDiagonal();
  if (model.recipe.trend) inputs.trend = model.TrendInputs(x);
  return inputs;
}

Vector MomentPaths::Prior(const Path& path, const Inputs& inputs, int t, const ConstVectorRef& below) const {
  const Layer& layer = path.layers[t];
  if (t == 0) return path.first->Evaluate(inputs.x, inputs.own, below);
  const LinkScalars& s = posterior_.levels_[t].scalars;
  Vector f = s.rho * below;
  f.array() += (1 - s.rho) * posterior_.levels_[t].links[path.link].zero + layer.offset;
  f += std::sqrt(s.delta) * layer.own->Evaluate(inputs.own);
  layer.link->AddTo(s.terms, inputs.rho, below, f);
  if (s.trend > 0) f += std::sqrt(s.trend) * layer.trend->Evaluate(inputs.trend);
  return f;
}

// Takes the path through the points of all levels, as MomentRecursion does with means.
void MomentPaths::UpdateByData(Path& path, const ConstVectorRef& first, Random& random) const {
  const MomentModel& model = *posterior_.model_;
  Vector f = first;  // at the points of levels ≥ t, given y_<t
  for (int t = 0; t < model.data.levels(); ++t) {
    const Index n = model.data.count(t), rest = model.data.rest(t) - n, at = model.data.offset[t];
    f = Prior(path, InputsAt(model.data.x.bottomRows(n + rest), t), t, f);
    const auto noise = model.data.noise.segment(at, n).array() + posterior_.noise_[t];
    const Vector missed =
        model.data.y.segment(at, n) - f.head(n) - noise.sqrt().matrix().cwiseProduct(random.NormalVector(n));
    Vector product(n + rest);
    posterior_.levels_[t].links[t == 0 ? 0 : path.link].panels.Times(missed, product);
    path.residual.push_back(product.head(n));
    f = f.tail(rest) + product.tail(rest);
  }
}

void MomentPaths::Evaluate(const MomentQueries& queries, int level, MomentPosterior::Workspace& workspace,
                           MatrixRef values, const Matrix& first) const {
  std::vector<Inputs> inputs;
  for (int t = 0; t <= level; ++t) inputs.push_back(InputsAt(queries.x, t));
  posterior_.Begin(queries, level, workspace);
  for (int link = 0; link < posterior_.links(); ++link) {
    if (std::none_of(paths_.begin(), paths_.end(), [&](const Path& path) { return path.link == link; })) continue;
    posterior_.Climb(queries, level, link, workspace);
    posterior_.Smooth(level, link, workspace);
    for (size_t i = 0; i < paths_.size(); ++i) {
      const Path& path = paths_[i];
      if (path.link != link) continue;
      Vector f = first.size() > 0 ? Vector(first.col(static_cast<Index>(i))) : Vector();
      for (size_t t = 0; t < workspace.levels.size(); ++t) {
        if (static_cast<int>(t) <= level) f = Prior(path, inputs[t], static_cast<int>(t), f);
        f.noalias() += workspace.levels[t].product.topRows(path.residual[t].size()).transpose() * path.residual[t];
      }
      values.col(static_cast<Index>(i)) = f;
    }
  }
}

}  // namespace fidelio
