// StageForm: the forms in which a stage of a classic model may be; those that apply are weighed by their evidence.
#ifndef FIDELIO_CORE_BASELINE_STAGE_FORM_H_
#define FIDELIO_CORE_BASELINE_STAGE_FORM_H_

#include <compare>

#include "core/kernel/kernel_family.h"

namespace fidelio {

struct StageForm {
  KernelFamily family = KernelFamily::kRbf;
  int hidden = 0;  // units of DEEP-MF's network; 0: none

  auto operator<=>(const StageForm&) const = default;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_STAGE_FORM_H_
