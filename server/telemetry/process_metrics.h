// ProcessMetrics: memory, file descriptors, threads and CPU time of this process, read from /proc when collected.
//
// The names are those of Prometheus' own clients. What cannot be read is left out. Stateless; thread-safe.
#ifndef FIDELIO_SERVER_TELEMETRY_PROCESS_METRICS_H_
#define FIDELIO_SERVER_TELEMETRY_PROCESS_METRICS_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <vector>

namespace fidelio {

class ProcessMetrics : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_TELEMETRY_PROCESS_METRICS_H_
