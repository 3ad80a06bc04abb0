// fidelio predict.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/cli/input.h"
#include "client/cli/output.h"
#include "client/cli/predict_file.h"
#include "client/cli/text.h"

namespace fidelio::cli {
namespace {

struct PredictCommandOptions {
  std::string name;
  std::string file;
  std::string level;
  std::string quantiles;
  bool noise = false;
  std::string revision;
  std::string output;
};

std::string CsvHeader(const DataTable& table, const std::vector<double>& quantiles, bool median) {
  std::string out;
  for (const std::string& column : table.columns()) absl::StrAppend(&out, column, ",");
  absl::StrAppend(&out, "mean,sd");
  for (const double quantile : quantiles) absl::StrAppend(&out, ",q", ExactNumber(quantile));
  return absl::StrCat(out, median ? ",median" : "", "\n");
}

// The columns of the file as they stand there, then those of the prediction.
std::string CsvRows(const DataTable& table, const client::Prediction& prediction) {
  std::string out;
  const int columns = static_cast<int>(table.columns().size());
  for (int i = 0; i < table.rows(); ++i) {
    for (int j = 0; j < columns; ++j) {
      table.AppendCsv(i, j, &out);
      out.push_back(',');
    }
    absl::StrAppend(&out, ExactNumber(prediction.mean[i]), ",", ExactNumber(std::sqrt(prediction.variance[i])));
    for (Eigen::Index j = 0; j < prediction.quantiles.cols(); ++j) {
      absl::StrAppend(&out, ",", ExactNumber(prediction.quantiles(i, j)));
    }
    // Last: earlier versions had the columns before it.
    if (prediction.median.size() > 0) absl::StrAppend(&out, ",", ExactNumber(prediction.median[i]));
    out.push_back('\n');
  }
  return out;
}

// Appends to {"mean": [...], "sd": [...], "median": [...], "quantiles": {"0.5": [...]}}.
void Append(const client::Prediction& prediction, const std::vector<double>& quantiles, Json* json) {
  (*json)["revision"] = prediction.revision;
  (*json)["data_version"] = prediction.data_version;
  for (Eigen::Index i = 0; i < prediction.mean.size(); ++i) {
    (*json)["mean"].push_back(prediction.mean[i]);
    (*json)["sd"].push_back(std::sqrt(prediction.variance[i]));
    if (prediction.median.size() > 0) (*json)["median"].push_back(prediction.median[i]);
    for (size_t j = 0; j < quantiles.size(); ++j) {
      (*json)["quantiles"][ExactNumber(quantiles[j])].push_back(prediction.quantiles(i, static_cast<Eigen::Index>(j)));
    }
  }
}

absl::Status Predict(Context& context, const PredictCommandOptions& options) {
  const auto quantiles = ParseNumbers("--quantiles", options.quantiles);
  if (!quantiles.ok()) return quantiles.status();
  auto input = InputFile::Open(options.file, context.streams.in);
  if (!input.ok()) return input.status();
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto model = (*client)->GetModel(options.name);
  if (!model.ok()) return model.status();
  const auto level = context.Level(*model, options.level);
  if (!level.ok()) return level.status();
  const client::PredictOptions predict{
      .level = *level, .include_noise = options.noise, .quantiles = *quantiles, .revision = options.revision};

  const auto output = OutputFile::Open(options.output, context.streams.out);
  if (!output.ok()) return output.status();
  Json json;
  bool begun = false;
  PredictionRemarks remarks;
  const auto on_rows = [&](const DataTable& table, const client::Prediction& prediction) -> absl::Status {
    remarks.Add(prediction);
    if (context.options.json) {
      Append(prediction, *quantiles, &json);
      return absl::OkStatus();
    }
    absl::Status status =
        begun ? absl::OkStatus() : (*output)->Write(CsvHeader(table, *quantiles, prediction.median.size() > 0));
    begun = true;
    status.Update((*output)->Write(CsvRows(table, prediction)));
    return status;
  };
  if (absl::Status status = PredictFile(context, **client, *model, predict, **input, on_rows); !status.ok()) {
    return status;
  }
  remarks.Print(context);
  if (context.options.json) {
    json["warnings"] = remarks.texts();
    if (absl::Status status = (*output)->Write(json.dump(2) + "\n"); !status.ok()) return status;
  }
  return (*output)->Commit();
}

}  // namespace

void AddPredictCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<PredictCommandOptions>();
  CLI::App* predict = AddCommand(
      app, context, "predict", "Predict at the inputs of a file",
      "  fidelio predict wing points.csv -o predictions.csv\n"
      "  fidelio predict wing points.csv --quantiles 0.025,0.5,0.975\n"
      "  printf 'x1,x2\\n0.1,0.5\\n' | fidelio predict wing - --level coarse\n"
      "\nThe output has the columns of the input, then mean, sd, a column per quantile, and the median. Where the\n"
      "mean lies outside the central 50 % interval, a warning says so: use the median there. Numbers are printed\n"
      "with all their digits. Files can be of any length: all rows are predicted by the same revision,\n"
      "in parts, with little memory (except with --json, which is one document).\n",
      [&context, options] { return Predict(context, *options); });
  predict->add_option("NAME", options->name, "the model")->required();
  predict
      ->add_option("FILE", options->file,
                   "CSV with a header (names of the inputs, or x1..xd), .npy, or - for standard input")
      ->required();
  predict->add_option("--level", options->level, "fidelity: its name, or its number from 0; default the highest");
  predict->add_option("--quantiles", options->quantiles, "probabilities above 0 and below 1: 0.025,0.975")
      ->type_name("LIST");
  predict->add_flag("--noise", options->noise, "predict new observations, with their noise, instead of the function");
  predict->add_option("--revision", options->revision, "number of a revision; default the current one")
      ->check(ResourceNumber());
  predict->add_option("-o,--output", options->output, "file to write; default standard output")->type_name("FILE");
}

}  // namespace fidelio::cli
