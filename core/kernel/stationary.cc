#include "core/kernel/stationary.h"

#include <algorithm>

#include "core/linalg/lanes.h"
#include "core/linalg/packed.h"

namespace fidelio {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

// body<count>(d) for groups of up to four dimensions d, …, d + count − 1: a group's sums stay in registers.
template <typename Body>
void ForDimensions(Index dimensions, const Body& body) {
  for (Index d = 0; d < dimensions; d += 4) {
    switch (std::min<Index>(4, dimensions - d)) {
      case 1:
        body.template operator()<1>(d);
        break;
      case 2:
        body.template operator()<2>(d);
        break;
      case 3:
        body.template operator()<3>(d);
        break;
      default:
        body.template operator()<4>(d);
        break;
    }
  }
}

constexpr double kTinyDistance = 1e-30;  // in lengthscales

// use(radial), where radial(s, κ') returns κ.
template <typename Use>
void WithRadial(KernelFamily family, const Use& use) {
  switch (family) {
    case KernelFamily::kRbf:
      return use([]<typename T>(const T& s, T& slope) {
        const T k = ExpOfNegative(-0.5 * s);
        slope = -0.5 * k;
        return k;
      });
    case KernelFamily::kMatern12:
      return use([]<typename T>(const T& s, T& slope) {
        const T r = Sqrt(s), e = ExpOfNegative(-r);
        slope = -0.5 * e / (r + kTinyDistance);
        return e;
      });
    case KernelFamily::kMatern32:
      return use([]<typename T>(const T& s, T& slope) {
        const T r = Sqrt(3.0 * s), e = ExpOfNegative(-r);
        slope = -1.5 * e;
        return (1.0 + r) * e;
      });
    case KernelFamily::kMatern52:
      return use([]<typename T>(const T& s, T& slope) {
        const T r = Sqrt(5.0 * s), e = ExpOfNegative(-r);
        slope = (-5.0 / 6.0) * (1.0 + r) * e;
        return (1.0 + r + r * r / 3.0) * e;
      });
  }
}

}  // namespace

void PairDistances(const Matrix& a, ArrayXd& s) {
  const Index n = a.rows();
  s.resize(PairCount(n));
  ForDimensions(a.cols(), [&]<int dims>(Index d) {
    ForPairColumns(n, [&](Index j, Index first) {
      double* const out = s.data() + first;
      ForEachLane(j + 1, n, [&]<typename T>(Index i) {
        T sum = d == 0 ? T{} : Load<T>(out + i);
        Unrolled<dims>([&](int e) {
          const T difference = Load<T>(&a(i, d + e)) - a(j, d + e);
          sum += difference * difference;
        });
        Store(sum, out + i);
      });
    });
  });
}

void EvaluateRadial(KernelFamily family, ArrayRef s, ArrayXd* derivative) {
  if (derivative != nullptr) derivative->resize(s.size());
  double* const kappa = s.data();
  double* const slope = derivative != nullptr ? derivative->data() : nullptr;
  WithRadial(family, [&](const auto& radial) {
    ForEachLane(0, s.size(), [&]<typename T>(Index i) {
      T k_slope;
      Store(radial(Load<T>(kappa + i), k_slope), kappa + i);
      if (slope != nullptr) Store(k_slope, slope + i);
    });
  });
}

void AccumulatePairInputGradient(const Matrix& a, const ArrayXd& w, Matrix& a_bar) {
  const Index n = a.rows();
  ForDimensions(a.cols(), [&]<int dims>(Index d) {
    ForPairColumns(n, [&](Index j, Index first) {
      LaneSum sum[dims];
      ForEachLane(j + 1, n, [&]<typename T>(Index i) {
        const T w2 = 2.0 * Load<T>(w.data() + first + i);
        Unrolled<dims>([&](int e) {
          const T term = w2 * (Load<T>(&a(i, d + e)) - a(j, d + e));
          Store(Load<T>(&a_bar(i, d + e)) + term, &a_bar(i, d + e));
          sum[e] += term;
        });
      });
      Unrolled<dims>([&](int e) { a_bar(j, d + e) -= sum[e].Total(); });
    });
  });
}

void AccumulatePairLengthscaleGradient(const Matrix& a, const ArrayXd& w, Eigen::Ref<Vector> gradient) {
  const Index n = a.rows();
  ForDimensions(a.cols(), [&]<int dims>(Index d) {
    LaneSum sum[dims];
    ForPairColumns(n, [&](Index j, Index first) {
      ForEachLane(j + 1, n, [&]<typename T>(Index i) {
        const T w_i = Load<T>(w.data() + first + i);
        Unrolled<dims>([&](int e) {
          const T difference = Load<T>(&a(i, d + e)) - a(j, d + e);
          sum[e] += w_i * difference * difference;
        });
      });
    });
    Unrolled<dims>([&](int e) { gradient[d + e] -= 2 * sum[e].Total(); });
  });
}

void CrossDistances(const Matrix& a, const Matrix& b, Matrix& s) {
  s.resize(a.rows(), b.rows());
  for (Index j = 0; j < b.rows(); ++j) {
    s.col(j).array() = (a.col(0).array() - b(j, 0)).square();
    for (Index d = 1; d < a.cols(); ++d) s.col(j).array() += (a.col(d).array() - b(j, d)).square();
  }
}

template <int dims, typename Radial>
void CrossColumns(const Radial& radial, double amplitude, const Matrix& a, const Matrix& b, Matrix& k) {
  const Index n = a.rows(), dimensions = dims > 0 ? dims : a.cols();
  for (Index j = 0; j < b.rows(); ++j) {
    const double *const at = a.data(), *const from = b.data() + j;
    double* const out = k.col(j).data();
    ForEachLaneOverlapping(n, [&]<typename T>(Index i) {
      T s = {}, slope;
      for (Index d = 0; d < dimensions; ++d) {
        const T difference = Load<T>(at + d * n + i) - from[d * b.rows()];
        s += difference * difference;
      }
      Store(amplitude * radial(s, slope), out + i);
    });
  }
}

void CrossKernel(KernelFamily family, double amplitude, const Matrix& a, const Matrix& b, Matrix& k) {
  k.resize(a.rows(), b.rows());
  WithRadial(family, [&](const auto& radial) {
    switch (a.cols()) {  // known numbers of dimensions save a loop
      case 1:
        return CrossColumns<1>(radial, amplitude, a, b, k);
      case 2:
        return CrossColumns<2>(radial, amplitude, a, b, k);
      case 3:
        return CrossColumns<3>(radial, amplitude, a, b, k);
      default:
        return CrossColumns<0>(radial, amplitude, a, b, k);
    }
  });
}

void CrossKernelWithSlope(KernelFamily family, const Matrix& a, const Matrix& b, Matrix& kernel, Matrix& slope) {
  CrossDistances(a, b, kernel);
  ArrayXd derivative;
  EvaluateRadial(family, kernel.reshaped().array(), &derivative);
  slope = derivative.matrix().reshaped(kernel.rows(), kernel.cols());
}

void AccumulateCrossInputGradient(const Matrix& a, const Matrix& b, const Matrix& w, Matrix& b_bar) {
  for (Index d = 0; d < a.cols(); ++d) {
    for (Index j = 0; j < b.rows(); ++j) {
      b_bar(j, d) -= 2 * (w.col(j).array() * (a.col(d).array() - b(j, d))).sum();
    }
  }
}

}  // namespace fidelio
