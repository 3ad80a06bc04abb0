#include <memory>
#include <utility>

#include "core/dgp/moments/first_layer.h"
#include "core/dgp/moments/moment_model.h"

namespace fidelio {
namespace {

class GivenEvaluation final : public FirstEvaluation {
 public:
  GivenEvaluation(const Vector& mean, const Matrix& covariance) : mean_(mean), covariance_(covariance) {}

  void Forward(const ConstVectorRef&, Matrix& k, Vector& mean) override {
    k = covariance_;
    mean = mean_;
  }
  void Reverse(const Matrix&, const Vector&, Eigen::Ref<Vector>) override {}

 private:
  const Vector& mean_;
  const Matrix& covariance_;
};

class GivenPath final : public FirstPath {
 public:
  Vector Evaluate(const Matrix&, const Matrix&, const ConstVectorRef& given) const override { return given; }
};

class GivenPrior final : public FirstPrior {
 public:
  void Inputs(const Matrix&, Matrix& inputs) const override { inputs.resize(0, 0); }
  void At(const MomentQueries& queries, Matrix&, QueryMoments& moments) const override { moments = queries.given; }
  void Reverse(const MomentQueries&, const QueryMoments& bar, Matrix&, QueryMoments& given_bar) const override {
    if (given_bar.mean.size() == 0) {
      given_bar = bar;
      return;
    }
    given_bar.cross += bar.cross;
    given_bar.mean += bar.mean;
    given_bar.variance += bar.variance;
  }
  void Between(const QueryRange& a, const QueryRange& b, Matrix& k) const override {
    k = a.of.given_covariance.block(a.begin, b.begin, a.size, b.size);
  }
  std::unique_ptr<const FirstPath> Draw(Random&) const override { return std::make_unique<const GivenPath>(); }
};

}  // namespace

GivenLayer::GivenLayer(Vector mean, Matrix covariance) : mean_(std::move(mean)), covariance_(std::move(covariance)) {}

std::unique_ptr<FirstEvaluation> GivenLayer::NewEvaluation(const MomentModel&) const {
  return std::make_unique<GivenEvaluation>(mean_, covariance_);
}

std::unique_ptr<const FirstPrior> GivenLayer::At(const MomentModel&, const Vector&) const {
  return std::make_unique<const GivenPrior>();
}

}  // namespace fidelio
