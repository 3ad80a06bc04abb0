#include "client/cpp/client.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cpp/names.h"
#include "client/cpp/request_id.h"

namespace fidelio::client {
absl::StatusOr<std::unique_ptr<Client>> Client::Connect(const ClientOptions& options) {
  if (absl::Status status = Validate(options.retry); !status.ok()) return status;
  if (options.timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("timeout: ", absl::FormatDuration(options.timeout), ", must be above 0"));
  }
  auto channel = MakeChannel(options.channel);
  if (!channel.ok()) return channel.status();
  return std::unique_ptr<Client>(new Client(options, *std::move(channel)));
}

absl::StatusOr<v1::Model> Client::CreateModel(absl::string_view id, const v1::Model& model, const CallOptions& call) {
  v1::CreateModelRequest request;
  request.set_model_id(std::string(absl::StripPrefix(id, "models/")));
  *request.mutable_model() = model;
  request.set_request_id(RequestId(call));
  return caller_.Call(&Caller::Stub::CreateModel, request, caller_.Deadline(call));
}

absl::StatusOr<v1::Model> Client::GetModel(absl::string_view model, const CallOptions& call) {
  v1::GetModelRequest request;
  request.set_name(ModelName(model));
  return caller_.Call(&Caller::Stub::GetModel, request, caller_.Deadline(call));
}

absl::StatusOr<std::vector<v1::Model>> Client::ListModels(const CallOptions& call) {
  return caller_.List<v1::Model>(
      &Caller::Stub::ListModels, v1::ListModelsRequest(), [](auto& page) { return page.mutable_models(); },
      caller_.Deadline(call));
}

absl::Status Client::DeleteModel(absl::string_view model, const CallOptions& call) {
  v1::DeleteModelRequest request;
  request.set_name(ModelName(model));
  request.set_etag(call.etag);
  request.set_request_id(RequestId(call));
  return caller_.Call(&Caller::Stub::DeleteModel, request, caller_.Deadline(call)).status();
}

absl::StatusOr<v1::Model> Client::UpdateModel(const v1::Model& model, const std::vector<std::string>& paths,
                                              const CallOptions& call) {
  v1::UpdateModelRequest request;
  *request.mutable_model() = model;
  request.mutable_model()->set_name(ModelName(model.name()));
  request.mutable_model()->set_etag(call.etag);
  for (const std::string& path : paths) request.mutable_update_mask()->add_paths(path);
  request.set_request_id(RequestId(call));
  return caller_.Call(&Caller::Stub::UpdateModel, request, caller_.Deadline(call));
}

absl::StatusOr<v1::Fit> Client::Fit(absl::string_view model, const v1::FitOptions& options, const CallOptions& call) {
  v1::FitRequest request;
  request.set_model(ModelName(model));
  *request.mutable_options() = options;
  request.set_etag(call.etag);
  request.set_request_id(RequestId(call));
  return caller_.Call(&Caller::Stub::Fit, request, caller_.Deadline(call));
}

absl::StatusOr<v1::Fit> Client::ValidateFit(absl::string_view model, const v1::FitOptions& options,
                                            const CallOptions& call) {
  v1::FitRequest request;
  request.set_model(ModelName(model));
  *request.mutable_options() = options;
  request.set_validate_only(true);
  request.set_etag(call.etag);
  return caller_.Call(&Caller::Stub::Fit, request, caller_.Deadline(call));
}

absl::StatusOr<v1::Fit> Client::GetFit(absl::string_view name, const CallOptions& call) {
  v1::GetFitRequest request;
  request.set_name(std::string(name));
  return caller_.Call(&Caller::Stub::GetFit, request, caller_.Deadline(call));
}

absl::StatusOr<std::vector<v1::Fit>> Client::ListFits(absl::string_view model, const CallOptions& call) {
  v1::ListFitsRequest request;
  request.set_parent(ModelName(model));
  return caller_.List<v1::Fit>(
      &Caller::Stub::ListFits, request, [](auto& page) { return page.mutable_fits(); }, caller_.Deadline(call));
}

absl::StatusOr<v1::Fit> Client::CancelFit(absl::string_view name, const CallOptions& call) {
  v1::CancelFitRequest request;
  request.set_name(std::string(name));
  request.set_request_id(RequestId(call));
  return caller_.Call(&Caller::Stub::CancelFit, request, caller_.Deadline(call));
}

absl::StatusOr<std::vector<v1::Revision>> Client::ListRevisions(absl::string_view model, const CallOptions& call) {
  v1::ListRevisionsRequest request;
  request.set_parent(ModelName(model));
  return caller_.List<v1::Revision>(
      &Caller::Stub::ListRevisions, request, [](auto& page) { return page.mutable_revisions(); },
      caller_.Deadline(call));
}

absl::StatusOr<v1::Revision> Client::GetRevision(absl::string_view name, const CallOptions& call) {
  v1::GetRevisionRequest request;
  request.set_name(std::string(name));
  return caller_.Call(&Caller::Stub::GetRevision, request, caller_.Deadline(call));
}

absl::StatusOr<v1::Model> Client::RollbackModel(absl::string_view model, absl::string_view revision,
                                                const CallOptions& call) {
  v1::RollbackModelRequest request;
  request.set_name(ModelName(model));
  request.set_revision(RevisionName(model, revision));
  request.set_etag(call.etag);
  request.set_request_id(RequestId(call));
  return caller_.Call(&Caller::Stub::RollbackModel, request, caller_.Deadline(call));
}

absl::Status Client::DeleteRevision(absl::string_view model, absl::string_view revision, const CallOptions& call) {
  v1::DeleteRevisionRequest request;
  request.set_name(RevisionName(model, revision));
  request.set_etag(call.etag);
  request.set_request_id(RequestId(call));
  return caller_.Call(&Caller::Stub::DeleteRevision, request, caller_.Deadline(call)).status();
}

absl::StatusOr<v1::ServerInfo> Client::GetServerInfo(const CallOptions& call) {
  return caller_.Call(&Caller::Stub::GetServerInfo, v1::GetServerInfoRequest(), caller_.Deadline(call));
}

}  // namespace fidelio::client
