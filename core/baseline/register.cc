// ar1, ar1_recursive, nargp and deep_mf: the classic models (core/baseline/baseline_method.h).
#include "core/baseline/baseline_fit.h"
#include "core/baseline/baseline_posterior.h"
#include "core/registry/emulator_method.h"

namespace fidelio {
namespace {

template <BaselineMethod method>
EmulatorMethod ClassicModel(ModelKind kind, const char* kind_name) {
  return {
      .name = NameOf(method),
      .checkpoint_kind = CheckpointKindOf(method),
      .state_kind = StateKindOf(method),
      .uses = {{.kind = kind,
                .kind_name = kind_name,
                .inference = Inference::kMoments,
                .inference_name = "MOMENTS",
                .auto_rule = AutoRule{.preference = 1, .when = "by default"}},
               {.kind = kind,
                .kind_name = kind_name,
                .inference = Inference::kPointEstimate,
                .inference_name = "POINT_ESTIMATE",
                .adjust = [](FitOptions& options) { options.point_estimate = true; }}},
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

const MethodRegistration kAr1Registration(ClassicModel<BaselineMethod::kAr1>(ModelKind::kAr1, "AR1"));
const MethodRegistration kAr1RecursiveRegistration(ClassicModel<BaselineMethod::kAr1Recursive>(ModelKind::kAr1Recursive,
                                                                                               "AR1_RECURSIVE"));
const MethodRegistration kNargpRegistration(ClassicModel<BaselineMethod::kNargp>(ModelKind::kNargp, "NARGP"));
const MethodRegistration kDeepMfRegistration(ClassicModel<BaselineMethod::kDeepMf>(ModelKind::kDeepMf, "DEEP_MF"));

}  // namespace
}  // namespace fidelio
