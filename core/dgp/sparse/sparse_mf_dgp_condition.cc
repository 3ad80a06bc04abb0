// Sparse layers given more data, without another fit: q(u) of a layer is multiplied by the likelihood of its new observations.
//
//   q'(v) ∝ q(v)·∏ exp(−½ w (y − aᵀv)²/σ²):   I + Wᵀ… with W = SᵀA, D = diag(w/σ²):   E Eᵀ = I + W D Wᵀ
//   S' = S E⁻ᵀ          m' = m + S'S'ᵀ A D (y − Aᵀm)
//
// A new inducing input has, before that, the prior given the others: v is whitened, so that its element is N(0, 1) of its own.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/dgp/sparse/sparse_mf_dgp_posterior.h"
#include "core/dgp/sparse/variational_model.h"
#include "core/linalg/cholesky.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int kMostGrown = 1000;      // of a layer that grows
constexpr double kSameInput = 1e-10;  // squared distance in scaled units
constexpr Index kMostAtOnce = 256;    // new observations

absl::Status CheckMore(const Dataset& before, const Dataset& data) {
  for (size_t t = 0; t < data.levels.size(); ++t) {
    const LevelData& old = before.levels[t];
    const LevelData& now = data.levels[t];
    const Index n = old.y.size();
    if (now.y.size() < n || now.y.head(n) != old.y || (n > 0 && now.x.topRows(n) != old.x)) {
      return absl::FailedPreconditionError(
          absl::StrFormat("level %d: its observations do not begin with the %d that the model knows; fit again", t, n));
    }
    if (n == 0 && now.y.size() > 0) {
      return absl::FailedPreconditionError(
          absl::StrFormat("level %d: had no observations when the model was fitted; fit again", t));
    }
  }
  return absl::OkStatus();
}

// Rows of x that are no inducing inputs yet, at most as many as the layer may grow by.
std::vector<int> NewInducing(const Matrix& z, const Matrix& x) {
  std::vector<int> candidates;
  for (Index i = 0; i < x.rows(); ++i) {
    if (z.rows() == 0 || (z.rowwise() - x.row(i)).rowwise().squaredNorm().minCoeff() > kSameInput) {
      candidates.push_back(static_cast<int>(i));
    }
  }
  return ChooseInducing(x, candidates, std::max<int>(0, kMostGrown - static_cast<int>(z.rows())));
}

void Grow(SparseLayerState& layer, const Matrix& x, const Vector& f, const std::vector<int>& chosen) {
  const Index m = layer.m.size(), more = static_cast<Index>(chosen.size());
  layer.z.conservativeResize(m + more, Eigen::NoChange);
  layer.z.bottomRows(more) = x(chosen, Eigen::all);
  if (layer.shape.linked) {
    layer.zf.conservativeResize(m + more);
    layer.zf.tail(more) = f(chosen);
  }
  layer.m.conservativeResize(m + more);
  layer.m.tail(more).setZero();
  Matrix root = Matrix::Identity(m + more, m + more);
  root.topLeftCorner(m, m) = layer.root;
  layer.root = std::move(root);
}

absl::Status Absorb(SparseLayerState& layer, const Matrix& a, const Vector& precision, const Vector& y) {
  const Matrix w = layer.root.transpose() * a;
  Matrix e = Matrix::Identity(w.rows(), w.rows()) + w * precision.asDiagonal() * w.transpose();
  Matrix inverse(e.rows(), e.cols());
  FIDELIO_RETURN_IF_ERROR(CholeskyWithInverse(e, inverse, "precision of new observations").status());
  layer.root = (layer.root * inverse.transpose()).eval();
  const Vector residual = precision.cwiseProduct(y - a.transpose() * layer.m);
  layer.m += layer.root * (layer.root.transpose() * (a * residual));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<const Posterior>> SparseMfDgpPosterior::Condition(const FittedState& before,
                                                                                 const Dataset& data, int) const {
  FIDELIO_RETURN_IF_ERROR(CheckMore(before.data, data));
  const Scaling& scaling = before.scaling;
  std::vector<SparseLayerState> layers;
  for (int t = 0; t < layers_.levels(); ++t) layers.push_back(layers_.layer(t));
  SparsePosterior posterior = layers_;
  for (int t = 0; t < layers_.levels(); ++t) {
    const LevelData& level = data.levels[t];
    const Index known = before.data.levels[t].y.size();
    for (Index begin = known; begin < level.y.size(); begin += kMostAtOnce) {
      const Index n = std::min(kMostAtOnce, level.y.size() - begin);
      const Matrix x = scaling.ScaleInputs(level.x.middleRows(begin, n));
      const NodePlan plan(std::vector<int>(n, t), t + 1, NodeRule());
      const NodeLayer& nodes = plan.layers[t];
      Vector f;
      if (t > 0) {
        const SparsePosterior::Evaluation below(posterior, x, plan, t);
        f = below.f(t)(nodes.centre);
      }
      const std::vector<int> chosen = NewInducing(layers[t].z, x);
      if (!chosen.empty()) {
        Grow(layers[t], x, f, chosen);
        FIDELIO_ASSIGN_OR_RETURN(posterior, SparsePosterior::Build(layers));
      }
      const SparsePosterior::Evaluation at(posterior, x, plan, t);
      Vector precision(nodes.size()), y(nodes.size());
      for (Index p = 0; p < nodes.size(); ++p) {
        const Index i = begin + nodes.point[p];
        const double noise =
            level.noise_variance.size() > 0
                ? level.noise_variance[i] / (scaling.output_sd * scaling.output_sd) + kVariationalNoiseFloor
                : layers[t].noise;
        precision[p] = nodes.weight[p] / noise;
        y[p] = (level.y[i] - scaling.output_mean) / scaling.output_sd;
      }
      FIDELIO_RETURN_IF_ERROR(Absorb(layers[t], at.a(t), precision, y));
      FIDELIO_ASSIGN_OR_RETURN(posterior, SparsePosterior::Build(layers));
    }
  }
  return std::make_unique<const SparseMfDgpPosterior>(kind_, std::move(posterior));
}

}  // namespace fidelio
