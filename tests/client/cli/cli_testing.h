// CliTest: runs commands in the test's process, against a server that answers as a test tells it. It has the model "wing" of
// two inputs and the fidelities low and high, whose predictions are the sums of the inputs.
#ifndef FIDELIO_TESTS_CLIENT_CLI_CLI_TESTING_H_
#define FIDELIO_TESTS_CLIENT_CLI_CLI_TESTING_H_

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "client/cli/cli.h"
#include "client/cpp/matrix.h"
#include "gtest/gtest.h"
#include "tests/client/support/fake_emulator.h"

namespace fidelio::cli {

struct Result {
  int code;
  std::string out;
  std::string err;
};

class CliTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.emulator().get_model = [](grpc::ServerContext&, const v1::GetModelRequest& request, v1::Model& model) {
      if (request.name() != "models/wing") return grpc::Status(grpc::StatusCode::NOT_FOUND, request.name() + ": none");
      model.set_name(request.name());
      model.set_input_dimension(2);
      model.add_fidelities()->set_name("low");
      model.add_fidelities()->set_name("high");
      return grpc::Status::OK;
    };
    server_.emulator().predict = [](grpc::ServerContext&, const v1::PredictRequest& request,
                                    v1::PredictResponse& response) {
      const Eigen::MatrixXd x = *client::FromWire(request.inputs(), "");
      *response.mutable_prediction()->mutable_mean() = client::ToWire(x.rowwise().sum());
      *response.mutable_prediction()->mutable_variance() = client::ToWire(Eigen::VectorXd::Constant(x.rows(), 0.25));
      Eigen::MatrixXd quantiles(x.rows(), request.options().quantiles_size());
      for (Eigen::Index j = 0; j < quantiles.cols(); ++j) {
        quantiles.col(j) = x.rowwise().sum().array() + (request.options().quantiles(static_cast<int>(j)) - 0.5);
      }
      *response.mutable_prediction()->mutable_quantiles() = client::ToWire(quantiles);
      response.set_revision("models/wing/revisions/2");
      return grpc::Status::OK;
    };
  }

  Result Run(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.end(), {"--server", server_.address(), "--retry", "0"});
    std::istringstream in(input);
    std::ostringstream out, err;
    Streams streams{.in = in, .out = out, .err = err};
    const int code = RunCli(arguments, streams);
    return {code, out.str(), err.str()};
  }

  FakeServer server_;
};

inline std::string FileContents(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace fidelio::cli

#endif  // FIDELIO_TESTS_CLIENT_CLI_CLI_TESTING_H_
