#include "core/neighbour/neighbour_dgp_posterior.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/gp/gaussian_samples.h"
#include "core/neighbour/neighbour_path.h"

namespace fidelio {
namespace {

using Eigen::Index;

// Some query points, what the stack says about them, and, for a level of which IsUpper holds, how the structures see them.
class NeighbourBlock final : public Posterior::Block {
 public:
  NeighbourBlock(const NeighbourDgpPosterior& posterior, Matrix x, int level, int threads)
      : posterior_(posterior),
        x_(std::move(x)),
        columns_(x_.transpose()),
        level_(level),
        stencils_(x_.rows()),
        points_(x_.rows()),
        near_(x_.rows()) {
    const int n = static_cast<int>(x_.rows()), reached = posterior_.Reached(level);
    const NeighbourStack& stack = posterior_.stack();
    const UpperPoints* const upper = posterior_.IsUpper(level) ? posterior_.upper() : nullptr;
    if (upper != nullptr) {
      first_.cross = Matrix::Zero(upper->data().y.size(), n);
      first_.mean.resize(n);
      first_.variance.resize(n);
    }
    ParallelFor(n, threads, [&](int i) {
      const double* const at = columns_.col(i).data();
      stencils_[i] = stack.Reach(at, reached);
      points_[i] = {at, stencils_[i].data()};
      if (upper == nullptr) return;
      const Stencil& stencil = stencils_[i][reached];
      first_.mean[i] = stencil.mean;
      first_.variance[i] = stencil.variance;
      near_[i] = upper->Near(stencil);
      const std::vector<ReachedPoint> others = NearPoints(i);
      if (stencil.spread.size() > 0) first_.cross.col(i).noalias() = upper->spreads().transpose() * stencil.spread;
      const Matrix row = stack.Covariance(reached, {&points_[i], 1}, others);
      for (size_t k = 0; k < others.size(); ++k) first_.cross(near_[i][k], i) = row(0, static_cast<Index>(k));
    });
    if (upper == nullptr) return;
    seen_ = posterior_.mixture()->Queries(x_, first_);
  }

  Posterior::Gaussians Predict() override {
    if (posterior_.IsUpper(level_)) {
      return posterior_.mixture()->Predict(seen_, posterior_.OwnLevel(level_), workspace_);
    }
    Posterior::Gaussians result{.mean = Matrix(1, x_.rows()), .variance = Matrix(1, x_.rows())};
    for (Index i = 0; i < x_.rows(); ++i) {
      result.mean(0, i) = stencils_[i][level_].mean;
      result.variance(0, i) = stencils_[i][level_].variance;
    }
    return result;
  }

  Matrix Gradient(const Matrix& mean_bar, const Matrix& variance_bar) override {
    const Index n = x_.rows();
    std::vector<MomentAdjoints> bars(n);
    Matrix gradient = Matrix::Zero(n, x_.cols());
    if (posterior_.IsUpper(level_)) {
      const Matrix& spreads = posterior_.upper()->spreads();
      for (Index i = 0; i < n; ++i) bars[i].others = NearPoints(i);
      MomentPosterior::Adjoints adjoints =
          posterior_.mixture()->Reverse(seen_, posterior_.OwnLevel(level_), mean_bar, variance_bar, workspace_);
      gradient = std::move(adjoints.x);
      for (Index i = 0; i < n; ++i) {
        const auto cross = adjoints.given.cross.col(i);
        bars[i].mean = adjoints.given.mean[i];
        bars[i].variance = adjoints.given.variance[i];
        bars[i].covariance = cross(near_[i]);
        bars[i].spread.noalias() = spreads * cross;
      }
    } else {
      for (Index i = 0; i < n; ++i) {
        bars[i].mean = mean_bar(0, i);
        bars[i].variance = variance_bar(0, i);
      }
    }
    for (Index i = 0; i < n; ++i) {
      gradient.row(i) += posterior_.stack().Gradient(posterior_.Reached(level_), points_[i], bars[i]).transpose();
    }
    return gradient;
  }

  const std::vector<ReachedPoint>& points() const { return points_; }
  const std::vector<MomentQueries>& seen() const { return seen_; }
  MomentPosterior::Workspace& workspace() { return workspace_; }

  // What the stack says about the points jointly.
  Posterior::JointGaussian OfStack(int threads) const {
    const int reached = posterior_.Reached(level_);
    Posterior::JointGaussian joint{.mean = Vector(x_.rows()), .covariance = {}};
    for (Index i = 0; i < x_.rows(); ++i) joint.mean[i] = stencils_[i][reached].mean;
    joint.covariance = JointCovariance(posterior_.stack(), reached, points_, threads);
    return joint;
  }
  // The same beside the upper points.
  MomentMixture::First JointFirst(int threads) const {
    return {.moments = first_,
            .covariance = JointCovariance(posterior_.stack(), posterior_.Reached(level_), points_, threads)};
  }

 private:
  // The upper points with which a point has a covariance.
  std::vector<ReachedPoint> NearPoints(Index i) const {
    std::vector<ReachedPoint> near;
    for (const int j : near_[i]) near.push_back(posterior_.upper()->reached()[j]);
    return near;
  }

  const NeighbourDgpPosterior& posterior_;
  const Matrix x_, columns_;
  const int level_;
  std::vector<std::vector<Stencil>> stencils_;
  std::vector<ReachedPoint> points_;
  std::vector<std::vector<int>> near_;
  QueryMoments first_;
  std::vector<MomentQueries> seen_;  // per structure
  MomentPosterior::Workspace workspace_;
};

// Functions of the stack (NeighbourPath), and above it those of the mixture on top of them.
class NeighbourFunctions final : public Posterior::Functions {
 public:
  NeighbourFunctions(const NeighbourDgpPosterior& posterior, const PathOptions& options)
      : posterior_(posterior), level_(options.level) {
    for (Random& random : FunctionRandoms(options, RandomUse::kFunctionStack)) {
      stacked_.push_back(std::make_unique<const NeighbourPath>(posterior.stack(), posterior.Reached(level_), random));
    }
    if (!posterior.IsUpper(level_)) return;
    PathOptions own = options;
    own.level = posterior.OwnLevel(level_);
    upper_.emplace(*posterior.mixture(), own, OfStack(posterior.upper()->reached(), options.threads));
  }

  Matrix Evaluate(const Matrix& x, Vector* mean) const override {
    NeighbourBlock at(posterior_, x, level_, /*threads=*/1);
    if (mean != nullptr) *mean = at.Predict().mean.transpose() * posterior_.Weights(level_);
    const Matrix f = OfStack(at.points(), /*threads=*/1);
    return upper_ ? upper_->Evaluate(at.seen(), at.workspace(), f) : f;
  }

 private:
  // At points that have reached their level: points × functions.
  Matrix OfStack(const std::vector<ReachedPoint>& points, int threads) const {
    Matrix f(static_cast<Index>(points.size()), static_cast<Index>(stacked_.size()));
    ParallelFor(static_cast<int>(points.size()), threads, [&](int i) {
      for (size_t k = 0; k < stacked_.size(); ++k) f(i, static_cast<Index>(k)) = stacked_[k]->At(points[i]);
    });
    return f;
  }

  const NeighbourDgpPosterior& posterior_;
  const int level_;
  std::vector<std::unique_ptr<const NeighbourPath>> stacked_;
  std::optional<MomentMixture::Functions> upper_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const NeighbourDgpPosterior>> NeighbourDgpPosterior::Build(
    const Dataset& data, const Scaling& scaling, const NeighbourDgpParameters& parameters, int threads,
    const NeighbourDgpPosterior* before) {
  auto stack = std::make_unique<NeighbourStack>(parameters.neighbours, parameters.centres);
  for (size_t t = 0; t < parameters.layers.size(); ++t) {
    stack->AddData(ScaledLevel(data.levels[t], scaling), threads);
    stack->Complete(parameters.layers[t].kernel, parameters.layers[t].theta, threads);
  }
  return Build(data, scaling, std::move(stack), parameters.recipes, parameters.draws, threads, before);
}

absl::StatusOr<std::unique_ptr<const NeighbourDgpPosterior>> NeighbourDgpPosterior::Build(
    const Dataset& data, const Scaling& scaling, std::unique_ptr<const NeighbourStack> stack,
    const std::vector<Recipe>& recipes, const std::vector<MomentDraw>& draws, int threads,
    const NeighbourDgpPosterior* before) {
  auto posterior = std::make_unique<NeighbourDgpPosterior>();
  posterior->stack_ = std::move(stack);
  if (posterior->stacked() == static_cast<int>(data.levels.size())) return posterior;
  posterior->upper_ = std::make_unique<const UpperPoints>(*posterior->stack_, data, scaling, threads);
  std::vector<std::shared_ptr<const MomentModel>> structures;
  for (const Recipe& recipe : recipes) structures.push_back(posterior->upper_->Model(recipe));
  FIDELIO_ASSIGN_OR_RETURN(posterior->mixture_, MomentMixture::Build(std::move(structures), draws, threads,
                                                                     before != nullptr ? before->mixture() : nullptr));
  return posterior;
}

NeighbourDgpParameters NeighbourDgpPosterior::parameters() const {
  NeighbourDgpParameters found;
  found.neighbours = stack_->neighbours();
  found.centres = stack_->centres();
  for (int t = 0; t < stacked(); ++t) found.layers.push_back({stack_->kernel(t), stack_->theta(t)});
  if (!mixture_) return found;
  for (const auto& structure : mixture_->structures()) found.recipes.push_back(structure->recipe);
  found.draws = mixture_->draws();
  return found;
}

void NeighbourDgpPosterior::Describe(FitReport& report) const {
  report.draws = mixture_ ? static_cast<int>(mixture_->draws().size()) : 1;
}

int64_t NeighbourDgpPosterior::MemoryBytes(const Dataset& data) const {
  int64_t bytes = 64 << 10;
  for (int t = 0; t < static_cast<int>(data.levels.size()); ++t) {
    const int64_t count = data.levels[t].y.size();
    bytes += NeighbourStack::MemoryBytes(count, std::min(t, stacked()), data.dimension(), stack_->neighbours(),
                                         stack_->centres());
    bytes += 8 * count * (data.dimension() + 2);
  }
  if (!mixture_) return bytes;
  const int64_t n = upper_->data().y.size();
  for (const MomentPosterior& posterior : mixture_->posteriors()) bytes += 8 * posterior.links() * n * n;
  return bytes + 8 * n * n * static_cast<int64_t>(1 + mixture_->structures().size());
}

Vector NeighbourDgpPosterior::Weights(int level) const {
  return IsUpper(level) ? mixture_->MembersAt(OwnLevel(level)).component_weights : Vector::Ones(1);
}

Vector NeighbourDgpPosterior::Noise(int level) const {
  if (level >= stacked()) return mixture_->Noise(OwnLevel(level));
  return Vector::Constant(Weights(level).size(), stack_->noise(level));
}

std::unique_ptr<Posterior::Block> NeighbourDgpPosterior::At(Matrix x, int level) const {
  return std::make_unique<NeighbourBlock>(*this, std::move(x), level, /*threads=*/1);
}

absl::StatusOr<Posterior::JointGaussian> NeighbourDgpPosterior::Joint(const Matrix& x, const std::vector<int>& levels,
                                                                      const JointOptions& options) const {
  const Index n = x.rows();
  std::vector<int> order(n), sorted(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return levels[a] < levels[b]; });
  for (Index i = 0; i < n; ++i) sorted[i] = levels[order[i]];
  JointGaussian joint{.mean = Vector(n), .covariance = Matrix::Zero(n, n)};
  for (Index begin = 0; begin < n;) {
    // One of the stack's levels that stand alone, or all levels that the mixture has.
    const bool upper = IsUpper(sorted[begin]);
    const Index count =
        upper ? n - begin : std::upper_bound(sorted.begin(), sorted.end(), sorted[begin]) - sorted.begin() - begin;
    const std::vector<int> rows(order.begin() + begin, order.begin() + begin + count);
    const Matrix own_x = x(rows, Eigen::all);
    const NeighbourBlock block(*this, own_x, sorted[begin + count - 1], options.threads);
    JointGaussian own;
    if (upper) {
      std::vector<int> own_levels(sorted.begin() + begin, sorted.end());
      for (int& level : own_levels) level = OwnLevel(level);
      const MomentMixture::First first = block.JointFirst(options.threads);
      FIDELIO_ASSIGN_OR_RETURN(own, mixture_->Joint(own_x, own_levels, options, &first));
    } else {
      own = block.OfStack(options.threads);
    }
    joint.mean(rows) = own.mean;
    joint.covariance(rows, rows) = own.covariance;
    begin += count;
  }
  return joint;
}

absl::StatusOr<Matrix> NeighbourDgpPosterior::Sample(const Matrix& x, int level, const SampleRequest& request) const {
  const NeighbourBlock block(*this, x, level, request.options.threads);
  if (IsUpper(level)) {
    const MomentMixture::First first = block.JointFirst(request.options.threads);
    return mixture_->Sample(x, OwnLevel(level), request, &first);
  }
  JointGaussian joint = block.OfStack(request.options.threads);
  if (request.noise.size() > 0) joint.covariance.diagonal().array() += request.noise[0];
  std::vector<int> all(request.count);
  std::iota(all.begin(), all.end(), 0);
  Matrix paths(request.count, x.rows());
  FIDELIO_RETURN_IF_ERROR(SampleGaussian(joint.mean, std::move(joint.covariance), all, request.seed,
                                         StreamOf(RandomUse::kPathNormal), paths));
  return paths;
}

std::unique_ptr<const Posterior::Functions> NeighbourDgpPosterior::Draw(const PathOptions& options) const {
  return std::make_unique<NeighbourFunctions>(*this, options);
}

absl::StatusOr<Posterior::LeftOut> NeighbourDgpPosterior::LeaveOneOut(const FittedState&, int level,
                                                                      int threads) const {
  if (level >= stacked()) return mixture_->LeaveOneOut(OwnLevel(level));
  const int count = stack_->count(level), n = std::min(count, kMostLeftOutOfStack);
  LeftOut result{
      .rows = std::vector<int>(n), .mean = Matrix(1, n), .variance = Matrix(1, n), .weight = Matrix::Ones(1, n)};
  const Vector& given = stack_->data(level).noise;
  ParallelFor(n, threads, [&](int k) {
    const int i = static_cast<int>((2 * k + 1) * static_cast<int64_t>(count) / (2 * n));
    const Stencil stencil = stack_->ReachWithout(level, i);
    result.rows[k] = i;
    result.mean(0, k) = stencil.mean;
    result.variance(0, k) = stencil.variance + stack_->noise(level) + (given.size() > 0 ? given[i] : 0);
  });
  return result;
}

absl::StatusOr<std::unique_ptr<const Posterior>> NeighbourDgpPosterior::Condition(const FittedState& before,
                                                                                  const Dataset& data,
                                                                                  int threads) const {
  return Build(data, before.scaling, parameters(), threads, this);
}

absl::StatusOr<std::unique_ptr<FittedEmulator>> WithNeighbours(const Emulator& model, int neighbours, int threads) {
  const auto* fitted = dynamic_cast<const FittedEmulator*>(&model);
  const auto* posterior =
      fitted != nullptr ? dynamic_cast<const NeighbourDgpPosterior*>(&fitted->posterior()) : nullptr;
  if (posterior == nullptr) return absl::InvalidArgumentError("model: has no neighbour layers");
  if (neighbours < 1) {
    return absl::InvalidArgumentError(absl::StrFormat("neighbours: %d, want at least 1", neighbours));
  }
  NeighbourDgpParameters parameters = posterior->parameters();
  parameters.neighbours = neighbours;
  FittedState state = fitted->state();
  FIDELIO_ASSIGN_OR_RETURN(auto changed, NeighbourDgpPosterior::Build(state.data, state.scaling, parameters, threads));
  return FittedEmulator::Create(std::move(state), std::move(changed), threads);
}

}  // namespace fidelio
