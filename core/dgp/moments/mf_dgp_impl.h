// The inside of an MfDgp: what it is made of, and how it is built, written and read.
#ifndef FIDELIO_CORE_DGP_MOMENTS_MF_DGP_IMPL_H_
#define FIDELIO_CORE_DGP_MOMENTS_MF_DGP_IMPL_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/bytes.h"
#include "core/dgp/moments/mf_dgp.h"
#include "core/dgp/moments/moment_joint.h"
#include "core/dgp/moments/moment_posterior.h"
#include "core/dgp/moments/moment_target.h"
#include "core/emulator/inflation.h"
#include "core/emulator/mixture.h"

namespace fidelio {

inline constexpr uint32_t kMfDgpVersion = 3;

// Σ_t n_t Σ_{s≥t} n_s: elements of the factors of all levels of one draw and link.
int64_t FactorElements(const std::vector<int64_t>& counts);

struct MfDgp::Impl {
  Dataset data;
  FitReport report;
  std::vector<std::shared_ptr<const MomentModel>> structures;
  std::vector<MomentDraw> draws;
  std::vector<MomentPosterior> posteriors;  // one per draw
  // Predictive variances of the top level are multiplied by this (core/emulator/inflation.h).
  Inflation inflation;
  // Per level: mean of the given noise variances, 0 where none is given; divided by the inflation, which then leaves them as given.
  std::vector<double> given_noise;

  // Builds the posteriors of all draws; draws that can't be factorised any more are left out, but an error is returned when a level
  // has none left. With the model of which
  // these are the draws, given fewer data, their weights are changed by what the data since tell about them.
  static absl::StatusOr<std::unique_ptr<Impl>> Build(Dataset data,
                                                     std::vector<std::shared_ptr<const MomentModel>> structures,
                                                     std::vector<MomentDraw> draws, FitReport report, int threads,
                                                     const Impl* before = nullptr);

  // Changes the weights of `before`'s draws by what more data, with which their posteriors were `built`, tell about them.
  static void WeighAnew(const Impl& before, const std::vector<absl::StatusOr<MomentPosterior>>& built,
                        std::vector<MomentDraw>& draws);

  // Scaled inputs as every structure sees them.
  std::vector<MomentQueries> Queries(const Matrix& x) const;

  // body(first row, rows, their queries, a workspace) for the rows of x, some at a time.
  using BlockBody = std::function<void(Eigen::Index begin, Eigen::Index n, const std::vector<MomentQueries>& queries,
                                       MomentPosterior::Workspace& workspace)>;
  void ForBlocks(const Matrix& x, int threads, const BlockBody& body) const;

  // Predictions at such queries, in the user's units.
  Mixture PredictMixture(const std::vector<MomentQueries>& queries, int level, bool include_noise,
                         MomentPosterior::Workspace& workspace) const;
  // Given ∂F/∂ the means and variances of that mixture: ∂F/∂x.
  Matrix Gradient(const std::vector<MomentQueries>& queries, int level, Matrix mean_bar, Matrix variance_bar,
                  MomentPosterior::Workspace& workspace) const;

  // The draws whose structure has `level`, their share of all weights, and the Gaussians that they predict there: one per
  // link, draw by draw.
  struct Members {
    std::vector<size_t> draws;
    double weight = 0;
    std::vector<Eigen::Index> first_component;  // per draw
    Vector component_weights;                   // sum to 1
  };
  Members MembersAt(int level) const;

  // Inputs at levels of their own, sorted by level, as every structure sees those whose level it has.
  struct JointQuery {
    std::vector<int> order, level;                        // of the sorted rows: index among the given ones, level
    std::vector<std::unique_ptr<MomentQueries>> queries;  // per structure
    std::vector<Eigen::Index> first;                      // per structure: the first row that it sees

    JointQuery(const Impl& impl, const Matrix& x, const std::vector<int>& levels);
    std::unique_ptr<const MomentJoint> Of(const Impl& impl, size_t draw) const;
  };

  // What the Gaussians of the members say about each of the sorted points of a query, in the user's units.
  struct JointMixture {
    Vector mean;
    Matrix deviations;  // component × point: the Gaussians' means less the mixture's, times the roots of their weights
    Vector noise;       // variance of an observation's
    Vector share;       // of the weights of draws that know about the point
    Vector widening;    // what deviations at its level are multiplied by

    JointMixture(const Impl& impl, const JointQuery& query, const Members& members);
    // The means under a member; may be called from several threads, once for each. Then, Finish.
    void Add(const Impl& impl, const JointQuery& query, const Members& members, size_t member,
             const MomentJoint& joint);
    void Finish(const Impl& impl, const JointQuery& query, const Members& members);
  };
  // Adds the weighted covariances within the Gaussians, between the sorted points of two queries, which may be one: then only
  // the lower triangle counts. Fills the mixtures.
  absl::Status JointWithin(const JointQuery& rows, JointMixture& row_mixture, const JointQuery& columns,
                           JointMixture& column_mixture, const Members& members, const PredictOptions& options,
                           Matrix& covariance) const;

  // The observations of a level, each predicted without itself.
  ObservedMixtures LeftOut(int level) const;

  Inflation LeftOutInflation() const;
  Inflation InflationBefore3() const;  // as programs computed it that wrote version 2
  void Inflate(const Inflation& by);   // once
  // What variances at `level` are multiplied by: 1 but at the top.
  double InflationAt(int level) const {
    return level + 1 == static_cast<int>(data.levels.size()) ? inflation.factor : 1;
  }
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MF_DGP_IMPL_H_
