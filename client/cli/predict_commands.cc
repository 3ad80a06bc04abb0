// fidelio predict, score.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/as_typed.h"
#include "client/cli/command.h"
#include "client/cli/csv.h"
#include "client/cli/score.h"
#include "client/cli/tables.h"
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

const TypedNames& PredictNames() {
  static const auto* names = new TypedNames{{"model", "NAME"},
                                            {"options.level", "--level"},
                                            {"options.quantiles", "--quantiles"},
                                            {"revision", "--revision"},
                                            {"inputs", "FILE"}};
  return *names;
}

// A file, and what a model predicts at its inputs.
struct Answer {
  CsvTable table;
  client::Prediction prediction;
};

absl::StatusOr<Answer> Ask(Context& context, const PredictCommandOptions& options,
                           const std::vector<double>& quantiles) {
  auto text = ReadInput(options.file, context.streams.in);
  if (!text.ok()) return text.status();
  auto table = CsvTable::Parse(DisplayName(options.file), *std::move(text));
  if (!table.ok()) return table.status();
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto model = (*client)->GetModel(options.name);
  if (!model.ok()) return model.status();
  client::PredictOptions predict{.include_noise = options.noise, .quantiles = quantiles, .revision = options.revision};
  if (!options.level.empty()) {
    const auto level = ParseLevel(*model, options.level);
    if (!level.ok()) return absl::InvalidArgumentError(absl::StrCat("--level: ", level.status().message()));
    predict.level = *level;
  }
  const auto inputs = ReadInputs(*table, *model);
  if (!inputs.ok()) return inputs.status();
  auto prediction = (*client)->Predict(options.name, *inputs, predict);
  if (!prediction.ok()) return AsTyped(prediction.status(), PredictNames());
  return Answer{*std::move(table), *std::move(prediction)};
}

// The columns of the file as they stand there, then those of the prediction.
std::string ToCsv(const Answer& answer, const std::vector<double>& quantiles) {
  std::string out;
  for (const std::string& column : answer.table.columns()) absl::StrAppend(&out, column, ",");
  absl::StrAppend(&out, "mean,sd");
  for (const double quantile : quantiles) absl::StrAppend(&out, ",q", ExactNumber(quantile));
  absl::StrAppend(&out, "\n");
  const int columns = static_cast<int>(answer.table.columns().size());
  for (int i = 0; i < answer.table.rows(); ++i) {
    for (int j = 0; j < columns; ++j) absl::StrAppend(&out, answer.table.Raw(i, j), ",");
    absl::StrAppend(&out, ExactNumber(answer.prediction.mean[i]), ",",
                    ExactNumber(std::sqrt(answer.prediction.variance[i])));
    for (Eigen::Index j = 0; j < answer.prediction.quantiles.cols(); ++j) {
      absl::StrAppend(&out, ",", ExactNumber(answer.prediction.quantiles(i, j)));
    }
    absl::StrAppend(&out, "\n");
  }
  return out;
}

Json ToJson(const client::Prediction& prediction, const std::vector<double>& quantiles) {
  Json json = {{"revision", prediction.revision},
               {"data_version", prediction.data_version},
               {"mean", cli::ToJson(prediction.mean)},
               {"sd", cli::ToJson(prediction.variance.cwiseSqrt())}};
  for (size_t j = 0; j < quantiles.size(); ++j) {
    json["quantiles"][ExactNumber(quantiles[j])] = cli::ToJson(prediction.quantiles.col(static_cast<Eigen::Index>(j)));
  }
  return json;
}

absl::Status Predict(Context& context, const PredictCommandOptions& options) {
  const auto quantiles = ParseNumbers("--quantiles", options.quantiles);
  if (!quantiles.ok()) return quantiles.status();
  const auto answer = Ask(context, options, *quantiles);
  if (!answer.ok()) return answer.status();
  return context.Write(options.output, ToJson(answer->prediction, *quantiles), ToCsv(*answer, *quantiles));
}

absl::Status Score(Context& context, const PredictCommandOptions& options) {
  const auto answer = Ask(context, options, {0.025, 0.975});
  if (!answer.ok()) return answer.status();
  const auto y = ReadColumn(answer->table, "y");
  if (!y.ok()) return y.status();
  const Scores scores = ComputeScores(answer->prediction, *y);
  context.Print(Json{{"revision", answer->prediction.revision},
                     {"points", y->size()},
                     {"rmse", scores.rmse},
                     {"r2", scores.r2},
                     {"coverage95", scores.coverage}},
                TextTable({{"points", absl::StrCat(y->size())},
                           {"RMSE", RoundNumber(scores.rmse)},
                           {"R²", RoundNumber(scores.r2)},
                           {"within the 95 % interval", absl::StrCat(RoundNumber(100 * scores.coverage), " %")}}));
  return absl::OkStatus();
}

void AddCommonOptions(CLI::App* command, PredictCommandOptions& options) {
  command->add_option("NAME", options.name, "the model")->required();
  command->add_option("FILE", options.file, "CSV with a header and the columns x1..xd, or - for standard input")
      ->required();
  command->add_option("--level", options.level, "fidelity: its name, or its number from 0; default the highest");
  command->add_flag("--noise", options.noise, "predict new observations, with their noise, instead of the function");
  command->add_option("--revision", options.revision, "number of a revision; default the current one");
}

}  // namespace

void AddPredictCommands(CLI::App& app, Context& context) {
  auto options = std::make_shared<PredictCommandOptions>();
  CLI::App* predict = AddCommand(app, context, "predict", "Predict at the inputs of a CSV file",
                                 "  fidelio predict wing points.csv -o predictions.csv\n"
                                 "  fidelio predict wing points.csv --quantiles 0.025,0.5,0.975\n"
                                 "  printf 'x1,x2\\n0.1,0.5\\n' | fidelio predict wing - --level coarse\n"
                                 "\nThe output has the columns of the input, then mean, sd and a column per quantile. "
                                 "Numbers have\nas many digits as it takes to read the same bits back.\n",
                                 [&context, options] { return Predict(context, *options); });
  AddCommonOptions(predict, *options);
  predict->add_option("--quantiles", options->quantiles, "probabilities above 0 and below 1: 0.025,0.975")
      ->type_name("LIST");
  predict->add_option("-o,--output", options->output, "file to write; default standard output")->type_name("FILE");

  auto score_options = std::make_shared<PredictCommandOptions>();
  CLI::App* score =
      AddCommand(app, context, "score", "Compare predictions with outputs that are known",
                 "  fidelio score wing test.csv\n"
                 "\nThe file has the columns x1..xd and y. Shows the root of the mean squared error, R² and "
                 "how many\nof the outputs lie within the predicted 95 % interval.\n",
                 [&context, score_options] { return Score(context, *score_options); });
  AddCommonOptions(score, *score_options);
}

}  // namespace fidelio::cli
