// Arguments and results of calls whose messages contain matrices, with Eigen types.
//
// Models, fits, revisions and the server's description are messages of the contract (fidelio::v1).
#ifndef FIDELIO_CLIENT_CPP_TYPES_H_
#define FIDELIO_CLIENT_CPP_TYPES_H_

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "fidelio/v1/observation.pb.h"
#include "fidelio/v1/prediction.pb.h"
#include "google/protobuf/timestamp.pb.h"

namespace fidelio::client {

// Observations of one fidelity, n ≥ 1 of them.
struct Observations {
  std::optional<int> level = {};          // 0 (lowest) to T−1; may be left out when the model has one fidelity
  Eigen::MatrixXd inputs = {};            // n×d
  Eigen::VectorXd outputs = {};           // n
  Eigen::VectorXd noise_variances = {};   // n known variances, one for all, or empty: learned
  std::vector<std::string> run_ids = {};  // n ids, or empty: the server makes them

  // In ListObservations only.
  int64_t data_version = 0;                       // that these observations made
  google::protobuf::Timestamp create_time = {};   // when they were committed
  std::optional<v1::Withdrawal> withdrawal = {};  // present when they are no longer in use
};

// What AddObservations does to the posterior that is served.
enum class ObservationUpdate {
  kNone,       // nothing: the next fit takes the observations into account
  kCondition,  // it takes them into account at once, hyperparameters kept, as a new revision
};

struct AddOptions {
  ObservationUpdate update = ObservationUpdate::kNone;
  v1::DuplicatePolicy duplicates = v1::DUPLICATE_POLICY_KEEP;  // what happens to exact copies
};

// What is suspicious about rows that were accepted.
struct ObservationWarning {
  v1::ObservationWarningKind kind = v1::OBSERVATION_WARNING_KIND_UNSPECIFIED;
  int64_t count = 0;               // of rows
  std::vector<int64_t> rows = {};  // the first of them, at most kMostWarningRows, from 0 over all batches
  std::string message = {};        // the same in words
};
inline constexpr size_t kMostWarningRows = 100;

// What AddObservations committed.
struct AddedObservations {
  int64_t data_version = 0;                       // that these observations made
  std::vector<int64_t> counts = {};               // observations in use per level, after the call
  std::string etag = {};                          // of the model, after the call
  std::string revision = {};                      // made by ObservationUpdate::kCondition; empty otherwise
  int64_t added = 0;                              // rows that were added
  int64_t skipped = 0;                            // copies that were left out, with DUPLICATE_POLICY_SKIP
  int64_t replayed = 0;                           // rows that were there already under their run ids
  std::vector<ObservationWarning> warnings = {};  // at most one of a kind
};

struct ListObservationsOptions {
  std::optional<int> level = {};                       // default: all
  bool show_withdrawn = false;                         // also those that were withdrawn or replaced
  int64_t most = std::numeric_limits<int64_t>::max();  // observations
};

// What CorrectObservations replaces.
struct Correction {
  std::vector<std::string> run_ids = {};  // n ≥ 1 different ones, all in use
  Eigen::VectorXd outputs = {};           // n, in the order of run_ids
  Eigen::VectorXd noise_variances = {};   // n, one for all, or empty: as they were
};

// What WithdrawObservations, WithdrawBatch and CorrectObservations committed.
struct ChangedObservations {
  int64_t data_version = 0;                // that the change made
  std::vector<int64_t> counts = {};        // observations in use per level, after the call
  std::string etag = {};                   // of the model, after the call
  int64_t changed = 0;                     // observations that were withdrawn or corrected
  int64_t current_revision_withdrawn = 0;  // that the current revision knows and that are no longer in use
};

struct PredictOptions {
  std::optional<int> level = {};       // default: the highest
  bool include_noise = false;          // predict a new observation instead of the function
  std::vector<double> quantiles = {};  // probabilities, each above 0 and below 1
  bool full_covariance = false;        // between all inputs
  bool input_gradient = false;         // of the mean by the inputs
  std::string revision = {};           // number or full name; default: the current one
  int64_t min_data_version = 0;        // FAILED_PRECONDITION unless the revision knows these observations
};

// A prediction at n inputs, in the user's units. What was not asked for is empty.
struct Prediction {
  Eigen::VectorXd mean = {};               // n
  Eigen::VectorXd variance = {};           // n
  Eigen::MatrixXd quantiles = {};          // n×q
  Eigen::MatrixXd covariance = {};         // n×n
  Eigen::MatrixXd input_gradient = {};     // n×d
  std::string revision = {};               // models/{model}/revisions/{revision}
  int64_t data_version = 0;                // that it knows
  Eigen::VectorXd median = {};             // n; empty from older servers
  std::vector<std::string> warnings = {};  // about these predictions, a sentence each
};

struct SampleOptions {
  int count = 1;                            // paths
  v1::PathKind kind = v1::PATH_KIND_JOINT;  // PATH_KIND_FUNCTION: functions, the same in every call
  std::optional<int> level = {};            // default: the highest
  uint64_t seed = 0;
  std::string revision = {};     // number or full name; default: the current one
  int64_t min_data_version = 0;  // FAILED_PRECONDITION unless the revision knows these observations
};

// Paths at n inputs, in the user's units.
struct PathSamples {
  Eigen::MatrixXd values = {};  // count×n: a path per row
  std::string revision = {};    // models/{model}/revisions/{revision}
  int64_t data_version = 0;     // that it knows
};

// Receives the next bytes of a file.
using WriteBytes = std::function<absl::Status(absl::string_view bytes)>;

// Returns at most `most` bytes of a file from `offset`; none at its end. Offsets increase, but may restart at 0.
using ReadBytes = std::function<absl::StatusOr<std::string>(int64_t offset, size_t most)>;

// Options of one call, including its retries.
struct CallOptions {
  std::optional<absl::Duration> timeout = {};  // default: ClientOptions.timeout; for WatchFit none
  std::string request_id = {};                 // of mutations. Default: a random one per call
  std::string etag = {};  // of mutations: ABORTED unless it is the model's current one. Default: not checked
};

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_TYPES_H_
