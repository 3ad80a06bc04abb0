#include "server/rpc/methods.h"

#include "fidelio/v1/emulator.grpc.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/generated_message_reflection.h"

namespace fidelio {

std::vector<std::string> MethodNames() {
  // The file of the service has no message that code refers to: without this, linkers leave it in its library, and
  // neither this function nor reflection finds the service.
  google::protobuf::internal::AssignDescriptors(&descriptor_table_fidelio_2fv1_2femulator_2eproto);
  std::vector<std::string> names;
  const google::protobuf::ServiceDescriptor* service =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(v1::Emulator::service_full_name());
  for (int i = 0; service != nullptr && i < service->method_count(); ++i) names.push_back(service->method(i)->name());
  return names;
}

}  // namespace fidelio
