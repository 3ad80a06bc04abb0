#include "core/param/layout.h"

namespace fidelio {

Vector ParameterLayout::Centres() const {
  Vector centres(size_);
  for (const ParameterBlock& b : blocks_) centres.segment(b.offset, b.size).setConstant(b.prior.centre);
  return centres;
}

Vector ParameterLayout::Scales() const {
  Vector scales(size_);
  for (const ParameterBlock& b : blocks_) scales.segment(b.offset, b.size).setConstant(b.prior.scale);
  return scales;
}

Vector ParameterLayout::InverseShapes() const {
  Vector result = Vector::Zero(size_);
  for (const ParameterBlock& b : blocks_) {
    if (b.prior.kind == Prior::Kind::kStudent) result.segment(b.offset, b.size).setConstant(1 / b.prior.shape);
  }
  return result;
}

double ParameterLayout::LogNormaliser() const {
  double sum = 0;
  for (const ParameterBlock& b : blocks_) sum += b.size * b.prior.LogNormaliser();
  return sum;
}

double ParameterLayout::LogPriorFrom(int begin, const ConstVectorRef& theta) const {
  double sum = 0, unused = 0;
  for (const ParameterBlock& b : blocks_) {
    if (b.offset < begin) continue;
    sum += b.size * b.prior.LogNormaliser();
    for (int i = b.offset; i < b.offset + b.size; ++i) sum -= b.prior.NegativeLog(theta[i], &unused);
  }
  return sum;
}

double ParameterLayout::NegativeLogPrior(const ConstVectorRef& theta, Eigen::Ref<Vector> gradient) const {
  double sum = 0;
  for (const ParameterBlock& b : blocks_) {
    for (int i = b.offset; i < b.offset + b.size; ++i) sum += b.prior.NegativeLog(theta[i], &gradient[i]);
  }
  return sum;
}

}  // namespace fidelio
