// fidelio rollback, server-info.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/as_typed.h"
#include "client/cli/command.h"
#include "client/cli/text.h"
#include "client/cli/words.h"
#include "client/cpp/names.h"

namespace fidelio::cli {
namespace {

// One row per inference of a kind.
std::string MethodsTable(const v1::ServerInfo& info) {
  if (info.methods().empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"KIND", "INFERENCE", "MATURITY", "CHOSEN BY AUTO", "OPTIONS"}};
  std::vector<std::vector<std::string>> options = {{"OPTION", "WHAT", "RANGE", "DEFAULT"}};
  for (const v1::MethodInfo& method : info.methods()) {
    std::vector<std::string> names;
    for (const v1::MethodOption& option : method.options()) {
      names.push_back(option.name());
      options.push_back({absl::StrCat(EnumText(method.inference_name(), ""), " ", option.name()), option.help(),
                         absl::StrFormat("%.15g to %.15g", option.least(), option.most()), option.default_text()});
    }
    rows.push_back({EnumText(method.kind_name(), ""), EnumText(method.inference_name(), ""),
                    EnumText(v1::Maturity_Name(method.maturity()), "MATURITY_"),
                    method.chosen_by_auto().empty() ? "–" : method.chosen_by_auto(),
                    names.empty() ? "–" : absl::StrJoin(names, ", ")});
  }
  return absl::StrCat("\n", TextTable(rows), options.size() > 1 ? absl::StrCat("\n", TextTable(options)) : "");
}

absl::Status ServerInfo(Context& context) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto info = (*client)->GetServerInfo();
  if (!info.ok()) return info.status();
  const v1::Limits& limits = info->limits();
  context.Print(ToJson(*info),
                TextTable({{"server", context.options.server},
                           {"version", info->version()},
                           {"build", info->build()},
                           {"instruction set", info->isa_level()},
                           {"started", TimeText(info->start_time())},
                           {"kinds of models", AllWords(KindWords(*info))},
                           {"inferences", AllWords(InferenceWords(*info))},
                           {"kernels", WordsFor(KernelWords(), info->kernel_families())},
                           {"caller", absl::StrCat(info->caller().empty() ? "anyone" : info->caller(), ", ",
                                                   EnumText(v1::Role_Name(info->caller_role()), "ROLE_"))},
                           {"message size", absl::StrCat("at most ", limits.max_message_bytes() >> 20, " MiB")},
                           {"matrix", absl::StrCat("at most ", limits.max_matrix_elements(), " elements")},
                           {"inputs", absl::StrCat("at most ", limits.max_input_dimension())},
                           {"fidelities", absl::StrCat("at most ", limits.max_fidelities())},
                           {"observations", absl::StrCat("at most ", limits.max_observations(), " per model")},
                           {"fits", absl::StrCat(limits.fit_workers(), " at a time, at most ", limits.max_queued_fits(),
                                                 " waiting")}}) +
                    MethodsTable(*info));
  return absl::OkStatus();
}

absl::Status Rollback(Context& context, const std::string& model, const std::string& revision) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto changed = (*client)->RollbackModel(model, revision);
  if (!changed.ok()) return AsTyped(changed.status(), {{"name", "NAME"}, {"revision", "REVISION"}});
  context.Print(ToJson(*changed), absl::StrCat("model ", client::ShortName(changed->name()), " serves revision ",
                                               client::ShortName(changed->current_revision()), " now"));
  return absl::OkStatus();
}

}  // namespace

void AddServerCommands(CLI::App& app, Context& context) {
  auto rolled_back = std::make_shared<std::string>();
  auto revision = std::make_shared<std::string>();
  CLI::App* rollback = AddCommand(
      app, context, "rollback", "Serve another revision of a model",
      "  fidelio revisions wing\n"
      "  fidelio rollback wing 2\n"
      "\nNothing is deleted: the same command can return to a newer revision, and the next fit creates a new one.\n",
      [&context, rolled_back, revision] { return Rollback(context, *rolled_back, *revision); });
  rollback->add_option("NAME", *rolled_back, "the model")->required();
  rollback->add_option("REVISION", *revision, "number of a revision, older or newer")
      ->check(ResourceNumber())
      ->required();

  AddCommand(app, context, "server-info", "Show the version, features and limits of the server",
             "  fidelio server-info\n  fidelio server-info --server emulator.example.com:50051 --tls\n",
             [&context] { return ServerInfo(context); });
}

}  // namespace fidelio::cli
