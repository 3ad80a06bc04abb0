// What InitialDesign, SampleDpp, Suggest and Diagnose take and give, on Eigen's vectors and matrices. In the user's units.
#ifndef FIDELIO_CLIENT_CPP_DESIGN_TYPES_H_
#define FIDELIO_CLIENT_CPP_DESIGN_TYPES_H_

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fidelio/v1/design.pb.h"

namespace fidelio::client {

// Inputs of one fidelity.
struct FidelityInputs {
  int level = 0;
  Eigen::MatrixXd inputs = {};  // n×d
  std::string fidelity = {};    // its name, in responses
};

struct FidelityCount {
  int level = 0;
  int count = 0;
};

struct InitialDesignOptions {
  std::vector<FidelityCount> counts = {};  // runs per fidelity, each level at most once
  v1::InitialDesignMethod method = v1::INITIAL_DESIGN_METHOD_SOBOL;
  bool nested = false;                       // choose the inputs of each fidelity among those of the next lower one
  std::vector<FidelityInputs> pending = {};  // runs that were started and not observed yet
  uint64_t seed = 0;
};

struct InitialDesignRuns {
  std::vector<FidelityInputs> designs = {};  // one per level that was asked for, from the lowest
  double total_cost = 0;
  int64_t data_version = 0;  // of the observations that were taken into account
};

struct DppOptions {
  int k = 1;                        // inputs to choose
  Eigen::MatrixXd candidates = {};  // n×d; empty: the server makes them, in the model's box
  int candidate_count = 0;          // how many it makes; 0: 1024
  v1::DesignMethod method = v1::DESIGN_METHOD_EXACT;
  v1::QualityMode quality_mode = v1::QUALITY_MODE_NONE;
  Eigen::VectorXd quality = {};   // with QUALITY_MODE_GIVEN: n numbers above 0, one per candidate
  std::optional<int> level = {};  // that the design is for; default: the highest
  bool exclude_observed = false;  // choose no input that was observed at that level
  uint64_t seed = 0;
  std::string revision = {};     // number or full name; default: the current one
  int64_t min_data_version = 0;  // FAILED_PRECONDITION unless the revision knows these observations
};

struct DppDesign {
  Eigen::MatrixXd inputs = {};    // k×d
  std::vector<int> indices = {};  // k, rows of the candidates
  double log_determinant = 0;     // of the kernel of the inputs
  Eigen::VectorXd quality = {};   // k
  double variance_before = 0;     // of the highest fidelity, mean over the candidates
  double variance_after = 0;      // the same once the inputs were observed, as expected
  std::string revision = {};      // models/{model}/revisions/{revision}
  int64_t data_version = 0;       // that it knows
};

struct SuggestOptions {
  int count = 1;  // runs at most
  v1::SuggestCriterion criterion = v1::SUGGEST_CRITERION_VARIANCE_REDUCTION;
  bool maximise = false;              // of EXPECTED_IMPROVEMENT and CONFIDENCE_BOUND; else they minimise
  std::optional<double> width = {};   // of CONFIDENCE_BOUND, in standard deviations; default: 2
  std::optional<double> budget = {};  // what all runs together may cost; default: no bound
  std::vector<int> levels = {};       // that may be run; empty: all
  Eigen::MatrixXd candidates = {};    // n×d; empty: the server makes them, in the model's box
  int candidate_count = 0;            // how many it makes; 0: 256
  int target_count = 0;               // points that variances are averaged over; 0: 256
  uint64_t seed = 0;
  std::string revision = {};     // number or full name; default: the current one
  int64_t min_data_version = 0;  // FAILED_PRECONDITION unless the revision knows these observations
};

struct Suggestion {
  Eigen::VectorXd input = {};  // d
  int level = 0;               // of the fidelity to run
  std::string fidelity = {};   // its name
  double cost = 0;
  double value = 0;   // of the criterion, given the suggestions before
  int candidate = 0;  // row of the candidates
};

struct Suggestions {
  std::vector<Suggestion> runs = {};  // in the order of their choice
  double variance_before = 0;         // of the highest fidelity, mean over the target points
  double variance_after = 0;          // the same after all runs, as expected
  double total_cost = 0;
  std::string revision = {};          // models/{model}/revisions/{revision}
  int64_t data_version = 0;           // that it knows
  std::string shortfall_reason = {};  // why there are fewer runs than asked for; empty when there are as many
};

struct DiagnoseOptions {
  std::string revision = {};     // number or full name; default: the current one
  int64_t min_data_version = 0;  // FAILED_PRECONDITION unless the revision knows these observations
};

// How well the observations of one fidelity are predicted without them.
struct FidelityDiagnostics {
  int level = 0;
  std::string fidelity = {};       // its name
  int64_t count = 0;               // of observations
  int64_t distinct_count = 0;      // of distinct inputs among them; 0 from older servers
  Eigen::VectorXd residuals = {};  // standardised, in the order of the observations
  Eigen::VectorXd mean = {};       // predicted without the observation; these three are empty from older servers
  Eigen::VectorXd variance = {};   // of that prediction, with noise
  Eigen::VectorXd cdf = {};        // predicted probability of outputs up to the observed one
  double r2 = 0;
  double rmse = 0;
  double coverage50 = 0, coverage90 = 0, coverage95 = 0;  // shares within the central intervals
  double mean_log_density = 0;
  double inflation = 1;  // of variances, because they were found too small
  Eigen::VectorXd median =
      {};  // predicted without the observation; empty from older servers, and median_rmse is 0 then
  double median_rmse = 0;
};

struct Diagnostics {
  std::vector<FidelityDiagnostics> fidelities = {};  // from the lowest
  std::string revision = {};                         // models/{model}/revisions/{revision}
  int64_t data_version = 0;                          // that it knows
  std::optional<v1::Verdict> verdict = {};           // what it comes to; absent from older servers
  int64_t withdrawn_count = 0;  // observations that it knows and that were withdrawn or corrected since
};

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_DESIGN_TYPES_H_
