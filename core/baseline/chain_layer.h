// ChainLayer: one level of a chain of Gaussian processes, each fitted when those below are done.
//
//   kFirst       f_0(x)    ~ GP(μ, v κ_δ(x, x'))
//   kLinear      f_t(x)    = ρ f + δ(x),     δ ~ GP(0, v κ_δ(x, x') + a)                                   Le Gratiet and Garnier (2014)
//   kNonlinear   f_t(x, f) ~ GP(0, w κ_ρ(x, x') κ_f(f, f') + v κ_δ(x, x') + a)                             Perdikaris et al. (2017)
//
// f: the level below at x, in the data its predictive mean. Inputs have d columns (kFirst) or d + 1: x, scaled, and f.
// θ: ls[d] v mu n   |   ls[d] v rh a n   |   lr[d] w lf ls[d] v a n.
//
// A long lengthscale ℓ_f makes the link linear, with a slope of variance w/ℓ_f², if the amplitude grows with it; and what κ_ρ adds
// with x has slopes of variance w/ℓ_ρ². So that both keep their sense in this limit, parameters are relative to 1 + ℓ_f²:
//   log ℓ_f = lf,    log w = θ_w + log(1 + ℓ_f²),    log ℓ_ρ = lr + ½ log(1 + ℓ_f²) + what it leans on.
#ifndef FIDELIO_CORE_BASELINE_CHAIN_LAYER_H_
#define FIDELIO_CORE_BASELINE_CHAIN_LAYER_H_

#include <memory>

#include "core/base/types.h"
#include "core/baseline/stage_form.h"
#include "core/gp/gp_model.h"
#include "core/kernel/kernel_family.h"

namespace fidelio {

enum class LayerKind { kFirst, kLinear, kNonlinear };

// What a layer learns from.
struct LayerObservations {
  Matrix inputs;   // N × (d or d+1)
  Vector outputs;  // N
  Vector noise;    // N, given variances, 0 where they are learned
  bool learn_noise = true;
};

class ChainLayer : public GpModel {
 public:
  // `lean`: how much longer than their prior's centre the lengthscales below turned out (logarithms, d values), which the
  // priors of these ones follow in part; empty: not at all.
  ChainLayer(LayerKind kind, LayerObservations observations, const StageForm& form, const Vector& lean);

  const ParameterLayout& parameters() const override { return parameters_; }
  const Vector& outputs() const override { return data_.outputs; }
  std::unique_ptr<GpEvaluation> NewEvaluation() const override;
  std::unique_ptr<const GpPrior> At(const Vector& theta) const override;

  struct Places {
    int link_lengthscale = -1, link_amplitude = -1, output_lengthscale = -1, lengthscale = -1, amplitude = -1,
        mean = -1, rho = -1, offset = -1, noise = -1;  // −1: not a parameter
  };
  const Places& places() const { return places_; }
  LayerKind kind() const { return kind_; }
  KernelFamily family() const { return family_; }
  int dimension() const { return dimension_; }
  const LayerObservations& observations() const { return data_; }

  double Noise(const Vector& theta) const;          // learned variance, with the floor
  double Rho(const Vector& theta) const;            // 0 but of kLinear
  double LinkAmplitude(const Vector& theta) const;  // w; 0 but of kNonlinear
  // 1/lengthscales of κ_δ and κ_ρ, d values, and of κ_f.
  Vector InverseLengthscales(const Vector& theta) const;
  Vector InverseLinkLengthscales(const Vector& theta) const;
  // How much longer the lengthscales of κ_δ are at θ than their prior's centre without a lean.
  Vector Lean(const Vector& theta) const;

 private:
  LayerKind kind_;
  LayerObservations data_;
  KernelFamily family_;
  int dimension_;
  Vector shift_;  // d, of the logarithms of lengthscales
  ParameterLayout parameters_;
  Places places_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_CHAIN_LAYER_H_
