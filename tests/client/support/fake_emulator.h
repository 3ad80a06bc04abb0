// FakeEmulator: a server in the test's own process that answers as a test tells it.
#ifndef FIDELIO_TESTS_CLIENT_SUPPORT_FAKE_EMULATOR_H_
#define FIDELIO_TESTS_CLIENT_SUPPORT_FAKE_EMULATOR_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "fidelio/v1/emulator.grpc.pb.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "tests/support/temp_directory.h"

namespace fidelio {

// A handler of one method: what it answers. Without one, the method is UNIMPLEMENTED. Set handlers before calls arrive.
template <typename Request, typename Response>
using Handler = std::function<grpc::Status(grpc::ServerContext&, const Request&, Response&)>;

class FakeEmulator final : public v1::Emulator::Service {
 public:
  Handler<v1::CreateModelRequest, v1::Model> create_model;
  Handler<v1::GetModelRequest, v1::Model> get_model;
  Handler<v1::ListModelsRequest, v1::ListModelsResponse> list_models;
  Handler<v1::UpdateModelRequest, v1::Model> update_model;
  Handler<v1::DeleteModelRequest, google::protobuf::Empty> delete_model;
  Handler<v1::AddObservationsRequest, v1::AddObservationsResponse> add_observations;
  Handler<v1::ListObservationsRequest, v1::ListObservationsResponse> list_observations;
  Handler<v1::WithdrawObservationsRequest, v1::WithdrawObservationsResponse> withdraw_observations;
  Handler<v1::CorrectObservationsRequest, v1::CorrectObservationsResponse> correct_observations;
  Handler<v1::FitRequest, v1::Fit> fit;
  Handler<v1::GetFitRequest, v1::Fit> get_fit;
  Handler<v1::ListFitsRequest, v1::ListFitsResponse> list_fits;
  Handler<v1::CancelFitRequest, v1::Fit> cancel_fit;
  Handler<v1::PredictRequest, v1::PredictResponse> predict;
  Handler<v1::SamplePathsRequest, v1::SamplePathsResponse> sample_paths;
  Handler<v1::InitialDesignRequest, v1::InitialDesignResponse> initial_design;
  Handler<v1::SampleDPPRequest, v1::SampleDPPResponse> sample_dpp;
  Handler<v1::SuggestRequest, v1::SuggestResponse> suggest;
  Handler<v1::DiagnoseRequest, v1::DiagnoseResponse> diagnose;
  Handler<v1::GetRevisionRequest, v1::Revision> get_revision;
  Handler<v1::ListRevisionsRequest, v1::ListRevisionsResponse> list_revisions;
  Handler<v1::DeleteRevisionRequest, google::protobuf::Empty> delete_revision;
  Handler<v1::RollbackModelRequest, v1::Model> rollback_model;
  Handler<v1::GetServerInfoRequest, v1::ServerInfo> get_server_info;
  std::function<grpc::Status(grpc::ServerContext&, grpc::ServerWriter<v1::WatchFitResponse>&)> watch_fit;
  std::function<grpc::Status(grpc::ServerContext&, const v1::ExportModelRequest&,
                             grpc::ServerWriter<v1::ExportModelResponse>&)>
      export_model;
  std::function<grpc::Status(grpc::ServerContext&, grpc::ServerReader<v1::ImportModelRequest>&, v1::Model&)>
      import_model;
  std::function<grpc::Status(grpc::ServerContext&,
                             grpc::ServerReaderWriter<v1::PredictStreamResponse, v1::PredictStreamRequest>&)>
      predict_stream;

  grpc::Status CreateModel(grpc::ServerContext* context, const v1::CreateModelRequest* request,
                           v1::Model* response) override {
    return Run(create_model, context, request, response);
  }
  grpc::Status GetModel(grpc::ServerContext* context, const v1::GetModelRequest* request,
                        v1::Model* response) override {
    return Run(get_model, context, request, response);
  }
  grpc::Status ListModels(grpc::ServerContext* context, const v1::ListModelsRequest* request,
                          v1::ListModelsResponse* response) override {
    return Run(list_models, context, request, response);
  }
  grpc::Status DeleteModel(grpc::ServerContext* context, const v1::DeleteModelRequest* request,
                           google::protobuf::Empty* response) override {
    return Run(delete_model, context, request, response);
  }
  grpc::Status AddObservations(grpc::ServerContext* context, const v1::AddObservationsRequest* request,
                               v1::AddObservationsResponse* response) override {
    return Run(add_observations, context, request, response);
  }
  grpc::Status Fit(grpc::ServerContext* context, const v1::FitRequest* request, v1::Fit* response) override {
    return Run(fit, context, request, response);
  }
  grpc::Status ListFits(grpc::ServerContext* context, const v1::ListFitsRequest* request,
                        v1::ListFitsResponse* response) override {
    return Run(list_fits, context, request, response);
  }
  grpc::Status GetFit(grpc::ServerContext* context, const v1::GetFitRequest* request, v1::Fit* response) override {
    return Run(get_fit, context, request, response);
  }
  grpc::Status CancelFit(grpc::ServerContext* context, const v1::CancelFitRequest* request,
                         v1::Fit* response) override {
    return Run(cancel_fit, context, request, response);
  }
  grpc::Status Predict(grpc::ServerContext* context, const v1::PredictRequest* request,
                       v1::PredictResponse* response) override {
    return Run(predict, context, request, response);
  }
  grpc::Status SamplePaths(grpc::ServerContext* context, const v1::SamplePathsRequest* request,
                           v1::SamplePathsResponse* response) override {
    return Run(sample_paths, context, request, response);
  }
  grpc::Status SampleDPP(grpc::ServerContext* context, const v1::SampleDPPRequest* request,
                         v1::SampleDPPResponse* response) override {
    return Run(sample_dpp, context, request, response);
  }
  grpc::Status Suggest(grpc::ServerContext* context, const v1::SuggestRequest* request,
                       v1::SuggestResponse* response) override {
    return Run(suggest, context, request, response);
  }
  grpc::Status Diagnose(grpc::ServerContext* context, const v1::DiagnoseRequest* request,
                        v1::DiagnoseResponse* response) override {
    return Run(diagnose, context, request, response);
  }
  grpc::Status UpdateModel(grpc::ServerContext* context, const v1::UpdateModelRequest* request,
                           v1::Model* response) override {
    return Run(update_model, context, request, response);
  }
  grpc::Status ListObservations(grpc::ServerContext* context, const v1::ListObservationsRequest* request,
                                v1::ListObservationsResponse* response) override {
    return Run(list_observations, context, request, response);
  }
  grpc::Status WithdrawObservations(grpc::ServerContext* context, const v1::WithdrawObservationsRequest* request,
                                    v1::WithdrawObservationsResponse* response) override {
    return Run(withdraw_observations, context, request, response);
  }
  grpc::Status CorrectObservations(grpc::ServerContext* context, const v1::CorrectObservationsRequest* request,
                                   v1::CorrectObservationsResponse* response) override {
    return Run(correct_observations, context, request, response);
  }
  grpc::Status InitialDesign(grpc::ServerContext* context, const v1::InitialDesignRequest* request,
                             v1::InitialDesignResponse* response) override {
    return Run(initial_design, context, request, response);
  }
  grpc::Status ListRevisions(grpc::ServerContext* context, const v1::ListRevisionsRequest* request,
                             v1::ListRevisionsResponse* response) override {
    return Run(list_revisions, context, request, response);
  }
  grpc::Status DeleteRevision(grpc::ServerContext* context, const v1::DeleteRevisionRequest* request,
                              google::protobuf::Empty* response) override {
    return Run(delete_revision, context, request, response);
  }
  grpc::Status GetRevision(grpc::ServerContext* context, const v1::GetRevisionRequest* request,
                           v1::Revision* response) override {
    return Run(get_revision, context, request, response);
  }
  grpc::Status RollbackModel(grpc::ServerContext* context, const v1::RollbackModelRequest* request,
                             v1::Model* response) override {
    return Run(rollback_model, context, request, response);
  }
  grpc::Status GetServerInfo(grpc::ServerContext* context, const v1::GetServerInfoRequest* request,
                             v1::ServerInfo* response) override {
    return Run(get_server_info, context, request, response);
  }
  grpc::Status ExportModel(grpc::ServerContext* context, const v1::ExportModelRequest* request,
                           grpc::ServerWriter<v1::ExportModelResponse>* writer) override {
    return export_model ? export_model(*context, *request, *writer) : grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "");
  }
  grpc::Status ImportModel(grpc::ServerContext* context, grpc::ServerReader<v1::ImportModelRequest>* reader,
                           v1::Model* response) override {
    return import_model ? import_model(*context, *reader, *response)
                        : grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "");
  }
  grpc::Status PredictStream(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::PredictStreamResponse, v1::PredictStreamRequest>* stream) override {
    return predict_stream ? predict_stream(*context, *stream) : grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "");
  }
  grpc::Status WatchFit(grpc::ServerContext* context, const v1::WatchFitRequest*,
                        grpc::ServerWriter<v1::WatchFitResponse>* writer) override {
    return watch_fit ? watch_fit(*context, *writer) : grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "");
  }

 private:
  template <typename Request, typename Response>
  static grpc::Status Run(const Handler<Request, Response>& handler, grpc::ServerContext* context,
                          const Request* request, Response* response) {
    return handler ? handler(*context, *request, *response) : grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "");
  }
};

// Serves a FakeEmulator on a socket in a temporary directory; may be stopped and started again there.
class FakeServer {
 public:
  FakeServer() { Start(); }
  ~FakeServer() { Stop(); }

  FakeEmulator& emulator() { return emulator_; }
  std::string address() const { return "unix:" + (directory_ / "socket"); }

  void Start(std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials(),
             const std::string& address = "", int* port = nullptr) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address.empty() ? this->address() : address, credentials, port);
    builder.RegisterService(&emulator_);
    builder.SetMaxReceiveMessageSize(-1);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }

  // Cancels the calls that run, as a crash does.
  void Stop() {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    server_ = nullptr;
  }

 private:
  TempDirectory directory_;
  FakeEmulator emulator_;
  std::unique_ptr<grpc::Server> server_;
};

// An error with details, as the server sends it.
template <typename... Details>
grpc::Status ErrorWith(grpc::StatusCode code, const std::string& message, const Details&... details) {
  google::rpc::Status status;
  status.set_code(code);
  status.set_message(message);
  (status.add_details()->PackFrom(details), ...);
  return grpc::Status(code, message, status.SerializeAsString());
}

inline grpc::Status Unavailable() { return grpc::Status(grpc::StatusCode::UNAVAILABLE, "shutting down"); }

// A Fit in a state, and how far it is.
inline v1::Fit MakeFit(v1::FitState state, double fraction = 0) {
  v1::Fit fit;
  fit.set_name("models/wing/fits/3");
  fit.set_state(state);
  fit.mutable_progress()->set_phase(state == v1::FIT_STATE_PENDING ? "" : "sample");
  fit.mutable_progress()->set_fraction(fraction);
  if (state == v1::FIT_STATE_SUCCEEDED) fit.set_revision("models/wing/revisions/2");
  return fit;
}

// Recorder: values that handlers saw, in order. Thread-safe.
template <typename Value>
class Recorder {
 public:
  void Add(Value value) {
    absl::MutexLock lock(&mutex_);
    values_.push_back(std::move(value));
  }
  std::vector<Value> values() const {
    absl::MutexLock lock(&mutex_);
    return values_;
  }
  size_t size() const { return values().size(); }

 private:
  mutable absl::Mutex mutex_;
  std::vector<Value> values_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fidelio

#endif  // FIDELIO_TESTS_CLIENT_SUPPORT_FAKE_EMULATOR_H_
