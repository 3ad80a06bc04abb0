// EmulatorService: the service of fidelio.v1, as a translation of messages to calls of ModelService and back.
//
// Unary calls and WatchFit come through the CallLoop, which answers small predictions at once and leaves all else to the
// WorkerPool; watchers wait long and are many, so they have one thread together (fit_watcher.h). Streams of clients have
// a thread of gRPC's each (the sync API). Stateless: all state is in what the constructor is given, which must outlive
// the service. Thread-safe.
#ifndef FIDELIO_SERVER_RPC_EMULATOR_SERVICE_H_
#define FIDELIO_SERVER_RPC_EMULATOR_SERVICE_H_

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "fidelio/v1/emulator.grpc.pb.h"
#include "server/model/model_service.h"
#include "server/rpc/call.h"
#include "server/rpc/call_parts.h"
#include "server/rpc/limits.h"
#include "server/rpc/memory_budget.h"
#include "server/rpc/task_thread.h"

namespace fidelio {

// What GetServerInfo says about the program.
struct ServerIdentity {
  std::string version;
  std::string build;
  std::string isa_level;
  absl::Time start_time;
};

// The generated service, with the methods that come through the CallLoop taken out of gRPC's own threads.
template <template <typename> typename... With>
struct AsyncMethods;
template <>
struct AsyncMethods<> {
  using Service = v1::Emulator::Service;
};
template <template <typename> typename First, template <typename> typename... Rest>
struct AsyncMethods<First, Rest...> {
  using Service = First<typename AsyncMethods<Rest...>::Service>;
};
using EmulatorServiceBase =
    AsyncMethods<v1::Emulator::WithAsyncMethod_CreateModel, v1::Emulator::WithAsyncMethod_GetModel,
                 v1::Emulator::WithAsyncMethod_ListModels, v1::Emulator::WithAsyncMethod_UpdateModel,
                 v1::Emulator::WithAsyncMethod_DeleteModel, v1::Emulator::WithAsyncMethod_AddObservations,
                 v1::Emulator::WithAsyncMethod_ListObservations, v1::Emulator::WithAsyncMethod_WithdrawObservations,
                 v1::Emulator::WithAsyncMethod_CorrectObservations, v1::Emulator::WithAsyncMethod_Fit,
                 v1::Emulator::WithAsyncMethod_GetFit, v1::Emulator::WithAsyncMethod_ListFits,
                 v1::Emulator::WithAsyncMethod_CancelFit, v1::Emulator::WithAsyncMethod_WatchFit,
                 v1::Emulator::WithAsyncMethod_Predict, v1::Emulator::WithAsyncMethod_SamplePaths,
                 v1::Emulator::WithAsyncMethod_SampleDPP, v1::Emulator::WithAsyncMethod_InitialDesign,
                 v1::Emulator::WithAsyncMethod_Suggest, v1::Emulator::WithAsyncMethod_Diagnose,
                 v1::Emulator::WithAsyncMethod_GetRevision, v1::Emulator::WithAsyncMethod_ListRevisions,
                 v1::Emulator::WithAsyncMethod_RollbackModel, v1::Emulator::WithAsyncMethod_DeleteRevision,
                 v1::Emulator::WithAsyncMethod_GetServerInfo>::Service;

class EmulatorService final : public EmulatorServiceBase {
 public:
  struct Parts {
    ModelService* models = nullptr;
    CallEnvironment environment = {};
    MemoryBudget* memory = nullptr;
    TaskThread* watchers = nullptr;
    ServiceLimits limits = {};
    ServerIdentity identity = {};
  };
  explicit EmulatorService(Parts parts) : parts_(std::move(parts)) {}

  // Takes calls from now on, until the loop stops. Once. (listen.cc)
  void Listen(const CallParts& parts);

  // Short names for the signatures below.
  using Context = grpc::ServerContext;
  template <typename Message>
  using Writer = grpc::ServerWriter<Message>;

  // model_calls.cc
  grpc::Status CreateModel(Context* context, const v1::CreateModelRequest* request, v1::Model* response) override;
  grpc::Status GetModel(Context* context, const v1::GetModelRequest* request, v1::Model* response) override;
  grpc::Status ListModels(Context* context, const v1::ListModelsRequest* request,
                          v1::ListModelsResponse* response) override;
  grpc::Status UpdateModel(Context* context, const v1::UpdateModelRequest* request, v1::Model* response) override;
  grpc::Status DeleteModel(Context* context, const v1::DeleteModelRequest* request,
                           google::protobuf::Empty* response) override;

  // observation_calls.cc
  grpc::Status AddObservations(Context* context, const v1::AddObservationsRequest* request,
                               v1::AddObservationsResponse* response) override;
  grpc::Status ListObservations(Context* context, const v1::ListObservationsRequest* request,
                                v1::ListObservationsResponse* response) override;
  grpc::Status WithdrawObservations(Context* context, const v1::WithdrawObservationsRequest* request,
                                    v1::WithdrawObservationsResponse* response) override;
  grpc::Status CorrectObservations(Context* context, const v1::CorrectObservationsRequest* request,
                                   v1::CorrectObservationsResponse* response) override;

  // fit_calls.cc
  grpc::Status Fit(Context* context, const v1::FitRequest* request, v1::Fit* response) override;
  grpc::Status GetFit(Context* context, const v1::GetFitRequest* request, v1::Fit* response) override;
  grpc::Status ListFits(Context* context, const v1::ListFitsRequest* request, v1::ListFitsResponse* response) override;
  grpc::Status CancelFit(Context* context, const v1::CancelFitRequest* request, v1::Fit* response) override;

  // prediction_calls.cc
  grpc::Status Predict(Context* context, const v1::PredictRequest* request, v1::PredictResponse* response) override;
  grpc::Status PredictStream(
      Context* context, grpc::ServerReaderWriter<v1::PredictStreamResponse, v1::PredictStreamRequest>* stream) override;
  grpc::Status SamplePaths(Context* context, const v1::SamplePathsRequest* request,
                           v1::SamplePathsResponse* response) override;

  // design_calls.cc
  grpc::Status SampleDPP(Context* context, const v1::SampleDPPRequest* request,
                         v1::SampleDPPResponse* response) override;
  grpc::Status Suggest(Context* context, const v1::SuggestRequest* request, v1::SuggestResponse* response) override;
  grpc::Status Diagnose(Context* context, const v1::DiagnoseRequest* request, v1::DiagnoseResponse* response) override;

  // initial_design_calls.cc
  grpc::Status InitialDesign(Context* context, const v1::InitialDesignRequest* request,
                             v1::InitialDesignResponse* response) override;

  // revision_calls.cc
  grpc::Status GetRevision(Context* context, const v1::GetRevisionRequest* request, v1::Revision* response) override;
  grpc::Status ListRevisions(Context* context, const v1::ListRevisionsRequest* request,
                             v1::ListRevisionsResponse* response) override;
  grpc::Status RollbackModel(Context* context, const v1::RollbackModelRequest* request, v1::Model* response) override;
  grpc::Status DeleteRevision(Context* context, const v1::DeleteRevisionRequest* request,
                              google::protobuf::Empty* response) override;

  // transfer_calls.cc
  grpc::Status ExportModel(Context* context, const v1::ExportModelRequest* request,
                           Writer<v1::ExportModelResponse>* writer) override;
  grpc::Status ImportModel(Context* context, grpc::ServerReader<v1::ImportModelRequest>* reader,
                           v1::Model* response) override;

  // info_calls.cc
  grpc::Status GetServerInfo(Context* context, const v1::GetServerInfoRequest* request,
                             v1::ServerInfo* response) override;

 private:
  using Message = google::protobuf::MessageLite;

  // Runs a unary call: `body` fills `response` once the caller is admitted.
  grpc::Status Unary(const Method& method, Context* context, const Message& request, const Message& response,
                     absl::FunctionRef<absl::Status(Call& call)> body);
  // The same for streams, which count their messages themselves.
  grpc::Status Stream(const Method& method, Context* context, absl::FunctionRef<absl::Status(Call& call)> body);

  // Whether a prediction is so small, and its model at hand, that it need not leave the thread that has read it.
  bool IsQuick(const v1::PredictRequest& request) const;

  // How the calls of a method are taken and answered.
  template <typename Request, typename Response, typename Base>
  void ListenTo(const Method& method,
                void (Base::*listen)(Context*, Request*, grpc::ServerAsyncResponseWriter<Response>*,
                                     grpc::CompletionQueue*, grpc::ServerCompletionQueue*, void*),
                grpc::Status (EmulatorService::*handle)(Context*, const Request*, Response*),
                std::type_identity_t<std::function<bool(const Request&)>> quick = nullptr);

  const Parts parts_;
  CallParts call_parts_;
  std::vector<std::shared_ptr<const void>> methods_;  // what calls refer to
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_EMULATOR_SERVICE_H_
