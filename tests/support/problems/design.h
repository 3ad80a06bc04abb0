// Designs of experiments on a problem: seeded Latin hypercubes, the same bits on every platform.
//
// A Latin hypercube of n points cuts every axis into n cells of equal width and uses each cell once. Designs of
// different levels, problems and seeds are independent of each other. Training points sit at the centres of their
// cells, as in the paper; in one dimension that would be the same design for every seed, so there they are uniform
// within their cells, as test points always are.
#ifndef FIDELIO_TESTS_SUPPORT_PROBLEMS_DESIGN_H_
#define FIDELIO_TESTS_SUPPORT_PROBLEMS_DESIGN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/data/dataset.h"
#include "tests/support/problems/problem.h"

namespace fidelio {

enum class CellPosition { kCentre, kUniform };

// An n×d Latin hypercube over the box. Requires n ≥ 0 and lower, upper of the same size.
Matrix LatinHypercube(int n, const Vector& lower, const Vector& upper, CellPosition position, uint64_t seed);

// Training data of sizes[t] points at level t, with the problem's noise. INVALID_ARGUMENT when sizes has not one entry
// ≥ 0 per level. The box of the data set is left open, as when data is read from a file.
absl::StatusOr<Dataset> MakeDataset(const Problem& problem, const std::vector<int>& sizes, uint64_t seed);

// n noise-free observations of the highest level. INVALID_ARGUMENT when n < 1.
absl::StatusOr<LevelData> MakeTestSet(const Problem& problem, int n, uint64_t seed);

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_PROBLEMS_DESIGN_H_
