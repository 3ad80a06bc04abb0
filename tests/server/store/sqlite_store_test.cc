// What SqliteStore has beyond the contract: its file, its lock, its migrations, its backups.
#include "server/store/sqlite_store.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/store/schema.h"
#include "tests/server/store/fault_vfs.h"
#include "tests/server/store/store_testing.h"
#include "tests/support/status.h"
#include "tests/support/temp_directory.h"

namespace fidelio {
namespace {

class SqliteStoreTest : public ::testing::Test {
 protected:
  std::string File() const { return directory_ / kDatabaseFile; }

  std::unique_ptr<Store> Open() {
    auto store = OpenAt(directory_.path());
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  // Changes the file behind the store's back.
  void Sql(const std::string& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(File().c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }

  std::string Bytes() const {
    std::ifstream in(File(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  TempDirectory directory_;
};

TEST_F(SqliteStoreTest, MakesTheDirectoryAndItsParents) {
  const std::string deep = directory_ / "a/b/c/";
  ASSERT_TRUE(OpenAt(deep).ok());
  EXPECT_TRUE(std::filesystem::exists(deep + kDatabaseFile));
}

TEST_F(SqliteStoreTest, RefusesADirectoryThatIsInUseAndNamesIt) {
  auto store = Open();
  EXPECT_TRUE(IsError(OpenAt(directory_.path()).status(), absl::StatusCode::kFailedPrecondition,
                      {directory_.path(), "in use"}));
  store.reset();
  EXPECT_TRUE(OpenAt(directory_.path()).ok());
}

TEST_F(SqliteStoreTest, RefusesAFileInPlaceOfTheDirectory) {
  std::ofstream(directory_ / "file") << "x";
  EXPECT_TRUE(IsError(OpenAt(directory_ / "file").status(), absl::StatusCode::kFailedPrecondition, {"file"}));
}

TEST_F(SqliteStoreTest, MigratesAnEmptyDatabaseOfVersion0) {
  Sql("CREATE TABLE t(x); DROP TABLE t;");  // a database that holds nothing
  auto store = Open();
  ASSERT_NE(store, nullptr);
  EXPECT_TRUE(CreateModel(*store, "wing").ok());
  store.reset();
  EXPECT_TRUE(Open()->GetModel("wing").ok());
}

TEST_F(SqliteStoreTest, RefusesANewerFormatAndSaysSo) {
  Open();
  Sql("PRAGMA user_version=7");
  EXPECT_TRUE(IsError(OpenAt(directory_.path()).status(), absl::StatusCode::kFailedPrecondition,
                      {File(), "format version 7", "up to 2", "newer"}));
}

TEST_F(SqliteStoreTest, RefusesTheDatabaseOfAnotherProgram) {
  Sql("CREATE TABLE theirs(x)");
  EXPECT_TRUE(IsError(OpenAt(directory_.path()).status(), absl::StatusCode::kFailedPrecondition, {"another program"}));
}

TEST_F(SqliteStoreTest, RefusesWhatIsNoDatabase) {
  std::ofstream(File()) << std::string(5000, 'x');
  EXPECT_TRUE(IsError(OpenAt(directory_.path()).status(), absl::StatusCode::kDataLoss, {File()}));
}

TEST_F(SqliteStoreTest, RefusesAFileThatWasCut) {
  ASSERT_TRUE(CreateModel(*Open(), "wing", std::string(50000, 's')).ok());
  std::filesystem::resize_file(File(), std::filesystem::file_size(File()) - 4096);
  EXPECT_TRUE(absl::IsDataLoss(OpenAt(directory_.path()).status()));
}

TEST_F(SqliteStoreTest, RefusesAChangedSchema) {  // S3
  Open();
  Sql("ALTER TABLE models RENAME COLUMN spec TO specs");
  EXPECT_TRUE(IsError(OpenAt(directory_.path()).status(), absl::StatusCode::kDataLoss, {"\"models\""}));
}

// Rows that vanish, appear or are changed with a valid structure.
TEST_F(SqliteStoreTest, NoticesEveryRowThatVanishes) {  // S4 to S11
  for (const char* damage :
       {"DELETE FROM models WHERE name='b'", "DELETE FROM observations WHERE model=2 AND data_version=2 AND part=1",
        "DELETE FROM observations WHERE model=2 AND data_version=3", "DELETE FROM fits WHERE model=2 AND id=3",
        "DELETE FROM fit_states WHERE model=2", "DELETE FROM revisions WHERE model=2 AND id=2",
        "DELETE FROM checkpoints WHERE model=2 AND revision=1", "DELETE FROM requests WHERE model=2 AND seq=2",
        "UPDATE observations SET y=x'00' WHERE model=2 AND data_version=1", "UPDATE fits SET error='e' WHERE model=2",
        "UPDATE models SET etag=etag+1 WHERE id=2", "UPDATE models SET id=20 WHERE id=2"}) {
    SCOPED_TRACE(damage);
    std::filesystem::remove(File());
    std::string a;
    {
      auto store = Open();
      for (const char* name : {"a", "b"}) {
        ASSERT_TRUE(CreateModel(*store, name).ok());
        ASSERT_TRUE(Fill(*store, name).ok());
      }
      a = Everything(*store, "a").value();
    }
    Sql(absl::StrCat("PRAGMA foreign_keys=OFF; ", damage));
    auto store = Open();
    ASSERT_NE(store, nullptr);
    EXPECT_TRUE(absl::IsDataLoss(Everything(*store, "b").status()));
    EXPECT_EQ(Everything(*store, "a").value(), a);
    const auto findings = store->Check();
    ASSERT_FALSE(findings->empty());
    EXPECT_EQ(findings->front().model, "b") << findings->front().text;
    EXPECT_TRUE(DeleteModel(*store, "b").ok());
    EXPECT_EQ(Everything(*store, "a").value(), a);
  }
}

TEST_F(SqliteStoreTest, RefusesToOpenWhenAModelVanishedWithoutATrace) {  // S4
  ASSERT_TRUE(CreateModel(*Open(), "wing").ok());
  Sql("DELETE FROM models; DELETE FROM names");
  EXPECT_TRUE(IsError(OpenAt(directory_.path()).status(), absl::StatusCode::kDataLoss, {"1 models, but 0"}));
}

TEST_F(SqliteStoreTest, KeepsServingAModelWhoseNameRowIsLost) {  // S4: either of the two rows is enough
  ASSERT_TRUE(CreateModel(*Open(), "wing").ok());
  Sql("DELETE FROM names");
  auto store = Open();
  EXPECT_TRUE(store->GetModel("wing").ok());
  EXPECT_EQ(store->Check()->front().model, "wing");
}

TEST_F(SqliteStoreTest, CheckFindsStrayRows) {  // S5
  ASSERT_TRUE(CreateModel(*Open(), "wing").ok());
  Sql("PRAGMA foreign_keys=OFF; INSERT INTO checkpoints VALUES(99, 1, x'00', 0)");
  const auto findings = Open()->Check();
  ASSERT_EQ(findings->size(), 1u);
  EXPECT_TRUE(absl::StrContains(findings->front().text, "checkpoints has 1 rows, but 0")) << findings->front().text;
}

TEST_F(SqliteStoreTest, LostRequestOfADeletedModelIsNeverTakenForNew) {  // S11
  {
    auto store = Open();
    ASSERT_TRUE(CreateModel(*store, "wing").ok());
    ASSERT_TRUE(store->Write([](StoreTransaction& t) { return t.RecordRequest("wing", {"me", "1"}, "d", "a"); }).ok());
    ASSERT_TRUE(DeleteModel(*store, "wing").ok());
  }
  Sql("DELETE FROM requests");
  auto store = Open();
  EXPECT_TRUE(IsError(store->FindRequest("wing", {"me", "1"}).status(), absl::StatusCode::kDataLoss, {"\"1\""}));
  EXPECT_FALSE(store->Check()->empty());
}

// Deletes half of many models of all sizes, in random order, and looks for their bytes in the file.
TEST_F(SqliteStoreTest, DeletedModelLeavesNoBytesInTheFile) {  // S12
  FaultVfs vfs;
  vfs.skip_syncs = true;
  auto store = *OpenSqliteStore({.directory = directory_.path(), .vfs = vfs.name()});
  std::mt19937 random(7);
  std::vector<std::string> names;
  for (int i = 0; i < 60; ++i) names.push_back(absl::StrCat("mark-", i % 2 == 0 ? "gone" : "kept", "-", i, "-"));
  for (const std::string& name : names) ASSERT_TRUE(CreateModel(*store, name, name).ok());
  for (int i = 0; i < 400; ++i) {
    const std::string& name = names[random() % names.size()];
    std::string bytes;
    while (bytes.size() < random() % 3000) bytes += name;
    const absl::Status status = store->Write([&](StoreTransaction& t) {
      EXPECT_TRUE(t.AddRevision(name, name, bytes).ok());
      EXPECT_TRUE(t.RecordRequest(name, {"me", absl::StrCat(i)}, "", bytes).ok());
      EXPECT_TRUE(t.UpdateModel(name, 0, bytes).ok());
      return t.UpdateFit(name, t.CreateFit(name, name)->id, {.progress = bytes, .saved_state = bytes}).status();
    });
    ASSERT_TRUE(status.ok()) << status;
  }
  std::shuffle(names.begin(), names.end(), random);
  for (const std::string& name : names) {
    if (absl::StartsWith(name, "mark-kept-")) continue;
    ASSERT_TRUE(DeleteModel(*store, name).ok());
  }
  const std::string bytes = Bytes();
  EXPECT_NE(bytes.find("mark-kept-"), std::string::npos);
  EXPECT_EQ(bytes.find("mark-gone-"), std::string::npos) << "in page " << bytes.find("mark-gone-") / 4096 + 1;
  EXPECT_TRUE(store->Check()->empty());
}

TEST_F(SqliteStoreTest, ADeletedRevisionFreesItsSpaceAndLeavesNoBytes) {  // S12
  auto store = Open();
  ASSERT_TRUE(CreateModel(*store, "wing").ok());
  std::string bytes;
  while (bytes.size() < 200000) bytes += "mark-of-the-checkpoint-";
  const auto add = [&](const std::string& checkpoint) {
    ASSERT_TRUE(store
                    ->Write([&](StoreTransaction& t) {
                      EXPECT_TRUE(t.AddRevision("wing", "mark-of-the-metadata", checkpoint).ok());
                      return absl::OkStatus();
                    })
                    .ok());
  };
  add(bytes);
  const auto size = std::filesystem::file_size(File());
  ASSERT_TRUE(store->Write([](StoreTransaction& t) { return t.DeleteRevision("wing", 0, 1); }).ok());
  EXPECT_EQ(Bytes().find("mark-of-the"), std::string::npos);
  add(std::string(200000, 'x'));  // into the pages that are free now
  EXPECT_EQ(std::filesystem::file_size(File()), size);
}

TEST_F(SqliteStoreTest, CheckKnowsDeletedRevisions) {  // S9, S10
  const auto fill = [this] {
    std::filesystem::remove(File());
    auto store = Open();
    ASSERT_TRUE(CreateModel(*store, "wing").ok());
    ASSERT_TRUE(Fill(*store, "wing").ok());
    ASSERT_TRUE(store->Write([](StoreTransaction& t) { return t.DeleteRevision("wing", 0, 1); }).ok());
    EXPECT_TRUE(store->Check()->empty());
  };
  for (const char* damage :
       {"DELETE FROM revisions WHERE id=1", "INSERT INTO checkpoints VALUES(1, 1, x'00', 0)",
        "UPDATE revisions SET checkpoint_bytes=3 WHERE id=1", "UPDATE revisions SET checkpoint_bytes=-1 WHERE id=2"}) {
    SCOPED_TRACE(damage);
    fill();
    Sql(damage);
    EXPECT_FALSE(Open()->Check()->empty());
  }
}

TEST_F(SqliteStoreTest, ASymbolicLinkMayLeadToTheDirectory) {
  const std::string link = directory_ / "link", real = directory_ / "real";
  std::filesystem::create_directory(real);
  std::filesystem::create_directory_symlink(real, link);
  for (const std::string& path : {link, link + "/", link + "/sub"}) {
    auto store = OpenAt(path);
    ASSERT_TRUE(store.ok()) << path << ": " << store.status();
    EXPECT_TRUE(CreateModel(**store, "wing").ok() || path != link);
  }
  EXPECT_TRUE(std::filesystem::exists(real + "/" + kDatabaseFile));
  EXPECT_TRUE(OpenAt(real).value()->GetModel("wing").ok());
}

TEST_F(SqliteStoreTest, ALinkInPlaceOfTheFileIsRefusedWithTheReason) {
  std::filesystem::create_symlink(directory_ / "elsewhere.db", File());
  const absl::Status status = OpenAt(directory_.path()).status();
  EXPECT_TRUE(IsError(status, absl::StatusCode::kFailedPrecondition, {File(), "is a symbolic link"}));
  EXPECT_FALSE(absl::StrContains(status.message(), "Success")) << status;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "elsewhere.db"));
}

TEST_F(SqliteStoreTest, FilesAreForTheirOwnerAlone) {
  const auto mode = [](const std::string& path) {
    return static_cast<int>(std::filesystem::status(path).permissions() & std::filesystem::perms::all);
  };
  TempDirectory other;
  for (const mode_t mask : {mode_t{0}, mode_t{0277}}) {
    const mode_t before = umask(mask);
    const std::string place = directory_ / absl::StrCat("new-", mask);
    {
      auto store = OpenAt(place);
      ASSERT_TRUE(store.ok()) << store.status();
      ASSERT_TRUE(CreateModel(**store, "wing").ok());
      EXPECT_EQ(mode(place), 0700);
      EXPECT_EQ(mode(place + "/" + kDatabaseFile), 0600);
      EXPECT_EQ(mode(place + "/" + kDatabaseFile + "-journal"), 0600);
      EXPECT_TRUE((*store)->Backup(other / absl::StrCat(mask)).ok());
      EXPECT_EQ(mode(other / absl::StrCat(mask)), 0600);
    }
    umask(before);
  }
  // What an earlier version left readable.
  const std::string old = directory_ / absl::StrCat("new-", 0) + "/" + kDatabaseFile;
  std::filesystem::permissions(old, std::filesystem::perms(0644));
  ASSERT_TRUE(OpenAt(directory_ / absl::StrCat("new-", 0)).ok());
  EXPECT_EQ(mode(old), 0600);
}

TEST_F(SqliteStoreTest, ASettingThatDoesNotHoldIsNoticed) {
  FaultVfs vfs;
  for (const char* name : {"foreign_keys", "journal_mode", "locking_mode", "temp_store", "cell_size_check"}) {
    vfs.ignored_pragma = name;
    EXPECT_TRUE(IsError(OpenSqliteStore({.directory = directory_.path(), .vfs = vfs.name()}).status(),
                        absl::StatusCode::kFailedPrecondition, {"setting", name}));
  }
  vfs.ignored_pragma.clear();
  EXPECT_TRUE(OpenSqliteStore({.directory = directory_.path(), .vfs = vfs.name()}).ok());
}

TEST_F(SqliteStoreTest, BackupIsAStoreOfItsOwn) {
  auto store = Open();
  for (const char* name : {"a", "b"}) {
    ASSERT_TRUE(CreateModel(*store, name).ok());
    ASSERT_TRUE(Fill(*store, name).ok());
  }
  const std::string truth = Everything(*store, "a").value();
  TempDirectory other;
  ASSERT_TRUE(store->Backup(other / kDatabaseFile).ok());
  EXPECT_TRUE(IsError(store->Backup(other / kDatabaseFile), absl::StatusCode::kAlreadyExists, {other.path()}));
  EXPECT_FALSE(std::filesystem::exists(other / (std::string(kDatabaseFile) + ".partial")));
  ASSERT_TRUE(Append(*store, "a", 9).ok());
  auto copy = OpenAt(other.path());
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(Everything(**copy, "a").value(), truth);
  EXPECT_TRUE((*copy)->Check()->empty());
  EXPECT_TRUE(Append(**copy, "a", 3).ok());
  EXPECT_TRUE(IsError(store->Backup("/nowhere/at/all"), absl::StatusCode::kFailedPrecondition, {"/nowhere/at/all"}));
}

}  // namespace
}  // namespace fidelio
