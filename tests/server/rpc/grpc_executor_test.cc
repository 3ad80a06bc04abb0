#include "server/rpc/grpc_executor.h"

#include <dirent.h>

#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "grpcpp/completion_queue.h"
#include "gtest/gtest.h"

namespace fidelio {
namespace {

// Threads of this process whose name begins so.
int CountThreads(const std::string& name) {
  int count = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), &closedir);
  while (const dirent* const task = readdir(tasks.get())) {
    std::string comm;
    std::getline(std::ifstream(std::string("/proc/self/task/") + task->d_name + "/comm"), comm);
    if (comm.starts_with(name)) ++count;
  }
  return count;
}

TEST(GrpcExecutorTest, ItsThreadsEnd) {
  grpc::CompletionQueue queue;  // gRPC is in use
  EXPECT_TRUE(StopGrpcExecutor());
  while (CountThreads("default-execut") > 0) std::this_thread::yield();  // joined, but the kernel may still show it
  EXPECT_TRUE(StopGrpcExecutor()) << "again, without effect";
  queue.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  EXPECT_FALSE(queue.Next(&tag, &ok));
}

}  // namespace
}  // namespace fidelio
