// nearest: the only line by which a program gets this model.
#include "core/registry/emulator_method.h"
#include "tests/methods/nearest/nearest_emulator.h"

namespace fidelio {
namespace {

const MethodRegistration kNearestRegistration({.name = "nearest",
                                               .maturity = Maturity::kExperimental,
                                               .checkpoint_kind = kNearestBytes,
                                               .state_kind = kNearestFitBytes,
                                               .uses = {{.kind = kNearestKind,
                                                         .kind_name = "NEAREST",
                                                         .inference = kNearestInference,
                                                         .inference_name = "DISTANCES",
                                                         .auto_rule = AutoRule{.preference = 1, .when = "by default"}}},
                                               .options = {{.name = "margin",
                                                            .help = "factor of the variances that the distances show",
                                                            .least = 1,
                                                            .most = 100,
                                                            .standard = "1",
                                                            .whole = false}},
                                               .create = NearestFit::Create,
                                               .resume = NearestFit::Resume,
                                               .load = NearestEmulator::Load,
                                               .fit_bytes = [](const std::vector<int64_t>& counts, int dimension,
                                                               const FitOptions&) {
                                                 double observations = 0;
                                                 for (const int64_t n : counts) observations += static_cast<double>(n);
                                                 return 16 * (dimension + 2) * observations;
                                               }});

}  // namespace
}  // namespace fidelio
