// fidelio-bench call: the time of Predict by the C++ client, on a server and a model that are there already. What clients
// in other languages are compared with (python_speed.py).
#include <Eigen/Core>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cpp/client.h"
#include "core/base/status_macros.h"
#include "tests/bench/commands.h"
#include "tests/bench/latencies.h"

namespace fidelio::bench {
namespace {

class CallCommand : public Command {
 public:
  std::string name() const override { return "call"; }
  std::string about() const override { return "Predict by the C++ client, on a running server"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--server", server_, "HOST:PORT")->required();
    app.add_option("--model", model_, "a fitted model with inputs in the unit cube")->required();
    app.add_option("--points", points_, "inputs of one call")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--calls", calls_, "how many are measured, after one that is not")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
  }

  absl::StatusOr<Outcome> Run() override {
    FIDELIO_ASSIGN_OR_RETURN(const auto client, client::Client::Connect({.channel = {.server = server_}}));
    FIDELIO_ASSIGN_OR_RETURN(const v1::Model model, client->GetModel(model_));
    const Eigen::MatrixXd x = 0.5 * (Eigen::MatrixXd::Random(points_, model.input_dimension()).array() + 1);
    FIDELIO_RETURN_IF_ERROR(client->Predict(model_, x).status());
    Outcome outcome;
    Latencies latencies;
    for (int i = 0; i < calls_; ++i) {
      const absl::Time start = absl::Now();
      FIDELIO_RETURN_IF_ERROR(client->Predict(model_, x).status());
      const absl::Duration duration = absl::Now() - start;
      latencies.Add(duration);
      outcome.json["seconds"].push_back(absl::ToDoubleSeconds(duration));
    }
    outcome.summary = absl::StrCat(points_, " points, ", calls_, " calls, p50 ", latencies.Percentile(0.5), " us");
    return outcome;
  }

 private:
  std::string server_;
  std::string model_;
  int points_ = 10'000;
  int calls_ = 5;
};

}  // namespace

std::unique_ptr<Command> MakeCallCommand() { return std::make_unique<CallCommand>(); }

}  // namespace fidelio::bench
