// Names of kernel families, for parameterised tests.
#ifndef FIDELIO_TESTS_SUPPORT_KERNEL_NAMES_H_
#define FIDELIO_TESTS_SUPPORT_KERNEL_NAMES_H_

#include "core/kernel/kernel_family.h"

namespace fidelio {

inline const char* KernelName(KernelFamily family) {
  switch (family) {
    case KernelFamily::kRbf:
      return "Rbf";
    case KernelFamily::kMatern12:
      return "Matern12";
    case KernelFamily::kMatern32:
      return "Matern32";
    case KernelFamily::kMatern52:
      return "Matern52";
  }
  return "Unknown";
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_KERNEL_NAMES_H_
