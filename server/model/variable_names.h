// Rules about the names, units and descriptions of a model's inputs and output (fidelio.v1 Input, Output).
//
// A name is [A-Za-z_][A-Za-z0-9_.-]{0,62}. It names a column of files, so it is unique in the model and none of the other
// columns: `fidelity`, `level`, `noise_variance`, `run_id` and, for inputs, `y`.
//
// A free function without state: safe from every thread.
#ifndef FIDELIO_SERVER_MODEL_VARIABLE_NAMES_H_
#define FIDELIO_SERVER_MODEL_VARIABLE_NAMES_H_

#include "absl/status/status.h"
#include "server/model/model_types.h"

namespace fidelio {

// INVALID_ARGUMENT with the field, its value and the rule. `spec.input_dimension` has been checked.
absl::Status ValidateVariables(const ModelSpec& spec);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_VARIABLE_NAMES_H_
