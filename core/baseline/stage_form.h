// StageForm: the forms in which a stage of a classic model may be; those that apply are weighed by their evidence.
#ifndef FIDELIO_CORE_BASELINE_STAGE_FORM_H_
#define FIDELIO_CORE_BASELINE_STAGE_FORM_H_

#include <compare>
#include <vector>

#include "core/base/types.h"
#include "core/kernel/kernel_family.h"

namespace fidelio {

struct StageForm {
  KernelFamily family = KernelFamily::kRbf;
  int hidden = 0;  // units of DEEP-MF's network; 0: none

  auto operator<=>(const StageForm&) const = default;
};

struct StageDraw {
  StageForm form;
  Vector theta;
  double weight = 1;
};

// What a stage learned.
struct StageParameters {
  StageDraw best;                // the most probable hyperparameters: where a warm start begins
  std::vector<StageDraw> draws;  // what predictions average over, at least one; weights sum to 1
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_STAGE_FORM_H_
