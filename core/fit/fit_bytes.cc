#include "core/fit/fit_bytes.h"

#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/optim/hmc_bytes.h"

namespace fidelio {
namespace {

void WriteMode(const SearchMode& mode, ByteWriter& out) {
  out.U32(static_cast<uint32_t>(mode.structure));
  out.Write(mode.z);
  out.F64(mode.value);
  out.Write(mode.hessian);
  out.U32(static_cast<uint32_t>(mode.failed_columns));
  out.F64(mode.log_evidence);
  out.F64(mode.weight);
}

SearchMode ReadMode(ByteReader& in) {
  SearchMode mode;
  mode.structure = static_cast<int>(in.U32());
  mode.z = in.ReadVector();
  mode.value = in.F64();
  mode.hessian = in.ReadMatrix();
  mode.failed_columns = static_cast<int>(in.U32());
  mode.log_evidence = in.F64();
  mode.weight = in.F64();
  return mode;
}

void WriteChain(const SearchChain& chain, ByteWriter& out) {
  out.U32(static_cast<uint32_t>(chain.mode));
  out.Bool(chain.started);
  WriteHmc(chain.hmc, out);
  out.Write(chain.trace);
}

SearchChain ReadChain(ByteReader& in) {
  SearchChain chain;
  chain.mode = static_cast<int>(in.U32());
  chain.started = in.Bool();
  chain.hmc = ReadHmc(in);
  chain.trace = in.ReadVectors();
  return chain;
}

SearchStart ReadStart(ByteReader& in) {
  SearchStart s;
  s.structure = static_cast<int>(in.U32());
  s.z = in.ReadVector();
  s.value = in.F64();
  s.done = in.Bool();
  s.rounds = static_cast<int>(in.U32());
  s.iterations = in.I64();
  return s;
}

// A count, then so many things.
template <typename F>
auto ReadMany(ByteReader& in, F&& read) {
  std::vector<decltype(read(in))> result;
  const uint64_t count = in.U64();
  for (uint64_t i = 0; i < count && in.ok(); ++i) result.push_back(read(in));
  return result;
}

}  // namespace

absl::StatusOr<ByteReader> OpenState(absl::string_view bytes, uint32_t kind, uint32_t version, uint32_t recipe) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened, ByteReader::Open(bytes, kind, version, "state of a running fit"));
  const uint32_t found = opened.reader.U32();
  if (opened.version == version && found == recipe) return std::move(opened.reader);
  return absl::FailedPreconditionError(absl::StrFormat(
      "state of a running fit: version %d and recipe %d, this program has %d and %d; start the fit again",
      opened.version, found, version, recipe));
}

void WriteFitOptions(const FitOptions& options, ByteWriter& out) {
  out.Bool(options.kernel.has_value());
  out.U32(static_cast<uint32_t>(options.kernel.value_or(KernelFamily::kRbf)));
  out.U64(options.seed);
  out.F64(options.max_seconds);
  out.I64(options.max_iterations);
  out.I64(options.inducing_points);
  out.I64(options.batch_size);
  out.I64(options.steps);
  out.Bool(options.point_estimate);
}

FitOptions ReadFitOptions(ByteReader& in) {
  FitOptions options;
  const bool given = in.Bool();
  const auto kernel = static_cast<KernelFamily>(in.U32());
  options.kernel = given ? std::optional<KernelFamily>(kernel) : std::nullopt;
  options.seed = in.U64();
  options.max_seconds = in.F64();
  options.max_iterations = in.I64();
  options.inducing_points = static_cast<int>(in.I64());
  options.batch_size = static_cast<int>(in.I64());
  options.steps = in.I64();
  options.point_estimate = in.Bool();
  return options;
}

void WriteWork(const FitWork& work, ByteWriter& out) {
  out.I64(work.iterations);
  out.I64(work.evaluations);
  out.F64(work.seconds);
}

FitWork ReadWork(ByteReader& in) {
  FitWork work;
  work.iterations = in.I64();
  work.evaluations = in.I64();
  work.seconds = in.F64();
  return work;
}

void WriteStarts(const std::vector<SearchStart>& starts, ByteWriter& out) {
  out.U64(starts.size());
  for (const SearchStart& s : starts) {
    out.U32(static_cast<uint32_t>(s.structure));
    out.Write(s.z);
    out.F64(s.value);
    out.Bool(s.done);
    out.U32(static_cast<uint32_t>(s.rounds));
    out.I64(s.iterations);
  }
}

std::vector<SearchStart> ReadStarts(ByteReader& in) { return ReadMany(in, &ReadStart); }

void WriteSearch(const SearchState& state, ByteWriter& out) {
  WriteStarts(state.starts, out);
  out.Bool(state.screened);
  out.U64(state.modes.size());
  for (const SearchMode& mode : state.modes) WriteMode(mode, out);
  out.U64(state.chains.size());
  for (const SearchChain& chain : state.chains) WriteChain(chain, out);
}

SearchState ReadSearch(ByteReader& in) {
  SearchState state;
  state.starts = ReadStarts(in);
  state.screened = in.Bool();
  state.modes = ReadMany(in, &ReadMode);
  state.chains = ReadMany(in, &ReadChain);
  return state;
}

absl::Status CheckSearch(const SearchState& state, const std::vector<SearchStart>& extra_starts, const Target& target) {
  const auto fits = [&](int structure, const Vector& z) {
    return structure >= 0 && structure < target.structures() && z.size() == target.parameters(structure).size();
  };
  bool good = true;
  for (const SearchStart& s : extra_starts) good = good && fits(s.structure, s.z);
  for (const SearchStart& s : state.starts) good = good && fits(s.structure, s.z);
  for (const SearchMode& m : state.modes) {
    const bool measured = m.hessian.rows() == m.z.size() && m.hessian.cols() == m.z.size();
    good = good && fits(m.structure, m.z) && (measured || (m.hessian.size() == 0 && state.chains.empty()));
  }
  for (const SearchChain& c : state.chains) {
    good = good && c.mode >= 0 && c.mode < static_cast<int>(state.modes.size());
    if (!good) break;
    const Vector& z = state.modes[c.mode].z;
    good = !c.started || (c.hmc.q.size() == z.size() && c.hmc.gradient.size() == z.size());
    for (const Vector& d : c.trace) good = good && d.size() == z.size();
  }
  return good ? absl::OkStatus() : absl::DataLossError("state of a running fit: sizes do not fit its structures");
}

}  // namespace fidelio
