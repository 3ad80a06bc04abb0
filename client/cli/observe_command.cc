// fidelio observe.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/cli/counts_text.h"
#include "client/cli/file_warnings.h"
#include "client/cli/input.h"
#include "client/cli/progress.h"
#include "client/cli/tables.h"
#include "client/cpp/errors.h"
#include "client/cpp/names.h"
#include "client/cpp/request_id.h"

namespace fidelio::cli {
namespace {

// Numbers of one call: 4 MiB.
constexpr int kChunkNumbers = 1 << 19;

struct ObserveOptions {
  std::string name;
  std::string file;
  std::string level;
  bool condition = false;
  bool skip_duplicates = false;
  int chunk_rows = 0;
  std::string request_id;
};

// A file on its way to the server.
struct Upload {
  const ObserveOptions& options;
  const v1::Model& model;
  std::optional<int> level;
  InputFile& input;
  int chunk_rows;
  int64_t sent = 0;                         // rows that the server has
  FileWarnings warnings = {};               // about them
  std::unique_ptr<DataTable> sending = {};  // the rows of the call that runs
  ObservationTable sending_by_level = {};   // the same
};

std::unique_ptr<TableReader> Rows(Upload& upload) {
  return upload.input.Tables(NameObservationColumns(upload.model, upload.level));
}

// Reads the whole file without sending anything, so that a mistake in the last row does not leave the first ones behind.
// How many rows there are.
absl::StatusOr<int64_t> CheckFile(Upload& upload) {
  const auto rows = Rows(upload);
  int64_t count = 0;
  while (true) {
    const auto table = rows->Next(upload.chunk_rows);
    if (!table.ok()) return table.status();
    if (*table == nullptr) break;
    if (const auto read = ReadObservations(**table, upload.model, upload.level); !read.ok()) return read.status();
    count += (*table)->rows();
  }
  upload.input.Rewind();
  return count;
}

absl::StatusOr<client::AddedObservations> Send(Context& context, Upload& upload, client::Client& client,
                                               int64_t total) {
  ProgressPrinter printer(context.streams.err, context.streams.err_width);
  const auto rows = Rows(upload);
  const auto next = [&]() -> absl::StatusOr<std::vector<client::Observations>> {
    auto table = rows->Next(upload.chunk_rows);
    if (!table.ok()) return table.status();
    upload.sending = *std::move(table);
    if (upload.sending == nullptr) return std::vector<client::Observations>();
    auto read = ReadObservations(*upload.sending, upload.model, upload.level);
    if (!read.ok()) return read.status();
    upload.sending_by_level = *std::move(read);
    return upload.sending_by_level.batches;
  };
  client::AddOptions options;
  if (upload.options.skip_duplicates) options.duplicates = v1::DUPLICATE_POLICY_SKIP;
  const auto on_added = [&](const client::AddedObservations& added) {
    upload.sent += upload.sending->rows();
    upload.warnings.Add(added, *upload.sending, upload.sending_by_level);
  };
  if (upload.options.condition) {
    const auto all = next();
    if (!all.ok()) return all.status();
    if (const auto more = rows->Next(1); !more.ok() || *more != nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("--condition: for a few rows only, but there are more than ",
                                                     upload.chunk_rows, "; observe and fit instead"));
    }
    options.update = client::ObservationUpdate::kCondition;
    auto added = client.AddObservations(upload.options.name, *all, options, {.request_id = upload.options.request_id});
    if (added.ok()) on_added(*added);
    return added;
  }
  const auto on_chunk = [&](const client::AddedObservations& added) {
    on_added(added);
    // One call needs no bar.
    if (upload.sent == upload.sending->rows() && (total < 0 || upload.sent == total)) return;
    const bool quiet = context.options.json && context.streams.err_width == 0;
    if (!quiet) printer.ShowCount("row", upload.sent, total);
  };
  return client.AddObservationChunks(upload.options.name, next, on_chunk, options,
                                     {.request_id = upload.options.request_id});
}

absl::Status Observe(Context& context, ObserveOptions options) {
  auto input = InputFile::Open(options.file, context.streams.in);
  if (!input.ok()) return input.status();
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto model = (*client)->GetModel(options.name);
  if (!model.ok()) return model.status();
  const auto level = context.Level(*model, options.level);
  if (!level.ok()) return level.status();
  if (options.request_id.empty()) options.request_id = client::NewRequestId();
  const int per_row = static_cast<int>(model->input_dimension()) + 2;
  Upload upload{.options = options,
                .model = *model,
                .level = *level,
                .input = **input,
                .chunk_rows = options.chunk_rows > 0 ? options.chunk_rows : std::max(1, kChunkNumbers / per_row)};
  int64_t total = -1;
  if (upload.input.seekable()) {
    const auto count = CheckFile(upload);
    if (!count.ok()) return count.status();
    total = *count;
  }
  const auto added = Send(context, upload, **client, total);
  if (!added.ok()) {
    absl::Status status = added.status();
    if (upload.sending != nullptr) status = InTermsOfFile(status, *upload.sending, upload.sending_by_level);
    if (upload.sent == 0) return status;
    return client::WithMessage(status, absl::StrCat(status.message(), "\n  ", upload.sent,
                                                    " rows were already added; the same command with --request-id ",
                                                    options.request_id, " adds the others, and none twice"));
  }

  const std::string name = client::ShortName(model->name());
  std::string text =
      absl::StrCat(added->added, added->added == 1 ? " observation" : " observations", " added to model ", name,
                   ", which now has ", CountsText(*model, added->counts), " (data version ", added->data_version,
                   added->revision.empty() ? "" : absl::StrCat(", revision ", client::ShortName(added->revision)), ")");
  if (added->replayed > 0) {
    absl::StrAppend(&text, "\n", added->replayed, added->replayed == 1 ? " row was" : " rows were",
                    " there already under the same run_id");
  }
  context.Print(Json{{"added", added->added},
                     {"skipped", added->skipped},
                     {"replayed", added->replayed},
                     {"data_version", added->data_version},
                     {"observation_counts", added->counts},
                     {"etag", added->etag},
                     {"revision", added->revision},
                     {"request_id", options.request_id},
                     {"warnings", upload.warnings.ToJson(name, options.skip_duplicates)}},
                text);
  for (const std::string& warning : upload.warnings.Text(name, options.skip_duplicates)) {
    context.Remark(absl::StrCat("warning: ", warning));
  }
  return absl::OkStatus();
}

}  // namespace

void AddObserveCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<ObserveOptions>();
  CLI::App* observe = AddCommand(
      app, context, "observe", "Add observations from a file",
      "  fidelio observe wing runs.csv\n"
      "  fidelio observe wing fine-runs.csv --level fine\n"
      "  fidelio observe wing fine-runs.npy --level fine\n"
      "  my-simulator | fidelio observe wing -\n"
      "  fidelio observe wing one-more.csv --condition    predictions use it at once, without a fit\n"
      "  fidelio observe wing runs.csv --skip-duplicates  leaves out rows that are stored already\n"
      "\nColumns of a CSV file, in any order:\n"
      "  level or fidelity  number from 0 (lowest) or name; not needed with --level or one fidelity\n"
      "  inputs             their names, or x1..xd when the model has no names\n"
      "  output             its name, or y\n"
      "  noise_variance     known variance of the output's noise; if absent it is learned. Or: noise\n"
      "  run_id             your name of the run, unique in the model; if absent the server makes one\n"
      "As in:\n"
      "  fidelity,x1,x2,y\n"
      "  coarse,0.1,0.5,3.14\n"
      "\nA .npy file (numpy.save) has these columns in this order: level (not with --level or one fidelity),\n"
      "the inputs, the output and, if known, noise_variance.\n"
      "\nFiles are checked as a whole before anything is added. Files of up to a few megabytes are added\n"
      "all or nothing; larger files are added in parts, each all or nothing. If the connection is lost, the error\n"
      "says how to add the rest.\n"
      "\nRows that are exact copies of stored ones (fidelity, inputs and output), and rows far outside the model's\n"
      "box, are added with a warning. `fidelio observations withdraw` takes rows back.\n",
      [&context, options] { return Observe(context, *options); });
  observe->add_option("NAME", options->name, "the model")->required();
  observe->add_option("FILE", options->file, "CSV with a header, .npy, or - for standard input")->required();
  observe->add_option("--level", options->level, "fidelity of all rows: its name, or its number from 0");
  observe->add_flag("--condition", options->condition,
                    "update the served model with these rows at once, as a new revision, keeping its hyperparameters");
  observe->add_flag("--skip-duplicates", options->skip_duplicates,
                    "leave out rows that are exact copies of stored observations or of earlier rows");
  observe->add_option("--chunk-rows", options->chunk_rows, "rows per part; default: as many as fit into 4 MiB")
      ->type_name("N")
      ->check(Positive());
  observe
      ->add_option("--request-id", options->request_id,
                   "the same file with the same id is added only once, however often it is sent; at most 48 letters, "
                   "digits, dots, hyphens and underscores")
      ->type_name("ID");
}

}  // namespace fidelio::cli
