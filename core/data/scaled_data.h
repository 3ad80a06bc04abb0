// ScaledData: a Dataset in standardised units, points of all levels stacked from level 0 up.
//
// Inputs go to [0,1] over the box (or over the observed range); outputs by the mean and standard deviation of level 0,
// so that levels stay comparable. Both maps are invertible: Scaling takes predictions back to the user's units.
#ifndef FIDELIO_CORE_DATA_SCALED_DATA_H_
#define FIDELIO_CORE_DATA_SCALED_DATA_H_

#include <vector>

#include "core/base/types.h"
#include "core/data/dataset.h"

namespace fidelio {

struct Scaling {
  Vector input_low, input_width;  // D
  double output_mean = 0, output_sd = 1;

  Matrix ScaleInputs(const Matrix& x) const;
};

struct ScaledData {
  Scaling scaling;
  Matrix x;                       // N×D
  Vector y;                       // N
  Vector noise;                   // N, given noise variances (0 where learned)
  std::vector<bool> learn_noise;  // per level
  std::vector<int> offset;        // levels+1: level t is rows offset[t] … offset[t+1]−1
  double raw_zero = 0;            // the user's 0

  int levels() const { return static_cast<int>(learn_noise.size()); }
  int dimension() const { return static_cast<int>(x.cols()); }
  int count(int level) const { return offset[level + 1] - offset[level]; }
  int rest(int level) const { return offset.back() - offset[level]; }  // points of levels ≥ level
};

// `data` must be valid (Validate). A dimension in which all inputs agree gets width 1, constant outputs sd 1. With a
// `first_level`, which must have data, the levels below are left out and its outputs set the scale; inputs are scaled
// as if nothing was left out.
ScaledData ScaleData(const Dataset& data, int first_level = 0);

// The scaling that it finds: inputs by the box or the range of all data, outputs by mean and standard deviation of
// `first_level`.
Scaling ScalingOf(const Dataset& data, int first_level);

// The same with a scaling that is given: that of the data which hyperparameters were learned from.
ScaledData ScaleData(const Dataset& data, int first_level, const Scaling& scaling);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DATA_SCALED_DATA_H_
