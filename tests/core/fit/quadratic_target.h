// A Target whose posteriors are Gaussian, so that its evidence and moments are known.
#ifndef FIDELIO_TESTS_CORE_FIT_QUADRATIC_TARGET_H_
#define FIDELIO_TESTS_CORE_FIT_QUADRATIC_TARGET_H_

#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/fit/target.h"

namespace fidelio {

// Per structure: parameters with the prior N(1, 2²) each, and a log likelihood log_peak − ½ precision ‖z − peak‖². It can't be
// evaluated where a parameter z is above `wall`.
struct QuadraticStructure {
  int size = 2;
  double peak = 0.5, precision = 3, log_peak = 0;
  int first_level = 0;
  double wall = std::numeric_limits<double>::infinity();
  std::vector<Vector> starts = {};  // besides the prior's centre
};

class QuadraticTarget final : public Target {
 public:
  explicit QuadraticTarget(std::vector<QuadraticStructure> all) : all_(std::move(all)), layouts_(all_.size()) {
    for (size_t k = 0; k < all_.size(); ++k) layouts_[k].Add("x", all_[k].size, Prior::Normal(1, 2));
  }

  int structures() const override { return static_cast<int>(all_.size()); }
  const ParameterLayout& parameters(int structure) const override { return layouts_[structure]; }
  std::unique_ptr<Objective> NewObjective(int structure) const override {
    return std::make_unique<Quadratic>(all_[structure]);
  }
  absl::Status FailureAt(int, const Vector&) const override { return absl::OutOfRangeError("behind the wall"); }
  std::vector<Vector> Starts(int structure) const override {
    std::vector<Vector> starts = {Vector::Zero(all_[structure].size)};
    starts.insert(starts.end(), all_[structure].starts.begin(), all_[structure].starts.end());
    return starts;
  }
  int FirstLevel(int structure) const override { return all_[structure].first_level; }

  // Of the posterior of z, for each parameter.
  double Mean(int structure) const {
    return all_[structure].precision * all_[structure].peak / (all_[structure].precision + 1);
  }
  double Variance(int structure) const { return 1 / (all_[structure].precision + 1); }

 private:
  class Quadratic final : public Objective {
   public:
    explicit Quadratic(const QuadraticStructure& s) : s_(s) {}
    int size() const override { return s_.size; }
    bool Evaluate(const Vector& z, double* value, Vector* gradient) override {
      if (z.maxCoeff() > s_.wall) return false;
      const Eigen::ArrayXd off = z.array() - s_.peak;
      *value = -s_.log_peak + 0.5 * (s_.precision * off.square().sum() + z.squaredNorm());
      if (gradient != nullptr) *gradient = s_.precision * off.matrix() + z;
      return true;
    }

   private:
    const QuadraticStructure& s_;
  };

  std::vector<QuadraticStructure> all_;
  std::vector<ParameterLayout> layouts_;
};

}  // namespace fidelio

#endif  // FIDELIO_TESTS_CORE_FIT_QUADRATIC_TARGET_H_
