// The moment-matched MF-DGP, written for clarity: dense matrices over all points, explicit inverses, query points carried
// along with the data, and the lower levels' queries carried along as passive variables.
#ifndef FIDELIO_TESTS_SUPPORT_NAIVE_MOMENTS_H_
#define FIDELIO_TESTS_SUPPORT_NAIVE_MOMENTS_H_

#include <cmath>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/data/scaled_data.h"
#include "core/dgp/moments/recipe.h"
#include "tests/support/naive_conditioning.h"
#include "tests/support/naive_kernel.h"
#include "tests/support/naive_link.h"
#include "tests/support/named_parameters.h"

namespace fidelio {

// The kernels over x of a model, out of its parameters.
class NaiveInputs {
 public:
  NaiveInputs(const Recipe& recipe, const NamedParameters& p) : recipe_(recipe), p_(p) {}

  double Exp(const std::string& name) const { return p_.Has(name) ? std::exp(p_.Scalar(name)) : 0; }

  Matrix First(const Matrix& x) const {
    Matrix u = x;
    if (recipe_.warp) {
      const Vector c = p_.Block("cw");
      for (Eigen::Index d = 0; d < x.cols(); ++d) {
        for (double& value : u.col(d)) {
          if (c[d] != 0) value = std::expm1(c[d] * value) / std::expm1(c[d]);
        }
      }
    }
    return Exp("v0") * NaiveKernelMatrix(recipe_.kernel, u, u, p_.Block("ls0").array().exp()) + Exp("vl0") * Trend(x);
  }

  Matrix Rho(const Matrix& x, int level) const { return Upper(x, "lsr" + std::to_string(level)); }
  Matrix Delta(const Matrix& x, int level) const { return Upper(x, "lsd" + std::to_string(level)); }

  Matrix Trend(const Matrix& x) const {
    Matrix k(x.rows(), x.rows());
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      for (Eigen::Index j = 0; j < x.rows(); ++j) {
        double p = 0;
        for (Eigen::Index d = 0; d < x.cols(); ++d) p += (x(i, d) - 0.5) * (x(j, d) - 0.5);
        p *= 12 / static_cast<double>(x.cols());
        k(i, j) = p + recipe_.trend_curvature * p * p;
      }
    }
    return k;
  }

  LinkScalars Scalars(int level) const {
    const std::string t = std::to_string(level);
    return {.terms = {.linear = {Exp("s2" + t)}, .nonlinear = {Exp("vf" + t), std::pow(Exp("lf" + t), 2)}},
            .delta = Exp("vd" + t),
            .rho = p_.Scalar("rh" + t),
            .trend = Exp("vl" + t)};
  }

  // Noise variances of a level's observations.
  Vector Noise(const ScaledData& data, int level) const {
    return data.noise.segment(data.offset[level], data.count(level)).array() +
           std::pow(Exp("n" + std::to_string(level)), 2) + recipe_.noise_floor;
  }

 private:
  Matrix Upper(const Matrix& x, const std::string& name) const {
    const double centre = recipe_.lengthscale.centre + 0.5 * std::log(static_cast<double>(x.cols()));
    const Vector log_lengthscales = p_.Block(name) + recipe_.tie * (p_.Block("ls0").array() - centre).matrix();
    return NaiveKernelMatrix(recipe_.kernel, x, x, log_lengthscales.array().exp());
  }

  const Recipe& recipe_;
  const NamedParameters& p_;
};

struct NaiveMoments {
  double log_likelihood = 0;
  Vector link_weights;
  std::vector<Matrix> mean, variance;           // per level: links × queries, given the data of all levels
  std::vector<std::vector<Matrix>> covariance;  // per level and link, of the queries
  std::vector<Matrix> across;                   // per link, of the queries at level 0, then at level 1, …
  std::vector<Vector> leave_one_out;            // per level: mean squared standardised residual, per link
};

// Mean over i of (y_i − E y_i)² / Var y_i given the other y.
inline double NaiveLeaveOneOut(const Matrix& k, const Vector& mean, const Vector& y, const Vector& noise) {
  const Eigen::Index n = y.size();
  double sum = 0;
  for (Eigen::Index left = 0; left < n; ++left) {
    std::vector<Eigen::Index> order;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (i != left) order.push_back(i);
    }
    order.push_back(left);
    const NaiveConditioned rest =
        NaiveCondition(k(order, order), mean(order), Vector(y(order)).head(n - 1), Vector(noise(order)).head(n - 1));
    sum += std::pow(y[left] - rest.mean[0], 2) / (rest.covariance(0, 0) + noise[left]);
  }
  return n == 0 ? 1 : sum / static_cast<double>(n);
}

// At scaled query inputs.
inline NaiveMoments RunNaiveMoments(const ScaledData& data, const Recipe& recipe, const NamedParameters& p,
                                    const Matrix& queries) {
  using Eigen::Index;
  const NaiveInputs inputs(recipe, p);
  const Index total = data.x.rows(), m = queries.rows();
  const int levels = data.levels(), links = levels == 1 ? 1 : static_cast<int>(recipe.links.size());
  Matrix x(total + m, data.x.cols());
  x << data.x, queries;
  NaiveMoments result;
  result.mean.assign(levels, Matrix(links, m));
  result.variance = result.mean;
  result.covariance.assign(levels, std::vector<Matrix>(links));
  result.leave_one_out.assign(levels, Vector(links));
  Vector log_weights(links);
  double first = 0, total_weight = 0;
  for (int l = 0; l < links; ++l) {
    const Link& link = recipe.links[l];
    log_weights[l] = levels == 1 ? 0 : std::log(link.weight);
    total_weight += levels == 1 ? 1 : link.weight;
    // Over the active points (data of the levels that follow, then queries at this level), then the passive ones
    // (queries at the levels below, lowest first).
    Vector mean = Vector::Constant(total + m, p.Scalar("mu0"));
    Matrix c = inputs.First(x);
    for (int t = 0; t < levels; ++t) {
      const Index active = data.rest(t) + m, n = data.count(t);
      const Matrix active_x = x.bottomRows(active);
      if (t > 0) {
        const LinkScalars s = inputs.Scalars(t);
        const double zero = link.raw_zero ? data.raw_zero : 0;
        // The queries at level t−1 stay behind as passive variables.
        std::vector<Index> order;
        for (Index i = 0; i < active; ++i) order.push_back(i);
        for (Index i = active; i < c.rows(); ++i) order.push_back(i);
        for (Index i = active - m; i < active; ++i) order.push_back(i);
        const Vector below = mean(order);
        Matrix next = c(order, order);
        const Matrix c_active = next.topLeftCorner(active, active);
        next.topRows(active) *= s.rho;
        next.leftCols(active) *= s.rho;
        next.topLeftCorner(active, active) = NaiveLinkMatrix(s, inputs.Rho(active_x, t), inputs.Delta(active_x, t),
                                                             inputs.Trend(active_x), below.head(active), c_active)
                                                 .array() +
                                             (link.offset ? inputs.Exp("va" + std::to_string(t)) : 0);
        c = next;
        mean = below;
        mean.head(active) = s.rho * below.head(active).array() + (1 - s.rho) * zero;
      }
      const Vector y = data.y.segment(data.offset[t], n), noise = inputs.Noise(data, t);
      result.leave_one_out[t][l] = NaiveLeaveOneOut(c.topLeftCorner(n, n), mean.head(n), y, noise);
      const NaiveConditioned given = NaiveCondition(c, mean, y, noise);
      (t == 0 ? first : log_weights[l]) = given.log_likelihood + (t == 0 ? 0 : log_weights[l]);
      mean = given.mean;
      c = given.covariance;
    }
    std::vector<Index> ascending;
    for (Index i = 0; i < levels * m; ++i) ascending.push_back(i < (levels - 1) * m ? m + i : i - (levels - 1) * m);
    result.across.push_back(c(ascending, ascending));
    for (int t = 0; t < levels; ++t) {
      const Index at = t == levels - 1 ? 0 : m + m * t;  // the top level's queries are the active ones
      result.mean[t].row(l) = mean.segment(at, m);
      result.variance[t].row(l) = c.diagonal().segment(at, m);
      result.covariance[t][l] = c.block(at, at, m, m);
    }
  }
  const double largest = log_weights.maxCoeff();
  result.link_weights = (log_weights.array() - largest).exp();
  result.log_likelihood = first + largest + std::log(result.link_weights.sum() / total_weight);
  result.link_weights /= result.link_weights.sum();
  return result;
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_NAIVE_MOMENTS_H_
