// Draws hyperparameters from exactly the densities that the log posterior uses (core/param/prior.h).
#ifndef FIDELIO_TESTS_BENCH_PRIOR_DRAW_H_
#define FIDELIO_TESTS_BENCH_PRIOR_DRAW_H_

#include "core/base/random.h"
#include "core/base/types.h"
#include "core/param/layout.h"
#include "core/param/prior.h"

namespace fidelio::bench {

double DrawFrom(const Prior& prior, Random& random);

// All parameters of a layout, which are independent a priori.
Vector DrawFrom(const ParameterLayout& layout, Random& random);

// A gamma variable with that shape (> 0) and scale 1, by Marsaglia and Tsang (2000).
double DrawGamma(double shape, Random& random);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_PRIOR_DRAW_H_
