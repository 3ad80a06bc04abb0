#include "core/dgp/moments/mf_dgp.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/dgp/moments/mf_dgp_fit.h"
#include "core/dgp/moments/mf_dgp_impl.h"
#include "core/emulator/query_check.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kQueryBlock = 64;  // query points that one thread works on at a time

// Level 0 is predicted by the draws of structures with all levels, the levels above by these and others.
absl::Status CheckLevelsCovered(const std::vector<std::shared_ptr<const MomentModel>>& structures,
                                const std::vector<MomentDraw>& draws,
                                const std::vector<absl::StatusOr<MomentPosterior>>& built) {
  double weight = 0;
  for (const MomentDraw& draw : draws) {
    if (structures[draw.structure]->recipe.first_level == 0) weight += draw.weight;
  }
  if (weight > 0) return absl::OkStatus();
  for (const auto& posterior : built) {
    if (posterior.ok()) continue;
    return absl::Status(
        posterior.status().code(),
        absl::StrCat("no draw of the hyperparameters is left that predicts level 0: ", posterior.status().message()));
  }
  return absl::InternalError("no draw of the hyperparameters predicts level 0");
}

}  // namespace

int64_t FactorElements(const std::vector<int64_t>& counts) {
  int64_t elements = 0, above = 0;
  for (auto n = counts.rbegin(); n != counts.rend(); ++n) {
    above += *n;
    elements += *n * above;
  }
  return elements;
}

MfDgp::MfDgp(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
MfDgp::~MfDgp() = default;

int MfDgp::levels() const { return static_cast<int>(impl_->data.levels.size()); }
int MfDgp::input_dimension() const { return impl_->data.dimension(); }
const FitReport& MfDgp::report() const { return impl_->report; }
const Dataset& MfDgp::data() const { return impl_->data; }

int64_t MfDgp::MemoryBytes() const {
  int64_t points = 0;
  std::vector<int64_t> counts;
  for (const LevelData& level : impl_->data.levels) {
    counts.push_back(level.y.size());
    points += level.y.size();
  }
  constexpr int64_t kMostLinks = 3, kOther = 16 << 10;
  const auto draws = static_cast<int64_t>(impl_->draws.size());
  const int64_t inputs = points * (input_dimension() + 4);
  return 8 * (draws * (kMostLinks * FactorElements(counts) + 2 * inputs) + inputs) + kOther;
}

absl::StatusOr<std::unique_ptr<MfDgp>> MfDgp::Fit(const Dataset& data, const FitOptions& options,
                                                  FitObserver* observer) {
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<MfDgpFit> fit, MfDgpFit::Create(data, options));
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<MixtureEmulator> model, fit->Run(observer));
  return std::unique_ptr<MfDgp>(static_cast<MfDgp*>(model.release()));  // which is what MfDgpFit makes
}

absl::StatusOr<std::unique_ptr<MfDgp::Impl>> MfDgp::Impl::Build(
    Dataset data, std::vector<std::shared_ptr<const MomentModel>> structures, std::vector<MomentDraw> draws,
    FitReport report, int threads, const Impl* before) {
  const int count = static_cast<int>(draws.size());
  std::vector<absl::StatusOr<MomentPosterior>> built(draws.size(), absl::UnknownError("not built"));
  const int workers = std::min(count, ResolveThreads(threads));
  ParallelFor(workers, workers, [&](int w) {
    std::vector<std::unique_ptr<MomentRecursion>> recursions(structures.size());
    for (int i = w; i < count; i += workers) {
      auto& recursion = recursions[draws[i].structure];
      if (recursion == nullptr) recursion = std::make_unique<MomentRecursion>(structures[draws[i].structure]);
      built[i] = MomentPosterior::Build(*recursion, draws[i].theta);
    }
  });
  if (before != nullptr) WeighAnew(*before, built, draws);
  auto impl = std::make_unique<Impl>();
  double total = 0;
  for (int i = 0; i < count; ++i) {
    if (!built[i].ok()) continue;
    total += draws[i].weight;
    impl->draws.push_back(std::move(draws[i]));
    impl->posteriors.push_back(*std::move(built[i]));
  }
  FIDELIO_RETURN_IF_ERROR(CheckLevelsCovered(structures, impl->draws, built));
  if (static_cast<int>(impl->draws.size()) < count || before != nullptr) {
    for (MomentDraw& draw : impl->draws) draw.weight /= total;
  }
  for (const LevelData& level : data.levels) {
    impl->given_noise.push_back(level.noise_variance.size() > 0 ? level.noise_variance.mean() : 0);
  }
  impl->data = std::move(data);
  impl->structures = std::move(structures);
  impl->report = report;
  impl->report.draws = static_cast<int>(impl->draws.size());
  return impl;
}

void MfDgp::Impl::Inflate(const Inflation& by) {
  inflation = by;
  given_noise.back() /= by.NoiseDivisor();
}

MfDgp::Impl::Members MfDgp::Impl::MembersAt(int level) const {
  Members members;
  Index components = 0;
  for (size_t i = 0; i < draws.size(); ++i) {
    if (level < structures[draws[i].structure]->recipe.first_level) continue;
    members.draws.push_back(i);
    members.weight += draws[i].weight;
    members.first_component.push_back(components);
    components += posteriors[i].links();
  }
  members.component_weights.resize(components);
  for (size_t k = 0; k < members.draws.size(); ++k) {
    const MomentPosterior& p = posteriors[members.draws[k]];
    members.component_weights.segment(members.first_component[k], p.links()) =
        draws[members.draws[k]].weight / members.weight * p.link_weights();
  }
  return members;
}

std::vector<MomentQueries> MfDgp::Impl::Queries(const Matrix& x) const {
  std::vector<MomentQueries> queries;
  queries.reserve(structures.size());
  for (const auto& structure : structures) queries.emplace_back(*structure, x);
  return queries;
}

Mixture MfDgp::Impl::PredictMixture(const std::vector<MomentQueries>& queries, int level, bool include_noise,
                                    MomentPosterior::Workspace& workspace) const {
  const Members members = MembersAt(level);
  const Index n = queries[0].x.rows();
  Mixture mixture;
  mixture.weight = members.component_weights;
  mixture.mean.resize(mixture.weight.size(), n);
  mixture.variance.resize(mixture.weight.size(), n);
  for (size_t k = 0; k < members.draws.size(); ++k) {
    const size_t i = members.draws[k];
    const Index at = members.first_component[k];
    const MomentPosterior& p = posteriors[i];
    const MomentModel& structure = *structures[draws[i].structure];
    const Scaling& scaling = structure.data.scaling;
    const int own_level = level - structure.recipe.first_level;
    auto mean = mixture.mean.middleRows(at, p.links());
    auto variance = mixture.variance.middleRows(at, p.links());
    p.Predict(queries[draws[i].structure], own_level, workspace, mean, variance);
    if (include_noise) variance.array() += p.noise(own_level);
    mean = (mean.array() * scaling.output_sd + scaling.output_mean).matrix();
    variance *= scaling.output_sd;
    variance *= scaling.output_sd;
  }
  if (include_noise) mixture.variance.array() += given_noise[level];
  fidelio::Inflate(InflationAt(level), mixture);
  return mixture;
}

Matrix MfDgp::Impl::Gradient(const std::vector<MomentQueries>& queries, int level, Matrix mean_bar, Matrix variance_bar,
                             MomentPosterior::Workspace& workspace) const {
  const Members members = MembersAt(level);
  InflateAdjoints(InflationAt(level), members.component_weights, mean_bar, variance_bar);
  Matrix gradient = Matrix::Zero(queries[0].x.rows(), queries[0].x.cols());
  for (size_t k = 0; k < members.draws.size(); ++k) {
    const size_t i = members.draws[k];
    const MomentModel& structure = *structures[draws[i].structure];
    const double sd = structure.data.scaling.output_sd;
    const Index at = members.first_component[k], links = posteriors[i].links();
    gradient += posteriors[i].Gradient(queries[draws[i].structure], level - structure.recipe.first_level,
                                       sd * mean_bar.middleRows(at, links),
                                       sd * (sd * variance_bar.middleRows(at, links)), workspace);
  }
  return gradient * structures[0]->data.scaling.input_width.cwiseInverse().asDiagonal();
}

void MfDgp::Impl::ForBlocks(const Matrix& x, int threads, const BlockBody& body) const {
  const Scaling& scaling = structures[0]->data.scaling;
  const int blocks = static_cast<int>((x.rows() + kQueryBlock - 1) / kQueryBlock);
  ParallelFor(blocks, threads, [&](int b) {
    const Index begin = b * kQueryBlock, n = std::min(kQueryBlock, x.rows() - begin);
    MomentPosterior::Workspace workspace;
    body(begin, n, Queries(scaling.ScaleInputs(x.middleRows(begin, n))), workspace);
  });
}

absl::StatusOr<Prediction> MfDgp::Predict(const Matrix& x, const PredictOptions& options) const {
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
  impl_->ForBlocks(x, options.threads, [&](Index begin, Index n, const auto& queries, auto& workspace) {
    const Mixture mixture = impl_->PredictMixture(queries, level, options.include_noise, workspace);
    const Vector mean = MixtureMean(mixture);
    result.mean.segment(begin, n) = mean;
    result.variance.segment(begin, n) = MixtureVariance(mixture, mean);
    SetMedians(mixture, mean, begin, result);
    if (!options.quantiles.empty()) {
      result.quantiles.middleRows(begin, n) = MixtureQuantiles(mixture, options.quantiles);
    }
    if (options.input_gradient) {
      result.input_gradient.middleRows(begin, n) = impl_->Gradient(queries, level, mixture.weight.replicate(1, n),
                                                                   Matrix::Zero(mixture.weight.size(), n), workspace);
    }
  });
  return result;
}

absl::StatusOr<Vector> MfDgp::LogDensity(const Matrix& x, const Vector& y, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  FIDELIO_RETURN_IF_ERROR(CheckOutputs(x, y));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  Vector result(x.rows());
  impl_->ForBlocks(x, options.threads, [&](Index begin, Index n, const auto& queries, auto& workspace) {
    const Mixture mixture = impl_->PredictMixture(queries, level, options.include_noise, workspace);
    result.segment(begin, n) = MixtureLogDensity(mixture, y.segment(begin, n));
  });
  return result;
}

absl::StatusOr<Mixture> MfDgp::PredictMixture(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  Mixture result;
  result.weight = impl_->MembersAt(level).component_weights;
  result.mean.resize(result.weight.size(), x.rows());
  result.variance.resize(result.weight.size(), x.rows());
  impl_->ForBlocks(x, options.threads, [&](Index begin, Index n, const auto& queries, auto& workspace) {
    const Mixture mixture = impl_->PredictMixture(queries, level, options.include_noise, workspace);
    result.mean.middleCols(begin, n) = mixture.mean;
    result.variance.middleCols(begin, n) = mixture.variance;
  });
  return result;
}

absl::StatusOr<Matrix> MfDgp::MixtureGradient(const Matrix& x, const Matrix& mean_bar, const Matrix& variance_bar,
                                              const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  const Index components = impl_->MembersAt(level).component_weights.size();
  FIDELIO_RETURN_IF_ERROR(CheckMixtureGradient(x, components, mean_bar, variance_bar));
  Matrix result(x.rows(), x.cols());
  impl_->ForBlocks(x, options.threads, [&](Index begin, Index n, const auto& queries, auto& workspace) {
    result.middleRows(begin, n) =
        impl_->Gradient(queries, level, mean_bar.middleCols(begin, n), variance_bar.middleCols(begin, n), workspace);
  });
  return result;
}

}  // namespace fidelio
