// Stores of format version 1 become stores of the present one (the golden tests open those of every version).
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/store/schema.h"
#include "server/store/sqlite_store.h"
#include "tests/server/model/golden.h"
#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

class MigrationTest : public ::testing::Test {
 protected:
  MigrationTest() {
    golden::WriteFile(File(), golden::ReadFile(absl::StrCat(FIDELIO_GOLDEN_DIRECTORY, "/v4/", golden::kStore)));
  }

  std::string File() const { return directory_ / kDatabaseFile; }

  void Sql(const std::string& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(File().c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }

  absl::StatusOr<std::unique_ptr<Store>> Open() {
    return OpenSqliteStore(
        {.directory = directory_.path(), .on_repair = [this](const std::string& what) { said_.push_back(what); }});
  }

  TempDirectory directory_;
  std::vector<std::string> said_;
};

TEST_F(MigrationTest, HappensOnceAndIsSaid) {
  std::ofstream(File() + "-migrating") << "what a crash has left";
  ASSERT_TRUE(Open().ok());
  ASSERT_EQ(said_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(said_[0], "from format version 1 to 2")) << said_[0];
  EXPECT_FALSE(std::filesystem::exists(File() + "-migrating"));
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(said_.size(), 1u);
}

TEST_F(MigrationTest, OldObservationsGetIdsAndCanBeWithdrawn) {
  Server server(directory_.path());
  const auto list = server->ListObservations(golden::kModel, {});
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->observations[0].run_ids.front(), "1-1");
  EXPECT_EQ(list->observations[1].run_ids.back(), "2-4");
  const auto answer = server->WithdrawObservations(Request(), golden::kModel, "", {.run_ids = {"1-3"}});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->observation_counts, (std::vector<int64_t>{7, 4}));
  EXPECT_EQ(answer->current_revision_withdrawn, 1);
  EXPECT_TRUE(server.store().Check()->empty());
}

TEST_F(MigrationTest, ADamagedRowQuarantinesItsModelAndNoOther) {
  Sql("UPDATE observations SET y=x'00' WHERE data_version=1");
  const std::string before = golden::ReadFile(File());
  ASSERT_TRUE(Open().ok());
  EXPECT_TRUE(absl::StrContains(said_.at(0), "kept as")) << said_[0];
  EXPECT_TRUE(golden::ReadFile(File() + "-version-1") == before);
  Server server(directory_.path());
  EXPECT_TRUE(absl::IsDataLoss(server->ListObservations(golden::kModel, {}).status()));
  EXPECT_EQ(server->GetModel(golden::kModel)->state, ModelState::kQuarantined);
  EXPECT_TRUE(server->CreateModel(Request(), "other", SpecOf(1, 1)).ok());
}

TEST_F(MigrationTest, ADamagedSchemaIsRefused) {
  Sql("DROP TABLE fit_states");
  EXPECT_TRUE(absl::IsDataLoss(Open().status()));
  EXPECT_TRUE(said_.empty() || !absl::StrContains(said_.back(), "migrated"));
}

}  // namespace
}  // namespace fidelio
