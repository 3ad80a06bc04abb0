// FunctionObjective: an Objective made of a function, for tests.
#ifndef FIDELIO_TESTS_SUPPORT_FUNCTION_OBJECTIVE_H_
#define FIDELIO_TESTS_SUPPORT_FUNCTION_OBJECTIVE_H_

#include <functional>
#include <utility>

#include "core/base/types.h"
#include "core/optim/objective.h"

namespace fidelio {

class FunctionObjective : public Objective {
 public:
  // The value at x; writes the gradient where it is not null. Points that `accepts` refuses can't be evaluated.
  using Function = std::function<double(const Vector& x, Vector* gradient)>;
  using Region = std::function<bool(const Vector& x)>;

  FunctionObjective(int size, Function function, Region accepts = nullptr)
      : size_(size), function_(std::move(function)), accepts_(std::move(accepts)) {}

  int size() const override { return size_; }

  bool Evaluate(const Vector& x, double* value, Vector* gradient) override {
    ++evaluations_;
    if (accepts_ && !accepts_(x)) return false;
    *value = function_(x, gradient);
    return true;
  }

  int evaluations() const { return evaluations_; }

 private:
  int size_;
  Function function_;
  Region accepts_;
  int evaluations_ = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_FUNCTION_OBJECTIVE_H_
