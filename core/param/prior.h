// Prior: the density of one (transformed) scalar parameter, as a negative logarithm up to a constant.
//
//   u = (x − centre)                                normal        ½ (u/scale)²
//   student      ½(shape+1) log(1 + (u/scale)²/shape)             heavy tails; shape → ∞ gives the normal
//   inverse_gamma    shape·(u + e^{−u})                           in the log of an inverse-gamma variable: sharp below
//                                                                 the centre, linear above
// `scale` is also the unit in which optimisers and samplers move the parameter.
#ifndef FIDELIO_CORE_PARAM_PRIOR_H_
#define FIDELIO_CORE_PARAM_PRIOR_H_

namespace fidelio {

struct Prior {
  enum class Kind { kNormal, kStudent, kInverseGamma };

  Kind kind = Kind::kNormal;
  double centre = 0;
  double scale = 1;
  double shape = 0;

  static Prior Normal(double centre, double scale) { return {Kind::kNormal, centre, scale, 0}; }
  static Prior Student(double centre, double scale, double shape) { return {Kind::kStudent, centre, scale, shape}; }
  static Prior InverseGamma(double centre, double scale, double shape) {
    return {Kind::kInverseGamma, centre, scale, shape};
  }

  // −log p(x); its derivative is added to *slope.
  double NegativeLog(double x, double* slope) const;

  // What NegativeLog leaves out: −log ∫ exp(−NegativeLog) over x in units of `scale`, so that
  // exp(−NegativeLog(x) + LogNormaliser()) integrates to 1 over x/scale.
  double LogNormaliser() const;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_PARAM_PRIOR_H_
