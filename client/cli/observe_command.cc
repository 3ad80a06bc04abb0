// fidelio observe.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/command.h"
#include "client/cli/csv.h"
#include "client/cli/tables.h"
#include "client/cpp/names.h"

namespace fidelio::cli {
namespace {

struct ObserveOptions {
  std::string name;
  std::string file;
  std::string level;
  bool condition = false;
};

absl::Status Observe(Context& context, const ObserveOptions& options) {
  auto text = ReadInput(options.file, context.streams.in);
  if (!text.ok()) return text.status();
  const auto table = CsvTable::Parse(DisplayName(options.file), *std::move(text));
  if (!table.ok()) return table.status();
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto model = (*client)->GetModel(options.name);
  if (!model.ok()) return model.status();
  std::optional<int> level;
  if (!options.level.empty()) {
    const auto parsed = ParseLevel(*model, options.level);
    if (!parsed.ok()) return absl::InvalidArgumentError(absl::StrCat("--level: ", parsed.status().message()));
    level = *parsed;
  }
  const auto observations = ReadObservations(*table, *model, level);
  if (!observations.ok()) return observations.status();
  const auto added = (*client)->AddObservations(
      options.name, observations->batches,
      options.condition ? client::ObservationUpdate::kCondition : client::ObservationUpdate::kNone);
  if (!added.ok()) return InTermsOfFile(added.status(), *table, *observations);

  std::vector<std::string> counts;
  for (size_t t = 0; t < added->counts.size() && t < static_cast<size_t>(model->fidelities_size()); ++t) {
    counts.push_back(absl::StrCat(model->fidelities(static_cast<int>(t)).name(), " ", added->counts[t]));
  }
  context.Print(
      Json{{"added", table->rows()},
           {"data_version", added->data_version},
           {"observation_counts", added->counts},
           {"etag", added->etag},
           {"revision", added->revision}},
      absl::StrCat(table->rows(), table->rows() == 1 ? " observation" : " observations", " added to model ",
                   client::ShortName(model->name()), ", which has now ", absl::StrJoin(counts, ", "), " (data version ",
                   added->data_version,
                   added->revision.empty() ? "" : absl::StrCat(", revision ", client::ShortName(added->revision)),
                   ")"));
  return absl::OkStatus();
}

}  // namespace

void AddObserveCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<ObserveOptions>();
  CLI::App* observe =
      AddCommand(app, context, "observe", "Add observations from a CSV file, all or nothing",
                 "  fidelio observe wing runs.csv\n"
                 "  fidelio observe wing fine-runs.csv --level fine\n"
                 "  my-simulator | fidelio observe wing -\n"
                 "  fidelio observe wing one-more.csv --condition    predictions know it at once, without a fit\n"
                 "\nColumns of the file, in any order:\n"
                 "  level or fidelity  number from 0 (lowest) or name; not needed with --level or one fidelity\n"
                 "  x1..xd             inputs\n"
                 "  y                  output\n"
                 "  noise              known variance of the noise of y; if absent it is learned\n"
                 "As in:\n"
                 "  fidelity,x1,x2,y\n"
                 "  coarse,0.1,0.5,3.14\n",
                 [&context, options] { return Observe(context, *options); });
  observe->add_option("NAME", options->name, "the model")->required();
  observe->add_option("FILE", options->file, "CSV with a header, or - for standard input")->required();
  observe->add_option("--level", options->level, "fidelity of all rows: its name, or its number from 0");
  observe->add_flag("--condition", options->condition,
                    "predictions take the rows into account at once, as a new revision; hyperparameters are kept");
}

}  // namespace fidelio::cli
