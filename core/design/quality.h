// The quality q of candidates, which makes a covariance C the kernel of a DPP: L_ij = q_i C_ij q_j.
//
// The paper takes the posterior mean μ for q. That favours high means only where every mean is positive: of the signs
// only products matter to determinants, so a very negative mean would count as a very good one. QualityOfMean is
// therefore a positive, increasing function of the mean,
//
//   q_i = log(1 + exp(z_i)),     z_i = (μ_i − average of μ) / (standard deviation of μ) over the candidates
//
// which grows like μ itself above the average, tends to 0 below it without reaching it, and does not change when
// outputs are measured in other units or from another zero. Where all means are the same, so is q. The paper's own
// kernel, for outputs that are positive, is the given quality μ.
#ifndef FIDELIO_CORE_DESIGN_QUALITY_H_
#define FIDELIO_CORE_DESIGN_QUALITY_H_

#include "absl/status/status.h"
#include "core/base/export.h"
#include "core/base/types.h"

namespace fidelio {

enum class QualityMode {
  kMean,   // QualityOfMean: high outputs are sought
  kNone,   // the covariance alone: uncertainty and diversity
  kGiven,  // one number per candidate
};

// Requires finite means.
FIDELIO_EXPORT Vector QualityOfMean(const Vector& mean);

// OK, or INVALID_ARGUMENT when there is not one positive, finite number per candidate.
FIDELIO_EXPORT absl::Status CheckQuality(const Vector& quality, Eigen::Index candidates);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DESIGN_QUALITY_H_
