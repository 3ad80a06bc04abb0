// Caller: calls on one connection, each with a deadline, a token and retries. Shared by the members of Client.
//
// Thread-safe.
#ifndef FIDELIO_CLIENT_CPP_CALLER_H_
#define FIDELIO_CLIENT_CPP_CALLER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/channel.h"
#include "client/cpp/errors.h"
#include "client/cpp/retry.h"
#include "client/cpp/types.h"
#include "fidelio/v1/emulator.grpc.pb.h"

namespace fidelio::client {

struct ClientOptions {
  ChannelOptions channel = {};

  // Timeout of a call including its retries, unless CallOptions sets another.
  absl::Duration timeout = absl::Seconds(60);

  RetryPolicy retry = {};

  // How long WatchFit waits for a server that went away: longer, because fits survive restarts. For a server that has
  // not responded yet, it waits at most as long as `retry` allows.
  absl::Duration watch_give_up_after = absl::Minutes(10);

  // WatchFit renews its call after this time, to notice a server that went away silently.
  absl::Duration watch_renewal = absl::Minutes(1);
};

class Caller {
 public:
  using Stub = v1::Emulator::Stub;
  template <typename Request, typename Response>
  using Method = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Response*);

  Caller(const ClientOptions& options, std::shared_ptr<grpc::Channel> channel);

  const ClientOptions& options() const { return options_; }
  Stub& stub() const { return *stub_; }

  absl::Time Deadline(const CallOptions& call) const;

  // Sets deadline and token.
  void Prepare(grpc::ClientContext* context, absl::Time deadline) const;

  // Adds the server's address to errors of the transport.
  absl::Status Explain(const absl::Status& status) const;

  // Waits between two attempts. Returns early when a lost connection comes back.
  void Pause(absl::Duration delay) const;

  // A unary call with its retries.
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(Method<Request, Response> method, const Request& request, absl::Time deadline) const;

  // All entries of all pages. entries(Response&) returns a pointer to those of one page.
  template <typename Entry, typename Request, typename Response, typename Entries>
  absl::StatusOr<std::vector<Entry>> List(Method<Request, Response> method, Request request, Entries entries,
                                          absl::Time deadline) const;

 private:
  const ClientOptions options_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<Stub> stub_;
};

template <typename Request, typename Response>
absl::StatusOr<Response> Caller::Call(Method<Request, Response> method, const Request& request,
                                      absl::Time deadline) const {
  Response response;
  const absl::Status status = Retry(
      options_.retry, [this](absl::Duration delay) { Pause(delay); }, deadline,
      [&] {
        grpc::ClientContext context;
        Prepare(&context, deadline);
        response.Clear();
        return ToStatus((stub_.get()->*method)(&context, request, &response));
      });
  if (!status.ok()) return Explain(status);
  return response;
}

template <typename Entry, typename Request, typename Response, typename Entries>
absl::StatusOr<std::vector<Entry>> Caller::List(Method<Request, Response> method, Request request, Entries entries,
                                                absl::Time deadline) const {
  std::vector<Entry> all;
  request.set_page_size(1000);  // the largest page that servers return
  do {
    absl::StatusOr<Response> page = Call(method, request, deadline);
    if (!page.ok()) return page.status();
    for (Entry& entry : *entries(*page)) all.push_back(std::move(entry));
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return all;
}

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_CALLER_H_
