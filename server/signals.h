// SignalThread: turns the signals of this process into calls of functions, in a thread of its own.
//
//   SIGTERM, SIGINT   the first: on_stop; the second: the process exits at once, with 128 + its number
//   SIGHUP            on_reload
//
// A second signal loses nothing: what was acknowledged is on disk. Create it before any other thread, so that all of them
// inherit that these signals are blocked.
#ifndef FIDELIO_SERVER_SIGNALS_H_
#define FIDELIO_SERVER_SIGNALS_H_

#include <functional>
#include <string>
#include <thread>

namespace fidelio {

class SignalThread {
 public:
  struct Functions {
    std::function<void(const std::string& signal)> on_stop;
    std::function<void()> on_reload;
    std::function<void(const std::string& signal)> on_second_stop;  // just before the exit; must be quick
  };

  SignalThread();
  ~SignalThread();
  SignalThread(const SignalThread&) = delete;
  SignalThread& operator=(const SignalThread&) = delete;

  // From now on signals call these. Those that came before do so now.
  void Start(Functions functions);

 private:
  void Run();

  int signals_ = -1;  // descriptors: of the signals,
  int wake_ = -1;     // and of the destructor's wish to end
  Functions functions_;
  std::thread thread_;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_SIGNALS_H_
