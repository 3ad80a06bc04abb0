// A single flipped bit anywhere in the file is detected or without effect; it never makes a wrong answer (FORMAT.md, S1–S11).
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/store/schema.h"
#include "server/store/sqlite_store.h"
#include "tests/server/store/fault_vfs.h"
#include "tests/server/store/store_testing.h"
#include "tests/support/status.h"
#include "tests/support/temp_directory.h"

namespace fidelio {
namespace {

constexpr int64_t kPage = 4096;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

bool IsDetection(const absl::Status& status) { return absl::IsDataLoss(status); }

class BitFlipTest : public ::testing::Test {
 protected:
  BitFlipTest() {
    vfs_.skip_syncs = true;
    auto store = Open();
    EXPECT_TRUE(store.ok()) << store.status();
    for (const char* name : {"gone", "fin", "keel", "mast", "tail", "wing"}) {
      EXPECT_TRUE(CreateModel(**store, name, absl::StrCat("spec of ", name)).ok());
      EXPECT_TRUE(Fill(**store, name).ok());
    }
    // Free pages and requests about a model that is gone are part of the file, too.
    EXPECT_TRUE(DeleteModel(**store, "gone").ok());
    for (const char* name : {"fin", "keel", "mast", "tail", "wing"}) truth_[name] = Everything(**store, name).value();
    store->reset();
    original_ = ReadFile(file_);
    EXPECT_EQ(original_.size() % kPage, 0u);
  }

  absl::StatusOr<std::unique_ptr<Store>> Open() {
    return OpenSqliteStore({.directory = directory_.path(),
                            .on_repair = [this](const std::string&) { ++repaired_; },
                            .clock = [] { return absl::FromUnixSeconds(1000); },
                            .vfs = vfs_.name()});
  }

  // Flips a bit, then reads everything, writes to every model, and reads everything again.
  void Try(size_t byte, int bit) {
    SCOPED_TRACE(absl::StrCat("byte ", byte % kPage, " of page ", byte / kPage + 1, ", bit ", bit));
    std::string flipped = original_;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << bit));
    WriteFile(file_, flipped);
    std::filesystem::remove(file_ + "-journal");
    auto store = Open();
    if (!store.ok()) {
      // A flipped user_version looks like a format of the future.
      const bool version = absl::IsFailedPrecondition(store.status()) && byte >= 60 && byte < 64;
      EXPECT_TRUE(IsDetection(store.status()) || version) << store.status();
      ++refused_;
      return;
    }
    bool damaged = !Same(**store, truth_);
    damaged |= !OrphanRequestIsReplayed(**store);
    std::map<std::string, std::string> after;
    for (const auto& [name, text] : truth_) {
      const absl::Status status = Append(**store, name, 9);
      EXPECT_TRUE(status.ok() || IsDetection(status)) << status;
      const auto now = Everything(**store, name);
      EXPECT_TRUE(now.ok() || IsDetection(now.status())) << now.status();
      if (status.ok() && now.ok()) {
        EXPECT_NE(*now, text);
        after[name] = *now;
      } else {
        damaged = true;
      }
    }
    const auto findings = (*store)->Check();
    ASSERT_TRUE(findings.ok()) << findings.status();
    EXPECT_FALSE(damaged && findings->empty()) << "Check does not see the damage";
    ++(damaged ? quarantined_ : harmless_);
    store->reset();
    store = Open();
    EXPECT_TRUE(store.ok() || IsDetection(store.status())) << store.status();
    if (store.ok()) Same(**store, after);
  }

  // All of `truth` is there, bit for bit, or DATA_LOSS; and every model is listed. False when there is any DATA_LOSS.
  bool Same(const Store& store, const std::map<std::string, std::string>& truth) {
    bool same = true;
    for (const auto& [name, text] : truth) {
      const auto now = Everything(store, name);
      EXPECT_TRUE(now.ok() || IsDetection(now.status())) << now.status();
      if (now.ok()) {
        EXPECT_EQ(*now, text);
      }
      same &= now.ok();
    }
    const auto page = store.ListModels("", "", 100);
    EXPECT_TRUE(page.ok());
    EXPECT_EQ(page->models.size(), truth_.size());
    return same;
  }

  bool OrphanRequestIsReplayed(const Store& store) {
    const auto request = store.FindRequest("gone", {"gone", "1"});
    EXPECT_TRUE(request.ok() || IsDetection(request.status())) << request.status();
    if (!request.ok()) return false;
    EXPECT_TRUE(request->has_value());
    return true;
  }

  TempDirectory directory_;
  const std::string file_ = directory_ / kDatabaseFile;
  FaultVfs vfs_;
  std::string original_;
  std::map<std::string, std::string> truth_;
  int refused_ = 0, repaired_ = 0, quarantined_ = 0, harmless_ = 0;
};

TEST_F(BitFlipTest, AnywhereIsDetectedOrHarmless) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<size_t> bytes(0, original_.size() - 1);
  std::uniform_int_distribution<int> bits(0, 7);
  for (int i = 0; i < 250; ++i) {
    const size_t byte = bytes(random);
    Try(byte, bits(random));
  }
  EXPECT_GT(quarantined_, 50);
  EXPECT_GT(harmless_, 10);
}

TEST_F(BitFlipTest, InTheHeadersOfPagesIsDetectedOrHarmless) {
  // Flags, free blocks, number of cells, start of the contents, and the first pointers to cells or children.
  std::mt19937_64 random(2);
  std::uniform_int_distribution<int> bits(0, 7), offsets(0, 23);
  const size_t pages = original_.size() / kPage;
  for (size_t page = 1; page < pages; ++page) {
    for (int i = 0; i < 6; ++i) {
      const auto offset = static_cast<size_t>(offsets(random));
      Try(page * kPage + offset, bits(random));
    }
  }
  EXPECT_GT(quarantined_, 20);
}

TEST_F(BitFlipTest, InTheHeaderOfTheFileIsDetectedOrHarmless) {
  std::mt19937_64 random(3);
  std::uniform_int_distribution<int> bits(0, 7);
  for (size_t byte = 0; byte < 124; ++byte) Try(byte, bits(random));
  EXPECT_GT(repaired_, 30);
  EXPECT_LT(refused_, 20);  // user_version, the number of pages, and free pages
}

TEST_F(BitFlipTest, InTheSchemaIsUndone) {
  std::mt19937_64 random(5);
  std::uniform_int_distribution<size_t> bytes(100, kPage - 1);
  std::uniform_int_distribution<int> bits(0, 7);
  for (int i = 0; i < 150; ++i) {
    const size_t byte = bytes(random);
    Try(byte, bits(random));
  }
  EXPECT_EQ(refused_, 0);
  EXPECT_EQ(quarantined_, 0);
  EXPECT_GT(repaired_, 80);
}

TEST_F(BitFlipTest, InEveryFieldThatSaysWhereATableIsIsUndone) {
  // "observations" is the name, then the table's name, then its first page (7), then its declaration.
  const std::string names = "tableobservationsobservations\x07";
  const size_t at = original_.find(names);
  ASSERT_NE(at, std::string::npos);
  for (int bit = 0; bit < 8; ++bit) Try(at + names.size() - 1, bit);
  EXPECT_EQ(repaired_, 8);
  EXPECT_EQ(quarantined_, 0);
}

TEST_F(BitFlipTest, ASchemaThatIsNotRecognisableIsRefusedWithAdvice) {
  std::string damaged = original_;
  for (size_t byte = 2000; byte < 2600; ++byte) damaged[byte] ^= 1;
  WriteFile(file_, damaged);
  EXPECT_TRUE(IsError(Open().status(), absl::StatusCode::kDataLoss, {file_, "restore a backup"}));
  EXPECT_EQ(repaired_, 0);
  EXPECT_EQ(ReadFile(file_), damaged);
  // A sector of it can be restored, and nothing is left of the work.
  damaged = original_;
  for (size_t byte = 2048; byte < 2560; ++byte) damaged[byte] = 0;
  WriteFile(file_, damaged);
  auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(repaired_, 1);
  Same(**store, truth_);
  store->reset();
  EXPECT_EQ(ReadFile(file_), original_);
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    EXPECT_NE(entry.path().filename().string().find(kDatabaseFile), std::string::npos);
    EXPECT_EQ(entry.path().string().find("-new"), std::string::npos) << entry.path();
  }
}

TEST_F(BitFlipTest, InTheJournalOfAnUnfinishedCommitIsDetectedOrHarmless) {
  // The files just before the last sync of a commit: all pages are written, and the journal still says how to undo that.
  std::string database, journal;
  auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status();
  vfs_.before_sync = [&] {
    std::string now = ReadFile(file_);
    if (now != original_ && database.empty()) {
      database = std::move(now);
      journal = ReadFile(file_ + "-journal");
    }
  };
  const absl::Status status = (*store)->Write([](StoreTransaction& t) {
    EXPECT_TRUE(t.AppendObservations("keel", Batch(7, 4)).ok());
    EXPECT_TRUE(t.AddRevision("keel", "third", std::string(9000, 'r')).ok());
    EXPECT_TRUE(t.SetCurrentRevision("keel", 0, 3).ok());
    EXPECT_TRUE(t.UpdateFit("keel", 2, {.state = FitState::kSucceeded, .revision = 3}).ok());
    return t.RecordRequest("keel", {"keel", "3"}, "", "answer");
  });
  ASSERT_TRUE(status.ok()) << status;
  vfs_.before_sync = nullptr;
  const std::string after = Everything(**store, "keel").value();
  store->reset();
  ASSERT_FALSE(journal.empty());

  std::mt19937_64 random(4);
  int undone = 0, done = 0, lost = 0;
  for (int i = 0; i < 200; ++i) {
    // Every other flip is in the header or the first record's head; the first time there is none.
    const size_t byte = random() % (i % 2 == 0 ? journal.size() : 520);
    const int bit = static_cast<int>(random() % 8);
    SCOPED_TRACE(absl::StrCat("byte ", byte, " of the journal, bit ", bit));
    std::string flipped = journal;
    if (i > 0) flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << bit));
    WriteFile(file_, database);
    WriteFile(file_ + "-journal", flipped);
    store = Open();
    if (!store.ok()) {
      EXPECT_TRUE(IsDetection(store.status())) << store.status();
      ++lost;
      continue;
    }
    for (const auto& [name, text] : truth_) {
      const auto now = Everything(**store, name);
      if (!now.ok()) {
        EXPECT_TRUE(IsDetection(now.status())) << now.status();
        ++lost;
      } else if (*now == text) {
        undone += name == "keel" ? 1 : 0;
      } else {
        EXPECT_EQ(name, "keel");
        EXPECT_EQ(*now, after);
        ++done;
      }
    }
    if (i == 0) {
      EXPECT_EQ(undone, 1);
    }
    store->reset();
  }
  EXPECT_GT(undone, 10);
  EXPECT_GT(done + lost, 10);
}

TEST_F(BitFlipTest, OfOneModelLeavesTheOthersAlone) {
  // In the middle of the first model's checkpoint: no page that others need.
  const size_t at = original_.find(absl::StrCat("keel", std::string(200, 'k')));
  ASSERT_NE(at, std::string::npos);
  std::string flipped = original_;
  flipped[at + 100] ^= 1;
  WriteFile(file_, flipped);
  auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status();
  const absl::Status status = (*store)->ReadCheckpoint("keel", 1).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  for (const char* name : {"fin", "mast", "tail", "wing"}) {
    EXPECT_EQ(Everything(**store, name).value(), truth_[name]);
    EXPECT_TRUE(Append(**store, name, 5).ok());
  }
  // Quarantined: calls that need not touch the damage fail, too, but it is listed, with the reason, and can be deleted.
  EXPECT_TRUE(absl::IsDataLoss((*store)->GetModel("keel").status()));
  EXPECT_TRUE(absl::IsDataLoss(Append(**store, "keel", 5)));
  const auto page = (*store)->ListModels("keel", "", 1);
  ASSERT_EQ(page->models.size(), 1u);
  EXPECT_NE(page->models[0].damage.find("revision 1"), std::string::npos) << page->models[0].damage;
  EXPECT_EQ((*store)->Check()->front().model, "keel");
  ASSERT_TRUE(DeleteModel(**store, "keel").ok());
  EXPECT_TRUE((*store)->Check()->empty());
}

}  // namespace
}  // namespace fidelio
