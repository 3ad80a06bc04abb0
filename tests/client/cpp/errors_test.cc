#include "client/cpp/errors.h"

#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "tests/client/support/fake_emulator.h"

namespace fidelio::client {
namespace {

google::rpc::RetryInfo RetryIn(int seconds) {
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(seconds);
  return retry;
}

TEST(ErrorsTest, OkIsOk) { EXPECT_TRUE(ToStatus(grpc::Status::OK).ok()); }

TEST(ErrorsTest, AMessageThatTellsEverythingStaysAsItIs) {
  google::rpc::BadRequest detail;
  auto* violation = detail.add_field_violations();
  violation->set_field("observations[1].inputs");
  violation->set_description("7 columns, but model \"wing\" has input dimension 8");
  const std::string message = "observations[1].inputs: 7 columns, but model \"wing\" has input dimension 8";
  const absl::Status status = ToStatus(ErrorWith(grpc::StatusCode::INVALID_ARGUMENT, message, detail));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), message);
}

TEST(ErrorsTest, EveryFieldViolationIsTold) {
  google::rpc::BadRequest detail;
  for (const char* field : {"model_id", "model.kind"}) {
    auto* violation = detail.add_field_violations();
    violation->set_field(field);
    violation->set_description(std::string("rule of ") + field);
  }
  EXPECT_EQ(ToStatus(ErrorWith(grpc::StatusCode::INVALID_ARGUMENT, "2 problems", detail)).message(),
            "2 problems\n  model_id: rule of model_id\n  model.kind: rule of model.kind");
}

TEST(ErrorsTest, WhatToDoNextAndWhenAreTold) {
  google::rpc::PreconditionFailure precondition;
  auto* violation = precondition.add_violations();
  violation->set_type("NO_REVISION");
  violation->set_description("start a fit and wait for it");
  EXPECT_EQ(ToStatus(ErrorWith(grpc::StatusCode::FAILED_PRECONDITION, "models/wing: has no revision yet", precondition,
                               RetryIn(2)))
                .message(),
            "models/wing: has no revision yet\n  to do: start a fit and wait for it\n  try again in 2s");
}

TEST(ErrorsTest, QuotaResourceAndReasonAreTold) {
  google::rpc::QuotaFailure quota;
  auto* violation = quota.add_violations();
  violation->set_subject("token:alice");
  violation->set_description("10 models, and 10 are allowed");
  google::rpc::ResourceInfo resource;
  resource.set_resource_type("fit");
  resource.set_resource_name("models/wing/fits/3");
  google::rpc::ErrorInfo info;
  info.set_reason("ETAG_MISMATCH");
  (*info.mutable_metadata())["given"] = "a";
  (*info.mutable_metadata())["current"] = "b";
  EXPECT_EQ(ToStatus(ErrorWith(grpc::StatusCode::ABORTED, "no", quota, resource, info)).message(),
            "no\n  quota: token:alice: 10 models, and 10 are allowed\n  fit: models/wing/fits/3\n"
            "  reason: ETAG_MISMATCH, current = b, given = a");
}

TEST(ErrorsTest, DetailsAreKeptForPrograms) {
  const absl::Status status = ToStatus(ErrorWith(grpc::StatusCode::UNAVAILABLE, "shutting down", RetryIn(3)));
  EXPECT_EQ(RetryDelayOf(status), absl::Seconds(3));
  EXPECT_EQ(RetryDelayOf(WithMessage(status, "other words")), absl::Seconds(3));
  EXPECT_EQ(DetailsOf(status).message(), "shutting down");
  EXPECT_EQ(RetryDelayOf(absl::UnavailableError("of the client")), std::nullopt);
  EXPECT_EQ(DetailsOf(absl::NotFoundError("of the client")).code(), 5);
}

TEST(ErrorsTest, DetailsThatAreNotOursAreIgnored) {
  EXPECT_EQ(ToStatus(grpc::Status(grpc::StatusCode::NOT_FOUND, "gone", "\xff\xff not a message")).message(), "gone");
  google::rpc::Status other;
  other.set_code(3);
  other.set_message("about something else");
  EXPECT_EQ(ToStatus(grpc::Status(grpc::StatusCode::NOT_FOUND, "gone", other.SerializeAsString())).message(), "gone");
}

TEST(ErrorsTest, UnknownCodesOfAFitsErrorAreUnknown) {
  google::rpc::Status error;
  error.set_code(99);
  error.set_message("from the future");
  EXPECT_EQ(ToStatus(error).code(), absl::StatusCode::kUnknown);
}

}  // namespace
}  // namespace fidelio::client
