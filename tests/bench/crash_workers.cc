#include "tests/bench/crash_workers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/matrix.h"
#include "client/cpp/names.h"
#include "core/base/status_macros.h"
#include "tests/bench/remote_model.h"

namespace fidelio::bench {
namespace {

constexpr absl::Duration kCallPatience = absl::Seconds(60);  // for one call
constexpr absl::Duration kFitPatience = absl::Seconds(180);  // for the end of a fit, whatever happens meanwhile
constexpr int64_t kMaxFittedBatches = 12;                    // fits stay short
constexpr int kReadPoints = 8;

bool HasEnded(const v1::Fit& fit) {
  return fit.state() == v1::FIT_STATE_SUCCEEDED || fit.state() == v1::FIT_STATE_FAILED ||
         fit.state() == v1::FIT_STATE_CANCELLED;
}

// Waits for the end of a fit over all restarts.
absl::StatusOr<v1::Fit> AwaitEnd(Endpoint& endpoint, const std::string& name) {
  v1::WatchFitRequest request;
  request.set_name(name);
  v1::WatchFitResponse event;
  const absl::Status status =
      endpoint.Retry(kFitPatience, [&](Endpoint::Stub& stub, grpc::ClientContext& context) -> absl::Status {
        const auto stream = stub.WatchFit(&context, request);
        while (stream->Read(&event)) {
        }
        FIDELIO_RETURN_IF_ERROR(client::ToStatus(stream->Finish()));
        return HasEnded(event.fit()) ? absl::OkStatus() : absl::UnavailableError("the stream ended before the fit");
      });
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
  return event.fit();
}

}  // namespace

v1::AddObservationsRequest MakeBatch(const std::string& model, int64_t b) {
  Matrix x(kBatchSize, 1);
  Vector y(kBatchSize);
  // Spread over the unit interval by the golden ratio: distinct, and data that can be fitted whatever its number.
  for (int i = 0; i < kBatchSize; ++i) {
    x(i, 0) = std::fmod(0.6180339887498949 * static_cast<double>(kBatchSize * b + i + 1), 1.0);
    y(i) = std::sin(8 * x(i, 0)) + 0.1 * static_cast<double>(b % 2);
  }
  v1::AddObservationsRequest request;
  request.set_model(client::ModelName(model));
  v1::ObservationBatch* batch = request.add_observations();
  batch->set_level(static_cast<uint32_t>(b % 2));
  *batch->mutable_inputs() = client::ToWire(x);
  *batch->mutable_outputs() = client::ToWire(y);
  request.set_request_id(absl::StrCat(model, "-batch-", b));
  return request;
}

absl::Status BatchWriter::WriteNext() {
  v1::AddObservationsResponse response;
  FIDELIO_RETURN_IF_ERROR(
      endpoint_->Call(&Endpoint::Stub::AddObservations, MakeBatch(model_, acknowledged()), &response, kCallPatience));
  data_versions_.push_back(response.data_version());
  return absl::OkStatus();
}

absl::StatusOr<BatchWriter::Audit> BatchWriter::Check() const {
  // The whole model, by data_version; pages may split batches.
  std::map<int64_t, std::pair<std::string, std::string>> stored;  // inputs and outputs
  v1::ListObservationsRequest request;
  request.set_parent(client::ModelName(model_));
  do {
    v1::ListObservationsResponse page;
    FIDELIO_RETURN_IF_ERROR(endpoint_->Call(&Endpoint::Stub::ListObservations, request, &page, kCallPatience));
    for (const v1::ObservationBatch& part : page.observations()) {
      auto& [inputs, outputs] = stored[part.data_version()];
      inputs += part.inputs().f64_le();
      outputs += part.outputs().f64_le();
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());

  std::map<std::string, int64_t> times;  // that the inputs of a batch are stored
  for (const auto& [version, batch] : stored) ++times[batch.first];
  Audit audit;
  for (int64_t b = 0; b < acknowledged(); ++b) {
    const v1::AddObservationsRequest sent = MakeBatch(model_, b);
    const v1::ObservationBatch& batch = sent.observations(0);
    const int64_t count = times[batch.inputs().f64_le()];
    if (count == 0) ++audit.lost;
    if (count > 1) audit.duplicated += count - 1;
    times.erase(batch.inputs().f64_le());
    const auto found = stored.find(data_versions_[static_cast<size_t>(b)]);
    if (count == 1 && (found == stored.end() || found->second.first != batch.inputs().f64_le() ||
                       found->second.second != batch.outputs().f64_le())) {
      ++audit.altered;
    }
  }
  for (const auto& [inputs, count] : times) audit.duplicated += count;  // never sent, or never acknowledged
  return audit;
}

absl::Status Fitter::FitNext() {
  if (writer_.acknowledged() < kMaxFittedBatches) FIDELIO_RETURN_IF_ERROR(writer_.WriteNext());
  v1::FitRequest request;
  request.set_model(client::ModelName(model_));
  request.mutable_options()->set_seed(static_cast<uint64_t>(fits()));
  request.set_request_id(absl::StrCat(model_, "-fit-", fits()));
  v1::Fit started;
  FIDELIO_RETURN_IF_ERROR(endpoint_->Call(&Endpoint::Stub::Fit, request, &started, kCallPatience));
  FIDELIO_ASSIGN_OR_RETURN(const v1::Fit fit, AwaitEnd(*endpoint_, started.name()));
  if (fit.state() != v1::FIT_STATE_SUCCEEDED) {
    return absl::InternalError(
        absl::StrCat(fit.name(), ": ", v1::FitState_Name(fit.state()), ": ", fit.error().message()));
  }
  resumed_ += fit.resume_count();
  revisions_.push_back(fit.revision());
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Fitter::CountStuck() const {
  std::multiset<std::string> made;
  int64_t stuck = 0;
  v1::ListFitsRequest request;
  request.set_parent(client::ModelName(model_));
  do {
    v1::ListFitsResponse page;
    FIDELIO_RETURN_IF_ERROR(endpoint_->Call(&Endpoint::Stub::ListFits, request, &page, kCallPatience));
    for (const v1::Fit& fit : page.fits()) {
      if (!HasEnded(fit)) ++stuck;
      made.insert(fit.revision());
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  const std::multiset<std::string> promised(revisions_.begin(), revisions_.end());
  std::vector<std::string> different;
  std::set_symmetric_difference(made.begin(), made.end(), promised.begin(), promised.end(),
                                std::back_inserter(different));
  return stuck + static_cast<int64_t>(different.size());
}

Reader::Reader(Endpoint* endpoint, const std::string& model) : endpoint_(endpoint) {
  request_ = MakePredictRequest(model, Vector::LinSpaced(kReadPoints, 0, 1));
}

absl::Status Reader::Read(const std::string& revision) {
  request_.set_revision(revision);
  v1::PredictResponse response;
  const absl::Status status = endpoint_->Call(&Endpoint::Stub::Predict, request_, &response, kCallPatience);
  if (absl::IsFailedPrecondition(status) && answers_.empty()) return absl::OkStatus();  // before the first fit
  FIDELIO_RETURN_IF_ERROR(status);
  ++predictions_;
  std::string answer = response.prediction().SerializeAsString();
  const auto [seen, is_new] = answers_.emplace(response.revision(), answer);
  if (!is_new && seen->second != answer) ++differences_;
  if (!revision.empty() && response.revision() != revision) ++differences_;
  return absl::OkStatus();
}

absl::Status Reader::ReadNext() {
  const int64_t turn = turn_++;
  if (turn % 2 == 0 || answers_.empty()) return Read("");
  return Read(std::next(answers_.begin(), turn / 2 % revisions())->first);
}

absl::Status Reader::ReadAll() {
  const std::map<std::string, std::string> seen = answers_;
  for (const auto& [revision, answer] : seen) FIDELIO_RETURN_IF_ERROR(Read(revision));
  return absl::OkStatus();
}

}  // namespace fidelio::bench
