// Quotas of observations: those of the caller and those of the model's owner.
#include <map>
#include <string>

#include "server/model/codec.h"
#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

class QuotasTest : public ::testing::Test {
 protected:
  QuotasTest() { Open(); }

  void Open() {
    server_.reset();
    ModelServiceOptions options;
    options.quotas_of = [this](const std::string& token) { return quotas_[token]; };
    server_ = std::make_unique<Server>(directory_.path(), options);
  }

  MutationContext As(const std::string& token) {
    MutationContext context = Request("", "", token);
    context.caller.quotas = quotas_[token];
    return context;
  }

  void Create(const std::string& token, const std::string& model) {
    ASSERT_TRUE((*server_)->CreateModel(As(token), model, SpecOf(1, 1)).ok());
  }

  absl::Status Add(const std::string& token, const std::string& model, int count) {
    return (*server_)->AddObservations(As(token), model, "", Batches({count}, 1)).status();
  }

  TempDirectory directory_;
  std::map<std::string, CallerQuotas> quotas_;
  std::unique_ptr<Server> server_;
};

TEST_F(QuotasTest, ACallersLimitHoldsInModelsOfOthers) {
  quotas_["alice"] = {.max_observations = 5};
  Create("bob", "bobs");
  EXPECT_TRUE(IsError(Add("alice", "bobs", 20), absl::StatusCode::kResourceExhausted,
                      {"token:alice", "0 observations and 20 more", "5 are allowed"}));
  EXPECT_EQ((*server_)->GetModel("bobs")->data_version, 0);
}

TEST_F(QuotasTest, AnOwnersLimitHoldsForAllWhoAdd) {
  quotas_["bob"] = {.max_observations = 10};
  Create("bob", "bobs");
  Create("bob", "more");
  EXPECT_TRUE(Add("bob", "bobs", 4).ok());
  EXPECT_TRUE(Add("bob", "more", 3).ok());
  EXPECT_TRUE(IsError(Add("alice", "bobs", 4), absl::StatusCode::kResourceExhausted,
                      {"token:bob", "7 observations and 4 more", "10 are allowed"}));
  EXPECT_TRUE(Add("alice", "bobs", 3).ok());
  // A limit that is raised holds at once.
  quotas_["bob"] = {.max_observations = 20};
  EXPECT_TRUE(Add("alice", "bobs", 4).ok());
}

TEST_F(QuotasTest, ContributionsCountForWhoMadeThemAndOutliveARestart) {
  quotas_["alice"] = {.max_observations = 5};
  Create("bob", "bobs");
  StoredSpec stored = *Decode<StoredSpec>(server_->store().GetModel("bobs")->spec);
  stored.contributions = {{"alice", 4}};
  ASSERT_TRUE(server_->store()
                  .Write([&](StoreTransaction& t) { return t.UpdateModel("bobs", 0, Encode(stored)).status(); })
                  .ok());
  Open();
  Create("alice", "hers");
  EXPECT_TRUE(IsError(Add("alice", "hers", 2), absl::StatusCode::kResourceExhausted,
                      {"token:alice", "4 observations and 2 more", "5 are allowed"}));
  EXPECT_TRUE(Add("alice", "hers", 1).ok());
  ASSERT_TRUE((*server_)->DeleteModel(As("bob"), "bobs", "").ok());
  EXPECT_TRUE(Add("alice", "hers", 4).ok());
}

}  // namespace
}  // namespace fidelio
