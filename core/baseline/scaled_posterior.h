// ScaledPosterior: what a classic model predicts, averaged over draws of its hyperparameters, in standardised units
// (core/data/scaled_data.h).
//
// A prediction at x and level t is a mixture Σ_s w_s N(m_s(x), v_s(x)) with weights that depend on the level alone. Immutable; safe to
// share between threads.
#ifndef FIDELIO_CORE_BASELINE_SCALED_POSTERIOR_H_
#define FIDELIO_CORE_BASELINE_SCALED_POSTERIOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/random.h"
#include "core/base/types.h"

namespace fidelio {

// Functions drawn from a ScaledPosterior at one level.
class ScaledPaths {
 public:
  virtual ~ScaledPaths() = default;

  // At the rows of x (n×d, scaled): n × functions.
  virtual Matrix Evaluate(const Matrix& x) const = 0;
};

class ScaledPosterior {
 public:
  virtual ~ScaledPosterior() = default;

  struct Gaussians {
    Matrix mean, variance;  // S×n each
  };
  struct LeftOut {
    Matrix weight, mean, variance;  // S×N_t each; columns of weights sum to 1
  };
  struct JointGaussian {
    Vector mean;        // n
    Matrix covariance;  // n×n
  };

  virtual Vector Weights(int level) const = 0;  // S, summing to 1
  // At the rows of x (n×d, scaled): f without noise.
  virtual Gaussians Predict(const Matrix& x, int level) const = 0;
  // Given ∂F/∂mean and ∂F/∂variance of that (S×n each): ∂F/∂x.
  virtual Matrix Gradient(const Matrix& x, int level, const Matrix& mean_bar, const Matrix& variance_bar) const = 0;
  // The moments of f at the rows of x, row i at levels[i]; the diagonal is that of the mixture. `check` is asked now and
  // then, and its error ends the work.
  virtual absl::StatusOr<JointGaussian> Joint(const Matrix& x, const std::vector<int>& levels,
                                              const std::function<absl::Status()>& check) const = 0;
  // Joint samples of f at the rows of x, `count` × n. Sample i depends on the seed and i alone.
  virtual absl::StatusOr<Matrix> Sample(const Matrix& x, int level, int count, uint64_t seed, int threads) const = 0;
  // Functions f_level, one for each of `random`: their means and covariances are those of samples. They must not outlive this.
  virtual std::unique_ptr<const ScaledPaths> Draw(int level, std::vector<Random> random) const = 0;
  // The observations of a level, each predicted with its noise from the others of its level and those below; draws count
  // as they would without it.
  virtual LeftOut LeaveOneOut(int level) const = 0;
  // log p(data of a stage (BaselineModel) | draw), one per draw.
  virtual Vector LogLikelihoods(int stage) const = 0;

  virtual Vector Noise(int level) const = 0;  // S: learned variance, with the floor
  virtual double max_jitter() const = 0;
  virtual int64_t MemoryBytes() const = 0;
};

// Samples of one Gaussian into some rows of `paths`, which has n columns; standard normals of row i are those of stream
// (seed, stream, i).
absl::Status SampleGaussian(ScaledPosterior::JointGaussian joint, const std::vector<int>& rows, uint64_t seed,
                            uint32_t stream, Matrix& paths);

// The draw, of those with these weights, at a quantile from 0 to 1.
size_t DrawOf(const Vector& weights, double quantile);

// Which of the draws with these weights each of `count` samples follows, as lists of samples, one per draw. Sample i depends on
// the seed, the stream and i alone.
std::vector<std::vector<int>> SamplesOfDraws(const Vector& weights, int count, uint64_t seed, uint32_t stream);

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_SCALED_POSTERIOR_H_
