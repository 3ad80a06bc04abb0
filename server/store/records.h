// What a Store keeps, as plain values. The store knows names, numbers, states and bytes; what `spec`, `options`, `progress`,
// `metadata` and `answer` mean is the business of the layers above.
#ifndef FIDELIO_SERVER_STORE_RECORDS_H_
#define FIDELIO_SERVER_STORE_RECORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace fidelio {

struct ModelRecord {
  std::string name = {};
  // Starts at 1 and grows by one with each change of spec, data_version or current_revision. Fits and requests leave it.
  int64_t etag = 0;
  std::string spec = {};
  int64_t data_version = 0;                // number of changes of the observations
  std::vector<int64_t> observations = {};  // points in use per level; as long as the highest level seen needs
  int64_t fits = 0;                        // fits so far: their ids are 1 … fits
  int64_t revisions = 0;                   // revisions so far, deleted ones included: their ids are 1 … revisions
  int64_t current_revision = 0;            // 0: none yet
  absl::Time created = absl::UnixEpoch();
  absl::Time updated = absl::UnixEpoch();  // when etag last changed
  // Not empty when the model is quarantined, and then says why. Only ListModels gives such records; `name` is right, all
  // else may be missing.
  std::string damage = {};
};

struct ModelPage {
  std::vector<ModelRecord> models = {};  // by name
  std::string next = {};                 // pass as `after` to go on; empty when there is no more
};

// Observations of one level within one batch.
struct ObservationBlock {
  int level = 0;                          // 0 … kMaxLevels − 1
  int64_t rows = 0;                       // points, at least 1
  int64_t cols = 0;                       // input dimension, at least 1
  std::vector<double> x = {};             // rows × cols, row-major
  std::vector<double> y = {};             // rows
  std::vector<double> noise = {};         // variance per point: rows values, or none
  std::vector<std::string> run_ids = {};  // one per point, 1 to 64 bytes each, or none
};

// Points of one stored block, named by its place.
struct RowRange {
  int64_t data_version = 0;
  int part = 0;
  int level = 0;      // of the block
  int64_t first = 0;  // row of the block, from 0
  int64_t count = 0;  // at least 1
};

// Points that are no longer in use. What was stored stays, as history.
struct WithdrawnRows {
  bool corrected = false;  // other points of the same version replace them
  std::vector<RowRange> rows = {};
  std::string reason = {};  // for people, at most kMaxReasonBytes
};

// A part of a version of the observations: points that were added, or points that were withdrawn.
struct StoredBlock {
  int64_t data_version = 0;  // of the version that it belongs to
  int part = 0;              // its place in the version, from 0
  int64_t first_row = 0;     // number of points in the parts of the version before it
  absl::Time created = absl::UnixEpoch();
  ObservationBlock block = {};  // without rows when `withdrawn` is there
  std::optional<WithdrawnRows> withdrawn = {};
};

// A place between blocks. Blocks are ordered by (data_version, part).
struct ObservationCursor {
  int64_t data_version = 0;
  int part = 0;
};

struct ObservationQuery {
  ObservationCursor from = {1, 0};  // the first block wanted; {v + 1, 0} begins after batch v
  int64_t last_version = 0;         // the last batch wanted; 0: the newest
  int64_t max_points =
      int64_t{1} << 62;  // a page ends with the part that reaches this (a withdrawal counts as 1): it has at least one
};

struct ObservationPage {
  std::vector<StoredBlock> blocks = {};
  std::optional<ObservationCursor> next = {};  // where the next page begins; absent when there is no more
};

// The numbers are part of the byte format.
enum class FitState { kPending = 1, kRunning = 2, kSucceeded = 3, kFailed = 4, kCancelled = 5 };

inline bool IsFinished(FitState state) { return state >= FitState::kSucceeded; }

struct FitRecord {
  int64_t id = 0;
  FitState state = FitState::kPending;
  std::string options = {};
  int64_t data_version = 0;   // the snapshot it learns from; set at creation, may be changed while PENDING
  std::string progress = {};  // the last known
  std::string error = {};     // why it FAILED (or was CANCELLED)
  int64_t revision = 0;       // the revision that it made; 0: none
  bool has_saved_state = false;
  absl::Time created = absl::UnixEpoch();
  absl::Time started = absl::InfinitePast();     // first RUNNING; InfinitePast: not yet
  absl::Time finished = absl::InfiniteFuture();  // InfiniteFuture: not yet
};

// What UpdateFit changes; what is absent stays.
struct FitChange {
  std::optional<FitState> state = {};
  std::optional<int64_t> data_version = {};
  std::optional<std::string> progress = {};
  std::optional<std::string> error = {};
  std::optional<int64_t> revision = {};
  std::optional<std::string> saved_state = {};  // of the running fit, to resume from; dropped when the fit finishes
};

struct FitPage {
  std::vector<FitRecord> fits = {};  // by id
  int64_t next = 0;                  // pass as `after` to go on; 0 when there is no more
};

struct UnfinishedFit {
  std::string model = {};
  int64_t id = 0;
};

struct RevisionRecord {
  int64_t id = 0;
  std::string metadata = {};
  int64_t checkpoint_bytes = 0;  // −1 only inside the store: the revision was deleted
  std::string sha256 = {};       // of the checkpoint: 32 bytes
  absl::Time created = absl::UnixEpoch();
};

struct RevisionPage {
  std::vector<RevisionRecord> revisions = {};  // by id
  int64_t next = 0;                            // pass as `after` to go on; 0 when there are no more ids
};

// Who asked for a mutation and under which id: unique in a store, across all models.
struct RequestKey {
  std::string principal = {};
  std::string request_id = {};
};

struct RequestRecord {
  std::string digest = {};  // of the request's body
  std::string answer = {};
  bool erased = false;  // the model was deleted since, and the answer with it; the digest remains
  absl::Time time = absl::UnixEpoch();
};

// Something wrong that Check found.
struct Finding {
  std::string model = {};  // empty: the store as a whole, or no model that it can be attributed to
  std::string text = {};   // in plain words
};

// Limits of every store; what is beyond them is INVALID_ARGUMENT.
inline constexpr int kMaxLevels = 256;
inline constexpr size_t kMaxRunIdBytes = 64;
inline constexpr size_t kMaxReasonBytes = 1024;
inline constexpr int64_t kMaxBlobBytes = int64_t{900} << 20;  // of one column: spec, checkpoint, inputs of a block, …

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_RECORDS_H_
