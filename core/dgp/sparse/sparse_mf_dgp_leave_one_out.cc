// Leave-one-out predictions of sparse layers: those of the best q(u) of a layer without the observation.
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
#include "core/dgp/sparse/sparse_mf_dgp_posterior.h"
#include "core/dgp/sparse/variational_model.h"
#include "core/gp/left_out.h"
#include "core/gp/left_out_sites.h"

namespace fidelio {
namespace {

using Eigen::Index;

// The different inputs of a level, with what the observations at each amount to, in standardised units.
struct DistinctInputs {
  Matrix x;
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
  at.x = scaling.ScaleInputs(at.x);
  return at;
}

}  // namespace

absl::StatusOr<Posterior::LeftOut> SparseMfDgpPosterior::LeaveOneOut(const FittedState& state, int level,
                                                                     int threads) const {
  const LevelData& data = state.data.levels[level];
  const SparseLayerState& layer = layers_.layer(level);
  const Vector weights = Weights(level);
  const Index components = weights.size(), n = data.y.size();
  const EqualRows rows = FindEqualRows(data.x);
  const DistinctInputs inputs = Distinct(data, rows, state.scaling, layer.noise);
  if (n > 0 && !(inputs.noise.minCoeff() > 0)) {
    return absl::InternalError(absl::StrFormat("level %d: its noise variance is %g", level, inputs.noise.minCoeff()));
  }
  const SiteLayout layout{.inducing = static_cast<int>(layer.m.size()),
                          .groups = rows.count,
                          .group_size = static_cast<int>(components),
                          .block_groups = kQueryBlock};
  // body(the layers at a block's nodes, the nodes that are sites, √(w/σ²) of these)
  const auto at_block = [&](int b, const auto& body) {
    const Index begin = b * kQueryBlock, count = std::min<Index>(kQueryBlock, rows.count - begin);
    const SparseBlock block(*this, inputs.x.middleRows(begin, count), level);
    const std::vector<Index>& own = block.components();
    Vector root(own.size());
    for (Index k = 0; k < root.size(); ++k) {
      root[k] = std::sqrt(block.nodes().weight[own[k]] / inputs.noise[begin + block.nodes().point[own[k]]]);
    }
    body(block.at(), own, root);
  };
  const auto block = [&](int b) {
    SiteBlock sites;
    at_block(b, [&](const SparsePosterior::Evaluation& at, const std::vector<Index>& own, const Vector& root) {
      sites.rows = (at.a(level)(Eigen::all, own) * root.asDiagonal()).transpose();
      sites.target = root;
      for (Index k = 0; k < root.size(); ++k) sites.target[k] *= inputs.y[b * kQueryBlock + k / components];
    });
    return sites;
  };
  FIDELIO_ASSIGN_OR_RETURN(const LeftOutSites left_out,
                           LeaveOutSites(layout, block, threads, absl::StrFormat("level %d", level)));

  const bool adds_difference = kind_ == kSviMfDgpKind || level + 1 == layers_.levels();
  Matrix mean(components, rows.count), variance(components, rows.count);
  ParallelFor(layout.blocks(), threads, [&](int b) {
    at_block(b, [&](const SparsePosterior::Evaluation& at, const std::vector<Index>& own, const Vector& root) {
      for (Index k = 0; k < root.size(); ++k) {
        const Index p = own[k], group = b * kQueryBlock + k / components, site = group * components + k % components;
        const double square = root[k] * root[k], rest = at.rest(level)[p];
        double& own_mean = mean(k % components, group) = left_out.mean[site] / root[k];
        double& own_variance = variance(k % components, group) = left_out.variance[site] / square + rest;
        if (!adds_difference) continue;
        own_mean += at.mean(level)[p] - left_out.seen_mean[site] / root[k];
        own_variance += std::max(0.0, at.variance(level)[p] - rest - left_out.seen_variance[site] / square);
      }
    });
  });
  LeftOut result{.mean = mean(Eigen::all, rows.group),
                 .variance = variance(Eigen::all, rows.group),
                 .weight = weights.replicate(1, n)};  // of nodes, which no observation has changed
  result.variance.rowwise() += inputs.own_noise.transpose();
  return result;
}

}  // namespace fidelio
