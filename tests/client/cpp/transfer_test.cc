#include "client/cpp/client.h"
#include "gtest/gtest.h"
#include "tests/client/support/fake_emulator.h"
#include "tests/support/status.h"

namespace fidelio::client {
namespace {

class TransferTest : public ::testing::Test {
 protected:
  TransferTest() {
    ClientOptions options;
    options.channel.server = server_.address();
    options.retry.first_delay = absl::Milliseconds(1);
    client_ = *Client::Connect(options);
  }

  WriteBytes Into(std::string* file) {
    return [file](absl::string_view bytes) {
      file->append(bytes.data(), bytes.size());
      return absl::OkStatus();
    };
  }
  static ReadBytes From(const std::string& file) {
    return [&file](int64_t offset, size_t) -> absl::StatusOr<std::string> {
      return file.substr(static_cast<size_t>(offset), 3);  // short reads are allowed
    };
  }

  int calls_ = 0;
  FakeServer server_;
  std::unique_ptr<Client> client_;
};

TEST_F(TransferTest, AnExportIsTriedAgainAsLongAsNothingOfItWasWritten) {
  server_.emulator().export_model = [this](grpc::ServerContext&, const v1::ExportModelRequest& request,
                                           grpc::ServerWriter<v1::ExportModelResponse>& writer) {
    EXPECT_EQ(request.name(), "models/wing");
    EXPECT_TRUE(request.all_revisions());
    if (++calls_ < 3) return Unavailable();
    for (const char* chunk : {"abc", "de"}) {
      v1::ExportModelResponse response;
      response.set_chunk(chunk);
      writer.Write(response);
    }
    return grpc::Status::OK;
  };
  std::string file;
  EXPECT_TRUE(client_->ExportModel("wing", /*all_revisions=*/true, Into(&file)).ok());
  EXPECT_EQ(file, "abcde");
}

TEST_F(TransferTest, AnExportThatBreaksInTheMiddleIsAnError) {
  server_.emulator().export_model = [this](grpc::ServerContext&, const v1::ExportModelRequest&,
                                           grpc::ServerWriter<v1::ExportModelResponse>& writer) {
    ++calls_;
    v1::ExportModelResponse response;
    response.set_chunk("abc");
    writer.Write(response);
    return Unavailable();
  };
  std::string file;
  EXPECT_TRUE(
      IsError(client_->ExportModel("wing", false, Into(&file)), absl::StatusCode::kUnavailable, {"shutting down"}));
  EXPECT_EQ(calls_, 1);
  EXPECT_TRUE(IsError(client_->ExportModel("wing", false, [](absl::string_view) { return absl::AbortedError("full"); }),
                      absl::StatusCode::kAborted, {"full"}));
}

TEST_F(TransferTest, AnImportSendsTheWholeFileAgainWithTheSameId) {
  std::vector<std::string> ids, files;
  server_.emulator().import_model = [&](grpc::ServerContext&, grpc::ServerReader<v1::ImportModelRequest>& reader,
                                        v1::Model& model) {
    v1::ImportModelRequest request;
    EXPECT_TRUE(reader.Read(&request));
    EXPECT_EQ(request.header().model_id(), "copy");
    ids.push_back(request.header().request_id());
    files.emplace_back();
    if (ids.size() == 1) return Unavailable();
    while (reader.Read(&request)) files.back() += request.chunk();
    model.set_name("models/copy");
    return grpc::Status::OK;
  };
  const std::string file = "0123456789";
  const auto model = client_->ImportModel("models/copy", From(file));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->name(), "models/copy");
  EXPECT_EQ(files.back(), file);
  ASSERT_EQ(ids.size(), 2u);
  EXPECT_FALSE(ids[0].empty());
  EXPECT_EQ(ids[0], ids[1]);
}

TEST_F(TransferTest, WhatTheServerFindsWrongWithAFileIsTold) {
  server_.emulator().import_model = [](grpc::ServerContext&, grpc::ServerReader<v1::ImportModelRequest>& reader,
                                       v1::Model&) {
    v1::ImportModelRequest request;
    reader.Read(&request);
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "chunk: not an exported model");
  };
  const std::string file(1000, 'x');
  EXPECT_TRUE(IsError(client_->ImportModel("", From(file)).status(), absl::StatusCode::kInvalidArgument,
                      {"not an exported model"}));
  EXPECT_TRUE(
      IsError(client_
                  ->ImportModel(
                      "", [](int64_t, size_t) { return absl::StatusOr<std::string>(absl::AbortedError("unreadable")); })
                  .status(),
              absl::StatusCode::kAborted, {"unreadable"}));
}

}  // namespace
}  // namespace fidelio::client
