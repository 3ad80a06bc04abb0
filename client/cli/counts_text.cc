#include "client/cli/counts_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace fidelio::cli {

std::string CountsText(const v1::Model& model, const std::vector<int64_t>& counts) {
  const size_t size = std::min(counts.size(), static_cast<size_t>(model.fidelities_size()));
  std::string text;
  for (size_t t = 0; t < size; ++t) {
    absl::StrAppend(&text,
                    t == 0          ? ""
                    : t + 1 == size ? " and "
                                    : ", ",
                    counts[t], " ", model.fidelities(static_cast<int>(t)).name());
  }
  return text;
}

}  // namespace fidelio::cli
