#include "server/rpc/emulator_service.h"

#include "server/rpc/unary_context.h"

namespace fidelio {

grpc::Status EmulatorService::Unary(const Method& method, Context* context, const Message& request,
                                    const Message& response, absl::FunctionRef<absl::Status(Call& call)> body) {
  Call& call = UnaryContext::Of(context).Begin(parts_.environment, method);
  call.CountReceived(request);
  absl::Status status = call.Admit();
  if (status.ok()) status = body(call);
  if (status.ok()) call.CountSent(response);
  return call.End(std::move(status));
}

grpc::Status EmulatorService::Stream(const Method& method, Context* context,
                                     absl::FunctionRef<absl::Status(Call& call)> body) {
  parts_.environment.guard->OnTaken(*context);
  Call call(parts_.environment, method, CallGate::Kind::kStream, context);
  absl::Status status = call.Admit();
  if (status.ok()) status = body(call);
  return call.End(std::move(status));
}

}  // namespace fidelio
