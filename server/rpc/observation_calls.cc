#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/rpc/convert.h"
#include "server/rpc/emulator_service.h"
#include "server/rpc/enums.h"
#include "server/rpc/page.h"
#include "server/rpc/request.h"

namespace fidelio {
namespace {

constexpr int32_t kStandardPage = 10'000;
constexpr int32_t kLargestPage = 100'000;
constexpr int64_t kRunIdBytes = 32;  // of a row in a list, roughly
// In a history, each row may be a batch of its own that repeats the reason.
constexpr int64_t kHistoryRowBytes = static_cast<int64_t>(kMaxReasonBytes) + 128;

template <typename Response>
void SetChange(const ChangeObservationsAnswer& answer, Response* response) {
  response->set_data_version(answer.data_version);
  response->mutable_observation_counts()->Add(answer.observation_counts.begin(), answer.observation_counts.end());
  response->set_etag(answer.etag);
  response->set_current_revision_withdrawn_count(answer.current_revision_withdrawn);
}

}  // namespace

grpc::Status EmulatorService::AddObservations(Context* context, const v1::AddObservationsRequest* request,
                                              v1::AddObservationsResponse* response) {
  return Unary(methods::kAddObservations, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const std::string name, AdmitModelName(call, request->model(), "model"));
    FIDELIO_ASSIGN_OR_RETURN(const ObservationUpdate update, ToObservationUpdate(request->update(), "update"));
    FIDELIO_ASSIGN_OR_RETURN(const DuplicatePolicy duplicates,
                             ToEnum(request->duplicates(), DuplicatePolicy::kKeep, "duplicates"));
    // The message, its body for the request_id, matrices of core, and rows of the store.
    FIDELIO_ASSIGN_OR_RETURN(const auto memory,
                             parts_.memory->Reserve(4 * static_cast<int64_t>(request->ByteSizeLong())));
    FIDELIO_ASSIGN_OR_RETURN(const std::vector<ObservationBatch> observations,
                             ToObservations(*request, parts_.limits.max_matrix_elements));
    const Mutation mutation(call, methods::kAddObservations, request->request_id(), *request);
    FIDELIO_RETURN_IF_ERROR(mutation.status());
    FIDELIO_RETURN_IF_ERROR(call.StopReason());
    FIDELIO_ASSIGN_OR_RETURN(
        const AddObservationsAnswer answer,
        parts_.models->AddObservations(mutation.context(), name, request->etag(), observations, {update, duplicates}));
    ToMessage(answer, name, response);
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::WithdrawObservations(Context* context, const v1::WithdrawObservationsRequest* request,
                                                   v1::WithdrawObservationsResponse* response) {
  return Unary(methods::kWithdrawObservations, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const std::string name, AdmitModelName(call, request->model(), "model"));
    FIDELIO_ASSIGN_OR_RETURN(const auto memory,
                             parts_.memory->Reserve(4 * static_cast<int64_t>(request->ByteSizeLong())));
    const WithdrawQuery query{.run_ids = {request->run_ids().begin(), request->run_ids().end()},
                              .batch = request->batch_data_version(),
                              .reason = request->reason()};
    const Mutation mutation(call, methods::kWithdrawObservations, request->request_id(), *request);
    FIDELIO_RETURN_IF_ERROR(mutation.status());
    FIDELIO_ASSIGN_OR_RETURN(const ChangeObservationsAnswer answer,
                             parts_.models->WithdrawObservations(mutation.context(), name, request->etag(), query));
    response->set_withdrawn_count(answer.changed);
    SetChange(answer, response);
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::CorrectObservations(Context* context, const v1::CorrectObservationsRequest* request,
                                                  v1::CorrectObservationsResponse* response) {
  return Unary(methods::kCorrectObservations, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const std::string name, AdmitModelName(call, request->model(), "model"));
    FIDELIO_ASSIGN_OR_RETURN(const auto memory,
                             parts_.memory->Reserve(4 * static_cast<int64_t>(request->ByteSizeLong())));
    FIDELIO_ASSIGN_OR_RETURN(const Correction correction, ToCorrection(*request, parts_.limits.max_matrix_elements));
    const Mutation mutation(call, methods::kCorrectObservations, request->request_id(), *request);
    FIDELIO_RETURN_IF_ERROR(mutation.status());
    FIDELIO_ASSIGN_OR_RETURN(const ChangeObservationsAnswer answer,
                             parts_.models->CorrectObservations(mutation.context(), name, request->etag(), correction));
    response->set_corrected_count(answer.changed);
    SetChange(answer, response);
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::ListObservations(Context* context, const v1::ListObservationsRequest* request,
                                               v1::ListObservationsResponse* response) {
  return Unary(methods::kListObservations, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const std::string name, AdmitModelName(call, request->parent(), "parent"));
    FIDELIO_RETURN_IF_ERROR(CheckEnum(request->encoding(), "encoding"));
    FIDELIO_ASSIGN_OR_RETURN(const int32_t size, PageSize(request->page_size(), kStandardPage, kLargestPage));
    ObservationListQuery query;
    std::string scope = absl::StrCat("ListObservations ", name);
    if (request->has_level()) {
      FIDELIO_ASSIGN_OR_RETURN(query.level, ToLevel(request->level(), "level"));
      absl::StrAppend(&scope, " ", *query.level);
    }
    query.show_withdrawn = request->show_withdrawn();
    if (query.show_withdrawn) absl::StrAppend(&scope, " withdrawn");
    FIDELIO_ASSIGN_OR_RETURN(const std::string cursor, DecodePageToken(scope, request->page_token()));
    if (!cursor.empty()) {
      const auto place = ParseCursor(cursor);
      if (!place.has_value()) return BadTokenError(request->page_token());
      std::tie(query.from, query.data_version) = *place;
    }
    FIDELIO_ASSIGN_OR_RETURN(const ModelInfo model, parts_.models->GetModel(name));
    const int64_t row_bytes = (model.spec.input_dimension + 2) * static_cast<int64_t>(sizeof(double)) + kRunIdBytes +
                              (query.show_withdrawn ? kHistoryRowBytes : 0);
    query.max_points = std::clamp<int64_t>(static_cast<int64_t>(kMaxPageBytes) / row_bytes, 1, size);
    FIDELIO_ASSIGN_OR_RETURN(const auto memory, parts_.memory->Reserve(3 * query.max_points * row_bytes));
    FIDELIO_ASSIGN_OR_RETURN(const ObservationList list, parts_.models->ListObservations(name, query));
    for (const ObservationBatch& batch : list.observations) {
      ToMessage(batch, request->encoding(), response->add_observations());
    }
    if (list.next.has_value()) {
      response->set_next_page_token(EncodePageToken(scope, FormatCursor(*list.next, list.data_version)));
    }
    response->set_data_version(list.data_version);
    response->set_total_size(list.total_size);
    return absl::OkStatus();
  });
}

}  // namespace fidelio
