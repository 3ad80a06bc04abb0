// KernelFamily: the stationary kernels over inputs x that a fit may use.
#ifndef FIDELIO_CORE_KERNEL_KERNEL_FAMILY_H_
#define FIDELIO_CORE_KERNEL_KERNEL_FAMILY_H_

namespace fidelio {

enum class KernelFamily { kRbf = 0, kMatern32 = 1, kMatern52 = 2, kMatern12 = 3 };  // stored in checkpoints

inline constexpr KernelFamily kAllKernelFamilies[] = {KernelFamily::kRbf, KernelFamily::kMatern32,
                                                      KernelFamily::kMatern52, KernelFamily::kMatern12};

// Whether a number that was read is a family.
inline bool IsKernelFamily(KernelFamily family) {
  for (const KernelFamily known : kAllKernelFamilies) {
    if (family == known) return true;
  }
  return false;
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_KERNEL_KERNEL_FAMILY_H_
