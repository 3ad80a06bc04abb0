#include "server/rpc/grpc_executor.h"

#include <dlfcn.h>

namespace fidelio {

bool StopGrpcExecutor() {
  // static void grpc_core::Executor::SetThreadingDefault(bool enable)
  using SetThreadingDefault = void(bool enable);
  auto* const set =
      reinterpret_cast<SetThreadingDefault*>(dlsym(RTLD_DEFAULT, "_ZN9grpc_core8Executor19SetThreadingDefaultEb"));
  if (set == nullptr) return false;
  set(false);
  return true;
}

}  // namespace fidelio
