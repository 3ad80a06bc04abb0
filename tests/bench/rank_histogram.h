// RankHistogram: how often the rank of a true value among L posterior draws fell into each of B equal bins.
//
// Where inference is exact, ranks 0 … L are equally probable (Talts et al. 2018), and
//   χ² = Σ_b (n_b − n/B)² / (n/B)
// has about the distribution χ² with B − 1 degrees of freedom. L + 1 must be a multiple of B.
#ifndef FIDELIO_TESTS_BENCH_RANK_HISTOGRAM_H_
#define FIDELIO_TESTS_BENCH_RANK_HISTOGRAM_H_

#include <string>
#include <vector>

namespace fidelio::bench {

class RankHistogram {
 public:
  RankHistogram(int draws, int bins) : draws_(draws), counts_(bins, 0) {}

  // 0 ≤ rank ≤ draws.
  void Add(int rank) { ++counts_[static_cast<long>(rank) * static_cast<long>(counts_.size()) / (draws_ + 1)]; }

  const std::vector<int>& counts() const { return counts_; }
  int total() const;

  // The probability of a χ² at least as large if ranks are uniform; 1 without ranks.
  double PValue() const;

  // One block per bin, of heights 0 to 8; what uniform ranks give has height 4.
  std::string Bars() const;

 private:
  int draws_;
  std::vector<int> counts_;
};

// P(X > x) of a χ² variable with that many degrees of freedom (≥ 1): Q(degrees/2, x/2), the regularised incomplete gamma
// function, by its series below the mean and by its continued fraction above. 1 for x ≤ 0.
double ChiSquareTail(double x, int degrees);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_RANK_HISTOGRAM_H_
