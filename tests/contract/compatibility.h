// BreakingChanges: what a new version of the contract takes away from programs that were written for an older one.
//
// Breaking: a message, field, enum, enum value, service or RPC that is gone or renamed; a field with another number,
// type, label, presence or oneof; an enum value with another number; an RPC with other types or other streams.
// Additions are not.
#ifndef FIDELIO_TESTS_CONTRACT_COMPATIBILITY_H_
#define FIDELIO_TESTS_CONTRACT_COMPATIBILITY_H_

#include <string>
#include <vector>

#include "google/protobuf/descriptor.pb.h"

namespace fidelio {

// One line per breaking change, empty when there is none. Both sets hold all their imports. Files of google.protobuf,
// which every language brings itself, are not compared.
std::vector<std::string> BreakingChanges(const google::protobuf::FileDescriptorSet& before,
                                         const google::protobuf::FileDescriptorSet& after);

// Full names of all that `package` defines without a comment in front of it. The set holds source information.
std::vector<std::string> Uncommented(const google::protobuf::FileDescriptorSet& set, const std::string& package);

}  // namespace fidelio

#endif  // FIDELIO_TESTS_CONTRACT_COMPATIBILITY_H_
