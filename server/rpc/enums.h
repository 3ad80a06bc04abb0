// Enumerations of the wire: open (a client may send any number), and 0 stands for the default.
#ifndef FIDELIO_SERVER_RPC_ENUMS_H_
#define FIDELIO_SERVER_RPC_ENUMS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/generated_enum_reflection.h"

namespace fidelio {

// INVALID_ARGUMENT, with the names that exist, for a number that has none.
template <typename WireEnum>
absl::Status CheckEnum(WireEnum value, absl::string_view field) {
  const google::protobuf::EnumDescriptor* type = google::protobuf::GetEnumDescriptor<WireEnum>();
  if (type->FindValueByNumber(static_cast<int>(value)) != nullptr) return absl::OkStatus();
  std::vector<std::string> names;
  for (int i = 0; i < type->value_count(); ++i) names.push_back(type->value(i)->name());
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", static_cast<int>(value), " is no ", type->name(),
                                                 "; it must be one of ", absl::StrJoin(names, ", ")));
}

// The value of server/model with the same number; `standard` for 0. Kinds of models and inferences may have methods that the
// contract does not name: server/model checks those.
template <typename ModelEnum, typename WireEnum>
ModelEnum OrDefault(WireEnum value, ModelEnum standard) {
  return static_cast<int>(value) == 0 ? standard : static_cast<ModelEnum>(value);
}

// The same, for a value that the contract names.
template <typename ModelEnum, typename WireEnum>
absl::StatusOr<ModelEnum> ToEnum(WireEnum value, ModelEnum standard, absl::string_view field) {
  if (absl::Status status = CheckEnum(value, field); !status.ok()) return status;
  return OrDefault(value, standard);
}

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_ENUMS_H_
