#include "core/optim/chain_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fidelio {
namespace {

using Eigen::Index;

// The halves of all chains for one quantity: one column each. Empty when chains are too short.
Matrix Halves(const std::vector<ChainTrace>& chains, Index quantity) {
  Index shortest = std::numeric_limits<Index>::max();
  for (const ChainTrace& chain : chains) shortest = std::min(shortest, chain.cols());
  if (chains.empty() || shortest < kLeastTransitions) return {};
  const Index n = shortest / 2;
  Matrix halves(n, 2 * static_cast<Index>(chains.size()));
  for (size_t c = 0; c < chains.size(); ++c) {
    const auto row = chains[c].row(quantity).tail(shortest);
    halves.col(2 * static_cast<Index>(c)) = row.head(n).transpose();
    halves.col(2 * static_cast<Index>(c) + 1) = row.tail(n).transpose();
  }
  return halves;
}

struct Spread {
  double within = 0;  // W, mean of the halves' variances
  double total = 0;   // var⁺ = (n−1)/n·W + B/n
};

Spread Measure(const Matrix& halves) {
  const auto n = static_cast<double>(halves.rows()), m = static_cast<double>(halves.cols());
  const Eigen::RowVectorXd means = halves.colwise().mean();
  const double within = (halves.rowwise() - means).squaredNorm() / (m * (n - 1));
  const double between = (means.array() - means.mean()).square().sum() / (m - 1);  // B/n
  return {.within = within, .total = (n - 1) / n * within + between};
}

// 1 + 2 Σ ρ_t over Geyer's initial monotone sequence of pairs of autocorrelations.
double AutocorrelationTime(const Matrix& halves, const Spread& spread) {
  const Index n = halves.rows(), m = halves.cols();
  const Matrix centred = halves.rowwise() - halves.colwise().mean();
  const auto correlation = [&](Index lag) {
    const double covariance =
        (centred.topRows(n - lag).cwiseProduct(centred.bottomRows(n - lag))).sum() / static_cast<double>(n * m);
    const double biased = spread.within * static_cast<double>(n - 1) / static_cast<double>(n);
    return 1 - (biased - covariance) / spread.total;
  };
  double sum = 0, last = std::numeric_limits<double>::infinity();
  for (Index lag = 0; lag + 1 < n; lag += 2) {
    const double pair = (lag == 0 ? 1 : correlation(lag)) + correlation(lag + 1);
    if (pair <= 0) break;
    last = std::min(last, pair);
    sum += last;
  }
  return std::max(2 * sum - 1, 1.0);
}

}  // namespace

double SplitRHat(const std::vector<ChainTrace>& chains) {
  double largest = 0;
  for (Index k = 0; !chains.empty() && k < chains[0].rows(); ++k) {
    const Matrix halves = Halves(chains, k);
    if (halves.size() == 0) return 0;
    const Spread spread = Measure(halves);
    const double r_hat = spread.within > 0 ? std::sqrt(spread.total / spread.within) : kLargestRHat;
    largest = std::max(largest, std::min(r_hat, kLargestRHat));
  }
  return largest;
}

double EffectiveSize(const std::vector<ChainTrace>& chains) {
  double smallest = std::numeric_limits<double>::infinity();
  for (Index k = 0; !chains.empty() && k < chains[0].rows(); ++k) {
    const Matrix halves = Halves(chains, k);
    if (halves.size() == 0) return 0;
    const Spread spread = Measure(halves);
    if (!(spread.total > 0)) return 1;  // nothing moved: one draw, however often it was kept
    smallest = std::min(smallest, static_cast<double>(halves.size()) / AutocorrelationTime(halves, spread));
  }
  return std::isfinite(smallest) ? smallest : 0;
}

}  // namespace fidelio
