// CoKriging: the joint model of Kennedy and O'Hagan (2000), one Gaussian process over the inputs of all levels, nested or not:
//
//   f_t = ρ_t f_{t−1} + δ_t,    δ_t ~ GP(0, v_t κ(h(x), h(x')) + a_t),    f_0 ~ GP(μ, v_0 κ(h(x), h(x')))
//   cov(f_s(x), f_t(x')) = Σ_{j ≤ s,t} r_js r_jt (v_j κ_j + a_j),         r_jt = ρ_{j+1} ⋯ ρ_t
//
// with an ARD kernel κ_j for each level. h(x) = x is AR1; with a network h (InputNetwork), trained with the rest by the marginal
// likelihood, it is the deep multi-fidelity Gaussian process of Raissi and Karniadakis (2016), DEEP-MF.
// Inputs have d + 1 columns: x, scaled, and the level. θ: ls0[d] v0 mu n0, then ls[d] v rh a n of every other level, then the
// network; log ℓ_t = ls_t + ½ (ls_0 − its prior's centre).
#ifndef FIDELIO_CORE_BASELINE_CO_KRIGING_H_
#define FIDELIO_CORE_BASELINE_CO_KRIGING_H_

#include <memory>
#include <vector>

#include "core/baseline/input_network.h"
#include "core/baseline/stage_form.h"
#include "core/data/scaled_data.h"
#include "core/gp/gp_model.h"
#include "core/kernel/kernel_family.h"

namespace fidelio {

class CoKriging : public GpModel {
 public:
  struct Level {
    int lengthscale = -1, amplitude = -1, rho = -1, offset = -1, noise = -1;  // −1: not a parameter
  };

  CoKriging(ScaledData data, const StageForm& form);

  const ParameterLayout& parameters() const override { return parameters_; }
  const Vector& outputs() const override { return data_.y; }
  std::unique_ptr<GpEvaluation> NewEvaluation() const override;
  std::unique_ptr<const GpPrior> At(const Vector& theta) const override;

  // Learned variance of a level's noise, with the floor.
  double Noise(const Vector& theta, int level) const;

  const ScaledData& data() const { return data_; }
  KernelFamily family() const { return family_; }
  const Level& level(int t) const { return levels_[t]; }
  const InputNetwork& network() const { return network_; }
  int network_offset() const { return network_offset_; }
  int mean_offset() const { return mean_; }

  // 1/ℓ_t, d values.
  Vector InverseLengthscales(const Vector& theta, int t) const;
  // r_t s for s = t … T−1.
  Vector Factors(const Vector& theta, int t) const;
  double Offset(const Vector& theta, int t) const;  // a_t

 private:
  ScaledData data_;
  KernelFamily family_;
  InputNetwork network_;
  ParameterLayout parameters_;
  std::vector<Level> levels_;
  int mean_ = -1, network_offset_ = -1;
  double centre_ = 0;  // of ls_0
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_CO_KRIGING_H_
