// The classic multi-fidelity models that MF-DGP is compared with, and that stand on their own:
//
//   ar1             linear autoregression, all levels jointly (Kennedy and O'Hagan 2000)
//   ar1_recursive   linear autoregression, level by level (Le Gratiet and Garnier 2014)
//   nargp           nonlinear autoregression, level by level (Perdikaris et al. 2017)
//   deep_mf         ar1 on inputs that a small network moves (Raissi and Karniadakis 2016)
#ifndef FIDELIO_CORE_BASELINE_BASELINE_METHOD_H_
#define FIDELIO_CORE_BASELINE_BASELINE_METHOD_H_

#include <cstdint>

#include "core/base/export.h"

namespace fidelio {

enum class BaselineMethod { kAr1, kAr1Recursive, kNargp, kDeepMf };

inline constexpr BaselineMethod kAllBaselineMethods[] = {BaselineMethod::kAr1, BaselineMethod::kAr1Recursive,
                                                         BaselineMethod::kNargp, BaselineMethod::kDeepMf};

constexpr const char* NameOf(BaselineMethod method) {
  switch (method) {
    case BaselineMethod::kAr1:
      return "ar1";
    case BaselineMethod::kAr1Recursive:
      return "ar1_recursive";
    case BaselineMethod::kNargp:
      return "nargp";
    case BaselineMethod::kDeepMf:
      return "deep_mf";
  }
  return "unknown";
}

// Kinds of sealed bytes (core/base/bytes.h): of models, and of the state of their fits.
constexpr uint32_t CheckpointKindOf(BaselineMethod method) { return 16 + 2 * static_cast<uint32_t>(method); }
constexpr uint32_t StateKindOf(BaselineMethod method) { return CheckpointKindOf(method) + 1; }

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_BASELINE_METHOD_H_
