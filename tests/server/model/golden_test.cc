// Files of every format version that there has been load, and predict what they did (tests/golden).
#include "tests/server/model/golden.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/crc32c.h"
#include "core/dgp/moments/mf_dgp.h"
#include "core/registry/emulator_registry.h"
#include "server/model/method_choice.h"
#include "server/store/schema.h"
#include "tests/server/model/service_testing.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

// Between machines and instruction sets only rounding differs.
constexpr double kTolerance = 1e-8;
constexpr uint32_t kFuture = 999;

constexpr const char* kVersions[] = {"v1", "v2", "v3", "v4", "v5", "v6", "v7"};
constexpr int kFirstOfEveryWay = 3;   // of these: files of all kinds are there from v4 on
constexpr int kFirstWithHistory = 4;  // and observations with a history from v5 on

std::vector<const char*> VersionsOfEveryWay() {
  return {std::begin(kVersions) + std::min<size_t>(kFirstOfEveryWay, std::size(kVersions)), std::end(kVersions)};
}

std::string GoldenFile(const std::string& version, const std::string& name) {
  return absl::StrCat(FIDELIO_GOLDEN_DIRECTORY, "/", version, "/", name);
}

// The first envelope (core/base/bytes.h) of `bytes` says another version; its checksum is right again.
std::string WithVersion(std::string bytes, uint32_t version) {
  size_t payload = 0;
  for (size_t i = 8; i-- > 0;) payload = payload << 8 | static_cast<unsigned char>(bytes[16 + i]);
  const auto put = [&bytes](size_t at, uint32_t v) {
    for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(v >> (8 * i) & 0xff);
  };
  put(12, version);
  put(24 + payload, Crc32c(absl::string_view(bytes).substr(0, 24 + payload)));
  return bytes;
}

class GoldenTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::string Read(const char* name) const { return golden::ReadFile(GoldenFile(GetParam(), name)); }
  Matrix Expected() const { return golden::ReadPredictions(GoldenFile(GetParam(), golden::kPredictions)); }

  // A data directory with the golden database.
  void Restore(const TempDirectory& directory) const {
    golden::WriteFile(directory / kDatabaseFile, Read(golden::kStore));
  }

  void ExpectPredictions(ModelService& service, const std::string& model) const {
    const auto loaded = service.AcquireRevision(model, 0);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_TRUE(RelativelyNear(golden::Predict((*loaded)->emulator()), Expected(), kTolerance));
  }
};

TEST_P(GoldenTest, TheCheckpointLoadsAndPredictsTheSame) {
  const auto model = LoadMfDgp(Read(golden::kCheckpoint));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(RelativelyNear(golden::Predict(**model), Expected(), kTolerance));
}

TEST_P(GoldenTest, TheStoreOpensIsSoundAndPredictsTheSame) {
  const TempDirectory directory;
  Restore(directory);
  Server server(directory.path());
  ExpectPredictions(server.service(), golden::kModel);
  const auto findings = server.store().Check();
  ASSERT_TRUE(findings.ok()) << findings.status();
  EXPECT_TRUE(findings->empty()) << findings->front().text;
}

TEST_P(GoldenTest, TheStoreHoldsTheModelItsDataItsFitAndItsRevision) {
  const TempDirectory directory;
  Restore(directory);
  Server server(directory.path());
  const auto model = server->GetModel(golden::kModel);
  ASSERT_TRUE(model.ok()) << model.status();
  const ModelSpec spec = golden::Spec();
  EXPECT_EQ(model->spec.description, spec.description);
  EXPECT_EQ(model->spec.fidelities[1].name, spec.fidelities[1].name);
  EXPECT_EQ(model->spec.fidelities[1].cost, spec.fidelities[1].cost);
  EXPECT_EQ(model->spec.input_box->upper, spec.input_box->upper);
  EXPECT_EQ(model->observation_counts, (std::vector<int64_t>{8, 4}));
  EXPECT_EQ(model->data_version, 2);
  const auto data = server->ListObservations(golden::kModel, {});
  ASSERT_TRUE(data.ok()) << data.status();
  ASSERT_EQ(data->observations.size(), 2u);
  for (int level = 0; level < 2; ++level) {
    const ObservationBatch batch = golden::Batch(level);
    EXPECT_EQ(data->observations[level].inputs, batch.inputs);
    EXPECT_EQ(data->observations[level].outputs, batch.outputs);
    EXPECT_EQ(data->observations[level].noise_variances, batch.noise_variances);
  }
  const auto fit = server->GetFit(golden::kModel, 1);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_EQ(fit->state, FitState::kSucceeded);
  EXPECT_EQ(fit->options.kernel_family, std::nullopt);
  EXPECT_EQ(fit->revision, 1);
  const auto revision = server->GetRevision(golden::kModel, 1);
  ASSERT_TRUE(revision.ok()) << revision.status();
  EXPECT_EQ(revision->data_version, 2);
  EXPECT_EQ(revision->observation_counts, (std::vector<int64_t>{8, 4}));
}

TEST_P(GoldenTest, RequestsThatTheStoreRemembersAreReplayed) {
  const TempDirectory directory;
  Restore(directory);
  Server server(directory.path());
  const auto created = server->CreateModel(golden::Creation(), golden::kModel, golden::Spec());
  EXPECT_TRUE(created.ok()) << created.status();
  for (int level = 0; level < 2; ++level) {
    const auto added = server->AddObservations(golden::Addition(level), golden::kModel, "", {golden::Batch(level)});
    ASSERT_TRUE(added.ok()) << added.status();
    EXPECT_EQ(added->data_version, level + 1);
  }
  EXPECT_EQ(server->GetModel(golden::kModel)->data_version, 2);
}

TEST_P(GoldenTest, TheModelOfTheStoreLivesOn) {
  const TempDirectory directory;
  Restore(directory);
  Server server(directory.path());
  ASSERT_TRUE(server->AddObservations(Request(), golden::kModel, "", {golden::Batch(0)}).ok());
  EXPECT_EQ(RunFit(server.service(), golden::kModel, {.budget_iterations = 1}).revision, 2);
  ASSERT_TRUE(server->RollbackModel(Request(), golden::kModel, "", 1).ok());
  ExpectPredictions(server.service(), golden::kModel);
}

TEST_P(GoldenTest, TheExportedFileIsImportedAndPredictsTheSame) {
  const TempDirectory directory;
  Server server(directory.path());
  const auto imported = ImportBytes(server.service(), Read(golden::kExport));
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->name, golden::kModel);
  EXPECT_EQ(imported->observation_counts, (std::vector<int64_t>{8, 4}));
  ExpectPredictions(server.service(), golden::kModel);
}

TEST_P(GoldenTest, ACheckpointOfAnUnknownVersionIsRefusedWithTheVersionsThatAreKnown) {
  const absl::Status status = LoadMfDgp(WithVersion(Read(golden::kCheckpoint), kFuture)).status();
  EXPECT_TRUE(IsError(status, absl::StatusCode::kInvalidArgument, {"format version 999", "reads 1 to "}));
  EXPECT_TRUE(IsError(LoadMfDgp(WithVersion(Read(golden::kCheckpoint), 0)).status(), absl::StatusCode::kInvalidArgument,
                      {"format version 0", "reads 1 to "}));
}

TEST_P(GoldenTest, AnExportedFileOfAnUnknownVersionIsRefusedWithTheVersionsThatAreKnown) {
  const TempDirectory directory;
  Server server(directory.path());
  const absl::Status status = ImportBytes(server.service(), WithVersion(Read(golden::kExport), kFuture)).status();
  EXPECT_TRUE(IsError(status, absl::StatusCode::kInvalidArgument, {"format version 999", "reads 1 to "}));
}

TEST_P(GoldenTest, AStoreOfAnUnknownVersionIsRefusedWithTheVersionsThatAreKnown) {
  const TempDirectory directory;
  std::string bytes = Read(golden::kStore);
  bytes[62] = 3;  // user_version, big-endian, is bytes 60 to 63 of the header
  golden::WriteFile(directory / kDatabaseFile, bytes);
  const absl::Status status = OpenSqliteStore({.directory = directory.path()}).status();
  EXPECT_TRUE(IsError(status, absl::StatusCode::kFailedPrecondition,
                      {absl::StrCat("format version ", 3 * 256 + bytes[63]), absl::StrCat("up to ", kFormatVersion)}));
}

INSTANTIATE_TEST_SUITE_P(Version, GoldenTest, ::testing::ValuesIn(kVersions),
                         [](const auto& test) { return std::string(test.param); });

// The models of all other kinds and inferences, of the versions that have them.
class GoldenWayTest : public ::testing::TestWithParam<std::tuple<const char*, golden::Way>> {
 protected:
  const char* version() const { return std::get<0>(GetParam()); }
  const golden::Way& way() const { return std::get<1>(GetParam()); }
  Matrix Expected() const { return golden::ReadPredictions(GoldenFile(version(), FilesOf(way()).predictions)); }

  void ExpectPredictions(ModelService& service) const {
    const auto loaded = service.AcquireRevision(way().name, 0);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ((*loaded)->info().kind, way().kind);
    EXPECT_TRUE(RelativelyNear(golden::Predict((*loaded)->emulator()), Expected(), kTolerance));
  }
};

TEST_P(GoldenWayTest, TheCheckpointLoadsAndPredictsTheSame) {
  const auto model = LoadEmulator(golden::ReadFile(GoldenFile(version(), FilesOf(way()).checkpoint)));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(RelativelyNear(golden::Predict(**model), Expected(), kTolerance));
}

TEST_P(GoldenWayTest, TheStoreHoldsItAndPredictsTheSame) {
  const TempDirectory directory;
  golden::WriteFile(directory / kDatabaseFile, golden::ReadFile(GoldenFile(version(), golden::kStore)));
  Server server(directory.path());
  ExpectPredictions(server.service());
  const auto fit = server->GetFit(way().name, 1);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_EQ(fit->inference, way().inference);
}

TEST_P(GoldenWayTest, TheExportedFileIsImportedAndPredictsTheSame) {
  const TempDirectory directory;
  Server server(directory.path());
  const auto imported = ImportBytes(server.service(), golden::ReadFile(GoldenFile(version(), FilesOf(way()).exported)));
  ASSERT_TRUE(imported.ok()) << imported.status();
  ExpectPredictions(server.service());
}

// Versions from v4 on have these files.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenWayTest);
INSTANTIATE_TEST_SUITE_P(Version, GoldenWayTest,
                         ::testing::Combine(::testing::ValuesIn(VersionsOfEveryWay()),
                                            ::testing::ValuesIn(golden::kWays)),
                         [](const auto& test) {
                           std::string name = std::get<1>(test.param).name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return absl::StrCat(std::get<0>(test.param), "_", name);
                         });

class GoldenHistoryTest : public ::testing::TestWithParam<const char*> {
 protected:
  static void ExpectHistory(ModelService& service) {
    const auto model = service.GetModel(golden::kHistory);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(model->spec.inputs.at(0).name, "angle");
    EXPECT_EQ(model->spec.inputs.at(0).unit, "°");
    EXPECT_EQ(model->spec.output->name, "lift");
    EXPECT_EQ(model->observation_counts, (std::vector<int64_t>{7, 4}));
    EXPECT_EQ(model->withdrawn_count, 2);
    EXPECT_EQ(model->data_version, 3);
    const auto list = service.ListObservations(golden::kHistory, {.level = 0, .show_withdrawn = true});
    ASSERT_TRUE(list.ok()) << list.status();
    std::vector<std::string> gone;
    for (const ObservationBatch& batch : list->observations) {
      if (batch.withdrawal) gone.push_back(absl::StrCat(batch.run_ids[0], " ", batch.withdrawal->reason));
    }
    EXPECT_EQ(gone, (std::vector<std::string>{"run2 wrong mesh", "run5 unit"}));
    EXPECT_EQ(list->observations.back().run_ids, std::vector<std::string>{"run5"});
    EXPECT_EQ(list->observations.back().outputs[0], 0.25);
    EXPECT_TRUE(service.AcquireRevision(golden::kHistory).ok());
  }
};

TEST_P(GoldenHistoryTest, IsInTheStore) {
  const TempDirectory directory;
  golden::WriteFile(directory / kDatabaseFile, golden::ReadFile(GoldenFile(GetParam(), golden::kStore)));
  Server server(directory.path());
  ExpectHistory(server.service());
  EXPECT_TRUE(absl::IsNotFound(server->GetRevision(golden::kHistory, 1).status()));
  EXPECT_EQ(server->GetModel(golden::kHistory)->current_revision, 2);
}

TEST_P(GoldenHistoryTest, IsInTheExportedFile) {
  const TempDirectory directory;
  Server server(directory.path());
  const auto imported = ImportBytes(server.service(), golden::ReadFile(GoldenFile(GetParam(), golden::kHistoryExport)));
  ASSERT_TRUE(imported.ok()) << imported.status();
  ExpectHistory(server.service());
}

INSTANTIATE_TEST_SUITE_P(Version, GoldenHistoryTest,
                         ::testing::ValuesIn(std::begin(kVersions) + kFirstWithHistory, std::end(kVersions)),
                         [](const auto& test) { return std::string(test.param); });

TEST(GoldenWriterTest, WhatThisVersionWritesPredictsWhatItSays) {
  const TempDirectory directory;
  golden::Write(directory.path());
  const auto expect_same = [&](const golden::WayFiles& files) {
    const auto model = LoadEmulator(golden::ReadFile(directory / files.checkpoint));
    ASSERT_TRUE(model.ok()) << files.checkpoint << ": " << model.status();
    EXPECT_EQ(golden::Predict(**model), golden::ReadPredictions(directory / files.predictions)) << files.checkpoint;
  };
  expect_same({golden::kCheckpoint, golden::kExport, golden::kPredictions});
  for (const golden::Way& way : golden::kWays) expect_same(FilesOf(way));
}

// A stable method needs golden files.
TEST(GoldenWriterTest, WritesEveryStableMethod) {
  for (const EmulatorMethod& method : EmulatorMethods()) {
    if (method.maturity != Maturity::kStable) continue;
    bool written = ChooseMethod(ModelKind::kMfDgp, Inference::kMoments, {8, 4})->method == &method;
    for (const golden::Way& way : golden::kWays) {
      written |= ChooseMethod(way.kind, way.inference, {8, 4})->method == &method;
    }
    EXPECT_TRUE(written) << method.name;
  }
}

}  // namespace
}  // namespace fidelio
