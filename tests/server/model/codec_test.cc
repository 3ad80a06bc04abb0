#include "server/model/codec.h"

#include <map>
#include <string>

#include "core/base/bytes.h"
#include "gtest/gtest.h"
#include "server/model/codec_fields.h"
#include "server/status/details.h"
#include "server/status/errors.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

FitInfo ExampleFit() {
  FitInfo fit;
  fit.model = "wing";
  fit.id = 3;
  fit.state = FitState::kFailed;
  fit.options = {.inference = Inference::kMoments,
                 .kernel_family = KernelFamily::kMatern52,
                 .warm_start = true,
                 .budget_seconds = 1.5,
                 .budget_iterations = 70,
                 .seed = ~uint64_t{0},
                 .method_options = {{"batch_size", 500}, {"steps", 9000}}};
  fit.progress = {.phase = "sample",
                  .iteration = 12,
                  .evaluations = 34,
                  .fraction = 0.5,
                  .elbo = -1.25,
                  .elapsed = absl::Milliseconds(1500),
                  .eta = absl::Seconds(2)};
  fit.data_version = 9;
  fit.error = PreconditionError("NO_DATA", "models/wing", "has none", "add some");
  fit.inference = Inference::kMoments;
  fit.inference_reason = "asked for";
  fit.created = absl::FromUnixMicros(1'000'001);
  fit.started = absl::FromUnixMicros(2'000'002);
  fit.resume_count = 2;
  fit.queue_position = 4;
  return fit;
}

TEST(CodecTest, FitsComeBackWithEveryField) {
  const FitInfo fit = ExampleFit();
  const auto back = Decode<FitInfo>(Encode(fit));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->model, "wing");
  EXPECT_EQ(back->state, FitState::kFailed);
  EXPECT_EQ(back->options.kernel_family, KernelFamily::kMatern52);
  EXPECT_EQ(back->options.budget_seconds, 1.5);
  EXPECT_EQ(back->options.seed, ~uint64_t{0});
  EXPECT_EQ(back->progress.eta, absl::Seconds(2));
  EXPECT_EQ(back->started, fit.started);
  EXPECT_EQ(back->finished, std::nullopt);
  EXPECT_EQ(back->error, fit.error);
  EXPECT_EQ(DetailsOf(back->error).precondition->type, "NO_DATA");
  EXPECT_EQ(Encode(*back), Encode(fit));
}

TEST(CodecTest, ProgressComesBackWithItsHistory) {
  const StoredProgress stored{.progress = ExampleFit().progress,
                              .inference = Inference::kMoments,
                              .resume_count = 1,
                              .history = {{"optimise", 1, -8.5, absl::Milliseconds(3)}, {"sample", 9, 2.25, {}}}};
  const auto back = Decode<StoredProgress>(Encode(stored));
  ASSERT_TRUE(back.ok()) << back.status();
  ASSERT_EQ(back->history.size(), 2u);
  EXPECT_EQ(back->history[0].phase, "optimise");
  EXPECT_EQ(back->history[0].elapsed, absl::Milliseconds(3));
  EXPECT_EQ(back->history[1].iteration, 9);
  EXPECT_EQ(back->history[1].elbo, 2.25);
  EXPECT_EQ(Encode(*back), Encode(stored));
}

TEST(CodecTest, WhatARollbackNotedComesBack) {
  StoredProgress stored;
  stored.not_served = true;
  EXPECT_TRUE(Decode<StoredProgress>(Encode(stored))->not_served);
  FitInfo fit = ExampleFit();
  fit.not_served = true;
  EXPECT_TRUE(Decode<FitInfo>(Encode(fit))->not_served);
}

FitReport ExampleReport() {
  return {.evaluations = 1,
          .seconds = 2.5,
          .log_posterior = -3.5,
          .acceptance = 0.75,
          .max_jitter = 1e-9,
          .draws = 6,
          .chains = 7,
          .r_hat = 1.25,
          .effective_size = 8.5,
          .moved_chains = 9,
          .failed_curvature = 10};
}

void ExpectExample(const FitReport& report) {
  EXPECT_EQ(report.evaluations, 1);
  EXPECT_EQ(report.seconds, 2.5);
  EXPECT_EQ(report.log_posterior, -3.5);
  EXPECT_EQ(report.acceptance, 0.75);
  EXPECT_EQ(report.max_jitter, 1e-9);
  EXPECT_EQ(report.draws, 6);
  EXPECT_EQ(report.chains, 7);
  EXPECT_EQ(report.r_hat, 1.25);
  EXPECT_EQ(report.effective_size, 8.5);
  EXPECT_EQ(report.moved_chains, 9);
  EXPECT_EQ(report.failed_curvature, 10);
}

TEST(CodecTest, ReportsOfFitsComeBackWithEveryField) {
  StoredProgress stored;
  EXPECT_FALSE(Decode<StoredProgress>(Encode(stored))->report.has_value());
  stored.report = ExampleReport();
  ExpectExample(Decode<StoredProgress>(Encode(stored))->report.value());
  FitInfo fit = ExampleFit();
  fit.report = ExampleReport();
  ExpectExample(Decode<FitInfo>(Encode(fit))->report.value());
  RevisionInfo revision;
  EXPECT_FALSE(Decode<RevisionInfo>(Encode(revision))->report.has_value());
  revision.report = ExampleReport();
  ExpectExample(Decode<RevisionInfo>(Encode(revision))->report.value());
}

TEST(CodecTest, NegativeCountsOfAReportAreDamage) {
  RevisionInfo revision;
  revision.report = ExampleReport();
  revision.report->chains = -1;
  EXPECT_TRUE(IsError(Decode<RevisionInfo>(Encode(revision)).status(), absl::StatusCode::kDataLoss, {"revision"}));
}

// As version 3 wrote it.
TEST(CodecTest, RevisionsOfEarlierVersionsHaveNoReport) {
  ByteWriter out;
  codec::PutEnum(RevisionOrigin::kFit, out);
  for (int i = 1; i <= 2; ++i) out.I64(i);  // fit, data version
  out.U64(0);                               // counts
  codec::PutEnum(ModelKind::kGp, out);
  codec::PutEnum(Inference::kAuto, out);
  for (int i = 0; i < 4; ++i) out.Bool(false);  // options of the fit
  out.U64(7);
  for (int i = 0; i < 3; ++i) out.Bool(false);
  codec::PutEnum(Inference::kMoments, out);
  out.String("why");
  out.F64(-1.5);
  out.I64(70);
  codec::Put(absl::Seconds(3), out);
  out.String("0.9");
  const auto revision = Decode<RevisionInfo>(out.Seal(codec::kRevision, 3));
  ASSERT_TRUE(revision.ok()) << revision.status();
  EXPECT_EQ(revision->code_version, "0.9");
  EXPECT_FALSE(revision->report.has_value());
}

// As versions 1 to 3 wrote it.
TEST(CodecTest, ProgressOfEarlierVersionsIsRead) {
  for (const uint32_t version : {1, 2, 3}) {
    ByteWriter out;
    codec::Put(ExampleFit().progress, out);
    out.Bool(false);
    out.String("why");
    out.I64(3);
    out.I64(1);
    if (version >= 2) out.U64(0);
    if (version >= 3) out.Bool(true);
    const auto progress = Decode<StoredProgress>(out.Seal(codec::kProgress, version));
    ASSERT_TRUE(progress.ok()) << progress.status();
    EXPECT_EQ(progress->resume_count, 3);
    EXPECT_EQ(progress->not_served, version == 3);
    EXPECT_FALSE(progress->report.has_value());
  }
}

TEST(CodecTest, SpecsComeBackWithEveryField) {
  StoredSpec stored;
  stored.spec.description = "a wing";
  stored.spec.input_dimension = 2;
  stored.spec.input_box = InputBox{Vector{{0, 1}}, Vector{{2, 3}}};
  stored.spec.fidelities = {{"low", 0.5}, {"high", 3}};
  stored.spec.kind = ModelKind::kGp;
  stored.owner = "alice";
  stored.noise = {LevelNoise::kGiven, LevelNoise::kNoData};
  stored.contributions = {{"bob", 3}, {"carol", 4}};
  const auto back = Decode<StoredSpec>(Encode(stored));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->spec.input_box->upper, (Vector{{2, 3}}));
  EXPECT_EQ(back->spec.fidelities[1].name, "high");
  EXPECT_EQ(back->spec.kind, ModelKind::kGp);
  EXPECT_EQ(back->owner, "alice");
  EXPECT_EQ(back->noise, stored.noise);
  EXPECT_EQ(back->contributions, stored.contributions);
  EXPECT_EQ(Encode(*back), Encode(stored));
}

// Another program's: it has more of everything.
TEST(CodecTest, ValuesThatThisProgramDoesNotKnowAreKept) {
  StoredSpec spec;
  spec.spec.input_dimension = 1;
  spec.spec.fidelities = {{"low", 1}};
  spec.noise = {LevelNoise::kLearned};
  spec.spec.kind = ModelKind{1000};
  spec.spec.output_transform.kind = OutputTransformKind{70};
  const auto model = Decode<StoredSpec>(Encode(spec));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->spec.kind, ModelKind{1000});
  EXPECT_EQ(Encode(*model), Encode(spec));

  FitInfo fit = ExampleFit();
  fit.state = FitState{60};
  fit.inference = Inference{50};
  fit.options.inference = Inference{-1};
  fit.options.kernel_family = KernelFamily{40};
  fit.options.method_options["magic"] = 0.5;
  const auto job = Decode<FitInfo>(Encode(fit));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->options.inference, Inference{-1});
  EXPECT_EQ(Encode(*job), Encode(fit));
  const StoredProgress progress{.inference = Inference{50}};
  EXPECT_EQ(Encode(*Decode<StoredProgress>(Encode(progress))), Encode(progress));

  RevisionInfo revision;
  revision.origin = RevisionOrigin{30};
  revision.kind = ModelKind{1000};
  revision.inference = Inference{50};
  const auto stored = Decode<RevisionInfo>(Encode(revision));
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(Encode(*stored), Encode(revision));

  ModelInfo answer;
  answer.spec = spec.spec;
  answer.state = ModelState{20};
  EXPECT_EQ(Encode(*Decode<ModelInfo>(Encode(answer))), Encode(answer));
}

// As versions 1 to 4 wrote it.
TEST(CodecTest, OptionsOfMethodsOfEarlierVersionsAreRead) {
  for (const uint32_t version : {1, 2, 3, 4}) {
    ByteWriter out;
    codec::PutEnum(Inference::kSvi, out);
    for (int i = 0; i < 4; ++i) out.Bool(false);  // no kernel family, no warm start, no budget
    out.U64(7);
    if (version >= 2) {
      out.Bool(true);
      out.I64(40);
      out.Bool(false);
      out.Bool(true);
      out.I64(9000);
    }
    out.String("ada");
    const auto fit = Decode<StoredFit>(out.Seal(codec::kFit, version));
    ASSERT_TRUE(fit.ok()) << fit.status();
    EXPECT_EQ(fit->owner, "ada");
    const std::map<std::string, double> want = {{"inducing_points", 40}, {"steps", 9000}};
    EXPECT_EQ(fit->spec.method_options, version == 1 ? (std::map<std::string, double>()) : want);
  }
}

TEST(CodecTest, EveryFlippedBitIsAnError) {
  const std::string bytes = Encode(ExampleFit());
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string bad = bytes;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    EXPECT_FALSE(Decode<FitInfo>(bad).ok()) << at;
  }
}

TEST(CodecTest, BytesOfAnotherKindAreAnError) {
  EXPECT_FALSE(Decode<StoredSpec>(Encode(StoredFit())).ok());
  EXPECT_FALSE(DecodeStatus(Encode(StoredFit())).ok());
}

TEST(CodecTest, SpecsThatCannotBeServedAreDamage) {
  StoredSpec stored;
  stored.spec.input_dimension = 2;
  stored.spec.fidelities = {{"low", 1}};
  stored.noise = {LevelNoise::kNoData};
  ASSERT_TRUE(Decode<StoredSpec>(Encode(stored)).ok());
  StoredSpec shapeless = stored;
  shapeless.spec.input_box = InputBox{Vector{{0}}, Vector{{1}}};
  EXPECT_TRUE(IsError(Decode<StoredSpec>(Encode(shapeless)).status(), absl::StatusCode::kDataLoss, {"description"}));
  stored.noise.clear();
  EXPECT_TRUE(IsError(Decode<StoredSpec>(Encode(stored)).status(), absl::StatusCode::kDataLoss, {"description"}));
}

TEST(CodecTest, NoProgressIsTheBeginning) {
  EXPECT_EQ(Decode<StoredProgress>("")->resume_count, 0);
  EXPECT_TRUE(DecodeStatus("").ok());
}

}  // namespace
}  // namespace fidelio
