// E2eServer: the program fidelio-server on a data directory, with a client of it; and the main job through that client.
#ifndef FIDELIO_TESTS_E2E_E2E_SERVER_H_
#define FIDELIO_TESTS_E2E_E2E_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "fidelio/v1/emulator.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "tests/process/server_process.h"
#include "tests/support/temp_directory.h"

namespace fidelio {

// Killed when it goes out of scope.
class E2eServer {
 public:
  // Waits until it answers.
  explicit E2eServer(const std::string& data_dir, const std::vector<std::string>& flags = {});

  v1::Emulator::Stub& stub() { return *stub_; }
  ServerProcess& process() { return *process_; }

 private:
  const TempDirectory scratch_;
  std::unique_ptr<ServerProcess> process_;
  std::unique_ptr<v1::Emulator::Stub> stub_;
};

// Runs fidelio-server to its end.
CommandResult RunServer(const std::vector<std::string>& arguments, const std::string& input = "");

// A context that gives up after two minutes.
class Context : public grpc::ClientContext {
 public:
  Context();
};

void ExpectOk(const grpc::Status& status);

v1::Matrix Column(const std::vector<double>& values);

// The model "wing" of one input and two fidelities, with 8 and 4 observations.
void CreateAndObserve(v1::Emulator::Stub& stub);
v1::Model GetModel(v1::Emulator::Stub& stub);
v1::Fit StartFit(v1::Emulator::Stub& stub, int64_t iterations);
v1::Fit WatchToTheEnd(v1::Emulator::Stub& stub, const std::string& name);
// The bits of predictions.
std::string Predict(v1::Emulator::Stub& stub);

}  // namespace fidelio

#endif  // FIDELIO_TESTS_E2E_E2E_SERVER_H_
