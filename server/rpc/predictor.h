// What Predict, PredictStream and SamplePaths share: from options and inputs on the wire to an answer on the wire.
//
// Limits are checked before anything is allocated. Work is done in pieces of kPiece points, between which a call whose
// client has gone is left alone; an input's prediction does not depend on the piece it is in.
//
// Immutable; safe to share between threads.
#ifndef FIDELIO_SERVER_RPC_PREDICTOR_H_
#define FIDELIO_SERVER_RPC_PREDICTOR_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "fidelio/v1/prediction.pb.h"
#include "server/model/loaded_revision.h"
#include "server/rpc/call.h"
#include "server/rpc/limits.h"
#include "server/rpc/memory_budget.h"

namespace fidelio {

// OK when the matrix has 1 to max_inputs rows and a column for each input of the model. Its elements are not looked at.
absl::Status CheckInputs(const v1::Matrix& inputs, const LoadedRevision& revision, const ServiceLimits& limits);

// OK when an answer of so many doubles fits into a message. `what` describes them: "10 paths at 100 inputs".
absl::Status CheckAnswer(int64_t doubles, absl::string_view what, const ServiceLimits& limits);

class Predictor {
 public:
  // Options are INVALID_ARGUMENT with messages that begin with `field`. `limits` and `memory` outlive it.
  static absl::StatusOr<Predictor> Create(std::shared_ptr<const LoadedRevision> revision,
                                          const v1::PredictOptions& options, absl::string_view field,
                                          const ServiceLimits& limits, MemoryBudget* memory);

  // Predicts at `inputs` (its path in requests is "inputs"). Answers have the encoding of the inputs.
  absl::Status Predict(const Call& call, const v1::Matrix& inputs, v1::Prediction* answer) const;

  std::string revision_name() const;
  int64_t data_version() const { return revision_->data_version(); }

 private:
  Predictor() = default;

  absl::StatusOr<Prediction> PredictInPieces(const Call& call, const Matrix& x) const;

  std::shared_ptr<const LoadedRevision> revision_;
  PredictOptions options_;
  bool full_covariance_ = false;
  std::string field_;
  const ServiceLimits* limits_ = nullptr;
  MemoryBudget* memory_ = nullptr;
};

// Whether a prediction is done in a fraction of a millisecond, as far as those before it tell.
bool IsQuick(const v1::PredictRequest& request, const LoadedRevision& revision);

// What the contract says about the values of options, which needs no model.
absl::Status CheckPredictOptions(const v1::PredictOptions& options, absl::string_view field);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_PREDICTOR_H_
