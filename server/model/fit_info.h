// From the record of a fit to what callers get, and back. Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_MODEL_FIT_INFO_H_
#define FIDELIO_SERVER_MODEL_FIT_INFO_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/model/codec.h"
#include "server/model/model_types.h"
#include "server/store/records.h"

namespace fidelio {

// What is known of a fit that the store has.
absl::StatusOr<FitInfo> InfoOf(absl::string_view model, const FitRecord& record);

// FitRecord::progress of what is known.
StoredProgress ProgressOf(const FitInfo& info);

// What a user should know about its result (core/emulator/fit_warnings.h). Empty without a report.
std::vector<std::string> WarningsOf(const FitInfo& info);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_FIT_INFO_H_
