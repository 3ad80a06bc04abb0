#include "server/rpc/errors.h"

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "server/rpc/names.h"
#include "server/status/details.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

using google::rpc::BadRequest;
using google::rpc::ErrorInfo;
using google::rpc::PreconditionFailure;
using google::rpc::QuotaFailure;
using google::rpc::ResourceInfo;
using google::rpc::RetryInfo;

// What a client unpacks from the trailer of a call.
google::rpc::Status Trailer(const grpc::Status& status) {
  google::rpc::Status trailer;
  EXPECT_TRUE(trailer.ParseFromString(status.error_details()));
  EXPECT_EQ(trailer.code(), status.error_code());
  EXPECT_EQ(trailer.message(), status.error_message());
  return trailer;
}

// The only detail of an error, of this type.
template <typename Detail>
Detail OnlyDetail(const absl::Status& status) {
  const google::rpc::Status trailer = Trailer(ToGrpcStatus(status));
  Detail detail;
  EXPECT_EQ(trailer.details_size(), 1) << trailer.DebugString();
  EXPECT_TRUE(trailer.details_size() > 0 && trailer.details(0).UnpackTo(&detail)) << trailer.DebugString();
  return detail;
}

grpc::StatusCode CodeOf(const absl::Status& status) { return ToGrpcStatus(status).error_code(); }

TEST(RpcErrorsTest, OkIsOk) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  EXPECT_EQ(ToRpcStatus(absl::OkStatus()).SerializeAsString(), "");
}

TEST(RpcErrorsTest, EveryCodeKeepsItsNumberAndMessage) {
  for (int code = 1; code <= 16; ++code) {
    const grpc::Status status = ToGrpcStatus(absl::Status(static_cast<absl::StatusCode>(code), "why"));
    EXPECT_EQ(status.error_code(), code);
    EXPECT_EQ(status.error_message(), "why");
    Trailer(status);
  }
}

TEST(RpcErrorsTest, BadInputNamesTheFieldsPathTheValueAndTheRule) {
  const absl::Status status =
      absl::InvalidArgumentError("observations[1].inputs: 7 columns, but model \"wing\" has input dimension 8");
  EXPECT_EQ(CodeOf(status), grpc::StatusCode::INVALID_ARGUMENT);
  const auto detail = OnlyDetail<BadRequest>(status);
  ASSERT_EQ(detail.field_violations_size(), 1);
  EXPECT_EQ(detail.field_violations(0).field(), "observations[1].inputs");
  EXPECT_EQ(detail.field_violations(0).description(), "7 columns, but model \"wing\" has input dimension 8");
}

TEST(RpcErrorsTest, BadInputWithoutAPathHasAnEmptyField) {
  for (const char* message : {"this is wrong: that", ": colon", "no colon", "a:b"}) {
    const auto detail = OnlyDetail<BadRequest>(absl::InvalidArgumentError(message));
    EXPECT_EQ(detail.field_violations(0).field(), "") << message;
    EXPECT_EQ(detail.field_violations(0).description(), message);
  }
}

TEST(RpcErrorsTest, BadNamesAreBadInput) {
  const auto detail = OnlyDetail<BadRequest>(ParseModelName("Wing: x", "model.name").status());
  EXPECT_EQ(detail.field_violations(0).field(), "model.name");
}

TEST(RpcErrorsTest, UnknownResourcesAreNamed) {
  const absl::Status status = ResourceNotFoundError("fit", "models/wing/fits/3");
  EXPECT_EQ(CodeOf(status), grpc::StatusCode::NOT_FOUND);
  const auto detail = OnlyDetail<ResourceInfo>(status);
  EXPECT_EQ(detail.resource_type(), "fit");
  EXPECT_EQ(detail.resource_name(), "models/wing/fits/3");
  EXPECT_EQ(detail.description(), "no such fit");
}

TEST(RpcErrorsTest, ResourcesAreFoundInTheMessageWhenNoDetailNamesThem) {
  const auto fit = OnlyDetail<ResourceInfo>(absl::NotFoundError("models/wing/fits/3: gone"));
  EXPECT_EQ(fit.resource_type(), "fit");
  EXPECT_EQ(fit.resource_name(), "models/wing/fits/3");
  EXPECT_EQ(OnlyDetail<ResourceInfo>(absl::NotFoundError("models/wing: gone")).resource_type(), "model");
  EXPECT_EQ(OnlyDetail<ResourceInfo>(absl::DataLossError("models/wing/revisions/1: bad")).resource_type(), "revision");
  EXPECT_EQ(ToRpcStatus(absl::NotFoundError("nothing here")).details_size(), 0);
}

TEST(RpcErrorsTest, TakenNamesAndDamagedModelsAreNamed) {
  EXPECT_EQ(CodeOf(ResourceExistsError("model", "models/wing")), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(OnlyDetail<ResourceInfo>(ResourceExistsError("model", "models/wing")).resource_name(), "models/wing");
  const absl::Status damaged = DamagedResourceError("model", "models/wing", "revision 2 fails its SHA-256");
  EXPECT_EQ(CodeOf(damaged), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(OnlyDetail<ResourceInfo>(damaged).description(), "revision 2 fails its SHA-256");
}

TEST(RpcErrorsTest, FailedPreconditionsSayWhatToDoNext) {
  const absl::Status status =
      PreconditionError("NO_REVISION", "models/wing", "has no revision yet", "start a fit and wait for it");
  EXPECT_EQ(CodeOf(status), grpc::StatusCode::FAILED_PRECONDITION);
  const auto detail = OnlyDetail<PreconditionFailure>(status);
  ASSERT_EQ(detail.violations_size(), 1);
  EXPECT_EQ(detail.violations(0).type(), "NO_REVISION");
  EXPECT_EQ(detail.violations(0).subject(), "models/wing");
  EXPECT_EQ(detail.violations(0).description(), "start a fit and wait for it");
}

TEST(RpcErrorsTest, PreconditionsOfCoreHaveADetailToo) {
  const auto detail = OnlyDetail<PreconditionFailure>(absl::FailedPreconditionError("levels[0].x: no observations"));
  EXPECT_EQ(detail.violations(0).subject(), "levels[0].x");
  EXPECT_EQ(detail.violations(0).description(), "no observations");
}

TEST(RpcErrorsTest, AbortedSaysWhy) {
  const absl::Status status = EtagMismatchError("models/wing", "a", "b");
  EXPECT_EQ(CodeOf(status), grpc::StatusCode::ABORTED);
  const auto detail = OnlyDetail<ErrorInfo>(status);
  EXPECT_EQ(detail.reason(), "ETAG_MISMATCH");
  EXPECT_EQ(detail.domain(), kErrorDomain);
  EXPECT_EQ(detail.metadata().at("current_etag"), "b");
  EXPECT_EQ(OnlyDetail<ErrorInfo>(absl::AbortedError("x")).reason(), "CONCURRENT_CHANGE");
}

TEST(RpcErrorsTest, ExhaustionThatPassesSaysWhenToTryAgain) {
  const absl::Status status = ExhaustedError("the queue has 8 fits, and 8 are allowed", absl::Milliseconds(2500));
  EXPECT_EQ(CodeOf(status), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const auto detail = OnlyDetail<RetryInfo>(status);
  EXPECT_EQ(detail.retry_delay().seconds(), 2);
  EXPECT_EQ(detail.retry_delay().nanos(), 500'000'000);
  EXPECT_EQ(OnlyDetail<RetryInfo>(absl::ResourceExhaustedError("disk full")).retry_delay().seconds(), 1);
}

TEST(RpcErrorsTest, QuotasSayWhoseAndHowMuchAndNotToTryAgain) {
  const auto detail = OnlyDetail<QuotaFailure>(QuotaExceededError("token:alice", "10 models, and 10 are allowed"));
  ASSERT_EQ(detail.violations_size(), 1);
  EXPECT_EQ(detail.violations(0).subject(), "token:alice");
  EXPECT_EQ(detail.violations(0).description(), "10 models, and 10 are allowed");
}

TEST(RpcErrorsTest, DrainingSaysWhenToTryAgain) {
  EXPECT_EQ(CodeOf(DrainingError(absl::Seconds(3))), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(OnlyDetail<RetryInfo>(DrainingError(absl::Seconds(3))).retry_delay().seconds(), 3);
  EXPECT_EQ(OnlyDetail<RetryInfo>(absl::UnavailableError("x")).retry_delay().seconds(), 1);
}

TEST(RpcErrorsTest, RefusalsOfAccessGiveNoHintOfWhatExists) {
  for (const auto code : {absl::StatusCode::kUnauthenticated, absl::StatusCode::kPermissionDenied}) {
    const absl::Status status = WithDetail(absl::Status(code, "not allowed"), ResourceDetail{"model", "models/wing"});
    EXPECT_EQ(Trailer(ToGrpcStatus(status)).details_size(), 0);
  }
}

TEST(RpcErrorsTest, TrailersStayBelowWhatClientsAcceptAndAreValidUtf8) {
  for (const char* piece : {"\xff", "ü", "x"}) {
    std::string junk;
    while (junk.size() < 1 << 16) junk += piece;
    absl::Status status = absl::InvalidArgumentError(std::string(2000, 'f') + ": " + junk);
    status = WithDetail(status, ReasonDetail{junk, {{junk, junk}, {"a", junk}, {"b", junk}}});
    const grpc::Status answer = ToGrpcStatus(status);
    EXPECT_LE(answer.error_message().size(), kMaxMessageBytes);
    // On the wire bytes of the message may become %XX, and details become base64.
    EXPECT_LT(3 * answer.error_message().size() + 4 * answer.error_details().size() / 3, 8000u);
    EXPECT_EQ(Trailer(answer).details_size(), 2);
  }
}

}  // namespace
}  // namespace fidelio
