// Matrices as files of NumPy (.npy, version 1.0).
#ifndef FIDELIO_TESTS_BENCH_NPY_H_
#define FIDELIO_TESTS_BENCH_NPY_H_

#include <string>

#include "core/base/types.h"

namespace fidelio::bench {

// The bytes of a file that numpy.load reads as an array of float64 of the same shape, on little-endian machines.
std::string ToNpy(const Matrix& matrix);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_NPY_H_
