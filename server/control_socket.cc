#include "server/control_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace fidelio {
namespace {

constexpr char kName[] = "control.sock";
constexpr char kBackup[] = "backup ";
constexpr size_t kLongestLine = 8192;
constexpr int kRequestSeconds = 2;

absl::Status SystemError(const std::string& doing) {
  return absl::FailedPreconditionError(absl::StrCat(doing, ": ", strerror(errno)));
}

// A line without its newline; what came until the end, an error or the limit otherwise.
std::string ReadLine(int descriptor) {
  std::string line;
  char character = 0;
  while (line.size() < kLongestLine && read(descriptor, &character, 1) == 1 && character != '\n') {
    line.push_back(character);
  }
  return line;
}

void WriteLine(int descriptor, const std::string& line) {
  const std::string bytes = line + "\n";
  // A client that left does not want to know.
  if (send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
}

// Calls `function` with the socket's address. Names of sockets are short, those of directories are not: the address goes
// through the descriptor of the directory.
int WithAddress(const std::string& directory, const std::function<int(const sockaddr*, socklen_t)>& function) {
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = absl::StrCat("/proc/self/fd/", descriptor, "/", kName);
  memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int result = function(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  close(descriptor);
  errno = error;
  return result;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ControlSocket>> ControlSocket::Open(
    const std::string& directory, std::function<absl::Status(const std::string& path)> on_backup) {
  std::unique_ptr<ControlSocket> control(new ControlSocket);
  control->on_backup_ = std::move(on_backup);
  control->path_ = absl::StrCat(directory, "/", kName);
  unlink(control->path_.c_str());
  control->socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  control->wake_ = eventfd(0, EFD_CLOEXEC);
  const auto bind_and_listen = [&](const sockaddr* address, socklen_t size) {
    // The mode of the socket before it is bound is the one that it gets.
    if (fchmod(control->socket_, 0600) != 0) return -1;
    return bind(control->socket_, address, size) == 0 ? listen(control->socket_, 4) : -1;
  };
  if (control->socket_ < 0 || control->wake_ < 0 || WithAddress(directory, bind_and_listen) != 0) {
    return SystemError(absl::StrCat("can't listen at \"", control->path_, "\""));
  }
  control->thread_ = std::thread([raw = control.get()] { raw->Run(); });
  return control;
}

ControlSocket::~ControlSocket() {
  if (thread_.joinable()) {
    eventfd_write(wake_, 1);
    thread_.join();
    unlink(path_.c_str());
  }
  if (socket_ >= 0) close(socket_);
  if (wake_ >= 0) close(wake_);
}

void ControlSocket::Run() {
  while (true) {
    pollfd descriptors[] = {{socket_, POLLIN, 0}, {wake_, POLLIN, 0}};
    if (poll(descriptors, 2, -1) < 0) continue;
    if (descriptors[1].revents != 0) return;
    const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    Answer(connection);
    close(connection);
  }
}

void ControlSocket::Answer(int connection) {
  const timeval timeout = {.tv_sec = kRequestSeconds, .tv_usec = 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  const std::string line = ReadLine(connection);
  if (!absl::StartsWith(line, kBackup)) return WriteLine(connection, "error: the request is not known");
  const absl::Status status = on_backup_(line.substr(strlen(kBackup)));
  WriteLine(connection, status.ok() ? "ok" : absl::StrCat("error: ", status.message()));
}

absl::Status RequestBackup(const std::string& directory, const std::string& file) {
  if (file.size() > kLongestLine / 2 || absl::StrContains(file, '\n')) {
    return absl::InvalidArgumentError(
        absl::StrCat("--backup: a path of ", file.size(), " bytes, but it must be short and without newlines"));
  }
  const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0) return SystemError("can't make a socket");
  const absl::Cleanup closer = [&] { close(connection); };
  if (WithAddress(directory,
                  [&](const sockaddr* address, socklen_t size) { return connect(connection, address, size); }) != 0) {
    return absl::UnavailableError(absl::StrCat("can't reach the server of \"", directory, "\": ", strerror(errno)));
  }
  WriteLine(connection, absl::StrCat(kBackup, file));
  const std::string answer = ReadLine(connection);
  if (answer == "ok") return absl::OkStatus();
  absl::string_view message = answer;
  if (absl::ConsumePrefix(&message, "error: ")) return absl::FailedPreconditionError(message);
  return absl::UnavailableError("the server stopped before the copy was made");
}

}  // namespace fidelio
