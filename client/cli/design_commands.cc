// fidelio sample-dpp, suggest, diagnose.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/as_typed.h"
#include "client/cli/command.h"
#include "client/cli/input.h"
#include "client/cli/tables.h"
#include "client/cli/text.h"
#include "client/cli/verdict.h"
#include "client/cli/words.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {
namespace {

// Options of sample-dpp and suggest.
struct DesignOptions {
  std::string name;
  std::string candidates;
  int candidate_count = 0;
  uint64_t seed = 0;
  std::string revision;
  std::string output;
};

struct SampleDppOptions : DesignOptions {
  client::DppOptions dpp;
  std::string level;
};

struct SuggestCommandOptions : DesignOptions {
  client::SuggestOptions suggest;
  std::string levels;
};

struct DiagnoseCommandOptions {
  std::string name;
  std::string revision;
};

const TypedNames& DesignNames() {
  static const auto* names = new TypedNames{{"model", "NAME"},
                                            {"k", "--k"},
                                            {"quality", "--candidates, column quality"},
                                            {"candidates", "--candidates"},
                                            {"candidate_count", "--candidate-count"},
                                            {"level", "--level"},
                                            {"levels", "--levels"},
                                            {"count", "--count"},
                                            {"budget", "--budget"},
                                            {"width", "--width"},
                                            {"direction", "--maximise"},
                                            {"target_count", "--targets"},
                                            {"revision", "--revision"}};
  return *names;
}

// The file of --candidates; null when there is none.
absl::StatusOr<std::unique_ptr<DataTable>> ReadCandidates(Context& context, const std::string& path,
                                                          const v1::Model& model) {
  if (path.empty()) return nullptr;
  const auto input = InputFile::Open(path, context.streams.in);
  if (!input.ok()) return input.status();
  return (*input)->Tables(NameInputColumns(model))->Next(std::numeric_limits<int>::max());
}

// The header of a table that observe takes once it has a column of outputs.
std::string DesignHeader(const v1::Model& model) {
  std::string header = "fidelity";
  for (const std::string& name : client::InputNames(model)) absl::StrAppend(&header, ",", name);
  return absl::StrCat(header, "\n");
}

std::string DesignRow(const std::string& fidelity, const Eigen::VectorXd& input) {
  std::string row = fidelity;
  for (const double x : input) absl::StrAppend(&row, ",", ExactNumber(x));
  return absl::StrCat(row, "\n");
}

// "the variance of high is expected to fall from 0.5 to 0.1, by 80 %"
std::string ReductionText(const v1::Model& model, double before, double after) {
  const int top = model.fidelities_size() - 1;
  const std::string what = absl::StrCat("the mean variance of ", top < 0 ? "the outputs" : model.fidelities(top).name(),
                                        " is expected to fall from ", RoundNumber(before), " to ", RoundNumber(after));
  return before > 0 ? absl::StrCat(what, ", by ", Percent(1 - after / before)) : what;
}

// ---- sample-dpp ----

absl::Status SampleDpp(Context& context, const SampleDppOptions& options) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto model = (*client)->GetModel(options.name);
  if (!model.ok()) return model.status();
  const auto table = ReadCandidates(context, options.candidates, *model);
  if (!table.ok()) return table.status();

  client::DppOptions dpp = options.dpp;
  dpp.candidate_count = options.candidate_count;
  dpp.seed = options.seed;
  dpp.revision = options.revision;
  const auto asked = context.Level(*model, options.level);
  if (!asked.ok()) return asked.status();
  dpp.level = *asked;
  const int level = asked->value_or(model->fidelities_size() - 1);
  const bool given = dpp.quality_mode == v1::QUALITY_MODE_GIVEN;
  if (*table != nullptr) {
    auto candidates = ReadInputs(**table, *model);
    if (!candidates.ok()) return candidates.status();
    dpp.candidates = *std::move(candidates);
    if (given) {
      const std::vector<std::string> inputs = client::InputNames(*model);
      if (std::find(inputs.begin(), inputs.end(), "quality") != inputs.end()) {
        return absl::InvalidArgumentError("--quality: given, which is the column quality, but that is an input");
      }
      auto quality = ReadColumn(**table, "quality");
      if (!quality.ok()) return quality.status();
      dpp.quality = *std::move(quality);
    }
  } else if (given) {
    return absl::InvalidArgumentError("--quality: given, which needs a column quality in the file of --candidates");
  }
  const auto design = (*client)->SampleDpp(options.name, dpp);
  if (!design.ok()) return AsTyped(design.status(), DesignNames());

  const std::string fidelity = level < 0 ? "" : model->fidelities(level).name();
  const Json json = {{"fidelity", fidelity},
                     {"level", level},
                     {"input_names", client::InputNames(*model)},
                     {"inputs", ToJson(design->inputs)},
                     {"indices", design->indices},
                     {"quality", ToJson(design->quality)},
                     {"log_determinant", design->log_determinant},
                     {"variance_before", design->variance_before},
                     {"variance_after", design->variance_after},
                     {"revision", design->revision},
                     {"data_version", design->data_version}};
  std::string csv = DesignHeader(*model);
  for (Eigen::Index i = 0; i < design->inputs.rows(); ++i) {
    absl::StrAppend(&csv, DesignRow(fidelity, design->inputs.row(i).transpose()));
  }
  if (absl::Status status = context.Write(options.output, json, csv); !status.ok()) return status;
  context.Remark(absl::StrCat(design->inputs.rows(), design->inputs.rows() == 1 ? " input" : " inputs", " for ",
                              fidelity, ": ", ReductionText(*model, design->variance_before, design->variance_after)));
  return absl::OkStatus();
}

// ---- suggest ----

Json SuggestionsJson(const v1::Model& model, const client::Suggestions& answer) {
  Json runs = Json::array();
  for (const client::Suggestion& run : answer.runs) {
    runs.push_back({{"fidelity", run.fidelity},
                    {"level", run.level},
                    {"input", ToJson(run.input)},
                    {"cost", run.cost},
                    {"value", run.value},
                    {"candidate", run.candidate}});
  }
  return {{"input_names", client::InputNames(model)},
          {"suggestions", runs},
          {"shortfall_reason", answer.shortfall_reason},
          {"total_cost", answer.total_cost},
          {"variance_before", answer.variance_before},
          {"variance_after", answer.variance_after},
          {"revision", answer.revision},
          {"data_version", answer.data_version}};
}

// "3 runs (2 low, 1 high) at a cost of 12"
std::string RunsText(const v1::Model& model, const client::Suggestions& answer) {
  std::vector<std::string> parts;
  for (int t = 0; t < model.fidelities_size(); ++t) {
    int64_t count = 0;
    for (const client::Suggestion& run : answer.runs) count += run.level == t ? 1 : 0;
    if (count > 0) parts.push_back(absl::StrCat(count, " ", model.fidelities(t).name()));
  }
  return absl::StrCat(answer.runs.size(), answer.runs.size() == 1 ? " run (" : " runs (", absl::StrJoin(parts, ", "),
                      ") at a cost of ", RoundNumber(answer.total_cost));
}

absl::Status Suggest(Context& context, const SuggestCommandOptions& options) {
  const auto level_names = ParseNames("--levels", options.levels);
  if (!level_names.ok()) return level_names.status();
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto model = (*client)->GetModel(options.name);
  if (!model.ok()) return model.status();
  const auto table = ReadCandidates(context, options.candidates, *model);
  if (!table.ok()) return table.status();

  client::SuggestOptions suggest = options.suggest;
  suggest.candidate_count = options.candidate_count;
  suggest.seed = options.seed;
  suggest.revision = options.revision;
  for (const std::string& name : *level_names) {
    const auto level = ParseLevel(*model, name);
    if (!level.ok()) return absl::InvalidArgumentError(absl::StrCat("--levels: ", level.status().message()));
    suggest.levels.push_back(*level);
  }
  if (*table != nullptr) {
    auto candidates = ReadInputs(**table, *model);
    if (!candidates.ok()) return candidates.status();
    suggest.candidates = *std::move(candidates);
  }
  const auto answer = (*client)->Suggest(options.name, suggest);
  if (!answer.ok()) return AsTyped(answer.status(), DesignNames());

  std::string csv = DesignHeader(*model);
  for (const client::Suggestion& run : answer->runs) absl::StrAppend(&csv, DesignRow(run.fidelity, run.input));
  if (absl::Status status = context.Write(options.output, SuggestionsJson(*model, *answer), csv); !status.ok())
    return status;
  if (answer->runs.empty()) {
    context.Remark(absl::StrCat("no run: ", answer->shortfall_reason.empty()
                                                ? "the budget pays for none, or none would tell anything"
                                                : answer->shortfall_reason));
  } else {
    context.Remark(absl::StrCat(RunsText(*model, *answer), ": ",
                                ReductionText(*model, answer->variance_before, answer->variance_after)));
    if (!answer->shortfall_reason.empty()) {
      context.Remark(absl::StrCat("fewer than ", suggest.count, ": ", answer->shortfall_reason));
    }
  }
  return absl::OkStatus();
}

// ---- diagnose ----

absl::Status Diagnose(Context& context, const DiagnoseCommandOptions& options) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto answer = (*client)->Diagnose(options.name, {.revision = options.revision});
  if (!answer.ok()) return AsTyped(answer.status(), DesignNames());
  Json fidelities = Json::array();
  std::vector<std::vector<std::string>> rows = {{"FIDELITY", "OBSERVATIONS", "R²", "RMSE", "IN 50 %", "IN 90 %",
                                                 "IN 95 %", "LARGEST RESIDUAL", "INFLATION", "MEDIAN RMSE"}};
  for (const client::FidelityDiagnostics& d : answer->fidelities) {
    fidelities.push_back({{"fidelity", d.fidelity},
                          {"level", d.level},
                          {"count", d.count},
                          {"distinct_count", d.distinct_count},
                          {"r2", d.r2},
                          {"rmse", d.rmse},
                          {"median_rmse", d.median.size() > 0 ? Json(d.median_rmse) : Json()},
                          {"coverage50", d.coverage50},
                          {"coverage90", d.coverage90},
                          {"coverage95", d.coverage95},
                          {"mean_log_density", d.mean_log_density},
                          {"inflation", d.inflation},
                          {"residuals", ToJson(d.residuals)}});
    if (d.count == 0) {
      rows.push_back({d.fidelity, "0", "–", "–", "–", "–", "–", "–", "–", "–"});
    } else {
      rows.push_back({d.fidelity, absl::StrCat(d.count), RoundNumber(d.r2), RoundNumber(d.rmse), Percent(d.coverage50),
                      Percent(d.coverage90), Percent(d.coverage95),
                      absl::StrCat(RoundNumber(d.residuals.cwiseAbs().maxCoeff()), " sd"), RoundNumber(d.inflation),
                      d.median.size() > 0 ? RoundNumber(d.median_rmse) : "–"});
    }
  }
  context.Print(Json{{"fidelities", fidelities},
                     {"verdict", answer->verdict.has_value() ? ToJson(*answer->verdict) : Json()},
                     {"withdrawn_count", answer->withdrawn_count},
                     {"revision", answer->revision},
                     {"data_version", answer->data_version}},
                absl::StrCat(TextTable(rows), "\n", VerdictText(answer->verdict)));
  return absl::OkStatus();
}

void AddName(CLI::App* command, DesignOptions& options) {
  command->add_option("NAME", options.name, "the model")->required();
}

void AddDesignOptions(CLI::App* command, DesignOptions& options) {
  CLI::Option* candidates = command->add_option(
      "--candidates", options.candidates,
      "CSV with a column per input, by name (or .npy), to choose from, or - for standard input; default: points that "
      "the server generates in the model's box, or in the range of its observations");
  candidates->type_name("FILE");
  command->add_option("--candidate-count", options.candidate_count, "number of points that the server generates")
      ->check(Positive())
      ->type_name("N")
      ->excludes(candidates);
  command->add_option("--seed", options.seed, "seed of the random numbers: the same seed gives the same result")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--revision", options.revision, "number of a revision; default: the current one")
      ->check(ResourceNumber());
  command->add_option("-o,--output", options.output, "file to write; default standard output")->type_name("FILE");
}

void AddSampleDpp(CLI::App& app, Context& context) {
  auto options = std::make_shared<SampleDppOptions>();
  CLI::App* command = AddCommand(
      app, context, "sample-dpp", "Choose informative, diverse inputs to observe next",
      "  fidelio sample-dpp wing --k 5 -o next.csv\n"
      "  fidelio sample-dpp wing --k 5 --candidates grid.csv --method map --quality mean\n"
      "  fidelio sample-dpp wing --k 8 --level coarse --exclude-observed --seed 7\n"
      "\nThe output has a column fidelity and one per input. Run the simulator there, add a column with the output\n"
      "(its name, or y), and give the file to fidelio observe. With --json it also has the rows that were chosen, and "
      "what the design is worth.\n"
      "\nDesigns are drawn from a k-DPP (a determinantal point process of k points), which prefers inputs where the\n"
      "model is uncertain and that are far from each other; --quality adds a preference:\n"
      "  none   none: uncertainty and distance only (default)\n"
      "  mean   large predicted outputs\n"
      "  given  large values in the column quality of the file of --candidates\n",
      [&context, options] { return SampleDpp(context, *options); });
  AddName(command, *options);
  command->add_option("--k", options->dpp.k, "how many inputs")
      ->check(Positive())
      ->type_name("K")
      ->capture_default_str();
  AddChoice(command, context, "--method", "METHOD",
            "exact: a random design (default); map: the most likely, found greedily", MethodWords(),
            options->dpp.method);
  AddChoice(command, context, "--quality", "QUALITY", "none (default), mean or given", QualityWords(),
            options->dpp.quality_mode);
  command->add_option("--level", options->level, "fidelity that will be run, by name or number; default: the highest");
  command->add_flag("--exclude-observed", options->dpp.exclude_observed,
                    "do not choose inputs already observed at that fidelity");
  AddDesignOptions(command, *options);
}

void AddSuggest(CLI::App& app, Context& context) {
  auto options = std::make_shared<SuggestCommandOptions>();
  CLI::App* command = AddCommand(
      app, context, "suggest", "Suggest the next runs: inputs and fidelities that are worth their cost",
      "  fidelio suggest wing --count 4 --budget 50 -o next.csv\n"
      "  fidelio suggest wing --count 10 --levels coarse\n"
      "  fidelio suggest wing --criterion expected-improvement --maximise\n"
      "\nThe output has a column fidelity and one per input. Run the simulator there, add a column with the output\n"
      "(its name, or y), and give the file to fidelio observe. Costs are those of the model (fidelio model create "
      "--costs).\n"
      "\nCriteria:\n"
      "  variance-reduction    expected reduction of the mean variance of the highest fidelity, per cost (default)\n"
      "  max-variance          where the highest fidelity is most uncertain\n"
      "  expected-improvement  where it may be better than the best so far: smaller, or larger with --maximise\n"
      "  confidence-bound      where its mean minus (or plus) --width standard deviations is best\n",
      [&context, options] { return Suggest(context, *options); });
  AddName(command, *options);
  command->add_option("--count", options->suggest.count, "maximum number of runs")
      ->check(Positive())
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--budget", options->suggest.budget, "maximum total cost of the runs")
      ->check(Positive())
      ->type_name("COST");
  AddChoice(command, context, "--criterion", "CRITERION", "see below", CriterionWords(), options->suggest.criterion);
  command->add_flag("--maximise", options->suggest.maximise, "seek large outputs instead of small ones");
  command->add_option("--width", options->suggest.width, "for confidence-bound, in standard deviations; default 2")
      ->check(NotNegative())
      ->type_name("SD");
  command->add_option("--levels", options->levels, "fidelities that may be run, by name or number; default: all")
      ->type_name("LIST");
  command->add_option("--targets", options->suggest.target_count, "number of points over which variances are averaged")
      ->check(Positive())
      ->type_name("N");
  AddDesignOptions(command, *options);
}

void AddDiagnose(CLI::App& app, Context& context) {
  auto options = std::make_shared<DiagnoseCommandOptions>();
  CLI::App* command = AddCommand(
      app, context, "diagnose", "Show how well a model predicts its observations without them",
      "  fidelio diagnose wing\n"
      "  fidelio diagnose wing --revision 2 --json\n"
      "\nEvery observation is predicted from the others of its fidelity and those of the lower ones. A model to\n"
      "trust has R² near 1, about as many observations in the intervals as expected, and residuals of at most\n"
      "2 or 3 standard deviations at most. The verdict below the table says whether the intervals of the highest\n"
      "fidelity can be relied on; it needs ten distinct observations of that fidelity.\n",
      [&context, options] { return Diagnose(context, *options); });
  command->add_option("NAME", options->name, "the model")->required();
  command->add_option("--revision", options->revision, "number of a revision; default: the current one")
      ->check(ResourceNumber());
}

}  // namespace

void AddDesignCommands(CLI::App& app, Context& context) {
  AddSampleDpp(app, context);
  AddSuggest(app, context);
  AddDiagnose(app, context);
}

}  // namespace fidelio::cli
