#include "core/dgp/moments/moment_fit_bytes.h"

#include "core/optim/hmc_bytes.h"

namespace fidelio {
namespace {

void WriteMode(const ModeState& mode, ByteWriter& out) {
  out.U32(static_cast<uint32_t>(mode.structure));
  out.Write(mode.z);
  out.F64(mode.value);
  out.Write(mode.hessian);
  out.U32(static_cast<uint32_t>(mode.failed_columns));
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
  mode.failed_columns = static_cast<int>(in.U32());
  mode.log_evidence = in.F64();
  mode.weight = in.F64();
  mode.space.origin = in.ReadVector();
  mode.space.basis = in.ReadMatrix();
  return mode;
}

void WriteChain(const ChainState& chain, ByteWriter& out) {
  out.U32(static_cast<uint32_t>(chain.mode));
  out.Bool(chain.started);
  WriteHmc(chain.hmc, out);
  out.Write(chain.trace);
}

ChainState ReadChain(ByteReader& in) {
  ChainState chain;
  chain.mode = static_cast<int>(in.U32());
  chain.started = in.Bool();
  chain.hmc = ReadHmc(in);
  chain.trace = in.ReadVectors();
  return chain;
}

}  // namespace

void WriteStarts(const std::vector<StartState>& starts, ByteWriter& out) {
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

std::vector<StartState> ReadStarts(ByteReader& in) {
  std::vector<StartState> starts;
  const uint64_t count = in.U64();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    StartState s;
    s.structure = static_cast<int>(in.U32());
    s.z = in.ReadVector();
    s.value = in.F64();
    s.done = in.Bool();
    s.rounds = static_cast<int>(in.U32());
    s.iterations = in.I64();
    starts.push_back(std::move(s));
  }
  return starts;
}

void WriteFitState(const MomentFitState& state, ByteWriter& out) {
  WriteStarts(state.starts, out);
  out.U64(state.modes.size());
  for (const ModeState& mode : state.modes) WriteMode(mode, out);
  out.U64(state.chains.size());
  for (const ChainState& chain : state.chains) WriteChain(chain, out);
  out.I64(state.iterations);
  out.I64(state.evaluations);
  out.F64(state.seconds);
}

MomentFitState ReadFitState(ByteReader& in) {
  MomentFitState state;
  state.starts = ReadStarts(in);
  const uint64_t modes = in.U64();
  for (uint64_t i = 0; i < modes && in.ok(); ++i) state.modes.push_back(ReadMode(in));
  const uint64_t chains = in.U64();
  for (uint64_t i = 0; i < chains && in.ok(); ++i) state.chains.push_back(ReadChain(in));
  state.iterations = in.I64();
  state.evaluations = in.I64();
  state.seconds = in.F64();
  return state;
}

absl::Status CheckFitState(const MomentFitState& state, const std::vector<StartState>& warm,
                           const std::vector<std::shared_ptr<const MomentModel>>& structures) {
  const auto fits = [&](int structure, const Vector& z) {
    return structure >= 0 && structure < static_cast<int>(structures.size()) &&
           z.size() == structures[structure]->layout.parameters.size();
  };
  bool good = true;
  for (const StartState& s : warm) good = good && fits(s.structure, s.z);
  for (const StartState& s : state.starts) good = good && fits(s.structure, s.z);
  for (const ModeState& m : state.modes) {
    const Eigen::Index d = m.z.size();
    const bool measured = m.hessian.rows() == d && m.hessian.cols() == d;
    good = good && fits(m.structure, m.z) && (measured || (m.hessian.size() == 0 && state.chains.empty()));
    if (!state.chains.empty()) {
      good = good && m.space.origin.size() == d && m.space.basis.rows() == d && m.space.basis.cols() == d;
    }
  }
  for (const ChainState& c : state.chains) {
    good = good && c.mode >= 0 && c.mode < static_cast<int>(state.modes.size());
    if (!good) break;
    const Vector& z = state.modes[c.mode].z;
    good = !c.started || (c.hmc.q.size() == z.size() && c.hmc.gradient.size() == z.size());
    for (const Vector& d : c.trace) good = good && d.size() == z.size();
  }
  return good ? absl::OkStatus() : absl::DataLossError("state of a running fit: sizes do not fit its structures");
}

}  // namespace fidelio
