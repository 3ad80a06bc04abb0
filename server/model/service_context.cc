#include "server/model/service_context.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/model/validate.h"
#include "server/status/details.h"
#include "server/status/errors.h"
#include "server/store/sha256.h"

namespace fidelio {
namespace {

constexpr absl::Duration kFullDiskRetry = absl::Seconds(10);
constexpr absl::Duration kDrainDelay = absl::Seconds(1);
constexpr int64_t kPruneEvery = 1024;  // remembered requests

ModelServiceOptions Completed(ModelServiceOptions options) {
  if (options.max_fit_bytes <= 0) {
    options.max_fit_bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 2;
  }
  return options;
}

std::string DigestOf(const MutationName& name, absl::string_view body) {
  return Sha256(absl::StrCat(name.method, absl::string_view("\0", 1), name.model, absl::string_view("\0", 1), body));
}

}  // namespace

absl::Status CheckEtag(absl::string_view etag, const ModelRecord& record) {
  const std::string now = EtagOf(record);
  if (etag.empty() || etag == now) return absl::OkStatus();
  return EtagMismatchError(absl::StrCat("models/", record.name), etag, now);
}

ServiceContext::ServiceContext(Store* store, ModelServiceOptions options)
    : store_(store), options_(Completed(std::move(options))), cache_(options_.cache_bytes, options_.metrics) {}

absl::StatusOr<IndexedModelPtr> ServiceContext::Find(absl::string_view model) const {
  IndexedModelPtr found = index_.Find(model);
  const std::string name = absl::StrCat("models/", model);
  if (found == nullptr) return ResourceNotFoundError("model", name);
  if (!found->damage.empty()) return DamagedResourceError("model", name, found->damage);
  return found;
}

absl::Status ServiceContext::Explain(const absl::Status& status, absl::string_view model) {
  const StatusDetails details = DetailsOf(status);
  const std::string name = absl::StrCat("models/", model);
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return details.resource ? status : ResourceNotFoundError("model", name);
    case absl::StatusCode::kAlreadyExists:
      return details.resource ? status : ResourceExistsError("model", name);
    case absl::StatusCode::kDataLoss:
      if (details.resource) return status;
      index_.Quarantine(model, status.message());
      return DamagedResourceError("model", name, status.message());
    case absl::StatusCode::kResourceExhausted:
      return details.quota || details.retry_delay ? status : ExhaustedError(status.message(), kFullDiskRetry);
    case absl::StatusCode::kUnavailable:
      return details.retry_delay ? status : WithRetryDelay(status, kDrainDelay);
    default:
      return status;
  }
}

absl::Status ServiceContext::CommitLocked(absl::FunctionRef<absl::Status(StoreTransaction&)> body,
                                          absl::FunctionRef<void()> applied) {
  const absl::Time begin = absl::Now();
  bool reached = false;  // the end of the body: only then is it the store that fails
  const absl::Status status = store_->Write([&](StoreTransaction& transaction) {
    FIDELIO_RETURN_IF_ERROR(body(transaction));
    reached = true;
    return absl::OkStatus();
  });
  if (options_.metrics != nullptr && reached) {
    options_.metrics->RecordCommit(status.ok(), absl::ToDoubleSeconds(absl::Now() - begin));
  }
  if (status.ok()) applied();
  return status;
}

absl::Status ServiceContext::Commit(absl::FunctionRef<absl::Status(StoreTransaction&)> body,
                                    absl::FunctionRef<void()> applied) {
  absl::MutexLock lock(&writers_);
  return CommitLocked(body, applied);
}

void ServiceContext::WithoutWriters(absl::FunctionRef<void()> body) {
  absl::MutexLock lock(&writers_);
  body();
}

void ServiceContext::BeginDrain() {
  absl::MutexLock lock(&writers_);
  draining_ = true;
}

absl::StatusOr<std::optional<ServiceContext::Remembered>> ServiceContext::Recall(const StoreTransaction& transaction,
                                                                                 const MutationName& name,
                                                                                 const RequestKey& key,
                                                                                 absl::string_view digest) const {
  // Of a quarantined model all records are taken for lost; but deleting it must remain possible.
  const IndexedModelPtr model = index_.Find(name.model);
  if (model != nullptr && !model->damage.empty()) return std::nullopt;
  FIDELIO_ASSIGN_OR_RETURN(const std::optional<RequestRecord> record, transaction.FindRequest(name.model, key));
  if (!record) return std::nullopt;
  if (record->digest != digest) {
    return absl::InvalidArgumentError(
        absl::StrCat("request_id: ", Quoted(key.request_id), " was used before with another request; use a new one"));
  }
  return Remembered{record->answer, record->erased};
}

absl::StatusOr<std::optional<ServiceContext::Remembered>> ServiceContext::Run(
    const MutationContext& context, const MutationName& name,
    absl::FunctionRef<absl::StatusOr<std::string>(StoreTransaction&)> body, absl::FunctionRef<void()> applied) {
  FIDELIO_RETURN_IF_ERROR(ValidateRequestId(context.request_id));
  const bool remember = !context.request_id.empty();
  const std::string digest = remember ? DigestOf(name, context.body) : "";
  const RequestKey key{context.caller.name, context.request_id};
  std::optional<Remembered> remembered;

  absl::MutexLock lock(&writers_);
  if (draining_) return DrainingError(kDrainDelay);
  const absl::Status status = CommitLocked(
      [&](StoreTransaction& transaction) -> absl::Status {
        if (remember) {
          FIDELIO_ASSIGN_OR_RETURN(remembered, Recall(transaction, name, key, digest));
          if (remembered) return absl::OkStatus();
        }
        FIDELIO_ASSIGN_OR_RETURN(const std::string answer, body(transaction));
        return remember ? transaction.RecordRequest(name.model, key, digest, answer) : absl::OkStatus();
      },
      [&] {
        if (!remembered) applied();
      });
  if (!status.ok()) return Explain(status, name.model);
  if (remember && !remembered && ++remembered_ % kPruneEvery == 0) {
    // Forgetting is a matter of space: when it fails, there will be another time.
    CommitLocked(
        [&](StoreTransaction& transaction) {
          return transaction.PruneRequests(absl::Now() - options_.request_memory, options_.max_requests).status();
        },
        [] {})
        .IgnoreError();
  }
  return remembered;
}

absl::Status ServiceContext::MutateWithoutAnswer(const MutationContext& context, const MutationName& name,
                                                 absl::FunctionRef<absl::Status(StoreTransaction&)> body,
                                                 absl::FunctionRef<void()> applied) {
  return Run(
             context, name,
             [&](StoreTransaction& transaction) -> absl::StatusOr<std::string> {
               FIDELIO_RETURN_IF_ERROR(body(transaction));
               return "";
             },
             applied)
      .status();
}

}  // namespace fidelio
