#include "server/signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

namespace fidelio {
namespace {

std::string Name(uint32_t number) {
  const char* name = sigabbrev_np(static_cast<int>(number));
  return std::string("SIG") + (name == nullptr ? "?" : name);
}

}  // namespace

SignalThread::SignalThread() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is then an error of a write, like a full disk
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC);
  if (signals_ < 0 || wake_ < 0) std::abort();  // no descriptors at the very start
}

SignalThread::~SignalThread() {
  if (thread_.joinable()) {
    eventfd_write(wake_, 1);
    thread_.join();
  }
  close(signals_);
  close(wake_);
}

void SignalThread::Start(Functions functions) {
  functions_ = std::move(functions);
  thread_ = std::thread([this] { Run(); });
}

void SignalThread::Run() {
  bool stopping = false;
  while (true) {
    pollfd descriptors[] = {{signals_, POLLIN, 0}, {wake_, POLLIN, 0}};
    if (poll(descriptors, 2, -1) < 0) continue;
    if (descriptors[1].revents != 0) return;
    signalfd_siginfo info;
    if (read(signals_, &info, sizeof info) != sizeof info) continue;
    if (info.ssi_signo == SIGHUP) {
      functions_.on_reload();
    } else if (!stopping) {
      stopping = true;
      functions_.on_stop(Name(info.ssi_signo));
    } else {
      functions_.on_second_stop(Name(info.ssi_signo));
      _exit(128 + static_cast<int>(info.ssi_signo));
    }
  }
}

}  // namespace fidelio
