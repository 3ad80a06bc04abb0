// The contract does not take anything away from programs that use it, and explains everything it has.

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/descriptor.pb.h"
#include "gtest/gtest.h"
#include "tests/contract/compatibility.h"

namespace fidelio {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::EnumDescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using google::protobuf::MethodDescriptorProto;

FileDescriptorSet Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  FileDescriptorSet set;
  EXPECT_TRUE(set.ParseFromIstream(&file)) << path;
  return set;
}

FileDescriptorSet Golden() { return Read(FIDELIO_GOLDEN_DESCRIPTOR_SET); }
FileDescriptorSet Current() { return Read(FIDELIO_DESCRIPTOR_SET); }

TEST(ContractTest, KeepsAllThatTheGoldenDescriptorSetHas) {
  const std::vector<std::string> changes = BreakingChanges(Golden(), Current());
  EXPECT_TRUE(changes.empty()) << absl::StrJoin(changes, "\n");
}

TEST(ContractTest, ExplainsEveryMessageFieldEnumValueAndRpc) {
  const std::vector<std::string> uncommented = Uncommented(Current(), "fidelio.v1");
  EXPECT_TRUE(uncommented.empty()) << absl::StrJoin(uncommented, "\n");
}

TEST(ContractTest, EveryEnumBeginsWithUnspecified) {
  const FileDescriptorSet set = Current();
  int enums = 0;
  for (const FileDescriptorProto& file : set.file()) {
    if (file.package() != "fidelio.v1") continue;
    for (const EnumDescriptorProto& type : file.enum_type()) {
      ++enums;
      EXPECT_EQ(type.value(0).number(), 0) << type.name();
      EXPECT_TRUE(absl::EndsWith(type.value(0).name(), "_UNSPECIFIED")) << type.name();
    }
  }
  EXPECT_GT(enums, 0);
}

TEST(ContractTest, EveryMutationTakesARequestId) {
  const std::vector<std::string> mutations = {
      "CreateModelRequest",         "UpdateModelRequest",   "DeleteModelRequest",
      "AddObservationsRequest",     "FitRequest",           "CancelFitRequest",
      "RollbackModelRequest",       "ImportModelHeader",    "WithdrawObservationsRequest",
      "CorrectObservationsRequest", "DeleteRevisionRequest"};
  const FileDescriptorSet set = Current();
  size_t found = 0;
  for (const FileDescriptorProto& file : set.file()) {
    for (const DescriptorProto& message : file.message_type()) {
      for (const FieldDescriptorProto& field : message.field()) {
        if (field.name() != "request_id" || file.package() != "fidelio.v1") continue;
        ++found;
        EXPECT_NE(std::find(mutations.begin(), mutations.end(), message.name()), mutations.end()) << message.name();
      }
    }
  }
  EXPECT_EQ(found, mutations.size());
}

// The parts of the contract that the variants below change.
FileDescriptorProto* File(FileDescriptorSet* set, const std::string& name) {
  for (FileDescriptorProto& file : *set->mutable_file()) {
    if (file.name() == name) return &file;
  }
  ADD_FAILURE() << "no file " << name;
  return nullptr;
}

template <typename List>
auto* Named(List* list, const std::string& name) {
  for (auto& item : *list) {
    if (item.name() == name) return &item;
  }
  ADD_FAILURE() << "nothing is named " << name;
  return &(*list)[0];
}

template <typename List>
void Remove(List* list, const std::string& name) {
  for (int i = 0; i < list->size(); ++i) {
    if ((*list)[i].name() == name) {
      list->DeleteSubrange(i, 1);
      return;
    }
  }
  ADD_FAILURE() << "nothing is named " << name;
}

DescriptorProto* Message(FileDescriptorSet* set, const std::string& file, const std::string& name) {
  return Named(File(set, file)->mutable_message_type(), name);
}

FieldDescriptorProto* MatrixField(FileDescriptorSet* set, const std::string& name) {
  return Named(Message(set, "fidelio/v1/matrix.proto", "Matrix")->mutable_field(), name);
}

EnumDescriptorProto* FitState(FileDescriptorSet* set) {
  return Named(File(set, "fidelio/v1/fit.proto")->mutable_enum_type(), "FitState");
}

MethodDescriptorProto* Rpc(FileDescriptorSet* set, const std::string& name) {
  return Named(File(set, "fidelio/v1/emulator.proto")->mutable_service(0)->mutable_method(), name);
}

struct Variant {
  std::string name;
  std::function<void(FileDescriptorSet*)> change;
  std::string reports;  // one per change, separated by "|"; empty: nothing breaks
};

class CompatibilityTest : public ::testing::TestWithParam<Variant> {};

TEST_P(CompatibilityTest, ReportsWhatBreaksAndNothingElse) {
  FileDescriptorSet changed = Golden();
  GetParam().change(&changed);
  EXPECT_EQ(absl::StrJoin(BreakingChanges(Golden(), changed), "|"), GetParam().reports);
}

INSTANTIATE_TEST_SUITE_P(
    Variants, CompatibilityTest,
    ::testing::Values(
        Variant{"Unchanged", [](FileDescriptorSet*) {}, ""},
        Variant{"FieldAdded",
                [](FileDescriptorSet* set) {
                  auto* field = Message(set, "fidelio/v1/matrix.proto", "Matrix")->add_field();
                  field->set_name("unit");
                  field->set_number(9);
                  field->set_type(FieldDescriptorProto::TYPE_STRING);
                  field->set_label(FieldDescriptorProto::LABEL_OPTIONAL);
                },
                ""},
        Variant{"EnumValueAdded",
                [](FileDescriptorSet* set) {
                  auto* value = FitState(set)->add_value();
                  value->set_name("FIT_STATE_PAUSED");
                  value->set_number(6);
                },
                ""},
        Variant{"RpcAdded",
                [](FileDescriptorSet* set) {
                  MethodDescriptorProto rpc = *Rpc(set, "Predict");
                  rpc.set_name("Guess");
                  *File(set, "fidelio/v1/emulator.proto")->mutable_service(0)->add_method() = rpc;
                },
                ""},
        Variant{"FieldRemoved",
                [](FileDescriptorSet* set) {
                  Remove(Message(set, "fidelio/v1/matrix.proto", "Matrix")->mutable_field(), "cols");
                },
                "field fidelio.v1.Matrix.cols = 2 is gone"},
        Variant{"FieldRenamed",
                [](FileDescriptorSet* set) {
                  MatrixField(set, "cols")->set_json_name("columns");
                  MatrixField(set, "cols")->set_name("columns");
                },
                "field fidelio.v1.Matrix.cols = 2 is named columns|"
                "field fidelio.v1.Matrix.cols was cols in JSON, is columns"},
        Variant{"FieldRenumbered", [](FileDescriptorSet* set) { MatrixField(set, "cols")->set_number(7); },
                "field fidelio.v1.Matrix.cols had number 2, has 7"},
        Variant{"FieldRetyped",
                [](FileDescriptorSet* set) { MatrixField(set, "cols")->set_type(FieldDescriptorProto::TYPE_SINT32); },
                "field fidelio.v1.Matrix.cols was uint32, is sint32"},
        Variant{"MessageFieldRetyped",
                [](FileDescriptorSet* set) { MatrixField(set, "values")->set_type_name(".fidelio.v1.Matrix"); },
                "field fidelio.v1.Matrix.values was message fidelio.v1.DoubleList in oneof data, is message "
                "fidelio.v1.Matrix in oneof data"},
        Variant{
            "FieldRepeated",
            [](FileDescriptorSet* set) { MatrixField(set, "cols")->set_label(FieldDescriptorProto::LABEL_REPEATED); },
            "field fidelio.v1.Matrix.cols was uint32, is repeated uint32 packed"},
        Variant{"FieldLosesPresence",
                [](FileDescriptorSet* set) {
                  DescriptorProto* fidelity = Message(set, "fidelio/v1/model.proto", "Fidelity");
                  FieldDescriptorProto* cost = Named(fidelity->mutable_field(), "cost");
                  cost->clear_proto3_optional();
                  cost->clear_oneof_index();
                  fidelity->clear_oneof_decl();
                },
                "field fidelio.v1.Fidelity.cost was optional double, is double"},
        Variant{"FieldLeavesOneof", [](FileDescriptorSet* set) { MatrixField(set, "f64_le")->clear_oneof_index(); },
                "field fidelio.v1.Matrix.f64_le was bytes in oneof data, is bytes"},
        Variant{"MessageRemoved",
                [](FileDescriptorSet* set) {
                  Remove(Message(set, "fidelio/v1/model.proto", "Model")->mutable_field(), "input_box");
                  Remove(File(set, "fidelio/v1/model.proto")->mutable_message_type(), "InputBox");
                },
                "field fidelio.v1.Model.input_box = 4 is gone|message fidelio.v1.InputBox is gone"},
        Variant{"EnumValueRemoved",
                [](FileDescriptorSet* set) { Remove(FitState(set)->mutable_value(), "FIT_STATE_CANCELLED"); },
                "value fidelio.v1.FIT_STATE_CANCELLED = 5 is gone"},
        Variant{
            "EnumValueRenumbered",
            [](FileDescriptorSet* set) { Named(FitState(set)->mutable_value(), "FIT_STATE_CANCELLED")->set_number(8); },
            "value fidelio.v1.FIT_STATE_CANCELLED had number 5, has 8"},
        Variant{"RpcRemoved",
                [](FileDescriptorSet* set) {
                  Remove(File(set, "fidelio/v1/emulator.proto")->mutable_service(0)->mutable_method(), "Predict");
                },
                "rpc fidelio.v1.Emulator.Predict is gone"},
        Variant{"RpcRetyped",
                [](FileDescriptorSet* set) { Rpc(set, "GetFit")->set_output_type(".fidelio.v1.WatchFitResponse"); },
                "rpc fidelio.v1.Emulator.GetFit was (fidelio.v1.GetFitRequest) returns (fidelio.v1.Fit), is "
                "(fidelio.v1.GetFitRequest) returns (fidelio.v1.WatchFitResponse)"},
        Variant{
            "RpcStreams", [](FileDescriptorSet* set) { Rpc(set, "Predict")->set_server_streaming(true); },
            "rpc fidelio.v1.Emulator.Predict was (fidelio.v1.PredictRequest) returns (fidelio.v1.PredictResponse), is "
            "(fidelio.v1.PredictRequest) returns (stream fidelio.v1.PredictResponse)"}),
    [](const auto& parameters) { return parameters.param.name; });

TEST(UncommentedTest, NamesWhatLostItsComment) {
  FileDescriptorSet set = Current();
  FileDescriptorProto* file = File(&set, "fidelio/v1/matrix.proto");
  // Paths are those of descriptor.proto: message 4, field 2, enum 5.
  for (auto& location : *file->mutable_source_code_info()->mutable_location()) {
    const std::vector<int> path(location.path().begin(), location.path().end());
    if (path == std::vector<int>{4, 0, 2, 1} || path == std::vector<int>{5, 0}) location.clear_leading_comments();
  }
  EXPECT_EQ(Uncommented(set, "fidelio.v1"),
            (std::vector<std::string>{"fidelio.v1.Matrix.cols", "fidelio.v1.MatrixEncoding"}));
}

}  // namespace
}  // namespace fidelio
