// mf_dgp_neighbours: the model of mf_dgp for very many observations.
#include "absl/strings/str_cat.h"
#include "core/neighbour/neighbour_dgp.h"
#include "core/neighbour/neighbour_dgp_fit.h"
#include "core/registry/emulator_method.h"

namespace fidelio {
namespace {

// Observations of a level up to which AUTO uses MOMENTS: its time grows with their cube.
constexpr int64_t kMostExact = 2'000;

std::string LargeLevel(const std::vector<int64_t>& counts, int first) {
  for (size_t t = 0; t < counts.size(); ++t) {
    if (counts[t] <= kMostExact) continue;
    return absl::StrCat("level ", static_cast<size_t>(first) + t, " has ", counts[t], " observations, more than the ",
                        kMostExact, " up to which MOMENTS is used");
  }
  return "";
}

constexpr AutoRule kForLargeData = {
    .preference = 2, .when = "above 2,000 observations of a fidelity", .reason = LargeLevel};

// Large data are rarely as smooth as RBF assumes: there the default is that the families compete.
void CompeteByDefault(FitOptions& options) {
  if (options.kernel == KernelFamily::kRbf) options.kernel.reset();
}

const MethodRegistration kNeighbourRegistration(
    {.name = "mf_dgp_neighbours",
     .checkpoint_kind = kNeighbourDgpKind,
     .state_kind = kNeighbourDgpFitKind,
     .uses = {{.kind = ModelKind::kMfDgp,
               .kind_name = "MF_DGP",
               .inference = Inference::kNeighbours,
               .inference_name = "NEIGHBOURS",
               .auto_rule = kForLargeData,
               .adjust = CompeteByDefault},
              {.kind = ModelKind::kGp,
               .kind_name = "GP",
               .inference = Inference::kNeighbours,
               .inference_name = "NEIGHBOURS",
               .highest_only = true,
               .auto_rule = kForLargeData,
               .adjust = CompeteByDefault}},
     .create = [](const Dataset& data, const FitOptions& options) -> absl::StatusOr<std::unique_ptr<EmulatorFit>> {
       return NeighbourDgpFit::Create(data, options);
     },
     .resume = [](absl::string_view state, const Dataset& data, int threads)
         -> absl::StatusOr<std::unique_ptr<EmulatorFit>> { return NeighbourDgpFit::Resume(state, data, threads); },
     .load = [](absl::string_view checkpoint) -> absl::StatusOr<std::unique_ptr<MixtureEmulator>> {
       return LoadNeighbourDgp(checkpoint);
     },
     .fit_bytes =
         [](const std::vector<int64_t>& counts, int dimension, const FitOptions& options) {
           return NeighbourDgpFit::MemoryBytes(counts, dimension, options.threads);
         }});

}  // namespace
}  // namespace fidelio
