// Posterior: what a method knows after a fit, in standardised units (core/data/scaled_data.h). All that a method supplies to a
// FittedEmulator, which does the rest: units, noise of observations, inflation, leave-one-out weights and checks of arguments.
//
//   p(f_t(x)) = Σ_s w_ts N(m_s(x), v_s(x))        w_ts: Weights(t), which depend on the level alone
//
// Limits: one Gaussian has weight 1. Shapes: S Gaussians, n inputs (rows of x, n×d, scaled). Immutable; safe to share between
// threads.
#ifndef FIDELIO_CORE_EMULATOR_POSTERIOR_H_
#define FIDELIO_CORE_EMULATOR_POSTERIOR_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/base/types.h"
#include "core/data/dataset.h"
#include "core/data/scaled_data.h"
#include "core/emulator/fit_options.h"
#include "core/emulator/inflation.h"
#include "core/emulator/path_samples.h"

namespace fidelio {

// Query points that one thread works on at a time.
inline constexpr Eigen::Index kQueryBlock = 64;

// What a fitted model is besides its Posterior.
struct FittedState {
  Dataset data;
  Scaling scaling;
  FitReport report;
  Inflation inflation = {};  // of the highest level's variances
};

class FIDELIO_EXPORT Posterior {
 public:
  virtual ~Posterior() = default;

  struct Gaussians {
    Matrix mean, variance;  // S×n each
  };
  struct JointGaussian {
    Vector mean;        // n
    Matrix covariance;  // n×n
  };

  // Some inputs at one level. Calls share what is computed once. For one thread; the posterior must outlive it.
  class Block {
   public:
    virtual ~Block() = default;
    virtual Gaussians Predict() = 0;  // f without noise
    // Given ∂F/∂mean and ∂F/∂variance of that (S×n each): ∂F/∂x, n×d. Once.
    virtual Matrix Gradient(const Matrix& mean_bar, const Matrix& variance_bar) = 0;
  };

  // Functions drawn from the posterior at one level. Immutable; the posterior must outlive it.
  class Functions {
   public:
    virtual ~Functions() = default;
    // At the rows of x: n × functions. Sets `mean`, unless it is null, to the mixture's mean there.
    virtual Matrix Evaluate(const Matrix& x, Vector* mean) const = 0;
  };

  struct JointOptions {
    int threads = 1;
    std::function<absl::Status()> check = {};  // called now and then; its error stops the work
  };
  struct SampleRequest {
    int count = 1;
    uint64_t seed = 0;
    Vector noise = {};  // S: variances of the noise to add to f under each Gaussian; empty: none
    JointOptions options = {};
  };

  // The observations of a level, each predicted with its noise from the others of its level, without its copies, and those below.
  struct LeftOut {
    std::vector<int> rows = {};  // ascending; empty: all of the level's observations
    Matrix mean, variance;       // S × observations
    Matrix weight = {};          // S × observations, each column sums to 1; empty: reweighted by the densities
    Matrix log_density = {};     // S × observations, of each with its copies; empty: that of the Gaussians
  };

  virtual Vector Weights(int level) const = 0;  // S, summing to 1
  virtual Vector Noise(int level) const = 0;    // S: learned noise variance, with the floor
  virtual std::unique_ptr<Block> At(Matrix x, int level) const = 0;

  // The moments of f at the rows of x, row i at levels[i]; the diagonal is that of the mixture.
  virtual absl::StatusOr<JointGaussian> Joint(const Matrix& x, const std::vector<int>& levels,
                                              const JointOptions& options) const = 0;
  // Some columns of that covariance. Posteriors that can compute only those do so; others compute all and select.
  virtual absl::StatusOr<Matrix> JointColumns(const Matrix& x, const std::vector<int>& levels,
                                              const std::vector<int>& columns, const JointOptions& options) const;
  // Joint samples at the rows of x, count × n. Sample i depends on the seed and i alone.
  virtual absl::StatusOr<Matrix> Sample(const Matrix& x, int level, const SampleRequest& request) const = 0;
  // options.level ≥ 0. Means and covariances of functions are those of samples.
  virtual std::unique_ptr<const Functions> Draw(const PathOptions& options) const = 0;

  // `state` is that of the model.
  virtual absl::StatusOr<LeftOut> LeaveOneOut(const FittedState& state, int level, int threads) const = 0;
  // Observations of the highest level up to which a fit measures inflation: with more, leave-one-out takes too long.
  virtual int64_t most_for_inflation() const { return std::numeric_limits<int64_t>::max(); }

  // This posterior given other data, with the same hyperparameters; draws are reweighted. FittedEmulator has checked the number of
  // levels and inputs, and which levels learn their noise.
  virtual absl::StatusOr<std::unique_ptr<const Posterior>> Condition(const FittedState& before, const Dataset& data,
                                                                     int threads) const = 0;
  // The sealed bytes of a model with this posterior (core/base/bytes.h), and their kind.
  virtual std::string Save(const FittedState& state) const = 0;
  virtual uint32_t checkpoint_kind() const = 0;

  virtual void Describe(FitReport& report) const = 0;  // sets the number of draws, and what else a posterior knows
  // An upper estimate of the memory of a model with this posterior and these data, in bytes.
  virtual int64_t MemoryBytes(const Dataset& data) const = 0;
};

// Adds noise of this variance, with random numbers of its own, to samples (a row each).
void AddNoise(double variance, uint64_t seed, Matrix& samples);

// The random numbers of each function.
std::vector<Random> FunctionRandoms(const PathOptions& options, RandomUse use = RandomUse::kFunction);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_POSTERIOR_H_
