#include "server/telemetry/ops_server.h"

#include <civetweb.h>

#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace fidelio {
namespace {

void Send(mg_connection* connection, int code, const char* reason, const std::string& body, bool head,
          const char* type = "text/plain; charset=utf-8") {
  const std::string header =
      absl::StrCat("HTTP/1.1 ", code, " ", reason, "\r\nContent-Type: ", type, "\r\nContent-Length: ", body.size(),
                   "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n");
  mg_write(connection, header.data(), header.size());
  if (!head) mg_write(connection, body.data(), body.size());
}

}  // namespace

OpsServer::OpsServer(const Address& address, const Metrics* metrics, const Readiness* readiness)
    : address_(address), metrics_(metrics), readiness_(readiness) {
  mg_init_library(MG_FEATURES_DEFAULT);
}

OpsServer::~OpsServer() {
  if (context_ != nullptr) {
    // CivetWeb looks every two seconds whether it should stop; a connection makes it look at once.
    absl::Notification stopped;
    std::thread waker([&] {
      do {
        char error[64];
        mg_connection* const connection = mg_connect_client(address_.host.c_str(), port_, 0, error, sizeof(error));
        if (connection != nullptr) mg_close_connection(connection);
      } while (!stopped.WaitForNotificationWithTimeout(absl::Milliseconds(10)));
    });
    mg_stop(context_);
    stopped.Notify();
    waker.join();
  }
  mg_exit_library();
}

absl::StatusOr<std::unique_ptr<OpsServer>> OpsServer::Start(const Address& address, const Metrics* metrics,
                                                            const Readiness* readiness) {
  auto server = std::unique_ptr<OpsServer>(new OpsServer(address, metrics, readiness));
  // localhost is the loopback address by definition (RFC 6761); small systems have nothing that could resolve it.
  const bool local = absl::EqualsIgnoreCase(address.host, "localhost");
  const std::string where = FormatAddress(local ? Address{"127.0.0.1", address.port} : address);
  const char* options[] = {"listening_ports",
                           where.c_str(),
                           "num_threads",
                           "4",
                           "connection_queue",
                           "8",
                           "listen_backlog",
                           "32",
                           "request_timeout_ms",
                           "2000",
                           "max_request_size",
                           "8192",
                           "enable_keep_alive",
                           "no",
                           nullptr};
  mg_callbacks callbacks{};
  callbacks.begin_request = &OpsServer::OnRequest;
  callbacks.log_message = &OpsServer::OnLogMessage;
  server->context_ = mg_start(&callbacks, server.get(), options);
  if (server->context_ == nullptr) {
    absl::MutexLock lock(&server->mutex_);
    return absl::InvalidArgumentError(absl::StrCat(
        "metrics_address = \"", FormatAddress(address), "\": must be an address on which this process can listen: ",
        server->first_message_.empty() ? "CivetWeb did not start" : server->first_message_));
  }
  mg_server_port ports[1];
  if (mg_get_server_ports(server->context_, 1, ports) == 1) server->port_ = ports[0].port;
  return server;
}

int OpsServer::OnLogMessage(const mg_connection* connection, const char* message) {
  auto* const server = static_cast<OpsServer*>(mg_get_user_data(mg_get_context(connection)));
  absl::MutexLock lock(&server->mutex_);
  if (server->first_message_.empty()) server->first_message_ = message;
  return 1;  // handled
}

int OpsServer::OnRequest(mg_connection* connection) {
  return static_cast<const OpsServer*>(mg_get_user_data(mg_get_context(connection)))->Answer(connection);
}

int OpsServer::Answer(mg_connection* connection) const {
  const mg_request_info* const request = mg_get_request_info(connection);
  const std::string_view method = request->request_method;
  const std::string_view path = request->local_uri == nullptr ? "" : request->local_uri;
  const bool head = method == "HEAD";
  if (!head && method != "GET") {
    Send(connection, 405, "Method Not Allowed", "only GET and HEAD\n", false);
    return 405;
  }
  if (path == "/metrics") {
    Send(connection, 200, "OK", metrics_->Serialize(), head, "text/plain; version=0.0.4; charset=utf-8");
    return 200;
  }
  if (path == "/healthz") {
    Send(connection, 200, "OK", "ok\n", head);
    return 200;
  }
  if (path == "/readyz") {
    const std::string state = readiness_->Describe();
    const bool ready = state == "ready";
    Send(connection, ready ? 200 : 503, ready ? "OK" : "Service Unavailable", absl::StrCat(state, "\n"), head);
    return ready ? 200 : 503;
  }
  Send(connection, 404, "Not Found", "not found; this port serves /metrics, /healthz and /readyz\n", head);
  return 404;
}

}  // namespace fidelio
