// The methods that benches compare: name → how to fit an emulator.
#ifndef FIDELIO_TESTS_BENCH_METHODS_H_
#define FIDELIO_TESTS_BENCH_METHODS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/data/dataset.h"
#include "core/emulator/emulator.h"

namespace fidelio::bench {

struct FittedEmulator {
  std::unique_ptr<Emulator> emulator;
  int64_t evaluations = 0;  // of the objective with its gradient
};

using Method = std::function<absl::StatusOr<FittedEmulator>(const Dataset& data, uint64_t seed, int threads)>;

// Those of core/registry/emulator_registry.h, and gp: mf_dgp of the highest level alone. NOT_FOUND names all of them.
absl::StatusOr<Method> FindMethod(const std::string& name);

// OK when every name is a method.
absl::Status CheckMethods(const std::vector<std::string>& names);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_METHODS_H_
