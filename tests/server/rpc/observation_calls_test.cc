// AddObservations and ListObservations through a real channel.
#include <limits>

#include "gtest/gtest.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

class ObservationCallsTest : public ::testing::Test {
 protected:
  ObservationCallsTest() { server_.Create("wing"); }

  grpc::Status Add(const v1::AddObservationsRequest& request, v1::AddObservationsResponse* answer) {
    TestContext context;
    return server_.stub().AddObservations(&context, request, answer);
  }

  grpc::Status List(const v1::ListObservationsRequest& request, v1::ListObservationsResponse* page) {
    TestContext context;
    return server_.stub().ListObservations(&context, request, page);
  }

  static v1::AddObservationsRequest TwoPoints() {
    v1::AddObservationsRequest request;
    request.set_model("models/wing");
    v1::ObservationBatch* batch = request.add_observations();
    batch->set_level(0);
    *batch->mutable_inputs() = MakeMatrix(2, 1, {0.25, 0.5});
    *batch->mutable_outputs() = MakeMatrix(2, 1, {1, 2});
    return request;
  }

  TestServer server_;
};

TEST_F(ObservationCallsTest, WhatWasAddedIsListedBitForBitPageByPage) {
  v1::AddObservationsResponse answer;
  ASSERT_TRUE(IsOk(Add(TwoPoints(), &answer)));
  EXPECT_EQ(answer.data_version(), 1);
  EXPECT_EQ(answer.observation_counts(0), 2);
  EXPECT_EQ(answer.observation_counts(1), 0);
  EXPECT_TRUE(answer.revision().empty());
  v1::AddObservationsRequest more = TwoPoints();
  more.mutable_observations(0)->set_level(1);
  *more.mutable_observations(0)->mutable_inputs() = MakeMatrix(2, 1, {0.1, 1.0 / 3});
  *more.mutable_observations(0)->mutable_noise_variances() = MakeMatrix(1, 1, {0.25});
  ASSERT_TRUE(IsOk(Add(more, &answer)));
  EXPECT_EQ(answer.data_version(), 2);

  v1::ListObservationsRequest request;
  request.set_parent("models/wing");
  request.set_page_size(3);
  v1::ListObservationsResponse page;
  ASSERT_TRUE(IsOk(List(request, &page)));
  EXPECT_EQ(page.total_size(), 4);
  EXPECT_EQ(page.data_version(), 2);
  ASSERT_EQ(page.observations_size(), 2);
  EXPECT_EQ(Values(page.observations(0).inputs()), (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(page.observations(0).data_version(), 1);
  EXPECT_EQ(page.observations(1).level(), 1u);
  EXPECT_EQ(Values(page.observations(1).inputs()), (std::vector<double>{0.1}));
  EXPECT_EQ(Values(page.observations(1).noise_variances()), (std::vector<double>{0.25}));

  // What arrives while paging is not shown.
  ASSERT_TRUE(IsOk(Add(TwoPoints(), &answer)));
  request.set_page_token(page.next_page_token());
  ASSERT_TRUE(IsOk(List(request, &page)));
  ASSERT_EQ(page.observations_size(), 1);
  EXPECT_EQ(Values(page.observations(0).inputs()), (std::vector<double>{1.0 / 3}));
  EXPECT_EQ(page.data_version(), 2);
  EXPECT_TRUE(page.next_page_token().empty());

  // A token belongs to its list.
  v1::ListObservationsRequest other;
  other.set_parent("models/wing");
  other.set_level(0);
  other.set_page_token(request.page_token());
  ExpectBadField(List(other, &page), "page_token", "next_page_token");
}

TEST_F(ObservationCallsTest, AnswersInTheEncodingThatIsAskedFor) {
  v1::AddObservationsResponse answer;
  ASSERT_TRUE(IsOk(Add(TwoPoints(), &answer)));
  v1::ListObservationsRequest request;
  request.set_parent("models/wing");
  request.set_encoding(v1::MATRIX_ENCODING_VALUES);
  v1::ListObservationsResponse page;
  ASSERT_TRUE(IsOk(List(request, &page)));
  ASSERT_EQ(page.observations(0).inputs().values().values_size(), 2);
  EXPECT_EQ(page.observations(0).inputs().values().values(1), 0.5);
}

TEST_F(ObservationCallsTest, ARetryAddsNothingASecondTime) {
  v1::AddObservationsRequest request = TwoPoints();
  request.set_request_id("batch-1");
  v1::AddObservationsResponse first, second;
  ASSERT_TRUE(IsOk(Add(request, &first)));
  ASSERT_TRUE(IsOk(Add(request, &second)));
  EXPECT_EQ(first.SerializeAsString(), second.SerializeAsString());
  EXPECT_EQ(second.observation_counts(0), 2);
}

TEST_F(ObservationCallsTest, ConditionIsServedAtOnceAsARevisionOfItsOwn) {
  v1::AddObservationsRequest request = TwoPoints();
  request.set_update(v1::OBSERVATION_UPDATE_CONDITION);
  v1::AddObservationsResponse answer;
  EXPECT_EQ(Add(request, &answer).error_code(), grpc::StatusCode::FAILED_PRECONDITION);  // before any fit
  server_.MakeFitted("tail");
  request.set_model("models/tail");
  ASSERT_TRUE(IsOk(Add(request, &answer)));
  EXPECT_EQ(answer.revision(), "models/tail/revisions/2");
  v1::PredictRequest predict = PredictAt("tail", {0.25, 0.5});
  predict.mutable_options()->set_level(0);
  predict.set_min_data_version(answer.data_version());
  v1::PredictResponse prediction;
  TestContext predict_context, revision_context;
  ASSERT_TRUE(IsOk(server_.stub().Predict(&predict_context, predict, &prediction)));
  EXPECT_EQ(prediction.revision(), answer.revision());
  v1::GetRevisionRequest get;
  get.set_name(answer.revision());
  v1::Revision revision;
  ASSERT_TRUE(IsOk(server_.stub().GetRevision(&revision_context, get, &revision)));
  EXPECT_EQ(revision.origin(), v1::REVISION_ORIGIN_CONDITION);
  EXPECT_EQ(revision.fit(), "models/tail/fits/1");
}

TEST_F(ObservationCallsTest, ABadBatchLeavesNothingBehind) {
  v1::AddObservationsResponse answer;
  v1::AddObservationsRequest request = TwoPoints();
  *request.add_observations() = request.observations(0);
  const auto add = [&](const std::function<void(v1::ObservationBatch&)>& change) {
    v1::AddObservationsRequest changed = request;
    change(*changed.mutable_observations(1));
    return Add(changed, &answer);
  };
  ExpectBadField(add([](auto& b) {
                   *b.mutable_inputs() = MakeMatrix(1, 2, {1, 2});
                 }),
                 "observations[1].inputs", "2 columns, but model \"wing\" has input dimension 1");
  ExpectBadField(add([](auto& b) {
                   *b.mutable_outputs() = MakeMatrix(2, 1, {1, std::numeric_limits<double>::quiet_NaN()});
                 }),
                 "observations[1].outputs", "[1, 0] is nan");
  ExpectBadField(add([](auto& b) {
                   *b.mutable_inputs() = MakeMatrix(2, 1, {std::numeric_limits<double>::infinity(), 1});
                 }),
                 "observations[1].inputs", "inf");
  ExpectBadField(add([](auto& b) { b.set_level(2); }), "observations[1].level", "2");
  ExpectBadField(add([](auto& b) { b.set_level(4'000'000'000); }), "observations[1].level", "4000000000");
  ExpectBadField(add([](auto& b) { b.clear_level(); }), "observations[1].level", "");
  ExpectBadField(add([](auto& b) { *b.mutable_outputs() = MakeMatrix(1, 1, {1}); }), "observations[1].outputs", "1");
  ExpectBadField(add([](auto& b) { *b.mutable_noise_variances() = MakeMatrix(1, 1, {-1}); }),
                 "observations[1].noise_variances[0,0]", "-1");
  ExpectBadField(add([](auto& b) { b.clear_inputs(); }), "observations[1].inputs", "at least 1 row");
  v1::AddObservationsRequest empty;
  empty.set_model("models/wing");
  ExpectBadField(Add(empty, &answer), "observations", "");
  request.set_update(static_cast<v1::ObservationUpdate>(9));
  ExpectBadField(Add(request, &answer), "update", "9");

  v1::ListObservationsRequest list;
  list.set_parent("models/wing");
  v1::ListObservationsResponse page;
  ASSERT_TRUE(IsOk(List(list, &page)));
  EXPECT_EQ(page.total_size(), 0);
}

}  // namespace
}  // namespace fidelio
