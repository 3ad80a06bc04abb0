#include "client/cli/observations_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "client/cli/text.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {
namespace {

// "2024-05-06T07:08:09Z"; empty for no time.
std::string IsoTime(const google::protobuf::Timestamp& time) {
  if (time.seconds() == 0 && time.nanos() == 0) return "";
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(time.seconds()), absl::UTCTimeZone());
}

// A field of CSV, in quotes where it needs them.
std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

const char* StateText(const client::Observations& batch) {
  return !batch.withdrawal.has_value() ? "in use" : batch.withdrawal->corrected() ? "corrected" : "withdrawn";
}

std::string FidelityName(const v1::Model& model, int level) {
  return level < model.fidelities_size() ? model.fidelities(level).name() : absl::StrCat(level);
}

std::string RunId(const client::Observations& batch, Eigen::Index i) {
  return batch.run_ids.empty() ? "" : batch.run_ids[static_cast<size_t>(i)];
}

// The i-th variance of the noise, as `format` writes it; empty when it is learned.
std::string NoiseText(const client::Observations& batch, Eigen::Index i, std::string (*format)(double)) {
  if (batch.noise_variances.size() == 0) return "";
  return format(batch.noise_variances[batch.noise_variances.size() == 1 ? 0 : i]);
}

// run_id, fidelity, inputs, output, noise_variance: with numbers as `format` writes them.
std::vector<std::string> Fields(const v1::Model& model, const client::Observations& batch, Eigen::Index i,
                                std::string (*format)(double)) {
  std::vector<std::string> fields = {RunId(batch, i), FidelityName(model, batch.level.value_or(0))};
  for (const double x : batch.inputs.row(i)) fields.push_back(format(x));
  fields.push_back(format(batch.outputs[i]));
  fields.push_back(NoiseText(batch, i, format));
  return fields;
}

std::vector<std::string> Header(const v1::Model& model) {
  std::vector<std::string> header = {"run_id", "fidelity"};
  for (const std::string& name : client::InputNames(model)) header.push_back(name);
  header.push_back(client::OutputName(model));
  header.push_back("noise_variance");
  return header;
}

}  // namespace

std::string ObservationsText(const v1::Model& model, const std::vector<client::Observations>& batches, bool history) {
  const bool noise =
      std::any_of(batches.begin(), batches.end(), [](const auto& batch) { return batch.noise_variances.size() > 0; });
  std::vector<std::vector<std::string>> rows = {Header(model)};
  if (!noise) rows[0].pop_back();
  rows[0].insert(rows[0].end(), {"data_version", "time"});
  if (history) rows[0].insert(rows[0].end(), {"state", "since", "reason"});
  for (const client::Observations& batch : batches) {
    for (Eigen::Index i = 0; i < batch.outputs.size(); ++i) {
      std::vector<std::string> row = Fields(model, batch, i, RoundNumber);
      if (!noise) row.pop_back();
      row.insert(row.end(), {absl::StrCat(batch.data_version), TimeText(batch.create_time)});
      if (history) {
        row.push_back(StateText(batch));
        row.push_back(batch.withdrawal.has_value() ? TimeText(batch.withdrawal->time()) : "");
        row.push_back(batch.withdrawal.has_value() ? batch.withdrawal->reason() : "");
      }
      rows.push_back(std::move(row));
    }
  }
  return TextTable(rows);
}

std::string ObservationsCsv(const v1::Model& model, const std::vector<client::Observations>& batches, bool history) {
  std::vector<std::string> header = Header(model);
  header.insert(header.end(), {"data_version", "time"});
  if (history) header.insert(header.end(), {"state", "withdrawn_data_version", "withdrawn_time", "reason"});
  std::string csv = absl::StrCat(absl::StrJoin(header, ","), "\n");
  for (const client::Observations& batch : batches) {
    for (Eigen::Index i = 0; i < batch.outputs.size(); ++i) {
      absl::StrAppend(&csv, absl::StrJoin(Fields(model, batch, i, ExactNumber), ","), ",", batch.data_version, ",",
                      IsoTime(batch.create_time));
      if (history && !batch.withdrawal.has_value()) absl::StrAppend(&csv, ",", StateText(batch), ",,,");
      if (history && batch.withdrawal.has_value()) {
        absl::StrAppend(&csv, ",", StateText(batch), ",", batch.withdrawal->data_version(), ",",
                        IsoTime(batch.withdrawal->time()), ",", CsvField(batch.withdrawal->reason()));
      }
      absl::StrAppend(&csv, "\n");
    }
  }
  return csv;
}

Json ObservationsJson(const v1::Model& model, const std::vector<client::Observations>& batches) {
  Json list = Json::array();
  for (const client::Observations& batch : batches) {
    for (Eigen::Index i = 0; i < batch.outputs.size(); ++i) {
      const Eigen::VectorXd& noise = batch.noise_variances;
      Json row = {{"run_id", RunId(batch, i)},
                  {"fidelity", FidelityName(model, batch.level.value_or(0))},
                  {"level", batch.level.value_or(0)},
                  {"input", ToJson(batch.inputs.row(i).transpose())},
                  {"output", batch.outputs[i]},
                  {"noise_variance", noise.size() == 0 ? Json() : Json(noise[noise.size() == 1 ? 0 : i])},
                  {"data_version", batch.data_version},
                  {"create_time", IsoTime(batch.create_time)},
                  {"state", StateText(batch)}};
      if (batch.withdrawal.has_value()) {
        row["withdrawal"] = {{"data_version", batch.withdrawal->data_version()},
                             {"time", IsoTime(batch.withdrawal->time())},
                             {"reason", batch.withdrawal->reason()}};
      }
      list.push_back(std::move(row));
    }
  }
  return {
      {"input_names", client::InputNames(model)}, {"output_name", client::OutputName(model)}, {"observations", list}};
}

}  // namespace fidelio::cli
