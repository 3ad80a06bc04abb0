// What callers of ModelService give and get about designs, as plain values. Numbers of enumerations equal those of
// fidelio.v1.
#ifndef FIDELIO_SERVER_MODEL_DESIGN_TYPES_H_
#define FIDELIO_SERVER_MODEL_DESIGN_TYPES_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/emulator/diagnostics.h"

namespace fidelio {

// Inputs to choose from: the caller's, or as many as `count` says, which the service makes.
struct CandidateSource {
  Matrix given = {};  // n×d; empty: none
  int count = 0;      // ≥ 1 without `given`

  int64_t size() const { return given.rows() > 0 ? given.rows() : count; }
};

// ---- SampleDpp ----

enum class DppMethod { kExact = 1, kMap = 2 };
enum class DppQuality { kMean = 1, kNone = 2, kGiven = 3 };

struct DppQuery {
  int k = 1;  // ≥ 1
  CandidateSource source = {};
  DppMethod method = DppMethod::kExact;
  DppQuality quality = DppQuality::kMean;
  Vector given_quality = {};        // n numbers above 0 with kGiven, else none
  std::optional<int64_t> level = {};  // absent: the highest
  bool exclude_observed = false;    // at that level
  uint64_t seed = 0;
};

struct DppDesign {
  Matrix inputs = {};              // k×d
  std::vector<int> indices = {};   // among the candidates
  double log_determinant = 0;
  Vector quality = {};             // k
  double variance_before = 0;      // of the highest fidelity, mean over the box
  double variance_after = 0;       // as predicted
};

// ---- Suggest ----

enum class SuggestCriterion { kVarianceReduction = 1, kMaxVariance = 2, kExpectedImprovement = 3, kConfidenceBound = 4 };

struct SuggestQuery {
  int count = 1;  // ≥ 1
  SuggestCriterion criterion = SuggestCriterion::kVarianceReduction;
  bool maximise = false;
  double width = 2;
  double budget = std::numeric_limits<double>::infinity();
  std::vector<int64_t> levels = {};  // that may be run; none: all
  CandidateSource source = {};
  int target_count = 1;  // ≥ 1
  uint64_t seed = 0;
};

struct SuggestedRun {
  Vector input = {};  // d
  int level = 0;      // of the model
  std::string fidelity = {};
  double cost = 0;
  double value = 0;
  int candidate = 0;
};

struct SuggestedRuns {
  std::vector<SuggestedRun> runs = {};
  double variance_before = 0;
  double variance_after = 0;
  double total_cost = 0;
};

// ---- Diagnose ----

struct FidelityDiagnosis {
  int level = 0;  // of the model
  std::string fidelity = {};
  LevelDiagnostics diagnostics = {};
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_DESIGN_TYPES_H_
