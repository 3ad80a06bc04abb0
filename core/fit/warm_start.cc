#include "core/fit/warm_start.h"

#include "absl/strings/str_format.h"

namespace fidelio {

absl::Status CheckWarmStart(const Emulator* model, const Dataset& data) {
  if (model == nullptr) return absl::InvalidArgumentError("warm_start: a model that another method fitted");
  if (model->levels() == static_cast<int>(data.levels.size()) && model->input_dimension() == data.dimension()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "warm_start: a model of %d levels and input dimension %d, but the data has %d levels and dimension %d",
      model->levels(), model->input_dimension(), data.levels.size(), data.dimension()));
}

}  // namespace fidelio
