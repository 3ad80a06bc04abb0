// StageSearch: learns the hyperparameters of a BaselineModel, stage by stage, each by a search (core/fit/search.h) over its forms.
//
// Stages share a budget of iterations equally: each gets its part of what the stages before have left.
#ifndef FIDELIO_CORE_BASELINE_STAGE_SEARCH_H_
#define FIDELIO_CORE_BASELINE_STAGE_SEARCH_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/baseline/baseline_model.h"
#include "core/emulator/fit_options.h"
#include "core/fit/fit_budget.h"
#include "core/fit/search_state.h"
#include "core/fit/target.h"
#include "core/gp/gp_model.h"

namespace fidelio {

// The log posteriors of a stage: its forms are the structures.
class StageTarget final : public Target {
 public:
  // Of the stage after `before`, in the forms of that kernel family or of all. `model` must outlive the target.
  static absl::StatusOr<StageTarget> Create(const BaselineModel& model, const std::optional<KernelFamily>& kernel,
                                            const std::vector<StageParameters>& before, uint64_t seed);

  const std::vector<StageForm>& forms() const { return forms_; }
  int64_t observations() const { return models_[0]->outputs().size(); }

  int structures() const override { return static_cast<int>(forms_.size()); }
  const ParameterLayout& parameters(int structure) const override { return models_[structure]->parameters(); }
  std::unique_ptr<Objective> NewObjective(int structure) const override;
  absl::Status FailureAt(int structure, const Vector& z) const override;
  std::vector<Vector> Starts(int structure) const override { return model_->Starts(*models_[structure], seed_); }

 private:
  StageTarget(const BaselineModel& model, uint64_t seed) : model_(&model), seed_(seed) {}

  const BaselineModel* model_;
  uint64_t seed_;
  std::vector<StageForm> forms_;
  std::vector<std::shared_ptr<const GpModel>> models_;  // one per form
};

// The stages that are done.
struct StagesDone {
  std::vector<StageParameters> found;
  FitReport report;         // of them together: as well sampled as the worst
  int64_t transitions = 0;  // of HMC after warm-up
  int64_t iterations = 0;   // of their searches
};

// How far the stages have come. Thread-safe.
class StageProgress {
 public:
  struct State {
    StagesDone done;
    SearchState search;  // of the stage that is under way
  };

  explicit StageProgress(State state = {}) : done_(std::move(state.done)), search_(std::move(state.search)) {}

  State Copy() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return {done_, search_.Copy()};
  }
  SharedSearchState& search() { return search_; }

  // Ends the stage that is under way.
  void Advance(StagesDone done) {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ = std::move(done);
    search_.With([](SearchState& s) { s = SearchState(); });
  }

 private:
  mutable std::mutex mutex_;
  StagesDone done_;  // guarded by mutex_, which is held while one stage makes way for the next
  SharedSearchState search_;
};

// Runs `progress` to its end and returns all stages. CANCELLED when the observer says so; `progress` can then be continued. Out of
// budget, the best so far is returned. Of `options`: kernel, point estimate, seed, threads and the budget of iterations. `warm`:
// starts of each stage besides the prior's centre; empty: a cold start.
absl::StatusOr<StagesDone> RunStageSearch(const BaselineModel& model, const FitOptions& options,
                                          const std::vector<StageParameters>& warm, FitBudget& budget,
                                          StageProgress& progress);

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_STAGE_SEARCH_H_
