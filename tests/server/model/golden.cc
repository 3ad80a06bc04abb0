#include "tests/server/model/golden.h"

#include <fstream>
#include <iterator>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "server/store/schema.h"
#include "tests/server/model/service_testing.h"

namespace fidelio::golden {
namespace {

constexpr int kLevels = 2;
constexpr double kInputs[] = {0.05, 0.25, 0.5, 0.75, 0.95, 1.1};
constexpr int kColumns = 6;

}  // namespace

ModelSpec Spec() {
  ModelSpec spec = SpecOf(1, kLevels);
  spec.description = "a model that every later version must read";
  spec.input_box = InputBox{Vector{{0}}, Vector{{1.25}}};
  spec.fidelities = {{.name = "coarse", .cost = 1}, {.name = "fine", .cost = 12.5}};
  return spec;
}

// Numbers that no library computes: those of a sine would differ from machine to machine, and the request with them.
ObservationBatch Batch(int level) {
  ObservationBatch batch;
  batch.level = level;
  if (level == 0) {
    batch.inputs = Matrix{{0}, {0.125}, {0.25}, {0.5}, {0.75}, {0.875}, {1}, {1.25}};
    batch.outputs = Vector{{0, 0.366, 0.682, 0.997, 0.778, 0.495, 0.141, -0.572}};
  } else {
    batch.inputs = Matrix{{0}, {0.375}, {0.75}, {1.125}};
    batch.outputs = Vector{{0.25, 1.625, 1.5, 0.25}};
    batch.noise_variances = Vector{{0.0009765625, 0.0009765625, 0.001953125, 0.0009765625}};
  }
  return batch;
}

MutationContext Creation() { return Request("create-1", "create"); }
MutationContext Addition(int level) { return Request(absl::StrCat("add-", level), level == 0 ? "coarse" : "fine"); }

WayFiles FilesOf(const Way& way) {
  return {absl::StrCat(way.name, ".checkpoint"), absl::StrCat(way.name, ".export"), absl::StrCat(way.name, ".csv")};
}

Matrix Predict(const Emulator& emulator) {
  constexpr int kCount = std::size(kInputs);
  const Matrix x = Eigen::Map<const Vector>(kInputs, kCount);
  const int levels = emulator.levels();  // a GP has the highest alone
  Matrix rows(levels * kCount, kColumns);
  for (int level = 0; level < levels; ++level) {
    const auto prediction = emulator.Predict(x, {.level = level, .include_noise = true, .quantiles = {0.1, 0.9}});
    if (!prediction.ok()) {
      ADD_FAILURE() << prediction.status();
      return Matrix();
    }
    rows.middleRows(level * kCount, kCount) << Vector::Constant(kCount, level), x, prediction->mean,
        prediction->variance, prediction->quantiles;
  }
  return rows;
}

Matrix ReadPredictions(const std::string& path) {
  const std::string text = ReadFile(path);
  std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  lines.erase(lines.begin());  // names of the columns
  Matrix rows(static_cast<Eigen::Index>(lines.size()), kColumns);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const std::vector<std::string> fields = absl::StrSplit(lines[i], ',');
    if (fields.size() != kColumns) {
      ADD_FAILURE() << path << ": " << lines[i];
      return Matrix();
    }
    for (Eigen::Index j = 0; j < kColumns; ++j) EXPECT_TRUE(absl::SimpleAtod(fields[j], &rows(i, j))) << lines[i];
  }
  return rows;
}

namespace {

// The three files of a model that is fitted.
void WriteModel(Server& server, const std::string& model, const std::string& directory, const WayFiles& files) {
  WriteFile(absl::StrCat(directory, "/", files.exported), ExportBytes(server.service(), model));
  WriteFile(absl::StrCat(directory, "/", files.checkpoint), server.store().ReadCheckpoint(model, 1).value());
  const auto loaded = server->AcquireRevision(model, 1);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  std::string text = "level,x,mean,variance,q10,q90\n";
  const Matrix rows = Predict((*loaded)->emulator());
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    for (Eigen::Index j = 0; j < kColumns; ++j) {
      absl::StrAppendFormat(&text, "%s%.17g", j == 0 ? "" : ",", rows(i, j));
    }
    text += '\n';
  }
  WriteFile(absl::StrCat(directory, "/", files.predictions), text);
}

void WriteHistory(Server& server, const std::string& directory) {
  ModelSpec spec = Spec();
  spec.inputs = {{.name = "angle", .unit = "°", .description = "of attack"}};
  spec.output = VariableSpec{.name = "lift", .unit = "N"};
  ASSERT_TRUE(server->CreateModel(Request(), kHistory, spec).ok());
  ObservationBatch named = Batch(0);
  for (Eigen::Index i = 0; i < named.outputs.size(); ++i) named.run_ids.push_back(absl::StrCat("run", i));
  ASSERT_TRUE(server->AddObservations(Request(), kHistory, "", {named, Batch(1)}).ok());
  RunFit(server.service(), kHistory, {.budget_iterations = 20});
  ASSERT_TRUE(
      server->WithdrawObservations(Request(), kHistory, "", {.run_ids = {"run2"}, .reason = "wrong mesh"}).ok());
  ASSERT_TRUE(server
                  ->CorrectObservations(Request(), kHistory, "",
                                        {.run_ids = {"run5"}, .outputs = Vector{{0.25}}, .reason = "unit"})
                  .ok());
  RunFit(server.service(), kHistory, {.budget_iterations = 20});
  ASSERT_TRUE(server->DeleteRevision(Request(), kHistory, "", 1).ok());
  WriteFile(absl::StrCat(directory, "/", kHistoryExport), ExportBytes(server.service(), kHistory));
}

}  // namespace

void Write(const std::string& directory) {
  const TempDirectory data;
  {
    Server server(data.path());
    ASSERT_TRUE(server->CreateModel(Creation(), kModel, Spec()).ok());
    for (int level = 0; level < kLevels; ++level) {
      const auto added = server->AddObservations(Addition(level), kModel, "", {Batch(level)});
      ASSERT_TRUE(added.ok()) << added.status();
    }
    RunFit(server.service(), kModel, {.kernel_family = std::nullopt, .seed = 1});
    WriteModel(server, kModel, directory, {kCheckpoint, kExport, kPredictions});
    for (const Way& way : kWays) {
      ModelSpec spec = Spec();
      spec.kind = way.kind;
      ASSERT_TRUE(server->CreateModel(Request(), way.name, spec).ok()) << way.name;
      const auto added = server->AddObservations(Request(), way.name, "", {Batch(0), Batch(1)});
      ASSERT_TRUE(added.ok()) << added.status();
      FitSpec fit{.inference = way.inference, .seed = 1};
      if (way.inference == Inference::kSvi) fit.method_options["steps"] = 1000;
      RunFit(server.service(), way.name, fit);
      WriteModel(server, way.name, directory, FilesOf(way));
    }
    WriteHistory(server, directory);
  }
  WriteFile(absl::StrCat(directory, "/", kStore), ReadFile(data / kDatabaseFile));
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void WriteFile(const std::string& path, absl::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  EXPECT_TRUE(out.good()) << path;
}

}  // namespace fidelio::golden
