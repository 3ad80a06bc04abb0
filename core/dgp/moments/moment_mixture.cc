#include "core/dgp/moments/moment_mixture.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/emulator/reweigh.h"

namespace fidelio {
namespace {

using Eigen::Index;

// Level 0 is predicted by the draws of structures with all levels, the levels above by these and others.
absl::Status CheckLevelsCovered(const std::vector<std::shared_ptr<const MomentModel>>& structures,
                                const std::vector<MomentDraw>& draws,
                                const std::vector<absl::StatusOr<MomentPosterior>>& built) {
  double weight = 0;
  for (const MomentDraw& draw : draws) {
    if (structures[draw.structure]->recipe.first_level == 0) weight += draw.weight;
  }
  if (weight > 0) return absl::OkStatus();
  for (const auto& posterior : built) {
    if (posterior.ok()) continue;
    return absl::Status(
        posterior.status().code(),
        absl::StrCat("no draw of the hyperparameters is left that predicts level 0: ", posterior.status().message()));
  }
  return absl::InternalError("no draw of the hyperparameters predicts level 0");
}

}  // namespace

absl::StatusOr<MomentMixture> MomentMixture::Build(std::vector<std::shared_ptr<const MomentModel>> structures,
                                                   std::vector<MomentDraw> draws, int threads,
                                                   const MomentMixture* before) {
  const int count = static_cast<int>(draws.size());
  std::vector<absl::StatusOr<MomentPosterior>> built(draws.size(), absl::UnknownError("not built"));
  const int workers = std::min(count, ResolveThreads(threads));
  ParallelFor(workers, workers, [&](int w) {
    std::vector<std::unique_ptr<MomentRecursion>> recursions(structures.size());
    for (int i = w; i < count; i += workers) {
      auto& recursion = recursions[draws[i].structure];
      if (recursion == nullptr) recursion = std::make_unique<MomentRecursion>(structures[draws[i].structure]);
      built[i] = MomentPosterior::Build(*recursion, draws[i].theta);
    }
  });
  if (before != nullptr) before->WeighAnew(built, draws);
  MomentMixture mixture;
  double total = 0;
  for (int i = 0; i < count; ++i) {
    if (!built[i].ok()) continue;
    total += draws[i].weight;
    mixture.draws_.push_back(std::move(draws[i]));
    mixture.posteriors_.push_back(*std::move(built[i]));
  }
  FIDELIO_RETURN_IF_ERROR(CheckLevelsCovered(structures, mixture.draws_, built));
  if (static_cast<int>(mixture.draws_.size()) < count || before != nullptr) {
    for (MomentDraw& draw : mixture.draws_) draw.weight /= total;
  }
  mixture.structures_ = std::move(structures);
  int levels = 0;
  for (const auto& structure : mixture.structures_) {
    levels = std::max(levels, structure->recipe.first_level + structure->data.levels());
  }
  for (int t = 0; t < levels; ++t) mixture.members_.push_back(mixture.FindMembers(t));
  return mixture;
}

void MomentMixture::WeighAnew(const std::vector<absl::StatusOr<MomentPosterior>>& built,
                              std::vector<MomentDraw>& draws) const {
  // log p(new data | old data, θ) of each draw. Structures that leave out the lower levels say nothing about new data there,
  // and are credited with what the others say on average: their weight then changes by the data that both explain.
  const Index count = static_cast<Index>(draws.size());
  Vector weights = Vector::Zero(count), log_factors = Vector::Zero(count);
  const auto first_level = [&](Index i) { return structures_[draws[i].structure]->recipe.first_level; };
  std::vector<double> log_below(members_.size(), 0.0);  // per level, of the data below it
  for (size_t t = 1; t < log_below.size(); ++t) {
    double total = 0, sum = 0;
    for (Index i = 0; i < count; ++i) {
      if (!built[i].ok() || first_level(i) > 0) continue;
      const int level = static_cast<int>(t);
      total += draws[i].weight;
      sum += draws[i].weight * (built[i]->log_likelihood_below(level) - posteriors_[i].log_likelihood_below(level));
    }
    if (total > 0) log_below[t] = sum / total;
  }
  for (Index i = 0; i < count; ++i) {
    if (!built[i].ok()) continue;
    weights[i] = draws[i].weight;
    log_factors[i] = built[i]->log_likelihood() - posteriors_[i].log_likelihood() + log_below[first_level(i)];
  }
  if (!(weights.sum() > 0)) return;
  for (Index i = 0; i < count; ++i) {
    if (!built[i].ok()) log_factors[i] = log_factors.minCoeff();
  }
  const Vector changed = Reweigh(weights, log_factors);
  for (Index i = 0; i < count; ++i) draws[i].weight = changed[i];
}

MomentMixture::Members MomentMixture::FindMembers(int level) const {
  Members members;
  Index components = 0;
  for (size_t i = 0; i < draws_.size(); ++i) {
    if (OwnLevel(i, level) < 0) continue;
    members.draws.push_back(i);
    members.weight += draws_[i].weight;
    members.first_component.push_back(components);
    components += posteriors_[i].links();
  }
  members.component_weights.resize(components);
  for (size_t k = 0; k < members.draws.size(); ++k) {
    const MomentPosterior& p = posteriors_[members.draws[k]];
    members.component_weights.segment(members.first_component[k], p.links()) =
        draws_[members.draws[k]].weight / members.weight * p.link_weights();
  }
  return members;
}

Vector MomentMixture::Noise(int level) const {
  const Members& members = MembersAt(level);
  Vector noise(members.component_weights.size());
  for (size_t k = 0; k < members.draws.size(); ++k) {
    const MomentPosterior& p = posteriors_[members.draws[k]];
    noise.segment(members.first_component[k], p.links()).setConstant(p.noise(OwnLevel(members.draws[k], level)));
  }
  return noise;
}

std::vector<MomentQueries> MomentMixture::Queries(const Matrix& x, const QueryMoments& given) const {
  std::vector<MomentQueries> queries;
  queries.reserve(structures_.size());
  for (const auto& structure : structures_) queries.emplace_back(*structure, x, given);
  return queries;
}

Posterior::Gaussians MomentMixture::Predict(const std::vector<MomentQueries>& queries, int level,
                                            MomentPosterior::Workspace& workspace) const {
  const Members& members = MembersAt(level);
  const Index n = queries[0].x.rows(), components = members.component_weights.size();
  Posterior::Gaussians result{.mean = Matrix(components, n), .variance = Matrix(components, n)};
  for (size_t k = 0; k < members.draws.size(); ++k) {
    const size_t i = members.draws[k];
    const Index at = members.first_component[k], links = posteriors_[i].links();
    posteriors_[i].Predict(queries[draws_[i].structure], OwnLevel(i, level), workspace,
                           result.mean.middleRows(at, links), result.variance.middleRows(at, links));
  }
  return result;
}

MomentPosterior::Adjoints MomentMixture::Reverse(const std::vector<MomentQueries>& queries, int level,
                                                 const Matrix& mean_bar, const Matrix& variance_bar,
                                                 MomentPosterior::Workspace& workspace) const {
  const Members& members = MembersAt(level);
  MomentPosterior::Adjoints sum;
  for (size_t k = 0; k < members.draws.size(); ++k) {
    const size_t i = members.draws[k];
    const Index at = members.first_component[k], links = posteriors_[i].links();
    MomentPosterior::Adjoints own =
        posteriors_[i].Reverse(queries[draws_[i].structure], OwnLevel(i, level), mean_bar.middleRows(at, links),
                               variance_bar.middleRows(at, links), workspace);
    if (k == 0) {
      sum = std::move(own);
      continue;
    }
    sum.x += own.x;
    sum.given.mean += own.given.mean;
    sum.given.variance += own.given.variance;
    sum.given.cross += own.given.cross;
  }
  return sum;
}

Posterior::LeftOut MomentMixture::LeaveOneOut(int level) const {
  const Members& members = MembersAt(level);
  const Index components = members.component_weights.size();
  Posterior::LeftOut result;
  for (size_t k = 0; k < members.draws.size(); ++k) {
    const size_t i = members.draws[k];
    const auto own = posteriors_[i].LeaveOneOut(OwnLevel(i, level));
    if (k == 0) {
      result.mean.resize(components, own.mean.cols());
      result.variance.resize(components, own.mean.cols());
      result.log_density.resize(components, own.log_density.cols());
    }
    const Index first = members.first_component[k], links = own.mean.rows();
    result.mean.middleRows(first, links) = own.mean;
    result.variance.middleRows(first, links) = own.variance;
    result.log_density.middleRows(first, links) = own.log_density;
  }
  return result;
}

double MomentMixture::MeanResidual(int level) const {
  double residual = 0;
  for (size_t i = 0; i < draws_.size(); ++i) {
    residual += draws_[i].weight * posteriors_[i].leave_one_out(OwnLevel(i, level));
  }
  return residual;
}

MomentMixture::Functions::Functions(const MomentMixture& mixture, const PathOptions& options, const Matrix& first)
    : mixture_(mixture), level_(options.level), count_(options.count) {
  const Members& members = mixture.MembersAt(level_);
  const Vector cumulative = RunningSums(members.component_weights);
  const auto& firsts = members.first_component;
  std::vector<Group> groups(members.draws.size());
  std::vector<Random> choices = FunctionRandoms(options, RandomUse::kFunctionComponent);
  for (int i = 0; i < count_; ++i) {
    const Index component = ChooseGaussian(cumulative, choices[i]);
    const auto member = std::upper_bound(firsts.begin(), firsts.end(), component) - firsts.begin() - 1;
    groups[member].draw = members.draws[member];
    groups[member].path.push_back(i);
    groups[member].link.push_back(static_cast<int>(component - firsts[member]));
  }
  for (Group& group : groups) {
    if (!group.path.empty()) groups_.push_back(std::move(group));
  }
  const std::vector<Random> random = FunctionRandoms(options);
  ParallelFor(static_cast<int>(groups_.size()), options.threads, [&](int g) {
    Group& group = groups_[g];
    std::vector<Random> own;
    for (const int i : group.path) own.push_back(random[i]);
    group.functions =
        std::make_unique<MomentPaths>(mixture_.posteriors_[group.draw], group.link, std::move(own),
                                      first.cols() > 0 ? Matrix(first(Eigen::all, group.path)) : Matrix());
  });
}

Matrix MomentMixture::Functions::Evaluate(const std::vector<MomentQueries>& queries,
                                          MomentPosterior::Workspace& workspace, const Matrix& first) const {
  const Index n = queries[0].x.rows();
  Matrix result(n, count_);
  for (const Group& group : groups_) {
    Matrix values(n, static_cast<Index>(group.path.size()));
    group.functions->Evaluate(queries[mixture_.draws_[group.draw].structure], mixture_.OwnLevel(group.draw, level_),
                              workspace, values, first.cols() > 0 ? Matrix(first(Eigen::all, group.path)) : Matrix());
    result(Eigen::all, group.path) = values;
  }
  return result;
}

absl::Status UnknownDraw(const MomentDraw& draw) {
  return absl::DataLossError(
      absl::StrFormat("checkpoint holds a draw of structure %d with %d parameters, which no structure has",
                      draw.structure, draw.theta.size()));
}

Vector RunningSums(Vector weights) {
  std::partial_sum(weights.begin(), weights.end(), weights.begin());
  return weights;
}

Index ChooseGaussian(const Vector& cumulative, Random& random) {
  const double at = random.Uniform() * cumulative[cumulative.size() - 1];
  return std::upper_bound(cumulative.begin(), cumulative.end() - 1, at) - cumulative.begin();
}

}  // namespace fidelio
