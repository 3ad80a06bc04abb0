#include "core/optim/lbfgs.h"

#include <LBFGS.h>

#include <exception>
#include <limits>

namespace fidelio {
namespace {

struct Stop : std::exception {};

// What LBFGS++ calls: remembers the best point, turns refusals into +∞ and a "no" of keep_going into Stop.
class Tracked {
 public:
  Tracked(Objective& objective, const std::function<bool(double)>& keep_going,
          const std::function<void(double)>& evaluated, LbfgsResult& result)
      : objective_(objective), keep_going_(keep_going), evaluated_(evaluated), result_(result) {}

  double operator()(const Vector& x, Vector& gradient) {
    if (!keep_going_(result_.value)) throw Stop();
    const double value = Evaluate(x, gradient);
    ++result_.evaluations;
    if (value < result_.value) {
      result_.value = value;
      result_.x = x;
    }
    if (evaluated_) evaluated_(result_.value);
    return value;
  }

 private:
  double Evaluate(const Vector& x, Vector& gradient) {
    double value;
    if (objective_.Evaluate(x, &value, &gradient)) return value;
    gradient.setZero(x.size());
    return std::numeric_limits<double>::infinity();
  }

  Objective& objective_;
  const std::function<bool(double)>& keep_going_;
  const std::function<void(double)>& evaluated_;
  LbfgsResult& result_;
};

}  // namespace

LbfgsResult MinimiseLbfgs(Objective& objective, const Vector& start, const LbfgsOptions& options,
                          const std::function<bool(double best)>& keep_going,
                          const std::function<void(double best)>& evaluated) {
  LBFGSpp::LBFGSParam<double> param;
  param.m = options.memory;
  param.max_iterations = options.max_iterations;
  param.epsilon = options.gradient_tolerance;
  param.epsilon_rel = 0;
  param.past = 3;
  param.delta = options.value_tolerance;
  param.max_linesearch = 30;
  // Without the curvature condition, an update may lose positive definiteness and the next direction ascend.
  param.linesearch = LBFGSpp::LBFGS_LINESEARCH_BACKTRACKING_WOLFE;
  LBFGSpp::LBFGSSolver<double, LBFGSpp::LineSearchBacktracking> solver(param);
  LbfgsResult result;
  result.x = start;
  result.value = std::numeric_limits<double>::infinity();
  Tracked tracked(objective, keep_going, evaluated, result);
  Vector x = start;
  double value;
  try {
    result.converged = solver.minimize(tracked, x, value) < options.max_iterations;
  } catch (const Stop&) {
    result.stopped = true;
  } catch (const std::exception&) {
    result.converged = true;  // the line search found no descent: as good as it gets in double precision
  }
  return result;
}

}  // namespace fidelio
