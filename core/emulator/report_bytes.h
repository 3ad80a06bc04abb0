// The bytes of a FitReport, without its number of draws:
//
//   i64 evaluations, f64 seconds, f64 log posterior, f64 acceptance, f64 largest jitter;
//   u32 chains, f64 R̂, f64 effective size, u32 moved chains, u32 failed columns of Hessians
#ifndef FIDELIO_CORE_EMULATOR_REPORT_BYTES_H_
#define FIDELIO_CORE_EMULATOR_REPORT_BYTES_H_

#include "core/base/bytes.h"
#include "core/emulator/fit_options.h"

namespace fidelio {

void WriteReport(const FitReport& report, ByteWriter& out);
// `sampling`: with the second part, which older checkpoints lack.
FitReport ReadReport(ByteReader& in, bool sampling);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_REPORT_BYTES_H_
