// mf_dgp: the multi-fidelity deep Gaussian process by moments; with one level, a Gaussian process.
#include "core/dgp/moments/mf_dgp.h"
#include "core/dgp/moments/mf_dgp_fit.h"
#include "core/registry/emulator_method.h"

namespace fidelio {
namespace {

constexpr AutoRule kMomentsByDefault = {.preference = 1, .when = "by default"};

const MethodRegistration kMfDgpRegistration(
    {.name = "mf_dgp",
     .checkpoint_kind = kMfDgpKind,
     .state_kind = kMfDgpFitKind,
     .uses = {{.kind = ModelKind::kMfDgp,
               .kind_name = "MF_DGP",
               .inference = Inference::kMoments,
               .inference_name = "MOMENTS",
               .auto_rule = kMomentsByDefault},
              {.kind = ModelKind::kGp,
               .kind_name = "GP",
               .inference = Inference::kMoments,
               .inference_name = "MOMENTS",
               .highest_only = true,
               .auto_rule = kMomentsByDefault}},
     .create = [](const Dataset& data, const FitOptions& options) -> absl::StatusOr<std::unique_ptr<EmulatorFit>> {
       return MfDgpFit::Create(data, options);
     },
     .resume = [](absl::string_view state, const Dataset&, int threads)
         -> absl::StatusOr<std::unique_ptr<EmulatorFit>> { return MfDgpFit::Resume(state, threads); },
     .load = [](absl::string_view checkpoint) -> absl::StatusOr<std::unique_ptr<MixtureEmulator>> {
       return LoadMfDgp(checkpoint);
     },
     .fit_bytes = [](const std::vector<int64_t>& counts, int,
                     const FitOptions& options) { return MfDgpFit::MemoryBytes(counts, options.threads); }});

}  // namespace
}  // namespace fidelio
