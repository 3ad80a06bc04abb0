// Emulator: a fitted model that predicts a simulator's output at every fidelity, with its uncertainty.
//
// The interface that benchmarks, designs and the server use. A prediction at x and level t is a mixture of Gaussians
//   p(f_t(x)) = Σ_s w_s N(m_s(x), v_s(x))
// over hyperparameter draws and structures; the fields of Prediction summarise it. Everything is in the user's units. The
// same mixture describes several points jointly: p(f_t(x_1), …, f_t(x_n)) = Σ_s w_s N(m_s, Σ_s), with the m_s(x_i) and
// v_s(x_i) above as the means and the diagonals.
//
// Immutable: every method may be called from several threads at once.
#ifndef FIDELIO_CORE_EMULATOR_EMULATOR_H_
#define FIDELIO_CORE_EMULATOR_EMULATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/types.h"
#include "core/data/dataset.h"
#include "core/emulator/path_samples.h"

namespace fidelio {

struct PredictOptions {
  int level = -1;                            // 0 ≤ level < levels(); −1: the highest fidelity
  bool include_noise = false;                // predict a new observation y instead of the function f
  std::vector<double> quantiles = {};        // probabilities in (0, 1), one column of Prediction::quantiles each
  bool input_gradient = false;               // ∂mean/∂x
  int threads = 1;                           // 0: all cores; results do not depend on it
  std::function<absl::Status()> check = {};  // of joint moments: called now and then; its error stops the work
};

struct Prediction {
  Vector mean = {};            // n
  Vector variance = {};        // n, the mixture's: E[v] + Var[m]
  Matrix quantiles = {};       // n × number of quantiles
  Matrix input_gradient = {};  // n × d, empty unless requested
  Vector median = {};          // n
  Vector mean_cdf = {};        // n, the probability of values up to the mean (core/emulator/skewness.h)
};

struct JointPosterior {
  Vector mean;        // n
  Matrix covariance;  // n×n, the mixture's: E[Σ] + Cov[m]; symmetric, and positive semi-definite up to rounding
};

struct SampleOptions {
  int level = -1;              // 0 ≤ level < levels(); −1: the highest fidelity
  int count = 1;               // ≥ 1
  uint64_t seed = 0;           // the same seed gives the same samples
  bool include_noise = false;  // sample new observations y, with independent noise, instead of the function f
  int threads = 1;             // 0: all cores; results do not depend on it
  std::function<absl::Status()> check = {};  // called now and then by any of the threads; its error stops the work
};

// The observations of a level, each predicted from the others of its level and those of the levels below. Observations with
// exactly equal inputs (copies) are left out together.
struct LeaveOneOut {
  Vector y;              // n
  Vector mean;           // n
  Vector variance;       // n, of an observation: noise included
  Vector cdf;            // n, the predicted probability of values up to y
  Vector log_density;    // n, log p(y)
  double inflation = 1;  // factor of the predicted variances at this level, because they were too small
  Vector median = {};    // n
  Vector mean_cdf = {};  // n, the predicted probability of values up to the mean
  // n: observations with the same number, from 0, are copies of each other (EqualRows::group). Empty: none are.
  std::vector<int> group = {};
};

// The maximum number of inputs of JointMoments and SamplePaths: both hold several n×n matrices per thread.
inline constexpr int kMostJointInputs = 10000;

class FIDELIO_EXPORT Emulator {
 public:
  virtual ~Emulator() = default;

  virtual int levels() const = 0;
  virtual int input_dimension() const = 0;

  // Predicts at the rows of x (n × input_dimension()).
  virtual absl::StatusOr<Prediction> Predict(const Matrix& x, const PredictOptions& options) const = 0;

  // log p(y_i) of the mixture at (x_i, options.level), n values; options.quantiles and input_gradient are ignored.
  virtual absl::StatusOr<Vector> LogDensity(const Matrix& x, const Vector& y, const PredictOptions& options) const = 0;

  // The joint moments at the rows of x (n ≤ kMostJointInputs); the diagonal is Predict's variance. Noise, where included,
  // is independent from row to row. options.quantiles and input_gradient are ignored.
  absl::StatusOr<JointPosterior> JointMoments(const Matrix& x, const PredictOptions& options) const;

  // The same, with row i at fidelity levels[i], each 0 ≤ levels[i] < levels(); options.level is ignored.
  virtual absl::StatusOr<JointPosterior> JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                        const PredictOptions& options) const = 0;

  // Some columns of that covariance: n × columns.size(), in their order. Models that can compute only those do so; others
  // compute all and select.
  virtual absl::StatusOr<Matrix> JointColumnsAt(const Matrix& x, const std::vector<int>& levels,
                                                const std::vector<int>& columns, const PredictOptions& options) const;

  // Joint samples at the rows of x (n ≤ kMostJointInputs): count × n, one sample per row. Each is drawn from one Gaussian
  // of the mixture, whose moments JointMoments returns.
  virtual absl::StatusOr<Matrix> SamplePaths(const Matrix& x, const SampleOptions& options) const = 0;

  // Samples that are functions and can be evaluated anywhere, as long as this object lives. Their means and covariances are
  // those of the mixture, as far as JointMoments is exact between inputs. SamplePaths follows the exact distribution, but
  // only at inputs that are given in one call.
  virtual absl::StatusOr<std::unique_ptr<PathSamples>> DrawPaths(const PathOptions& options) const = 0;

  // Leave-one-out predictions, one entry per level, without refitting: the hyperparameters are those learned from all
  // observations.
  virtual absl::StatusOr<std::vector<LeaveOneOut>> LeaveOneOutPredictions() const = 0;

  // This model given other data, usually the same with observations added, without another fit: the hyperparameters
  // stay. FAILED_PRECONDITION if that needs a fit.
  virtual absl::StatusOr<std::unique_ptr<Emulator>> Condition(const Dataset& data, int threads) const = 0;

  // The complete state as versioned, checksummed bytes (core/base/bytes.h).
  virtual std::string Save() const = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_EMULATOR_H_
