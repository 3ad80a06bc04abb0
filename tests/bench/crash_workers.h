// What happens to a server while `crash` kills it: a writer, a fitter and a reader, each a loop in a thread of its own
// that remembers what it was promised.
//
// Each worker belongs to its thread until that is joined.
#ifndef FIDELIO_TESTS_BENCH_CRASH_WORKERS_H_
#define FIDELIO_TESTS_BENCH_CRASH_WORKERS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "core/base/types.h"
#include "fidelio/v1/emulator.grpc.pb.h"
#include "tests/bench/endpoint.h"

namespace fidelio::bench {

inline constexpr int kBatchSize = 4;

// Batch number b of a model: inputs that no other batch has, and outputs that belong to them.
v1::AddObservationsRequest MakeBatch(const std::string& model, int64_t b);

// Sends batch after batch to one model, each until it is acknowledged.
class BatchWriter {
 public:
  BatchWriter(Endpoint* endpoint, std::string model) : endpoint_(endpoint), model_(std::move(model)) {}

  absl::Status WriteNext();

  int64_t acknowledged() const { return static_cast<int64_t>(data_versions_.size()); }

  // What is on the server against what was acknowledged; batches of other numbers count as duplicated.
  struct Audit {
    int64_t lost = 0;
    int64_t duplicated = 0;
    int64_t altered = 0;  // other bits, or another data_version than was answered
  };
  absl::StatusOr<Audit> Check() const;

 private:
  Endpoint* const endpoint_;
  const std::string model_;
  std::vector<int64_t> data_versions_;  // as answered, by batch
};

// Adds data to a model and fits it, again and again.
class Fitter {
 public:
  Fitter(Endpoint* endpoint, const std::string& model) : endpoint_(endpoint), model_(model), writer_(endpoint, model) {}

  absl::Status FitNext();

  int64_t fits() const { return static_cast<int64_t>(revisions_.size()); }
  int64_t resumed() const { return resumed_; }  // how often a fit went on from a checkpoint
  const BatchWriter& writer() const { return writer_; }

  // Fits on the server that have not ended, or have ended otherwise than was answered, or were never asked for.
  absl::StatusOr<int64_t> CountStuck() const;

 private:
  Endpoint* const endpoint_;
  const std::string model_;
  BatchWriter writer_;
  std::vector<std::string> revisions_;  // as answered, by fit
  int64_t resumed_ = 0;
};

// Predicts with the current revision and with those it has seen before, and compares bits.
class Reader {
 public:
  Reader(Endpoint* endpoint, const std::string& model);

  // OK also when there is no revision yet.
  absl::Status ReadNext();
  // All revisions that were seen, once more.
  absl::Status ReadAll();

  int64_t predictions() const { return predictions_; }
  int64_t differences() const { return differences_; }
  int64_t revisions() const { return static_cast<int64_t>(answers_.size()); }

 private:
  absl::Status Read(const std::string& revision);

  Endpoint* const endpoint_;
  v1::PredictRequest request_;
  std::map<std::string, std::string> answers_;  // by revision: the prediction, serialized
  int64_t turn_ = 0;
  int64_t predictions_ = 0;
  int64_t differences_ = 0;
};

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_CRASH_WORKERS_H_
