#include "tests/bench/methods.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/registry/emulator_registry.h"

namespace fidelio::bench {
namespace {

constexpr char kGp[] = "gp";

absl::StatusOr<FittedEmulator> FitBy(const EmulatorMethod& method, const Dataset& data, uint64_t seed, int threads) {
  FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<EmulatorFit> fit,
                           method.create(data, {.seed = seed, .threads = threads}));
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<MixtureEmulator> model, fit->Run(nullptr));
  const int64_t evaluations = model->report().evaluations;
  return FittedEmulator{.emulator = std::move(model), .evaluations = evaluations};
}

absl::StatusOr<FittedEmulator> FitGp(const Dataset& data, uint64_t seed, int threads) {
  if (data.levels.empty()) return absl::InvalidArgumentError("levels: none, must be at least one");
  Dataset top;
  top.levels = {data.levels.back()};
  top.box = data.box;
  return FitBy(EmulatorMethods().front(), top, seed, threads);
}

}  // namespace

absl::StatusOr<Method> FindMethod(const std::string& name) {
  if (name == kGp) return Method(FitGp);
  const absl::StatusOr<const EmulatorMethod*> method = FindEmulatorMethod(name);
  if (!method.ok()) {
    return absl::NotFoundError(absl::StrCat("--methods: ", method.status().message(), ", ", kGp));
  }
  return Method([method = *method](const Dataset& data, uint64_t seed, int threads) {
    return FitBy(*method, data, seed, threads);
  });
}

absl::Status CheckMethods(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (absl::StatusOr<Method> method = FindMethod(name); !method.ok()) return method.status();
  }
  return absl::OkStatus();
}

}  // namespace fidelio::bench
