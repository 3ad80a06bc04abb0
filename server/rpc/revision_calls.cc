#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/rpc/convert.h"
#include "server/rpc/emulator_service.h"
#include "server/rpc/page.h"
#include "server/rpc/request.h"

namespace fidelio {
namespace {

constexpr int32_t kStandardRevisions = 100;

}  // namespace

grpc::Status EmulatorService::GetRevision(Context* context, const v1::GetRevisionRequest* request,
                                          v1::Revision* response) {
  return Unary(methods::kGetRevision, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const ChildName name, AdmitRevisionName(call, request->name(), "name"));
    FIDELIO_ASSIGN_OR_RETURN(const RevisionInfo revision, parts_.models->GetRevision(name.model, name.number));
    ToMessage(revision, response);
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::ListRevisions(Context* context, const v1::ListRevisionsRequest* request,
                                            v1::ListRevisionsResponse* response) {
  return Unary(methods::kListRevisions, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const std::string name, AdmitModelName(call, request->parent(), "parent"));
    const std::string scope = absl::StrCat("ListRevisions ", name);
    FIDELIO_ASSIGN_OR_RETURN(const int32_t size,
                             PageSize(request->page_size(), kStandardRevisions, parts_.limits.max_page));
    FIDELIO_ASSIGN_OR_RETURN(const int64_t before, DecodeNumberToken(scope, request->page_token()));
    FIDELIO_ASSIGN_OR_RETURN(const RevisionList list, parts_.models->ListRevisions(name, before, size));
    for (const RevisionInfo& revision : list.revisions) ToMessage(revision, response->add_revisions());
    if (list.next > 0) response->set_next_page_token(EncodePageToken(scope, absl::StrCat(list.next)));
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::RollbackModel(Context* context, const v1::RollbackModelRequest* request,
                                            v1::Model* response) {
  return Unary(methods::kRollbackModel, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const std::string name, AdmitModelName(call, request->name(), "name"));
    FIDELIO_ASSIGN_OR_RETURN(const int64_t revision, ParseRevisionOf(name, request->revision(), "revision"));
    if (revision == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("revision: empty, but must name a revision, as in ", RevisionName(name, 1)));
    }
    const Mutation mutation(call, methods::kRollbackModel, request->request_id(), *request);
    FIDELIO_RETURN_IF_ERROR(mutation.status());
    FIDELIO_ASSIGN_OR_RETURN(const ModelInfo model,
                             parts_.models->RollbackModel(mutation.context(), name, request->etag(), revision));
    ToMessage(model, response);
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::DeleteRevision(Context* context, const v1::DeleteRevisionRequest* request,
                                             google::protobuf::Empty* response) {
  return Unary(methods::kDeleteRevision, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const ChildName name, AdmitRevisionName(call, request->name(), "name"));
    const Mutation mutation(call, methods::kDeleteRevision, request->request_id(), *request);
    FIDELIO_RETURN_IF_ERROR(mutation.status());
    return parts_.models->DeleteRevision(mutation.context(), name.model, request->etag(), name.number);
  });
}

}  // namespace fidelio
