// ParameterLayout: names, places and priors of the entries of a flat parameter vector θ.
//
// Parameters are stored transformed (logarithms of positive quantities), so that every real vector is valid.
#ifndef FIDELIO_CORE_PARAM_LAYOUT_H_
#define FIDELIO_CORE_PARAM_LAYOUT_H_

#include <string>
#include <utility>
#include <vector>

#include "core/base/types.h"
#include "core/param/prior.h"

namespace fidelio {

struct ParameterBlock {
  std::string name;
  int offset = 0;
  int size = 0;
  Prior prior;
};

class ParameterLayout {
 public:
  // Appends `size` parameters with the same prior; returns the offset of the first.
  int Add(std::string name, int size, const Prior& prior) {
    const int offset = size_;
    blocks_.push_back({std::move(name), offset, size, prior});
    size_ += size;
    return offset;
  }

  int size() const { return size_; }
  const std::vector<ParameterBlock>& blocks() const { return blocks_; }

  Vector Centres() const;
  Vector Scales() const;

  // Whitened parameters z, in which optimisers and samplers move: θ = centre + scale · z, and back.
  Vector Theta(const Vector& z) const { return Centres() + Scales().cwiseProduct(z); }
  Vector Whitened(const Vector& theta) const { return (theta - Centres()).cwiseQuotient(Scales()); }

  Vector InverseShapes() const;  // 1/ν of Student priors, 0 of others

  // Of the prior density in units of Scales(): log p = −NegativeLogPrior + LogNormaliser.
  double LogNormaliser() const;

  // The normalised log p of the parameters from `begin` (the first of a block) on.
  double LogPriorFrom(int begin, const ConstVectorRef& theta) const;

  // −log prior(θ); its gradient is added to `gradient`.
  double NegativeLogPrior(const ConstVectorRef& theta, Eigen::Ref<Vector> gradient) const;

 private:
  int size_ = 0;
  std::vector<ParameterBlock> blocks_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_PARAM_LAYOUT_H_
