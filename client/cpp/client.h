// Client: everything that a Fidelio server offers, with Eigen matrices.
//
//   auto client = fidelio::client::Client::Connect({.channel = {.server = "127.0.0.1:50051"}});
//   auto fit = (*client)->Fit("wing", {});
//   auto done = (*client)->WatchFit(fit->name(), [](const fidelio::v1::Fit& f) { … f.progress().fraction() … });
//   auto p = (*client)->Predict("wing", x, {.quantiles = {.025, .975}});
//
// Calls are retried until their deadline while the server is UNAVAILABLE (starting, restarting, shutting down). All attempts
// of a mutation carry the same request id, so it takes effect once. Errors are those of the server, with their details in
// words (client/cpp/errors.h). Models, fits and revisions can be given by full name ("models/wing") or short name ("wing").
//
// Thread-safe: all members may be called at once; calls share one connection.
#ifndef FIDELIO_CLIENT_CPP_CLIENT_H_
#define FIDELIO_CLIENT_CPP_CLIENT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
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

  // `model` as in the contract: fidelities, and input_dimension or inputs (with names and units), are required.
  absl::StatusOr<v1::Model> CreateModel(absl::string_view id, const v1::Model& model, const CallOptions& call = {});
  absl::StatusOr<v1::Model> GetModel(absl::string_view model, const CallOptions& call = {});
  // All of them, by name.
  absl::StatusOr<std::vector<v1::Model>> ListModels(const CallOptions& call = {});
  // Changes the fields that `paths` names ("description", "input_box", "fidelities", "inputs", "outputs",
  // "keep_revisions") to those of `model`, whose name says which model.
  absl::StatusOr<v1::Model> UpdateModel(const v1::Model& model, const std::vector<std::string>& paths,
                                        const CallOptions& call = {});
  absl::Status DeleteModel(absl::string_view model, const CallOptions& call = {});

  // Writes a model as one self-contained file: `write` receives its bytes in pieces. Once the first piece was written, a
  // lost connection is an error and not retried, since the file would be incomplete.
  absl::Status ExportModel(absl::string_view model, bool all_revisions, const WriteBytes& write,
                           const CallOptions& call = {});
  // Creates a model from such a file. `id` empty: the name that it had. All or nothing; retries start at the beginning of
  // the file.
  absl::StatusOr<v1::Model> ImportModel(absl::string_view id, const ReadBytes& read, const CallOptions& call = {});

  // Appends all or nothing.
  absl::StatusOr<AddedObservations> AddObservations(absl::string_view model,
                                                    const std::vector<Observations>& observations,
                                                    const CallOptions& call = {}) {
    return AddObservations(model, observations, AddOptions(), call);
  }
  absl::StatusOr<AddedObservations> AddObservations(absl::string_view model,
                                                    const std::vector<Observations>& observations,
                                                    const AddOptions& options, const CallOptions& call = {});

  // Appends what is too much for one call: one call for everything that `next` returns, each all or nothing, until that
  // is empty. The request id of chunk i (from 0) is `call.request_id` (a random one when that is empty), a dot and i, so
  // that the same chunks with the same id are added once, however often they are sent. `on_chunk` (may be null) sees what
  // every call committed, with warnings about the rows of that chunk. Each call has the time of `call`. Returns the first
  // error, or the last response with the sums of all: rows of its warnings are counted over all chunks.
  // `options.update` must be kNone.
  absl::StatusOr<AddedObservations> AddObservationChunks(
      absl::string_view model, const std::function<absl::StatusOr<std::vector<Observations>>()>& next,
      const std::function<void(const AddedObservations&)>& on_chunk, const CallOptions& call = {}) {
    return AddObservationChunks(model, next, on_chunk, AddOptions(), call);
  }
  absl::StatusOr<AddedObservations> AddObservationChunks(
      absl::string_view model, const std::function<absl::StatusOr<std::vector<Observations>>()>& next,
      const std::function<void(const AddedObservations&)>& on_chunk, const AddOptions& options,
      const CallOptions& call = {});

  // Observations in the order in which they were added.
  absl::StatusOr<std::vector<Observations>> ListObservations(absl::string_view model,
                                                             const ListObservationsOptions& options,
                                                             const CallOptions& call = {});
  absl::StatusOr<std::vector<Observations>> ListObservations(absl::string_view model, std::optional<int> level,
                                                             int64_t most, const CallOptions& call = {}) {
    return ListObservations(model, {.level = level, .most = most}, call);
  }

  // Takes observations out of use, by their ids: all of them, or none when one is not in use (NOT_FOUND). They stay
  // readable (ListObservationsOptions::show_withdrawn), and revisions that know them stay as they are.
  absl::StatusOr<ChangedObservations> WithdrawObservations(absl::string_view model,
                                                           const std::vector<std::string>& run_ids,
                                                           absl::string_view reason, const CallOptions& call = {});
  // The same for all observations in use that one data_version added.
  absl::StatusOr<ChangedObservations> WithdrawBatch(absl::string_view model, int64_t data_version,
                                                    absl::string_view reason, const CallOptions& call = {});
  // Replaces outputs; ids, inputs and fidelities stay. All of them, or none.
  absl::StatusOr<ChangedObservations> CorrectObservations(absl::string_view model, const Correction& correction,
                                                          absl::string_view reason, const CallOptions& call = {});

  // Starts a fit, which continues without this client.
  absl::StatusOr<v1::Fit> Fit(absl::string_view model, const v1::FitOptions& options, const CallOptions& call = {});
  // Checks whether that fit would start. Returns the fit that would be started, without a name.
  absl::StatusOr<v1::Fit> ValidateFit(absl::string_view model, const v1::FitOptions& options,
                                      const CallOptions& call = {});
  absl::StatusOr<v1::Fit> GetFit(absl::string_view name, const CallOptions& call = {});
  // All of them, the newest first.
  absl::StatusOr<std::vector<v1::Fit>> ListFits(absl::string_view model, const CallOptions& call = {});
  absl::StatusOr<v1::Fit> CancelFit(absl::string_view name, const CallOptions& call = {});

  // Waits until a fit has ended and returns it, whether it succeeded or not. `on_event` (may be null) is called from this
  // thread for every event; the first one is the current state. Survives restarts of the server.
  absl::StatusOr<v1::Fit> WatchFit(absl::string_view name, const std::function<void(const v1::Fit&)>& on_event,
                                   const CallOptions& call = {});

  // `inputs` n×d with n ≥ 1. Many inputs are sent in several calls; all are predicted by the same revision.
  absl::StatusOr<Prediction> Predict(absl::string_view model, const Eigen::Ref<const Eigen::MatrixXd>& inputs,
                                     const PredictOptions& options = {}, const CallOptions& call = {});

  // Predicts any number of inputs in constant memory: `next` returns chunks (n×d, n ≥ 1; no rows at the end), `on_chunk`
  // receives their predictions in the same order. A separate thread reads at most kPredictAhead chunks ahead of the
  // responses: `next` and `on_chunk` may run at the same time in different threads, but each runs once at a time. All
  // chunks are predicted by the same revision, even across a restart of the server. There is no deadline unless `call` sets
  // one, but a server that does not respond for ClientOptions.timeout is an error. full_covariance is refused.
  absl::Status PredictStream(absl::string_view model, const PredictOptions& options,
                             const std::function<absl::StatusOr<Eigen::MatrixXd>()>& next,
                             const std::function<absl::Status(const Prediction&)>& on_chunk,
                             const CallOptions& call = {});

  // Samples of the posterior at `inputs` (n×d, n ≥ 1). Functions at many inputs take several calls to one revision; joint
  // samples, which have a limit of n, one.
  absl::StatusOr<PathSamples> SamplePaths(absl::string_view model, const Eigen::Ref<const Eigen::MatrixXd>& inputs,
                                          const SampleOptions& options = {}, const CallOptions& call = {});

  // Inputs to begin with, spread over the box. Needs no fit.
  absl::StatusOr<InitialDesignRuns> InitialDesign(absl::string_view model, const InitialDesignOptions& options,
                                                  const CallOptions& call = {});
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
  absl::StatusOr<v1::Revision> GetRevision(absl::string_view name, const CallOptions& call = {});
  // Serves another revision (number or full name) from now on.
  absl::StatusOr<v1::Model> RollbackModel(absl::string_view model, absl::string_view revision,
                                          const CallOptions& call = {});
  // Deletes a revision (number or full name) that is not the current one, with its bytes.
  absl::Status DeleteRevision(absl::string_view model, absl::string_view revision, const CallOptions& call = {});

  absl::StatusOr<v1::ServerInfo> GetServerInfo(const CallOptions& call = {});

 private:
  Client(const ClientOptions& options, std::shared_ptr<grpc::Channel> channel) : caller_(options, std::move(channel)) {}

  const Caller caller_;
};

// Number of chunks that PredictStream sends before their responses arrive.
inline constexpr int kPredictAhead = 4;

// Whether a fit has SUCCEEDED, FAILED or been CANCELLED.
bool HasEnded(const v1::Fit& fit);

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_CLIENT_H_
