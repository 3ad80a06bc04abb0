#include "core/gp/gp_posterior.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <memory>

#include "gtest/gtest.h"
#include "tests/support/naive_conditioning.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

// exp(−½‖z−z'‖²) with mean 1 and noise 0.1, without hyperparameters.
class UnitModel : public GpModel {
 public:
  UnitModel(Matrix z, Vector y) : z_(std::move(z)), y_(std::move(y)) {}

  static Matrix Kernel(const Matrix& a, const Matrix& b) {
    Matrix k(a.rows(), b.rows());
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      for (Eigen::Index j = 0; j < b.rows(); ++j) k(i, j) = std::exp(-0.5 * (a.row(i) - b.row(j)).squaredNorm());
    }
    return k;
  }

  const ParameterLayout& parameters() const override { return parameters_; }
  const Vector& outputs() const override { return y_; }
  std::unique_ptr<GpEvaluation> NewEvaluation() const override {
    struct Evaluation : GpEvaluation {
      const Matrix* z;
      void Forward(const Vector&, MatrixRef k, Vector& mean, Vector& noise) override {
        k = Kernel(*z, *z);
        mean = Vector::Ones(z->rows());
        noise = Vector::Constant(z->rows(), 0.1);
      }
      void Reverse(const Matrix&, const Vector&, Eigen::Ref<Vector>) override {}
    };
    auto evaluation = std::make_unique<Evaluation>();
    evaluation->z = &z_;
    return evaluation;
  }
  std::unique_ptr<const GpPrior> At(const Vector&) const override {
    struct Prior : GpPrior {
      Matrix data;
      Vector Mean(const Matrix& z) const override { return Vector::Ones(z.rows()); }
      Vector Variance(const Matrix& z) const override { return Vector::Ones(z.rows()); }
      Matrix WithData(const Matrix& z) const override { return Kernel(data, z); }
      Matrix Among(const Matrix& z) const override { return Kernel(z, z); }
      Matrix InputGradient(const Matrix& z, const Vector&, const Vector&, const Matrix&) const override {
        return Matrix::Zero(z.rows(), z.cols());
      }
      std::unique_ptr<const GpPriorPath> Draw(Random&) const override { return nullptr; }  // never asked for
    };
    auto prior = std::make_unique<Prior>();
    prior->data = z_;
    return prior;
  }

 private:
  Matrix z_;
  Vector y_;
  ParameterLayout parameters_;
};

NaiveConditioned Naive(const Matrix& data, const Vector& y, const Matrix& z) {
  Matrix all(data.rows() + z.rows(), z.cols());
  all << data, z;
  return NaiveCondition(UnitModel::Kernel(all, all), Vector::Ones(all.rows()), y, Vector::Constant(y.size(), 0.1));
}

class GpPosteriorTest : public ::testing::Test {
 protected:
  const Matrix data_ = RandomNormal(7, 2, 1), z_ = RandomNormal(4, 2, 2);
  const Vector y_ = RandomNormal(7, 1, 3);
  const GpPosterior posterior_ = *GpPosterior::Build(UnitModel(data_, y_), Vector());
};

TEST_F(GpPosteriorTest, MomentsEqualThoseOfTheNaiveGaussian) {
  const NaiveConditioned naive = Naive(data_, y_, z_);
  const GpPosterior::Moments m = posterior_.Predict(z_);
  EXPECT_TRUE(Near(m.mean, naive.mean, 1e-12));
  EXPECT_TRUE(Near(m.variance, naive.covariance.diagonal(), 1e-12));
  EXPECT_TRUE(Near(posterior_.Covariance(z_), naive.covariance, 1e-12));
}

TEST_F(GpPosteriorTest, WithoutObservationsItIsThePrior) {
  const auto prior = GpPosterior::Build(UnitModel(Matrix(0, 2), Vector(0)), Vector());
  ASSERT_TRUE(prior.ok());
  EXPECT_EQ(prior->Predict(z_).mean, Vector::Ones(4));
  EXPECT_EQ(prior->Covariance(z_), UnitModel::Kernel(z_, z_));
}

TEST_F(GpPosteriorTest, LeaveOneOutEqualsPredictingWithoutTheObservation) {
  const int begin = 2, end = 6;
  const GpPosterior::LeftOutMoments left_out = posterior_.LeaveOneOut(begin, end);
  for (int i = begin; i < end; ++i) {
    std::vector<int> others;
    for (int j = 0; j < end; ++j) {
      if (j != i) others.push_back(j);
    }
    const NaiveConditioned naive = Naive(data_(others, Eigen::all), y_(others), data_.row(i));
    EXPECT_NEAR(left_out.mean[i - begin], naive.mean[0], 1e-12);
    EXPECT_NEAR(left_out.variance[i - begin], naive.covariance(0, 0) + 0.1, 1e-12);
  }
}

// Copies are left out together: each is predicted as if the whole group had never been seen.
TEST_F(GpPosteriorTest, LeavesOutCopiesTogether) {
  Matrix data = data_;
  data.row(4) = data.row(5) = data.row(2);  // among the last five, the copies are 0, 2 and 3
  const auto posterior = GpPosterior::Build(UnitModel(data, y_), Vector());
  ASSERT_TRUE(posterior.ok());
  const auto left_out = posterior->LeaveOneOut(2, 7, {{0, 2, 3}});
  const std::vector<int> others = {0, 1, 3, 6}, group = {2, 4, 5};
  const NaiveConditioned naive = Naive(data(others, Eigen::all), y_(others), data(group, Eigen::all));
  const Matrix covariance = naive.covariance + 0.1 * Matrix::Identity(3, 3);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(left_out.mean[group[k] - 2], naive.mean[k], 1e-12);
    EXPECT_NEAR(left_out.variance[group[k] - 2], covariance(k, k), 1e-12);
    const Vector error = y_(group) - naive.mean;
    const double density =
        -0.5 * (error.dot(covariance.inverse() * error) + std::log(covariance.determinant()) + 3 * std::log(2 * M_PI));
    EXPECT_NEAR(left_out.log_density[group[k] - 2], density, 1e-11);
  }
  const Eigen::Index alone = 6 - 2;
  const auto one_by_one = posterior->LeaveOneOut(2, 7);
  EXPECT_EQ(left_out.mean[alone], one_by_one.mean[alone]);
  EXPECT_NE(left_out.mean[0], one_by_one.mean[0]);
}

TEST_F(GpPosteriorTest, AGroupOfAllObservationsIsPredictedByThePrior) {
  const auto posterior = GpPosterior::Build(UnitModel(data_.row(0).replicate(3, 1), y_.head(3)), Vector());
  ASSERT_TRUE(posterior.ok());
  const auto left_out = posterior->LeaveOneOut(0, 3, {{0, 1, 2}});
  EXPECT_TRUE(Near(left_out.mean, Vector::Ones(3), 1e-12));
  EXPECT_TRUE(Near(left_out.variance, Vector::Constant(3, 1.1), 1e-12));
}

TEST_F(GpPosteriorTest, PredictsElsewhereWithoutSomeObservations) {
  const std::vector<std::vector<int>> groups = {{0}, {3}, {2, 6}};
  const std::vector<int> without = {0, 1, 2, 1};
  const GpPosterior::Moments m = posterior_.PredictWithout(z_, groups, without);
  for (int row = 0; row < 4; ++row) {
    const std::vector<int>& left_out = groups[without[row]];
    std::vector<int> others;
    for (int j = 0; j < 7; ++j) {
      if (std::find(left_out.begin(), left_out.end(), j) == left_out.end()) others.push_back(j);
    }
    const NaiveConditioned naive = Naive(data_(others, Eigen::all), y_(others), z_.row(row));
    EXPECT_NEAR(m.mean[row], naive.mean[0], 1e-12);
    EXPECT_NEAR(m.variance[row], naive.covariance(0, 0), 1e-12);
  }
}

}  // namespace
}  // namespace fidelio
