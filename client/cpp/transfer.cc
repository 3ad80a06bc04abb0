// Client::ExportModel and ImportModel.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/cpp/client.h"
#include "client/cpp/names.h"
#include "client/cpp/request_id.h"

namespace fidelio::client {
namespace {

constexpr size_t kImportChunk = size_t{1} << 20;

// One attempt. `written` tells whether `write` was called.
absl::Status ExportOnce(const Caller& caller, const v1::ExportModelRequest& request, absl::Time deadline,
                        const WriteBytes& write, bool* written) {
  grpc::ClientContext context;
  caller.Prepare(&context, deadline);
  const auto stream = caller.stub().ExportModel(&context, request);
  v1::ExportModelResponse response;
  while (stream->Read(&response)) {
    *written = true;
    if (absl::Status status = write(response.chunk()); !status.ok()) {
      context.TryCancel();
      stream->Finish();
      return status;
    }
  }
  return ToStatus(stream->Finish());
}

absl::StatusOr<v1::Model> ImportOnce(const Caller& caller, const v1::ImportModelHeader& header, absl::Time deadline,
                                     const ReadBytes& read) {
  grpc::ClientContext context;
  caller.Prepare(&context, deadline);
  v1::Model model;
  const auto stream = caller.stub().ImportModel(&context, &model);
  v1::ImportModelRequest message;
  *message.mutable_header() = header;
  bool sent = stream->Write(message);
  for (int64_t offset = 0; sent;) {
    absl::StatusOr<std::string> bytes = read(offset, kImportChunk);
    if (!bytes.ok()) {
      context.TryCancel();
      stream->Finish();
      return bytes.status();
    }
    if (bytes->empty()) break;
    offset += static_cast<int64_t>(bytes->size());
    message.set_chunk(*std::move(bytes));
    sent = stream->Write(message);
  }
  stream->WritesDone();
  // A stream that takes no more has ended: its status says why.
  if (absl::Status status = ToStatus(stream->Finish()); !status.ok()) return status;
  return model;
}

}  // namespace

absl::Status Client::ExportModel(absl::string_view model, bool all_revisions, const WriteBytes& write,
                                 const CallOptions& call) {
  v1::ExportModelRequest request;
  request.set_name(ModelName(model));
  request.set_all_revisions(all_revisions);
  const absl::Time deadline = caller_.Deadline(call);
  Backoff backoff(caller_.options().retry, [this](absl::Duration delay) { caller_.Pause(delay); });
  while (true) {
    bool written = false;
    const absl::Status status = ExportOnce(caller_, request, deadline, write, &written);
    if (!absl::IsUnavailable(status) || written) return caller_.Explain(status);
    if (!backoff.Wait(status, deadline)) return caller_.Explain(GaveUp(status, backoff));
  }
}

absl::StatusOr<v1::Model> Client::ImportModel(absl::string_view id, const ReadBytes& read, const CallOptions& call) {
  v1::ImportModelHeader header;
  header.set_model_id(std::string(absl::StripPrefix(id, "models/")));
  header.set_request_id(RequestId(call));
  const absl::Time deadline = caller_.Deadline(call);
  v1::Model model;
  const absl::Status status = Retry(
      caller_.options().retry, [this](absl::Duration delay) { caller_.Pause(delay); }, deadline,
      [&]() -> absl::Status {
        auto imported = ImportOnce(caller_, header, deadline, read);
        if (!imported.ok()) return imported.status();
        model = *std::move(imported);
        return absl::OkStatus();
      });
  if (!status.ok()) return caller_.Explain(status);
  return model;
}

}  // namespace fidelio::client
