#include "client/cli/report/page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/columns.h"
#include "client/cli/report/figures.h"
#include "client/cli/report/scale.h"
#include "client/cli/report/style.h"
#include "client/cli/report/svg.h"
#include "client/cli/text.h"
#include "client/cli/words.h"
#include "client/cpp/names.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {
namespace {

constexpr size_t kListedInputs = 8;

// `value` is HTML.
std::string Fact(const std::string& name, const std::string& value) {
  return absl::StrCat("<div><dt>", name, "</dt><dd>", value, "</dd></div>\n");
}

std::string Small(const std::string& text) { return absl::StrCat(" <small>", Escape(text), "</small>"); }

std::string Facts(const ReportData& data) {
  const v1::Revision& revision = data.revision;
  std::string facts = "<dl class=\"facts\">\n";
  for (auto fidelity = data.fidelities.rbegin(); fidelity != data.fidelities.rend(); ++fidelity) {
    const bool ignored = data.model.kind() == v1::MODEL_KIND_GP && fidelity != data.fidelities.rbegin();
    absl::StrAppend(&facts, Fact(absl::StrCat("fidelity ", Escape(fidelity->name)),
                                 ignored ? absl::StrCat("not used", Small("by kind gp"))
                                         : absl::StrCat(fidelity->count, fidelity->count == 1 ? " run" : " runs",
                                                        Small(absl::StrCat("at cost ", Short(fidelity->cost))))));
  }
  absl::StrAppend(
      &facts,
      Fact("inputs", absl::StrCat(data.model.input_dimension(),
                                  data.model.inputs().empty() ? "" : Small(InputList(data.model, kListedInputs)))),
      data.model.outputs().empty() ? "" : Fact("output", Escape(client::OutputLabel(data.model))),
      Fact("kind", Escape(WordFor(KindWords(), data.model.kind()))),
      Fact("inference",
           absl::StrCat(Escape(WordFor(InferenceWords(), revision.inference())),
                        Small(absl::StrCat("kernel ", WordFor(KernelWords(), revision.options().kernel_family()))))));
  if (data.model.output_transform().kind() > v1::OUTPUT_TRANSFORM_KIND_IDENTITY) {
    absl::StrAppend(&facts, Fact("outputs", Escape(WordFor(TransformWords(), data.model.output_transform().kind()))));
  }
  absl::StrAppend(
      &facts,
      Fact("revision", absl::StrCat(Escape(client::ShortName(revision.name())),
                                    Small(revision.origin() == v1::REVISION_ORIGIN_CONDITION ? "conditioned on new data"
                                          : revision.current()                               ? "current"
                                                                                             : "not current"))),
      Fact("data version",
           absl::StrCat(revision.data_version(),
                        revision.data_version() < data.model.data_version()
                            ? Small(absl::StrCat("of ", data.model.data_version(), ": newer data is not in it"))
                            : "")),
      revision.withdrawn_count() > 0
          ? Fact("withdrawn", absl::StrCat(revision.withdrawn_count(), Small("observations that it knows: fit again")))
          : "",
      Fact("fit time", absl::StrCat(DurationText(ToDuration(revision.fit_duration())),
                                    Small(absl::StrCat("seed ", revision.options().seed())))),
      Fact("fitted", absl::StrCat(TimeText(revision.create_time()), Small("UTC"))), "</dl>\n");
  return facts;
}

std::string Section(const std::string& title, const std::string& figure) {
  if (figure.empty()) return "";
  return absl::StrCat("<section>\n<h2>", title, "</h2>\n", figure, "</section>\n");
}

}  // namespace

std::string RenderReport(const ReportData& data) {
  const std::string name = Escape(client::ShortName(data.model.name()));
  const bool one = data.centre.size() == 1;
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      // Nothing may be fetched, whatever a name or a description says; and no icon is asked for.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
      "data:\">\n<link rel=\"icon\" href=\"data:,\">\n<title>",
      name, " · Fidelio report</title>\n<style>", kStyle, "</style>\n</head>\n<body>\n<header>\n<h1>", name,
      "</h1>\n<p class=\"sub\">",
      data.model.description().empty() ? "A Fidelio model" : Escape(data.model.description()), "</p>\n", Facts(data),
      CalibrationVerdict(data), "</header>\n<main>\n", Section(one ? "The function" : "Slices", SliceFigure(data)),
      Section("Map", MapFigure(data)), Section("How the fidelities relate", LinkFigure(data)),
      Section("Can it be trusted?", CalibrationFigure(data)),
      Section("Fit history", TrainingFigure(data) + SamplingText(data)),
      Section("Where to run next", DesignFigure(data)), "</main>\n<footer>Created by <code>fidelio report ", name,
      "</code> on ", Escape(data.generated), ", server version ", Escape(data.server),
      ".<span class=\"hover\"> Hover over a symbol to read its numbers.</span></footer>\n</body>\n</html>\n");
}

}  // namespace fidelio::cli
