// From stored models to core's: their data and emulators.
//
// A kind may learn from the observations of the highest fidelity alone (LearnsFromHighestOnly). A model with an output transform
// learns from, and is wrapped to predict, transformed outputs (TransformedEmulator).
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
#include "core/data/dataset.h"
#include "core/emulator/emulator.h"
#include "core/emulator/output_transform.h"
#include "core/registry/emulator_registry.h"
#include "server/model/method_choice.h"
#include "server/model/model_types.h"
#include "server/store/store.h"

namespace fidelio {

// FAILED_PRECONDITION when this program lacks the kind or the output transform of a model, which another program has stored.
// Such a model is listed, exported and deleted like others, but not fitted, and its revisions are not loaded.
absl::Status CheckKnown(absl::string_view model, const ModelSpec& spec);
absl::Status CheckKnownTransform(absl::string_view model, const ModelSpec& spec);

// OK when there is data to fit from: of the lowest level in use.
absl::Status CheckDataForFit(absl::string_view model, const ModelSpec& spec, const std::vector<int64_t>& counts);

// What core is asked for: the options that do not depend on other models. `threads` as in FitOptions.
FitOptions CoreFitOptions(const FitSpec& asked, const MethodChoice& choice, int threads);

// RESOURCE_EXHAUSTED when a fit of so many observations needs more memory than `limit`.
absl::Status CheckMemoryForFit(absl::string_view model, const ModelSpec& spec, const std::vector<int64_t>& counts,
                               const MethodChoice& choice, const FitSpec& asked, int threads, int64_t limit);

// Which observations are read: those that were added up to one version of the data, without those that were withdrawn up
// to another.
struct DataVersions {
  DataVersions(int64_t version) : added(version), withdrawn(version) {}  // NOLINT: all of a version
  DataVersions(int64_t added_to, int64_t withdrawn_to) : added(added_to), withdrawn(withdrawn_to) {}
  int64_t added;
  int64_t withdrawn;
};

// The observations of these versions, and `more` after them, as a kind of model sees them; in the user's units.
absl::StatusOr<Dataset> ReadDataset(const Store& store, absl::string_view model, const ModelSpec& spec,
                                    const DataVersions& versions, const std::vector<ObservationBlock>& more = {});

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
std::unique_ptr<Emulator> MakeEmulator(const std::optional<OutputTransform>& transform,
                                       std::unique_ptr<MixtureEmulator> fitted);

// How many observations of each of the model's fidelities an emulator knows: those in use.
std::vector<int64_t> KnownCounts(const Emulator& emulator, int fidelities);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_CORE_MODELS_H_
