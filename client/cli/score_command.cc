// fidelio score.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/cli/input.h"
#include "client/cli/predict_file.h"
#include "client/cli/score.h"
#include "client/cli/tables.h"
#include "client/cli/text.h"
#include "client/cpp/names.h"

namespace fidelio::cli {
namespace {

struct ScoreOptions {
  std::string name;
  std::string file;
  std::vector<std::string> against;
  std::string level;
  bool noise = false;
  std::string revision;
};

struct ModelScores {
  std::string model = {};
  std::string revision = {};
  Scores scores = {};
  std::vector<std::string> warnings = {};
};

// Outputs of other fidelities, where the table tells theirs, are nothing to compare with.
absl::Status CheckFidelity(const DataTable& table, const v1::Model& model, int scored) {
  const int column = std::max(table.Column("level"), table.Column("fidelity"));
  for (int i = 0; column >= 0 && i < table.rows(); ++i) {
    const auto level = ParseLevel(model, table.Text(i, column));
    if (!level.ok()) return table.Error(i, column, level.status().message());
    if (*level != scored) {
      return table.Error(
          i, column,
          absl::StrCat("\"", table.Text(i, column), "\", but predictions of ", model.fidelities(scored).name(),
                       " are scored; leave such rows out, or choose by --level"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelScores> ScoreModel(Context& context, client::Client& client, const ScoreOptions& options,
                                       const std::string& name, const std::string& revision, InputFile& input) {
  const auto model = client.GetModel(name);
  if (!model.ok()) return model.status();
  const auto level = context.Level(*model, options.level);
  if (!level.ok()) return level.status();
  const int scored = level->value_or(model->fidelities_size() - 1);
  ModelScores result{.model = client::ShortName(name)};
  Scorer scorer;
  PredictionRemarks remarks;
  const auto on_rows = [&](const DataTable& table, const client::Prediction& prediction) -> absl::Status {
    const auto y = ReadOutputs(table, *model);
    if (!y.ok()) return y.status();
    if (absl::Status status = CheckFidelity(table, *model, scored); !status.ok()) return status;
    scorer.Add(prediction, *y);
    remarks.Add(prediction);
    result.revision = prediction.revision;
    return absl::OkStatus();
  };
  if (absl::Status status = PredictFile(
          context, client, *model,
          {.level = *level, .include_noise = options.noise, .quantiles = {0.025, 0.975}, .revision = revision}, input,
          on_rows);
      !status.ok()) {
    return status;
  }
  remarks.Print(context);
  result.warnings = remarks.texts();
  result.scores = scorer.scores();
  return result;
}

Json ScoresJson(const ModelScores& scores) {
  Json json = {{"model", scores.model},      {"revision", scores.revision}, {"points", scores.scores.points},
               {"rmse", scores.scores.rmse}, {"r2", scores.scores.r2},      {"coverage95", scores.scores.coverage}};
  if (scores.scores.median_rmse.has_value()) json["median_rmse"] = *scores.scores.median_rmse;
  if (scores.scores.median_r2.has_value()) json["median_r2"] = *scores.scores.median_r2;
  json["warnings"] = scores.warnings;
  return json;
}

std::string RoundedOrNone(const std::optional<double>& number) { return number ? RoundNumber(*number) : "–"; }

absl::Status Score(Context& context, const ScoreOptions& options) {
  auto input = InputFile::Open(options.file, context.streams.in);
  if (!input.ok()) return input.status();
  if (!options.against.empty() && !(*input)->seekable()) {
    return absl::InvalidArgumentError(absl::StrCat("--against: the file is read once for every model, but ",
                                                   DisplayName(options.file), " can be read only once"));
  }
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  auto own = ScoreModel(context, **client, options, options.name, options.revision, **input);
  if (!own.ok()) return own.status();
  if (options.against.empty()) {
    context.Print(ScoresJson(*own), TextTable({{"points", absl::StrCat(own->scores.points)},
                                               {"RMSE", RoundNumber(own->scores.rmse)},
                                               {"R²", RoundNumber(own->scores.r2)},
                                               {"RMSE of the median", RoundedOrNone(own->scores.median_rmse)},
                                               {"R² of the median", RoundedOrNone(own->scores.median_r2)},
                                               {"within the 95 % interval", Percent(own->scores.coverage)}}));
    return absl::OkStatus();
  }
  std::vector<ModelScores> all = {*std::move(own)};
  for (const std::string& other : options.against) {
    (*input)->Rewind();
    auto scores = ScoreModel(context, **client, options, other, "", **input);
    if (!scores.ok()) return scores.status();
    all.push_back(*std::move(scores));
  }
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows = {
      {"MODEL", "REVISION", "POINTS", "RMSE", "R²", "IN 95 %", "MEDIAN RMSE", "MEDIAN R²"}};
  for (const ModelScores& scores : all) {
    list.push_back(ScoresJson(scores));
    rows.push_back({scores.model, client::ShortName(scores.revision), absl::StrCat(scores.scores.points),
                    RoundNumber(scores.scores.rmse), RoundNumber(scores.scores.r2), Percent(scores.scores.coverage),
                    RoundedOrNone(scores.scores.median_rmse), RoundedOrNone(scores.scores.median_r2)});
  }
  context.Print(Json{{"scores", list}}, TextTable(rows));
  return absl::OkStatus();
}

}  // namespace

void AddScoreCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<ScoreOptions>();
  CLI::App* score = AddCommand(app, context, "score", "Compare predictions with known outputs",
                               "  fidelio score wing test.csv\n"
                               "  fidelio score wing test.csv --against wing-fine-only     both in one table\n"
                               "\nThe file has columns for the inputs and the output, by name. Shows the root of the "
                               "mean squared error and R², of the\n"
                               "predicted mean and of the median, and how many of the outputs lie within the predicted "
                               "95 % interval.\n",
                               [&context, options] { return Score(context, *options); });
  score->add_option("NAME", options->name, "the model")->required();
  score
      ->add_option("FILE", options->file,
                   "CSV with a header (names of inputs and output, or x1..xd and y), .npy, or - for standard input")
      ->required();
  score->add_option("--against", options->against, "other models to compare with; may be repeated")->type_name("NAME");
  score->add_option("--level", options->level, "fidelity: its name, or its number from 0; default the highest");
  score->add_flag("--noise", options->noise, "predict new observations, with their noise, instead of the function");
  score->add_option("--revision", options->revision, "number of a revision of NAME; default the current one")
      ->check(ResourceNumber());
}

}  // namespace fidelio::cli
