// A k-DPP sampled as textbooks do (Kulesza & Taskar 2012, algorithms 1 and 8) from all eigenvectors of its kernel: what KDpp is
// measured against.
#ifndef FIDELIO_TESTS_BENCH_PLAIN_DPP_H_
#define FIDELIO_TESTS_BENCH_PLAIN_DPP_H_

#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"

namespace fidelio::bench {

// log e_j of the first i values, at (j, i): (k+1)×(r+1). It depends on k, and is needed once.
Matrix LogElementarySymmetric(const Vector& values, int k);

// k candidates, ascending. O(n k² + r).
std::vector<int> PlainDraw(const Vector& values, const Matrix& vectors, const Matrix& log_elementary, int k,
                           Random& random);

// log det of a positive definite matrix, in extended precision; NaN when it is not.
double DenseLogDeterminant(const Matrix& a);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_PLAIN_DPP_H_
