// FirstLayer: f_0 of a moment-matched MF-DGP before y_0 is seen. There are two kinds:
//
//   LearnedLayer   f_0 ~ GP(mu, v·κ(w(x)/ℓ, w(x')/ℓ) + vl·trend(x, x'))    with its hyperparameters in θ
//   GivenLayer     f_0 ~ N(mean, covariance) at the points of a model, from elsewhere; no data and no hyperparameters
//
// What a GivenLayer says about queries comes with them (MomentQueries). Shapes: N points of the model, M queries. Layers and
// priors are immutable and safe to share between threads; they and what they make must not outlive the model.
#ifndef FIDELIO_CORE_DGP_MOMENTS_FIRST_LAYER_H_
#define FIDELIO_CORE_DGP_MOMENTS_FIRST_LAYER_H_

#include <memory>
#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"

namespace fidelio {

struct MomentModel;
struct MomentQueries;

// Moments of f_t at query points, or the adjoints of a function of them.
struct QueryMoments {
  Matrix cross;           // covariances with the points of the levels that follow: at level 0, before its data, N×M
  Vector mean, variance;  // M
};

// Some consecutive queries.
struct QueryRange {
  const MomentQueries& of;
  const Matrix& inputs;  // FirstPrior::Inputs of all of them
  Eigen::Index begin, size;
};

// The prior of the N points as a function of θ. Buffers are kept between calls. Not thread-safe.
class FirstEvaluation {
 public:
  virtual ~FirstEvaluation() = default;

  // Fills the lower triangle of k (N×N), and the mean.
  virtual void Forward(const ConstVectorRef& theta, Matrix& k, Vector& mean) = 0;
  // After Forward: given ∂F/∂k (lower triangle, every element counted) and ∂F/∂mean, adds ∂F/∂θ to `gradient`.
  virtual void Reverse(const Matrix& k_bar, const Vector& mean_bar, Eigen::Ref<Vector> gradient) = 0;
};

// A function drawn from the prior, which can be evaluated anywhere.
class FirstPath {
 public:
  virtual ~FirstPath() = default;

  // At inputs x (n×D), of which `inputs` are FirstPrior::Inputs. `given`: f_0 there, of a GivenLayer.
  virtual Vector Evaluate(const Matrix& x, const Matrix& inputs, const ConstVectorRef& given) const = 0;
};

// The prior at one θ.
class FirstPrior {
 public:
  virtual ~FirstPrior() = default;

  // What its kernel is a function of at inputs x (n×D); empty where there is no kernel.
  virtual void Inputs(const Matrix& x, Matrix& inputs) const = 0;
  // `inputs` is scratch.
  virtual void At(const MomentQueries& queries, Matrix& inputs, QueryMoments& moments) const = 0;
  // Given ∂F/∂ of these moments: adds ∂F/∂x to x_bar, and to given_bar what of ∂F/∂(given moments) is not in it.
  virtual void Reverse(const MomentQueries& queries, const QueryMoments& bar, Matrix& x_bar,
                       QueryMoments& given_bar) const = 0;
  // k = covariance of the queries a with the queries b. Of a GivenLayer both are of the same MomentQueries.
  virtual void Between(const QueryRange& a, const QueryRange& b, Matrix& k) const = 0;
  virtual std::unique_ptr<const FirstPath> Draw(Random& random) const = 0;
};

class FirstLayer {
 public:
  virtual ~FirstLayer() = default;

  virtual bool is_learned() const = 0;
  virtual std::unique_ptr<FirstEvaluation> NewEvaluation(const MomentModel& model) const = 0;
  virtual std::unique_ptr<const FirstPrior> At(const MomentModel& model, const Vector& theta) const = 0;
};

// Stateless: all that it needs is in the model and in θ.
class LearnedLayer final : public FirstLayer {
 public:
  bool is_learned() const override { return true; }
  std::unique_ptr<FirstEvaluation> NewEvaluation(const MomentModel& model) const override;
  std::unique_ptr<const FirstPrior> At(const MomentModel& model, const Vector& theta) const override;
};

class GivenLayer final : public FirstLayer {
 public:
  GivenLayer(Vector mean, Matrix covariance);  // N, N×N

  bool is_learned() const override { return false; }
  std::unique_ptr<FirstEvaluation> NewEvaluation(const MomentModel& model) const override;
  std::unique_ptr<const FirstPrior> At(const MomentModel& model, const Vector& theta) const override;

  // That of some of the points.
  GivenLayer Of(const std::vector<int>& rows) const { return {mean_(rows), covariance_(rows, rows)}; }

 private:
  Vector mean_;
  Matrix covariance_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_FIRST_LAYER_H_
