// fidelio-bench echo-server: a bare gRPC server whose Predict answers messages of Fidelio's sizes and computes nothing.
// What `serve` and `flood` compare fidelio-server with.
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "fidelio/v1/emulator.grpc.pb.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "tests/bench/commands.h"
#include "tests/bench/csv.h"

namespace fidelio::bench {
namespace {

class EchoService final : public v1::Emulator::Service {
 public:
  grpc::Status Predict(grpc::ServerContext* /*context*/, const v1::PredictRequest* request,
                       v1::PredictResponse* response) override {
    // The first column of the inputs, as mean and as variance.
    const uint32_t rows = request->inputs().rows();
    const std::string& inputs = request->inputs().f64_le();
    for (v1::Matrix* answer :
         {response->mutable_prediction()->mutable_mean(), response->mutable_prediction()->mutable_variance()}) {
      answer->set_rows(rows);
      answer->set_cols(1);
      answer->set_f64_le(inputs.substr(0, sizeof(double) * rows));
    }
    response->set_revision(absl::StrCat(request->model(), "/revisions/1"));
    response->set_data_version(1);
    calls_.fetch_add(1, std::memory_order_relaxed);
    return grpc::Status::OK;
  }

  int64_t calls() const { return calls_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> calls_{0};
};

class EchoServerCommand : public Command {
 public:
  std::string name() const override { return "echo-server"; }
  std::string about() const override { return "A bare gRPC server until SIGTERM: what serve and flood compare with"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--port-file", port_file_, "receives the port, a free one of the loopback")->required();
    app.add_flag("--health", health_, "answers health checks, too, as gRPC's own service does");
  }

  absl::StatusOr<Outcome> Run() override {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before there are other threads
    EchoService service;
    int port = 0;
    grpc::EnableDefaultHealthCheckService(health_);
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service);
    const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    if (server == nullptr || port == 0) return absl::UnavailableError("no port of the loopback can be bound");
    FIDELIO_RETURN_IF_ERROR(WriteFile(port_file_, absl::StrCat(port, "\n")));
    int signal = 0;
    sigwait(&signals, &signal);
    server->Shutdown();
    Outcome outcome;
    outcome.json = {{"calls", service.calls()}};
    outcome.summary = absl::StrCat(service.calls(), " calls answered");
    return outcome;
  }

 private:
  std::string port_file_;
  bool health_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeEchoServerCommand() { return std::make_unique<EchoServerCommand>(); }

}  // namespace fidelio::bench
