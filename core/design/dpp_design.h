// A design by determinantal point process: k of n candidates at which to observe next, as in section 5.4 of the paper.
//
// The kernel is L_ij = q_i C_ij q_j, with the joint posterior covariance C of f_t at the candidates and their quality q
// (quality.h): sets with a large determinant are where the model is uncertain, where quality is high, and spread out.
//
// What the design is worth is how far the variance of the highest fidelity f_T, averaged over the candidates c, is
// expected to fall by observing f_t at the k inputs s, with the model's noise N:
//
//   trace(C_cs (C_ss + N)⁻¹ C_sc) / n,   C_ss = cov(f_t(s)),  C_sc = cov(f_t(s), f_T(c))
//
// exact for a Gaussian posterior, and the best linear estimate for a mixture of them.
#ifndef FIDELIO_CORE_DESIGN_DPP_DESIGN_H_
#define FIDELIO_CORE_DESIGN_DPP_DESIGN_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/types.h"
#include "core/design/quality.h"
#include "core/emulator/emulator.h"

namespace fidelio {

enum class DppMethod {
  kExact,  // a draw from the k-DPP, to 1e-8 in total variation (KDppOptions::tolerance)
  kMap,    // greedily the largest determinant (GreedyDppMap): the seed does not matter
};

struct DppDesignOptions {
  int level = -1;  // whose posterior it is; −1: the highest fidelity
  int k = 1;       // ≥ 1
  DppMethod method = DppMethod::kExact;
  QualityMode quality_mode = QualityMode::kNone;
  Vector quality = {};          // n, for QualityMode::kGiven
  uint64_t seed = 0;            // the same seed gives the same design
  Matrix excluded = {};         // m×d inputs that are not chosen, such as the observed ones; may be empty
  double same_distance = 1e-9;  // inputs this near in every coordinate, relative to the candidates' range, are the same
  int threads = 1;              // 0: all cores; results do not depend on it
  std::function<absl::Status()> check = {};  // asked now and then: its error ends the work
};

// Variances averaged over the candidates, at the highest fidelity.
struct VarianceReduction {
  double before = 0;
  double after = 0;  // what is expected once the design was observed
  double fraction() const { return before > 0 ? (before - after) / before : 0; }
};

struct Design {
  std::vector<int> indices;  // of the candidates: ascending for kExact, in the order of their choice for kMap
  Matrix inputs;             // k×d
  Vector quality = {};       // k
  double log_determinant = 0;
  VarianceReduction reduction;
};

// Chooses among the rows of `candidates` (n×d, n ≤ kMostJointInputs). Candidates that are excluded, and copies of
// earlier ones, are not chosen. INVALID_ARGUMENT names what is wrong; a k that is too large, the rank or what is left.
FIDELIO_EXPORT absl::StatusOr<Design> DesignByDpp(const Emulator& emulator, const Matrix& candidates,
                                                  const DppDesignOptions& options);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DESIGN_DPP_DESIGN_H_
