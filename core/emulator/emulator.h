// Emulator: a fitted model that predicts a simulator's output at every fidelity, with its uncertainty.
//
// The one interface that benches, designs and the server see. A prediction at x and level t is a mixture of Gaussians
//   p(f_t(x)) = Σ_s w_s N(m_s(x), v_s(x))
// (over hyperparameter draws and structures), of which the fields of Prediction are summaries. Everything is in the
// user's units. Implementations are immutable: every method may be called from several threads at once.
#ifndef FIDELIO_CORE_EMULATOR_EMULATOR_H_
#define FIDELIO_CORE_EMULATOR_EMULATOR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/types.h"

namespace fidelio {

struct PredictOptions {
  int level = -1;                      // 0 ≤ level < levels(); −1: the highest fidelity
  bool include_noise = false;          // predict a new observation y instead of the function f
  std::vector<double> quantiles = {};  // probabilities in (0, 1), each answered by a column of Prediction::quantiles
  bool input_gradient = false;         // ∂mean/∂x
  int threads = 1;                     // 0: all cores; results do not depend on it
};

struct Prediction {
  Vector mean;            // n
  Vector variance;        // n, the mixture's: E[v] + Var[m]
  Matrix quantiles;       // n × number of quantiles
  Matrix input_gradient;  // n × d, empty unless asked for
};

class FIDELIO_EXPORT Emulator {
 public:
  virtual ~Emulator() = default;

  virtual int levels() const = 0;
  virtual int input_dimension() const = 0;

  // Predicts at the rows of x (n × input_dimension()).
  virtual absl::StatusOr<Prediction> Predict(const Matrix& x, const PredictOptions& options) const = 0;

  // log p(y_i) of the mixture at (x_i, options.level), n values; options.quantiles and input_gradient are ignored.
  virtual absl::StatusOr<Vector> LogDensity(const Matrix& x, const Vector& y, const PredictOptions& options) const = 0;

  // The complete state as versioned, checksummed bytes (core/base/bytes.h).
  virtual std::string Save() const = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_EMULATOR_H_
