// How much work a search does, and the constants that fits of several models share.
//
// Chosen by hand where nothing else is said. `fidelio-bench problems` and `fidelio-bench table1` show what a change does to
// predictions, `fidelio-bench calibration` what it does to their intervals.
#ifndef FIDELIO_CORE_FIT_SEARCH_SETTINGS_H_
#define FIDELIO_CORE_FIT_SEARCH_SETTINGS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace fidelio {

// Starts "with short lengthscales" have the prior's centre divided by e^1.8 = 6. Such a start found modes 120 to 170 nats better on
// nonlinear functions of one input.
inline constexpr double kLogShorter = 1.8;

// Observations up to which a fit does all that it can.
inline constexpr int64_t kFullSearch = 250;

// An L-BFGS run goes in rounds, between which a saved fit continues.
inline constexpr int kRoundIterations = 75;
inline constexpr int kMostRounds = 4;
inline constexpr int kScreenIterations = 25;  // a round of every start, before the best go on

// Runs of a structure have ended at one mode when their values and each of their whitened parameters differ by less.
inline constexpr double kSameValue = 0.05, kSamePlace = 0.5;
inline constexpr double kFarBelow = 25;  // nats below the best mode: no evidence makes up for it
inline constexpr int kMostModes = 6;     // whose curvature is measured

inline constexpr double kHessianStep = 1e-3;  // of its differences, in prior units

// Of the work of a search, for the progress bar.
inline constexpr double kOptimiseShare = 0.3, kCurvatureShare = 0.05;

struct SearchSettings {
  // Where there are more starts, each gets a first round, and the best so many go on.
  int followed_starts = std::numeric_limits<int>::max();

  int modes = 4;  // that are sampled, at most
  // Weights of modes are ∝ evidence^(1/temperature): 2 forgives the errors of Laplace's approximation.
  double temperature = 2;
  double least_weight = 0.03;  // modes below it are dropped
  double first_weight = 0;     // the first mode keeps this weight at least

  int chains = 4;        // at least, and at least two per mode; 0: the best mode alone, without curvature and sampling
  int warmup = 24;       // transitions per chain
  int transitions = 64;  // kept per chain, before thinning
  int least_transitions = 5;
  int draws = 48;     // of all chains together, about
  int leapfrogs = 8;  // of a transition, at most

  // For so many observations. An evaluation costs O(n³): with more of them, fewer transitions and draws; the posterior is
  // narrower, too.
  SearchSettings For(int64_t observations) const {
    SearchSettings s = *this;
    if (observations <= kFullSearch) return s;
    const double share = std::pow(static_cast<double>(kFullSearch) / static_cast<double>(observations), 2);
    s.draws = std::max(chains, static_cast<int>(share * draws));
    s.transitions = std::max(least_transitions, static_cast<int>(share * transitions));
    s.warmup = std::max(6, static_cast<int>(share * warmup));
    return s;
  }
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_FIT_SEARCH_SETTINGS_H_
