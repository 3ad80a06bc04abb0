// Client::PredictStream: a thread that asks and one that takes answers, on one stream after the other.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/cpp/client.h"
#include "client/cpp/matrix.h"
#include "client/cpp/names.h"
#include "client/cpp/prediction.h"

namespace fidelio::client {
namespace {

using Next = std::function<absl::StatusOr<Eigen::MatrixXd>()>;
using OnChunk = std::function<absl::Status(const Prediction&)>;
using Chunk = std::shared_ptr<const Eigen::MatrixXd>;

// Chunks: those that were read and not answered yet, at most kPredictAhead; they are asked again on the next stream when
// one breaks. Thread-safe, for one asking thread and one that takes answers.
class Chunks {
 public:
  explicit Chunks(const Next& next) : next_(next) {}

  // Chunk number `index`, read when nobody has yet, once there is room for it. Null at the end and after Stop.
  Chunk Get(int64_t index) {
    {
      absl::MutexLock lock(&mutex_);
      const auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return stopped_ || index - answered_ < kPredictAhead;
      };
      mutex_.Await(absl::Condition(&ready));
      if (stopped_) return nullptr;
      const auto position = static_cast<size_t>(index - answered_);
      if (position < waiting_.size()) return waiting_[position];
      if (ended_) return nullptr;
    }
    absl::StatusOr<Eigen::MatrixXd> inputs = next_();
    absl::MutexLock lock(&mutex_);
    ended_ = !inputs.ok() || inputs->rows() == 0;
    source_status_ = inputs.status();
    if (ended_) return nullptr;
    waiting_.push_back(std::make_shared<const Eigen::MatrixXd>(*std::move(inputs)));
    return waiting_.back();
  }

  // The chunk that will be answered next; null when none was asked.
  Chunk Oldest() const {
    absl::MutexLock lock(&mutex_);
    return waiting_.empty() ? nullptr : waiting_.front();
  }
  void Answered() {
    absl::MutexLock lock(&mutex_);
    waiting_.pop_front();
    ++answered_;
  }

  // Ends the waits of the asking thread until Resume.
  void Stop() { SetStopped(true); }
  void Resume() { SetStopped(false); }

  int64_t answered() const {
    absl::MutexLock lock(&mutex_);
    return answered_;
  }
  bool all_answered() const {
    absl::MutexLock lock(&mutex_);
    return ended_ && waiting_.empty();
  }
  absl::Status source_status() const {
    absl::MutexLock lock(&mutex_);
    return source_status_;
  }

 private:
  void SetStopped(bool stopped) {
    absl::MutexLock lock(&mutex_);
    stopped_ = stopped;
  }

  const Next& next_;
  mutable absl::Mutex mutex_;
  std::deque<Chunk> waiting_ ABSL_GUARDED_BY(mutex_);
  int64_t answered_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status source_status_ ABSL_GUARDED_BY(mutex_);
};

// One stream, from the first chunk that has no answer. Puts the revision that answers into the header.
absl::Status StreamOnce(const Caller& caller, const PredictOptions& options, absl::Time deadline, Chunks& chunks,
                        const OnChunk& on_chunk, v1::PredictStreamHeader& header) {
  grpc::ClientContext context;
  caller.Prepare(&context, deadline);
  const auto stream = caller.stub().PredictStream(&context);
  chunks.Resume();
  std::thread asking([&, first = chunks.answered()] {
    v1::PredictStreamRequest request;
    *request.mutable_header() = header;
    bool open = stream->Write(request);
    for (int64_t index = first; open; ++index) {
      request.Clear();
      const Chunk chunk = chunks.Get(index);
      if (chunk == nullptr) break;
      *request.mutable_inputs() = ToWire(*chunk);
      open = stream->Write(request);
    }
    if (chunks.source_status().ok()) {
      stream->WritesDone();
    } else {
      context.TryCancel();
    }
  });
  absl::Status status;
  v1::PredictStreamResponse response;
  std::string revision;
  while (status.ok() && stream->Read(&response)) {
    const Chunk chunk = chunks.Oldest();
    if (chunk == nullptr) {
      status = absl::InternalError("the server returned more chunks than were sent");
      break;
    }
    auto prediction = FromWire(response.prediction(), options, chunk->rows(), chunk->cols());
    status = prediction.status();
    if (!status.ok()) break;
    prediction->revision = revision = response.revision();
    prediction->data_version = response.data_version();
    status = on_chunk(*prediction);
    if (status.ok()) chunks.Answered();
  }
  if (!status.ok()) context.TryCancel();
  chunks.Stop();
  asking.join();
  const absl::Status end = ToStatus(stream->Finish());
  if (!revision.empty()) header.set_revision(revision);
  if (!status.ok()) return status;
  if (absl::Status source = chunks.source_status(); !source.ok()) return source;
  // We did not: a server that shuts down cancels its streams.
  return absl::IsCancelled(end) ? absl::UnavailableError("the server ended the stream before all was predicted") : end;
}

}  // namespace

absl::Status Client::PredictStream(absl::string_view model, const PredictOptions& options, const Next& next,
                                   const OnChunk& on_chunk, const CallOptions& call) {
  v1::PredictStreamHeader header;
  header.set_model(ModelName(model));
  if (!options.revision.empty()) header.set_revision(RevisionName(model, options.revision));
  header.set_min_data_version(options.min_data_version);
  *header.mutable_options() = ToWire(options);
  const absl::Time deadline = absl::Now() + call.timeout.value_or(absl::InfiniteDuration());
  Backoff backoff(caller_.options().retry, [this](absl::Duration delay) { caller_.Pause(delay); });
  Chunks chunks(next);
  while (true) {
    // Streams live for a while only, so that a server which went away without a word is noticed.
    const absl::Time renewal = absl::Now() + caller_.options().timeout;
    const int64_t before = chunks.answered();
    absl::Status status = StreamOnce(caller_, options, std::min(deadline, renewal), chunks, on_chunk, header);
    const bool idle = chunks.answered() == before && chunks.Oldest() != nullptr;
    if (absl::IsDeadlineExceeded(status) && renewal < deadline && !idle) continue;
    if (status.ok() && !chunks.all_answered()) {
      return absl::InternalError(absl::StrCat("the server returned ", chunks.answered(), " chunks, but not the rest"));
    }
    if (!absl::IsUnavailable(status)) return caller_.Explain(status);
    if (chunks.answered() > before) backoff.Reset();
    if (!backoff.Wait(status, deadline)) return caller_.Explain(GaveUp(status, backoff));
  }
}

}  // namespace fidelio::client
