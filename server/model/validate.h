// Rules of fidelio.v1 about what callers send. Errors are INVALID_ARGUMENT, with the path of the field, its value and the
// rule: `observations[1].inputs: 7 columns, but model "wing" has input dimension 8`.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_MODEL_VALIDATE_H_
#define FIDELIO_SERVER_MODEL_VALIDATE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/model/codec.h"
#include "server/model/method_choice.h"
#include "server/model/model_service_options.h"
#include "server/model/model_types.h"

namespace fidelio {

const Capabilities& SupportedCapabilities();

// [a-z]([a-z0-9-]{0,61}[a-z0-9])?
absl::Status ValidateModelName(absl::string_view name, absl::string_view field);

// Empty, or at most 64 characters of [A-Za-z0-9_.-].
absl::Status ValidateRequestId(absl::string_view id);

// Also fills in the names of fidelities that have none, and an input_dimension of 0 when inputs are given.
absl::Status ValidateSpec(ModelSpec& spec, const ModelServiceOptions& options);

// All but the options of methods.
absl::Status ValidateFitSpec(const FitSpec& spec);

// The options of the chosen method, and no others.
absl::Status ValidateMethodOptions(const FitSpec& spec, const MethodChoice& choice);

absl::Status ValidateUpdate(ObservationUpdate update);

// Observations for a model of this name and description. `noise` says what is known of the levels, and learns from the
// batches. Levels are all present afterwards, and noise variances are none or one per point.
absl::Status ValidateObservations(std::vector<ObservationBatch>& observations, absl::string_view model,
                                  const ModelSpec& spec, std::vector<LevelNoise>& noise,
                                  const ModelServiceOptions& options);

// 1 to 64 characters of [A-Za-z0-9_.-].
bool IsRunId(absl::string_view id);

// Values of a correction: finite, in the domain of the output transform, variances ≥ 0.
absl::Status ValidateCorrection(const Correction& correction, const ModelSpec& spec);

// Of input j, for messages.
std::string InputName(const ModelSpec& spec, Eigen::Index j);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_VALIDATE_H_
