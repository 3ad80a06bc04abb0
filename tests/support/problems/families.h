// The groups of problems that make up the registry, one function per source file.
#ifndef FIDELIO_TESTS_SUPPORT_PROBLEMS_FAMILIES_H_
#define FIDELIO_TESTS_SUPPORT_PROBLEMS_FAMILIES_H_

#include <vector>

#include "core/base/types.h"
#include "tests/support/problems/problem.h"

namespace fidelio {

std::vector<Problem> Table1Problems();           // the paper's five benchmarks, Currin in both readings
std::vector<Problem> OneDimensionalProblems();   // the paper's appendix, Forrester and others in one dimension
std::vector<Problem> ClassicProblems();          // optimisation functions in two dimensions
std::vector<Problem> EngineeringProblems();      // circuits, pistons, wings, springs
std::vector<Problem> HighDimensionalProblems();  // three to ten dimensions
std::vector<Problem> HardLinkProblems();         // a low fidelity that is useless, reversed, noisy or discontinuous

// A d-vector with the same value everywhere: the bounds of a cube.
inline Vector Filled(int d, double value) { return Vector::Constant(d, value); }

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_PROBLEMS_FAMILIES_H_
