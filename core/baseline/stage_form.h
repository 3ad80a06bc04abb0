// StageForm: the forms in which a stage of a classic model may be; those that apply are weighed by their evidence.
#ifndef FIDELIO_CORE_BASELINE_STAGE_FORM_H_
#define FIDELIO_CORE_BASELINE_STAGE_FORM_H_

#include <compare>

#include "core/kernel/kernel_family.h"

namespace fidelio {

struct StageForm {
  KernelFamily family = KernelFamily::kRbf;
  // How a level leans on the one below where the link is linear: f_t − z = ρ (f_{t−1} − z) + a constant + δ_t, with z = 0, the
  // mean of the data; or, proportional, with the user's zero z: where the constant is small, f_t is a multiple of f_{t−1} there.
  bool proportional = false;
  int hidden = 0;  // units of DEEP-MF's network; 0: none

  auto operator<=>(const StageForm&) const = default;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_STAGE_FORM_H_
