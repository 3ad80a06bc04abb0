// What `fidelio fit` and `fidelio fits` say about sampling.
#include "client/cli/json.h"
#include "tests/client/cli/cli_testing.h"

namespace fidelio::cli {
namespace {

constexpr char kPoorChains[] = "R̂ is 1.50: fit again.";

v1::Fit SampledFit(double r_hat) {
  v1::Fit fit;
  fit.set_name("models/wing/fits/3");
  fit.set_state(v1::FIT_STATE_SUCCEEDED);
  fit.set_revision("models/wing/revisions/2");
  fit.mutable_sampling()->set_chains(4);
  fit.mutable_sampling()->set_draws(24);
  fit.mutable_sampling()->set_acceptance(0.75);
  fit.mutable_sampling()->set_r_hat(r_hat);
  fit.mutable_sampling()->set_effective_size(42.4);
  return fit;
}

v1::Fit PoorFit() {
  v1::Fit fit = SampledFit(1.5);
  fit.mutable_sampling()->set_moved_chains(1);
  fit.mutable_sampling()->set_failed_curvature(2);
  fit.add_warnings(kPoorChains);
  return fit;
}

class SamplingCliTest : public CliTest {
 protected:
  void Serve(const v1::Fit& served) {
    server_.emulator().fit = [](grpc::ServerContext&, const v1::FitRequest&, v1::Fit& fit) {
      fit.set_name("models/wing/fits/3");
      return grpc::Status::OK;
    };
    server_.emulator().watch_fit = [served](grpc::ServerContext&, grpc::ServerWriter<v1::WatchFitResponse>& writer) {
      v1::WatchFitResponse event;
      *event.mutable_fit() = served;
      writer.Write(event);
      return grpc::Status::OK;
    };
    server_.emulator().get_fit = [served](grpc::ServerContext&, const v1::GetFitRequest&, v1::Fit& fit) {
      fit = served;
      return grpc::Status::OK;
    };
    server_.emulator().list_fits = [served](grpc::ServerContext&, const v1::ListFitsRequest&,
                                            v1::ListFitsResponse& response) {
      *response.add_fits() = served;
      return grpc::Status::OK;
    };
  }

  static bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
};

TEST_F(SamplingCliTest, AFitThatWasWatchedEndsWithItsWarningsOnStandardError) {
  Serve(PoorFit());
  const Result result = Run({"fit", "wing", "--watch"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Has(result.err, std::string("warning: ") + kPoorChains + "\n")) << result.err;
  EXPECT_FALSE(Has(result.out, "warning")) << result.out;
  Serve(SampledFit(1.01));
  EXPECT_FALSE(Has(Run({"fit", "wing", "--watch"}).err, "warning"));
}

TEST_F(SamplingCliTest, TheDocumentHasTheReportAndStandardErrorStaysEmpty) {
  Serve(PoorFit());
  const Result result = Run({"fit", "wing", "--watch", "--json"});
  EXPECT_EQ(result.err, "");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["warnings"][0], kPoorChains);
  EXPECT_EQ(json["sampling"]["r_hat"], 1.5);
  EXPECT_EQ(json["sampling"]["effective_size"], 42.4);
}

TEST_F(SamplingCliTest, TheListHasRHatAndEffectiveSizeAndMarksWarnings) {
  Serve(PoorFit());
  const std::string poor = Run({"fits", "wing"}).out;
  EXPECT_TRUE(Has(poor, "R-HAT   ESS")) << poor;
  EXPECT_TRUE(Has(poor, "1.500!  42 ")) << poor;
  EXPECT_TRUE(Has(poor, "! has warnings; `fidelio fits wing FIT` shows them")) << poor;
  Serve(SampledFit(1.01));
  const std::string good = Run({"fits", "wing"}).out;
  EXPECT_TRUE(Has(good, "1.010  42 ")) << good;
  EXPECT_FALSE(Has(good, "!")) << good;
}

TEST_F(SamplingCliTest, AFitThatDidNotSampleHasDashes) {
  v1::Fit fit = SampledFit(1);
  fit.clear_sampling();
  Serve(fit);
  EXPECT_TRUE(Has(Run({"fits", "wing"}).out, "–      –    ")) << Run({"fits", "wing"}).out;
  EXPECT_FALSE(Has(Run({"fits", "wing", "3"}).out, "sampling"));
}

TEST_F(SamplingCliTest, AFitIsDescribedWithItsSamplingAndWarnings) {
  Serve(PoorFit());
  const std::string text = Run({"fits", "wing", "3"}).out;
  EXPECT_TRUE(Has(text, "4 chains, 24 draws, acceptance 0.75\n")) << text;
  EXPECT_TRUE(Has(text, "R-hat           1.500\n")) << text;
  EXPECT_TRUE(Has(text, "effective size  42\n")) << text;
  EXPECT_TRUE(Has(text, "1 chain to another mode")) << text;
  EXPECT_TRUE(Has(text, "not measured in 2 directions\n")) << text;
  EXPECT_TRUE(Has(text, std::string("warning         ") + kPoorChains)) << text;
}

}  // namespace
}  // namespace fidelio::cli
