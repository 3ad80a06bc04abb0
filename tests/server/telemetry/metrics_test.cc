#include "server/telemetry/metrics.h"

#include <gtest/gtest.h>

#include <sstream>
#include <thread>
#include <vector>

namespace fidelio {
namespace {

// The value of a series such as `name{label="x"}`, or -1 when there is none.
double ValueOf(const Metrics& metrics, const std::string& series) {
  std::istringstream lines(metrics.Serialize());
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(series + " ", 0) == 0) return std::stod(line.substr(series.size() + 1));
  }
  return -1;
}

TEST(MetricsTest, CountsCallsByMethodAndCode) {
  Metrics metrics({"Predict", "Fit"}, "1.2.3");
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_calls_total{code="OK",method="Predict"})"), -1)
      << "only what happened is shown";
  metrics.RecordCall("Predict", absl::StatusCode::kOk, 0.002, 100, 200);
  metrics.RecordCall("Predict", absl::StatusCode::kOk, 0.2, 1, 2);
  metrics.RecordCall("Predict", absl::StatusCode::kNotFound, 0.002, 0, 0);
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_calls_total{code="OK",method="Predict"})"), 2);
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_calls_total{code="NOT_FOUND",method="Predict"})"), 1);
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_call_seconds_count{method="Predict"})"), 3);
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_call_seconds_bucket{method="Predict",le="0.01"})"), 2);
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_call_received_bytes_total{method="Predict"})"), 101);
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_call_sent_bytes_total{method="Predict"})"), 202);
}

TEST(MetricsTest, UnknownMethodsAndCodesShareOneSeries) {
  Metrics metrics({"Predict"}, "1");
  for (int i = 0; i < 1000; ++i) {
    metrics.RecordCall("Attack" + std::to_string(i), static_cast<absl::StatusCode>(1000 + i), 0, 0, 0);
  }
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_calls_total{code="UNKNOWN",method="other"})"), 1000);
  EXPECT_EQ(metrics.Serialize().find("Attack"), std::string::npos);
}

TEST(MetricsTest, ShowsFitsCacheAndCommits) {
  Metrics metrics({}, "1.2.3");
  metrics.SetFits(7, 2);
  metrics.RecordFit(Metrics::FitState::kSucceeded, 2);
  metrics.RecordFit(Metrics::FitState::kFailed, 1);
  metrics.RecordFit(Metrics::FitState::kCancelled, 1);
  metrics.RecordFit(Metrics::FitState::kCancelled, 1);
  metrics.SetCache(4096, 3);
  metrics.RecordCacheLookup(true);
  metrics.RecordCacheLookup(true);
  metrics.RecordCacheLookup(false);
  metrics.RecordCacheEviction();
  metrics.RecordCommit(true, 0.0007);
  metrics.RecordCommit(false, 0.5);
  metrics.RecordCutConnection();
  EXPECT_EQ(ValueOf(metrics, "fidelio_fit_queue_length"), 7);
  EXPECT_EQ(ValueOf(metrics, "fidelio_fits_running"), 2);
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_fits_total{state="SUCCEEDED"})"), 1);
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_fits_total{state="FAILED"})"), 1);
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_fits_total{state="CANCELLED"})"), 2);
  EXPECT_EQ(ValueOf(metrics, "fidelio_fit_seconds_sum"), 5);
  EXPECT_EQ(ValueOf(metrics, "fidelio_model_cache_bytes"), 4096);
  EXPECT_EQ(ValueOf(metrics, "fidelio_model_cache_models"), 3);
  EXPECT_EQ(ValueOf(metrics, "fidelio_model_cache_hits_total"), 2);
  EXPECT_EQ(ValueOf(metrics, "fidelio_model_cache_misses_total"), 1);
  EXPECT_EQ(ValueOf(metrics, "fidelio_model_cache_evictions_total"), 1);
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_store_commits_total{result="ok"})"), 1);
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_store_commits_total{result="failed"})"), 1);
  EXPECT_EQ(ValueOf(metrics, "fidelio_store_commit_seconds_count"), 2);
  EXPECT_EQ(ValueOf(metrics, "fidelio_connections_cut_total"), 1);
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_build_info{version="1.2.3"})"), 1);
}

TEST(MetricsTest, ShowsTheProcess) {
  Metrics metrics({}, "1");
  EXPECT_GT(ValueOf(metrics, "process_resident_memory_bytes"), 1e6);
  EXPECT_GT(ValueOf(metrics, "process_virtual_memory_bytes"), ValueOf(metrics, "process_resident_memory_bytes"));
  EXPECT_GT(ValueOf(metrics, "process_open_fds"), 2);
  EXPECT_GT(ValueOf(metrics, "process_max_fds"), ValueOf(metrics, "process_open_fds"));
  EXPECT_GT(ValueOf(metrics, "process_start_time_seconds"), 1.7e9);
  EXPECT_GE(ValueOf(metrics, "process_cpu_seconds_total"), 0);
  std::thread([] {}).join();  // with the first one, sanitizers start one of their own
  const double threads = ValueOf(metrics, "process_threads");
  double with_one_more = 0;
  std::thread([&] { with_one_more = ValueOf(metrics, "process_threads"); }).join();
  EXPECT_EQ(with_one_more, threads + 1);
}

TEST(MetricsTest, CallsOfManyThreadsAreAllCounted) {
  Metrics metrics({"Predict"}, "1");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) metrics.RecordCall("Predict", static_cast<absl::StatusCode>(i % 17), 0.1, 1, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_call_seconds_count{method="Predict"})"), 4000);
  EXPECT_EQ(ValueOf(metrics, R"(fidelio_calls_total{code="OK",method="Predict"})"), 4 * 59);
}

}  // namespace
}  // namespace fidelio
