#include "client/cli/model_columns.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace fidelio::cli {

std::vector<std::string> InputColumnNames(const v1::Model& model) {
  std::vector<std::string> names;
  for (int j = 0; j < static_cast<int>(model.input_dimension()); ++j) {
    names.push_back(j < model.inputs_size() ? model.inputs(j).name() : absl::StrCat("x", j + 1));
  }
  return names;
}

std::string OutputColumnName(const v1::Model& model) {
  return model.outputs_size() > 0 ? model.outputs(0).name() : "y";
}

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
