// The kernel of a link, and the list of its terms: the one place where a term is registered.
//
//   k((x, f), (x', f')) = κ_ρ(x, x')·Σ_h h(f, f') + vd·κ_δ(x, x') + vl·trend(x, x') + va         h: LinkTerms
//
// and f_t = ρ f_{t−1} + g_t, g_t ~ GP(0, k). A term h is a class in a file of its own, with
//   kKept, Parameters(), At(θ)         what it keeps per pair; names and priors of its part of θ, of which the first is the logarithm
//                                      of a factor of h; the term at this part
//   operator()(f, f')                  its value
//   Moment(pair, kept), Kept           E h(f, f') for Gaussian f and f' (link_pair.h); the same from what Moment kept
//   Reverse(…)                         given ∂F/∂(E h): adds to the adjoints of the pair, and to sums that AddGradient takes
//   constant() + Diagonal(m, v)        E h(f, f) of f ~ N(m, v): the part that is the same everywhere, and the other
//   ReverseDiagonal(…)                 given ∂F/∂(E h(f, f)): adds to m_bar; adds ∂(E h(f, f))/∂v to v_slope
//   AddGradient(…)                     given all sums and adjoints of the diagonal: adds ∂F/∂θ
//   Path                               functions of x and f drawn from GP(0, κ_ρ·h)
// all for T = double and T = Lanes where they are templates. The compiler fuses the terms into one loop.
// tests/core/kernel/link_term_contract_test.cc checks every term.
#ifndef FIDELIO_CORE_KERNEL_LINK_TERMS_H_
#define FIDELIO_CORE_KERNEL_LINK_TERMS_H_

#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/string_view.h"
#include "core/kernel/linear_link.h"
#include "core/kernel/rbf_link.h"
#include "core/param/layout.h"

namespace fidelio {

// The terms h at one θ. All lists them in the order of their parameters in θ.
struct LinkTerms {
  LinearLink linear;
  RbfLink nonlinear;

  auto All() const { return std::tie(linear, nonlinear); }
  auto All() { return std::tie(linear, nonlinear); }
};

// All of a link's scalars but va, not logarithms.
struct LinkScalars {
  LinkTerms terms;
  double delta = 0, rho = 1, trend = 0;  // vd, ρ, vl
};

// visit.operator()<parameter, kept>(term) for all terms, with the places of its first parameter and of what it keeps.
template <typename Tuple, typename Visit>
inline void ForEachTerm(const Tuple& terms, const Visit& visit) {
  [&]<size_t... i>(std::index_sequence<i...>) {
    constexpr std::array<int, sizeof...(i)> parameters = {
        static_cast<int>(std::tuple_size_v<decltype(std::decay_t<std::tuple_element_t<i, Tuple>>::Parameters())>)...};
    constexpr std::array<int, sizeof...(i)> kept = {std::decay_t<std::tuple_element_t<i, Tuple>>::kKept...};
    constexpr auto before = [](const std::array<int, sizeof...(i)>& sizes, size_t end) {
      int sum = 0;
      for (size_t k = 0; k < end; ++k) sum += sizes[k];
      return sum;
    };
    (visit.template operator()<before(parameters, i), before(kept, i)>(std::get<i>(terms)), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<Tuple>>());
}

using LinkTermTypes = decltype(std::declval<const LinkTerms&>().All());
template <typename... Terms>
constexpr int CountParameters(const std::tuple<Terms...>*) {
  return (0 + ... + static_cast<int>(std::tuple_size_v<decltype(std::decay_t<Terms>::Parameters())>));
}
template <typename... Terms>
constexpr int CountKept(const std::tuple<Terms...>*) {
  return (0 + ... + std::decay_t<Terms>::kKept);
}
inline constexpr int kLinkParameters = CountParameters(static_cast<LinkTermTypes*>(nullptr));
inline constexpr int kLinkKept = CountKept(static_cast<LinkTermTypes*>(nullptr));

// Appends the parameters of all terms, named with a suffix; prior_of(LinkParameter) gives the priors. Returns the first's place.
template <typename PriorOf>
inline int AddLinkParameters(const std::string& suffix, const PriorOf& prior_of, ParameterLayout& layout) {
  const int first = layout.size();
  ForEachTerm(LinkTerms().All(), [&]<int, int>(const auto& term) {
    for (const LinkParameter& parameter : term.Parameters()) {
      layout.Add(parameter.name + suffix, 1, prior_of(parameter));
    }
  });
  return first;
}

// The place of a parameter among those of all terms; −1: there is none of this name.
inline int LinkParameterPlace(absl::string_view name) {
  int place = -1;
  ForEachTerm(LinkTerms().All(), [&]<int first, int>(const auto& term) {
    const auto parameters = term.Parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (name == parameters[i].name) place = first + static_cast<int>(i);
    }
  });
  return place;
}

// The terms at their part of θ, which begins at `first`.
inline void SetLinkTerms(const ConstVectorRef& theta, int first, LinkTerms& terms) {
  ForEachTerm(terms.All(), [&]<int parameter, int>(auto& term) {
    term = std::decay_t<decltype(term)>::At(theta.data() + first + parameter);
  });
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_KERNEL_LINK_TERMS_H_
