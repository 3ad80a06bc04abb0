#include "core/dgp/moments/mf_dgp_posterior.h"

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"

namespace fidelio {
namespace {

class MomentBlock final : public Posterior::Block {
 public:
  MomentBlock(const MomentMixture& mixture, const Matrix& x, int level)
      : mixture_(mixture), level_(level), queries_(mixture.Queries(x)) {}

  Posterior::Gaussians Predict() override { return mixture_.Predict(queries_, level_, workspace_); }
  Matrix Gradient(const Matrix& mean_bar, const Matrix& variance_bar) override {
    return mixture_.Reverse(queries_, level_, mean_bar, variance_bar, workspace_).x;
  }
  Matrix Evaluate(const MomentMixture::Functions& functions) { return functions.Evaluate(queries_, workspace_); }

 private:
  const MomentMixture& mixture_;
  const int level_;
  const std::vector<MomentQueries> queries_;
  MomentPosterior::Workspace workspace_;
};

class MomentFunctions final : public Posterior::Functions {
 public:
  MomentFunctions(const MomentMixture& mixture, const PathOptions& options)
      : mixture_(mixture), level_(options.level), functions_(mixture, options) {}

  Matrix Evaluate(const Matrix& x, Vector* mean) const override {
    MomentBlock at(mixture_, x, level_);
    if (mean != nullptr) *mean = at.Predict().mean.transpose() * mixture_.MembersAt(level_).component_weights;
    return at.Evaluate(functions_);
  }

 private:
  const MomentMixture& mixture_;
  const int level_;
  const MomentMixture::Functions functions_;
};

}  // namespace

int64_t FactorElements(const std::vector<int64_t>& counts) {
  int64_t elements = 0, above = 0;
  for (auto n = counts.rbegin(); n != counts.rend(); ++n) {
    above += *n;
    elements += *n * above;
  }
  return elements;
}

absl::StatusOr<std::unique_ptr<const Posterior>> MfDgpPosterior::Build(
    std::vector<std::shared_ptr<const MomentModel>> structures, std::vector<MomentDraw> draws, int threads) {
  FIDELIO_ASSIGN_OR_RETURN(MomentMixture mixture,
                           MomentMixture::Build(std::move(structures), std::move(draws), threads));
  return std::make_unique<const MfDgpPosterior>(std::move(mixture));
}

std::unique_ptr<Posterior::Block> MfDgpPosterior::At(Matrix x, int level) const {
  return std::make_unique<MomentBlock>(mixture_, x, level);
}

std::unique_ptr<const Posterior::Functions> MfDgpPosterior::Draw(const PathOptions& options) const {
  return std::make_unique<MomentFunctions>(mixture_, options);
}

absl::StatusOr<std::unique_ptr<const Posterior>> MfDgpPosterior::Condition(const FittedState& before,
                                                                           const Dataset& data, int threads) const {
  std::vector<std::shared_ptr<const MomentModel>> structures;
  for (const auto& structure : mixture_.structures()) {
    const int first_level = structure->recipe.first_level;
    if (data.levels[first_level].y.size() == 0) {
      return absl::FailedPreconditionError(
          absl::StrFormat("level %d: no observations, but the model was fitted to some; fit again", first_level));
    }
    structures.push_back(
        std::make_shared<const MomentModel>(ScaleData(data, first_level, before.scaling), structure->recipe));
  }
  FIDELIO_ASSIGN_OR_RETURN(MomentMixture mixture,
                           MomentMixture::Build(std::move(structures), mixture_.draws(), threads, &mixture_));
  return std::make_unique<const MfDgpPosterior>(std::move(mixture));
}

int64_t MfDgpPosterior::MemoryBytes(const Dataset& data) const {
  int64_t points = 0;
  std::vector<int64_t> counts;
  for (const LevelData& level : data.levels) {
    counts.push_back(level.y.size());
    points += level.y.size();
  }
  constexpr int64_t kMostLinks = 3, kOther = 16 << 10;
  const auto draws = static_cast<int64_t>(mixture_.draws().size());
  const int64_t inputs = points * (data.dimension() + 4);
  return 8 * (draws * (kMostLinks * FactorElements(counts) + 2 * inputs) + inputs) + kOther;
}

}  // namespace fidelio
