// ControlSocket: how other processes of the same user ask a running server for things, by the socket control.sock in its
// data directory, which nobody else may open.
//
//   request   "backup " and an absolute path, newline
//   answer    "ok" or "error: " and a message, newline
//
// One request at a time, in a thread of its own. Thread-safe.
#ifndef FIDELIO_SERVER_CONTROL_SOCKET_H_
#define FIDELIO_SERVER_CONTROL_SOCKET_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace fidelio {

class ControlSocket {
 public:
  // The caller has the lock of the directory: a socket that is there is left from a process that died.
  static absl::StatusOr<std::unique_ptr<ControlSocket>> Open(
      const std::string& directory, std::function<absl::Status(const std::string& path)> on_backup);
  // Waits for the request that is being answered.
  ~ControlSocket();

 private:
  ControlSocket() = default;
  void Run();
  void Answer(int connection);

  std::function<absl::Status(const std::string& path)> on_backup_;
  std::string path_;
  int socket_ = -1;
  int wake_ = -1;  // the destructor's wish to end
  std::thread thread_;
};

// Has the server of this data directory write a copy to `file`, an absolute path. UNAVAILABLE when there is no server.
absl::Status RequestBackup(const std::string& directory, const std::string& file);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_CONTROL_SOCKET_H_
