// fidelio sample-paths.
#include <limits>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/as_typed.h"
#include "client/cli/command.h"
#include "client/cli/data_table.h"
#include "client/cli/input.h"
#include "client/cli/json.h"
#include "client/cli/tables.h"
#include "client/cli/text.h"
#include "client/cli/words.h"

namespace fidelio::cli {
namespace {

struct SamplePathsOptions {
  std::string name;
  std::string file;
  std::string level;
  std::string output;
  client::SampleOptions sample;
};

const TypedNames& SamplePathsNames() {
  static const auto* names = new TypedNames{{"model", "NAME"},    {"inputs", "FILE"}, {"count", "--count"},
                                            {"level", "--level"}, {"kind", "--kind"}, {"revision", "--revision"}};
  return *names;
}

// The columns of the file as they stand there, then a column per path.
std::string ToCsv(const DataTable& table, const Eigen::MatrixXd& values) {
  std::string out;
  for (const std::string& column : table.columns()) absl::StrAppend(&out, column, ",");
  for (Eigen::Index i = 0; i < values.rows(); ++i) absl::StrAppend(&out, i == 0 ? "path" : ",path", i + 1);
  absl::StrAppend(&out, "\n");
  const int columns = static_cast<int>(table.columns().size());
  for (int row = 0; row < table.rows(); ++row) {
    for (int j = 0; j < columns; ++j) {
      table.AppendCsv(row, j, &out);
      out.push_back(',');
    }
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
      absl::StrAppend(&out, i == 0 ? "" : ",", ExactNumber(values(i, row)));
    }
    absl::StrAppend(&out, "\n");
  }
  return out;
}

absl::Status SamplePaths(Context& context, const SamplePathsOptions& options) {
  const auto input = InputFile::Open(options.file, context.streams.in);
  if (!input.ok()) return input.status();
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto model = (*client)->GetModel(options.name);
  if (!model.ok()) return model.status();
  client::SampleOptions sample = options.sample;
  const auto level = context.Level(*model, options.level);
  if (!level.ok()) return level.status();
  sample.level = *level;
  const auto table = (*input)->Tables(NameInputColumns(*model))->Next(std::numeric_limits<int>::max());
  if (!table.ok()) return table.status();
  const auto inputs = ReadInputs(**table, *model);
  if (!inputs.ok()) return inputs.status();
  const auto samples = (*client)->SamplePaths(options.name, *inputs, sample);
  if (!samples.ok()) return AsTyped(samples.status(), SamplePathsNames());
  Json paths = Json::array();
  for (const auto& path : samples->values.rowwise()) paths.push_back(ToJson(Eigen::VectorXd(path.transpose())));
  return context.Write(
      options.output,
      {{"revision", samples->revision}, {"data_version", samples->data_version}, {"paths", std::move(paths)}},
      ToCsv(**table, samples->values));
}

}  // namespace

void AddSamplePathsCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<SamplePathsOptions>();
  CLI::App* command = AddCommand(
      app, context, "sample-paths", "Draw samples of the posterior at the inputs of a file",
      "  fidelio sample-paths wing points.csv --count 100 -o paths.csv\n"
      "  fidelio sample-paths wing some.csv --kind function --seed 7\n"
      "  fidelio sample-paths wing others.csv --kind function --seed 7     # values of the same functions\n"
      "\nThe output has the columns of the input, then a column per path. Joint samples are exact, but only\n"
      "those of one call belong together; functions of one seed are the same in every call.\n",
      [&context, options] { return SamplePaths(context, *options); });
  command->add_option("NAME", options->name, "the model")->required();
  command
      ->add_option("FILE", options->file,
                   "CSV with a header (names of the inputs, or x1..xd), .npy, or - for standard input")
      ->required();
  command->add_option("--count", options->sample.count, "number of paths")->check(Positive())->capture_default_str();
  AddChoice(command, context, "--kind", "KIND", "joint or function; default joint", PathKindWords(),
            options->sample.kind);
  command->add_option("--level", options->level, "fidelity: its name, or its number from 0; default the highest");
  command->add_option("--seed", options->sample.seed, "seed of the random numbers")->capture_default_str();
  command->add_option("--revision", options->sample.revision, "number of a revision; default the current one")
      ->check(ResourceNumber());
  command->add_option("-o,--output", options->output, "file to write; default standard output")->type_name("FILE");
}

}  // namespace fidelio::cli
