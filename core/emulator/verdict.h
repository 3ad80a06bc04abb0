// Verdict: whether the predictions of the highest fidelity can be relied on, from leave-one-out predictions.
//
// The one definition for the report, clients and the CLI. Copies (equal inputs) count once: shares and R² are means over the
// distinct inputs, n of them. A share is compared with the central 95 % range of a binomial distribution of n trials.
//
//   kTooFew          n < 10
//   kOverconfident   fewer than that range within the 95 % intervals
//   kUninformative   R² below 0.5
//   kCautious        more than that range within the 50 % intervals
//   kCalibrated      none of these
//
// Warnings are about what leave-one-out can't see: inputs at equal distances, which can hide a wave, and copies; and about
// means that lie far from their medians (core/emulator/skewness.h).
#ifndef FIDELIO_CORE_EMULATOR_VERDICT_H_
#define FIDELIO_CORE_EMULATOR_VERDICT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/types.h"
#include "core/data/dataset.h"
#include "core/emulator/emulator.h"

namespace fidelio {

inline constexpr int kLeastDistinct = 10;  // inputs of the highest fidelity that a verdict needs

enum class VerdictKind { kTooFew, kOverconfident, kUninformative, kCautious, kCalibrated };

struct Verdict {
  VerdictKind kind = VerdictKind::kTooFew;
  std::string text;                   // the same in one or two sentences, with its numbers
  std::vector<std::string> warnings;  // a sentence or two each
  int distinct_count = 0;             // inputs that were observed at the highest fidelity
  int more_needed = 0;                // distinct inputs until there are kLeastDistinct
};

// The least and the most of n trials that are to be expected with probability p each, except in 2.5 % of all cases on either
// side. Requires n ≥ 0 and 0 < p < 1.
struct ExpectedCounts {
  int64_t least = 0, most = 0;
};
FIDELIO_EXPORT ExpectedCounts ExpectedWithin(int64_t n, double p);

// Of the highest fidelity, without warnings. `distinct_count`: its distinct inputs, of which `left_out` may have some only.
FIDELIO_EXPORT Verdict Judge(const LeaveOneOut& left_out, int distinct_count, const std::string& fidelity);

// The inputs (columns) of which x takes at least five different values, all at equal distances: every gap between neighbouring
// values is within 5 % of their mean. A wave of one input with that period is then sampled at nearly the same phase each time
// (within 18°), and looks like a constant. Rounded values count as regular, too: `linspace` rounded to three digits has gaps
// within 5 % for up to 50 points. Five random values pass with probability 1e-4.
struct RegularInput {
  Eigen::Index input = 0;
  int values = 0;
  double spacing = 0;
};
FIDELIO_EXPORT std::vector<RegularInput> FindRegularInputs(const Matrix& x);

struct VerdictContext {
  const Emulator* model = nullptr;
  const Dataset* data = nullptr;              // what the model knows: as many levels as it has
  std::vector<std::string> fidelities = {};   // names of those
  std::vector<std::string> input_names = {};  // empty: x1, x2, …
};

// With all warnings. A regular input is warned about when the model depends on it: predicted means vary along it at any level
// by at least a thousandth of their variance, or nothing else varies. `left_out` is LeaveOneOutPredictions of the model.
FIDELIO_EXPORT absl::StatusOr<Verdict> JudgeModel(const VerdictContext& context,
                                                  const std::vector<LeaveOneOut>& left_out);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_VERDICT_H_
