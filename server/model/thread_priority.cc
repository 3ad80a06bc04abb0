#include "server/model/thread_priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace fidelio {

void LowerThreadPriority() {
  constexpr int kNice = 10;
  // On Linux both are properties of the thread, not of the process. A thread of SCHED_BATCH does not preempt others when
  // it wakes up.
  const sched_param none{};
  sched_setscheduler(0, SCHED_BATCH, &none);
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
}

}  // namespace fidelio
