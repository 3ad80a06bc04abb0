// ServerProcess: a fidelio-server in a process of its own, on a free port of the loopback. Killed when it goes out of
// scope.
#ifndef FIDELIO_TESTS_E2E_SERVER_PROCESS_H_
#define FIDELIO_TESTS_E2E_SERVER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "fidelio/v1/emulator.grpc.pb.h"

namespace fidelio {

class ServerProcess {
 public:
  // Waits until it listens. Arguments besides those that say where.
  explicit ServerProcess(const std::string& data_dir, const std::vector<std::string>& arguments = {});
  ~ServerProcess();

  v1::Emulator::Stub& stub() { return *stub_; }
  const std::string& address() const { return address_; }

  void Signal(int number);
  // Waits for its end; answers the exit code, or minus the signal that ended it.
  int Wait();
  // Waits for a line of the log with this text, or the end of the log. Answers the line, or nothing.
  std::string AwaitLine(const std::string& text);

 private:
  void ReadLog(int descriptor);

  pid_t pid_ = -1;
  bool ended_ = false;
  std::thread reader_;
  std::string address_;
  std::unique_ptr<v1::Emulator::Stub> stub_;

  absl::Mutex mutex_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
  bool log_ended_ ABSL_GUARDED_BY(mutex_) = false;
};

struct CommandResult {
  int code = 0;
  std::string output;  // standard output and error
};

// Runs fidelio-server to its end.
CommandResult RunServerCommand(const std::vector<std::string>& arguments, const std::string& input = "");

}  // namespace fidelio

#endif  // FIDELIO_TESTS_E2E_SERVER_PROCESS_H_
