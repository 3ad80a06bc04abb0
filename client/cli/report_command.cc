// fidelio report.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/as_typed.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/cli/report/page.h"
#include "client/cpp/names.h"

namespace fidelio::cli {
namespace {

struct ReportCommandOptions {
  std::string name;
  std::string output;
  ReportOptions report;
};

absl::Status Report(Context& context, const ReportCommandOptions& options) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto data = CollectReport(**client, options.name, options.report);
  if (!data.ok()) return AsTyped(data.status(), {{"revision", "--revision"}, {"name", "--revision"}});
  const std::string page = RenderReport(*data);
  const std::string path = options.output.empty() ? client::ShortName(options.name) + ".html" : options.output;
  const auto output = OutputFile::Open(path, context.streams.out);
  if (!output.ok()) return output.status();
  absl::Status status = (*output)->Write(page);
  status.Update((*output)->Commit());
  if (!status.ok() || path == "-") return status;
  context.Print(Json{{"file", path}, {"bytes", page.size()}, {"revision", data->revision.name()}},
                absl::StrCat("report of model ", client::ShortName(data->model.name()), ", revision ",
                             client::ShortName(data->revision.name()), ", written to ", path));
  return absl::OkStatus();
}

}  // namespace

void AddReportCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<ReportCommandOptions>();
  CLI::App* report = AddCommand(
      app, context, "report", "Write a report of a model: what it predicts, and whether to trust it",
      "  fidelio report wing                                writes wing.html\n"
      "  fidelio report wing -o report.html --at 0.5,0.2\n"
      "  fidelio report wing --revision 3 --runs 0 -o - > old.html\n"
      "\nOne self-contained HTML file, for browsers, phones and printers: slices of the predictions with the\n"
      "data, how the fidelities are related, leave-one-out calibration, the history of the fit, and where to run\n"
      "next. With --json, prints a description of the file.\n",
      [&context, options] { return Report(context, *options); });
  report->add_option("NAME", options->name, "the model")->required();
  report->add_option("-o,--output", options->output, "file to write, - for standard output; default NAME.html")
      ->type_name("FILE");
  report
      ->add_option("--at", options->report.at,
                   "point of the slices: centre (the highest-fidelity observation nearest to the middle), min "
                   "or max (that with the smallest or largest output), or a number per input: 0.5,0.2")
      ->type_name("POINT")
      ->capture_default_str();
  report->add_option("--runs", options->report.runs, "how many runs to suggest; 0 for none")
      ->type_name("N")
      ->check(NotNegative())
      ->capture_default_str();
  report->add_option("--seed", options->report.seed, "of the suggestions")->type_name("N")->capture_default_str();
  report->add_option("--revision", options->report.revision, "number of a revision; default the current one")
      ->check(ResourceNumber());
}

}  // namespace fidelio::cli
