#include "server/config/config_file.h"

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace fidelio {
namespace {

bool IsNameCharacter(char c) { return absl::ascii_islower(static_cast<unsigned char>(c)) || c == '_'; }

bool IsBareCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         absl::string_view("_-+./:[]").find(c) != std::string::npos;
}

// The value of `text`, which holds what follows "=" up to the end of the line.
std::optional<std::string> ParseValue(absl::string_view text) {
  std::string value;
  if (text.empty() || text[0] != '"') {
    value = std::string(absl::StripAsciiWhitespace(text.substr(0, text.find('#'))));
    if (value.empty() || !std::all_of(value.begin(), value.end(), IsBareCharacter)) return std::nullopt;
    return value;
  }
  size_t i = 1;
  for (; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\' && (++i == text.size() || (text[i] != '"' && text[i] != '\\'))) return std::nullopt;
    value += text[i];
  }
  if (i == text.size()) return std::nullopt;
  const absl::string_view rest = absl::StripAsciiWhitespace(text.substr(i + 1));
  if (!rest.empty() && rest[0] != '#') return std::nullopt;
  return value;
}

}  // namespace

ConfigFileContents ParseConfigFile(std::string_view text, std::string_view file) {
  ConfigFileContents contents;
  absl::flat_hash_map<std::string, int> first_line;
  int number = 0;
  for (const absl::string_view raw : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(raw);
    if (line.empty() || line[0] == '#') continue;
    const std::string where = absl::StrCat(absl::string_view(file.data(), file.size()), ":", number);
    const size_t equals = line.find('=');
    const std::string name(absl::StripTrailingAsciiWhitespace(line.substr(0, equals)));
    const auto value = equals == absl::string_view::npos
                           ? std::nullopt
                           : ParseValue(absl::StripLeadingAsciiWhitespace(line.substr(equals + 1)));
    if (name.empty() || !std::all_of(name.begin(), name.end(), IsNameCharacter) || !value.has_value()) {
      contents.problems.push_back(
          absl::StrCat(where, ": \"", absl::CHexEscape(line.substr(0, 100)),
                       "\" must be name = value, with quotes around a value of other characters "
                       "than letters, digits and _-+./:[]"));
      continue;
    }
    const auto [earlier, is_new] = first_line.emplace(name, number);
    if (!is_new) {
      contents.problems.push_back(
          absl::StrCat(where, ": ", name, " is set in line ", earlier->second, " already; set it once"));
      continue;
    }
    contents.entries.push_back({.name = name, .value = *value, .line = number});
  }
  return contents;
}

std::string QuoteValue(std::string_view value) {
  if (!value.empty() && std::all_of(value.begin(), value.end(), IsBareCharacter)) return std::string(value);
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace fidelio
