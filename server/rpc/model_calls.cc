#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/rpc/convert.h"
#include "server/rpc/emulator_service.h"
#include "server/rpc/page.h"
#include "server/rpc/request.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

constexpr int32_t kStandardModels = 100;

}  // namespace

grpc::Status EmulatorService::CreateModel(Context* context, const v1::CreateModelRequest* request,
                                          v1::Model* response) {
  return Unary(methods::kCreateModel, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_RETURN_IF_ERROR(AdmitModelId(call, request->model_id(), "model_id"));
    if (!request->model().name().empty() && request->model().name() != ModelName(request->model_id())) {
      return absl::InvalidArgumentError(absl::StrCat("model.name: ", Quoted(request->model().name()),
                                                     ", but must be empty or ", ModelName(request->model_id()),
                                                     ", as model_id says"));
    }
    FIDELIO_ASSIGN_OR_RETURN(ModelSpec spec, ToModelSpec(request->model(), "model"));
    const Mutation mutation(call, methods::kCreateModel, request->request_id(), *request);
    FIDELIO_RETURN_IF_ERROR(mutation.status());
    FIDELIO_ASSIGN_OR_RETURN(const ModelInfo model,
                             parts_.models->CreateModel(mutation.context(), request->model_id(), std::move(spec)));
    ToMessage(model, response);
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::GetModel(Context* context, const v1::GetModelRequest* request, v1::Model* response) {
  return Unary(methods::kGetModel, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const std::string name, AdmitModelName(call, request->name(), "name"));
    FIDELIO_ASSIGN_OR_RETURN(const ModelInfo model, parts_.models->GetModel(name));
    ToMessage(model, response);
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::ListModels(Context* context, const v1::ListModelsRequest* request,
                                         v1::ListModelsResponse* response) {
  return Unary(methods::kListModels, context, *request, *response, [&](Call& call) -> absl::Status {
    const std::string& prefix = call.principal().prefix;
    const std::string scope = absl::StrCat("ListModels ", prefix);
    FIDELIO_ASSIGN_OR_RETURN(const int32_t size,
                             PageSize(request->page_size(), kStandardModels, parts_.limits.max_page));
    FIDELIO_ASSIGN_OR_RETURN(const std::string after, DecodePageToken(scope, request->page_token()));
    FIDELIO_ASSIGN_OR_RETURN(const ModelList list, parts_.models->ListModels(prefix, after, size));
    std::string next = list.next;
    size_t bytes = 0;
    for (const ModelInfo& model : list.models) {
      v1::Model* message = response->add_models();
      ToMessage(model, message);
      bytes += message->ByteSizeLong();
      if (bytes > kMaxPageBytes && &model != &list.models.back()) {
        next = model.name;
        break;
      }
    }
    if (!next.empty()) response->set_next_page_token(EncodePageToken(scope, next));
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::UpdateModel(Context* context, const v1::UpdateModelRequest* request,
                                          v1::Model* response) {
  return Unary(methods::kUpdateModel, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const std::string name, AdmitModelName(call, request->model().name(), "model.name"));
    FIDELIO_ASSIGN_OR_RETURN(const ModelUpdate update, ToModelUpdate(*request));
    const Mutation mutation(call, methods::kUpdateModel, request->request_id(), *request);
    FIDELIO_RETURN_IF_ERROR(mutation.status());
    FIDELIO_ASSIGN_OR_RETURN(const ModelInfo model,
                             parts_.models->UpdateModel(mutation.context(), name, request->model().etag(), update));
    ToMessage(model, response);
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::DeleteModel(Context* context, const v1::DeleteModelRequest* request,
                                          google::protobuf::Empty* response) {
  return Unary(methods::kDeleteModel, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const std::string name, AdmitModelName(call, request->name(), "name"));
    const Mutation mutation(call, methods::kDeleteModel, request->request_id(), *request);
    FIDELIO_RETURN_IF_ERROR(mutation.status());
    return parts_.models->DeleteModel(mutation.context(), name, request->etag());
  });
}

}  // namespace fidelio
