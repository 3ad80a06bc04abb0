// Messages of fidelio.v1 to and from the plain values of server/model.
//
// Towards the model, only what its types can't hold is checked here (values that an enumeration lacks, numbers that do
// not fit); the rules of the contract are the business of server/model. Errors are INVALID_ARGUMENT and begin with the
// path of the field.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_RPC_CONVERT_H_
#define FIDELIO_SERVER_RPC_CONVERT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "fidelio/v1/emulator.pb.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"
#include "server/auth/principal.h"
#include "server/model/model_types.h"

namespace fidelio {

// ---- Models (convert_model.cc) ----

absl::StatusOr<ModelSpec> ToModelSpec(const v1::Model& message, absl::string_view field);
// Of request.model, the fields that request.update_mask names.
absl::StatusOr<ModelUpdate> ToModelUpdate(const v1::UpdateModelRequest& request);
void ToMessage(const ModelInfo& model, v1::Model* message);

// ---- Observations (convert_observation.cc) ----

// At most `max_elements` numbers in any matrix.
absl::StatusOr<std::vector<ObservationBatch>> ToObservations(const v1::AddObservationsRequest& request,
                                                             int64_t max_elements);
absl::StatusOr<Correction> ToCorrection(const v1::CorrectObservationsRequest& request, int64_t max_elements);
void ToMessage(const AddObservationsAnswer& answer, absl::string_view model, v1::AddObservationsResponse* message);
absl::StatusOr<ObservationUpdate> ToObservationUpdate(v1::ObservationUpdate update, absl::string_view field);
void ToMessage(const ObservationBatch& batch, v1::MatrixEncoding encoding, v1::ObservationBatch* message);
// A position and the data_version of all pages, as the cursor of a page token. The reader takes nothing for granted.
std::string FormatCursor(const ObservationPosition& position, int64_t data_version);
std::optional<std::pair<ObservationPosition, int64_t>> ParseCursor(absl::string_view cursor);

// ---- Fits and revisions (convert_fit.cc) ----

absl::StatusOr<FitSpec> ToFitSpec(const v1::FitOptions& message, absl::string_view field);
void ToMessage(const FitSpec& options, v1::FitOptions* message);
void ToMessage(const FitInfo& fit, v1::Fit* message);  // all but its history
void ToMessage(const std::vector<FitPoint>& history, v1::Fit* message);
void ToMessage(const RevisionInfo& revision, v1::Revision* message);
v1::KernelFamily ToMessage(const std::optional<KernelFamily>& family);

// ---- Small things (convert.cc) ----

void ToMessage(absl::Time time, google::protobuf::Timestamp* message);
void ToMessage(absl::Duration duration, google::protobuf::Duration* message);
v1::Role ToMessage(Role role);
Caller ToCaller(const Principal& principal, bool authenticated);
CallerQuotas ToCallerQuotas(const Quotas& quotas);
// A level for the types of server/model, which have it as int.
absl::StatusOr<int> ToLevel(uint32_t level, absl::string_view field);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_CONVERT_H_
