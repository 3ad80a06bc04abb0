#include "core/dgp/sparse/sparse_mf_dgp_posterior.h"

#include <algorithm>
#include <utility>

#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/dgp/sparse/sparse_paths.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int kPathGroup = 32;  // functions that are drawn, and evaluated, at a time
constexpr int kDrawn = 64;      // functions drawn between two checks

std::vector<Index> ComponentsOf(const NodeLayer& nodes) {
  std::vector<Index> components;
  for (Index p = 0; p < nodes.size(); ++p) {
    if (nodes.weight[p] > 0) components.push_back(p);
  }
  return components;
}

class SparseFunctions final : public Posterior::Functions {
 public:
  SparseFunctions(const SparseMfDgpPosterior& posterior, const PathOptions& options)
      : posterior_(posterior), level_(options.level), count_(options.count) {
    const std::vector<Random> random = FunctionRandoms(options);
    groups_.resize((count_ + kPathGroup - 1) / kPathGroup);
    ParallelFor(static_cast<int>(groups_.size()), options.threads, [&](int g) {
      const auto begin = random.begin() + g * kPathGroup, end = random.begin() + std::min(count_, (g + 1) * kPathGroup);
      groups_[g] = std::make_unique<const SparsePaths>(posterior.layers(), level_, std::vector<Random>(begin, end));
    });
  }

  Matrix Evaluate(const Matrix& x, Vector* mean) const override {
    if (mean != nullptr) {
      *mean = SparseBlock(posterior_, x, level_).Predict().mean.transpose() * posterior_.Weights(level_);
    }
    Matrix f(x.rows(), count_);
    for (size_t g = 0; g < groups_.size(); ++g) {
      const Matrix own = groups_[g]->Evaluate(x);
      f.middleCols(static_cast<Index>(g) * kPathGroup, own.cols()) = own;
    }
    return f;
  }

 private:
  const SparseMfDgpPosterior& posterior_;
  const int level_, count_;
  std::vector<std::unique_ptr<const SparsePaths>> groups_;
};

}  // namespace

SparseBlock::SparseBlock(const SparseMfDgpPosterior& posterior, Matrix x, int level)
    : x_(std::move(x)),
      level_(level),
      plan_(posterior.PlanOf(x_.rows(), level)),
      at_(posterior.layers(), x_, *plan_, level),
      components_(ComponentsOf(nodes())) {}

Posterior::Gaussians SparseBlock::Predict() {
  const Index n = x_.rows(), count = n > 0 ? static_cast<Index>(components_.size()) / n : 0;
  return {.mean = at_.mean(level_)(components_).reshaped(count, n),
          .variance = at_.variance(level_)(components_).reshaped(count, n)};
}

Matrix SparseBlock::Gradient(const Matrix& mean_bar, const Matrix& variance_bar) {
  Vector node_mean_bar = Vector::Zero(nodes().size()), node_variance_bar = node_mean_bar;
  node_mean_bar(components_) = mean_bar.reshaped();
  node_variance_bar(components_) = variance_bar.reshaped();
  return at_.Gradient(node_mean_bar, node_variance_bar);
}

absl::StatusOr<std::unique_ptr<const Posterior>> SparseMfDgpPosterior::Build(uint32_t kind,
                                                                             std::vector<SparseLayerState> layers) {
  FIDELIO_ASSIGN_OR_RETURN(SparsePosterior posterior, SparsePosterior::Build(std::move(layers)));
  return std::make_unique<const SparseMfDgpPosterior>(kind, std::move(posterior));
}

SparseMfDgpPosterior::SparseMfDgpPosterior(uint32_t kind, SparsePosterior layers)
    : kind_(kind), layers_(std::move(layers)) {
  for (int t = 0; t < layers_.levels(); ++t) {
    plans_.push_back(
        std::make_shared<const NodePlan>(std::vector<int>(static_cast<size_t>(kQueryBlock), t), t + 1, NodeRule()));
    const NodeLayer& nodes = plans_[t]->layers[t];
    const Vector all = nodes.weight(ComponentsOf(nodes));
    weights_.emplace_back(all.head(all.size() / kQueryBlock));
  }
}

std::shared_ptr<const NodePlan> SparseMfDgpPosterior::PlanOf(Index inputs, int level) const {
  if (inputs == kQueryBlock) return plans_[level];
  return std::make_shared<const NodePlan>(std::vector<int>(static_cast<size_t>(inputs), level), level + 1, NodeRule());
}

Vector SparseMfDgpPosterior::Noise(int level) const {
  return Vector::Constant(weights_[level].size(), layers_.layer(level).noise);
}

std::unique_ptr<Posterior::Block> SparseMfDgpPosterior::At(Matrix x, int level) const {
  return std::make_unique<SparseBlock>(*this, std::move(x), level);
}

std::unique_ptr<const Posterior::Functions> SparseMfDgpPosterior::Draw(const PathOptions& options) const {
  return std::make_unique<SparseFunctions>(*this, options);
}

absl::StatusOr<Matrix> SparseMfDgpPosterior::Sample(const Matrix& x, int level, const SampleRequest& request) const {
  const JointOptions& options = request.options;
  Matrix paths(request.count, x.rows());
  for (int first = 0; first < request.count; first += kDrawn) {
    if (options.check) FIDELIO_RETURN_IF_ERROR(options.check());
    const int count = std::min(kDrawn, request.count - first);
    const SparseFunctions functions(
        *this, {.level = level, .first = first, .count = count, .seed = request.seed, .threads = options.threads});
    ParallelFor(static_cast<int>((x.rows() + kQueryBlock - 1) / kQueryBlock), options.threads, [&](int b) {
      const Index begin = b * kQueryBlock, n = std::min(kQueryBlock, x.rows() - begin);
      paths.block(first, begin, count, n) = functions.Evaluate(x.middleRows(begin, n), nullptr).transpose();
    });
  }
  if (request.noise.size() > 0) AddNoise(request.noise[0], request.seed, paths);  // the same of all
  return paths;
}

int64_t SparseMfDgpPosterior::MemoryBytes(const Dataset& data) const {
  int64_t numbers = 2048;
  for (const LevelData& level : data.levels) numbers += level.x.size() + level.y.size() * 2;
  for (int t = 0; t < layers_.levels(); ++t) {
    const int64_t m = layers_.layer(t).m.size();
    numbers += m * (2 * m + data.dimension() + 4);
    for (const NodeLayer& nodes : plans_[t]->layers) numbers += 4 * nodes.size();
  }
  return 8 * numbers;
}

}  // namespace fidelio
