// The state of a running fit, version 5 (the envelope is in core/base/bytes.h). Payload, in this order:
//
//   u32 recipe version; data as in a checkpoint; options, warm starts, work and search as in core/fit/fit_bytes.h
//
// States of other recipes, older versions among them, are refused: the fit starts again.
#include "core/dgp/moments/mf_dgp_fit.h"

#include <numeric>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/data/dataset_bytes.h"
#include "core/dgp/moments/mf_dgp_posterior.h"
#include "core/dgp/moments/moment_target.h"
#include "core/dgp/moments/output_units.h"
#include "core/fit/fit_bytes.h"

namespace fidelio {
namespace {

constexpr uint32_t kFitVersion = 5;

std::vector<int> Counts(const Dataset& data) {
  std::vector<int> counts;
  for (const LevelData& level : data.levels) counts.push_back(static_cast<int>(level.y.size()));
  return counts;
}

MomentTarget TargetOf(const Dataset& data, const std::optional<KernelFamily>& kernel) {
  const Scaling scaling = ScalingOf(data, 0);
  std::vector<std::shared_ptr<const MomentModel>> models;
  for (Recipe& recipe : DefaultStructures(kernel, Counts(data), data.dimension())) {
    const int first = recipe.first_level;
    if (first > 0) recipe = InUnits(recipe, UnitsOf(ScalingOf(data, first), scaling));
    models.push_back(std::make_shared<const MomentModel>(ScaleData(data, first, scaling), recipe));
  }
  return MomentTarget(std::move(models));
}

}  // namespace

struct MfDgpFit::Impl {
  Dataset data;
  FitOptions options;  // without warm_start
  MomentTarget target;
  std::vector<SearchStart> warm;
  FitBudget budget;
  SharedSearchState state;

  Impl(Dataset d, const FitOptions& o, const FitWork& work = {}, SearchState progress = {})
      : data(std::move(d)),
        options(o),
        target(TargetOf(data, options.kernel)),
        budget(options, work),
        state(std::move(progress)) {
    options.warm_start = nullptr;
  }
};

MfDgpFit::MfDgpFit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MfDgpFit::~MfDgpFit() = default;

absl::StatusOr<std::unique_ptr<MfDgpFit>> MfDgpFit::Create(const Dataset& data, const FitOptions& options) {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  FIDELIO_ASSIGN_OR_RETURN(const auto warm, WarmStartOf<MfDgpPosterior>(options, data));
  auto impl = std::make_unique<Impl>(data, options);
  for (int k = 0; warm.posterior != nullptr && k < impl->target.structures(); ++k) {
    const MomentMixture& known = warm.posterior->mixture();
    const MomentModel& model = *impl->target.models()[k];
    for (const MomentDraw& draw : known.draws()) {
      const MomentModel& old = *known.structures()[draw.structure];
      if (!SameStructure(old.recipe, model.recipe) || old.data.learn_noise != model.data.learn_noise) continue;
      impl->warm.push_back({.structure = k, .z = model.layout.parameters.Whitened(draw.theta)});
      break;  // one draw per structure is enough to find its mode
    }
  }
  return std::unique_ptr<MfDgpFit>(new MfDgpFit(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<MixtureEmulator>> MfDgpFit::Run(FitObserver* observer) {
  const std::vector<int> counts = Counts(impl_->data);
  impl_->budget.Begin(observer);
  FIDELIO_ASSIGN_OR_RETURN(SearchResult result,
                           RunSearch({.target = impl_->target,
                                      .settings = MomentSettings(std::accumulate(counts.begin(), counts.end(), 0)),
                                      .seed = impl_->options.seed,
                                      .threads = impl_->options.threads,
                                      .max_iterations = impl_->options.max_iterations,
                                      .extra_starts = impl_->warm},
                                     impl_->budget, impl_->state));
  const std::vector<std::shared_ptr<const MomentModel>>& models = impl_->target.models();
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<const Posterior> posterior,
                           MfDgpPosterior::Build(models, std::move(result.draws), impl_->options.threads));
  return FittedEmulator::Create({.data = impl_->data, .scaling = models[0]->data.scaling, .report = result.report},
                                std::move(posterior), impl_->options.threads);
}

absl::StatusOr<std::unique_ptr<MixtureEmulator>> FitMfDgp(const Dataset& data, const FitOptions& options,
                                                          FitObserver* observer) {
  FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<MfDgpFit> fit, MfDgpFit::Create(data, options));
  return fit->Run(observer);
}

double MfDgpFit::MemoryBytes(const std::vector<int64_t>& counts, int threads) {
  // Each thread has the covariances of a structure with their adjoints; the result has the factors of some draws.
  return 8.0 * static_cast<double>(FactorElements(counts)) * (6.0 * ResolveThreads(threads) + 12);
}

std::string MfDgpFit::SaveState() const {
  ByteWriter out;
  out.U32(kRecipeVersion);
  WriteDataset(impl_->data, out);
  out(impl_->options);
  out(impl_->warm);
  out(impl_->budget.used());
  out(impl_->state.Copy());
  return out.Seal(kMfDgpFitKind, kFitVersion);
}

absl::StatusOr<std::unique_ptr<MfDgpFit>> MfDgpFit::Resume(absl::string_view bytes, int threads) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader in, OpenState(bytes, kMfDgpFitKind, kFitVersion, kRecipeVersion));
  Dataset data = ReadDataset(in);
  FitOptions options = in.Read<FitOptions>();
  options.threads = threads;
  auto warm = in.Read<std::vector<SearchStart>>();
  const FitWork work = in.Read<FitWork>();
  SearchState state = in.Read<SearchState>();
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  auto impl = std::make_unique<Impl>(std::move(data), options, work, state);
  FIDELIO_RETURN_IF_ERROR(CheckSearch(state, warm, impl->target));
  impl->warm = std::move(warm);
  return std::unique_ptr<MfDgpFit>(new MfDgpFit(std::move(impl)));
}

}  // namespace fidelio
