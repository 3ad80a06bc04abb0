#include "tests/e2e/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"

namespace fidelio {
namespace {

// Starts fidelio-server with its standard output and error in a pipe, whose end to read from is answered.
pid_t Spawn(const std::vector<std::string>& arguments, int standard_input, int* output) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) std::abort();
  std::vector<std::string> words = {FIDELIO_SERVER_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    if (standard_input >= 0) dup2(standard_input, STDIN_FILENO);
    dup2(pipe_ends[1], STDOUT_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(pipe_ends[1]);
  *output = pipe_ends[0];
  return pid;
}

int WaitFor(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) std::abort();
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

ServerProcess::ServerProcess(const std::string& data_dir, const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {"--listen", "127.0.0.1:0", "--data-dir", data_dir, "--metrics-address", "off"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  int output = -1;
  pid_ = Spawn(all, -1, &output);
  reader_ = std::thread([this, output] { ReadLog(output); });
  const std::string line = AwaitLine(" listening ");
  const size_t colon = line.find("address=127.0.0.1:");
  if (colon == std::string::npos) {
    absl::MutexLock lock(&mutex_);
    for (const std::string& told : lines_) ADD_FAILURE() << told;
    std::abort();  // nothing of the test makes sense
  }
  address_ = line.substr(colon + 8, line.find(' ', colon) - colon - 8);
  const auto channel = grpc::CreateChannel(address_, grpc::InsecureChannelCredentials());
  EXPECT_TRUE(channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(30)));
  stub_ = v1::Emulator::NewStub(channel);
}

ServerProcess::~ServerProcess() {
  if (!ended_) {
    Signal(SIGKILL);
    Wait();
  }
  reader_.join();
}

void ServerProcess::Signal(int number) { kill(pid_, number); }

int ServerProcess::Wait() {
  ended_ = true;
  return WaitFor(pid_);
}

std::string ServerProcess::AwaitLine(const std::string& text) {
  std::string found;
  const auto there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const std::string& line : lines_) {
      if (absl::StrContains(line, text)) found = line;
    }
    return !found.empty() || log_ended_;
  };
  absl::MutexLock lock(&mutex_, absl::Condition(&there));
  return found;
}

void ServerProcess::ReadLog(int descriptor) {
  FILE* file = fdopen(descriptor, "r");
  char* line = nullptr;
  size_t capacity = 0;
  while (getline(&line, &capacity, file) > 0) {
    absl::MutexLock lock(&mutex_);
    lines_.push_back(line);
  }
  free(line);
  fclose(file);
  absl::MutexLock lock(&mutex_);
  log_ended_ = true;
}

CommandResult RunServerCommand(const std::vector<std::string>& arguments, const std::string& input) {
  int input_ends[2];
  if (pipe2(input_ends, O_CLOEXEC) != 0) std::abort();
  if (write(input_ends[1], input.data(), input.size()) != static_cast<ssize_t>(input.size())) std::abort();
  close(input_ends[1]);
  int output = -1;
  const pid_t pid = Spawn(arguments, input_ends[0], &output);
  close(input_ends[0]);
  CommandResult result;
  char buffer[4096];
  for (ssize_t size; (size = read(output, buffer, sizeof buffer)) > 0;) {
    result.output.append(buffer, static_cast<size_t>(size));
  }
  close(output);
  result.code = WaitFor(pid);
  return result;
}

}  // namespace fidelio
