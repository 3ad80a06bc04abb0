// fidelio model create, list, show, delete.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/as_typed.h"
#include "client/cli/command.h"
#include "client/cli/text.h"
#include "client/cli/words.h"
#include "client/cpp/names.h"

namespace fidelio::cli {
namespace {

struct CreateOptions {
  std::string name;
  uint32_t inputs = 0;
  std::string fidelities;
  std::string costs;
  std::string lower;
  std::string upper;
  std::string description;
  v1::ModelKind kind = v1::MODEL_KIND_MF_DGP;
  v1::OutputTransformKind transform = v1::OUTPUT_TRANSFORM_KIND_IDENTITY;
  std::string bounds;
};

const TypedNames& CreateNames() {
  static const auto* names = new TypedNames{{"model_id", "NAME"},
                                            {"model.name", "NAME"},
                                            {"model.input_dimension", "--inputs"},
                                            {"model.fidelities[].name", "--fidelities"},
                                            {"model.fidelities[].cost", "--costs"},
                                            {"model.fidelities", "--fidelities"},
                                            {"model.input_box.lower", "--lower"},
                                            {"model.input_box.upper", "--upper"},
                                            {"model.input_box", "--lower, --upper"},
                                            {"model.description", "--description"},
                                            {"model.kind", "--kind"},
                                            {"model.output_transform.kind", "--transform"},
                                            {"model.output_transform", "--bounds"}};
  return *names;
}

absl::StatusOr<v1::Model> ToModel(const CreateOptions& options) {
  v1::Model model;
  model.set_input_dimension(options.inputs);
  model.set_description(options.description);
  model.set_kind(options.kind);
  const auto names = ParseNames("--fidelities", options.fidelities);
  const auto costs = ParseNumbers("--costs", options.costs);
  const auto lower = ParseNumbers("--lower", options.lower);
  const auto upper = ParseNumbers("--upper", options.upper);
  const auto bounds = ParseNumbers("--bounds", options.bounds);
  for (const absl::Status& status : {names.status(), costs.status(), lower.status(), upper.status(), bounds.status()}) {
    if (!status.ok()) return status;
  }
  for (const std::string& name : *names) model.add_fidelities()->set_name(name);
  if (!costs->empty() && costs->size() != names->size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--costs: ", costs->size(), " numbers, but --fidelities has ", names->size()));
  }
  for (size_t t = 0; t < costs->size(); ++t) model.mutable_fidelities(static_cast<int>(t))->set_cost((*costs)[t]);
  if (!lower->empty() || !upper->empty()) {
    model.mutable_input_box()->mutable_lower()->Add(lower->begin(), lower->end());
    model.mutable_input_box()->mutable_upper()->Add(upper->begin(), upper->end());
  }
  model.mutable_output_transform()->set_kind(options.transform);
  if (!bounds->empty()) {
    if (bounds->size() != 2) {
      return absl::InvalidArgumentError(absl::StrCat("--bounds: \"", options.bounds, "\", must be LOWER,UPPER"));
    }
    model.mutable_output_transform()->set_lower((*bounds)[0]);
    model.mutable_output_transform()->set_upper((*bounds)[1]);
  }
  return model;
}

// "low 20, high 5"
std::string Counts(const v1::Model& model) {
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
  if (model.has_input_box()) {
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
  add("data version", absl::StrCat(model.data_version()));
  add("revision", OrNone(client::ShortName(model.current_revision())));
  add("created", TimeText(model.create_time()));
  add("updated", TimeText(model.update_time()));
  add("etag", model.etag());
  return TextTable(rows);
}

absl::Status Create(Context& context, const CreateOptions& options) {
  const auto model = ToModel(options);
  if (!model.ok()) return model.status();
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto created = (*client)->CreateModel(options.name, *model);
  if (!created.ok()) return AsTyped(created.status(), CreateNames());
  std::vector<std::string> names;
  for (const v1::Fidelity& fidelity : created->fidelities()) names.push_back(fidelity.name());
  context.Print(ToJson(*created),
                absl::StrCat("model ", client::ShortName(created->name()), " created: ", created->input_dimension(),
                             created->input_dimension() == 1 ? " input" : " inputs",
                             names.size() == 1 ? ", fidelity " : ", fidelities from lowest to highest ",
                             absl::StrJoin(names, ", ")));
  return absl::OkStatus();
}

absl::Status List(Context& context) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto models = (*client)->ListModels();
  if (!models.ok()) return models.status();
  std::vector<std::vector<std::string>> rows = {{"NAME", "KIND", "INPUTS", "OBSERVATIONS", "REVISION", "UPDATED"}};
  for (const v1::Model& model : *models) {
    rows.push_back({client::ShortName(model.name()),
                    model.state() == v1::MODEL_STATE_QUARANTINED ? "quarantined" : KindText(model),
                    absl::StrCat(model.input_dimension()), Counts(model),
                    OrNone(client::ShortName(model.current_revision())), TimeText(model.update_time())});
  }
  context.Print(ToJsonList("models", *models),
                models->empty() ? "no models; `fidelio model create` makes one" : TextTable(rows));
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
      return absl::InvalidArgumentError("--yes: missing; without a terminal to ask on, it must confirm the deletion");
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

}  // namespace

void AddModelCommands(CLI::App& app, Context& context) {
  CLI::App* model = app.add_subcommand("model", "Create, list, show and delete models");
  model->require_subcommand(1);

  auto options = std::make_shared<CreateOptions>();
  CLI::App* create = AddCommand(
      *model, context, "create", "Create a model without data",
      "  fidelio model create wing --inputs 3 --fidelities coarse,fine --costs 1,40\n"
      "  fidelio model create well --inputs 2 --fidelities low,high --lower 0,-5 --upper 1,5 --transform log\n",
      [&context, options] { return Create(context, *options); });
  create->add_option("NAME", options->name, "lower-case letters, digits and hyphens; begins with a letter")->required();
  create->add_option("--inputs", options->inputs, "number of inputs")->required()->check(Positive());
  create->add_option("--fidelities", options->fidelities, "their names, from the lowest to the highest: low,high")
      ->required()
      ->type_name("LIST");
  create->add_option("--costs", options->costs, "cost of an observation of each fidelity, in any unit: 1,40")
      ->type_name("LIST");
  create->add_option("--lower", options->lower, "lower corner of the box that inputs live in: 0,0,0")
      ->type_name("LIST");
  create->add_option("--upper", options->upper, "upper corner of that box: 1,1,1")->type_name("LIST");
  create->add_option("--description", options->description, "what the model is of, for people");
  AddChoice<v1::ModelKind>(create, "--kind", "KIND", "mf-dgp (default), ar1, nargp, deep-mf or gp", KindWords(),
                           options->kind);
  AddChoice<v1::OutputTransformKind>(create, "--transform", "MAP",
                                     "map of the outputs: identity (default), log, logit or bounded", TransformWords(),
                                     options->transform);
  create->add_option("--bounds", options->bounds, "with --transform bounded: what outputs lie between: 0,100")
      ->type_name("LIST");

  AddCommand(*model, context, "list", "List the models", "  fidelio model list\n  fidelio model list --json\n",
             [&context] { return List(context); });

  auto shown = std::make_shared<std::string>();
  AddCommand(*model, context, "show", "Show a model", "  fidelio model show wing\n",
             [&context, shown] { return Show(context, *shown); })
      ->add_option("NAME", *shown, "the model")
      ->required();

  auto deleted = std::make_shared<std::string>();
  auto yes = std::make_shared<bool>(false);
  CLI::App* remove = AddCommand(*model, context, "delete", "Delete a model with all its data",
                                "  fidelio model delete wing\n  fidelio model delete wing --yes\n",
                                [&context, deleted, yes] { return Delete(context, *deleted, *yes); });
  remove->add_option("NAME", *deleted, "the model")->required();
  remove->add_flag("--yes", *yes, "do not ask");
}

}  // namespace fidelio::cli
