#include "tests/bench/http2_client.h"

#include <arpa/inet.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"

namespace fidelio::bench {
namespace {

constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr size_t kFrameHeader = 9;
constexpr size_t kMaxFrame = 16384;
constexpr size_t kMaxData = 64;  // of a stream's data that are kept
constexpr absl::Duration kSendTimeout = absl::Seconds(10);

// Types and flags of frames.
constexpr uint8_t kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kGoAway = 7, kWindowUpdate = 8,
                  kContinuation = 9;
constexpr uint8_t kAck = 1, kEndStream = 1, kEndHeaders = 4;
constexpr uint32_t kCancel = 8;             // error code
constexpr uint16_t kInitialWindowSize = 4;  // setting

std::string BigEndian(uint32_t value) {
  const uint32_t ordered = htonl(value);
  return std::string(reinterpret_cast<const char*>(&ordered), sizeof(ordered));
}

uint32_t ReadBigEndian(absl::string_view bytes) {
  uint32_t ordered;
  std::memcpy(&ordered, bytes.data(), sizeof(ordered));
  return ntohl(ordered);
}

std::string FrameOf(uint8_t type, uint8_t flags, uint32_t stream, absl::string_view payload) {
  std::string frame = BigEndian(static_cast<uint32_t>(payload.size())).substr(1);
  frame += static_cast<char>(type);
  frame += static_cast<char>(flags);
  return absl::StrCat(frame, BigEndian(stream), payload);
}

// A string of HPACK (RFC 7541, 5.2) without Huffman's code.
std::string Literal(absl::string_view text) {
  std::string bytes;
  size_t length = text.size();
  if (length < 127) {
    bytes += static_cast<char>(length);
  } else {
    bytes += static_cast<char>(127);
    for (length -= 127; length >= 128; length /= 128) bytes += static_cast<char>(128 + length % 128);
    bytes += static_cast<char>(length);
  }
  return absl::StrCat(bytes, text);
}

// When the kernel received the end of what recvmsg has read; now, if it does not say.
absl::Time ArrivalOf(msghdr& message) {
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr; control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_TIMESTAMPING) continue;
    scm_timestamping stamps;
    std::memcpy(&stamps, CMSG_DATA(control), sizeof(stamps));
    const absl::Time arrival = absl::TimeFromTimespec(stamps.ts[0]);
    if (arrival > absl::UnixEpoch()) return arrival;
  }
  return absl::Now();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Http2Client>> Http2Client::Connect(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return absl::UnavailableError(absl::StrCat("socket: ", std::strerror(errno)));
  std::unique_ptr<Http2Client> client(new Http2Client(socket));
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const int stamps = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
  setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof(stamps));
  const timeval timeout = absl::ToTimeval(kSendTimeout);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return absl::UnavailableError(absl::StrCat("connect: ", std::strerror(errno)));
  }
  return client;
}

Http2Client::~Http2Client() { close(socket_); }

absl::Status Http2Client::Send(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      closed_ = true;
      return absl::UnavailableError(absl::StrCat("send: ", std::strerror(errno)));
    }
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return absl::OkStatus();
}

absl::Status Http2Client::Greet() { return Send(absl::StrCat(kPreface, FrameOf(kSettings, 0, 0, ""))); }

absl::StatusOr<uint32_t> Http2Client::StartCall(absl::string_view method, const Headers& more) {
  Headers headers = {{":method", "POST"},     {":scheme", "http"}, {":path", std::string(method)},
                     {":authority", "flood"}, {"te", "trailers"},  {"content-type", "application/grpc"}};
  headers.insert(headers.end(), more.begin(), more.end());
  std::string block;
  for (const auto& [name, value] : headers) {
    block += '\0';  // literal without indexing, new name
    absl::StrAppend(&block, Literal(name), Literal(value));
  }
  watched_stream_ = next_stream_;
  next_stream_ += 2;
  data_.clear();
  stream_ended_ = false;
  stream_window_ = initial_window_;
  std::string frames;
  for (size_t begin = 0; begin == 0 || begin < block.size(); begin += kMaxFrame) {
    const bool last = begin + kMaxFrame >= block.size();
    absl::StrAppend(&frames, FrameOf(begin == 0 ? kHeaders : kContinuation, last ? kEndHeaders : 0, watched_stream_,
                                     absl::string_view(block).substr(begin, kMaxFrame)));
  }
  FIDELIO_RETURN_IF_ERROR(Send(frames));
  return watched_stream_;
}

absl::Status Http2Client::Reset(uint32_t stream) { return Send(FrameOf(kReset, 0, stream, BigEndian(kCancel))); }

absl::StatusOr<size_t> Http2Client::SendData(uint32_t stream, absl::string_view data, absl::Time deadline) {
  size_t sent = 0;
  while (sent < data.size() && !closed_ && !stream_ended_ && absl::Now() < deadline) {
    Drain();
    const int64_t window = std::min(connection_window_, stream_window_);
    if (window <= 0) {
      Receive(deadline);
      continue;
    }
    const size_t size = std::min({data.size() - sent, static_cast<size_t>(window), kMaxFrame});
    FIDELIO_RETURN_IF_ERROR(
        Send(FrameOf(kData, sent + size == data.size() ? kEndStream : 0, stream, data.substr(sent, size))));
    sent += size;
    connection_window_ -= static_cast<int64_t>(size);
    stream_window_ -= static_cast<int64_t>(size);
  }
  return sent;
}

bool Http2Client::AwaitEnd(uint32_t stream, absl::Time deadline) {
  while (!closed_ && !(stream_ended_ && stream == watched_stream_) && absl::Now() < deadline) Receive(deadline);
  return closed_ || stream_ended_;
}

void Http2Client::Drain() { Receive(absl::InfinitePast()); }

void Http2Client::Receive(absl::Time deadline) {
  const int64_t left = absl::ToInt64Milliseconds(deadline - absl::Now());
  pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
  if (closed_ || poll(&ready, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 1000))) <= 0) return;
  char buffer[16384];
  alignas(cmsghdr) char control[256];
  iovec part{.iov_base = buffer, .iov_len = sizeof(buffer)};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t size = recvmsg(socket_, &message, MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    closed_ = true;
    return;
  }
  last_arrival_ = ArrivalOf(message);
  received_.append(buffer, static_cast<size_t>(size));
  absl::string_view rest = received_;
  while (rest.size() >= kFrameHeader) {
    const size_t length = ReadBigEndian(absl::StrCat(absl::string_view("\0", 1), rest.substr(0, 3)));
    if (rest.size() < kFrameHeader + length) break;
    TakeFrame(static_cast<uint8_t>(rest[3]), static_cast<uint8_t>(rest[4]), ReadBigEndian(rest.substr(5, 4)),
              rest.substr(kFrameHeader, length));
    rest.remove_prefix(kFrameHeader + length);
  }
  received_ = std::string(rest);
}

void Http2Client::TakeFrame(uint8_t type, uint8_t flags, uint32_t stream, absl::string_view payload) {
  if (type == kSettings && (flags & kAck) == 0) {
    for (; payload.size() >= 6; payload.remove_prefix(6)) {
      const uint32_t value = ReadBigEndian(payload.substr(2, 4));
      if (payload[0] != 0 || payload[1] != kInitialWindowSize) continue;
      stream_window_ += static_cast<int64_t>(value) - initial_window_;
      initial_window_ = value;
    }
    Send(FrameOf(kSettings, kAck, 0, "")).IgnoreError();  // a lost connection shows at the next Receive
  } else if (type == kPing && (flags & kAck) == 0) {
    Send(FrameOf(kPing, kAck, 0, payload)).IgnoreError();
  } else if (type == kWindowUpdate && payload.size() == 4) {
    (stream == 0 ? connection_window_ : stream_window_) += ReadBigEndian(payload);
  } else if (type == kGoAway) {
    closed_ = true;
  } else if (stream == watched_stream_) {
    if (type == kData) absl::StrAppend(&data_, payload.substr(0, kMaxData - data_.size()));
    if (type == kReset || ((type == kHeaders || type == kData) && (flags & kEndStream) != 0)) stream_ended_ = true;
  }
}

}  // namespace fidelio::bench
