#include "server/store/scrub_vfs.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

using Page = std::array<unsigned char, 512>;

// A leaf page of a table with two cells in its last 100 bytes, and garbage everywhere.
Page LeafPage(int header) {
  Page page;
  page.fill(0xEE);
  unsigned char* btree = page.data() + header;
  btree[0] = 0x0D;
  btree[3] = 0;
  btree[4] = 2;
  btree[5] = 412 >> 8;
  btree[6] = 412 & 0xff;
  return page;
}

TEST(ScrubPageTest, ZeroesExactlyTheGapBetweenPointersAndCells) {  // S12
  for (const int header : {0, 100}) {
    const Page page = LeafPage(header);
    Page scrubbed{};
    ASSERT_TRUE(ScrubPage(page.data(), 512, header == 100 ? 1 : 2, scrubbed.data()));
    Page expected = page;
    std::fill(expected.begin() + header + 8 + 4, expected.begin() + 412, 0);
    EXPECT_EQ(scrubbed, expected);
    // Once is enough.
    EXPECT_FALSE(ScrubPage(expected.data(), 512, header == 100 ? 1 : 2, scrubbed.data()));
  }
}

TEST(ScrubPageTest, CountsTheChildPointerOfInteriorPages) {  // S12
  Page page = LeafPage(0);
  page[0] = 0x05;
  Page scrubbed{};
  ASSERT_TRUE(ScrubPage(page.data(), 512, 2, scrubbed.data()));
  EXPECT_EQ(scrubbed[15], 0xEE);
  EXPECT_EQ(scrubbed[16], 0);
}

TEST(ScrubPageTest, LeavesOtherPagesAlone) {
  Page scrubbed{};
  Page overflow = LeafPage(0);
  for (const int high_byte_of_page_number : {0, 1}) {  // the most that kMaxPages allows
    overflow[0] = static_cast<unsigned char>(high_byte_of_page_number);
    EXPECT_FALSE(ScrubPage(overflow.data(), 512, 2, scrubbed.data()));
  }
  static_assert(kMaxPages >> 24 == 1);
}

TEST(ScrubPageTest, LeavesPagesWithAnImpossibleHeaderAlone) {
  Page scrubbed{};
  Page page = LeafPage(0);
  page[5] = 0x7F;  // contents begin after the end of the page
  EXPECT_FALSE(ScrubPage(page.data(), 512, 2, scrubbed.data()));
  page = LeafPage(0);
  page[3] = 0x10;  // pointers reach beyond the contents
  EXPECT_FALSE(ScrubPage(page.data(), 512, 2, scrubbed.data()));
}

TEST(ScrubVfsTest, AnErrorNumberBelongsToOneFailureAlone) {
  auto vfs = *ScrubVfs::Register("");
  EXPECT_EQ(vfs->ErrnoOf(SQLITE_IOERR_WRITE), 0);
  vfs->NoteResult(SQLITE_IOERR_WRITE, EFBIG);
  EXPECT_EQ(vfs->ErrnoOf(SQLITE_IOERR_WRITE), EFBIG);
  EXPECT_EQ(vfs->ErrnoOf(SQLITE_IOERR_DELETE), 0);
  vfs->NoteResult(SQLITE_OK, ENOSPC);
  EXPECT_EQ(vfs->ErrnoOf(SQLITE_IOERR_WRITE), EFBIG);
  vfs->Forget();
  EXPECT_EQ(vfs->ErrnoOf(SQLITE_IOERR_WRITE), 0);
}

TEST(ScrubVfsTest, RefusesAnUnknownBase) {
  EXPECT_EQ(ScrubVfs::Register("nonsense").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace fidelio
