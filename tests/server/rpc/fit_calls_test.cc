// Fit, GetFit, ListFits, CancelFit and WatchFit through a real channel.
#include "gtest/gtest.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

class FitCallsTest : public ::testing::Test {
 protected:
  FitCallsTest() : server_([this](Server::Options& options) { options.hooks = gate_.Hooks(); }) {
    server_.Create("wing");
    server_.Observe("wing");
  }
  ~FitCallsTest() override { gate_.Open(); }

  v1::Fit StartFit() {
    v1::Fit fit;
    TestContext context;
    EXPECT_TRUE(IsOk(server_.stub().Fit(&context, ShortFit("wing"), &fit)));
    return fit;
  }

  v1::Fit Cancel(const std::string& name) {
    v1::CancelFitRequest request;
    request.set_name(name);
    v1::Fit fit;
    TestContext context;
    EXPECT_TRUE(IsOk(server_.stub().CancelFit(&context, request, &fit)));
    return fit;
  }

  FitGate gate_;
  TestServer server_;
};

TEST_F(FitCallsTest, AFitRunsToARevisionAndTellsWhatItDid) {
  const v1::Fit fit = server_.FitAndWait("wing", 7);
  EXPECT_EQ(fit.name(), "models/wing/fits/1");
  EXPECT_EQ(fit.revision(), "models/wing/revisions/1");
  EXPECT_EQ(fit.data_version(), 1);
  EXPECT_EQ(fit.options().seed(), 7u);
  EXPECT_EQ(fit.options().inference(), v1::INFERENCE_AUTO);
  EXPECT_EQ(fit.options().kernel_family(), v1::KERNEL_FAMILY_RBF);
  EXPECT_EQ(fit.options().budget().iterations(), 300);
  EXPECT_EQ(fit.inference(), v1::INFERENCE_MOMENTS);
  EXPECT_FALSE(fit.inference_reason().empty());
  EXPECT_GT(fit.progress().iteration(), 0);
  EXPECT_TRUE(fit.progress().has_elbo());
  EXPECT_TRUE(fit.has_start_time());
  EXPECT_TRUE(fit.has_end_time());
  EXPECT_FALSE(fit.has_error());
  v1::GetFitRequest request;
  request.set_name(fit.name());
  v1::Fit read;
  TestContext context;
  ASSERT_TRUE(IsOk(server_.stub().GetFit(&context, request, &read)));
  // Watchers are told often, and without the history.
  EXPECT_EQ(fit.history_size(), 0);
  ASSERT_GT(read.history_size(), 1);
  EXPECT_EQ(read.history(0).phase(), "optimise");
  EXPECT_EQ(read.history(0).iteration(), 1);
  int64_t iteration = 0;
  for (const auto& point : read.history()) {
    EXPECT_GT(point.iteration(), iteration);
    iteration = point.iteration();
  }
  EXPECT_EQ(iteration, read.progress().iteration());
  read.clear_history();
  EXPECT_EQ(read.SerializeAsString(), fit.SerializeAsString());
}

TEST_F(FitCallsTest, WatchersSeeTheStateOfNowAndTheEndAtOnceAfterIt) {
  gate_.Close();
  const v1::Fit fit = StartFit();
  gate_.AwaitHeld();
  v1::WatchFitRequest request;
  request.set_name(fit.name());
  // Many watchers at once: none of them holds a thread.
#ifdef __SANITIZE_THREAD__
  constexpr int kWatchers =
      20;  // they take the processor, twenty times as slow, from the fit, which has a lower priority
#else
  constexpr int kWatchers = 300;
#endif
  std::vector<std::unique_ptr<TestContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::WatchFitResponse>>> readers;
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < kWatchers; ++i) {
    if (i % 100 == 0) channels.push_back(server_.NewChannel());
    contexts.push_back(std::make_unique<TestContext>());
    readers.push_back(v1::Emulator::NewStub(channels.back())->WatchFit(contexts.back().get(), request));
  }
  v1::WatchFitResponse event;
  for (const auto& reader : readers) {
    ASSERT_TRUE(reader->Read(&event));
    EXPECT_EQ(event.fit().state(), v1::FIT_STATE_RUNNING);
  }
  gate_.Open();
  for (const auto& reader : readers) {
    while (reader->Read(&event)) {
    }
    EXPECT_TRUE(IsOk(reader->Finish()));
    EXPECT_EQ(event.fit().state(), v1::FIT_STATE_SUCCEEDED);
  }
  TestContext late_context;
  const auto late = server_.stub().WatchFit(&late_context, request);
  ASSERT_TRUE(late->Read(&event));
  EXPECT_EQ(event.fit().state(), v1::FIT_STATE_SUCCEEDED);
  EXPECT_FALSE(late->Read(&event));
  EXPECT_TRUE(IsOk(late->Finish()));
}

TEST_F(FitCallsTest, AWatcherThatGoesAwayIsForgottenWhileTheFitGoesOn) {
  gate_.Close();
  const v1::Fit fit = StartFit();
  v1::WatchFitRequest request;
  request.set_name(fit.name());
  {
    TestContext context;
    const auto reader = server_.stub().WatchFit(&context, request);
    v1::WatchFitResponse event;
    ASSERT_TRUE(reader->Read(&event));
    context.TryCancel();
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  gate_.AwaitHeld();
  gate_.Open();
  TestContext context;
  const auto reader = server_.stub().WatchFit(&context, request);
  v1::WatchFitResponse event;
  while (reader->Read(&event)) {
  }
  EXPECT_TRUE(IsOk(reader->Finish()));
  EXPECT_EQ(event.fit().state(), v1::FIT_STATE_SUCCEEDED);
}

TEST_F(FitCallsTest, ACancelledFitEndsAndTheNextOneRuns) {
  gate_.Close();
  const v1::Fit running = StartFit();
  gate_.AwaitHeld();
  const v1::Fit queued = StartFit();
  EXPECT_EQ(queued.state(), v1::FIT_STATE_PENDING);
  EXPECT_EQ(Cancel(queued.name()).state(), v1::FIT_STATE_CANCELLED);
  Cancel(running.name());
  gate_.Open();
  v1::WatchFitRequest request;
  request.set_name(running.name());
  TestContext context;
  const auto reader = server_.stub().WatchFit(&context, request);
  v1::WatchFitResponse event;
  while (reader->Read(&event)) {
  }
  EXPECT_TRUE(IsOk(reader->Finish()));
  EXPECT_EQ(event.fit().state(), v1::FIT_STATE_CANCELLED);
  EXPECT_EQ(server_.FitAndWait("wing").name(), "models/wing/fits/3");
}

TEST_F(FitCallsTest, ListsTheNewestFitFirst) {
  gate_.Close();
  for (int i = 0; i < 3; ++i) StartFit();
  v1::ListFitsRequest request;
  request.set_parent("models/wing");
  request.set_page_size(2);
  v1::ListFitsResponse page;
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server_.stub().ListFits(&context, request, &page)));
  }
  ASSERT_EQ(page.fits_size(), 2);
  EXPECT_EQ(page.fits(0).name(), "models/wing/fits/3");
  request.set_page_token(page.next_page_token());
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server_.stub().ListFits(&context, request, &page)));
  }
  ASSERT_EQ(page.fits_size(), 1);
  EXPECT_EQ(page.fits(0).name(), "models/wing/fits/1");
  EXPECT_TRUE(page.next_page_token().empty());
  for (const char* fit : {"models/wing/fits/3", "models/wing/fits/2", "models/wing/fits/1"}) Cancel(fit);
}

TEST_F(FitCallsTest, ValidateOnlyAnswersTheFitThatWouldBeAndStartsNothing) {
  v1::FitRequest request = ShortFit("wing");
  request.set_validate_only(true);
  v1::Fit fit;
  TestContext context;
  ASSERT_TRUE(IsOk(server_.stub().Fit(&context, request, &fit)));
  EXPECT_TRUE(fit.name().empty());
  EXPECT_EQ(fit.options().inference(), v1::INFERENCE_AUTO);
  EXPECT_EQ(server_.FitAndWait("wing").name(), "models/wing/fits/1");
}

TEST_F(FitCallsTest, OptionsOfMethodsComeBackInTheirFields) {
  v1::FitRequest request = ShortFit("wing");
  request.set_validate_only(true);
  request.mutable_options()->set_inference(v1::INFERENCE_SVI);
  request.mutable_options()->set_batch_size(12);
  (*request.mutable_options()->mutable_method_options())["steps"] = 34;
  v1::Fit fit;
  TestContext context;
  ASSERT_TRUE(IsOk(server_.stub().Fit(&context, request, &fit)));
  EXPECT_EQ(fit.options().batch_size(), 12);
  EXPECT_EQ(fit.options().steps(), 34);
  EXPECT_FALSE(fit.options().has_inducing_points());
  EXPECT_TRUE(fit.options().method_options().empty());
}

TEST_F(FitCallsTest, BadOptionsAreNamedWithWhatThereIs) {
  v1::Fit fit;
  const auto start = [&](const std::function<void(v1::FitOptions&)>& change) {
    v1::FitRequest request = ShortFit("wing");
    change(*request.mutable_options());
    TestContext context;
    return server_.stub().Fit(&context, request, &fit);
  };
  ExpectBadField(start([](auto& o) { o.set_inference(v1::INFERENCE_POINT_ESTIMATE); }), "options.inference", "MOMENTS");
  ExpectBadField(start([](auto& o) { o.set_kernel_family(static_cast<v1::KernelFamily>(12)); }),
                 "options.kernel_family", "KERNEL_FAMILY_MATERN_3_2");
  ExpectBadField(start([](auto& o) { o.mutable_budget()->set_seconds(0); }), "options.budget.seconds", "0");
  ExpectBadField(start([](auto& o) { o.mutable_budget()->set_iterations(-3); }), "options.budget.iterations", "-3");
  ExpectBadField(start([](auto& o) { o.set_inference(static_cast<v1::Inference>(77)); }), "options.inference",
                 "unknown (77)");
  const auto svi = [](v1::FitOptions& o) { o.set_inference(v1::INFERENCE_SVI); };
  ExpectBadField(start([&](auto& o) {
                   svi(o);
                   o.set_steps(3);
                   (*o.mutable_method_options())["steps"] = 4;
                 }),
                 "options.steps", "twice");
  ExpectBadField(start([&](auto& o) {
                   svi(o);
                   (*o.mutable_method_options())["steps"] = 1.5;
                 }),
                 "options.steps", "1.5, want a whole number from 1 to 100000000");
  v1::WatchFitRequest watch;
  watch.set_name("models/wing/fits/one");
  TestContext context;
  const auto reader = server_.stub().WatchFit(&context, watch);
  v1::WatchFitResponse event;
  EXPECT_FALSE(reader->Read(&event));
  ExpectBadField(reader->Finish(), "name", "fits/one");
}

}  // namespace
}  // namespace fidelio
