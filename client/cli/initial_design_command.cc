// fidelio design.
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/as_typed.h"
#include "client/cli/command.h"
#include "client/cli/input.h"
#include "client/cli/runs_table.h"
#include "client/cli/tables.h"
#include "client/cli/text.h"
#include "client/cli/words.h"
#include "client/cpp/names.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {
namespace {

struct InitialDesignCommand {
  std::string name;
  std::string fidelity;
  client::InitialDesignOptions design;
  std::string pending;
  std::string output;
};

const TypedNames& InitialDesignNames() {
  static const auto* names = new TypedNames{{"model", "NAME"},      {"counts", "--fidelity"}, {"method", "--method"},
                                            {"nested", "--nested"}, {"pending", "--pending"}, {"seed", "--seed"}};
  return *names;
}

// "coarse=40,fine=10", or "40" when there is one fidelity.
absl::StatusOr<std::vector<client::FidelityCount>> ParseCounts(const v1::Model& model, const std::string& text) {
  const auto entries = ParseNames("--fidelity", text);
  if (!entries.ok()) return entries.status();
  std::vector<client::FidelityCount> counts;
  for (const std::string& entry : *entries) {
    const size_t equals = entry.find('=');
    const bool only = equals == std::string::npos && model.fidelities_size() == 1;
    int count = 0;
    if ((equals == std::string::npos && !only) || !absl::SimpleAtoi(only ? entry : entry.substr(equals + 1), &count) ||
        count < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--fidelity: \"", entry, "\" is not a fidelity, an equals sign and a number of runs, as in ",
          model.fidelities_size() == 0 ? "high" : model.fidelities(model.fidelities_size() - 1).name(), "=10"));
    }
    const auto level = only ? 0 : ParseLevel(model, entry.substr(0, equals));
    if (!level.ok()) return absl::InvalidArgumentError(absl::StrCat("--fidelity: ", level.status().message()));
    for (const client::FidelityCount& other : counts) {
      if (other.level == *level) {
        return absl::InvalidArgumentError(
            absl::StrCat("--fidelity: ", model.fidelities(*level).name(), " is given twice"));
      }
    }
    counts.push_back({.level = *level, .count = count});
  }
  return counts;
}

Json InitialDesignJson(const v1::Model& model, const client::InitialDesignRuns& runs) {
  Json designs = Json::array();
  for (const client::FidelityInputs& design : runs.designs) {
    designs.push_back({{"fidelity", design.fidelity}, {"level", design.level}, {"inputs", ToJson(design.inputs)}});
  }
  return {{"input_names", client::InputNames(model)},
          {"designs", designs},
          {"total_cost", runs.total_cost},
          {"data_version", runs.data_version}};
}

absl::Status InitialDesign(Context& context, const InitialDesignCommand& options) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto model = (*client)->GetModel(options.name);
  if (!model.ok()) return model.status();
  client::InitialDesignOptions design = options.design;
  auto counts = ParseCounts(*model, options.fidelity);
  if (!counts.ok()) return counts.status();
  design.counts = *std::move(counts);
  if (!options.pending.empty()) {
    const auto input = InputFile::Open(options.pending, context.streams.in);
    if (!input.ok()) return input.status();
    const auto table = (*input)->Tables(NameInputColumns(*model))->Next(std::numeric_limits<int>::max());
    if (!table.ok()) return table.status();
    auto pending = ReadRuns(**table, *model);
    if (!pending.ok()) return pending.status();
    design.pending = *std::move(pending);
  }
  auto runs = (*client)->InitialDesign(options.name, design);
  if (!runs.ok()) return AsTyped(runs.status(), InitialDesignNames());

  std::vector<std::string> parts;
  int64_t total = 0;
  for (client::FidelityInputs& fidelity : runs->designs) {
    if (fidelity.fidelity.empty() && fidelity.level < model->fidelities_size()) {
      fidelity.fidelity = model->fidelities(fidelity.level).name();
    }
    parts.push_back(absl::StrCat(fidelity.inputs.rows(), " ", fidelity.fidelity));
    total += fidelity.inputs.rows();
  }
  if (absl::Status status =
          context.Write(options.output, InitialDesignJson(*model, *runs), RunsCsv(*model, runs->designs));
      !status.ok()) {
    return status;
  }
  const bool file = !options.output.empty() && options.output != "-";
  context.Remark(absl::StrCat(total, total == 1 ? " run (" : " runs (", absl::StrJoin(parts, ", "), ") at a cost of ",
                              RoundNumber(runs->total_cost), ": run the simulator, fill in the column ",
                              client::OutputName(*model), ", then `fidelio observe ", client::ShortName(model->name()),
                              " ", file ? options.output : "FILE", "`"));
  return absl::OkStatus();
}

Words<v1::InitialDesignMethod> InitialMethodWords() {
  return WordsOf<v1::InitialDesignMethod>(v1::InitialDesignMethod_descriptor(), "INITIAL_DESIGN_METHOD_");
}

}  // namespace

void AddInitialDesignCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<InitialDesignCommand>();
  CLI::App* command = AddCommand(
      app, context, "design", "Choose the first runs: inputs spread over the model's box",
      "  fidelio design wing --fidelity coarse=40,fine=10 -o runs.csv\n"
      "  fidelio design wing --fidelity coarse=40,fine=10 --nested --method latin-hypercube --seed 7\n"
      "  fidelio design wing --fidelity fine=5 --pending started.csv\n"
      "\nNeeds no fit. The output is the table that `fidelio observe` takes: the column fidelity, the inputs, and an\n"
      "empty column for the output. Run the simulator for each row and fill in the output. Inputs keep away from\n"
      "those that were observed. After the first fit, `fidelio suggest` chooses better.\n"
      "\nMethods:\n"
      "  sobol            scrambled Sobol' points: any number of them is spread evenly (default)\n"
      "  latin-hypercube  a Latin hypercube whose smallest distance between points was maximised\n",
      [&context, options] { return InitialDesign(context, *options); });
  command->add_option("NAME", options->name, "the model")->required();
  command->add_option("--fidelity", options->fidelity, "runs of each fidelity: coarse=40,fine=10")
      ->required()
      ->type_name("NAME=N,...");
  AddChoice(command, context, "--method", "METHOD", "sobol (default) or latin-hypercube", InitialMethodWords(),
            options->design.method);
  command->add_flag("--nested", options->design.nested,
                    "choose the inputs of each fidelity among those of the next lower one");
  command->add_option("--seed", options->design.seed, "of the random numbers: the same seed gives the same design")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--pending", options->pending,
                   "CSV with the columns fidelity and inputs of runs that were started and not observed yet: new "
                   "inputs keep away from them")
      ->type_name("FILE");
  command->add_option("-o,--output", options->output, "file to write; default standard output")->type_name("FILE");
}

}  // namespace fidelio::cli
