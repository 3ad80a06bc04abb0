// What callers of ModelService give and get, as plain values. Numbers of enumerations are part of the byte format
// (codec.h) and equal those of fidelio.v1. Stored records may hold numbers that this program does not know.
#ifndef FIDELIO_SERVER_MODEL_MODEL_TYPES_H_
#define FIDELIO_SERVER_MODEL_MODEL_TYPES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/types.h"
#include "core/data/dataset.h"
#include "core/emulator/fit_options.h"  // FitReport
#include "core/kernel/kernel_family.h"
#include "core/registry/emulator_method.h"
#include "core/registry/model_kind.h"
#include "server/store/records.h"  // FitState

namespace fidelio {

// ---- Who asks ----

// Absent: no limit but the server's.
struct CallerQuotas {
  std::optional<int64_t> max_models = {};
  // Of all models that the caller made, together, and those that the caller added to models of others.
  std::optional<int64_t> max_observations = {};
  std::optional<int64_t> max_concurrent_fits = {};  // PENDING or RUNNING
};

struct Caller {
  std::string name = {};  // of the token; empty without authentication
  CallerQuotas quotas = {};
};

// Of a mutation. With a request_id, the answer is remembered under (caller.name, request_id) and given again for the same
// body; for another body the call is INVALID_ARGUMENT. `body` is the request in a canonical form (which the caller of the
// service chooses: the same request, the same bytes), is needed only with a request_id, and is not kept.
struct MutationContext {
  Caller caller = {};
  std::string request_id = {};  // empty: no protection
  absl::string_view body = {};  // outlives the call
};

// ---- Models ----

enum class OutputTransformKind { kIdentity = 1, kLog = 2, kLogit = 3, kBounded = 4 };
enum class ModelState { kActive = 1, kQuarantined = 2 };

struct OutputTransformSpec {
  OutputTransformKind kind = OutputTransformKind::kIdentity;
  double lower = 0;  // kBounded only
  double upper = 0;
};

struct FidelitySpec {
  std::string name = {};  // empty: "level-0", … is filled in
  double cost = 1;        // > 0
};

// Name, unit and description of an input or of the output. Only the name is needed.
struct VariableSpec {
  std::string name = {};
  std::string unit = {};
  std::string description = {};
};

struct ModelSpec {
  std::string description = {};
  int64_t input_dimension = 0;  // of a new model: 0 means the number of `inputs`
  std::optional<InputBox> input_box = {};
  std::vector<FidelitySpec> fidelities = {};  // from the lowest
  OutputTransformSpec output_transform = {};
  ModelKind kind = ModelKind::kMfDgp;
  std::vector<VariableSpec> inputs = {};    // one per column of inputs, or none: unnamed
  std::optional<VariableSpec> output = {};  // absent: unnamed
  int64_t keep_revisions = 0;               // 0: the server's setting
};

// What UpdateModel changes; what is absent stays.
struct ModelUpdate {
  std::optional<std::string> description = {};
  std::optional<std::optional<InputBox>> input_box = {};  // an empty inner one clears the box
  std::optional<std::vector<FidelitySpec>> fidelities = {};
  std::optional<std::vector<VariableSpec>> inputs = {};    // an empty list clears the names
  std::optional<std::optional<VariableSpec>> output = {};  // an empty inner one clears the name
  std::optional<int64_t> keep_revisions = {};
};

struct ModelInfo {
  std::string name = {};  // {model}, without "models/"
  ModelSpec spec = {};
  std::string etag = {};
  int64_t data_version = 0;
  std::vector<int64_t> observation_counts = {};  // one per fidelity
  int64_t current_revision = 0;                  // 0: none yet
  absl::Time created = absl::UnixEpoch();
  absl::Time updated = absl::UnixEpoch();
  ModelState state = ModelState::kActive;
  std::string quarantine_reason = {};            // then spec and counts may be missing
  int64_t withdrawn_count = 0;                   // observations withdrawn or replaced so far
  int64_t current_revision_withdrawn_count = 0;  // of these, those that the current revision knows
};

struct ModelList {
  std::vector<ModelInfo> models = {};  // by name
  std::string next = {};               // pass as `after` to go on; empty when there is no more
};

// ---- Observations ----

enum class ObservationUpdate { kNone = 1, kCondition = 2 };

// Why and since when observations are no longer in use.
struct Withdrawal {
  int64_t data_version = 0;
  std::string reason = {};
  bool corrected = false;
  absl::Time time = absl::UnixEpoch();
};

struct ObservationBatch {
  std::optional<int> level = {};          // needed unless the model has one fidelity
  Matrix inputs = {};                     // n×d
  Vector outputs = {};                    // n
  Vector noise_variances = {};            // n values, 1 for all, or none: learned
  std::vector<std::string> run_ids = {};  // n, or none: made by the service
  int64_t data_version = 0;               // output only, like all that follows
  absl::Time created = absl::UnixEpoch();
  std::optional<Withdrawal> withdrawal = {};  // these observations are no longer in use
};

enum class DuplicatePolicy { kKeep = 1, kSkip = 2 };
enum class ObservationWarningKind { kDuplicate = 1, kFarOutsideBox = 2 };

struct ObservationWarning {
  ObservationWarningKind kind = ObservationWarningKind::kDuplicate;
  int64_t count = 0;
  std::vector<int64_t> rows = {};  // the first of them: rows of the call, over all its batches
  std::string message = {};
};

struct AddObservationsOptions {
  AddObservationsOptions(ObservationUpdate u = ObservationUpdate::kNone,  // NOLINT: the usual option by itself
                         DuplicatePolicy d = DuplicatePolicy::kKeep)
      : update(u), duplicates(d) {}
  ObservationUpdate update;
  DuplicatePolicy duplicates;
};

struct AddObservationsAnswer {
  int64_t data_version = 0;
  std::vector<int64_t> observation_counts = {};  // in use, one per fidelity
  std::string etag = {};
  int64_t revision = 0;  // 0: none was made
  std::vector<ObservationWarning> warnings = {};
  int64_t added = 0;
  int64_t skipped = 0;   // copies that were left out
  int64_t replayed = 0;  // rows that were there already under their run_id
};

// Which observations to withdraw: those with the ids, or all that a version added.
struct WithdrawQuery {
  std::vector<std::string> run_ids = {};
  int64_t batch = 0;  // data_version; 0: by run_ids
  std::string reason = {};
};

struct Correction {
  std::vector<std::string> run_ids = {};
  Vector outputs = {};          // one per id
  Vector noise_variances = {};  // one per id, 1 for all, or none: as they were
  std::string reason = {};
};

// Of WithdrawObservations and CorrectObservations.
struct ChangeObservationsAnswer {
  int64_t data_version = 0;
  std::vector<int64_t> observation_counts = {};  // in use, one per fidelity
  std::string etag = {};
  int64_t changed = 0;  // observations that were withdrawn or corrected
  int64_t current_revision_withdrawn = 0;
};

// A place between observations. The first one is the default.
struct ObservationPosition {
  int64_t data_version = 1;
  int64_t part = 0;  // of the batch
  int64_t row = 0;   // of the part
};

struct ObservationListQuery {
  std::optional<int> level = {};
  int64_t max_points = 10'000;    // ≥ 1
  ObservationPosition from = {};  // ObservationList::next of the page before
  int64_t data_version = 0;       // what all pages show: that of the first page; 0: the newest
  bool show_withdrawn = false;    // the history, too
};

struct ObservationList {
  std::vector<ObservationBatch> observations = {};  // in the order of arrival; a batch that spans pages is split
  std::optional<ObservationPosition> next = {};     // absent when there is no more
  int64_t data_version = 0;
  int64_t total_size = 0;  // of all pages
};

// ---- Fits ----

struct FitSpec {
  Inference inference = Inference::kAuto;
  std::optional<KernelFamily> kernel_family = KernelFamily::kRbf;  // absent: BY_EVIDENCE
  bool warm_start = false;
  std::optional<double> budget_seconds = {};
  std::optional<int64_t> budget_iterations = {};
  uint64_t seed = 0;
  std::map<std::string, double> method_options = {};  // by name (EmulatorMethod::options)
};

struct JobProgress {
  std::string phase = {};
  int64_t iteration = 0;
  int64_t evaluations = 0;
  double fraction = 0;  // 0…1
  std::optional<double> elbo = {};
  absl::Duration elapsed = absl::ZeroDuration();
  std::optional<absl::Duration> eta = {};
};

// One iteration of a fit's history (fit_history.h).
struct FitPoint {
  std::string phase = {};
  int64_t iteration = 0;
  double elbo = 0;
  absl::Duration elapsed = absl::ZeroDuration();
};

struct FitInfo {
  std::string model = {};
  int64_t id = 0;  // 0 in the answer to validate_only
  FitState state = FitState::kPending;
  FitSpec options = {};
  JobProgress progress = {};
  std::vector<FitPoint> history = {};       // how the objective went, thinned
  int64_t data_version = 0;                 // 0 until it begins to run
  int64_t revision = 0;                     // 0 unless SUCCEEDED
  bool not_served = false;                  // the model was rolled back since it was asked for
  absl::Status error = {};                  // why it FAILED, with the details of server/status
  std::optional<Inference> inference = {};  // what AUTO chose, once it runs
  std::string inference_reason = {};
  std::optional<FitReport> report = {};  // absent unless SUCCEEDED, and of fits by programs that did not keep it
  absl::Time created = absl::UnixEpoch();
  std::optional<absl::Time> started = {};
  std::optional<absl::Time> finished = {};
  int64_t resume_count = 0;
  int64_t queue_position = 0;  // fits of the server ahead of it; 0 unless PENDING
};

struct FitList {
  std::vector<FitInfo> fits = {};  // the newest first
  int64_t next = 0;                // pass as `before` to go on; 0 when there is no more
};

// ---- Revisions ----

enum class RevisionOrigin { kFit = 1, kCondition = 2 };

struct RevisionInfo {
  std::string model = {};
  int64_t id = 0;
  RevisionOrigin origin = RevisionOrigin::kFit;
  int64_t fit = 0;  // 0: made by a fit of another server, and imported
  int64_t data_version = 0;
  std::vector<int64_t> observation_counts = {};  // one per fidelity
  ModelKind kind = ModelKind::kMfDgp;
  FitSpec options = {};
  Inference inference = Inference::kMoments;
  std::string inference_reason = {};
  double elbo = 0;
  int64_t evaluations = 0;
  absl::Duration fit_duration = absl::ZeroDuration();
  std::optional<FitReport> report = {};  // of the fit, also of an imported one; absent if made before it was kept
  absl::Time created = absl::UnixEpoch();
  std::string code_version = {};
  int64_t size_bytes = 0;
  std::string sha256 = {};  // 32 bytes
  bool current = false;
  int64_t withdrawn = 0;  // observations that it knows and that are no longer in use
};

struct RevisionList {
  std::vector<RevisionInfo> revisions = {};  // the newest first
  int64_t next = 0;                          // pass as `before` to go on; 0 when there is no more
};

// ---- What there is ----

// An inference of a kind of model.
struct SupportedMethod {
  const EmulatorMethod* method;
  const MethodUse* use;
};

struct Capabilities {
  std::vector<SupportedMethod> methods;  // by kind, then by inference
  std::vector<ModelKind> model_kinds;
  std::vector<Inference> inferences;
  std::vector<std::optional<KernelFamily>> kernel_families;  // absent: BY_EVIDENCE
  std::vector<ObservationUpdate> observation_updates;
  std::vector<OutputTransformKind> output_transforms;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_MODEL_TYPES_H_
