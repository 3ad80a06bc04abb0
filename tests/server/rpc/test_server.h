// TestServer: a complete server in this process, on a free port of the loopback with data in a directory of its own, and
// a client of it. FitGate holds its fits until a test lets them go on.
#ifndef FIDELIO_TESTS_SERVER_RPC_TEST_SERVER_H_
#define FIDELIO_TESTS_SERVER_RPC_TEST_SERVER_H_

#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "fidelio/v1/emulator.grpc.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/channel_arguments.h"
#include "gtest/gtest.h"
#include "server/server.h"
#include "tests/support/temp_directory.h"

namespace fidelio {

// Holds every iteration of every fit while it is closed.
class FitGate {
 public:
  void Close();
  void Open();
  void AwaitHeld();  // until a fit waits at the gate
  ModelServiceHooks Hooks();

 private:
  absl::Mutex mutex_;
  bool open_ ABSL_GUARDED_BY(mutex_) = true;
  int held_ ABSL_GUARDED_BY(mutex_) = 0;
};

class TestServer {
 public:
  using Adjust = std::function<void(Server::Options& options)>;

  explicit TestServer(const Adjust& adjust = {});
  ~TestServer();

  v1::Emulator::Stub& stub() { return *stub_; }
  Server& server() { return *server_; }
  std::shared_ptr<grpc::Channel> NewChannel(const grpc::ChannelArguments& arguments = {}) const;
  std::string address() const;
  const TempDirectory& directory() const { return directory_; }

  // Stops the server and answers what it has logged.
  std::string StopAndReadLog();

  // ---- The main job, with expectations ----
  // A model of one input and two fidelities.
  v1::Model Create(const std::string& model);
  // `count` observations of the low fidelity and half as many of the high one.
  v1::AddObservationsResponse Observe(const std::string& model, int count = 8);
  // A short fit, from its start to its success.
  v1::Fit FitAndWait(const std::string& model, uint64_t seed = 0);
  // All of the above.
  void MakeFitted(const std::string& model);

 private:
  TempDirectory directory_;
  std::ostringstream log_;
  std::unique_ptr<Logger> logger_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<v1::Emulator::Stub> stub_;
};

// A context that gives up after a minute, with a token unless that is empty.
class TestContext : public grpc::ClientContext {
 public:
  explicit TestContext(const std::string& token = "");
};

v1::Matrix MakeMatrix(int rows, int cols, const std::vector<double>& values);
v1::FitRequest ShortFit(const std::string& model);
v1::PredictRequest PredictAt(const std::string& model, const std::vector<double>& inputs);
std::vector<double> Values(const v1::Matrix& matrix);

::testing::AssertionResult IsOk(const grpc::Status& status);

// An error with this code, whose message contains `part`, and whose only detail is of the type Detail.
template <typename Detail>
Detail ExpectError(const grpc::Status& status, grpc::StatusCode code, const std::string& part) {
  EXPECT_EQ(status.error_code(), code) << status.error_message();
  EXPECT_NE(status.error_message().find(part), std::string::npos) << status.error_message();
  google::rpc::Status trailer;
  EXPECT_TRUE(trailer.ParseFromString(status.error_details()));
  EXPECT_EQ(trailer.code(), code);
  EXPECT_EQ(trailer.message(), status.error_message());
  Detail detail;
  EXPECT_EQ(trailer.details_size(), 1) << trailer.DebugString();
  EXPECT_TRUE(trailer.details_size() == 1 && trailer.details(0).UnpackTo(&detail)) << trailer.DebugString();
  return detail;
}

// INVALID_ARGUMENT about this field, with `part` in what is said of it.
void ExpectBadField(const grpc::Status& status, const std::string& field, const std::string& part);

// An error of this code without details.
void ExpectBareError(const grpc::Status& status, grpc::StatusCode code, const std::string& part);

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SERVER_RPC_TEST_SERVER_H_
