// MomentMixture: draws of the hyperparameters of one or several structures (recipe.h), given data, and the mixture that they predict in
// standardised units: one Gaussian per draw and link.
//
// A structure that leaves out the lower levels says nothing about them: the draws that know a level are its *members*, and share its
// weights. Jointly over several levels, points that a draw does not know follow the others, independently of the levels above.
// Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_DGP_MOMENTS_MOMENT_MIXTURE_H_
#define FIDELIO_CORE_DGP_MOMENTS_MOMENT_MIXTURE_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/bytes.h"
#include "core/dgp/moments/moment_paths.h"
#include "core/dgp/moments/moment_posterior.h"
#include "core/dgp/moments/moment_target.h"
#include "core/emulator/posterior.h"

namespace fidelio {

class MomentMixture {
 public:
  // Builds the posteriors of all draws; draws that can't be factorised are left out, but an error is returned when a level has none
  // left. With `before`, the mixture of these draws given fewer data, their weights change by what the data since tell about them.
  static absl::StatusOr<MomentMixture> Build(std::vector<std::shared_ptr<const MomentModel>> structures,
                                             std::vector<MomentDraw> draws, int threads,
                                             const MomentMixture* before = nullptr);

  const std::vector<std::shared_ptr<const MomentModel>>& structures() const { return structures_; }
  const std::vector<MomentDraw>& draws() const { return draws_; }
  const std::vector<MomentPosterior>& posteriors() const { return posteriors_; }  // one per draw
  const MomentModel& StructureOf(size_t draw) const { return *structures_[draws_[draw].structure]; }
  int OwnLevel(size_t draw, int level) const { return level - StructureOf(draw).recipe.first_level; }

  // The draws whose structure has a level, their share of all weights, and the Gaussians that they predict there: one per link,
  // draw by draw.
  struct Members {
    std::vector<size_t> draws;
    double weight = 0;
    std::vector<Eigen::Index> first_component;  // per draw
    Vector component_weights;                   // sum to 1
  };
  const Members& MembersAt(int level) const { return members_[level]; }
  Vector Noise(int level) const;  // S

  // Scaled inputs as every structure sees them.
  std::vector<MomentQueries> Queries(const Matrix& x, const QueryMoments& given = {}) const;
  Posterior::Gaussians Predict(const std::vector<MomentQueries>& queries, int level,
                               MomentPosterior::Workspace& workspace) const;
  // Given ∂F/∂ the means and variances of that: ∂F/∂x, and ∂F/∂ the moments of a layer 1 that is given.
  MomentPosterior::Adjoints Reverse(const std::vector<MomentQueries>& queries, int level, const Matrix& mean_bar,
                                    const Matrix& variance_bar, MomentPosterior::Workspace& workspace) const;
  Posterior::LeftOut LeaveOneOut(int level) const;
  // The weighted mean over draws, each by itself, of the squared standardised leave-one-out residuals.
  double MeanResidual(int level) const;

  // What is known about a layer 1 that is given at query points.
  struct First {
    QueryMoments moments;
    Matrix covariance;
  };
  // As in Posterior. Where layer 1 is given: `first` describes it at x, whose levels ascend.
  absl::StatusOr<Posterior::JointGaussian> Joint(const Matrix& x, const std::vector<int>& levels,
                                                 const Posterior::JointOptions& options,
                                                 const First* first = nullptr) const;
  absl::StatusOr<Matrix> JointColumns(const Matrix& x, const std::vector<int>& levels, const std::vector<int>& columns,
                                      const Posterior::JointOptions& options) const;
  absl::StatusOr<Matrix> Sample(const Matrix& x, int level, const Posterior::SampleRequest& request,
                                const First* first = nullptr) const;

  // Functions f_level, each from one of the Gaussians. The mixture must outlive them.
  class Functions {
   public:
    // Where layer 1 is given: `first` are functions f_0 at the N data points, N × options.count.
    Functions(const MomentMixture& mixture, const PathOptions& options, const Matrix& first = {});
    // At query points: M × functions. `first`: the same functions f_0 there.
    Matrix Evaluate(const std::vector<MomentQueries>& queries, MomentPosterior::Workspace& workspace,
                    const Matrix& first = {}) const;

   private:
    // Those that come from one draw.
    struct Group {
      size_t draw = 0;
      std::vector<int> path, link;
      std::unique_ptr<MomentPaths> functions = {};
    };
    const MomentMixture& mixture_;
    const int level_, count_;
    std::vector<Group> groups_;
  };

 private:
  // Changes the weights of draws by what more data, with which their posteriors were `built`, tell about them.
  void WeighAnew(const std::vector<absl::StatusOr<MomentPosterior>>& built, std::vector<MomentDraw>& draws) const;
  Members FindMembers(int level) const;

  std::vector<std::shared_ptr<const MomentModel>> structures_;
  std::vector<MomentDraw> draws_;
  std::vector<MomentPosterior> posteriors_;
  std::vector<Members> members_;  // per level
};

// DATA_LOSS: no structure has such a draw.
absl::Status UnknownDraw(const MomentDraw& draw);

// The Gaussian, of those whose weights have these running sums, that a sample follows.
Eigen::Index ChooseGaussian(const Vector& cumulative, Random& random);
Vector RunningSums(Vector weights);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MOMENT_MIXTURE_H_
