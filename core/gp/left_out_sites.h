// LeaveOutSites: q(v) of a whitened sparse layer (site_layer.h) without one group of its sites, for each group.
//
//   q(v) ∝ N(v; 0, I)·∏_G exp(−½ ‖t_G − U_G v‖²)      U = D^½ Aᵀ, t in units of D^-½:   B = I + UᵀU = RᵀR,   m = B⁻¹Uᵀt
//   H = U_G B⁻¹ U_Gᵀ,  e = t_G − U_G m:   without G, U_G v has mean t_G − (I − H)⁻¹ e and covariance (I − H)⁻¹ − I
//
// R comes from a QR factorisation of [I; U]: B is never formed, so that errors grow with the root of its condition.
// Directions of a group that it determines almost alone (eigenvalues of H near 1, as all of them without noise) take no
// difference 1 − h: given the m₀ and R₀ of all other directions, those directions U₁ are observations of a Gaussian of
// covariance C = I + VVᵀ, V = U₁R₀⁻¹, so that I − H is a block of C⁻¹ (left_out.h). They are at most 1.2·M, whatever
// the number of sites. O(P·M² + M³) for P sites. Limits: one group is left with the prior; D → 0 changes nothing.
#ifndef FIDELIO_CORE_GP_LEFT_OUT_SITES_H_
#define FIDELIO_CORE_GP_LEFT_OUT_SITES_H_

#include <functional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/types.h"

namespace fidelio {

// Sites are numbered group after group, each group having `group_size` of them, and come in blocks of `block_groups`
// groups.
struct SiteLayout {
  int inducing = 0;  // M
  int groups = 0, group_size = 1;
  int block_groups = 64;  // the last block may have fewer

  int blocks() const { return (groups + block_groups - 1) / block_groups; }
};

struct SiteBlock {
  Matrix rows;    // of U, M columns
  Vector target;  // t
};

struct LeftOutSites {
  Vector mean, variance;            // of U v at each site, without the sites of its group
  Vector seen_mean, seen_variance;  // with all sites
};

// `block` gives the same block whenever it is asked, from any thread. INTERNAL, with `name`, where numbers overflow.
absl::StatusOr<LeftOutSites> LeaveOutSites(const SiteLayout& layout, const std::function<SiteBlock(int)>& block,
                                           int threads, absl::string_view name);

}  // namespace fidelio

#endif  // FIDELIO_CORE_GP_LEFT_OUT_SITES_H_
