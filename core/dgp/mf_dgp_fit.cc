// The state of a running fit, version 3 (the envelope is in core/base/bytes.h). Payload, in this order:
//
//   u32 recipe version; data as in a checkpoint
//   options      bool kernel given, u32 kernel, u64 seed, f64 max seconds, i64 max iterations (not in version 1)
//   warm starts  u64 count; starts
//   progress     u64 starts; per start u32 structure, vector z, f64 value, bool done, u32 rounds and i64 iterations
//                    (both not before version 3)
//                u64 modes; per mode u32 structure, vector z, f64 value, matrix Hessian, f64 log evidence, f64 weight,
//                    vector origin, matrix basis
//                u64 chains; per chain u32 mode, bool started, vector q, f64 value, vector gradient, f64 log step,
//                    u32 iteration, f64 acceptance, u64 draws, per draw vector z
//                i64 iterations (not in version 1), i64 evaluations, f64 seconds
#include "core/dgp/mf_dgp_fit.h"

#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/dgp/mf_dgp_impl.h"
#include "core/dgp/moment_objective.h"
#include "core/dgp/structures.h"
#include "core/emulator/dataset_bytes.h"

namespace fidelio {
namespace {

void Write(const std::vector<StartState>& starts, ByteWriter& out) {
  out.U64(starts.size());
  for (const StartState& s : starts) {
    out.U32(static_cast<uint32_t>(s.structure));
    out.Write(s.z);
    out.F64(s.value);
    out.Bool(s.done);
    out.U32(static_cast<uint32_t>(s.rounds));
    out.I64(s.iterations);
  }
}

std::vector<StartState> ReadStarts(ByteReader& in, uint32_t version) {
  std::vector<StartState> starts;
  const uint64_t count = in.U64();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    StartState s;
    s.structure = static_cast<int>(in.U32());
    s.z = in.ReadVector();
    s.value = in.F64();
    s.done = in.Bool();
    if (version >= 3) {
      s.rounds = static_cast<int>(in.U32());
      s.iterations = in.I64();
    }
    starts.push_back(std::move(s));
  }
  return starts;
}

void Write(const ModeState& mode, ByteWriter& out) {
  out.U32(static_cast<uint32_t>(mode.structure));
  out.Write(mode.z);
  out.F64(mode.value);
  out.Write(mode.hessian);
  out.F64(mode.log_evidence);
  out.F64(mode.weight);
  out.Write(mode.space.origin);
  out.Write(mode.space.basis);
}

ModeState ReadMode(ByteReader& in) {
  ModeState mode;
  mode.structure = static_cast<int>(in.U32());
  mode.z = in.ReadVector();
  mode.value = in.F64();
  mode.hessian = in.ReadMatrix();
  mode.log_evidence = in.F64();
  mode.weight = in.F64();
  mode.space.origin = in.ReadVector();
  mode.space.basis = in.ReadMatrix();
  return mode;
}

void Write(const ChainState& chain, ByteWriter& out) {
  out.U32(static_cast<uint32_t>(chain.mode));
  out.Bool(chain.started);
  out.Write(chain.hmc.q);
  out.F64(chain.hmc.value);
  out.Write(chain.hmc.gradient);
  out.F64(chain.hmc.log_step);
  out.U32(static_cast<uint32_t>(chain.hmc.iteration));
  out.F64(chain.hmc.acceptance_sum);
  out.Write(chain.draws);
}

ChainState ReadChain(ByteReader& in) {
  ChainState chain;
  chain.mode = static_cast<int>(in.U32());
  chain.started = in.Bool();
  chain.hmc.q = in.ReadVector();
  chain.hmc.value = in.F64();
  chain.hmc.gradient = in.ReadVector();
  chain.hmc.log_step = in.F64();
  chain.hmc.iteration = static_cast<int>(in.U32());
  chain.hmc.acceptance_sum = in.F64();
  chain.draws = in.ReadVectors();
  return chain;
}

// Sizes and indices of a state that was read, against the structures that it claims to be of.
absl::Status CheckState(const MomentFitState& state, const std::vector<StartState>& warm,
                        const std::vector<std::shared_ptr<const MomentModel>>& structures) {
  const auto fits = [&](int structure, const Vector& z) {
    return structure >= 0 && structure < static_cast<int>(structures.size()) &&
           z.size() == structures[structure]->layout.parameters.size();
  };
  bool good = true;
  for (const StartState& s : warm) good = good && fits(s.structure, s.z);
  for (const StartState& s : state.starts) good = good && fits(s.structure, s.z);
  for (const ModeState& m : state.modes) {
    good = good && fits(m.structure, m.z) && (m.hessian.size() == 0 || m.hessian.rows() == m.z.size());
  }
  for (const ChainState& c : state.chains) {
    good = good && c.mode >= 0 && c.mode < static_cast<int>(state.modes.size());
    if (!good) break;
    const Vector& z = state.modes[c.mode].z;
    good = state.modes[c.mode].space.basis.rows() == z.size() && state.modes[c.mode].space.origin.size() == z.size() &&
           (!c.started || (c.hmc.q.size() == z.size() && c.hmc.gradient.size() == z.size()));
    for (const Vector& d : c.draws) good = good && d.size() == z.size();
  }
  return good ? absl::OkStatus() : absl::DataLossError("state of a running fit: sizes do not fit its structures");
}

std::vector<int> Counts(const Dataset& data) {
  std::vector<int> counts;
  for (const LevelData& level : data.levels) counts.push_back(static_cast<int>(level.y.size()));
  return counts;
}

}  // namespace

struct MfDgpFit::Impl {
  Dataset data;
  std::optional<KernelFamily> kernel;
  MomentFitRequest request;
  SharedFitState state;

  Impl(Dataset d, const FitOptions& options, MomentFitState progress)
      : data(std::move(d)), kernel(options.kernel), state(std::move(progress)) {
    const std::vector<int> counts = Counts(data);
    for (const Recipe& recipe : DefaultStructures(kernel, counts, data.dimension())) {
      request.structures.push_back(std::make_shared<const MomentModel>(ScaleData(data, recipe.first_level), recipe));
    }
    request.settings = SettingsFor(std::accumulate(counts.begin(), counts.end(), 0));
    request.seed = options.seed;
    request.threads = options.threads;
    request.max_seconds = options.max_seconds;
    request.max_iterations = options.max_iterations;
  }
};

MfDgpFit::MfDgpFit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MfDgpFit::~MfDgpFit() = default;

absl::StatusOr<std::unique_ptr<MfDgpFit>> MfDgpFit::Create(const Dataset& data, const FitOptions& options) {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  auto impl = std::make_unique<Impl>(data, options, MomentFitState());
  if (options.warm_start != nullptr) {
    const auto* warm = dynamic_cast<const MfDgp*>(options.warm_start);
    if (warm == nullptr) return absl::InvalidArgumentError("warm_start: a model that another method fitted");
    if (warm->levels() != static_cast<int>(data.levels.size()) || warm->input_dimension() != data.dimension()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "warm_start: a model of %d levels and input dimension %d, but the data has %d levels and dimension %d",
          warm->levels(), warm->input_dimension(), data.levels.size(), data.dimension()));
    }
    for (size_t k = 0; k < impl->request.structures.size(); ++k) {
      const MomentModel& model = *impl->request.structures[k];
      for (const MomentDraw& draw : warm->impl_->draws) {
        const MomentModel& old = *warm->impl_->structures[draw.structure];
        if (!SameStructure(old.recipe, model.recipe) || old.data.learn_noise != model.data.learn_noise) continue;
        impl->request.extra_starts.push_back(
            {.structure = static_cast<int>(k), .z = MomentObjective(impl->request.structures[k]).Whitened(draw.theta)});
        break;  // one draw per structure is enough to find its mode
      }
    }
  }
  return std::unique_ptr<MfDgpFit>(new MfDgpFit(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<MixtureEmulator>> MfDgpFit::Run(FitObserver* observer) {
  MomentFitRequest request = impl_->request;
  request.observer = observer;
  FIDELIO_ASSIGN_OR_RETURN(MomentFitResult result, RunMomentFit(request, impl_->state));
  FitReport report;
  report.evaluations = result.evaluations;
  report.seconds = result.seconds;
  report.log_posterior = result.log_posterior;
  report.acceptance = result.acceptance;
  report.max_jitter = result.max_jitter;
  FIDELIO_ASSIGN_OR_RETURN(
      std::unique_ptr<MfDgp::Impl> impl,
      MfDgp::Impl::Build(impl_->data, request.structures, std::move(result.draws), report, request.threads));
  return std::unique_ptr<MixtureEmulator>(new MfDgp(std::move(impl)));
}

double MfDgpFit::MemoryBytes(const std::vector<int64_t>& counts, int threads) {
  // Each thread has the covariances of a structure with their adjoints; the result has the factors of some draws.
  return 8.0 * static_cast<double>(FactorElements(counts)) * (6.0 * threads + 12);
}

std::string MfDgpFit::SaveState() const {
  const MomentFitState state = impl_->state.Copy();
  ByteWriter out;
  out.U32(kRecipeVersion);
  WriteDataset(impl_->data, out);
  out.Bool(impl_->kernel.has_value());
  out.U32(static_cast<uint32_t>(impl_->kernel.value_or(KernelFamily::kRbf)));
  out.U64(impl_->request.seed);
  out.F64(impl_->request.max_seconds);
  out.I64(impl_->request.max_iterations);
  Write(impl_->request.extra_starts, out);
  Write(state.starts, out);
  out.U64(state.modes.size());
  for (const ModeState& mode : state.modes) Write(mode, out);
  out.U64(state.chains.size());
  for (const ChainState& chain : state.chains) Write(chain, out);
  out.I64(state.iterations);
  out.I64(state.evaluations);
  out.F64(state.seconds);
  return out.Seal(kMfDgpFitKind, kMfDgpFitVersion);
}

absl::StatusOr<std::unique_ptr<MfDgpFit>> MfDgpFit::Resume(absl::string_view bytes, int threads) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened,
                           ByteReader::Open(bytes, kMfDgpFitKind, kMfDgpFitVersion, "state of a running MF-DGP fit"));
  ByteReader& in = opened.reader;
  const uint32_t recipe = in.U32();
  if (recipe != kRecipeVersion) {
    return absl::FailedPreconditionError(
        absl::StrFormat("state of a running fit: made with recipe %d, this program has recipe %d; start the fit again",
                        recipe, kRecipeVersion));
  }
  Dataset data = ReadDataset(in);
  FitOptions options;
  const bool kernel_given = in.Bool();
  const auto kernel = static_cast<KernelFamily>(in.U32());
  options.kernel = kernel_given ? std::optional<KernelFamily>(kernel) : std::nullopt;
  options.seed = in.U64();
  options.max_seconds = in.F64();
  if (opened.version >= 2) options.max_iterations = in.I64();
  options.threads = threads;
  std::vector<StartState> warm = ReadStarts(in, opened.version);
  MomentFitState state;
  state.starts = ReadStarts(in, opened.version);
  const uint64_t modes = in.U64();
  for (uint64_t i = 0; i < modes && in.ok(); ++i) state.modes.push_back(ReadMode(in));
  const uint64_t chains = in.U64();
  for (uint64_t i = 0; i < chains && in.ok(); ++i) state.chains.push_back(ReadChain(in));
  if (opened.version >= 2) state.iterations = in.I64();
  state.evaluations = in.I64();
  state.seconds = in.F64();
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  auto impl = std::make_unique<Impl>(std::move(data), options, state);
  FIDELIO_RETURN_IF_ERROR(CheckState(state, warm, impl->request.structures));
  impl->request.extra_starts = std::move(warm);
  return std::unique_ptr<MfDgpFit>(new MfDgpFit(std::move(impl)));
}

}  // namespace fidelio
