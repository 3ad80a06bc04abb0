// A report as one HTML page that needs nothing else: no network, no script, no file beside it.
#ifndef FIDELIO_CLIENT_CLI_REPORT_PAGE_H_
#define FIDELIO_CLIENT_CLI_REPORT_PAGE_H_

#include <string>

#include "client/cli/report/report_data.h"

namespace fidelio::cli {

// Readable on phones and on paper, light or dark as the reader's system is. Everything that a user chose is escaped. The
// same data give the same bytes. Safe from every thread.
std::string RenderReport(const ReportData& data);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_REPORT_PAGE_H_
