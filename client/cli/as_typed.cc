#include "client/cli/as_typed.h"

#include <regex>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/cpp/errors.h"

namespace fidelio::cli {
namespace {

// "model.fidelities[].cost" for "model.fidelities[1].cost"; `index` is that of the last brackets, or −1.
std::string WithoutIndices(absl::string_view path, int* index) {
  std::string result;
  *index = -1;
  for (size_t i = 0; i < path.size(); ++i) {
    result.push_back(path[i]);
    if (path[i] != '[') continue;
    const size_t close = path.find(']', i);
    if (close == absl::string_view::npos || !absl::SimpleAtoi(path.substr(i + 1, close - i - 1), index)) return result;
    i = close - 1;
  }
  return result;
}

bool Encloses(absl::string_view outer, absl::string_view inner) {
  return absl::StartsWith(inner, outer) &&
         (inner.size() == outer.size() || inner[outer.size()] == '.' || inner[outer.size()] == '[');
}

}  // namespace

absl::Status AsTyped(const absl::Status& status, const TypedNames& names) {
  const absl::string_view message = status.message();
  const size_t colon = message.find(':');
  // NOT_FOUND: ids that nothing has; DATA_LOSS: a damaged file.
  const bool about_field = absl::IsInvalidArgument(status) || absl::IsNotFound(status) || absl::IsDataLoss(status);
  if (!about_field || colon == absl::string_view::npos) return status;
  int index = -1;
  const std::string path = WithoutIndices(message.substr(0, colon), &index);
  for (const auto& [field, typed] : names) {
    if (!Encloses(field, path)) continue;
    const std::string entry = index >= 0 ? absl::StrCat(", entry ", index + 1) : "";
    return client::WithMessage(status, absl::StrCat(typed, entry, message.substr(colon)));
  }
  return status;
}

std::string ForPeople(absl::string_view message) {
  static const std::regex* const kPart = new std::regex(R"(models/([a-z0-9-]+)/(fit|revision)s/(\d+))");
  static const std::regex* const kModel = new std::regex(R"(models/([a-z0-9-]+))");
  const std::string text = std::regex_replace(std::string(message), *kPart, "$2 $3 of model $1");
  std::smatch model;
  const std::string fit = std::regex_search(text, model, *kModel) ? model[1].str() : "NAME";
  return absl::StrReplaceAll(
      std::regex_replace(text, *kModel, "model $1"),
      {{"AddObservations", "fidelio observe"},
       {"ListObservations", "fidelio observations list"},
       {"WithdrawObservations", "fidelio observations withdraw"},
       {"CorrectObservations", "fidelio observations correct"},
       {"InitialDesign", "fidelio design"},
       {"start a fit and wait until it has succeeded", absl::StrCat("fidelio fit ", fit, " --watch creates one")}});
}

}  // namespace fidelio::cli
