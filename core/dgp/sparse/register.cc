// mf_dgp_variational and mf_dgp_svi: the paper's sparse variational layers, trained deterministically or as published.
#include "core/dgp/sparse/sparse_mf_dgp_posterior.h"
#include "core/dgp/sparse/svi_fit.h"
#include "core/dgp/sparse/variational_fit.h"
#include "core/registry/emulator_method.h"

namespace fidelio {
namespace {

constexpr MethodOption InducingPoints(const char* standard) {
  return {.name = "inducing_points",
          .help = "the most inducing points of a layer; the work grows with the cube",
          .least = 1,
          .most = 4000,
          .standard = standard,
          .set = [](double value, FitOptions& options) { options.inducing_points = static_cast<int>(value); }};
}

const MethodRegistration kVariationalRegistration(
    {.name = "mf_dgp_variational",
     .checkpoint_kind = kVariationalMfDgpKind,
     .state_kind = kVariationalFitKind,
     .uses = {{.kind = ModelKind::kMfDgp,
               .kind_name = "MF_DGP",
               .inference = Inference::kVariational,
               .inference_name = "VARIATIONAL"}},
     .options = {InducingPoints("200")},
     .create = [](const Dataset& data, const FitOptions& options) -> absl::StatusOr<std::unique_ptr<EmulatorFit>> {
       return VariationalFit::Create(data, options);
     },
     .resume = [](absl::string_view state, const Dataset& data, int threads)
         -> absl::StatusOr<std::unique_ptr<EmulatorFit>> { return VariationalFit::Resume(state, data, threads); },
     .load = [](absl::string_view checkpoint) -> absl::StatusOr<std::unique_ptr<MixtureEmulator>> {
       return LoadSparseMfDgp(checkpoint, kVariationalMfDgpKind);
     },
     .fit_bytes = VariationalFit::MemoryBytes});

const MethodRegistration kSviRegistration(
    {.name = "mf_dgp_svi",
     .checkpoint_kind = kSviMfDgpKind,
     .state_kind = kSviFitKind,
     .uses =
         {{.kind = ModelKind::kMfDgp, .kind_name = "MF_DGP", .inference = Inference::kSvi, .inference_name = "SVI"}},
     .options = {InducingPoints("1000"),
                 {.name = "batch_size",
                  .help = "the most observations of a fidelity that a step looks at",
                  .least = 1,
                  .most = 100'000,
                  .standard = "1000",
                  .set = [](double value, FitOptions& options) { options.batch_size = static_cast<int>(value); }},
                 {.name = "steps",
                  .help = "steps of the whole training",
                  .least = 1,
                  .most = 100'000'000,
                  .standard = "35000, as published",
                  .set = [](double value, FitOptions& options) { options.steps = static_cast<int64_t>(value); }}},
     .create = [](const Dataset& data, const FitOptions& options) -> absl::StatusOr<std::unique_ptr<EmulatorFit>> {
       return SviFit::Create(data, options);
     },
     .resume = [](absl::string_view state, const Dataset& data, int threads)
         -> absl::StatusOr<std::unique_ptr<EmulatorFit>> { return SviFit::Resume(state, data, threads); },
     .load = [](absl::string_view checkpoint) -> absl::StatusOr<std::unique_ptr<MixtureEmulator>> {
       return LoadSparseMfDgp(checkpoint, kSviMfDgpKind);
     },
     .fit_bytes = SviFit::MemoryBytes});

}  // namespace
}  // namespace fidelio
