#include "core/emulator/query_check.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"

namespace fidelio {

using Eigen::Index;

absl::Status CheckQuantiles(const std::vector<double>& quantiles) {
  for (size_t k = 0; k < quantiles.size(); ++k) {
    if (!(quantiles[k] > 0 && quantiles[k] < 1)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("quantiles[%d]: %g, want a probability between 0 and 1", k, quantiles[k]));
    }
  }
  return absl::OkStatus();
}

namespace {

absl::Status CheckLevel(const Emulator& model, int level) {
  if (level >= -1 && level < model.levels()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("level: %d, want 0 to %d, or -1 for the highest fidelity", level, model.levels() - 1));
}

}  // namespace

absl::Status CheckQuery(const Emulator& model, const Matrix& x, int level) {
  if (x.cols() != model.input_dimension()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("x: %d columns, but the model has input dimension %d", x.cols(), model.input_dimension()));
  }
  FIDELIO_RETURN_IF_ERROR(CheckLevel(model, level));
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) {
      if (!std::isfinite(x(i, j))) {
        return absl::InvalidArgumentError(absl::StrFormat("x[%d,%d]: %g is not a finite number", i, j, x(i, j)));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckColumns(const std::vector<int>& columns, Index n) {
  for (size_t j = 0; j < columns.size(); ++j) {
    if (columns[j] >= 0 && columns[j] < n) continue;
    return absl::InvalidArgumentError(absl::StrFormat("columns[%d]: %d, want 0 to %d", j, columns[j], n - 1));
  }
  return absl::OkStatus();
}

absl::Status CheckPaths(const Emulator& model, const PathOptions& options) {
  FIDELIO_RETURN_IF_ERROR(CheckLevel(model, options.level));
  if (options.first < 0) {
    return absl::InvalidArgumentError(absl::StrFormat("first: %d, want at least 0", options.first));
  }
  if (options.count < 1) {
    return absl::InvalidArgumentError(absl::StrFormat("count: %d, want at least 1", options.count));
  }
  return absl::OkStatus();
}

absl::Status CheckJointSize(const Matrix& x) {
  if (x.rows() <= kMostJointInputs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("x: %d rows, want at most %d for a joint posterior", x.rows(), kMostJointInputs));
}

absl::Status CheckJointQuery(const Emulator& model, const Matrix& x, const std::vector<int>& levels) {
  FIDELIO_RETURN_IF_ERROR(CheckJointSize(x));
  FIDELIO_RETURN_IF_ERROR(CheckQuery(model, x, -1));
  if (static_cast<Eigen::Index>(levels.size()) != x.rows()) {
    return absl::InvalidArgumentError(absl::StrFormat("levels: %d values for %d rows of x", levels.size(), x.rows()));
  }
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] >= 0 && levels[i] < model.levels()) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("levels[%d]: %d, want 0 to %d", i, levels[i], model.levels() - 1));
  }
  return absl::OkStatus();
}

absl::Status CheckMixtureGradient(const Matrix& x, Index components, const Matrix& mean_bar,
                                  const Matrix& variance_bar) {
  for (const Matrix* bar : {&mean_bar, &variance_bar}) {
    if (bar->rows() == components && bar->cols() == x.rows()) continue;
    return absl::InvalidArgumentError(absl::StrFormat("%s: %d×%d, want %d×%d, as the mixture",
                                                      bar == &mean_bar ? "mean_bar" : "variance_bar", bar->rows(),
                                                      bar->cols(), components, x.rows()));
  }
  return absl::OkStatus();
}

absl::Status CheckOutputs(const Matrix& x, const Vector& y) {
  if (y.size() != x.rows()) {
    return absl::InvalidArgumentError(absl::StrFormat("y: %d values, but x has %d rows", y.size(), x.rows()));
  }
  for (Index i = 0; i < y.size(); ++i) {
    if (!std::isfinite(y[i])) {
      return absl::InvalidArgumentError(absl::StrFormat("y[%d]: %g is not a finite number", i, y[i]));
    }
  }
  return absl::OkStatus();
}

}  // namespace fidelio
