// VariationalSearch: the parameters of a variational MF-DGP that maximise its evidence lower bound, round by round.
//
// Each start runs through rounds. The first maximises the bound over the hyperparameters with sites that say nothing about the
// layers below (each layer then knows its own level alone). The others take natural-gradient steps of the sites, which find them in a
// few evaluations, and then maximise over everything by L-BFGS. The start with the largest bound wins. Weak priors on the
// logarithms of hyperparameters keep those that the data say nothing about where they make sense.
// A round depends on the state before it alone: a search can be saved between rounds and continued to the same bits.
#ifndef FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_SEARCH_H_
#define FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_SEARCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/types.h"
#include "core/dgp/sparse/variational_elbo.h"
#include "core/dgp/sparse/variational_model.h"

namespace fidelio {

struct VariationalSettings {
  int rounds = 4;              // of a start, the first included
  int first_iterations = 150;  // of L-BFGS in the first round
  int iterations = 100;        // in the others
  int site_steps = 4;          // natural-gradient steps that begin a round
  double jitter = 1e-9;
};

struct VariationalState {
  int start = 0, round = 0;  // the round that comes next
  Vector current;            // parameters of this start
  double value = 0;          // bound and log prior there
  Vector best;
  double best_value = 0;
  int64_t evaluations = 0;
  double max_jitter = 0;
  bool done = false;
};
template <typename Bytes>
void Fields(Bytes& bytes, VariationalState& state) {
  bytes(state.start, state.round, state.current, state.value, state.best, state.best_value, state.evaluations,
        state.max_jitter, state.done);
}

class VariationalSearch {
 public:
  // Hyperparameters of `extra_starts` come before the built-in starts.
  VariationalSearch(std::shared_ptr<const VariationalModel> model, VariationalSettings settings,
                    std::vector<Vector> extra_starts, int threads);

  int starts() const { return static_cast<int>(starts_.size()); }
  int rounds() const { return settings_.rounds; }

  // Runs the round that comes next. `keep_going` is asked before every evaluation with the largest bound so far; false ends the
  // round, which leaves `state` as it was, but for a better `best`. Returns false then.
  bool Advance(VariationalState* state, const std::function<bool(double best)>& keep_going);

  // The log prior of the hyperparameters, up to a constant; its gradient is added.
  double LogPrior(const Vector& parameters, Vector* gradient) const;

 private:
  bool Maximise(int free, int iterations, const std::function<bool(double)>& keep_going, Vector* parameters,
                double* value, VariationalState* state);

  std::shared_ptr<const VariationalModel> model_;
  VariationalSettings settings_;
  VariationalElbo elbo_;
  Vector centre_, scale_;  // of the priors; scale also of the sites, as the unit in which L-BFGS moves
  std::vector<Vector> starts_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_SEARCH_H_
