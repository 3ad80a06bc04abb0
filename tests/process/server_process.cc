#include "tests/process/server_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"

namespace fidelio {
namespace {

constexpr int kPollMilliseconds = 2;  // between two looks at the port file
constexpr size_t kOutputEnd = 2000;
constexpr absl::Duration kStartTimeout = absl::Seconds(60);
constexpr int kMaxMessageBytes = 64 << 20;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Only calls that are safe after a fork of a process with threads.
[[noreturn]] void Become(const char* program, char* const* arguments, int input, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);  // it is gone already
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (input >= 0) dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(program, arguments);
  _exit(127);
}

// Starts a program. `input` < 0: standard input is this program's.
pid_t Spawn(const std::string& program, std::vector<std::string> arguments, int input, int output) {
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) Become(program.c_str(), argv.data(), input, output, parent);
  return pid;
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

int ExitCode(int wait_status) { return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -WTERMSIG(wait_status); }

}  // namespace

std::string ProgramBeside(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / name;
}

ServerProcess::ServerProcess(pid_t pid, std::string port_file, std::string output)
    : pid_(pid), port_file_(std::move(port_file)), output_(std::move(output)), launched_(absl::Now()) {}

absl::StatusOr<std::unique_ptr<ServerProcess>> ServerProcess::Launch(const std::string& program,
                                                                     std::vector<std::string> arguments,
                                                                     const std::string& directory) {
  if (access(program.c_str(), X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat(program, ": ", std::strerror(errno)));
  }
  static std::atomic<int> launches{0};  // so that no launch reads the port of another
  const std::string prefix = absl::StrCat(directory, "/", launches++);
  const std::string port_file = prefix + ".port", output = prefix + ".log";
  arguments.insert(arguments.end(), {"--port-file", port_file});
  const int out = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0) return absl::UnavailableError(absl::StrCat(output, ": ", std::strerror(errno)));
  const pid_t pid = Spawn(program, std::move(arguments), /*input=*/-1, out);
  close(out);
  if (pid < 0) return absl::UnavailableError(absl::StrCat("fork: ", std::strerror(errno)));
  return std::unique_ptr<ServerProcess>(new ServerProcess(pid, port_file, output));
}

ServerProcess::~ServerProcess() {
  Kill();
  std::error_code ignored;
  std::filesystem::remove(port_file_, ignored);
  std::filesystem::remove(output_, ignored);
}

bool ServerProcess::Running() {
  if (!ended_ && waitpid(pid_, &wait_status_, WNOHANG) == pid_) ended_ = true;
  return !ended_;
}

absl::Status ServerProcess::AwaitPort(absl::Duration timeout) {
  for (;;) {
    const std::string text = ReadAll(port_file_);
    if (!text.empty() && text.back() == '\n' && absl::SimpleAtoi(text, &port_)) {  // the whole of it
      time_to_port_ = absl::Now() - launched_;
      return absl::OkStatus();
    }
    if (!Running()) return absl::AbortedError(absl::StrCat("the server ended before it was ready:\n", OutputEnd()));
    if (absl::Now() - launched_ > timeout) {
      return absl::DeadlineExceededError(
          absl::StrCat("the server is not ready after ", absl::FormatDuration(timeout), ":\n", OutputEnd()));
    }
    poll(nullptr, 0, kPollMilliseconds);
  }
}

std::string ServerProcess::address() const { return absl::StrCat("127.0.0.1:", port_); }

std::shared_ptr<grpc::Channel> ServerProcess::NewChannel() const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  return grpc::CreateCustomChannel(address(), grpc::InsecureChannelCredentials(), arguments);
}

void ServerProcess::Signal(int number) {
  if (Running()) kill(pid_, number);
}

int ServerProcess::Wait() {
  if (!ended_) wait_status_ = WaitFor(pid_);
  ended_ = true;
  return ExitCode(wait_status_);
}

void ServerProcess::Kill() {
  Signal(SIGKILL);
  Wait();
}

bool ServerProcess::Stop(absl::Duration timeout) {
  Signal(SIGTERM);
  const absl::Time deadline = absl::Now() + timeout;
  while (Running() && absl::Now() < deadline) poll(nullptr, 0, kPollMilliseconds);
  const bool by_itself = !Running();
  Kill();
  return by_itself && ExitCode(wait_status_) == 0;
}

std::string ServerProcess::Output() const { return ReadAll(output_); }

std::string ServerProcess::OutputEnd() const {
  const std::string all = Output();
  return all.size() <= kOutputEnd ? all : all.substr(all.size() - kOutputEnd);
}

absl::StatusOr<std::unique_ptr<ServerProcess>> LaunchFidelio(const std::string& program, const std::string& data_dir,
                                                             const std::string& directory,
                                                             const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = {"--listen", "127.0.0.1:0", "--metrics-address", "off", "--data-dir", data_dir};
  if (std::find(flags.begin(), flags.end(), "--log-level") == flags.end()) {
    arguments.insert(arguments.end(), {"--log-level", "warning"});
  }
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return ServerProcess::Launch(program.empty() ? ProgramBeside("fidelio-server") : program, std::move(arguments),
                               directory);
}

absl::StatusOr<std::unique_ptr<ServerProcess>> StartFidelio(const std::string& program, const std::string& data_dir,
                                                            const std::string& directory,
                                                            const std::vector<std::string>& flags) {
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<ServerProcess> process, LaunchFidelio(program, data_dir, directory, flags));
  FIDELIO_RETURN_IF_ERROR(process->AwaitPort(kStartTimeout));
  return process;
}

CommandResult RunCommand(const std::string& program, const std::vector<std::string>& arguments,
                         const std::string& input) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) std::abort();
  if (write(in[1], input.data(), input.size()) != static_cast<ssize_t>(input.size())) std::abort();
  close(in[1]);
  const pid_t pid = Spawn(program, arguments, in[0], out[1]);
  close(in[0]);
  close(out[1]);
  CommandResult result;
  char buffer[4096];
  for (ssize_t size; (size = read(out[0], buffer, sizeof buffer)) > 0;) {
    result.output.append(buffer, static_cast<size_t>(size));
  }
  close(out[0]);
  result.code = ExitCode(WaitFor(pid));
  return result;
}

ProcessUse ReadProcessUse(pid_t pid) {
  ProcessUse use;
  const std::string status = ReadAll(absl::StrCat("/proc/", pid, "/status"));
  for (const absl::string_view line : absl::StrSplit(status, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar("\t "), absl::SkipEmpty());
    if (words.size() < 2) continue;
    int64_t* const value = words[0] == "Threads:" ? &use.threads
                           : words[0] == "VmRSS:" ? &use.resident_kib
                           : words[0] == "VmHWM:" ? &use.peak_resident_kib
                                                  : nullptr;
    if (value != nullptr && !absl::SimpleAtoi(words[1], value)) *value = 0;
  }
  return use;
}

}  // namespace fidelio
