#include "server/rpc/request.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "server/rpc/convert.h"

namespace fidelio {
namespace {

// The method and the request: the same request, the same bytes.
std::string CanonicalBody(const Method& method, const google::protobuf::MessageLite& request) {
  std::string body = absl::StrCat(absl::string_view(method.name.data(), method.name.size()), "\n");
  google::protobuf::io::StringOutputStream sink(&body);  // appends
  google::protobuf::io::CodedOutputStream out(&sink);
  out.SetSerializationDeterministic(true);
  request.SerializeToCodedStream(&out);
  return body;
}

}  // namespace

absl::StatusOr<std::string> AdmitModelName(Call& call, absl::string_view name, absl::string_view field) {
  call.SetModel(name);
  FIDELIO_ASSIGN_OR_RETURN(std::string model, ParseModelName(name, field));
  FIDELIO_RETURN_IF_ERROR(call.AdmitModel(model));
  return model;
}

absl::StatusOr<ChildName> AdmitFitName(Call& call, absl::string_view name, absl::string_view field) {
  call.SetModel(name);
  FIDELIO_ASSIGN_OR_RETURN(ChildName fit, ParseFitName(name, field));
  call.SetModel(fit.model);
  FIDELIO_RETURN_IF_ERROR(call.AdmitModel(fit.model));
  return fit;
}

absl::StatusOr<ChildName> AdmitRevisionName(Call& call, absl::string_view name, absl::string_view field) {
  call.SetModel(name);
  FIDELIO_ASSIGN_OR_RETURN(ChildName revision, ParseRevisionName(name, field));
  call.SetModel(revision.model);
  FIDELIO_RETURN_IF_ERROR(call.AdmitModel(revision.model));
  return revision;
}

absl::Status AdmitModelId(Call& call, absl::string_view id, absl::string_view field) {
  call.SetModel(id);
  FIDELIO_RETURN_IF_ERROR(ValidateModelId(id, field));
  return call.AdmitModel(id);
}

absl::StatusOr<std::shared_ptr<const LoadedRevision>> AcquireRevision(const ModelService& models, Call& call,
                                                                      const RevisionWish& wish,
                                                                      absl::string_view path) {
  FIDELIO_ASSIGN_OR_RETURN(const std::string name, AdmitModelName(call, wish.model, absl::StrCat(path, "model")));
  FIDELIO_ASSIGN_OR_RETURN(const int64_t revision,
                           ParseRevisionOf(name, wish.revision, absl::StrCat(path, "revision")));
  if (wish.min_data_version < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, "min_data_version: ", wish.min_data_version, ", must not be negative"));
  }
  return models.AcquireRevision(name, revision, wish.min_data_version, call.deadline());
}

Mutation::Mutation(const Call& call, const Method& method, absl::string_view request_id,
                   const google::protobuf::MessageLite& request, absl::string_view field)
    : status_(ValidateRequestId(request_id, field)) {
  context_.caller = ToCaller(call.principal(), call.authenticated());
  if (!status_.ok() || request_id.empty()) return;
  context_.request_id = std::string(request_id);
  body_ = CanonicalBody(method, request);
  context_.body = body_;
}

}  // namespace fidelio
