#include "server/store/sqlite_store.h"
#include "tests/server/store/store_contract.h"
#include "tests/support/temp_directory.h"

namespace fidelio {
namespace {

struct SqliteHarness {
  absl::StatusOr<std::unique_ptr<Store>> Open(absl::Time now) { return OpenAt(directory / "data", now); }
  TempDirectory directory;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, StoreContractTest, SqliteHarness);

}  // namespace
}  // namespace fidelio
