// The streams of random numbers: one table of all uses, so that no two share numbers of a seed.
//
// A use has a block of streams, numbered by chain, stage or level where it needs several. Streams that stored models
// and designs depend on (the order and the subset of NEIGHBOURS, sequences that a later design continues) keep their
// numbers for ever.
#ifndef FIDELIO_CORE_BASE_RANDOM_STREAMS_H_
#define FIDELIO_CORE_BASE_RANDOM_STREAMS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace fidelio {

enum class RandomUse : size_t {
  // Designs.
  kLevelDesign,       // + level, below kLowDesignLevels
  kLevelDesignAbove,  // + level
  kNestedDesign,      // + level
  kKDpp,
  kSobolScramble,
  // Fits.
  kHmc,  // + 256·stage + chain
  kBaselineStart,
  kInducingPoints,
  kSviBatch,   // + level
  kSviSample,  // + level
  kUpperSketch,
  kVecchiaOrder,
  kLowRankSubset,
  // Joint samples at given inputs.
  kPathComponent,  // + level
  kPathNormal,     // + level
  kPathNoise,
  // Samples that are functions.
  kFunctionComponent,
  kFunction,
  kFunctionStack,
};

struct RandomBlock {
  RandomUse use;
  uint32_t first, count;
};

inline constexpr uint32_t kStreamsPerBlock = 1 << 16;
inline constexpr uint32_t kLowDesignLevels = 10;

// The k-th of the blocks that lie one after the other.
constexpr RandomBlock NumberedBlock(RandomUse use, uint32_t k) {
  return {use, (256 + k) * kStreamsPerBlock, kStreamsPerBlock};
}

inline constexpr std::array kRandomBlocks = {
    RandomBlock{RandomUse::kLevelDesign, 1, kLowDesignLevels},
    NumberedBlock(RandomUse::kLevelDesignAbove, 0),
    RandomBlock{RandomUse::kNestedDesign, 0x10000, kStreamsPerBlock},
    RandomBlock{RandomUse::kKDpp, 0xd99, 1},
    RandomBlock{RandomUse::kSobolScramble, 0x50b01, 1},
    NumberedBlock(RandomUse::kHmc, 1),
    RandomBlock{RandomUse::kBaselineStart, 40, 1},
    NumberedBlock(RandomUse::kInducingPoints, 2),
    NumberedBlock(RandomUse::kSviBatch, 3),
    NumberedBlock(RandomUse::kSviSample, 4),
    NumberedBlock(RandomUse::kUpperSketch, 5),
    RandomBlock{RandomUse::kVecchiaOrder, 11, 1},
    RandomBlock{RandomUse::kLowRankSubset, 13, 1},
    NumberedBlock(RandomUse::kPathComponent, 6),
    NumberedBlock(RandomUse::kPathNormal, 7),
    NumberedBlock(RandomUse::kPathNoise, 8),
    NumberedBlock(RandomUse::kFunctionComponent, 9),
    NumberedBlock(RandomUse::kFunction, 10),
    NumberedBlock(RandomUse::kFunctionStack, 11),
};

// The stream of a use with that number, below the count of its block.
constexpr uint32_t StreamOf(RandomUse use, uint32_t number = 0) {
  return kRandomBlocks[static_cast<size_t>(use)].first + number;
}

// Of the design of a level.
constexpr uint32_t DesignStream(uint32_t level) {
  return StreamOf(level < kLowDesignLevels ? RandomUse::kLevelDesign : RandomUse::kLevelDesignAbove, level);
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASE_RANDOM_STREAMS_H_
