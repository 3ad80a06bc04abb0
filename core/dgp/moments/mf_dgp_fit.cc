// The state of a running fit, version 4 (the envelope is in core/base/bytes.h). Payload, in this order:
//
//   u32 recipe version; data as in a checkpoint
//   options      bool kernel given, u32 kernel, u64 seed, f64 max seconds, i64 max iterations
//   warm starts  u64 count; starts
//   progress     as in moment_fit_bytes.h
//
// States of other recipes, older versions among them, are refused: the fit starts again.
#include "core/dgp/moments/mf_dgp_fit.h"

#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/data/dataset_bytes.h"
#include "core/dgp/moments/mf_dgp_posterior.h"
#include "core/dgp/moments/moment_fit_bytes.h"
#include "core/dgp/moments/moment_objective.h"
#include "core/dgp/moments/output_units.h"
#include "core/dgp/moments/structures.h"

namespace fidelio {
namespace {

constexpr uint32_t kMfDgpFitVersion = 4;

std::vector<int> Counts(const Dataset& data) {
  std::vector<int> counts;
  for (const LevelData& level : data.levels) counts.push_back(static_cast<int>(level.y.size()));
  return counts;
}

}  // namespace

struct MfDgpFit::Impl {
  Dataset data;
  std::optional<KernelFamily> kernel;
  MomentFitRequest request;
  SharedFitState state;

  Impl(Dataset d, const FitOptions& options, MomentFitState progress)
      : data(std::move(d)), kernel(options.kernel), state(std::move(progress)) {
    const std::vector<int> counts = Counts(data);
    const Scaling scaling = ScalingOf(data, 0);
    for (Recipe& recipe : DefaultStructures(kernel, counts, data.dimension())) {
      const int first = recipe.first_level;
      if (first > 0) recipe = InUnits(recipe, UnitsOf(ScalingOf(data, first), scaling));
      request.structures.push_back(std::make_shared<const MomentModel>(ScaleData(data, first, scaling), recipe));
    }
    request.settings = SettingsFor(std::accumulate(counts.begin(), counts.end(), 0));
    request.seed = options.seed;
    request.threads = options.threads;
    request.max_seconds = options.max_seconds;
    request.max_iterations = options.max_iterations;
  }
};

MfDgpFit::MfDgpFit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MfDgpFit::~MfDgpFit() = default;

absl::StatusOr<std::unique_ptr<MfDgpFit>> MfDgpFit::Create(const Dataset& data, const FitOptions& options) {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  auto impl = std::make_unique<Impl>(data, options, MomentFitState());
  FIDELIO_ASSIGN_OR_RETURN(const auto warm, WarmStartOf<MfDgpPosterior>(options, data));
  if (warm.posterior != nullptr) {
    const MomentMixture& known = warm.posterior->mixture();
    for (size_t k = 0; k < impl->request.structures.size(); ++k) {
      const MomentModel& model = *impl->request.structures[k];
      for (const MomentDraw& draw : known.draws()) {
        const MomentModel& old = *known.structures()[draw.structure];
        if (!SameStructure(old.recipe, model.recipe) || old.data.learn_noise != model.data.learn_noise) continue;
        impl->request.extra_starts.push_back(
            {.structure = static_cast<int>(k), .z = MomentObjective(impl->request.structures[k]).Whitened(draw.theta)});
        break;  // one draw per structure is enough to find its mode
      }
    }
  }
  return std::unique_ptr<MfDgpFit>(new MfDgpFit(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<MixtureEmulator>> MfDgpFit::Run(FitObserver* observer) {
  MomentFitRequest request = impl_->request;
  request.observer = observer;
  FIDELIO_ASSIGN_OR_RETURN(MomentFitResult result, RunMomentFit(request, impl_->state));
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<const Posterior> posterior,
                           MfDgpPosterior::Build(request.structures, std::move(result.draws), request.threads));
  return FittedEmulator::Create(
      {.data = impl_->data, .scaling = request.structures[0]->data.scaling, .report = result.report},
      std::move(posterior), request.threads);
}

absl::StatusOr<std::unique_ptr<MixtureEmulator>> FitMfDgp(const Dataset& data, const FitOptions& options,
                                                          FitObserver* observer) {
  FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<MfDgpFit> fit, MfDgpFit::Create(data, options));
  return fit->Run(observer);
}

double MfDgpFit::MemoryBytes(const std::vector<int64_t>& counts, int threads) {
  // Each thread has the covariances of a structure with their adjoints; the result has the factors of some draws.
  return 8.0 * static_cast<double>(FactorElements(counts)) * (6.0 * threads + 12);
}

std::string MfDgpFit::SaveState() const {
  const MomentFitState state = impl_->state.Copy();
  ByteWriter out;
  out.U32(kRecipeVersion);
  WriteDataset(impl_->data, out);
  out.Bool(impl_->kernel.has_value());
  out.U32(static_cast<uint32_t>(impl_->kernel.value_or(KernelFamily::kRbf)));
  out.U64(impl_->request.seed);
  out.F64(impl_->request.max_seconds);
  out.I64(impl_->request.max_iterations);
  WriteStarts(impl_->request.extra_starts, out);
  WriteFitState(state, out);
  return out.Seal(kMfDgpFitKind, kMfDgpFitVersion);
}

absl::StatusOr<std::unique_ptr<MfDgpFit>> MfDgpFit::Resume(absl::string_view bytes, int threads) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened,
                           ByteReader::Open(bytes, kMfDgpFitKind, kMfDgpFitVersion, "state of a running MF-DGP fit"));
  ByteReader& in = opened.reader;
  const uint32_t recipe = in.U32();
  if (recipe != kRecipeVersion) {
    return absl::FailedPreconditionError(
        absl::StrFormat("state of a running fit: made with recipe %d, this program has recipe %d; start the fit again",
                        recipe, kRecipeVersion));
  }
  Dataset data = ReadDataset(in);
  FitOptions options;
  const bool kernel_given = in.Bool();
  const auto kernel = static_cast<KernelFamily>(in.U32());
  options.kernel = kernel_given ? std::optional<KernelFamily>(kernel) : std::nullopt;
  options.seed = in.U64();
  options.max_seconds = in.F64();
  options.max_iterations = in.I64();
  options.threads = threads;
  std::vector<StartState> warm = ReadStarts(in);
  MomentFitState state = ReadFitState(in);
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  auto impl = std::make_unique<Impl>(std::move(data), options, state);
  FIDELIO_RETURN_IF_ERROR(CheckFitState(state, warm, impl->request.structures));
  impl->request.extra_starts = std::move(warm);
  return std::unique_ptr<MfDgpFit>(new MfDgpFit(std::move(impl)));
}

}  // namespace fidelio
