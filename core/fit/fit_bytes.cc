#include "core/fit/fit_bytes.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"

namespace fidelio {
absl::StatusOr<ByteReader> OpenState(absl::string_view bytes, uint32_t kind, uint32_t version, uint32_t recipe) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened, ByteReader::Open(bytes, kind, version, "state of a running fit"));
  const uint32_t found = opened.reader.U32();
  if (opened.version == version && found == recipe) return std::move(opened.reader);
  return absl::FailedPreconditionError(absl::StrFormat(
      "state of a running fit: version %d and recipe %d, this program has %d and %d; start the fit again",
      opened.version, found, version, recipe));
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
