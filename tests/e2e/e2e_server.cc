#include "tests/e2e/e2e_server.h"

#include <cmath>
#include <cstdlib>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace fidelio {

E2eServer::E2eServer(const std::string& data_dir, const std::vector<std::string>& flags) {
  std::vector<std::string> all = {"--log-level", "info"};
  all.insert(all.end(), flags.begin(), flags.end());
  auto process = StartFidelio(FIDELIO_SERVER_BINARY, data_dir, scratch_.path(), all);
  if (!process.ok()) {
    ADD_FAILURE() << process.status();
    std::abort();  // nothing of the test makes sense
  }
  process_ = *std::move(process);
  stub_ = v1::Emulator::NewStub(process_->NewChannel());
}

CommandResult RunServer(const std::vector<std::string>& arguments, const std::string& input) {
  return RunCommand(FIDELIO_SERVER_BINARY, arguments, input);
}

Context::Context() { set_deadline(absl::ToChronoTime(absl::Now() + absl::Minutes(2))); }

void ExpectOk(const grpc::Status& status) { EXPECT_TRUE(status.ok()) << status.error_message(); }

v1::Matrix Column(const std::vector<double>& values) {
  v1::Matrix matrix;
  matrix.set_rows(static_cast<uint32_t>(values.size()));
  matrix.set_cols(1);
  matrix.mutable_values()->mutable_values()->Add(values.begin(), values.end());
  return matrix;
}

void CreateAndObserve(v1::Emulator::Stub& stub) {
  v1::CreateModelRequest create;
  create.set_model_id("wing");
  create.mutable_model()->set_description("a needle in the model's rows");
  create.mutable_model()->set_input_dimension(1);
  create.mutable_model()->add_fidelities()->set_name("coarse");
  create.mutable_model()->add_fidelities()->set_name("fine");
  v1::Model model;
  Context create_context;
  ExpectOk(stub.CreateModel(&create_context, create, &model));

  v1::AddObservationsRequest observe;
  observe.set_model("models/wing");
  observe.set_request_id("first");
  for (const int n : {8, 4}) {
    std::vector<double> x, y;
    for (int i = 0; i < n; ++i) {
      x.push_back(i / (n - 1.0));
      y.push_back(std::sin(8 * x.back()) + (n == 4 ? 0.3 * x.back() : 0.0));
    }
    v1::ObservationBatch* batch = observe.add_observations();
    batch->set_level(n == 8 ? 0 : 1);
    *batch->mutable_inputs() = Column(x);
    *batch->mutable_outputs() = Column(y);
  }
  v1::AddObservationsResponse answer;
  Context context;
  ExpectOk(stub.AddObservations(&context, observe, &answer));
}

v1::Model GetModel(v1::Emulator::Stub& stub) {
  v1::GetModelRequest request;
  request.set_name("models/wing");
  v1::Model model;
  Context context;
  ExpectOk(stub.GetModel(&context, request, &model));
  return model;
}

v1::Fit StartFit(v1::Emulator::Stub& stub, int64_t iterations) {
  v1::FitRequest request;
  request.set_model("models/wing");
  request.mutable_options()->mutable_budget()->set_iterations(iterations);
  v1::Fit fit;
  Context context;
  ExpectOk(stub.Fit(&context, request, &fit));
  return fit;
}

v1::Fit WatchToTheEnd(v1::Emulator::Stub& stub, const std::string& name) {
  v1::WatchFitRequest request;
  request.set_name(name);
  Context context;
  const auto reader = stub.WatchFit(&context, request);
  v1::WatchFitResponse event;
  while (reader->Read(&event)) {
  }
  ExpectOk(reader->Finish());
  return event.fit();
}

std::string Predict(v1::Emulator::Stub& stub) {
  v1::PredictRequest request;
  request.set_model("models/wing");
  *request.mutable_inputs() = Column({0.05, 0.4, 0.95, 1.2});
  request.mutable_options()->add_quantiles(0.05);
  v1::PredictResponse answer;
  Context context;
  ExpectOk(stub.Predict(&context, request, &answer));
  return answer.SerializeAsString();
}

}  // namespace fidelio
