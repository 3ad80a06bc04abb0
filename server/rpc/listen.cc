// How calls reach the methods of EmulatorService.
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/rpc/emulator_service.h"
#include "server/rpc/fit_watcher.h"
#include "server/rpc/names.h"
#include "server/rpc/predictor.h"
#include "server/rpc/unary_call.h"
#include "server/rpc/watch_call.h"
#include "server/status/errors.h"

namespace fidelio {

bool EmulatorService::IsQuick(const v1::PredictRequest& request) const {
  const absl::StatusOr<std::string> model = ParseModelName(request.model(), "model");
  if (!model.ok()) return true;  // it will be refused
  const absl::StatusOr<int64_t> revision = ParseRevisionOf(*model, request.revision(), "revision");
  if (!revision.ok()) return true;
  const std::shared_ptr<const LoadedRevision> loaded = parts_.models->FindInMemory(*model, *revision);
  return loaded != nullptr && fidelio::IsQuick(request, *loaded);
}

template <typename Request, typename Response, typename Base>
void EmulatorService::ListenTo(const Method& method,
                               void (Base::*listen)(Context*, Request*, grpc::ServerAsyncResponseWriter<Response>*,
                                                    grpc::CompletionQueue*, grpc::ServerCompletionQueue*, void*),
                               grpc::Status (EmulatorService::*handle)(Context*, const Request*, Response*),
                               std::type_identity_t<std::function<bool(const Request&)>> quick) {
  UnaryMethod<Request, Response> unary;
  unary.listen = [this, listen](Context* context, Request* request,
                                grpc::ServerAsyncResponseWriter<Response>* responder,
                                grpc::ServerCompletionQueue* queue,
                                void* tag) { (this->*listen)(context, request, responder, queue, queue, tag); };
  unary.handle = [this, handle](Context* context, const Request* request, Response* response) {
    return (this->*handle)(context, request, response);
  };
  unary.quick = std::move(quick);
  unary.refuse = [this, &method](Context* context, const Request* request) {
    Call& call = UnaryContext::Of(context).Begin(parts_.environment, method);
    call.CountReceived(*request);
    return call.End(
        ExhaustedError(absl::StrCat("calls: ", call_parts_.workers->limits().max_threads, " are under way and ",
                                    call_parts_.workers->limits().max_queue, " wait, as many as may be"),
                       absl::Seconds(1)));
  };
  const auto kept = std::make_shared<const UnaryMethod<Request, Response>>(std::move(unary));
  methods_.push_back(kept);
  UnaryCall<Request, Response>::Listen(*kept, call_parts_);
}

void EmulatorService::Listen(const CallParts& parts) {
  call_parts_ = parts;
  ListenTo(methods::kCreateModel, &EmulatorService::RequestCreateModel, &EmulatorService::CreateModel);
  ListenTo(methods::kGetModel, &EmulatorService::RequestGetModel, &EmulatorService::GetModel);
  ListenTo(methods::kListModels, &EmulatorService::RequestListModels, &EmulatorService::ListModels);
  ListenTo(methods::kUpdateModel, &EmulatorService::RequestUpdateModel, &EmulatorService::UpdateModel);
  ListenTo(methods::kDeleteModel, &EmulatorService::RequestDeleteModel, &EmulatorService::DeleteModel);
  ListenTo(methods::kAddObservations, &EmulatorService::RequestAddObservations, &EmulatorService::AddObservations);
  ListenTo(methods::kListObservations, &EmulatorService::RequestListObservations, &EmulatorService::ListObservations);
  ListenTo(methods::kWithdrawObservations, &EmulatorService::RequestWithdrawObservations,
           &EmulatorService::WithdrawObservations);
  ListenTo(methods::kCorrectObservations, &EmulatorService::RequestCorrectObservations,
           &EmulatorService::CorrectObservations);
  ListenTo(methods::kFit, &EmulatorService::RequestFit, &EmulatorService::Fit);
  ListenTo(methods::kGetFit, &EmulatorService::RequestGetFit, &EmulatorService::GetFit);
  ListenTo(methods::kListFits, &EmulatorService::RequestListFits, &EmulatorService::ListFits);
  ListenTo(methods::kCancelFit, &EmulatorService::RequestCancelFit, &EmulatorService::CancelFit);
  ListenTo(methods::kPredict, &EmulatorService::RequestPredict, &EmulatorService::Predict,
           [this](const v1::PredictRequest& request) { return IsQuick(request); });
  ListenTo(methods::kSamplePaths, &EmulatorService::RequestSamplePaths, &EmulatorService::SamplePaths);
  ListenTo(methods::kSampleDpp, &EmulatorService::RequestSampleDPP, &EmulatorService::SampleDPP);
  ListenTo(methods::kInitialDesign, &EmulatorService::RequestInitialDesign, &EmulatorService::InitialDesign);
  ListenTo(methods::kSuggest, &EmulatorService::RequestSuggest, &EmulatorService::Suggest);
  ListenTo(methods::kDiagnose, &EmulatorService::RequestDiagnose, &EmulatorService::Diagnose);
  ListenTo(methods::kGetRevision, &EmulatorService::RequestGetRevision, &EmulatorService::GetRevision);
  ListenTo(methods::kListRevisions, &EmulatorService::RequestListRevisions, &EmulatorService::ListRevisions);
  ListenTo(methods::kRollbackModel, &EmulatorService::RequestRollbackModel, &EmulatorService::RollbackModel);
  ListenTo(methods::kDeleteRevision, &EmulatorService::RequestDeleteRevision, &EmulatorService::DeleteRevision);
  ListenTo(methods::kGetServerInfo, &EmulatorService::RequestGetServerInfo, &EmulatorService::GetServerInfo);

  WatchMethod<v1::WatchFitRequest, v1::WatchFitResponse> watch;
  watch.listen = [this](auto* context, auto* request, auto* writer, auto* queue, void* tag) {
    RequestWatchFit(context, request, writer, queue, queue, tag);
  };
  watch.start = [this](WatchStream<v1::WatchFitResponse>* stream, const v1::WatchFitRequest& request) {
    FitWatcher::Start(parts_.models, parts_.watchers, parts_.environment, stream, request);
  };
  const auto kept = std::make_shared<const WatchMethod<v1::WatchFitRequest, v1::WatchFitResponse>>(std::move(watch));
  methods_.push_back(kept);
  WatchCall<v1::WatchFitRequest, v1::WatchFitResponse>::Listen(*kept, call_parts_);
}

}  // namespace fidelio
