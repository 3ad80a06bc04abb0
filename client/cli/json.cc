#include "client/cli/json.h"

#include <string>

#include "client/cpp/errors.h"
#include "google/protobuf/util/json_util.h"

namespace fidelio::cli {

Json ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
  // Details of a kind that this program does not know can't be shown as JSON.
  if (!status.ok()) return Json{{"unknown", std::string(status.message())}};
  return Json::parse(text);
}

Json ToJson(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  Json rows = Json::array();
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    if (matrix.cols() == 1) {
      rows.push_back(matrix(i, 0));
      continue;
    }
    Json row = Json::array();
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) row.push_back(matrix(i, j));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json ErrorToJson(const absl::Status& status) {
  Json details = Json::array();
  const google::rpc::Status message = client::DetailsOf(status);
  for (const auto& detail : message.details()) details.push_back(ToJson(detail));
  return Json{{"error",
               {{"code", absl::StatusCodeToString(status.code())},
                {"message", std::string(status.message())},
                {"details", details}}}};
}

}  // namespace fidelio::cli
