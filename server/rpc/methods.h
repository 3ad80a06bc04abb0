// The methods of the service: their names in logs and metrics, and the role that each needs.
//
// Immutable; safe to share between threads.
#ifndef FIDELIO_SERVER_RPC_METHODS_H_
#define FIDELIO_SERVER_RPC_METHODS_H_

#include <string>
#include <string_view>
#include <vector>

#include "server/auth/principal.h"

namespace fidelio {

struct Method {
  std::string_view name;
  Role role;
};

namespace methods {

inline constexpr Method kCreateModel{"CreateModel", Role::kWriter};
inline constexpr Method kGetModel{"GetModel", Role::kReader};
inline constexpr Method kListModels{"ListModels", Role::kReader};
inline constexpr Method kUpdateModel{"UpdateModel", Role::kWriter};
inline constexpr Method kDeleteModel{"DeleteModel", Role::kWriter};
inline constexpr Method kAddObservations{"AddObservations", Role::kWriter};
inline constexpr Method kListObservations{"ListObservations", Role::kReader};
inline constexpr Method kWithdrawObservations{"WithdrawObservations", Role::kWriter};
inline constexpr Method kCorrectObservations{"CorrectObservations", Role::kWriter};
inline constexpr Method kFit{"Fit", Role::kWriter};
inline constexpr Method kGetFit{"GetFit", Role::kReader};
inline constexpr Method kListFits{"ListFits", Role::kReader};
inline constexpr Method kCancelFit{"CancelFit", Role::kWriter};
inline constexpr Method kWatchFit{"WatchFit", Role::kReader};
inline constexpr Method kPredict{"Predict", Role::kReader};
inline constexpr Method kPredictStream{"PredictStream", Role::kReader};
inline constexpr Method kSamplePaths{"SamplePaths", Role::kReader};
inline constexpr Method kSampleDpp{"SampleDPP", Role::kReader};
inline constexpr Method kInitialDesign{"InitialDesign", Role::kReader};
inline constexpr Method kSuggest{"Suggest", Role::kReader};
inline constexpr Method kDiagnose{"Diagnose", Role::kReader};
inline constexpr Method kGetRevision{"GetRevision", Role::kReader};
inline constexpr Method kListRevisions{"ListRevisions", Role::kReader};
inline constexpr Method kRollbackModel{"RollbackModel", Role::kWriter};
inline constexpr Method kDeleteRevision{"DeleteRevision", Role::kWriter};
inline constexpr Method kExportModel{"ExportModel", Role::kReader};
inline constexpr Method kImportModel{"ImportModel", Role::kWriter};
inline constexpr Method kGetServerInfo{"GetServerInfo", Role::kReader};

}  // namespace methods

// The names of all methods of the contract, for the labels of metrics.
std::vector<std::string> MethodNames();

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_METHODS_H_
