// Messages of the contract as JSON, with the names of its fields (snake_case) and 64-bit integers as strings, as
// protobuf has it everywhere.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_JSON_H_
#define FIDELIO_CLIENT_CLI_JSON_H_

#include <Eigen/Core>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"

namespace fidelio::cli {

using Json = nlohmann::ordered_json;

// Fields with default values included.
Json ToJson(const google::protobuf::Message& message);

// {"models": [...]}
template <typename Messages>
Json ToJsonList(const char* name, const Messages& messages) {
  Json list = Json::array();
  for (const auto& message : messages) list.push_back(ToJson(message));
  return Json{{name, list}};
}

// A list for one column, otherwise a list of rows.
Json ToJson(const Eigen::Ref<const Eigen::MatrixXd>& matrix);

// {"error": {"code": "NOT_FOUND", "message": ..., "details": [...]}}
Json ErrorToJson(const absl::Status& status);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_JSON_H_
