// Convergence of Markov chains: split R̂ and the effective sample size (Gelman et al. 2013, BDA3, sections 11.4
// and 11.5).
#ifndef FIDELIO_CORE_OPTIM_CHAIN_STATISTICS_H_
#define FIDELIO_CORE_OPTIM_CHAIN_STATISTICS_H_

#include <vector>

#include "core/base/types.h"

namespace fidelio {

// Draws of one chain, in their order: d × n, one column per transition.
using ChainTrace = Matrix;

inline constexpr double kLargestRHat = 100;   // reported where a chain never moves
inline constexpr int kLeastTransitions = 16;  // of a chain, for R̂: its halves then have eight each

// Of the d quantities the largest; every chain is split into halves, chains of unlike lengths are cut to the shortest.
// 0 when the shortest has fewer than kLeastTransitions, or there are no chains.
double SplitRHat(const std::vector<ChainTrace>& chains);

// Of the d quantities the smallest, of all chains together, at most their number of transitions; from the same halves.
// 0 as above.
double EffectiveSize(const std::vector<ChainTrace>& chains);

}  // namespace fidelio

#endif  // FIDELIO_CORE_OPTIM_CHAIN_STATISTICS_H_
