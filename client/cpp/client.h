// Client: all that a program does with a Fidelio server, on Eigen matrices.
//
//   auto client = fidelio::client::Client::Connect({.channel = {.server = "127.0.0.1:50051"}});
//   auto fit = (*client)->Fit("wing", {});
//   auto done = (*client)->WatchFit(fit->name(), [](const fidelio::v1::Fit& f) { … f.progress().fraction() … });
//   auto p = (*client)->Predict("wing", x, {.quantiles = {.025, .975}});
//
// Calls that find the server UNAVAILABLE (not there yet, shutting down, restarting) are tried again until they succeed
// or their deadline comes. Mutations carry one request id for all their attempts, so that each happens once. Errors are
// those of the server, with their details in words (client/cpp/errors.h). Models, fits and revisions go by full name
// ("models/wing") or short ("wing").
//
// Thread-safe: all members may be called at once; calls share one connection.
#ifndef FIDELIO_CLIENT_CPP_CLIENT_H_
#define FIDELIO_CLIENT_CPP_CLIENT_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cpp/caller.h"
#include "client/cpp/design_types.h"
#include "client/cpp/types.h"
#include "fidelio/v1/emulator.grpc.pb.h"

namespace fidelio::client {

class Client {
 public:
  // Does not wait for the server: the first call connects. INVALID_ARGUMENT names the option and the rule.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(const ClientOptions& options);

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // `model` as in the contract: input_dimension and fidelities are required.
  absl::StatusOr<v1::Model> CreateModel(absl::string_view id, const v1::Model& model, const CallOptions& call = {});
  absl::StatusOr<v1::Model> GetModel(absl::string_view model, const CallOptions& call = {});
  // All of them, by name.
  absl::StatusOr<std::vector<v1::Model>> ListModels(const CallOptions& call = {});
  absl::Status DeleteModel(absl::string_view model, const CallOptions& call = {});

  // Appends all or nothing.
  absl::StatusOr<AddedObservations> AddObservations(absl::string_view model,
                                                    const std::vector<Observations>& observations,
                                                    const CallOptions& call = {}) {
    return AddObservations(model, observations, ObservationUpdate::kNone, call);
  }
  absl::StatusOr<AddedObservations> AddObservations(absl::string_view model,
                                                    const std::vector<Observations>& observations,
                                                    ObservationUpdate update, const CallOptions& call = {});

  // Starts a fit, which goes on without this client.
  absl::StatusOr<v1::Fit> Fit(absl::string_view model, const v1::FitOptions& options, const CallOptions& call = {});
  absl::StatusOr<v1::Fit> GetFit(absl::string_view name, const CallOptions& call = {});
  // All of them, the newest first.
  absl::StatusOr<std::vector<v1::Fit>> ListFits(absl::string_view model, const CallOptions& call = {});
  absl::StatusOr<v1::Fit> CancelFit(absl::string_view name, const CallOptions& call = {});

  // Waits until a fit has ended, and answers it, whether it succeeded or not. `on_event` (may be null) sees what happens
  // meanwhile, from this thread; the first event tells the state of now. Outlives restarts of the server.
  absl::StatusOr<v1::Fit> WatchFit(absl::string_view name, const std::function<void(const v1::Fit&)>& on_event,
                                   const CallOptions& call = {});

  // `inputs` n×d with n ≥ 1. Many inputs go to the server in several calls; all are answered by the same revision.
  absl::StatusOr<Prediction> Predict(absl::string_view model, const Eigen::Ref<const Eigen::MatrixXd>& inputs,
                                     const PredictOptions& options = {}, const CallOptions& call = {});

  // Samples of the posterior at `inputs` (n×d, n ≥ 1). Functions at many inputs take several calls to one revision; joint
  // samples, which have a limit of n, one.
  absl::StatusOr<PathSamples> SamplePaths(absl::string_view model, const Eigen::Ref<const Eigen::MatrixXd>& inputs,
                                          const SampleOptions& options = {}, const CallOptions& call = {});

  // Inputs to observe next that are good and unlike each other.
  absl::StatusOr<DppDesign> SampleDpp(absl::string_view model, const DppOptions& options = {},
                                      const CallOptions& call = {});
  // The next runs, each an input and a fidelity, with regard to the costs of the model's fidelities.
  absl::StatusOr<Suggestions> Suggest(absl::string_view model, const SuggestOptions& options = {},
                                      const CallOptions& call = {});
  // How well observations are predicted without them.
  absl::StatusOr<Diagnostics> Diagnose(absl::string_view model, const DiagnoseOptions& options = {},
                                       const CallOptions& call = {});

  // All of them, the newest first.
  absl::StatusOr<std::vector<v1::Revision>> ListRevisions(absl::string_view model, const CallOptions& call = {});

  absl::StatusOr<v1::ServerInfo> GetServerInfo(const CallOptions& call = {});

 private:
  Client(const ClientOptions& options, std::shared_ptr<grpc::Channel> channel) : caller_(options, std::move(channel)) {}

  const Caller caller_;
};

// Whether a fit has SUCCEEDED, FAILED or been CANCELLED.
bool HasEnded(const v1::Fit& fit);

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_CLIENT_H_
