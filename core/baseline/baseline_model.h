// BaselineModel: a classic model of given data, before its hyperparameters are known.
//
// They are learned in stages, one after the other: a joint model has one, a chain has one per level, and the Gaussian process
// of a stage depends on what the stages before predict, averaged over their draws. Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_BASELINE_BASELINE_MODEL_H_
#define FIDELIO_CORE_BASELINE_BASELINE_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/baseline/baseline_method.h"
#include "core/baseline/baseline_posterior.h"
#include "core/baseline/chain_posterior.h"
#include "core/baseline/stage_form.h"
#include "core/data/scaled_data.h"
#include "core/gp/gp_model.h"
#include "core/kernel/kernel_family.h"

namespace fidelio {

class BaselineModel {
 public:
  BaselineModel(BaselineMethod method, ScaledData data) : method_(method), data_(std::move(data)) {}

  BaselineMethod method() const { return method_; }
  const ScaledData& data() const { return data_; }
  int stages() const;

  // The forms of stages, with that kernel family or with all. DEEP-MF's are without a network, too: where the data do not ask for
  // one, the evidence says so.
  std::vector<StageForm> Forms(const std::optional<KernelFamily>& kernel) const;

  // The Gaussian process of the stage after `before`, in one of its forms.
  absl::StatusOr<std::shared_ptr<const GpModel>> Stage(const StageForm& form,
                                                       const std::vector<StageParameters>& before) const;

  // Where the search for a stage's hyperparameters begins, in whitened parameters (ParameterLayout); the prior's centre first.
  std::vector<Vector> Starts(const GpModel& stage, uint64_t seed) const;

  // Needs the parameters of every stage.
  absl::StatusOr<std::unique_ptr<const BaselinePosterior>> Posterior(const std::vector<StageParameters>& stages) const;

 private:
  bool joint() const { return method_ == BaselineMethod::kAr1 || method_ == BaselineMethod::kDeepMf; }
  absl::StatusOr<std::unique_ptr<ChainPosterior>> Chain(const std::vector<StageParameters>& stages, Vector* lean) const;
  std::shared_ptr<const ChainLayer> Layer(const ChainPosterior& below, const StageForm& form, const Vector& lean) const;

  BaselineMethod method_;
  ScaledData data_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_BASELINE_MODEL_H_
