// fidelio model create, list, show, update, delete.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/as_typed.h"
#include "client/cli/columns.h"
#include "client/cli/command.h"
#include "client/cli/model_options.h"
#include "client/cli/text.h"
#include "client/cli/variable_flags.h"
#include "client/cli/words.h"
#include "client/cpp/errors.h"
#include "client/cpp/names.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {
namespace {

constexpr size_t kListedInputs = 4;  // of a model in a list

struct UpdateOptions : ModelOptions {
  bool no_box = false;
  bool no_description = false;
  bool no_input_names = false;
  bool no_output_name = false;
  std::string etag;
};

// "low 20, high 5"
std::string ObservationCounts(const v1::Model& model) {
  std::vector<std::string> entries;
  for (int t = 0; t < model.fidelities_size(); ++t) {
    const int64_t count = t < model.observation_counts_size() ? model.observation_counts(t) : 0;
    entries.push_back(absl::StrCat(model.fidelities(t).name(), " ", count));
  }
  return absl::StrJoin(entries, ", ");
}

std::string OrNone(const std::string& text) { return text.empty() ? "none" : text; }

std::string KindText(const v1::Model& model) { return WordFor(KindWords(), model.kind()); }

std::string Describe(const v1::Model& model) {
  std::vector<std::vector<std::string>> rows = {{"name", client::ShortName(model.name())}};
  const auto add = [&](const char* key, const std::string& value) { rows.push_back({key, value}); };
  if (!model.description().empty()) add("description", model.description());
  add("kind", KindText(model));
  add("state", EnumText(v1::ModelState_Name(model.state()), "MODEL_STATE_"));
  if (!model.quarantine_reason().empty()) add("quarantined", model.quarantine_reason());
  add("inputs", absl::StrCat(model.input_dimension()));
  const auto variables = DescribeVariables(model);
  rows.insert(rows.end(), variables.begin(), variables.end());
  if (model.has_input_box() && model.inputs().empty()) {
    const auto corner = [](const auto& numbers) {
      std::vector<std::string> entries;
      for (const double number : numbers) entries.push_back(ExactNumber(number));
      return absl::StrJoin(entries, ",");
    };
    add("lower", corner(model.input_box().lower()));
    add("upper", corner(model.input_box().upper()));
  }
  if (model.output_transform().kind() > v1::OUTPUT_TRANSFORM_KIND_IDENTITY) {
    add("transform", WordFor(TransformWords(), model.output_transform().kind()));
  }
  for (int t = 0; t < model.fidelities_size(); ++t) {
    const v1::Fidelity& fidelity = model.fidelities(t);
    add(absl::StrCat("level ", t).c_str(),
        absl::StrCat(fidelity.name(), ", cost ", RoundNumber(fidelity.has_cost() ? fidelity.cost() : 1), ", ",
                     t < model.observation_counts_size() ? model.observation_counts(t) : 0, " observations"));
  }
  if (model.keep_revisions() > 0) add("revisions kept", absl::StrCat(model.keep_revisions()));
  add("data version", absl::StrCat(model.data_version()));
  if (model.withdrawn_count() > 0) {
    add("withdrawn",
        absl::StrCat(model.withdrawn_count(), model.withdrawn_count() == 1 ? " observation" : " observations"));
  }
  const int64_t known = model.current_revision_withdrawn_count();
  add("revision", absl::StrCat(OrNone(client::ShortName(model.current_revision())),
                               known > 0 ? absl::StrCat(", which still knows ", known, " withdrawn ",
                                                        known == 1 ? "observation" : "observations", ": fit again")
                                         : ""));
  add("created", TimeText(model.create_time()));
  add("updated", TimeText(model.update_time()));
  add("etag", model.etag());
  return TextTable(rows);
}

absl::Status Create(Context& context, const CreateOptions& options) {
  if (options.inputs == 0 && options.variables.inputs.empty()) {
    context.exit_code = ExitCode::kUsage;
    return absl::InvalidArgumentError("--inputs: missing; give their number, or --input with a name once per input");
  }
  auto model = ToModel(options);
  if (!model.ok()) return model.status();
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  if (!options.kind.empty()) {
    const auto kind = ServerWord(**client, "--kind", options.kind, KindWords(),
                                 [](const v1::ServerInfo& info) { return KindWords(info); });
    if (!kind.ok()) return kind.status();
    model->set_kind(*kind);
  }
  const auto created = (*client)->CreateModel(options.name, *model);
  if (!created.ok()) {
    const absl::Status status = AsTyped(created.status(), ModelFieldNames());
    if (!absl::StartsWith(status.message(), "NAME: ")) return status;
    return client::WithMessage(status, absl::StrCat(status.message(), "\n  ", kNameRule));
  }
  std::vector<std::string> names;
  for (const v1::Fidelity& fidelity : created->fidelities()) names.push_back(fidelity.name());
  context.Print(ToJson(*created),
                absl::StrCat("model ", client::ShortName(created->name()), " created: ", created->input_dimension(),
                             created->input_dimension() == 1 ? " input" : " inputs",
                             created->inputs().empty() ? "" : absl::StrCat(" (", InputList(*created), ")"),
                             created->outputs().empty() ? "" : absl::StrCat(", output ", client::OutputName(*created)),
                             names.size() == 1 ? ", fidelity " : ", fidelities from lowest to highest ",
                             absl::StrJoin(names, ", ")));
  return absl::OkStatus();
}

absl::Status Update(Context& context, const UpdateOptions& options) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  auto model = (*client)->GetModel(options.name);
  if (!model.ok()) return model.status();
  // Costs of fidelities whose names stay are sent with these: nobody may change them meanwhile.
  const std::string etag = options.etag.empty() ? model->etag() : options.etag;
  std::vector<std::string> paths;
  if (!options.description.empty() || options.no_description) paths.push_back("description");
  if (!options.lower.empty() || !options.upper.empty() || options.no_box || HasRanges(options.variables)) {
    paths.push_back("input_box");
  }
  if (!options.fidelities.empty() || !options.costs.empty()) paths.push_back("fidelities");
  if (!options.variables.inputs.empty() || options.no_input_names) paths.push_back("inputs");
  if (!options.variables.output.empty() || options.no_output_name) paths.push_back("outputs");
  if (options.keep_revisions) paths.push_back("keep_revisions");
  if (paths.empty()) {
    context.exit_code = ExitCode::kUsage;
    return absl::InvalidArgumentError("nothing to change; see fidelio model update --help");
  }
  model->set_description(options.description);
  if (options.no_box) model->clear_input_box();
  if (options.no_input_names) model->clear_inputs();
  if (options.no_output_name) model->clear_outputs();
  if (absl::Status status = ApplyOptions(options, &*model); !status.ok()) return status;
  const auto updated = (*client)->UpdateModel(*model, paths, {.etag = etag});
  if (!updated.ok()) return AsTyped(updated.status(), ModelFieldNames());
  context.Print(ToJson(*updated), Describe(*updated));
  return absl::OkStatus();
}

absl::Status List(Context& context, bool names_only) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto models = (*client)->ListModels();
  if (!models.ok()) return models.status();
  if (names_only) {
    Json list = Json::array();
    std::string text;
    for (const v1::Model& model : *models) {
      list.push_back(client::ShortName(model.name()));
      absl::StrAppend(&text, client::ShortName(model.name()), "\n");
    }
    context.Print(list, text);
    return absl::OkStatus();
  }
  std::vector<std::vector<std::string>> rows = {{"NAME", "KIND", "INPUTS", "OBSERVATIONS", "REVISION", "UPDATED"}};
  for (const v1::Model& model : *models) {
    rows.push_back({client::ShortName(model.name()),
                    model.state() == v1::MODEL_STATE_QUARANTINED ? "quarantined" : KindText(model),
                    model.inputs().empty() ? absl::StrCat(model.input_dimension()) : InputList(model, kListedInputs),
                    ObservationCounts(model), OrNone(client::ShortName(model.current_revision())),
                    TimeText(model.update_time())});
  }
  context.Print(ToJsonList("models", *models),
                models->empty() ? "no models; `fidelio model create` creates one" : TextTable(rows));
  return absl::OkStatus();
}

absl::Status Show(Context& context, const std::string& name) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto model = (*client)->GetModel(name);
  if (!model.ok()) return model.status();
  context.Print(ToJson(*model), Describe(*model));
  return absl::OkStatus();
}

absl::Status Delete(Context& context, const std::string& name, bool yes) {
  if (!yes) {
    if (!context.streams.in_is_terminal) {
      context.exit_code = ExitCode::kUsage;
      return absl::InvalidArgumentError("--yes: missing; it is needed to confirm the deletion without a terminal");
    }
    context.streams.err << "Delete model " << name << " with all its observations and revisions? [y/N] " << std::flush;
    std::string answer;
    std::getline(context.streams.in, answer);
    if (answer != "y" && answer != "Y" && answer != "yes") return absl::AbortedError("nothing deleted");
  }
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  if (absl::Status status = (*client)->DeleteModel(name); !status.ok()) return status;
  context.Print(Json{{"deleted", client::ModelName(name)}},
                absl::StrCat("model ", client::ShortName(name), " deleted"));
  return absl::OkStatus();
}

void AddModelOptions(CLI::App* command, ModelOptions& options) {
  command->add_option("--costs", options.costs, "cost of an observation of each fidelity, in any unit: 1,40")
      ->type_name("LIST");
  command->add_option("--lower", options.lower, "lower bounds of the inputs: 0,0,0")->type_name("LIST");
  command->add_option("--upper", options.upper, "upper bounds of the inputs: 1,1,1")->type_name("LIST");
  command->add_option("--description", options.description, "description of the model")->type_name("TEXT");
  AddVariableFlags(command, options.variables);
  command
      ->add_option("--keep-revisions", options.keep_revisions,
                   "how many revisions are kept, the newest and the current one; 0: the server's setting")
      ->type_name("N");
}

void AddCreate(CLI::App& model, Context& context) {
  auto options = std::make_shared<CreateOptions>();
  CLI::App* create = AddCommand(
      model, context, "create", "Create a model without data",
      "  fidelio model create wing --inputs 3 --fidelities coarse,fine --costs 1,40\n"
      "  fidelio model create plate --input 'thickness[mm]=0.5:3' --input 'load[kN]=1:20' \\\n"
      "      --output 'deflection[mm]' --fidelities coarse,fine\n"
      "  fidelio model create well --inputs 2 --fidelities low,high --lower 0,-5 --upper 1,5 --transform log\n"
      "  fidelio model create duct --inputs 2 --fidelities low,high --kind ar1\n"
      "\nWith --input, columns of files go by these names, and the ranges are the box: NAME, NAME[UNIT],\n"
      "NAME=LOWER:UPPER or NAME[UNIT]=LOWER:UPPER. Quote them, since shells read brackets. Without --input, the\n"
      "columns are x1..xd, and --lower and --upper are the box.\n"
      "\nUse --transform log for positive outputs that span orders of magnitude, logit for shares, and bounded with\n"
      "--bounds for other outputs between two numbers. Results are always in your units.\n",
      [&context, options] { return Create(context, *options); });
  create->add_option("NAME", options->name, "lower-case letters, digits and hyphens; starts with a letter")->required();
  create->add_option("--inputs", options->inputs, "number of inputs; not needed with --input")
      ->type_name("N")
      ->check(Positive());
  create->add_option("--fidelities", options->fidelities, "their names, from the lowest to the highest: low,high")
      ->required()
      ->type_name("LIST");
  AddModelOptions(create, *options);
  AddServerWord<v1::ModelKind>(
      create, context, "--kind", "KIND",
      absl::StrCat("one of ", AllWords(KindWords()), "; default mf-dgp; `fidelio server-info` ",
                   "lists those that the server supports"),
      KindWords(), options->kind);
  AddChoice<v1::OutputTransformKind>(create, context, "--transform", "MAP",
                                     "transform of the outputs: identity (default), log, logit or bounded",
                                     TransformWords(), options->transform);
  create
      ->add_option("--bounds", options->bounds, "with --transform bounded: lower and upper bound of the output: 0,100")
      ->type_name("LIST");
}

void AddUpdate(CLI::App& model, Context& context) {
  auto options = std::make_shared<UpdateOptions>();
  CLI::App* update =
      AddCommand(model, context, "update", "Change the description, box, costs or names of a model",
                 "  fidelio model update wing --costs 1,25\n"
                 "  fidelio model update wing --lower 0,0 --upper 2,1\n"
                 "  fidelio model update wing --fidelities rough,fine --description 'the new mesh'\n"
                 "  fidelio model update wing --input 'span[m]' --input 'angle[deg]' --output 'lift[kN]'\n"
                 "\nWhat is not named stays. With --input, all inputs are named, in their order. The next fit uses a "
                 "new box; costs count at once.\n",
                 [&context, options] { return Update(context, *options); });
  update->add_option("NAME", options->name, "the model")->required();
  update->add_option("--fidelities", options->fidelities, "new names, from the lowest to the highest")
      ->type_name("LIST");
  AddModelOptions(update, *options);
  update->add_flag("--no-box", options->no_box, "use the range of the observed inputs instead of a box")
      ->excludes("--lower")
      ->excludes("--upper");
  update->add_flag("--no-input-names", options->no_input_names, "remove the names of the inputs: x1..xd")
      ->excludes("--input");
  update->add_flag("--no-output-name", options->no_output_name, "remove the name of the output: y")
      ->excludes("--output");
  update->add_flag("--no-description", options->no_description, "remove the description")->excludes("--description");
  update->add_option("--etag", options->etag, "change the model only if this is its current etag");
}

}  // namespace

CLI::App* AddModelCommands(CLI::App& app, Context& context) {
  CLI::App* model = AddGroup(app, "model", "Create, list, show, change, delete, export and import models");
  AddCreate(*model, context);

  auto names_only = std::make_shared<bool>(false);
  AddCommand(*model, context, "list", "List the models",
             "  fidelio model list\n  fidelio model list --json\n  fidelio model list --names    for scripts\n",
             [&context, names_only] { return List(context, *names_only); })
      ->add_flag("--names", *names_only, "only their names, one per line");

  auto shown = std::make_shared<std::string>();
  AddCommand(*model, context, "show", "Show a model", "  fidelio model show wing\n  fidelio model show wing --json\n",
             [&context, shown] { return Show(context, *shown); })
      ->add_option("NAME", *shown, "the model")
      ->required();

  AddUpdate(*model, context);

  auto deleted = std::make_shared<std::string>();
  auto yes = std::make_shared<bool>(false);
  CLI::App* remove =
      AddCommand(*model, context, "delete", "Delete a model with all its data",
                 "  fidelio model delete wing\n  fidelio model delete wing --yes    without confirmation\n",
                 [&context, deleted, yes] { return Delete(context, *deleted, *yes); });
  remove->add_option("NAME", *deleted, "the model")->required();
  remove->add_flag("--yes", *yes, "delete without confirmation");
  return model;
}

}  // namespace fidelio::cli
