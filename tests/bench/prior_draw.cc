#include "tests/bench/prior_draw.h"

#include <cmath>

namespace fidelio::bench {

double DrawGamma(double shape, Random& random) {
  if (shape < 1) return DrawGamma(shape + 1, random) * std::pow(random.Uniform(), 1 / shape);
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double z = random.Normal(), v = std::pow(1 + c * z, 3);
    if (v > 0 && std::log(random.Uniform()) < 0.5 * z * z + d - d * v + d * std::log(v)) return d * v;
  }
}

double DrawFrom(const Prior& prior, Random& random) {
  switch (prior.kind) {
    case Prior::Kind::kNormal:
      return prior.centre + prior.scale * random.Normal();
    case Prior::Kind::kStudent: {
      const double z = random.Normal();
      return prior.centre + prior.scale * z / std::sqrt(2 * DrawGamma(0.5 * prior.shape, random) / prior.shape);
    }
    case Prior::Kind::kInverseGamma:  // e^{−u} is a gamma variable with mean 1
      return prior.centre - std::log(DrawGamma(prior.shape, random) / prior.shape);
  }
  return prior.centre;
}

Vector DrawFrom(const ParameterLayout& layout, Random& random) {
  Vector theta(layout.size());
  for (const ParameterBlock& block : layout.blocks()) {
    for (int i = block.offset; i < block.offset + block.size; ++i) theta[i] = DrawFrom(block.prior, random);
  }
  return theta;
}

}  // namespace fidelio::bench
