#include "core/neighbour/neighbour_fit_state.h"

#include <algorithm>
#include <utility>

namespace fidelio {

const NeighbourLevelState::Candidate& NeighbourLevelState::best() const {
  return *std::min_element(candidates.begin(), candidates.end(),
                           [](const Candidate& a, const Candidate& b) { return a.value < b.value; });
}
NeighbourLevelState::Candidate& NeighbourLevelState::best() {
  return const_cast<Candidate&>(std::as_const(*this).best());
}

}  // namespace fidelio
