// Priority of threads, for work that must not get in the way of predictions.
#ifndef FIDELIO_SERVER_MODEL_THREAD_PRIORITY_H_
#define FIDELIO_SERVER_MODEL_THREAD_PRIORITY_H_

namespace fidelio {

// Lowers the priority of the calling thread, and of all threads that it starts from now on (Linux: they inherit it).
// Where that is not possible the thread keeps its priority.
void LowerThreadPriority();

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_THREAD_PRIORITY_H_
