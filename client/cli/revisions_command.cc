// fidelio revisions, revisions delete.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/as_typed.h"
#include "client/cli/command.h"
#include "client/cli/text.h"
#include "client/cpp/names.h"

namespace fidelio::cli {
namespace {

absl::Status ListRevisions(Context& context, const std::string& model) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto revisions = (*client)->ListRevisions(model);
  if (!revisions.ok()) return revisions.status();
  const bool withdrawn = std::any_of(revisions->begin(), revisions->end(),
                                     [](const v1::Revision& revision) { return revision.withdrawn_count() > 0; });
  std::vector<std::vector<std::string>> rows = {
      {"REVISION", "FIT", "DATA VERSION", "OBSERVATIONS", "OBJECTIVE", "TIME", "CREATED", "BY", ""}};
  if (withdrawn) rows[0].insert(rows[0].begin() + 4, "WITHDRAWN");
  for (const v1::Revision& revision : *revisions) {
    rows.push_back({client::ShortName(revision.name()), client::ShortName(revision.fit()),
                    absl::StrCat(revision.data_version()), absl::StrJoin(revision.observation_counts(), "/"),
                    RoundNumber(revision.elbo()), DurationText(ToDuration(revision.fit_duration())),
                    TimeText(revision.create_time()), revision.code_version(), revision.current() ? "current" : ""});
    if (withdrawn) rows.back().insert(rows.back().begin() + 4, absl::StrCat(revision.withdrawn_count()));
  }
  context.Print(ToJsonList("revisions", *revisions),
                revisions->empty()
                    ? absl::StrCat("no revisions; `fidelio fit ", client::ShortName(model), " --watch` makes one")
                    : TextTable(rows));
  return absl::OkStatus();
}

absl::Status DeleteRevision(Context& context, const std::string& model, const std::string& revision) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  if (absl::Status status = (*client)->DeleteRevision(model, revision); !status.ok()) {
    return AsTyped(status, {{"name", "REVISION"}});
  }
  context.Print(
      Json{{"deleted", client::RevisionName(model, revision)}},
      absl::StrCat("revision ", client::ShortName(revision), " of model ", client::ShortName(model), " deleted"));
  return absl::OkStatus();
}

}  // namespace

void AddRevisionsCommand(CLI::App& app, Context& context) {
  auto model = std::make_shared<std::string>();
  CLI::App* revisions = app.add_subcommand("revisions", "List the revisions of a model, or delete one");
  revisions->footer(
      "Examples:\n"
      "  fidelio revisions wing\n"
      "  fidelio revisions delete wing 2\n"
      "\nLists the newest first. Options that every command takes: fidelio --help");
  revisions->add_option("NAME", *model, "the model");
  revisions->require_subcommand(0, 1);
  // Runs after those of its commands.
  revisions->callback([&context, model, revisions] {
    if (!revisions->get_subcommands().empty()) return;
    context.command = [&context, model]() -> absl::Status {
      if (!model->empty()) return ListRevisions(context, *model);
      context.exit_code = ExitCode::kUsage;
      return absl::InvalidArgumentError("revisions: NAME is required; see fidelio revisions --help");
    };
  });

  auto deleted_of = std::make_shared<std::string>();
  auto deleted = std::make_shared<std::string>();
  CLI::App* remove =
      AddCommand(*revisions, context, "delete", "Delete a revision that is not the current one",
                 "  fidelio revisions delete wing 2\n"
                 "\nObservations and other revisions stay. The current revision can't be deleted: serve another one\n"
                 "first (fidelio rollback). `fidelio model update --keep-revisions` deletes old ones by itself.\n",
                 [&context, deleted_of, deleted] { return DeleteRevision(context, *deleted_of, *deleted); });
  remove->add_option("NAME", *deleted_of, "the model")->required();
  remove->add_option("REVISION", *deleted, "number of the revision")->check(ResourceNumber())->required();
}

}  // namespace fidelio::cli
