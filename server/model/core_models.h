// From stored models to core's: data, fits and emulators by kind of model.
//
//   MF_DGP   an MfDgp of all levels
//   GP       an MfDgp of one level: the data of the highest fidelity alone
// A model with an output transform learns from, and is wrapped to predict, transformed outputs (TransformedEmulator).
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_MODEL_CORE_MODELS_H_
#define FIDELIO_SERVER_MODEL_CORE_MODELS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/dgp/mf_dgp.h"
#include "core/emulator/dataset.h"
#include "core/emulator/emulator.h"
#include "core/emulator/output_transform.h"
#include "server/model/model_types.h"
#include "server/store/store.h"

namespace fidelio {

// OK when there is data to fit from: level 0 of an MF_DGP, the highest of a GP.
absl::Status CheckDataForFit(absl::string_view model, const ModelSpec& spec, const std::vector<int64_t>& counts);

// RESOURCE_EXHAUSTED when a fit of so many observations needs more memory than `limit`.
absl::Status CheckMemoryForFit(absl::string_view model, const ModelSpec& spec, const std::vector<int64_t>& counts,
                               int threads, int64_t limit);

// The observations up to `data_version`, and `more` after them, as a kind of model sees them; in the user's units.
absl::StatusOr<Dataset> ReadDataset(const Store& store, absl::string_view model, const ModelSpec& spec,
                                    int64_t data_version, const std::vector<ObservationBlock>& more = {});

// What a fit learns from: transformed outputs, and the transform with what it found in them.
struct FitData {
  Dataset data = {};
  std::optional<OutputTransform> transform = {};  // absent: the identity
};
absl::StatusOr<FitData> ReadFitData(const Store& store, absl::string_view model, const ModelSpec& spec,
                                    int64_t data_version);

// Absent: the identity.
std::optional<OutputTransform> TransformOf(const ModelSpec& spec);

// What is served of a fit's result.
std::unique_ptr<Emulator> MakeEmulator(const std::optional<OutputTransform>& transform, std::unique_ptr<MfDgp> fitted);

// What Emulator::Save of any of them wrote.
absl::StatusOr<std::unique_ptr<Emulator>> LoadEmulator(absl::string_view checkpoint);

// The fitted model within an emulator of MakeEmulator or LoadEmulator.
const MfDgp& FittedModel(const Emulator& emulator);

// AUTO's choice, and why, for people.
struct InferenceChoice {
  Inference inference = Inference::kMoments;
  std::string reason = {};
};
InferenceChoice ChooseInference(const FitSpec& spec);

// How many observations of each of the model's fidelities an emulator knows: a GP, of the highest alone.
std::vector<int64_t> KnownCounts(const Emulator& emulator, int fidelities);

// Bytes of memory of an emulator, from the sizes of its parts: an estimate from above.
int64_t EstimateBytes(const Emulator& emulator);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_CORE_MODELS_H_
