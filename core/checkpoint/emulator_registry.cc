#include "core/checkpoint/emulator_registry.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/bytes.h"
#include "core/baseline/baseline_fit.h"
#include "core/baseline/baseline_posterior.h"
#include "core/dgp/moments/mf_dgp.h"
#include "core/dgp/moments/mf_dgp_fit.h"
#include "core/dgp/sparse/sparse_mf_dgp_posterior.h"
#include "core/dgp/sparse/svi_fit.h"
#include "core/dgp/sparse/variational_fit.h"
#include "core/emulator/transformed_emulator.h"
#include "core/neighbour/neighbour_dgp.h"
#include "core/neighbour/neighbour_dgp_fit.h"

namespace fidelio {
namespace {

template <BaselineMethod method>
constexpr EmulatorMethod Baseline() {
  return {
      .name = NameOf(method),
      .checkpoint_kind = CheckpointKindOf(method),
      .state_kind = StateKindOf(method),
      .create = [](const Dataset& data, const FitOptions& options) -> absl::StatusOr<std::unique_ptr<EmulatorFit>> {
        return BaselineFit::Create(method, data, options);
      },
      .resume = [](absl::string_view state, const Dataset&, int threads)
          -> absl::StatusOr<std::unique_ptr<EmulatorFit>> { return BaselineFit::Resume(method, state, threads); },
      .load = [](absl::string_view checkpoint) -> absl::StatusOr<std::unique_ptr<MixtureEmulator>> {
        return LoadBaseline(method, checkpoint);
      },
      .fit_bytes = [](const std::vector<int64_t>& counts, int,
                      const FitOptions& options) { return BaselineFit::MemoryBytes(method, counts, options.threads); }};
}

constexpr EmulatorMethod kMethods[] = {
    {.name = "mf_dgp",
     .checkpoint_kind = kMfDgpKind,
     .state_kind = kMfDgpFitKind,
     .create = [](const Dataset& data, const FitOptions& options) -> absl::StatusOr<std::unique_ptr<EmulatorFit>> {
       return MfDgpFit::Create(data, options);
     },
     .resume = [](absl::string_view state, const Dataset&, int threads)
         -> absl::StatusOr<std::unique_ptr<EmulatorFit>> { return MfDgpFit::Resume(state, threads); },
     .load = [](absl::string_view checkpoint) -> absl::StatusOr<std::unique_ptr<MixtureEmulator>> {
       return LoadMfDgp(checkpoint);
     },
     .fit_bytes = [](const std::vector<int64_t>& counts, int,
                     const FitOptions& options) { return MfDgpFit::MemoryBytes(counts, options.threads); }},
    {.name = "mf_dgp_variational",
     .checkpoint_kind = kVariationalMfDgpKind,
     .state_kind = kVariationalFitKind,
     .create = [](const Dataset& data, const FitOptions& options) -> absl::StatusOr<std::unique_ptr<EmulatorFit>> {
       return VariationalFit::Create(data, options);
     },
     .resume = [](absl::string_view state, const Dataset& data, int threads)
         -> absl::StatusOr<std::unique_ptr<EmulatorFit>> { return VariationalFit::Resume(state, data, threads); },
     .load = [](absl::string_view checkpoint) -> absl::StatusOr<std::unique_ptr<MixtureEmulator>> {
       return LoadSparseMfDgp(checkpoint, kVariationalMfDgpKind);
     },
     .fit_bytes = VariationalFit::MemoryBytes},
    {.name = "mf_dgp_svi",
     .checkpoint_kind = kSviMfDgpKind,
     .state_kind = kSviFitKind,
     .create = [](const Dataset& data, const FitOptions& options) -> absl::StatusOr<std::unique_ptr<EmulatorFit>> {
       return SviFit::Create(data, options);
     },
     .resume = [](absl::string_view state, const Dataset& data, int threads)
         -> absl::StatusOr<std::unique_ptr<EmulatorFit>> { return SviFit::Resume(state, data, threads); },
     .load = [](absl::string_view checkpoint) -> absl::StatusOr<std::unique_ptr<MixtureEmulator>> {
       return LoadSparseMfDgp(checkpoint, kSviMfDgpKind);
     },
     .fit_bytes = SviFit::MemoryBytes},
    {.name = "mf_dgp_neighbours",
     .checkpoint_kind = kNeighbourDgpKind,
     .state_kind = kNeighbourDgpFitKind,
     .create = [](const Dataset& data, const FitOptions& options) -> absl::StatusOr<std::unique_ptr<EmulatorFit>> {
       return NeighbourDgpFit::Create(data, options);
     },
     .resume = [](absl::string_view state, const Dataset& data, int threads)
         -> absl::StatusOr<std::unique_ptr<EmulatorFit>> { return NeighbourDgpFit::Resume(state, data, threads); },
     .load = [](absl::string_view checkpoint) -> absl::StatusOr<std::unique_ptr<MixtureEmulator>> {
       return LoadNeighbourDgp(checkpoint);
     },
     .fit_bytes =
         [](const std::vector<int64_t>& counts, int dimension, const FitOptions& options) {
           return NeighbourDgpFit::MemoryBytes(counts, dimension, options.threads);
         }},
    Baseline<BaselineMethod::kAr1>(),
    Baseline<BaselineMethod::kAr1Recursive>(),
    Baseline<BaselineMethod::kNargp>(),
    Baseline<BaselineMethod::kDeepMf>(),
};

absl::StatusOr<std::unique_ptr<MixtureEmulator>> LoadFitted(absl::string_view checkpoint) {
  const uint32_t kind = ByteReader::KindOf(checkpoint);
  for (const EmulatorMethod& method : kMethods) {
    if (method.checkpoint_kind == kind) return method.load(checkpoint);
  }
  return kMethods[0].load(checkpoint);  // which says what is wrong with these bytes
}

}  // namespace

absl::Span<const EmulatorMethod> EmulatorMethods() { return kMethods; }

absl::StatusOr<const EmulatorMethod*> FindEmulatorMethod(absl::string_view name) {
  std::string known;
  for (const EmulatorMethod& method : kMethods) {
    if (name == method.name) return &method;
    absl::StrAppend(&known, known.empty() ? "" : ", ", method.name);
  }
  return absl::NotFoundError(absl::StrCat("method \"", name, "\", want one of ", known));
}

absl::StatusOr<std::unique_ptr<Emulator>> LoadEmulator(absl::string_view checkpoint) {
  if (ByteReader::KindOf(checkpoint) != kTransformedEmulatorKind) return LoadFitted(checkpoint);
  return TransformedEmulator::Load(checkpoint, LoadFitted);
}

const MixtureEmulator& FittedModel(const Emulator& emulator) {
  const auto* transformed = dynamic_cast<const TransformedEmulator*>(&emulator);
  return transformed != nullptr ? transformed->base() : dynamic_cast<const MixtureEmulator&>(emulator);
}

}  // namespace fidelio
