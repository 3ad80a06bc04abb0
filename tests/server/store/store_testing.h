// Short ways to write to a Store, for tests.
#ifndef FIDELIO_TESTS_SERVER_STORE_STORE_TESTING_H_
#define FIDELIO_TESTS_SERVER_STORE_STORE_TESTING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/store/sqlite_store.h"
#include "server/store/store.h"

namespace fidelio {

inline bool operator==(const RequestRecord& a, const RequestRecord& b) {
  return a.digest == b.digest && a.answer == b.answer && a.erased == b.erased && a.time == b.time;
}

// Bit for bit, so that −0 is not 0 and NaN is itself.
bool SameBlock(const ObservationBlock& a, const ObservationBlock& b);

// A batch of `parts` blocks of 2 points in 2 dimensions, all of whose numbers follow from `seed`.
std::vector<ObservationBlock> Batch(int seed, int parts = 1);

absl::Status CreateModel(Store& store, const std::string& model, const std::string& spec = "");
absl::Status DeleteModel(Store& store, const std::string& model);
absl::Status Append(Store& store, const std::string& model, int seed, int parts = 1);

// Gives a model some of everything: 3 batches, 3 fits (one of them running, with a saved state), 2 revisions, 2 requests.
absl::Status Fill(Store& store, const std::string& model);

// Everything that can be read of a model, as text; or the error of the first call that failed.
absl::StatusOr<std::string> Everything(const Store& store, const std::string& model);

// A store whose clock always says `now`.
absl::StatusOr<std::unique_ptr<Store>> OpenAt(const std::string& directory,
                                              absl::Time now = absl::FromUnixSeconds(1000));

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SERVER_STORE_STORE_TESTING_H_
