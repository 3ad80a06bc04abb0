// Metrics: what the server counts and measures, in the format of Prometheus.
//
//   fidelio_calls_total{method,code}  fidelio_call_seconds{method}  fidelio_call_{received,sent}_bytes_total{method}
//   fidelio_fit_queue_length  fidelio_fits_running  fidelio_fits_total{state}  fidelio_fit_seconds
//   fidelio_model_cache_{bytes,models}  fidelio_model_cache_{hits,misses,evictions}_total
//   fidelio_store_commits_total{result}  fidelio_store_commit_seconds  fidelio_build_info{version}  process_*
//
// Labels take few values, whatever clients send: methods are those named at construction, all others count as "other".
// Thread-safe; recording takes no lock beyond a histogram's.
#ifndef FIDELIO_SERVER_TELEMETRY_METRICS_H_
#define FIDELIO_SERVER_TELEMETRY_METRICS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

namespace prometheus {
class Collectable;
class Counter;
class Gauge;
class Histogram;
class Registry;
template <typename T>
class Family;
}  // namespace prometheus

namespace fidelio {

class Metrics {
 public:
  Metrics(const std::vector<std::string>& methods, const std::string& version);
  ~Metrics();

  void RecordCall(std::string_view method, absl::StatusCode code, double seconds, int64_t bytes_in, int64_t bytes_out);

  void SetFits(int64_t queued, int64_t running);
  enum class FitState { kSucceeded, kFailed, kCancelled };
  void RecordFit(FitState state, double seconds);

  void SetCache(int64_t bytes, int64_t models);
  void RecordCacheLookup(bool hit);
  void RecordCacheEviction();

  // A connection was cut off because of what its client did.
  void RecordCutConnection();

  // The tokens file was found bad.
  void RecordTokensFileError();

  void RecordCommit(bool ok, double seconds);

  // Everything, as Prometheus reads it. Process metrics are read at this moment.
  std::string Serialize() const;

 private:
  static constexpr size_t kCodes = 17;  // of absl::StatusCode
  struct Method {
    std::string name;
    // Made at the first call that ends with the code, so that only what happened is shown.
    std::array<std::atomic<prometheus::Counter*>, kCodes> calls{};
    prometheus::Histogram* seconds = nullptr;
    prometheus::Counter* received = nullptr;
    prometheus::Counter* sent = nullptr;
  };

  // All pointers point into the registry.
  const std::unique_ptr<prometheus::Registry> registry_;
  const std::unique_ptr<prometheus::Collectable> process_;
  prometheus::Family<prometheus::Counter>* calls_;
  absl::flat_hash_map<std::string, std::unique_ptr<Method>> methods_;  // constant after construction
  Method* other_;
  prometheus::Gauge* queue_length_;
  prometheus::Gauge* fits_running_;
  std::array<prometheus::Counter*, 3> fits_;
  prometheus::Histogram* fit_seconds_;
  prometheus::Gauge* cache_bytes_;
  prometheus::Gauge* cache_models_;
  prometheus::Counter* cache_hits_;
  prometheus::Counter* cache_misses_;
  prometheus::Counter* cache_evictions_;
  prometheus::Counter* cut_connections_;
  prometheus::Counter* tokens_file_errors_;
  std::array<prometheus::Counter*, 2> commits_;
  prometheus::Histogram* commit_seconds_;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_TELEMETRY_METRICS_H_
