#include "server/auth/token_table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "server/telemetry/escape.h"

namespace fidelio {
namespace {

std::string Shown(absl::string_view text) {
  return absl::StrCat("\"", EscapeForLog(std::string_view(text.data(), text.size()), 80), "\"");
}

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
}

bool IsModelCharacter(char c) {
  return absl::ascii_islower(static_cast<unsigned char>(c)) || absl::ascii_isdigit(static_cast<unsigned char>(c)) ||
         c == '-';
}

std::optional<Role> ParseRole(absl::string_view text) {
  for (const Role role : {Role::kReader, Role::kWriter, Role::kAdmin}) {
    const std::string_view name = RoleName(role);
    if (text == absl::string_view(name.data(), name.size())) return role;
  }
  return std::nullopt;
}

// Sets what `word` says; returns the rule that it breaks, or nothing.
std::string ParseOption(absl::string_view word, Principal& principal) {
  constexpr char kOptions[] = "must be prefix=…, max_models=…, max_observations=… or max_concurrent_fits=…";
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(word, absl::MaxSplits('=', 1));
  const auto& [key, value] = parts;
  if (key == "prefix") {
    const bool good = !value.empty() && value.size() <= 63 &&
                      absl::ascii_islower(static_cast<unsigned char>(value[0])) &&
                      std::all_of(value.begin(), value.end(), IsModelCharacter);
    if (!good) return "must be the beginning of a model's name: a letter, then letters, digits and -, all small";
    if (!principal.prefix.empty()) return "must appear once";
    principal.prefix = std::string(value);
    return "";
  }
  std::optional<int64_t>* const quota = key == "max_models"            ? &principal.quotas.max_models
                                        : key == "max_observations"    ? &principal.quotas.max_observations
                                        : key == "max_concurrent_fits" ? &principal.quotas.max_concurrent_fits
                                                                       : nullptr;
  if (quota == nullptr) return kOptions;
  if (quota->has_value()) return "must appear once";
  int64_t number;
  if (!absl::SimpleAtoi(value, &number) || number < 0) return "must be an integer of at least 0";
  *quota = number;
  return "";
}

}  // namespace

absl::StatusOr<TokenTable> TokenTable::Parse(std::string_view text, std::string_view file) {
  ParsedTokens parsed = ParseLines(text, file);
  if (!parsed.problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(parsed.problems, "\n"));
  return std::move(parsed.table);
}

ParsedTokens TokenTable::ParseLines(std::string_view text, std::string_view file) {
  ParsedTokens parsed;
  std::vector<std::string>& problems = parsed.problems;
  std::map<std::string, int> line_of_name;
  std::map<Digest, int> line_of_digest;
  const absl::string_view name_of_file(file.data(), file.size());
  int number = 0;
  for (const absl::string_view raw : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    const size_t problems_before = problems.size();
    const auto problem = [&](absl::string_view what, absl::string_view value, absl::string_view rule) {
      problems.push_back(absl::StrCat(name_of_file, ":", number, ": ", what, " ", Shown(value), " ", rule));
    };
    const std::vector<absl::string_view> words =
        absl::StrSplit(raw.substr(0, raw.find('#')), absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    if (words.size() < 3) {
      // Without its value: somebody may have pasted a token here.
      problems.push_back(absl::StrCat(name_of_file, ":", number, ": ", words.size(),
                                      " words; a line must have name, role and digest, then options"));
      continue;
    }
    Entry entry{.principal = {.name = std::string(words[0])}};
    if (words[0].size() > 64 || !std::all_of(words[0].begin(), words[0].end(), IsNameCharacter)) {
      problem("name", words[0], "must be 1 to 64 letters, digits, _, - and .");
    }
    const std::optional<Role> role = ParseRole(words[1]);
    if (role.has_value()) {
      entry.principal.role = *role;
    } else {
      problem("role", words[1], "must be reader, writer or admin");
    }
    const std::optional<Digest> digest = ParseDigest(std::string_view(words[2].data(), words[2].size()));
    if (digest.has_value()) {
      entry.digest = *digest;
      const auto [first, is_new] = line_of_digest.emplace(*digest, number);
      if (!is_new) problem("digest", words[2], absl::StrCat("is that of line ", first->second, " already"));
    } else {
      problems.push_back(absl::StrCat(name_of_file, ":", number, ": digest of ", words[2].size(),
                                      " characters must be sha256: and 64 hexadecimal digits, as printed by "
                                      "fidelio-server --hash-token"));
    }
    const auto [first, is_new] = line_of_name.emplace(entry.principal.name, number);
    if (!is_new) problem("name", words[0], absl::StrCat("is that of line ", first->second, " already"));
    for (size_t i = 3; i < words.size(); ++i) {
      const std::string rule = ParseOption(words[i], entry.principal);
      if (!rule.empty()) problem("option", words[i], rule);
    }
    if (problems.size() == problems_before) parsed.table.entries_.push_back(std::move(entry));
  }
  if (parsed.table.entries_.empty() && problems.empty()) {
    problems.push_back(absl::StrCat(name_of_file, ": must have at least one token"));
  }
  return parsed;
}

const Principal* TokenTable::FindName(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.principal.name == name) return &entry.principal;
  }
  return nullptr;
}

const Principal* TokenTable::Find(std::string_view token) const {
  const Digest digest = DigestOf(token);
  const Principal* found = nullptr;
  for (const Entry& entry : entries_) {
    // All entries are compared, so that the time says nothing about which one matched.
    if (EqualInConstantTime(digest, entry.digest)) found = &entry.principal;
  }
  return found;
}

}  // namespace fidelio
