#include "server/telemetry/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

namespace fidelio {
namespace {

prometheus::MetricFamily Family(const char* name, const char* help, prometheus::MetricType type, double value) {
  prometheus::ClientMetric metric;
  if (type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  return {name, help, type, {metric}};
}

// The fields of /proc/self/stat that follow the program's name; the first is field 3 of proc(5).
std::vector<std::string> StatFields() {
  std::ifstream stream("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return {};
  std::istringstream rest(text.substr(end_of_name + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

double BootTime() {
  std::ifstream stream("/proc/stat");
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("btime ", 0) == 0) return std::stod(line.substr(6));
  }
  return 0;
}

}  // namespace

std::vector<prometheus::MetricFamily> ProcessMetrics::Collect() const {
  using prometheus::MetricType;
  std::vector<prometheus::MetricFamily> families;
  const auto gauge = [&](const char* name, const char* help, double value) {
    families.push_back(Family(name, help, MetricType::Gauge, value));
  };

  const std::vector<std::string> stat = StatFields();
  constexpr size_t kThreads = 17, kStart = 19, kVirtual = 20, kResident = 21;  // fields 20, 22, 23 and 24 of proc(5)
  if (stat.size() > kResident) {
    gauge("process_threads", "Threads", std::stod(stat[kThreads]));
    gauge("process_virtual_memory_bytes", "Virtual memory", std::stod(stat[kVirtual]));
    gauge("process_resident_memory_bytes", "Resident memory",
          std::stod(stat[kResident]) * static_cast<double>(sysconf(_SC_PAGESIZE)));
    gauge("process_start_time_seconds", "Start of the process, in seconds since 1970",
          BootTime() + std::stod(stat[kStart]) / static_cast<double>(sysconf(_SC_CLK_TCK)));
  }

  std::error_code error;
  const std::filesystem::directory_iterator descriptors("/proc/self/fd", error);
  if (!error) {
    const auto open = std::distance(begin(descriptors), end(descriptors)) - 1;  // without the iterator's own
    gauge("process_open_fds", "Open file descriptors", static_cast<double>(open));
  }
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    gauge("process_max_fds", "File descriptors that may be open", static_cast<double>(limit.rlim_cur));
  }
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    families.push_back(Family("process_cpu_seconds_total", "User and system time", MetricType::Counter,
                              seconds(usage.ru_utime) + seconds(usage.ru_stime)));
  }
  return families;
}

}  // namespace fidelio
