// Tells the thread sanitizer about Abseil's mutexes.
//
// Debian's Abseil is compiled without the sanitizer, which therefore does not see that an absl::Mutex orders anything and
// reports everything that one guards as a race. In builds with the sanitizer the linker sends the project's calls of these
// functions here (--wrap, tests/CMakeLists.txt). Conditions are evaluated by the waiting thread only, a thousand times a
// second, because Abseil would evaluate them where the sanitizer cannot see that the mutex is held.
#include <sanitizer/tsan_interface.h>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace {

using absl::Condition;
using absl::CondVar;
using absl::Duration;
using absl::Mutex;
using absl::Notification;
using absl::Time;

// Names of the functions as the linker knows them.
#define FIDELIO_REAL(symbol) __real__ZN4absl7debian3##symbol
#define FIDELIO_WRAP(symbol) __wrap__ZN4absl7debian3##symbol
#define FIDELIO_REAL_CONST(symbol) __real__ZNK4absl7debian3##symbol
#define FIDELIO_WRAP_CONST(symbol) __wrap__ZNK4absl7debian3##symbol

}  // namespace

extern "C" {

void FIDELIO_REAL(5Mutex4LockEv)(Mutex*);
void FIDELIO_REAL(5Mutex6UnlockEv)(Mutex*);
bool FIDELIO_REAL(5Mutex7TryLockEv)(Mutex*);
void FIDELIO_REAL(5Mutex10ReaderLockEv)(Mutex*);
void FIDELIO_REAL(5Mutex12ReaderUnlockEv)(Mutex*);
void FIDELIO_REAL(7CondVar4WaitEPNS0_5MutexE)(CondVar*, Mutex*);
bool FIDELIO_REAL(7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE)(CondVar*, Mutex*, Duration);
bool FIDELIO_REAL(7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE)(CondVar*, Mutex*, Time);
void FIDELIO_REAL(12Notification6NotifyEv)(Notification*);
void FIDELIO_REAL_CONST(12Notification19WaitForNotificationEv)(const Notification*);
bool FIDELIO_REAL_CONST(12Notification30WaitForNotificationWithTimeoutENS0_8DurationE)(const Notification*, Duration);

void FIDELIO_WRAP(5Mutex4LockEv)(Mutex* mutex) {
  FIDELIO_REAL(5Mutex4LockEv)(mutex);
  __tsan_acquire(mutex);
}

void FIDELIO_WRAP(5Mutex6UnlockEv)(Mutex* mutex) {
  __tsan_release(mutex);
  FIDELIO_REAL(5Mutex6UnlockEv)(mutex);
}

bool FIDELIO_WRAP(5Mutex7TryLockEv)(Mutex* mutex) {
  const bool locked = FIDELIO_REAL(5Mutex7TryLockEv)(mutex);
  if (locked) __tsan_acquire(mutex);
  return locked;
}

void FIDELIO_WRAP(5Mutex10ReaderLockEv)(Mutex* mutex) {
  FIDELIO_REAL(5Mutex10ReaderLockEv)(mutex);
  __tsan_acquire(mutex);
}

void FIDELIO_WRAP(5Mutex12ReaderUnlockEv)(Mutex* mutex) {
  __tsan_release(mutex);
  FIDELIO_REAL(5Mutex12ReaderUnlockEv)(mutex);
}

bool FIDELIO_WRAP(5Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE)(Mutex* mutex, const Condition& condition,
                                                                         Time deadline) {
  while (!condition.Eval()) {
    if (absl::Now() >= deadline) return false;
    FIDELIO_WRAP(5Mutex6UnlockEv)(mutex);
    absl::SleepFor(absl::Milliseconds(1));
    FIDELIO_WRAP(5Mutex4LockEv)(mutex);
  }
  return true;
}

bool FIDELIO_WRAP(5Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE)(Mutex* mutex, const Condition& condition,
                                                                            Duration timeout) {
  return FIDELIO_WRAP(5Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE)(mutex, condition, absl::Now() + timeout);
}

void FIDELIO_WRAP(5Mutex5AwaitERKNS0_9ConditionE)(Mutex* mutex, const Condition& condition) {
  FIDELIO_WRAP(5Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE)(mutex, condition, absl::InfiniteFuture());
}

void FIDELIO_WRAP(5Mutex8LockWhenERKNS0_9ConditionE)(Mutex* mutex, const Condition& condition) {
  FIDELIO_WRAP(5Mutex4LockEv)(mutex);
  FIDELIO_WRAP(5Mutex5AwaitERKNS0_9ConditionE)(mutex, condition);
}

void FIDELIO_WRAP(7CondVar4WaitEPNS0_5MutexE)(CondVar* variable, Mutex* mutex) {
  __tsan_release(mutex);
  FIDELIO_REAL(7CondVar4WaitEPNS0_5MutexE)(variable, mutex);
  __tsan_acquire(mutex);
}

bool FIDELIO_WRAP(7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE)(CondVar* variable, Mutex* mutex,
                                                                        Duration timeout) {
  __tsan_release(mutex);
  const bool expired = FIDELIO_REAL(7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE)(variable, mutex, timeout);
  __tsan_acquire(mutex);
  return expired;
}

bool FIDELIO_WRAP(7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE)(CondVar* variable, Mutex* mutex, Time deadline) {
  __tsan_release(mutex);
  const bool expired = FIDELIO_REAL(7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE)(variable, mutex, deadline);
  __tsan_acquire(mutex);
  return expired;
}

void FIDELIO_WRAP(12Notification6NotifyEv)(Notification* notification) {
  __tsan_release(notification);
  FIDELIO_REAL(12Notification6NotifyEv)(notification);
}

void FIDELIO_WRAP_CONST(12Notification19WaitForNotificationEv)(const Notification* notification) {
  FIDELIO_REAL_CONST(12Notification19WaitForNotificationEv)(notification);
  __tsan_acquire(const_cast<Notification*>(notification));
}

bool FIDELIO_WRAP_CONST(12Notification30WaitForNotificationWithTimeoutENS0_8DurationE)(const Notification* notification,
                                                                                       Duration timeout) {
  const bool notified =
      FIDELIO_REAL_CONST(12Notification30WaitForNotificationWithTimeoutENS0_8DurationE)(notification, timeout);
  if (notified) __tsan_acquire(const_cast<Notification*>(notification));
  return notified;
}

}  // extern "C"
