#include "core/baseline/input_network.h"

namespace fidelio {
namespace {

using ConstMap = Eigen::Map<const Matrix>;

}  // namespace

Matrix InputNetwork::Forward(const ConstVectorRef& theta, const Matrix& x, Matrix* units) const {
  if (hidden == 0) return x;
  const ConstMap w(theta.data(), hidden, dimension), v(theta.data() + hidden * (dimension + 1), dimension, hidden);
  Matrix t = (x.array() - 0.5).matrix() * w.transpose();
  t.rowwise() += theta.segment(hidden * dimension, hidden).transpose();
  t = t.array().tanh();
  Matrix h = x;
  h.noalias() += t * v.transpose();
  if (units != nullptr) *units = std::move(t);
  return h;
}

Matrix InputNetwork::Reverse(const ConstVectorRef& theta, const Matrix& x, const Matrix& units, const Matrix& h_bar,
                             Vector* gradient) const {
  if (hidden == 0) return h_bar;
  const ConstMap w(theta.data(), hidden, dimension), v(theta.data() + hidden * (dimension + 1), dimension, hidden);
  const Matrix before_bar = ((h_bar * v).array() * (1 - units.array().square())).matrix();  // of the arguments of tanh
  if (gradient != nullptr) {
    Eigen::Map<Matrix> w_bar(gradient->data(), hidden, dimension),
        v_bar(gradient->data() + hidden * (dimension + 1), dimension, hidden);
    w_bar.noalias() += before_bar.transpose() * (x.array() - 0.5).matrix();
    gradient->segment(hidden * dimension, hidden) += before_bar.colwise().sum().transpose();
    v_bar.noalias() += h_bar.transpose() * units;
  }
  return h_bar + before_bar * w;
}

}  // namespace fidelio
