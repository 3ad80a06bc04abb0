// Checkpoints of version 2, whose structures of the highest level alone have that level's own units
// (tests/golden/units_v2): 14 outputs of level 0 and 12 of level 1, which are about 30 times as large. The program of that
// version fitted them and computed the predictions.
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/dgp/moments/mf_dgp.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

std::string GoldenBytes(const std::string& name) {
  const std::string path = std::string(FIDELIO_GOLDEN_DIRECTORY) + "/units_v2/" + name;
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::unique_ptr<MixtureEmulator> LoadGolden(const std::string& stem) {
  auto model = LoadMfDgp(GoldenBytes(stem + ".checkpoint"));
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

struct GoldenRow {
  int level;
  double x, mean, variance, observation_variance;
};

std::vector<GoldenRow> GoldenRows(const std::string& stem) {
  std::istringstream in(GoldenBytes(stem + ".csv"));
  std::string line;
  std::getline(in, line);  // the names of the columns
  std::vector<GoldenRow> rows;
  char comma;
  for (GoldenRow row; in >> row.level >> comma >> row.x >> comma >> row.mean >> comma >> row.variance >> comma >>
                      row.observation_variance;) {
    rows.push_back(row);
  }
  return rows;
}

// Gaussians that predict a level.
int ComponentsAt(const MixtureEmulator& model, int level) {
  return static_cast<int>(model.PredictMixture(Matrix{{0.3}}, {.level = level})->weight.size());
}

class MfDgpUnitsGoldenTest : public ::testing::TestWithParam<const char*> {};

TEST_P(MfDgpUnitsGoldenTest, ACheckpointWithUnlikeUnitsPredictsTheSame) {
  const auto model = LoadGolden(GetParam());
  ASSERT_NE(model, nullptr);
  const std::vector<GoldenRow> rows = GoldenRows(GetParam());
  ASSERT_EQ(rows.size(), 10u);
  for (const GoldenRow& row : rows) {
    const auto f = model->Predict(Matrix{{row.x}}, {.level = row.level});
    const auto y = model->Predict(Matrix{{row.x}}, {.level = row.level, .include_noise = true});
    ASSERT_TRUE(f.ok() && y.ok());
    EXPECT_NEAR(f->mean[0], row.mean, 1e-8 * (std::abs(row.mean) + std::sqrt(row.variance)))
        << row.level << " " << row.x;
    EXPECT_NEAR(f->variance[0], row.variance, 1e-8 * row.variance) << row.level << " " << row.x;
    EXPECT_NEAR(y->variance[0], row.observation_variance, 1e-8 * row.observation_variance) << row.level << " " << row.x;
  }
}

TEST_P(MfDgpUnitsGoldenTest, ALoadedModelHasOneScalingAndIsSavedWithIt) {
  const auto model = LoadGolden(GetParam());
  ASSERT_NE(model, nullptr);
  EXPECT_GT(ComponentsAt(*model, 1), ComponentsAt(*model, 0));  // some structures have the highest level alone
  const auto again = LoadMfDgp(model->Save());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)->Save(), model->Save());
  const Matrix x{{0.05}, {0.3}, {0.8}};
  for (const int level : {0, 1}) {
    const PredictOptions options{.level = level, .include_noise = true};
    EXPECT_EQ((*again)->Predict(x, options)->mean, model->Predict(x, options)->mean);
    EXPECT_EQ((*again)->Predict(x, options)->variance, model->Predict(x, options)->variance);
  }
}

INSTANTIATE_TEST_SUITE_P(Noise, MfDgpUnitsGoldenTest, ::testing::Values("given_noise", "learned_noise"),
                         [](const auto& test) { return std::string(test.param); });

// Likelihoods in unlike units can't be compared: the program that wrote the file also multiplied the weights of structures
// with all levels by about 1/30 at every new observation.
TEST(MfDgpUnitsGoldenWeightsTest, WeightsOfALoadedModelChangeByTheDensityOfNewData) {
  const auto model = LoadGolden("given_noise");
  ASSERT_NE(model, nullptr);
  const Matrix x{{0.37}};
  const PredictOptions options{.include_noise = true};
  const Mixture before = *model->PredictMixture(x, options);
  const double whole = before.weight.head(ComponentsAt(*model, 0)).sum();
  ASSERT_GT(whole, 0.1);
  ASSERT_LT(whole, 0.9);
  ASSERT_EQ(model->LeaveOneOutPredictions()->back().inflation, 1);
  const double y = MixtureMean(before)[0];
  const Eigen::ArrayXd variance = before.variance.col(0).array();
  const Vector density = (-0.5 * (y - before.mean.col(0).array()).square() / variance).exp() / variance.sqrt();
  Dataset more = model->data();
  LevelData& top = more.levels[1];
  const Eigen::Index n = top.y.size();
  top.x.conservativeResize(n + 1, 1);
  top.y.conservativeResize(n + 1);
  top.x(n, 0) = x(0, 0);
  top.y[n] = y;
  top.noise_variance = Vector::Constant(n + 1, top.noise_variance[0]);
  const auto after = model->Condition(more, 1);
  ASSERT_TRUE(after.ok()) << after.status();
  const auto mixture = dynamic_cast<const MixtureEmulator&>(**after).PredictMixture(x, options);
  ASSERT_TRUE(mixture.ok()) << mixture.status();
  EXPECT_TRUE(Near(mixture->weight, before.weight.cwiseProduct(density) / before.weight.dot(density), 1e-6));
}

}  // namespace
}  // namespace fidelio
