// MomentPaths: functions drawn from a MomentPosterior, which can be evaluated anywhere.
//
// A path of f_1's prior is a sum of waves (kernel/spectral_path) and a trend (kernel/quadratic_path). Data are taken into account by
// Matheron's rule: a prior path f becomes
//   f(x) + k_t(x, X_t)(K_t + σ²)⁻¹(y_t − f(X_t) − e),   e ~ N(0, σ²),
// and the path of the next level's prior is f_t(x) = ρ f_{t−1}(x) + g_t(x, f_{t−1}(x)), with a path of g_t for every term
// of its kernel, where k_t is the moment-matched kernel of the recursion. Lower levels are updated by the data above them as
// in MomentPosterior.
//
// Means over paths are the posterior's. Covariances are, too, where those of f_t before y_t are the moment-matched ones: for all terms
// that are linear in f_{t−1}, and for k_f as far as f_{t−1} is Gaussian. That is so at level 1, but for the finite number of
// waves; above, k_f averages over the law of the path below itself, of which the posterior knows two moments.
//
// Evaluating P paths at M points costs O(M (N² + N P + P W D)), W waves per term. Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_DGP_MOMENTS_MOMENT_PATHS_H_
#define FIDELIO_CORE_DGP_MOMENTS_MOMENT_PATHS_H_

#include <memory>
#include <optional>
#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"
#include "core/dgp/moments/moment_posterior.h"
#include "core/kernel/link_path.h"
#include "core/kernel/quadratic_path.h"
#include "core/kernel/spectral_path.h"

namespace fidelio {

class MomentPaths {
 public:
  // Draws a path under each of `links`, with the random numbers beside it. `posterior` must outlive this. Of a model whose
  // layer 1 is given: `first` are functions f_0, drawn elsewhere, at the N data points, N × paths.
  MomentPaths(const MomentPosterior& posterior, const std::vector<int>& links, std::vector<Random> random,
              const Matrix& first = {});

  // f_level at the query points given all data, in standardised units: M × paths. The contents of the workspace do not matter.
  // `first`: as above, the same functions at the query points, M × paths.
  void Evaluate(const MomentQueries& queries, int level, MomentPosterior::Workspace& workspace, MatrixRef values,
                const Matrix& first = {}) const;

 private:
  // The prior of a path at one level above 0.
  struct Layer {
    std::optional<SpectralPath> own;  // of k_delta
    std::optional<LinkPath> link;     // of what k_rho multiplies
    std::optional<QuadraticPath> trend;
    double offset = 0;
  };
  struct Path {
    int link = 0;
    std::unique_ptr<const FirstPath> first;
    std::vector<Layer> layers;     // that of level 0 is empty
    std::vector<Vector> residual;  // per level: L⁻¹(y − f(X) − e)
  };
  // Inputs of the terms of a level, shared by all paths.
  struct Inputs {
    Matrix x, own, rho, trend;
  };

  Layer DrawLayer(int level, int link, Random& random) const;
  void UpdateByData(Path& path, const ConstVectorRef& first, Random& random) const;
  Inputs InputsAt(const Matrix& x, int level) const;
  // f_level before y_level, from f_{level−1} at the same points; at level 0, `below` is f_0 itself where it is given.
  Vector Prior(const Path& path, const Inputs& inputs, int level, const ConstVectorRef& below) const;

  const MomentPosterior& posterior_;
  std::vector<Path> paths_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MOMENT_PATHS_H_
