// LinkPath: a function of x and f drawn from GP(0, κ_ρ(x, x')·Σ_h h(f, f')): one of every term (link_terms.h).
// Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_KERNEL_LINK_PATH_H_
#define FIDELIO_CORE_KERNEL_LINK_PATH_H_

#include <tuple>

#include "core/kernel/link_terms.h"

namespace fidelio {

template <typename Terms>
struct LinkPathParts;
template <typename... Terms>
struct LinkPathParts<std::tuple<Terms...>> {
  using Type = std::tuple<typename std::decay_t<Terms>::Path...>;
  // In braces, so that they are drawn in their order.
  static Type Draw(const SpectralFactor& over_x, int waves, Random& random) {
    return Type{typename std::decay_t<Terms>::Path(over_x, waves, random)...};
  }
};

class LinkPath {
 public:
  // `over_x`: κ_ρ.
  LinkPath(const SpectralFactor& over_x, int waves, Random& random)
      : parts_(LinkPathParts<LinkTermTypes>::Draw(over_x, waves, random)) {}

  // Adds its values at rows of x (n×D, divided by the lengthscales of κ_ρ) and f (n) to `sum`.
  void AddTo(const LinkTerms& terms, const Matrix& x, const ConstVectorRef& f, Vector& sum) const {
    const auto all = terms.All();
    [&]<size_t... i>(std::index_sequence<i...>) { (std::get<i>(parts_).AddTo(std::get<i>(all), x, f, sum), ...); }
    (std::make_index_sequence<std::tuple_size_v<LinkTermTypes>>());
  }

 private:
  LinkPathParts<LinkTermTypes>::Type parts_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_KERNEL_LINK_PATH_H_
