#include "server/model/fit_history.h"

#include <cstdint>
#include <utility>

namespace fidelio {
namespace {

// Drops every other point between the first and the last.
void Thin(std::vector<FitPoint>& history) {
  size_t kept = 0;
  for (size_t i = 0; i < history.size(); ++i) {
    if (i % 2 == 0 || i + 1 == history.size()) std::swap(history[kept++], history[i]);
  }
  history.resize(kept);
}

}  // namespace

void AddToHistory(FitPoint point, std::vector<FitPoint>& history) {
  while (!history.empty() && history.back().iteration >= point.iteration) history.pop_back();
  const size_t n = history.size();
  // The newest point gives way until it is as far from the one before it as the first two are from each other.
  const int64_t stride = n >= 2 ? history[1].iteration - history[0].iteration : 1;
  if (n >= 3 && history[n - 1].iteration - history[n - 2].iteration < stride) {
    history.back() = std::move(point);
    return;
  }
  history.push_back(std::move(point));
  if (history.size() > kMostFitPoints) Thin(history);
}

}  // namespace fidelio
