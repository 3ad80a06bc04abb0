// Observations: their rules and lists.
#include <limits>
#include <string>
#include <vector>

#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

class ObservationsTest : public ::testing::Test {
 protected:
  ObservationsTest() : server_(directory_.path()) {
    EXPECT_TRUE(server_->CreateModel(Request(), "wing", SpecOf(2, 2)).ok());
  }

  absl::Status Add(std::vector<ObservationBatch> batches, ObservationUpdate update = ObservationUpdate::kNone) {
    return server_->AddObservations(Request(), "wing", "", batches, update).status();
  }

  TempDirectory directory_;
  Server server_;
};

TEST_F(ObservationsTest, AreCountedByLevelAndVersionedByBatch) {
  const auto first = server_->AddObservations(Request(), "wing", "", Batches({3, 2}, 2));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->data_version, 1);
  EXPECT_EQ(first->observation_counts, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(first->revision, 0);
  const auto second = server_->AddObservations(Request(), "wing", "", Batches({1}, 2));
  EXPECT_EQ(second->data_version, 2);
  EXPECT_EQ(second->observation_counts, (std::vector<int64_t>{4, 2}));
  EXPECT_NE(second->etag, first->etag);
}

TEST_F(ObservationsTest, BadOnesAreRefusedAltogether) {
  const auto bad = absl::StatusCode::kInvalidArgument;
  const auto with = [](const std::function<void(ObservationBatch&)>& change) {
    std::vector<ObservationBatch> batches = Batches({3, 2}, 2);
    change(batches[1]);
    return batches;
  };
  EXPECT_TRUE(IsError(Add({}), bad, {"observations: none"}));
  EXPECT_TRUE(IsError(Add(with([](auto& b) { b.inputs = Matrix::Zero(2, 7); })), bad,
                      {"observations[1].inputs: 7 columns, but model \"wing\" has input dimension 2"}));
  EXPECT_TRUE(IsError(Add(with([](auto& b) { b.level.reset(); })), bad, {"observations[1].level: absent", "0 to 1"}));
  EXPECT_TRUE(IsError(Add(with([](auto& b) { b.level = 2; })), bad, {"observations[1].level: 2", "0 to 1"}));
  EXPECT_TRUE(IsError(Add(with([](auto& b) { b.inputs.resize(0, 2); })), bad, {"observations[1].inputs: no rows"}));
  EXPECT_TRUE(IsError(Add(with([](auto& b) { b.outputs = Vector::Zero(3); })), bad,
                      {"observations[1].outputs: 3 values", "2 rows"}));
  EXPECT_TRUE(IsError(Add(with([](auto& b) { b.inputs(1, 0) = std::numeric_limits<double>::quiet_NaN(); })), bad,
                      {"observations[1].inputs[1,0]: nan"}));
  EXPECT_TRUE(IsError(Add(with([](auto& b) { b.outputs[0] = std::numeric_limits<double>::infinity(); })), bad,
                      {"observations[1].outputs[0,0]: inf"}));
  EXPECT_TRUE(IsError(Add(with([](auto& b) { b.noise_variances = Vector::Zero(3); })), bad,
                      {"observations[1].noise_variances: 3 values, want 2"}));
  EXPECT_TRUE(IsError(Add(with([](auto& b) {
                        b.noise_variances = Vector{{0.1, -1}};
                      })),
                      bad, {"observations[1].noise_variances[1,0]: -1"}));
  EXPECT_EQ(server_->GetModel("wing")->data_version, 0);
}

TEST_F(ObservationsTest, OfALevelHaveKnownNoiseOrNoneHas) {
  std::vector<ObservationBatch> known = Batches({3}, 2);
  known[0].noise_variances = Vector{{0.25}};  // one for all
  ASSERT_TRUE(Add(known).ok());
  EXPECT_TRUE(IsError(Add(Batches({1}, 2)), absl::StatusCode::kInvalidArgument,
                      {"observations[0].noise_variances: absent", "level 0", "with variances"}));
  ASSERT_TRUE(Add({Batches({1, 1}, 2)[1]}).ok());  // another level is free
  server_.Close();
  Server again(directory_.path());
  EXPECT_TRUE(IsError(again->AddObservations(Request(), "wing", "", Batches({1}, 2)).status(),
                      absl::StatusCode::kInvalidArgument, {"noise_variances: absent"}));
  const auto list = again->ListObservations("wing", {.level = 0});
  EXPECT_EQ(list->observations[0].noise_variances, Vector::Constant(3, 0.25));
}

TEST_F(ObservationsTest, AModelOfOneFidelityNeedsNoLevel) {
  ASSERT_TRUE(server_->CreateModel(Request(), "one", SpecOf(1, 1)).ok());
  std::vector<ObservationBatch> batches = Batches({2}, 1);
  batches[0].level.reset();
  EXPECT_TRUE(server_->AddObservations(Request(), "one", "", batches).ok());
}

// All pages of a list, each of at most `size` points.
std::vector<ObservationList> Pages(ModelService& service, int64_t size, std::optional<int> level = {}) {
  std::vector<ObservationList> pages;
  ObservationListQuery query{.level = level, .max_points = size};
  while (true) {
    const auto page = service.ListObservations("wing", query);
    if (!page.ok()) {
      ADD_FAILURE() << page.status();
      return pages;
    }
    pages.push_back(*page);
    if (!page->next) return pages;
    query.from = *page->next;
    query.data_version = page->data_version;
  }
}

class PagesTest : public ObservationsTest, public ::testing::WithParamInterface<int> {};

TEST_P(PagesTest, ShowEverythingInItsOrder) {
  ASSERT_TRUE(Add(Batches({3, 2}, 2, 1)).ok());
  ASSERT_TRUE(Add(Batches({1, 4}, 2, 2)).ok());
  for (const std::optional<int> level : {std::optional<int>(), std::optional<int>(0), std::optional<int>(1)}) {
    std::vector<double> seen, wanted;
    std::vector<int64_t> versions;
    for (const ObservationList& page : Pages(server_.service(), GetParam(), level)) {
      EXPECT_EQ(page.total_size, level ? (*level == 0 ? 4 : 6) : 10);
      EXPECT_EQ(page.data_version, 2);
      int64_t points = 0;
      for (const ObservationBatch& batch : page.observations) {
        points += batch.outputs.size();
        seen.insert(seen.end(), batch.outputs.begin(), batch.outputs.end());
        for (const double x : batch.inputs.col(1)) seen.push_back(x);
        versions.push_back(batch.data_version);
      }
      EXPECT_LE(points, GetParam());
      EXPECT_TRUE(points == GetParam() || !page.next);
    }
    EXPECT_TRUE(std::is_sorted(versions.begin(), versions.end()));
    for (const uint64_t seed : {1, 2}) {
      for (const ObservationBatch& batch : Batches(seed == 1 ? std::vector{3, 2} : std::vector{1, 4}, 2, seed)) {
        if (level && batch.level != level) continue;
        wanted.insert(wanted.end(), batch.outputs.begin(), batch.outputs.end());
        for (const double x : batch.inputs.col(1)) wanted.push_back(x);
      }
    }
    std::sort(seen.begin(), seen.end());
    std::sort(wanted.begin(), wanted.end());
    EXPECT_EQ(seen, wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PagesTest, ::testing::Values(1, 2, 3, 5, 100));

TEST_F(ObservationsTest, ThatArriveWhilePagingAreNotShown) {
  ASSERT_TRUE(Add(Batches({3, 2}, 2)).ok());
  const auto first = server_->ListObservations("wing", {.max_points = 2});
  ASSERT_TRUE(Add(Batches({1, 4}, 2)).ok());
  const auto second =
      server_->ListObservations("wing", {.max_points = 100, .from = *first->next, .data_version = first->data_version});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->total_size, 5);
  int64_t points = 0;
  for (const ObservationBatch& batch : second->observations) points += batch.outputs.size();
  EXPECT_EQ(points, 3);
  EXPECT_FALSE(second->next.has_value());
}

TEST_F(ObservationsTest, ListsOfNoneAndOfNonsense) {
  const auto none = server_->ListObservations("wing", {});
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_TRUE(none->observations.empty());
  EXPECT_FALSE(none->next.has_value());
  const auto bad = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(IsError(server_->ListObservations("wing", {.level = 2}).status(), bad, {"level: 2", "0 to 1"}));
  EXPECT_TRUE(IsError(server_->ListObservations("wing", {.max_points = 0}).status(), bad, {"page_size: 0"}));
  EXPECT_TRUE(IsError(server_->ListObservations("wing", {.data_version = 7}).status(), bad, {"page_token"}));
  EXPECT_EQ(server_->ListObservations("moth", {}).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace fidelio
