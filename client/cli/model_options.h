// What `fidelio model create` and `update` say of a model, and the message that it becomes.
//
// Errors are INVALID_ARGUMENT and begin with the flag. Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_MODEL_OPTIONS_H_
#define FIDELIO_CLIENT_CLI_MODEL_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/as_typed.h"
#include "client/cli/variable_flags.h"
#include "fidelio/v1/model.pb.h"

namespace fidelio::cli {

// What create and update say of a model, as typed. Empty: not said.
struct ModelOptions {
  std::string name;
  std::string fidelities;
  std::string costs;
  std::string lower;
  std::string upper;
  std::string description;
  VariableFlags variables;
  std::optional<uint32_t> keep_revisions;
};

struct CreateOptions : ModelOptions {
  uint32_t inputs = 0;
  std::string kind;
  v1::OutputTransformKind transform = v1::OUTPUT_TRANSFORM_KIND_IDENTITY;
  std::string bounds;
};

// The flags that the server's errors are about.
const TypedNames& ModelFieldNames();

// Names, fidelities and box. Those of `model` that were not said stay.
absl::Status ApplyOptions(const ModelOptions& options, v1::Model* model);

// A new model, but for its kind.
absl::StatusOr<v1::Model> ToModel(const CreateOptions& options);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_MODEL_OPTIONS_H_
