#include "tests/bench/methods.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/dgp/mf_dgp.h"

namespace fidelio::bench {
namespace {

absl::StatusOr<FittedEmulator> FitMfDgp(const Dataset& data, uint64_t seed, int threads) {
  FitOptions options;
  options.seed = seed;
  options.threads = threads;
  absl::StatusOr<std::unique_ptr<MfDgp>> model = MfDgp::Fit(data, options);
  if (!model.ok()) return model.status();
  const int64_t evaluations = (*model)->report().evaluations;
  return FittedEmulator{.emulator = *std::move(model), .evaluations = evaluations};
}

absl::StatusOr<FittedEmulator> FitGp(const Dataset& data, uint64_t seed, int threads) {
  if (data.levels.empty()) return absl::InvalidArgumentError("levels: none, must be at least one");
  Dataset top;
  top.levels = {data.levels.back()};
  top.box = data.box;
  return FitMfDgp(top, seed, threads);
}

struct NamedMethod {
  const char* name;
  Method method;
};

constexpr NamedMethod kMethods[] = {{"mf_dgp", FitMfDgp}, {"gp", FitGp}};

}  // namespace

absl::StatusOr<Method> FindMethod(const std::string& name) {
  std::string known;
  for (const NamedMethod& entry : kMethods) {
    if (name == entry.name) return entry.method;
    absl::StrAppend(&known, known.empty() ? "" : ", ", entry.name);
  }
  return absl::NotFoundError(absl::StrCat("--methods: \"", name, "\" must be one of ", known));
}

absl::Status CheckMethods(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (absl::StatusOr<Method> method = FindMethod(name); !method.ok()) return method.status();
  }
  return absl::OkStatus();
}

}  // namespace fidelio::bench
