// The blocks of C++ in the documents, as they stand there, so that the compiler reads them. run_docs.py compares.
#include <Eigen/Core>
#include <iostream>
#include <string>

#include "client/cpp/client.h"
#include "core/dgp/moments/mf_dgp.h"

namespace {

// clang-format off
[[maybe_unused]] bool ThroughAServer(const Eigen::MatrixXd& x) {
  auto client = fidelio::client::Client::Connect({.channel = {.server = "127.0.0.1:50051"}});   // fidelio_client
  auto fit = (*client)->Fit("wing", {});                                                // continues without this client
  auto end = (*client)->WatchFit(fit->name(), [](const auto& f) { std::cout << f.progress().fraction() << "\n"; });
  auto p = (*client)->Predict("wing", x, {.quantiles = {.025, .975}});                  // Eigen matrices
  auto next = (*client)->Suggest("wing", {.count = 4, .budget = 50});                   // next->runs[0].input, .level, …
  return end.ok() && p.ok() && next.ok();
}

[[maybe_unused]] bool InTheSameProcess(const Eigen::MatrixXd& x_low, const Eigen::VectorXd& y_low,
                                       const Eigen::MatrixXd& x_high, const Eigen::VectorXd& y_high,
                                       const Eigen::MatrixXd& x) {
  fidelio::Dataset data;
  data.levels = {{x_low, y_low}, {x_high, y_high}};         // n×d inputs, n outputs; level 0 is the lowest fidelity
  auto model = fidelio::FitMfDgp(data, {.seed = 1});        // bad data returns a Status that says what is wrong
  auto p = (*model)->Predict(x, {.quantiles = {.025, .975}, .input_gradient = true});
  std::string checkpoint = (*model)->Save();                // LoadMfDgp(checkpoint) predicts the same bits
  return p.ok() && !checkpoint.empty();
}
// clang-format on

}  // namespace
