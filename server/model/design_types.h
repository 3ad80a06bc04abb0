// What callers of ModelService give and get about designs, as plain values.
#ifndef FIDELIO_SERVER_MODEL_DESIGN_TYPES_H_
#define FIDELIO_SERVER_MODEL_DESIGN_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/design/dpp_design.h"
#include "core/design/initial_design.h"
#include "core/design/suggest.h"
#include "core/emulator/diagnostics.h"
#include "core/emulator/verdict.h"

namespace fidelio {

// Inputs to choose from: the caller's, or as many as `count` says, which the service makes.
struct CandidateSource {
  Matrix given = {};  // n×d; empty: none
  int count = 0;      // ≥ 1 without `given`
};

// ---- SampleDpp ----

struct DppQuery {
  CandidateSource source = {};
  std::optional<int64_t> level = {};  // of the model; absent: the highest
  bool exclude_observed = false;      // at that level
  DppDesignOptions options = {};      // level, excluded and check are filled in
};

// ---- Suggest ----

struct SuggestQuery {
  CandidateSource source = {};
  int target_count = 1;              // ≥ 1
  uint64_t seed = 0;                 // of candidates and targets
  std::vector<int64_t> levels = {};  // of the model, that may be run; none: all
  SuggestOptions options = {};       // levels, costs and check are filled in
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
  std::string shortfall_reason = {};  // empty: there are as many runs as asked for
};

// ---- InitialDesign ----

struct InitialDesignQuery {
  struct Count {
    int64_t level = 0;  // of the model
    int64_t count = 0;
  };
  struct Pending {
    int64_t level = 0;
    Matrix inputs = {};  // n×d
  };
  std::vector<Count> counts = {};
  std::vector<Pending> pending = {};
  InitialDesignOptions options = {};  // check is filled in
};

struct InitialRuns {
  struct Level {
    int level = 0;  // of the model
    std::string fidelity = {};
    Matrix inputs = {};  // n×d
  };
  std::vector<Level> levels = {};  // from the lowest
  double total_cost = 0;
  int64_t data_version = 0;  // of the observations that were taken into account
};

inline constexpr int64_t kMostInitialRuns = 100'000;  // of a fidelity

// ---- Diagnose ----

struct FidelityDiagnosis {
  int level = 0;  // of the model
  std::string fidelity = {};
  LevelDiagnostics diagnostics = {};
};

struct ModelDiagnosis {
  std::vector<FidelityDiagnosis> fidelities = {};  // one per level of the emulator, from the lowest
  Verdict verdict = {};
  int64_t withdrawn = 0;  // observations that the revision knows and that are no longer in use; left out of the figures
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_DESIGN_TYPES_H_
