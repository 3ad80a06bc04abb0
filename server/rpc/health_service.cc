#include "server/rpc/health_service.h"

#include <optional>
#include <utility>

namespace fidelio {
namespace {

constexpr size_t kMaxHealthWatches = 10'000;

absl::flat_hash_set<std::string> WithWhole(std::vector<std::string> services) {
  services.emplace_back();
  return {services.begin(), services.end()};
}

}  // namespace

// One Watch call. Deletes itself. What it does is guarded by the service's mutex.
class HealthService::Watch final : public Watcher {
 public:
  Watch(HealthService* health, WatchStream<Response>* stream, std::string service)
      : health_(health), stream_(stream), service_(std::move(service)) {}

  // Tells the client what has changed since the last message, unless that is still under way.
  void Pump() ABSL_EXCLUSIVE_LOCKS_REQUIRED(health_->mutex_) {
    if (finished_ || writing_) return;
    if (over_ || stream_->context()->IsCancelled()) return Finish(grpc::Status::CANCELLED);
    const Status now = health_->StatusOf(service_);
    if (sent_ == now) return;
    sent_ = now;
    writing_ = true;
    Response response;
    response.set_status(now);
    stream_->Write(response);
  }

  void Finish(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(health_->mutex_) {
    finished_ = true;
    stream_->Finish(status);
  }

  void OnWritten(bool ok) override {
    absl::MutexLock lock(&health_->mutex_);
    writing_ = false;
    over_ = over_ || !ok;
    Pump();
  }

  void OnCancel() override {
    absl::MutexLock lock(&health_->mutex_);
    Pump();
  }

  void OnDone() override {
    {
      absl::MutexLock lock(&health_->mutex_);
      health_->watches_.erase(this);
    }
    delete this;
  }

 private:
  HealthService* const health_;
  WatchStream<Response>* const stream_;
  const std::string service_;
  std::optional<Status> sent_ ABSL_GUARDED_BY(health_->mutex_);
  bool writing_ ABSL_GUARDED_BY(health_->mutex_) = false;
  bool over_ ABSL_GUARDED_BY(health_->mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(health_->mutex_) = false;
};

HealthService::HealthService(std::vector<std::string> services) : services_(WithWhole(std::move(services))) {
  check_.listen = [this](auto* context, auto* request, auto* responder, auto* queue, void* tag) {
    service_.RequestCheck(context, request, responder, queue, queue, tag);
  };
  check_.handle = [this](grpc::ServerContext*, const Request* request, Response* response) {
    return Check(*request, response);
  };
  check_.quick = [](const Request&) { return true; };
  watch_.listen = [this](auto* context, auto* request, auto* writer, auto* queue, void* tag) {
    service_.RequestWatch(context, request, writer, queue, queue, tag);
  };
  watch_.start = [this](WatchStream<Response>* stream, const Request& request) { StartWatch(stream, request); };
}

void HealthService::Listen(const CallParts& parts) {
  UnaryCall<Request, Response>::Listen(check_, parts);
  WatchCall<Request, Response>::Listen(watch_, parts);
}

void HealthService::SetServing(bool serving) {
  absl::MutexLock lock(&mutex_);
  serving_ = serving;
  for (Watch* const watch : watches_) watch->Pump();
}

HealthService::Status HealthService::StatusOf(const std::string& service) const {
  if (!services_.contains(service)) return Response::SERVICE_UNKNOWN;
  return serving_ ? Response::SERVING : Response::NOT_SERVING;
}

grpc::Status HealthService::Check(const Request& request, Response* response) const {
  absl::MutexLock lock(&mutex_);
  const Status status = StatusOf(request.service());
  if (status == Response::SERVICE_UNKNOWN) return {grpc::StatusCode::NOT_FOUND, "service: unknown to this server"};
  response->set_status(status);
  return grpc::Status::OK;
}

void HealthService::StartWatch(WatchStream<Response>* stream, const Request& request) {
  auto* const watch = new Watch(this, stream, request.service());
  stream->Bind(watch);
  absl::MutexLock lock(&mutex_);
  watches_.insert(watch);
  if (watches_.size() > kMaxHealthWatches) {
    watch->Finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "watches: too many are open; ask by Check now and then"});
  } else {
    watch->Pump();
  }
}

}  // namespace fidelio
