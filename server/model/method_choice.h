// Which of core's methods fits a model: by its kind, and by the inference that was asked for.
//
//   kind            inference         method (core/checkpoint/emulator_registry.h)
//   MF_DGP          MOMENTS           mf_dgp
//                   VARIATIONAL       mf_dgp_variational
//                   SVI               mf_dgp_svi
//                   NEIGHBOURS        mf_dgp_neighbours
//   GP              MOMENTS           mf_dgp, of the highest fidelity alone
//                   NEIGHBOURS        mf_dgp_neighbours, likewise
//   AR1, …          MOMENTS           ar1, ar1_recursive, nargp, deep_mf
//                   POINT_ESTIMATE    likewise, with FitOptions::point_estimate
// AUTO is a kind's first inference; for an MF_DGP or GP with more than 2,000 observations of a level, NEIGHBOURS.
// What the registry lacks is not offered. Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_MODEL_METHOD_CHOICE_H_
#define FIDELIO_SERVER_MODEL_METHOD_CHOICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/checkpoint/emulator_registry.h"
#include "server/model/model_types.h"

namespace fidelio {

struct MethodChoice {
  const EmulatorMethod* method = nullptr;
  Inference inference = Inference::kMoments;
  std::string reason = {};  // for people
};

// The method for a model with so many observations per fidelity. INVALID_ARGUMENT when its kind has no such inference.
absl::StatusOr<MethodChoice> ChooseMethod(ModelKind kind, Inference asked, const std::vector<int64_t>& counts);

std::vector<ModelKind> SupportedKinds();
std::vector<Inference> SupportedInferences();  // AUTO first

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_METHOD_CHOICE_H_
