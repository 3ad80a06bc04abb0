#include "core/dgp/sparse/sparse_mf_dgp.h"

#include <algorithm>
#include <utility>

#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/dgp/sparse/sparse_mf_dgp_impl.h"
#include "core/emulator/query_check.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kNodeBlock = 64;  // query points that one thread works on at a time

// The nodes of layer `level` that are components of its mixture: those of each point in the same order.
Index Components(const NodePlan& plan, int level) {
  Index count = 0;
  const NodeLayer& nodes = plan.layers[level];
  for (Index p = 0; p < nodes.size() && nodes.point[p] == 0; ++p) count += nodes.weight[p] > 0 ? 1 : 0;
  return count;
}

// body(component, point, node) for them.
template <typename Body>
void ForComponents(const NodePlan& plan, int level, const Body& body) {
  const NodeLayer& nodes = plan.layers[level];
  Index component = 0;
  for (Index p = 0; p < nodes.size(); ++p) {
    if (p > 0 && nodes.point[p] != nodes.point[p - 1]) component = 0;
    if (nodes.weight[p] > 0) body(component++, nodes.point[p], p);
  }
}

Vector ComponentWeights(const NodePlan& plan, int level) {
  Vector weight(Components(plan, level));
  ForComponents(plan, level, [&](Index s, Index, Index p) { weight[s] = plan.layers[level].weight[p]; });
  return weight;
}

}  // namespace

SparseMfDgp::SparseMfDgp(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
SparseMfDgp::~SparseMfDgp() = default;

int SparseMfDgp::levels() const { return impl_->posterior.levels(); }
int SparseMfDgp::input_dimension() const { return impl_->data.dimension(); }
uint32_t SparseMfDgp::checkpoint_kind() const { return impl_->kind; }
const FitReport& SparseMfDgp::report() const { return impl_->report; }
const Dataset& SparseMfDgp::data() const { return impl_->data; }

int64_t SparseMfDgp::MemoryBytes() const {
  int64_t numbers = 2048;
  for (const LevelData& level : impl_->data.levels) numbers += level.x.size() + level.y.size() * 2;
  for (int t = 0; t < levels(); ++t) {
    const int64_t m = impl_->posterior.layer(t).m.size();
    numbers += m * (2 * m + input_dimension() + 4);
  }
  return 8 * numbers;
}

absl::StatusOr<std::unique_ptr<SparseMfDgp::Impl>> SparseMfDgp::Impl::Build(uint32_t kind, Dataset data,
                                                                            Scaling scaling,
                                                                            std::vector<SparseLayerState> layers,
                                                                            const FitReport& report) {
  auto impl = std::make_unique<Impl>();
  impl->kind = kind;
  FIDELIO_ASSIGN_OR_RETURN(impl->posterior, SparsePosterior::Build(std::move(layers)));
  for (const LevelData& level : data.levels) {
    impl->given_noise.push_back(level.noise_variance.size() > 0 ? level.noise_variance.mean() : 0);
  }
  impl->data = std::move(data);
  impl->scaling = std::move(scaling);
  impl->report = report;
  impl->report.draws = 1;
  return impl;
}

Vector SparseMfDgp::Impl::NodeWeights(int level) const {
  return ComponentWeights(NodePlan({level}, level + 1, NodeRule()), level);
}

void SparseMfDgp::Impl::Inflate(const Inflation& by) {
  inflation = by;
  given_noise.back() /= by.NoiseDivisor();
}

void SparseMfDgp::Impl::ForBlocks(const Matrix& x, int level, int threads, const BlockBody& body) const {
  const Index n = x.rows();
  const auto plan_of = [&](Index rows) {
    return NodePlan(std::vector<int>(static_cast<size_t>(rows), level), level + 1, NodeRule());
  };
  const NodePlan whole = plan_of(std::min(kNodeBlock, n)), last = plan_of(n % kNodeBlock);
  ParallelFor(static_cast<int>((n + kNodeBlock - 1) / kNodeBlock), threads, [&](int b) {
    const Index begin = b * kNodeBlock, rows = std::min(kNodeBlock, n - begin);
    body(begin, rows == std::min(kNodeBlock, n) ? whole : last, scaling.ScaleInputs(x.middleRows(begin, rows)));
  });
}

Mixture SparseMfDgp::Impl::PredictBlock(const SparsePosterior::Evaluation& at, const NodePlan& plan, int level,
                                        bool include_noise) const {
  Mixture mixture;
  mixture.weight = ComponentWeights(plan, level);
  const Index points = static_cast<Index>(plan.layers[0].point.size());
  mixture.mean.resize(mixture.weight.size(), points);
  mixture.variance.resize(mixture.weight.size(), points);
  const double sd = scaling.output_sd, noise = include_noise ? NoiseAt(level) : 0;
  ForComponents(plan, level, [&](Index s, Index i, Index p) {
    mixture.mean(s, i) = at.mean(level)[p] * sd + scaling.output_mean;
    mixture.variance(s, i) = at.variance(level)[p] * sd * sd + noise;
  });
  fidelio::Inflate(InflationAt(level), mixture);
  return mixture;
}

absl::StatusOr<Prediction> SparseMfDgp::Predict(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  FIDELIO_RETURN_IF_ERROR(CheckQuantiles(options.quantiles));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  Prediction result;
  result.mean.resize(x.rows());
  result.variance.resize(x.rows());
  result.median.resize(x.rows());
  result.mean_cdf.resize(x.rows());
  result.quantiles.resize(x.rows(), static_cast<Index>(options.quantiles.size()));
  if (options.input_gradient) result.input_gradient.setZero(x.rows(), x.cols());
  impl_->ForBlocks(x, level, options.threads, [&](Index begin, const NodePlan& plan, const Matrix& block) {
    const Index n = block.rows();
    SparsePosterior::Evaluation at(impl_->posterior, block, plan, level);
    const Mixture mixture = impl_->PredictBlock(at, plan, level, options.include_noise);
    const Vector mean = MixtureMean(mixture);
    result.mean.segment(begin, n) = mean;
    result.variance.segment(begin, n) = MixtureVariance(mixture, mean);
    SetMedians(mixture, mean, begin, result);
    if (!options.quantiles.empty()) {
      result.quantiles.middleRows(begin, n) = MixtureQuantiles(mixture, options.quantiles);
    }
    if (options.input_gradient) {
      result.input_gradient.middleRows(begin, n) =
          at.Gradient(plan.layers[level].weight * impl_->scaling.output_sd, Vector::Zero(plan.layers[level].size())) *
          impl_->scaling.input_width.cwiseInverse().asDiagonal();
    }
  });
  return result;
}

absl::StatusOr<Vector> SparseMfDgp::LogDensity(const Matrix& x, const Vector& y, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  FIDELIO_RETURN_IF_ERROR(CheckOutputs(x, y));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  Vector result(x.rows());
  impl_->ForBlocks(x, level, options.threads, [&](Index begin, const NodePlan& plan, const Matrix& block) {
    const SparsePosterior::Evaluation at(impl_->posterior, block, plan, level);
    result.segment(begin, block.rows()) =
        MixtureLogDensity(impl_->PredictBlock(at, plan, level, options.include_noise), y.segment(begin, block.rows()));
  });
  return result;
}

absl::StatusOr<Mixture> SparseMfDgp::PredictMixture(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  Mixture result;
  result.weight = impl_->NodeWeights(level);
  result.mean.resize(result.weight.size(), x.rows());
  result.variance.resize(result.weight.size(), x.rows());
  impl_->ForBlocks(x, level, options.threads, [&](Index begin, const NodePlan& plan, const Matrix& block) {
    const SparsePosterior::Evaluation at(impl_->posterior, block, plan, level);
    const Mixture mixture = impl_->PredictBlock(at, plan, level, options.include_noise);
    result.mean.middleCols(begin, block.rows()) = mixture.mean;
    result.variance.middleCols(begin, block.rows()) = mixture.variance;
  });
  return result;
}

absl::StatusOr<Matrix> SparseMfDgp::MixtureGradient(const Matrix& x, const Matrix& mean_bar, const Matrix& variance_bar,
                                                    const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  const Vector weights = impl_->NodeWeights(level);
  FIDELIO_RETURN_IF_ERROR(CheckMixtureGradient(x, weights.size(), mean_bar, variance_bar));
  Matrix own_mean_bar = mean_bar, own_variance_bar = variance_bar;
  InflateAdjoints(impl_->InflationAt(level), weights, own_mean_bar, own_variance_bar);
  const double sd = impl_->scaling.output_sd;
  Matrix result(x.rows(), x.cols());
  impl_->ForBlocks(x, level, options.threads, [&](Index begin, const NodePlan& plan, const Matrix& block) {
    SparsePosterior::Evaluation at(impl_->posterior, block, plan, level);
    Vector node_mean_bar = Vector::Zero(plan.layers[level].size()), node_variance_bar = node_mean_bar;
    ForComponents(plan, level, [&](Index s, Index i, Index p) {
      node_mean_bar[p] = sd * own_mean_bar(s, begin + i);
      node_variance_bar[p] = sd * sd * own_variance_bar(s, begin + i);
    });
    result.middleRows(begin, block.rows()) =
        at.Gradient(node_mean_bar, node_variance_bar) * impl_->scaling.input_width.cwiseInverse().asDiagonal();
  });
  return result;
}

}  // namespace fidelio
