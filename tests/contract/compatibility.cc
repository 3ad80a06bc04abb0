#include "tests/contract/compatibility.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"

namespace fidelio {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;
using google::protobuf::SourceLocation;

// "repeated fidelio.v1.Matrix", "optional uint32", "double in oneof data".
std::string TypeOf(const FieldDescriptor& field) {
  std::string type = field.is_repeated() ? "repeated " : field.has_optional_keyword() ? "optional " : "";
  absl::StrAppend(&type, field.type_name());
  if (field.message_type() != nullptr) absl::StrAppend(&type, " ", field.message_type()->full_name());
  if (field.enum_type() != nullptr) absl::StrAppend(&type, " ", field.enum_type()->full_name());
  if (field.is_repeated() && field.is_packable()) absl::StrAppend(&type, field.is_packed() ? " packed" : " unpacked");
  if (const auto* oneof = field.real_containing_oneof()) absl::StrAppend(&type, " in oneof ", oneof->name());
  return type;
}

std::string TypeOf(const MethodDescriptor& method) {
  return absl::StrCat("(", method.client_streaming() ? "stream " : "", method.input_type()->full_name(), ") returns (",
                      method.server_streaming() ? "stream " : "", method.output_type()->full_name(), ")");
}

class Comparison {
 public:
  explicit Comparison(const DescriptorPool& after) : after_(after) {}

  void File(const FileDescriptor& file) {
    for (int i = 0; i < file.message_type_count(); ++i) Message(*file.message_type(i));
    for (int i = 0; i < file.enum_type_count(); ++i) Enum(*file.enum_type(i));
    for (int i = 0; i < file.service_count(); ++i) Service(*file.service(i));
  }

  std::vector<std::string> Take() { return std::move(changes_); }

 private:
  template <typename... Parts>
  void Report(const Parts&... parts) {
    changes_.push_back(absl::StrCat(parts...));
  }

  void Message(const Descriptor& before) {
    const Descriptor* after = after_.FindMessageTypeByName(before.full_name());
    if (after == nullptr) return Report("message ", before.full_name(), " is gone");
    for (int i = 0; i < before.field_count(); ++i) Field(*before.field(i), *after);
    for (int i = 0; i < before.nested_type_count(); ++i) Message(*before.nested_type(i));
    for (int i = 0; i < before.enum_type_count(); ++i) Enum(*before.enum_type(i));
  }

  void Field(const FieldDescriptor& before, const Descriptor& message) {
    const FieldDescriptor* after = message.FindFieldByNumber(before.number());
    if (after == nullptr) {
      const FieldDescriptor* moved = message.FindFieldByName(before.name());
      return moved == nullptr
                 ? Report("field ", before.full_name(), " = ", before.number(), " is gone")
                 : Report("field ", before.full_name(), " had number ", before.number(), ", has ", moved->number());
    }
    if (after->name() != before.name()) {
      Report("field ", before.full_name(), " = ", before.number(), " is named ", after->name());
    }
    if (after->json_name() != before.json_name()) {
      Report("field ", before.full_name(), " was ", before.json_name(), " in JSON, is ", after->json_name());
    }
    if (const std::string was = TypeOf(before), is = TypeOf(*after); was != is) {
      Report("field ", before.full_name(), " was ", was, ", is ", is);
    }
  }

  void Enum(const EnumDescriptor& before) {
    const EnumDescriptor* after = after_.FindEnumTypeByName(before.full_name());
    if (after == nullptr) return Report("enum ", before.full_name(), " is gone");
    for (int i = 0; i < before.value_count(); ++i) {
      const auto& value = *before.value(i);
      const auto* same = after->FindValueByName(value.name());
      if (same == nullptr) {
        Report("value ", value.full_name(), " = ", value.number(), " is gone");
      } else if (same->number() != value.number()) {
        Report("value ", value.full_name(), " had number ", value.number(), ", has ", same->number());
      }
    }
  }

  void Service(const ServiceDescriptor& before) {
    const ServiceDescriptor* after = after_.FindServiceByName(before.full_name());
    if (after == nullptr) return Report("service ", before.full_name(), " is gone");
    for (int i = 0; i < before.method_count(); ++i) {
      const MethodDescriptor& method = *before.method(i);
      const MethodDescriptor* same = after->FindMethodByName(method.name());
      if (same == nullptr) {
        Report("rpc ", method.full_name(), " is gone");
      } else if (TypeOf(*same) != TypeOf(method)) {
        Report("rpc ", method.full_name(), " was ", TypeOf(method), ", is ", TypeOf(*same));
      }
    }
  }

  const DescriptorPool& after_;
  std::vector<std::string> changes_;
};

// Lists what lacks a comment.
class CommentSearch {
 public:
  void File(const FileDescriptor& file) {
    for (int i = 0; i < file.message_type_count(); ++i) Message(*file.message_type(i));
    for (int i = 0; i < file.enum_type_count(); ++i) Enum(*file.enum_type(i));
    for (int i = 0; i < file.service_count(); ++i) {
      Check(*file.service(i));
      for (int j = 0; j < file.service(i)->method_count(); ++j) Check(*file.service(i)->method(j));
    }
  }

  std::vector<std::string> Take() { return std::move(uncommented_); }

 private:
  template <typename D>
  void Check(const D& descriptor) {
    SourceLocation location;
    if (!descriptor.GetSourceLocation(&location) || location.leading_comments.empty()) {
      uncommented_.push_back(descriptor.full_name());
    }
  }

  void Message(const Descriptor& message) {
    if (message.options().map_entry()) return;
    Check(message);
    for (int i = 0; i < message.field_count(); ++i) Check(*message.field(i));
    for (int i = 0; i < message.real_oneof_decl_count(); ++i) Check(*message.oneof_decl(i));
    for (int i = 0; i < message.nested_type_count(); ++i) Message(*message.nested_type(i));
    for (int i = 0; i < message.enum_type_count(); ++i) Enum(*message.enum_type(i));
  }

  void Enum(const EnumDescriptor& type) {
    Check(type);
    for (int i = 0; i < type.value_count(); ++i) Check(*type.value(i));
  }

  std::vector<std::string> uncommented_;
};

// Fills `pool` with the files of a set, which come in the order of their imports. What can't be built is returned as
// text.
std::vector<std::string> Build(const FileDescriptorSet& set, DescriptorPool* pool) {
  std::vector<std::string> errors;
  for (const FileDescriptorProto& file : set.file()) {
    if (pool->BuildFile(file) == nullptr) errors.push_back(absl::StrCat("file ", file.name(), " can't be built"));
  }
  return errors;
}

}  // namespace

std::vector<std::string> BreakingChanges(const FileDescriptorSet& before, const FileDescriptorSet& after) {
  DescriptorPool old_pool, new_pool;
  if (auto errors = Build(before, &old_pool); !errors.empty()) return errors;
  if (auto errors = Build(after, &new_pool); !errors.empty()) return errors;
  Comparison comparison(new_pool);
  for (const FileDescriptorProto& file : before.file()) {
    if (file.package() != "google.protobuf") comparison.File(*old_pool.FindFileByName(file.name()));
  }
  return comparison.Take();
}

std::vector<std::string> Uncommented(const FileDescriptorSet& set, const std::string& package) {
  DescriptorPool pool;
  if (auto errors = Build(set, &pool); !errors.empty()) return errors;
  CommentSearch search;
  for (const FileDescriptorProto& file : set.file()) {
    if (file.package() == package) search.File(*pool.FindFileByName(file.name()));
  }
  return search.Take();
}

}  // namespace fidelio
