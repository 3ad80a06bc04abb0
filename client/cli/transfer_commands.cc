// fidelio model export, import.
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/as_typed.h"
#include "client/cli/command.h"
#include "client/cli/input.h"
#include "client/cli/output.h"
#include "client/cli/progress.h"
#include "client/cpp/errors.h"
#include "client/cpp/names.h"

namespace fidelio::cli {
namespace {

struct ExportOptions {
  std::string name;
  std::string output;
  bool all_revisions = false;
};

struct ImportOptions {
  std::string file;
  std::string name;
};

absl::Status Export(Context& context, const ExportOptions& options) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const std::string path = options.output.empty() ? client::ShortName(options.name) + ".fidelio" : options.output;
  const auto output = OutputFile::Open(path, context.streams.out);
  if (!output.ok()) return output.status();
  ProgressPrinter printer(context.streams.err, context.streams.err_width);
  int64_t bytes = 0;
  absl::Status status = (*client)->ExportModel(options.name, options.all_revisions, [&](absl::string_view chunk) {
    bytes += static_cast<int64_t>(chunk.size());
    if (context.streams.err_width > 0) printer.ShowCount("byte", bytes, -1);
    return (*output)->Write(chunk);
  });
  if (!status.ok()) return status;
  printer.Clear();
  if (status = (*output)->Commit(); !status.ok()) return status;
  if (path == "-") return absl::OkStatus();
  context.Print(Json{{"model", client::ModelName(options.name)}, {"file", path}, {"bytes", bytes}},
                absl::StrCat("model ", client::ShortName(options.name), " written to ", path, ", ", bytes, " bytes"));
  return absl::OkStatus();
}

absl::Status Import(Context& context, const ImportOptions& options) {
  const auto input = InputFile::Open(options.file, context.streams.in);
  if (!input.ok()) return input.status();
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  ProgressPrinter printer(context.streams.err, context.streams.err_width);
  std::istream& stream = (*input)->stream();
  int64_t position = 0;
  const auto read = [&](int64_t offset, size_t most) -> absl::StatusOr<std::string> {
    if (offset != position) {
      if (!(*input)->seekable()) {
        return absl::InvalidArgumentError(
            absl::StrCat(DisplayName(options.file),
                         ": the connection was lost, and standard input cannot be read again; import a file"));
      }
      (*input)->Rewind();
    }
    std::string bytes(most, '\0');
    stream.read(bytes.data(), static_cast<std::streamsize>(most));
    if (stream.bad()) return absl::InvalidArgumentError(absl::StrCat(DisplayName(options.file), ": cannot be read"));
    bytes.resize(static_cast<size_t>(stream.gcount()));
    position = offset + static_cast<int64_t>(bytes.size());
    if (context.streams.err_width > 0) printer.ShowCount("byte", position, (*input)->size());
    return bytes;
  };
  const auto model = (*client)->ImportModel(options.name, read);
  printer.Clear();
  if (!model.ok()) {
    const absl::Status status = AsTyped(
        model.status(), {{"header.model_id", "--name"}, {"header", "FILE"}, {"chunk", DisplayName(options.file)}});
    if (!absl::StartsWith(status.message(), "--name: ")) return status;
    return client::WithMessage(status, absl::StrCat(status.message(), "\n  ", kNameRule));
  }
  context.Print(ToJson(*model),
                absl::StrCat("model ", client::ShortName(model->name()), " imported, which serves ",
                             model->current_revision().empty()
                                 ? "no revision yet"
                                 : absl::StrCat("revision ", client::ShortName(model->current_revision()))));
  return absl::OkStatus();
}

}  // namespace

void AddTransferCommands(CLI::App& model, Context& context) {
  auto out = std::make_shared<ExportOptions>();
  CLI::App* command = AddCommand(
      model, context, "export", "Write a model to a file",
      "  fidelio model export wing                     writes wing.fidelio\n"
      "  fidelio model export wing -o backup.fidelio --all-revisions\n"
      "  fidelio model export wing -o - | fidelio --server other:50051 model import - --name wing\n"
      "\nThe file contains the observations, the current revision (or all) and checksums. It can be imported by any\n"
      "server; the imported model predicts the same numbers.\n",
      [&context, out] { return Export(context, *out); });
  command->add_option("NAME", out->name, "the model")->required();
  command->add_option("-o,--output", out->output, "file to write, - for standard output; default NAME.fidelio")
      ->type_name("FILE");
  command->add_flag("--all-revisions", out->all_revisions, "all revisions instead of the current one");

  auto in = std::make_shared<ImportOptions>();
  command = AddCommand(model, context, "import", "Create a model from an exported file",
                       "  fidelio model import wing.fidelio\n"
                       "  fidelio model import wing.fidelio --name wing-copy\n"
                       "\nAll or nothing: a damaged file creates no model.\n",
                       [&context, in] { return Import(context, *in); });
  command->add_option("FILE", in->file, "the file, or - for standard input")->required();
  command->add_option("--name", in->name, "name of the new model; default: its name when exported")->type_name("NAME");
}

}  // namespace fidelio::cli
