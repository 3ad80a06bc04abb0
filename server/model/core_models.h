// From stored models to core's: data, fits and emulators by kind of model.
//
//   MF_DGP   an MfDgp of all levels
//   GP       an MfDgp of one level: the data of the highest fidelity alone
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_MODEL_CORE_MODELS_H_
#define FIDELIO_SERVER_MODEL_CORE_MODELS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/dgp/mf_dgp.h"
#include "core/emulator/dataset.h"
#include "server/model/model_types.h"
#include "server/store/store.h"

namespace fidelio {

// OK when there is data to fit from: level 0 of an MF_DGP, the highest of a GP.
absl::Status CheckDataForFit(absl::string_view model, const ModelSpec& spec, const std::vector<int64_t>& counts);

// RESOURCE_EXHAUSTED when a fit of so many observations needs more memory than `limit`.
absl::Status CheckMemoryForFit(absl::string_view model, const ModelSpec& spec, const std::vector<int64_t>& counts,
                               int threads, int64_t limit);

// What a fit of the observations up to `data_version` learns from.
absl::StatusOr<Dataset> ReadDataset(const Store& store, absl::string_view model, const ModelSpec& spec,
                                    int64_t data_version);

// AUTO's choice, and why, for people.
struct InferenceChoice {
  Inference inference = Inference::kMoments;
  std::string reason = {};
};
InferenceChoice ChooseInference(const FitSpec& spec);

// Bytes of memory of an emulator, from the sizes of its parts: an estimate from above.
int64_t EstimateBytes(const MfDgp& emulator);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_CORE_MODELS_H_
