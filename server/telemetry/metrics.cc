#include "server/telemetry/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <iterator>
#include <utility>

#include "server/telemetry/process_metrics.h"

namespace fidelio {
namespace {

using prometheus::Histogram;
using prometheus::Registry;

const Histogram::BucketBoundaries& CallBuckets() {
  static const auto* buckets = new Histogram::BucketBoundaries{
      50e-6, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
  return *buckets;
}

const Histogram::BucketBoundaries& FitBuckets() {
  static const auto* buckets =
      new Histogram::BucketBoundaries{0.1, 0.3, 1, 3, 10, 30, 60, 300, 600, 1800, 3600, 4 * 3600, 24 * 3600};
  return *buckets;
}

prometheus::Family<prometheus::Counter>& Counters(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

prometheus::Gauge* Gauge(Registry& registry, const char* name, const char* help) {
  return &prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

prometheus::Family<Histogram>& Histograms(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

}  // namespace

Metrics::Metrics(const std::vector<std::string>& methods, const std::string& version)
    : registry_(std::make_unique<Registry>()), process_(std::make_unique<ProcessMetrics>()) {
  Registry& registry = *registry_;
  calls_ = &Counters(registry, "fidelio_calls_total", "Calls that ended, by method and status code");
  auto& seconds = Histograms(registry, "fidelio_call_seconds", "Time from the start of a call to its end");
  auto& received = Counters(registry, "fidelio_call_received_bytes_total", "Bytes of messages received");
  auto& sent = Counters(registry, "fidelio_call_sent_bytes_total", "Bytes of messages sent");
  const auto add_method = [&](const std::string& name) {
    auto method = std::make_unique<Method>();
    method->name = name;
    method->seconds = &seconds.Add({{"method", name}}, CallBuckets());
    method->received = &received.Add({{"method", name}});
    method->sent = &sent.Add({{"method", name}});
    Method* const pointer = method.get();
    methods_[name] = std::move(method);
    return pointer;
  };
  for (const std::string& name : methods) add_method(name);
  other_ = add_method("other");

  queue_length_ = Gauge(registry, "fidelio_fit_queue_length", "Fits that wait for a worker");
  fits_running_ = Gauge(registry, "fidelio_fits_running", "Fits that run");
  auto& fits = Counters(registry, "fidelio_fits_total", "Fits that ended, by final state");
  fits_ = {&fits.Add({{"state", "SUCCEEDED"}}), &fits.Add({{"state", "FAILED"}}), &fits.Add({{"state", "CANCELLED"}})};
  fit_seconds_ = &Histograms(registry, "fidelio_fit_seconds", "Work of fits that ended").Add({}, FitBuckets());

  cache_bytes_ = Gauge(registry, "fidelio_model_cache_bytes", "Memory of loaded models");
  cache_models_ = Gauge(registry, "fidelio_model_cache_models", "Loaded models");
  cache_hits_ = &Counters(registry, "fidelio_model_cache_hits_total", "Reads of a loaded model").Add({});
  cache_misses_ = &Counters(registry, "fidelio_model_cache_misses_total", "Reads that had to load a model").Add({});
  cache_evictions_ = &Counters(registry, "fidelio_model_cache_evictions_total", "Models dropped to make room").Add({});

  cut_connections_ =
      &Counters(registry, "fidelio_connections_cut_total", "Connections cut off because they gave up their calls")
           .Add({});
  tokens_file_errors_ =
      &Counters(registry, "fidelio_tokens_file_errors_total", "Times that the tokens file was found bad").Add({});

  auto& commits = Counters(registry, "fidelio_store_commits_total", "Transactions, by result");
  commits_ = {&commits.Add({{"result", "failed"}}), &commits.Add({{"result", "ok"}})};
  commit_seconds_ =
      &Histograms(registry, "fidelio_store_commit_seconds", "Time of a commit, with its fsync").Add({}, CallBuckets());

  prometheus::BuildGauge()
      .Name("fidelio_build_info")
      .Help("1, with the version as its label")
      .Register(registry)
      .Add({{"version", version}})
      .Set(1);
}

Metrics::~Metrics() = default;

void Metrics::RecordCall(std::string_view method, absl::StatusCode code, double seconds, int64_t bytes_in,
                         int64_t bytes_out) {
  const auto found = methods_.find(absl::string_view(method.data(), method.size()));
  Method& row = found == methods_.end() ? *other_ : *found->second;
  size_t index = static_cast<size_t>(code);
  if (index >= kCodes) index = static_cast<size_t>(absl::StatusCode::kUnknown);
  std::atomic<prometheus::Counter*>& slot = row.calls[index];
  prometheus::Counter* counter = slot.load(std::memory_order_acquire);
  if (counter == nullptr) {
    // Two threads that get here add the same series: the family answers both with the same counter.
    const std::string name = absl::StatusCodeToString(static_cast<absl::StatusCode>(index));
    counter = &calls_->Add({{"method", row.name}, {"code", name}});
    slot.store(counter, std::memory_order_release);
  }
  counter->Increment();
  row.seconds->Observe(seconds);
  row.received->Increment(static_cast<double>(bytes_in));
  row.sent->Increment(static_cast<double>(bytes_out));
}

void Metrics::SetFits(int64_t queued, int64_t running) {
  queue_length_->Set(static_cast<double>(queued));
  fits_running_->Set(static_cast<double>(running));
}

void Metrics::RecordFit(FitState state, double seconds) {
  fits_[static_cast<size_t>(state)]->Increment();
  fit_seconds_->Observe(seconds);
}

void Metrics::SetCache(int64_t bytes, int64_t models) {
  cache_bytes_->Set(static_cast<double>(bytes));
  cache_models_->Set(static_cast<double>(models));
}

void Metrics::RecordCacheLookup(bool hit) { (hit ? cache_hits_ : cache_misses_)->Increment(); }

void Metrics::RecordCacheEviction() { cache_evictions_->Increment(); }

void Metrics::RecordCutConnection() { cut_connections_->Increment(); }

void Metrics::RecordTokensFileError() { tokens_file_errors_->Increment(); }

void Metrics::RecordCommit(bool ok, double seconds) {
  commits_[ok ? 1 : 0]->Increment();
  commit_seconds_->Observe(seconds);
}

std::string Metrics::Serialize() const {
  std::vector<prometheus::MetricFamily> families = registry_->Collect();
  std::vector<prometheus::MetricFamily> process = process_->Collect();
  std::move(process.begin(), process.end(), std::back_inserter(families));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace fidelio
