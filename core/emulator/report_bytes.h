// The bytes of a FitReport, without its number of draws:
//
//   i64 evaluations, f64 seconds, f64 log posterior, f64 acceptance, f64 largest jitter;
//   u32 chains, f64 R̂, f64 effective size, u32 moved chains, u32 failed columns of Hessians
#ifndef FIDELIO_CORE_EMULATOR_REPORT_BYTES_H_
#define FIDELIO_CORE_EMULATOR_REPORT_BYTES_H_

#include "core/base/bytes.h"
#include "core/emulator/fit_options.h"

namespace fidelio {

// `sampling`: with the second part, which older checkpoints lack.
template <typename Bytes>
void ReportFields(Bytes& bytes, FitReport& report, bool sampling) {
  bytes(report.evaluations, report.seconds, report.log_posterior, report.acceptance, report.max_jitter);
  if (sampling) {
    bytes(report.chains, report.r_hat, report.effective_size, report.moved_chains, report.failed_curvature);
  }
}

inline void WriteReport(FitReport report, ByteWriter& out) { ReportFields(out, report, /*sampling=*/true); }
inline FitReport ReadReport(ByteReader& in, bool sampling) {
  FitReport report;
  ReportFields(in, report, sampling);
  return report;
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_REPORT_BYTES_H_
