#include "core/emulator/report_bytes.h"

namespace fidelio {

void WriteReport(const FitReport& report, ByteWriter& out) {
  out.I64(report.evaluations);
  out.F64(report.seconds);
  out.F64(report.log_posterior);
  out.F64(report.acceptance);
  out.F64(report.max_jitter);
  out.U32(static_cast<uint32_t>(report.chains));
  out.F64(report.r_hat);
  out.F64(report.effective_size);
  out.U32(static_cast<uint32_t>(report.moved_chains));
  out.U32(static_cast<uint32_t>(report.failed_curvature));
}

FitReport ReadReport(ByteReader& in, bool sampling) {
  FitReport report;
  report.evaluations = in.I64();
  report.seconds = in.F64();
  report.log_posterior = in.F64();
  report.acceptance = in.F64();
  report.max_jitter = in.F64();
  if (!sampling) return report;
  report.chains = static_cast<int>(in.U32());
  report.r_hat = in.F64();
  report.effective_size = in.F64();
  report.moved_chains = static_cast<int>(in.U32());
  report.failed_curvature = static_cast<int>(in.U32());
  return report;
}

}  // namespace fidelio
