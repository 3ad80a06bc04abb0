// SparseMfDgp's leave-one-out predictions, from the q(u) that it has.
//
// At its optimum, q(v) of a layer is the prior times a Gaussian factor per observation of the level: at node k of observation i, with
// a_k and weight w_k, exp(−½ w_k (y − a_kᵀv)²/σ²). Without that observation, with A = [a_k], G = AᵀSSᵀA, D = diag(w_k/σ²):
//   covariance of Aᵀv:  G (I − D G)⁻¹          mean of Aᵀv:  (I − G D)⁻¹ (Aᵀm − G D y)
// For one node these are the textbook formulas of a GP. Copies of an observation (equal inputs) have the same nodes: together they
// are one observation of less noise. Where q is not at its optimum, so that more would be taken out than there is,
// all but a thousandth of it is.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/equal_rows.h"
#include "core/base/status_macros.h"
#include "core/dgp/sparse_mf_dgp.h"
#include "core/dgp/sparse_mf_dgp_impl.h"
#include "core/dgp/variational_model.h"
#include "core/gp/left_out.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kMostTaken = 0.999;

}  // namespace

absl::StatusOr<std::vector<ObservedMixtures>> SparseMfDgp::LeaveOneOutMixtures() const {
  const Scaling& scaling = impl_->scaling;
  std::vector<ObservedMixtures> result;
  for (int level = 0; level < levels(); ++level) {
    const LevelData& data = impl_->data.levels[level];
    const SparseLayerState& layer = impl_->posterior.layer(level);
    PredictOptions options;
    options.level = level;
    FIDELIO_ASSIGN_OR_RETURN(const Mixture shape, PredictMixture(Matrix(0, input_dimension()), options));
    const Index components = shape.weight.size(), n = data.y.size();
    EqualRows copies = FindEqualRows(data.x);
    ObservedMixtures at{.y = data.y,
                        .weight = shape.weight.replicate(1, n),
                        .mean = Matrix(components, n),
                        .variance = Matrix(components, n),
                        .group = std::move(copies.group)};
    Vector noise = Vector::Constant(n, layer.noise);
    if (data.noise_variance.size() > 0) {
      noise = data.noise_variance.array() / (scaling.output_sd * scaling.output_sd) + kVariationalNoiseFloor;
    }
    // What is left out for each observation: itself, or what it and its copies amount to.
    Vector left_noise = noise, left_y = (data.y.array() - scaling.output_mean) / scaling.output_sd;
    for (const std::vector<int>& group : copies.copies) {
      const SameInput one = Combine(left_y(group), noise(group));
      left_noise(group).setConstant(one.noise);
      left_y(group).setConstant(one.y);
    }
    impl_->ForBlocks(data.x, level, /*threads=*/0, [&](Index begin, const NodePlan& plan, const Matrix& x) {
      const SparsePosterior::Evaluation all(impl_->posterior, x, plan, level);
      const NodeLayer& nodes = plan.layers[level];
      for (Index p = 0; p < nodes.size();) {
        std::vector<Index> own;  // nodes of one observation
        const Index i = begin + nodes.point[p];
        for (const int point = nodes.point[p]; p < nodes.size() && nodes.point[p] == point; ++p) {
          if (nodes.weight[p] > 0) own.push_back(p);
        }
        // In units of √D: H = √D G √D = U diag(h) Uᵀ.
        const Vector root = (nodes.weight(own) / left_noise[i]).cwiseSqrt();
        const Matrix half = layer.root.transpose() * all.a(level)(Eigen::all, own) * root.asDiagonal();
        const Eigen::SelfAdjointEigenSolver<Matrix> eigen(half.transpose() * half);
        const Eigen::ArrayXd h = eigen.eigenvalues().array().max(0).min(kMostTaken);
        const Matrix& u = eigen.eigenvectors();
        const Vector inside = u.transpose() * root.cwiseProduct(all.mean(level)(own));
        const Vector pull = u.transpose() * (root * left_y[i]);
        const Vector mean = u * ((inside.array() - h * pull.array()) / (1 - h)).matrix();
        const Vector variance = u.cwiseAbs2() * (h / (1 - h)).matrix();
        for (size_t k = 0; k < own.size(); ++k) {
          const Index s = static_cast<Index>(k);
          at.mean(s, i) = mean[s] / root[s] * scaling.output_sd + scaling.output_mean;
          at.variance(s, i) = (all.rest(level)[own[k]] + variance[s] / (root[s] * root[s]) + noise[i]) *
                              scaling.output_sd * scaling.output_sd;
        }
      }
    });
    result.push_back(std::move(at));
  }
  return result;
}

absl::StatusOr<std::vector<LeaveOneOut>> SparseMfDgp::LeaveOneOutPredictions() const {
  FIDELIO_ASSIGN_OR_RETURN(const std::vector<ObservedMixtures> mixtures, LeaveOneOutMixtures());
  std::vector<LeaveOneOut> result;
  for (const ObservedMixtures& mixture : mixtures) result.push_back(Summarise(mixture));
  return result;
}

}  // namespace fidelio
