// fidelio observations list, withdraw, correct.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/as_typed.h"
#include "client/cli/command.h"
#include "client/cli/counts_text.h"
#include "client/cli/observations_table.h"
#include "client/cli/run_ids.h"
#include "client/cli/tables.h"
#include "client/cpp/names.h"

namespace fidelio::cli {
namespace {

struct ListObservationsCommand {
  std::string name;
  std::string fidelity;
  bool withdrawn = false;
  bool csv = false;
  std::string output;
};

struct WithdrawCommand {
  std::string name;
  std::vector<std::string> ids;
  std::string ids_file;
  int64_t batch = 0;
  std::string reason;
};

struct CorrectCommand {
  std::string name;
  std::vector<std::string> values;  // ID=VALUE
  std::string file;
  std::string reason;
};

const TypedNames& PutRightNames() {
  static const auto* names = new TypedNames{{"model", "NAME"},
                                            {"run_ids", "ID"},
                                            {"batch_data_version", "--batch"},
                                            {"outputs", "outputs"},
                                            {"noise_variances", "noise_variance"},
                                            {"reason", "--reason"}};
  return *names;
}

absl::Status UsageError(Context& context, const std::string& message) {
  context.exit_code = ExitCode::kUsage;
  return absl::InvalidArgumentError(message);
}

// ---- list ----

absl::Status ListObservations(Context& context, const ListObservationsCommand& options) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto model = (*client)->GetModel(options.name);
  if (!model.ok()) return model.status();
  client::ListObservationsOptions list{.show_withdrawn = options.withdrawn};
  if (!options.fidelity.empty()) {
    const auto level = ParseLevel(*model, options.fidelity);
    if (!level.ok()) return absl::InvalidArgumentError(absl::StrCat("--fidelity: ", level.status().message()));
    list.level = *level;
  }
  const auto batches = (*client)->ListObservations(options.name, list);
  if (!batches.ok()) return batches.status();
  const bool csv = options.csv || (!options.output.empty() && options.output != "-");
  if (!csv && !context.options.json && batches->empty()) {
    context.Print(Json(), absl::StrCat("no observations; `fidelio observe ", client::ShortName(options.name),
                                       " FILE` adds some"));
    return absl::OkStatus();
  }
  return context.Write(options.output, context.options.json ? ObservationsJson(*model, *batches) : Json(),
                       context.options.json ? ""
                       : csv                ? ObservationsCsv(*model, *batches, options.withdrawn)
                                            : ObservationsText(*model, *batches, options.withdrawn));
}

// ---- withdraw, correct ----

// Says what was done, and what the served revision still knows. `verb`: "withdrawn from", "corrected in".
void PrintChange(Context& context, client::Client& client, const std::string& name, const std::string& verb,
                 const std::string& key, const client::ChangedObservations& changed) {
  // The change is committed, so it is reported even if the model can't be read now.
  const v1::Model model = client.GetModel(name).value_or(v1::Model());
  const std::string id = client::ShortName(name);
  const int64_t known = changed.current_revision_withdrawn;
  std::string text =
      absl::StrCat(changed.changed, changed.changed == 1 ? " observation " : " observations ", verb, " model ", id,
                   ", which now has ", CountsText(model, changed.counts), " (data version ", changed.data_version, ")");
  if (known > 0) {
    absl::StrAppend(&text, "\nfit again: ",
                    model.current_revision().empty()
                        ? "the served revision"
                        : absl::StrCat("revision ", client::ShortName(model.current_revision())),
                    " still knows ", known, known == 1 ? " withdrawn observation" : " withdrawn observations",
                    "; `fidelio fit ", id, " --watch` makes one without ", known == 1 ? "it" : "them");
  }
  context.Print(Json{{key, changed.changed},
                     {"data_version", changed.data_version},
                     {"observation_counts", changed.counts},
                     {"etag", changed.etag},
                     {"current_revision", model.current_revision()},
                     {"current_revision_withdrawn_count", known}},
                text);
}

absl::Status Withdraw(Context& context, const WithdrawCommand& options) {
  const bool by_ids = !options.ids.empty() || !options.ids_file.empty();
  if (by_ids == (options.batch > 0)) {
    return UsageError(context, by_ids ? "--batch: given, but ids say which observations as well; give one of them"
                                      : "ID: missing; ids, --ids-file or --batch say which observations to withdraw");
  }
  std::vector<std::string> ids = options.ids;
  if (!options.ids_file.empty()) {
    const auto read = ReadIdsFile(options.ids_file, context.streams.in);
    if (!read.ok()) return read.status();
    ids.insert(ids.end(), read->begin(), read->end());
  }
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto changed = by_ids ? (*client)->WithdrawObservations(options.name, ids, options.reason)
                              : (*client)->WithdrawBatch(options.name, options.batch, options.reason);
  if (!changed.ok()) return AsTyped(changed.status(), PutRightNames());
  PrintChange(context, **client, options.name, "withdrawn from", "withdrawn", *changed);
  return absl::OkStatus();
}

absl::Status Correct(Context& context, const CorrectCommand& options) {
  if (options.values.empty() == options.file.empty()) {
    return UsageError(context, options.file.empty()
                                   ? "ID=VALUE: missing; these or --file say what to correct"
                                   : "--file: given, but there are ID=VALUE as well; give one of them");
  }
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  auto correction = ParseCorrection(options.values);
  if (!options.file.empty()) {
    const auto model = (*client)->GetModel(options.name);
    if (!model.ok()) return model.status();
    correction = ReadCorrectionFile(options.file, *model, context.streams.in);
  }
  if (!correction.ok()) return correction.status();
  const auto changed = (*client)->CorrectObservations(options.name, *correction, options.reason);
  if (!changed.ok()) return AsTyped(changed.status(), PutRightNames());
  PrintChange(context, **client, options.name, "corrected in", "corrected", *changed);
  return absl::OkStatus();
}

void AddList(CLI::App& group, Context& context) {
  auto options = std::make_shared<ListObservationsCommand>();
  CLI::App* list =
      AddCommand(group, context, "list", "List the observations of a model",
                 "  fidelio observations list wing\n"
                 "  fidelio observations list wing --fidelity fine -o fine.csv\n"
                 "  fidelio observations list wing --withdrawn    also those no longer in use, and why\n"
                 "\nColumns: run_id, fidelity, the inputs, the output, noise_variance if known, data_version\n"
                 "(the version of the data that the observation came with) and time. With -o, the file is\n"
                 "CSV, or JSON with --json.\n",
                 [&context, options] { return ListObservations(context, *options); });
  list->add_option("NAME", options->name, "the model")->required();
  list->add_option("--fidelity,--level", options->fidelity, "only of this one: its name, or its number from 0");
  list->add_flag("--withdrawn", options->withdrawn, "also observations that were withdrawn or corrected");
  list->add_flag("--csv", options->csv, "print CSV, with all digits");
  list->add_option("-o,--output", options->output, "file to write; default standard output")->type_name("FILE");
}

void AddReason(CLI::App* command, std::string& reason) {
  command->add_option("--reason", reason, "why, for people")->type_name("TEXT");
}

void AddWithdraw(CLI::App& group, Context& context) {
  auto options = std::make_shared<WithdrawCommand>();
  CLI::App* withdraw = AddCommand(
      group, context, "withdraw", "Take observations out of use",
      "  fidelio observations withdraw wing 2-7 --reason 'the mesh was wrong'\n"
      "  fidelio observations withdraw wing --batch 2 --reason 'loaded twice'\n"
      "  fidelio observations withdraw wing --ids-file bad.txt\n"
      "\nIds are in the column run_id of `fidelio observations list`; data_version is the number of --batch. No\n"
      "later fit, diagnosis or design uses what was withdrawn; `fidelio observations list --withdrawn` still shows\n"
      "it. Revisions that know it stay as they are: fit again.\n",
      [&context, options] { return Withdraw(context, *options); });
  withdraw->add_option("NAME", options->name, "the model")->required();
  withdraw->add_option("ID", options->ids, "ids of observations");
  withdraw
      ->add_option("--ids-file", options->ids_file,
                   "file with an id per line, or CSV with the column run_id; - for standard input")
      ->type_name("FILE");
  withdraw->add_option("--batch", options->batch, "all observations in use that this data version added")
      ->type_name("DATA_VERSION")
      ->check(Positive());
  AddReason(withdraw, options->reason);
}

void AddCorrect(CLI::App& group, Context& context) {
  auto options = std::make_shared<CorrectCommand>();
  CLI::App* correct = AddCommand(
      group, context, "correct", "Replace the outputs of observations",
      "  fidelio observations correct wing 2-7=0.25 --reason 'wrong unit'\n"
      "  fidelio observations correct wing 2-7=0.25 2-9=0.5\n"
      "  fidelio observations correct wing --file corrected.csv\n"
      "\nIds are in the column run_id of `fidelio observations list`. Inputs and ids stay. The file has the column\n"
      "run_id, the output (its name, or y) and, if known, noise_variance. Other columns do not matter: edit what\n"
      "`fidelio observations list -o` writes. Revisions that know the old outputs stay as they are: fit again.\n",
      [&context, options] { return Correct(context, *options); });
  correct->add_option("NAME", options->name, "the model")->required();
  correct->add_option("CORRECTION", options->values, "ID=VALUE: the id of an observation and its right output");
  correct->add_option("--file", options->file, "CSV with the columns run_id and the output, or - for standard input")
      ->type_name("FILE");
  AddReason(correct, options->reason);
}

}  // namespace

void AddObservationsCommands(CLI::App& app, Context& context) {
  CLI::App* group = AddGroup(app, "observations", "List, withdraw and correct the observations of a model");
  AddList(*group, context);
  AddWithdraw(*group, context);
  AddCorrect(*group, context);
}

}  // namespace fidelio::cli
