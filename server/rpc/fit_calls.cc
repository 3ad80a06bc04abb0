#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/rpc/convert.h"
#include "server/rpc/emulator_service.h"
#include "server/rpc/page.h"
#include "server/rpc/request.h"

namespace fidelio {
namespace {

constexpr int32_t kStandardFits = 100;

}  // namespace

grpc::Status EmulatorService::Fit(Context* context, const v1::FitRequest* request, v1::Fit* response) {
  return Unary(methods::kFit, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const std::string name, AdmitModelName(call, request->model(), "model"));
    FIDELIO_ASSIGN_OR_RETURN(const FitSpec options, ToFitSpec(request->options(), "options"));
    const Mutation mutation(call, methods::kFit, request->request_id(), *request);
    FIDELIO_RETURN_IF_ERROR(mutation.status());
    FIDELIO_ASSIGN_OR_RETURN(const FitInfo fit, parts_.models->StartFit(mutation.context(), name, request->etag(),
                                                                        options, request->validate_only()));
    ToMessage(fit, response);
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::GetFit(Context* context, const v1::GetFitRequest* request, v1::Fit* response) {
  return Unary(methods::kGetFit, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const ChildName name, AdmitFitName(call, request->name(), "name"));
    FIDELIO_ASSIGN_OR_RETURN(const FitInfo fit, parts_.models->GetFit(name.model, name.number));
    ToMessage(fit, response);
    ToMessage(fit.history, response);
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::ListFits(Context* context, const v1::ListFitsRequest* request,
                                       v1::ListFitsResponse* response) {
  return Unary(methods::kListFits, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const std::string name, AdmitModelName(call, request->parent(), "parent"));
    const std::string scope = absl::StrCat("ListFits ", name);
    FIDELIO_ASSIGN_OR_RETURN(const int32_t size, PageSize(request->page_size(), kStandardFits, parts_.limits.max_page));
    FIDELIO_ASSIGN_OR_RETURN(const int64_t before, DecodeNumberToken(scope, request->page_token()));
    FIDELIO_ASSIGN_OR_RETURN(const FitList list, parts_.models->ListFits(name, before, size));
    for (const FitInfo& fit : list.fits) ToMessage(fit, response->add_fits());
    if (list.next > 0) response->set_next_page_token(EncodePageToken(scope, absl::StrCat(list.next)));
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::CancelFit(Context* context, const v1::CancelFitRequest* request, v1::Fit* response) {
  return Unary(methods::kCancelFit, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const ChildName name, AdmitFitName(call, request->name(), "name"));
    const Mutation mutation(call, methods::kCancelFit, request->request_id(), *request);
    FIDELIO_RETURN_IF_ERROR(mutation.status());
    FIDELIO_ASSIGN_OR_RETURN(const FitInfo fit, parts_.models->CancelFit(mutation.context(), name.model, name.number));
    ToMessage(fit, response);
    return absl::OkStatus();
  });
}

}  // namespace fidelio
