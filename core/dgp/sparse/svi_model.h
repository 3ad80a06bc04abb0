// SviModel: all that stochastic variational inference of an MF-DGP needs besides its parameters.
//
// As published (Cutajar et al. 2019, and their code): the inducing inputs of layer 1 are observed inputs of level 1, those of layer t
// every other observation (x, y) of level t−1 (of the next below that has any), fixed; at most `inducing_points` per layer, then as
// far apart as they can be among a random choice.
//
// Parameters, layer by layer, all as in the published code: what θ (layer_kernel.h) has the logarithms of, the variance of κ_ρ (which
// multiplies s2 and vf: with it, a step changes the link as a whole) and the noise variance, each in the form of core/param/positive.h;
// the mean of q(u) (M) and its lower triangular root (M×M, column by column), of u itself, not whitened.
// Immutable after construction; safe to share between threads.
#ifndef FIDELIO_CORE_DGP_SPARSE_SVI_MODEL_H_
#define FIDELIO_CORE_DGP_SPARSE_SVI_MODEL_H_

#include <cstdint>
#include <vector>

#include "core/base/types.h"
#include "core/data/dataset.h"
#include "core/data/scaled_data.h"
#include "core/dgp/sparse/layer_kernel.h"

namespace fidelio {

struct SviSettings {
  int inducing_points = 1000;  // per layer, at most
  int batch_size = 1000;       // observations of a level per step, at most
  int samples = 10;            // of f_{t−1} per observation and step
  double jitter = 1e-6;        // relative, of k(Z, Z)

  // As published for few observations; one sample where a step has many of them. 0: chosen here.
  static SviSettings For(const std::vector<int>& counts, int inducing_points, int batch_size);
};

// Inputs go to [0,1] as in ScaleData; outputs to mean 0 and standard deviation ⅓ of the levels together, each level counting the same.
// Steps of Adam have a length, so that the scale decides how far a training leads. The published one takes outputs as they are, and
// its rates and starting values suit small ones: at a standard deviation of 1, 35,000 steps do not suffice for three levels.
ScaledData ScaleForSvi(const Dataset& data);

struct SviModel {
  struct Layer {
    LayerShape shape;
    Matrix z;   // M×D
    Vector zf;  // M, of linked layers: outputs of level t−1
    Vector zy;  // M, outputs of level t−1, or of level 1 in layer 1
    // Places of the parameters; −1: there is none.
    int kernel = 0, link_variance = -1, noise = -1, mean = 0, root = 0;

    Vector Theta(const Vector& parameters) const;  // of the layer's kernel
    double Noise(const Vector& parameters) const;  // the learned variance, 0 where it is given
    // Given ∂F/∂θ and ∂F/∂(noise variance): adds to those of the parameters.
    void Reverse(const Vector& parameters, const Vector& theta_bar, double noise_bar, Vector& gradient) const;
    // Sets the parameters to θ and a noise variance; κ_ρ's variance is 1.
    void Set(const Vector& theta, double noise_variance, Vector& parameters) const;
  };

  ScaledData data;
  SviSettings settings;
  std::vector<Layer> layers;
  int size = 0;

  SviModel(ScaledData scaled, KernelFamily family, const SviSettings& settings, uint64_t seed);

  int batch(int level) const { return std::min(data.count(level), settings.batch_size); }
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_SVI_MODEL_H_
