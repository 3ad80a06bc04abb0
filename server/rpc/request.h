// What calls do with requests before anything else: names to models that the caller may use, and protection of retries.
//
// Free functions without state, and a value: safe from every thread.
#ifndef FIDELIO_SERVER_RPC_REQUEST_H_
#define FIDELIO_SERVER_RPC_REQUEST_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message_lite.h"
#include "server/model/model_service.h"
#include "server/model/model_types.h"
#include "server/rpc/call.h"
#include "server/rpc/names.h"

namespace fidelio {

// The model, fit or revision of a request, once its form is right and the caller may use its model.
absl::StatusOr<std::string> AdmitModelName(Call& call, absl::string_view name, absl::string_view field);
absl::StatusOr<ChildName> AdmitFitName(Call& call, absl::string_view name, absl::string_view field);
absl::StatusOr<ChildName> AdmitRevisionName(Call& call, absl::string_view name, absl::string_view field);
// The same for an id without "models/".
absl::Status AdmitModelId(Call& call, absl::string_view id, absl::string_view field);

// The revision that a request asks for with its fields model, revision and min_data_version, once the caller may use the
// model. `path` is what these fields begin with: "" or "header.".
struct RevisionWish {
  absl::string_view model;
  absl::string_view revision;
  int64_t min_data_version = 0;
};
absl::StatusOr<std::shared_ptr<const LoadedRevision>> AcquireRevision(const ModelService& models, Call& call,
                                                                      const RevisionWish& wish, absl::string_view path);
template <typename Request>
absl::StatusOr<std::shared_ptr<const LoadedRevision>> AcquireRevision(const ModelService& models, Call& call,
                                                                      const Request& request, absl::string_view path) {
  return AcquireRevision(models, call, RevisionWish{request.model(), request.revision(), request.min_data_version()},
                         path);
}

// A mutation on its way to ModelService. Not copied: its context refers to it.
class Mutation {
 public:
  // `field` is the path of the request_id.
  Mutation(const Call& call, const Method& method, absl::string_view request_id,
           const google::protobuf::MessageLite& request, absl::string_view field = "request_id");
  Mutation(const Mutation&) = delete;
  Mutation& operator=(const Mutation&) = delete;

  // INVALID_ARGUMENT when the request_id is malformed.
  const absl::Status& status() const { return status_; }
  const MutationContext& context() const { return context_; }

 private:
  absl::Status status_;
  std::string body_;
  MutationContext context_;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_REQUEST_H_
