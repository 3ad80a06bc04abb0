// ServerProcess: a server as a process of its own, on a free port of the loopback, from its launch to its end.
//
// The program takes --port-file FILE and writes its port there once it answers. What it prints goes to a file, the end of
// which is part of every error. The process does not outlive the thread that launched it. Not thread-safe.
#ifndef FIDELIO_TESTS_PROCESS_SERVER_PROCESS_H_
#define FIDELIO_TESTS_PROCESS_SERVER_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/channel.h"

namespace fidelio {

// A file beside the running program: fidelio-server beside fidelio-bench, or fidelio-bench itself.
std::string ProgramBeside(const std::string& name);

class ServerProcess {
 public:
  // Starts the program without waiting for it. `directory` takes its port file and its output.
  static absl::StatusOr<std::unique_ptr<ServerProcess>> Launch(const std::string& program,
                                                               std::vector<std::string> arguments,
                                                               const std::string& directory);
  // Kills the process if it still runs.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Waits until the port file is there. ABORTED when the process ends before, DEADLINE_EXCEEDED when `timeout` does.
  absl::Status AwaitPort(absl::Duration timeout);

  // Time from the launch until AwaitPort saw the port.
  absl::Duration time_to_port() const { return time_to_port_; }
  pid_t pid() const { return pid_; }
  int port() const { return port_; }  // after AwaitPort
  std::string address() const;        // after AwaitPort

  // A connection of its own, shared with no other channel.
  std::shared_ptr<grpc::Channel> NewChannel() const;

  void Signal(int number);
  // Waits for its end; answers the exit code, or minus the signal that ended it.
  int Wait();
  // SIGKILL; returns once the process is gone.
  void Kill();
  // SIGTERM, and SIGKILL after `timeout`. Whether it ended by itself, with exit code 0.
  bool Stop(absl::Duration timeout);
  // Whether it still runs.
  bool Running();

  // What it printed so far, and the last lines of that.
  std::string Output() const;
  std::string OutputEnd() const;

 private:
  ServerProcess(pid_t pid, std::string port_file, std::string output);

  const pid_t pid_;
  const std::string port_file_;
  const std::string output_;
  const absl::Time launched_;
  absl::Duration time_to_port_;
  int port_ = 0;
  bool ended_ = false;
  int wait_status_ = 0;
};

// fidelio-server on a data directory, launched and ready. `program` empty: the one beside this program. `flags` come
// after those that all need: a free port, no metrics, and warnings only unless they say --log-level.
absl::StatusOr<std::unique_ptr<ServerProcess>> LaunchFidelio(const std::string& program, const std::string& data_dir,
                                                             const std::string& directory,
                                                             const std::vector<std::string>& flags);
absl::StatusOr<std::unique_ptr<ServerProcess>> StartFidelio(const std::string& program, const std::string& data_dir,
                                                            const std::string& directory,
                                                            const std::vector<std::string>& flags);

// Runs a program to its end.
struct CommandResult {
  int code = 0;        // minus the signal that ended it
  std::string output;  // standard output and error
};
CommandResult RunCommand(const std::string& program, const std::vector<std::string>& arguments,
                         const std::string& input = "");

// What /proc says about a process; 0 when it is gone.
struct ProcessUse {
  int64_t threads = 0;
  int64_t resident_kib = 0;
  int64_t peak_resident_kib = 0;
};
ProcessUse ReadProcessUse(pid_t pid);

}  // namespace fidelio

#endif  // FIDELIO_TESTS_PROCESS_SERVER_PROCESS_H_
