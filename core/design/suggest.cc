#include "core/design/suggest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/normal.h"
#include "core/base/status_macros.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kLeastPart = 1e-10;  // of a level's largest variance: less is rounding

absl::Status Check(const Emulator& model, const Matrix& candidates, const Matrix& targets,
                   const SuggestOptions& options) {
  if (options.count < 1) {
    return absl::InvalidArgumentError(absl::StrFormat("count: %d, want at least 1", options.count));
  }
  if (!(options.budget > 0)) {
    return absl::InvalidArgumentError(absl::StrFormat("budget: %g, want more than 0", options.budget));
  }
  if (!(options.width >= 0) || !std::isfinite(options.width)) {
    return absl::InvalidArgumentError(absl::StrFormat("width: %g, want a number of at least 0", options.width));
  }
  if (static_cast<int>(options.costs.size()) != model.levels()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("costs: %d values, but the model has %d levels", options.costs.size(), model.levels()));
  }
  for (size_t t = 0; t < options.costs.size(); ++t) {
    if (options.costs[t] > 0 && std::isfinite(options.costs[t])) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("costs[%d]: %g, want a finite number above 0", t, options.costs[t]));
  }
  for (size_t i = 0; i < options.levels.size(); ++i) {
    if (options.levels[i] >= 0 && options.levels[i] < model.levels()) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("levels[%d]: %d, want 0 to %d", i, options.levels[i], model.levels() - 1));
  }
  if (candidates.rows() == 0) return absl::InvalidArgumentError("candidates: none, want at least one");
  if (targets.rows() == 0) return absl::InvalidArgumentError("targets: none, want at least one");
  return absl::OkStatus();
}

// The levels that may be run, ascending, each once.
std::vector<int> Levels(const Emulator& model, const SuggestOptions& options) {
  std::vector<int> levels = options.levels;
  if (levels.empty()) {
    levels.resize(model.levels());
    std::iota(levels.begin(), levels.end(), 0);
  }
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  return levels;
}

// The joint posterior of f_t at the candidates for every level t that may be run, of f_T at them, and of f_T at the
// targets.
class Outlook {
 public:
  static absl::StatusOr<Outlook> Make(const Emulator& model, const Matrix& candidates, const Matrix& targets,
                                      const SuggestOptions& options) {
    Outlook o;
    o.levels_ = Levels(model, options);
    o.candidates_ = candidates.rows();
    o.targets_ = targets.rows();
    const int top = model.levels() - 1;
    std::vector<int> blocks = o.levels_;
    if (blocks.back() != top) blocks.push_back(top);
    o.top_ = static_cast<Index>(blocks.size() - 1) * o.candidates_;
    const Index size = o.top_ + o.candidates_ + o.targets_;
    Matrix x(size, candidates.cols());
    std::vector<int> level(size, top);
    for (size_t b = 0; b < blocks.size(); ++b) {
      x.middleRows(static_cast<Index>(b) * o.candidates_, o.candidates_) = candidates;
      std::fill_n(level.begin() + static_cast<Index>(b) * o.candidates_, o.candidates_, blocks[b]);
    }
    x.bottomRows(o.targets_) = targets;
    FIDELIO_ASSIGN_OR_RETURN(o.joint_,
                             model.JointMomentsAt(x, level, {.threads = options.threads, .check = options.check}));
    o.noise_.resize(o.top_ + o.candidates_);
    o.least_.resize(blocks.size());
    for (size_t b = 0; b < blocks.size(); ++b) {
      const Index at = static_cast<Index>(b) * o.candidates_;
      const PredictOptions at_level{.level = blocks[b], .threads = options.threads};
      FIDELIO_ASSIGN_OR_RETURN(const Prediction latent, model.Predict(candidates, at_level));
      PredictOptions noisy = at_level;
      noisy.include_noise = true;
      FIDELIO_ASSIGN_OR_RETURN(const Prediction observed, model.Predict(candidates, noisy));
      o.noise_.segment(at, o.candidates_) = (observed.variance - latent.variance).cwiseMax(0);
      o.least_[b] = kLeastPart * o.joint_.covariance.diagonal().segment(at, o.candidates_).maxCoeff();
    }
    return o;
  }

  const std::vector<int>& levels() const { return levels_; }
  Index candidates() const { return candidates_; }
  double TopMean(Index candidate) const { return joint_.mean[top_ + candidate]; }
  double TopDeviation(Index candidate) const {
    const Index i = top_ + candidate;
    return std::sqrt(std::max(joint_.covariance(i, i), 0.0));
  }
  double TargetVariance() const { return joint_.covariance.diagonal().tail(targets_).mean(); }

  // Expected reduction of the targets' mean variance by a run of levels()[b].
  double TargetReduction(size_t b, Index candidate) const {
    const Index i = Row(b, candidate);
    return Informative(b, i) ? joint_.covariance.col(i).tail(targets_).squaredNorm() / (Observed(i) * targets_) : 0;
  }
  // The same of the variance of f_T at the candidate.
  double OwnReduction(size_t b, Index candidate) const {
    const Index i = Row(b, candidate);
    return Informative(b, i) ? std::pow(joint_.covariance(top_ + candidate, i), 2) / Observed(i) : 0;
  }
  // As if a run had been made.
  void Observe(size_t b, Index candidate) {
    const Index i = Row(b, candidate);
    const Vector column = joint_.covariance.col(i) / std::sqrt(Observed(i));
    joint_.covariance.noalias() -= column * column.transpose();
  }

 private:
  Index Row(size_t b, Index candidate) const { return static_cast<Index>(b) * candidates_ + candidate; }
  bool Informative(size_t b, Index i) const { return joint_.covariance(i, i) > least_[b]; }
  double Observed(Index i) const { return joint_.covariance(i, i) + noise_[i]; }

  std::vector<int> levels_;
  Index candidates_ = 0, targets_ = 0;
  Index top_ = 0;  // first row of f_T at the candidates
  JointPosterior joint_;
  Vector noise_, least_;
};

double ExpectedImprovement(double gain, double sd) {
  if (!(sd > 0)) return std::max(gain, 0.0);
  const double z = gain / sd;
  return gain * NormalCdf(z) + sd * std::exp(-0.5 * (z * z + kLogTwoPi));
}

struct Choice {
  Index candidate = -1;
  size_t level = 0;
  double value = 0;
  double score = 0;
};

// The best run that `left` pays for; none when no run tells anything.
Choice Choose(const Outlook& outlook, const SuggestOptions& options, double left, double incumbent) {
  Choice best;
  const double sign = options.maximise ? 1 : -1;
  const auto offer = [&](const Choice& choice) {
    if (best.candidate < 0 || choice.score > best.score) best = choice;
  };
  for (Index i = 0; i < outlook.candidates(); ++i) {
    Choice own{.candidate = i};  // the best level for this candidate
    for (size_t b = 0; b < outlook.levels().size(); ++b) {
      const double cost = options.costs[outlook.levels()[b]];
      if (cost > left) continue;
      const double reduction = options.criterion == Criterion::kVarianceReduction ? outlook.TargetReduction(b, i)
                                                                                  : outlook.OwnReduction(b, i);
      if (reduction / cost > own.score)
        own = {.candidate = i, .level = b, .value = reduction, .score = reduction / cost};
    }
    if (!(own.score > 0)) continue;
    const double mean = outlook.TopMean(i), sd = outlook.TopDeviation(i);
    switch (options.criterion) {
      case Criterion::kVarianceReduction:
        break;
      case Criterion::kMaximumVariance:
        own.value = own.score = sd;
        break;
      case Criterion::kExpectedImprovement:
        own.value = own.score = ExpectedImprovement(sign * (mean - incumbent), sd);
        break;
      case Criterion::kConfidenceBound:
        own.value = mean + sign * options.width * sd;
        own.score = sign * own.value;
        break;
    }
    offer(own);
  }
  return best;
}

}  // namespace

absl::StatusOr<Suggestions> Suggest(const Emulator& model, const Matrix& candidates, const Matrix& targets,
                                    const Matrix& observed, const SuggestOptions& options) {
  FIDELIO_RETURN_IF_ERROR(Check(model, candidates, targets, options));
  FIDELIO_ASSIGN_OR_RETURN(Outlook outlook, Outlook::Make(model, candidates, targets, options));
  double incumbent = 0;
  if (options.criterion == Criterion::kExpectedImprovement) {
    FIDELIO_ASSIGN_OR_RETURN(const Prediction seen,
                             model.Predict(observed.rows() > 0 ? observed : candidates, {.threads = options.threads}));
    incumbent = options.maximise ? seen.mean.maxCoeff() : seen.mean.minCoeff();
  }
  Suggestions result;
  result.variance_before = outlook.TargetVariance();
  double left = options.budget;
  while (static_cast<int>(result.runs.size()) < options.count) {
    if (options.check) FIDELIO_RETURN_IF_ERROR(options.check());
    const Choice choice = Choose(outlook, options, left, incumbent);
    if (choice.candidate < 0) {
      double cheapest = std::numeric_limits<double>::infinity();
      for (const int level : outlook.levels()) cheapest = std::min(cheapest, options.costs[level]);
      if (cheapest > options.budget) {
        result.shortfall = Shortfall::kBudgetTooSmall;
      } else {
        const Choice any = Choose(outlook, options, std::numeric_limits<double>::infinity(), incumbent);
        result.shortfall = any.candidate < 0 ? Shortfall::kNothingToLearn : Shortfall::kBudgetSpent;
      }
      break;
    }
    const int level = outlook.levels()[choice.level];
    outlook.Observe(choice.level, choice.candidate);
    left -= options.costs[level];
    result.runs.push_back({.candidate = static_cast<int>(choice.candidate),
                           .level = level,
                           .cost = options.costs[level],
                           .value = choice.value});
  }
  result.variance_after = std::max(outlook.TargetVariance(), 0.0);
  return result;
}

}  // namespace fidelio
