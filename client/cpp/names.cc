#include "client/cpp/names.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace fidelio::client {
namespace {

constexpr char kModels[] = "models/";

std::string Child(absl::string_view model, absl::string_view collection, absl::string_view id) {
  if (absl::StartsWith(id, kModels)) return std::string(id);
  return absl::StrCat(ModelName(model), "/", collection, "/", id);
}

}  // namespace

std::string ModelName(absl::string_view model) {
  return absl::StartsWith(model, kModels) ? std::string(model) : absl::StrCat(kModels, model);
}

std::string FitName(absl::string_view model, absl::string_view fit) { return Child(model, "fits", fit); }

std::string RevisionName(absl::string_view model, absl::string_view revision) {
  return Child(model, "revisions", revision);
}

std::string ShortName(absl::string_view name) {
  const size_t slash = name.rfind('/');
  return std::string(slash == absl::string_view::npos ? name : name.substr(slash + 1));
}

}  // namespace fidelio::client
