#include "server/model/shortfall_reason.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace fidelio {

using Eigen::Index;

std::string ShortfallReason(const Suggestions& chosen, const SuggestOptions& options, Index candidates, double spent,
                            const std::vector<std::string>& names) {
  if (chosen.shortfall == Shortfall::kNone) return "";
  std::vector<int> levels = options.levels;
  if (levels.empty()) {
    for (size_t t = 0; t < names.size(); ++t) levels.push_back(static_cast<int>(t));
  }
  const auto cost = [&options](int level) { return options.costs[static_cast<size_t>(level)]; };
  const int cheapest = *std::min_element(levels.begin(), levels.end(), [&](int a, int b) { return cost(a) < cost(b); });
  const std::string cheapest_name = names[static_cast<size_t>(cheapest)];
  const size_t runs = chosen.runs.size();
  const std::string after = runs == 0 ? "" : absl::StrCat(" after ", runs, runs == 1 ? " run" : " runs");
  const double left = options.budget - spent;
  switch (chosen.shortfall) {
    case Shortfall::kBudgetTooSmall:
      return absl::StrCat("The budget of ", options.budget,
                          " is below the cost of every fidelity that may be run: the ", "cheapest, \"", cheapest_name,
                          "\", costs ", cost(cheapest), ".");
    case Shortfall::kBudgetSpent:
      if (cost(cheapest) > left) {
        return absl::StrCat("The budget is spent", after, ": ", left, " of ", options.budget,
                            " is left, and the cheapest ", "fidelity, \"", cheapest_name, "\", costs ", cost(cheapest),
                            ".");
      }
      return absl::StrCat(left, " of the budget of ", options.budget, " is left", after,
                          ", and no run that it pays for would reduce the variance of the highest fidelity.");
    default:
      return absl::StrCat(
          runs == 0 ? "No run at " : absl::StrCat("After ", runs, runs == 1 ? " run" : " runs", ", no run at "),
          candidates == 1 ? "the one candidate" : absl::StrCat("any of the ", candidates, " candidates"),
          " would reduce the variance of the highest fidelity.");
  }
}

}  // namespace fidelio
