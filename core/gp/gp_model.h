// GpModel: a Gaussian process with hyperparameters θ, observed with noise at N fixed inputs.
//
//   y = f(Z) + e,   f ~ GP(m_θ, k_θ),   e_i ~ N(0, noise_i)
//
// What inference needs of a kernel, whatever it looks like: the covariance of the data with its gradient in θ
// (GpEvaluation), and covariances with other inputs at one θ with their gradient in those inputs, and functions
// (GpPrior). Inputs are rows; what their columns mean is up to the model. Models and priors are immutable and safe to
// share between threads.
#ifndef FIDELIO_CORE_GP_GP_MODEL_H_
#define FIDELIO_CORE_GP_GP_MODEL_H_

#include <memory>

#include "core/base/random.h"
#include "core/base/types.h"
#include "core/param/layout.h"

namespace fidelio {

// The covariance of the data as a function of θ. Buffers are kept between calls. Not thread-safe: one per thread.
class GpEvaluation {
 public:
  virtual ~GpEvaluation() = default;

  // Fills the lower triangle of k (N×N) without noise, the mean and the noise variances (N each).
  virtual void Forward(const Vector& theta, MatrixRef k, Vector& mean, Vector& noise) = 0;

  // After Forward: takes ∂F/∂k (lower triangle of a symmetric matrix, every element counted; its diagonal is ∂F/∂noise,
  // too) and ∂F/∂mean, adds ∂F/∂θ to `gradient`.
  virtual void Reverse(const Matrix& k_bar, const Vector& mean_bar, Eigen::Ref<Vector> gradient) = 0;
};

// A function drawn from a GpPrior, its mean included, which can be evaluated anywhere. It must not outlive the prior.
class GpPriorPath {
 public:
  virtual ~GpPriorPath() = default;

  virtual Vector Evaluate(const Matrix& z) const = 0;  // M
  virtual Vector AtData() const = 0;                   // N
};

// The process at one θ.
class GpPrior {
 public:
  virtual ~GpPrior() = default;

  virtual Vector Mean(const Matrix& z) const = 0;      // M
  virtual Vector Variance(const Matrix& z) const = 0;  // M
  virtual Matrix WithData(const Matrix& z) const = 0;  // N×M
  virtual Matrix Among(const Matrix& z) const = 0;     // M×M, symmetric
  // Given ∂F/∂ Mean(z), Variance(z) and WithData(z): ∂F/∂z, of z's shape.
  virtual Matrix InputGradient(const Matrix& z, const Vector& mean_bar, const Vector& variance_bar,
                               const Matrix& cross_bar) const = 0;
  // Over many draws, the functions have the process' mean and covariance.
  virtual std::unique_ptr<const GpPriorPath> Draw(Random& random) const = 0;
};

class GpModel {
 public:
  virtual ~GpModel() = default;

  virtual const ParameterLayout& parameters() const = 0;
  virtual const Vector& outputs() const = 0;  // y, N
  virtual std::unique_ptr<GpEvaluation> NewEvaluation() const = 0;
  virtual std::unique_ptr<const GpPrior> At(const Vector& theta) const = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_GP_GP_MODEL_H_
