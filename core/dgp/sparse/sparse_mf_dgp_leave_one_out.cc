// SparseMfDgp's leave-one-out predictions: those of the best q(u) of a layer without the observation.
//
// Given θ, z, the noise and the layers below, the best q(v) of a layer is the prior times a Gaussian site per node of its level's
// observations, exp(−½ w (y − aᵀv)²/σ²) with the node's a and weight w. Leaving out an observation removes the sites of its nodes
// (core/gp/left_out_sites.h), which equals another fit of the layer, exactly, with noise or without. Copies (equal inputs) have
// the same nodes: together they are one observation of less noise. Levels above have no sites here: they are not seen.
//
// The q that the model has can differ from the best one: after a training by SVI, or after Condition. How much its predictions of
// the observation differ then is added: the difference of the means to the mean, that of the variances, where positive, to the
// variance. Of a layer that VARIATIONAL fitted below the highest, this would be what levels above say: it is not added.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/equal_rows.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/dgp/sparse/sparse_mf_dgp.h"
#include "core/dgp/sparse/sparse_mf_dgp_impl.h"
#include "core/dgp/sparse/variational_model.h"
#include "core/gp/left_out.h"
#include "core/gp/left_out_sites.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int kBlockGroups = 64;

// The different inputs of a level, with what the observations at each amount to, in standardised units.
struct DistinctInputs {
  Matrix x;          // in the user's units
  Vector y, noise;   // of one observation
  Vector own_noise;  // n: of each observation itself
};

DistinctInputs Distinct(const LevelData& data, const EqualRows& rows, const Scaling& scaling, double learned) {
  const Index n = data.y.size();
  DistinctInputs at{.x = Matrix(rows.count, data.x.cols()),
                    .y = Vector(rows.count),
                    .noise = Vector(rows.count),
                    .own_noise = Vector::Constant(n, learned)};
  if (data.noise_variance.size() > 0) {
    at.own_noise = data.noise_variance.array() / (scaling.output_sd * scaling.output_sd) + kVariationalNoiseFloor;
  }
  const Vector y = (data.y.array() - scaling.output_mean) / scaling.output_sd;
  for (Index i = 0; i < n; ++i) {
    at.x.row(rows.group[i]) = data.x.row(i);
    at.y[rows.group[i]] = y[i];
    at.noise[rows.group[i]] = at.own_noise[i];
  }
  for (const std::vector<int>& group : rows.copies) {
    const SameInput one = Combine(y(group), at.own_noise(group));
    at.y[rows.group[group[0]]] = one.y;
    at.noise[rows.group[group[0]]] = one.noise;
  }
  return at;
}

}  // namespace

absl::StatusOr<ObservedMixtures> SparseMfDgp::Impl::LeftOut(int level, int threads) const {
  const LevelData& own_data = data.levels[level];
  const SparseLayerState& layer = posterior.layer(level);
  const Vector weights = NodeWeights(level);
  const Index components = weights.size(), n = own_data.y.size();
  EqualRows rows = FindEqualRows(own_data.x);
  const DistinctInputs inputs = Distinct(own_data, rows, scaling, layer.noise);
  if (n > 0 && !(inputs.noise.minCoeff() > 0)) {
    return absl::InternalError(absl::StrFormat("level %d: its noise variance is %g", level, inputs.noise.minCoeff()));
  }
  const SiteLayout layout{.inducing = static_cast<int>(layer.m.size()),
                          .groups = rows.count,
                          .group_size = static_cast<int>(components),
                          .block_groups = kBlockGroups};
  // body(the layers at a block's nodes, the nodes that are sites, √(w/σ²) of these)
  const auto at_block = [&](int b, const auto& body) {
    const Index begin = static_cast<Index>(b) * kBlockGroups, count = std::min<Index>(kBlockGroups, rows.count - begin);
    ForBlocks(inputs.x.middleRows(begin, count), level, 1, [&](Index, const NodePlan& plan, const Matrix& x) {
      const NodeLayer& nodes = plan.layers[level];
      std::vector<Index> own;
      for (Index p = 0; p < nodes.size(); ++p) {
        if (nodes.weight[p] > 0) own.push_back(p);
      }
      Vector root(own.size());
      for (Index k = 0; k < root.size(); ++k) {
        root[k] = std::sqrt(nodes.weight[own[k]] / inputs.noise[begin + nodes.point[own[k]]]);
      }
      body(SparsePosterior::Evaluation(posterior, x, plan, level), own, root);
    });
  };
  const auto block = [&](int b) {
    SiteBlock sites;
    at_block(b, [&](const SparsePosterior::Evaluation& at, const std::vector<Index>& own, const Vector& root) {
      sites.rows = (at.a(level)(Eigen::all, own) * root.asDiagonal()).transpose();
      sites.target = root;
      for (Index k = 0; k < root.size(); ++k) sites.target[k] *= inputs.y[b * kBlockGroups + k / components];
    });
    return sites;
  };
  FIDELIO_ASSIGN_OR_RETURN(const LeftOutSites left_out,
                           LeaveOutSites(layout, block, threads, absl::StrFormat("level %d", level)));

  const bool adds_difference = kind == kSviMfDgpKind || level + 1 == posterior.levels();
  Matrix mean(components, rows.count), variance(components, rows.count);
  ParallelFor(layout.blocks(), threads, [&](int b) {
    at_block(b, [&](const SparsePosterior::Evaluation& at, const std::vector<Index>& own, const Vector& root) {
      for (Index k = 0; k < root.size(); ++k) {
        const Index p = own[k], group = b * kBlockGroups + k / components, site = group * components + k % components;
        const double square = root[k] * root[k], rest = at.rest(level)[p];
        double& own_mean = mean(k % components, group) = left_out.mean[site] / root[k];
        double& own_variance = variance(k % components, group) = left_out.variance[site] / square + rest;
        if (!adds_difference) continue;
        own_mean += at.mean(level)[p] - left_out.seen_mean[site] / root[k];
        own_variance += std::max(0.0, at.variance(level)[p] - rest - left_out.seen_variance[site] / square);
      }
    });
  });
  ObservedMixtures at{.y = own_data.y,
                      .weight = weights.replicate(1, n),
                      .mean = Matrix(components, n),
                      .variance = Matrix(components, n),
                      .group = std::move(rows.group)};
  for (Index i = 0; i < n; ++i) {
    at.mean.col(i) = mean.col(at.group[i]).array() * scaling.output_sd + scaling.output_mean;
    at.variance.col(i) =
        (variance.col(at.group[i]).array() + inputs.own_noise[i]) * (scaling.output_sd * scaling.output_sd);
  }
  return at;
}

absl::Status SparseMfDgp::Impl::InflateByLeftOut(int threads, const Inflation& otherwise) {
  if (data.levels.back().y.size() > kMostLeftOut) {
    Inflate(otherwise);
    return absl::OkStatus();
  }
  FIDELIO_ASSIGN_OR_RETURN(const ObservedMixtures left_out, LeftOut(posterior.levels() - 1, threads));
  Inflate(InflationOf(Summarise(left_out)));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ObservedMixtures>> SparseMfDgp::LeaveOneOutMixtures() const {
  std::vector<ObservedMixtures> result;
  for (int level = 0; level < levels(); ++level) {
    FIDELIO_ASSIGN_OR_RETURN(ObservedMixtures at, impl_->LeftOut(level, /*threads=*/0));
    result.push_back(std::move(at));
  }
  return result;
}

absl::StatusOr<std::vector<LeaveOneOut>> SparseMfDgp::LeaveOneOutPredictions() const {
  FIDELIO_ASSIGN_OR_RETURN(const std::vector<ObservedMixtures> mixtures, LeaveOneOutMixtures());
  std::vector<LeaveOneOut> result;
  for (const ObservedMixtures& mixture : mixtures) {
    result.push_back(Summarise(mixture));
    result.back().inflation = impl_->InflationAt(static_cast<int>(result.size()) - 1);
  }
  return result;
}

}  // namespace fidelio
