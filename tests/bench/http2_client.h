// Http2Client: a connection that speaks just enough HTTP/2 to do what no decent client does.
//
// Headers are sent as plain literals. What the server sends is read and, but for windows, pings, the data of the last
// stream and ends of streams, dropped. Not thread-safe.
#ifndef FIDELIO_TESTS_BENCH_HTTP2_CLIENT_H_
#define FIDELIO_TESTS_BENCH_HTTP2_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace fidelio::bench {

class Http2Client {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  // Connects to a port of the loopback, and says nothing yet.
  static absl::StatusOr<std::unique_ptr<Http2Client>> Connect(int port);
  ~Http2Client();
  Http2Client(const Http2Client&) = delete;
  Http2Client& operator=(const Http2Client&) = delete;

  // What every connection begins with.
  absl::Status Greet();

  // The headers of a gRPC call, with more of them after the usual ones; in as many frames as they need. Answers the
  // number of the stream.
  absl::StatusOr<uint32_t> StartCall(absl::string_view method, const Headers& more);
  absl::Status Reset(uint32_t stream);
  // Sends as much as the server's windows allow before `deadline`, or until the server ends the stream or the
  // connection. Answers how many bytes went out.
  absl::StatusOr<size_t> SendData(uint32_t stream, absl::string_view data, absl::Time deadline);

  // Reads what is there until the server ends the stream or the connection. Whether it did before `deadline`.
  bool AwaitEnd(uint32_t stream, absl::Time deadline);
  // Reads what is there, without waiting.
  void Drain();

  // What the server sent as the data of the last stream that was started; no more than the first few bytes.
  const std::string& data() const { return data_; }
  // When the last bytes that were read reached this machine: as the kernel noted, whenever this thread got to read them.
  absl::Time last_arrival() const { return last_arrival_; }

 private:
  explicit Http2Client(int socket) : socket_(socket) {}

  absl::Status Send(absl::string_view bytes);
  // Waits for the socket at most until `deadline`, and takes in what arrived.
  void Receive(absl::Time deadline);
  void TakeFrame(uint8_t type, uint8_t flags, uint32_t stream, absl::string_view payload);

  const int socket_;
  std::string received_;  // not yet a whole frame
  bool closed_ = false;   // by the server
  uint32_t next_stream_ = 1;
  uint32_t watched_stream_ = 0;
  bool stream_ended_ = false;
  int64_t initial_window_ = 65535;
  int64_t connection_window_ = 65535;
  int64_t stream_window_ = 0;  // of the watched stream
  std::string data_;           // of the watched stream
  absl::Time last_arrival_ = absl::InfinitePast();
};

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_HTTP2_CLIENT_H_
