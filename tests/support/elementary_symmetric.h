// Elementary symmetric polynomials by the textbook's recursion, and what they say about k-DPPs.
#ifndef FIDELIO_TESTS_SUPPORT_ELEMENTARY_SYMMETRIC_H_
#define FIDELIO_TESTS_SUPPORT_ELEMENTARY_SYMMETRIC_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/types.h"

namespace fidelio {

// log e_0 … log e_k of positive numbers with these logarithms.
inline std::vector<double> NaiveLogPolynomials(const Vector& log_values, int k) {
  std::vector<double> e(k + 1, -std::numeric_limits<double>::infinity());
  e[0] = 0;
  for (const double log_value : log_values) {
    for (int j = k; j >= 1; --j) {
      const double add = e[j - 1] + log_value, high = std::max(e[j], add), low = std::min(e[j], add);
      e[j] = std::isinf(low) ? high : high + std::log1p(std::exp(low - high));
    }
  }
  return e;
}

// The probabilities with which candidates are in a draw of k from the k-DPP of a kernel with these eigenvalues and -vectors.
inline Vector InclusionProbabilities(const Vector& values, const Matrix& vectors, int k) {
  const Vector log_values = values.array().log();
  const double all = NaiveLogPolynomials(log_values, k)[k];
  Vector of_values(values.size());
  for (int i = 0; i < values.size(); ++i) {
    Vector rest(values.size() - 1);
    rest << log_values.head(i), log_values.tail(values.size() - 1 - i);
    of_values[i] = std::exp(log_values[i] + NaiveLogPolynomials(rest, k)[k - 1] - all);
  }
  return vectors.cwiseAbs2() * of_values;
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_ELEMENTARY_SYMMETRIC_H_
