// LinkParameter: a hyperparameter of a term of a link, as its logarithm.
#ifndef FIDELIO_CORE_KERNEL_LINK_PARAMETER_H_
#define FIDELIO_CORE_KERNEL_LINK_PARAMETER_H_

#include "core/param/prior.h"

namespace fidelio {

struct LinkParameter {
  const char* name;
  Prior prior;  // unless a model has one of its own
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_KERNEL_LINK_PARAMETER_H_
