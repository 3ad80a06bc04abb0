#include "core/data/dataset.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int kMaxLevels = 64;

absl::Status CheckFinite(const std::string& field, const Matrix& values) {
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < values.cols(); ++j) {
      if (!std::isfinite(values(i, j))) {
        return absl::InvalidArgumentError(
            absl::StrFormat("%s[%d,%d]: %g is not a finite number", field, i, j, values(i, j)));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLevel(const LevelData& level, size_t t, Index dimension) {
  const std::string name = absl::StrFormat("levels[%d]", t);
  const Index n = level.y.size();
  if (level.x.rows() != n) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s.x: %d rows, but %s.y has %d values", name, level.x.rows(), name, n));
  }
  if (n > 0 && level.x.cols() != dimension) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s.x: %d columns, but levels[0].x has %d", name, level.x.cols(), dimension));
  }
  if (level.noise_variance.size() != 0 && level.noise_variance.size() != n) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s.noise_variance: %d values, want none or one per observation (%d)", name, level.noise_variance.size(), n));
  }
  FIDELIO_RETURN_IF_ERROR(CheckFinite(name + ".x", level.x));
  FIDELIO_RETURN_IF_ERROR(CheckFinite(name + ".y", level.y));
  FIDELIO_RETURN_IF_ERROR(CheckFinite(name + ".noise_variance", level.noise_variance));
  for (Index i = 0; i < level.noise_variance.size(); ++i) {
    if (level.noise_variance[i] < 0) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s.noise_variance[%d]: %g is negative, want ≥ 0", name, i, level.noise_variance[i]));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBox(const InputBox& box, Index dimension) {
  if (box.lower.size() != dimension || box.upper.size() != dimension) {
    return absl::InvalidArgumentError(
        absl::StrFormat("box: %d lower and %d upper limits, want %d (the input dimension)", box.lower.size(),
                        box.upper.size(), dimension));
  }
  for (Index d = 0; d < dimension; ++d) {
    if (!std::isfinite(box.lower[d]) || !std::isfinite(box.upper[d]) || !(box.upper[d] > box.lower[d])) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "box: dimension %d is [%g, %g], want finite limits with upper > lower", d, box.lower[d], box.upper[d]));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Validate(const Dataset& data) {
  if (data.levels.empty() || data.levels.size() > kMaxLevels) {
    return absl::InvalidArgumentError(
        absl::StrFormat("levels: %d fidelities, want 1 to %d", data.levels.size(), kMaxLevels));
  }
  if (data.levels[0].y.size() == 0) {
    return absl::FailedPreconditionError(
        "levels[0]: no observations of the lowest fidelity; add at least one before fitting");
  }
  const Index dimension = data.levels[0].x.cols();
  if (dimension < 1) {
    return absl::InvalidArgumentError(absl::StrFormat("levels[0].x: %d columns, want at least 1", dimension));
  }
  for (size_t t = 0; t < data.levels.size(); ++t) FIDELIO_RETURN_IF_ERROR(CheckLevel(data.levels[t], t, dimension));
  if (data.box) FIDELIO_RETURN_IF_ERROR(CheckBox(*data.box, dimension));
  return absl::OkStatus();
}

}  // namespace fidelio
