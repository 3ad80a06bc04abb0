// VariationalModel: all that the evidence lower bound of a variational MF-DGP needs besides its parameters.
//
// Inducing inputs are rows of the data. That of layer t at x is (x, f̂_{t−1}(x)), with f̂ the mean's own path through the layers
// below: it lies where the multi-fidelity constraint puts it, for all parameters.
//
// Parameters, layer by layer: θ (layer_kernel.h), the log of the noise variance (where it is learned), and, for the
// points of higher levels, log λ and t of their sites: pseudo-observations t of f_t with variance 1/λ, through which higher levels
// inform layer t. Observations of the layer itself are sites with λ = 1/σ², t = y: there is nothing better.
// Immutable after construction; safe to share between threads.
#ifndef FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_MODEL_H_
#define FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_MODEL_H_

#include <vector>

#include "core/base/types.h"
#include "core/data/scaled_data.h"
#include "core/dgp/sparse/layer_kernel.h"
#include "core/dgp/sparse/node_plan.h"
#include "core/fit/common_priors.h"

namespace fidelio {

// In standardised units; added to e^(log noise variance).
inline constexpr double kVariationalNoiseFloor = kNoiseFloor;

struct VariationalModel {
  struct Layer {
    LayerShape shape;
    std::vector<int> inducing;  // points
    Matrix z;                   // their inputs, M×D
    int theta = 0;              // place of the first parameter
    int noise = -1;             // −1: not learned
    int site_precision = 0;     // of the points from data.offset[t + 1] on
    int site_target = 0;
  };

  ScaledData data;
  NodePlan plan;
  std::vector<Layer> layers;
  int hyperparameters = 0;  // come first
  int size = 0;

  // At most `inducing_points` (> 0) per layer, of its own level first, as far apart as they can be.
  VariationalModel(ScaledData scaled, KernelFamily family, int inducing_points, const NodeRule& rule);

  int upper(int layer) const { return data.rest(layer) - data.count(layer); }  // points of higher levels
};

// Up to `most` rows of x out of `candidates`, without those that repeat an earlier one: all if they are not too many, else greedily
// those farthest from the ones chosen, beginning with the first.
std::vector<int> ChooseInducing(const Matrix& x, const std::vector<int>& candidates, int most);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_MODEL_H_
