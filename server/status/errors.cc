#include "server/status/errors.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/status/details.h"

namespace fidelio {

absl::Status ResourceNotFoundError(absl::string_view type, absl::string_view name) {
  return WithDetail(absl::NotFoundError(absl::StrCat(name, ": no such ", type)),
                    ResourceDetail{std::string(type), std::string(name)});
}

absl::Status ResourceExistsError(absl::string_view type, absl::string_view name) {
  return WithDetail(absl::AlreadyExistsError(absl::StrCat(name, ": a ", type, " with this name already exists")),
                    ResourceDetail{std::string(type), std::string(name)});
}

absl::Status DamagedResourceError(absl::string_view type, absl::string_view name, absl::string_view what) {
  return WithDetail(absl::DataLossError(absl::StrCat(name, ": ", what)),
                    ResourceDetail{std::string(type), std::string(name)});
}

absl::Status PreconditionError(absl::string_view type, absl::string_view subject, absl::string_view what,
                               absl::string_view remedy) {
  return WithDetail(absl::FailedPreconditionError(absl::StrCat(subject, ": ", what, "; ", remedy)),
                    PreconditionDetail{std::string(type), std::string(subject), std::string(remedy)});
}

absl::Status EtagMismatchError(absl::string_view name, absl::string_view given, absl::string_view current) {
  return WithDetail(
      absl::AbortedError(absl::StrCat(name, ": etag ", Quoted(given), " is outdated, it is ", Quoted(current),
                                      " now; read it again and retry")),
      ReasonDetail{"ETAG_MISMATCH", {{"resource", std::string(name)}, {"current_etag", std::string(current)}}});
}

absl::Status ConcurrentChangeError(absl::string_view name, absl::string_view what) {
  return WithDetail(absl::AbortedError(absl::StrCat(name, ": ", what)),
                    ReasonDetail{"CONCURRENT_CHANGE", {{"resource", std::string(name)}}});
}

absl::Status ExhaustedError(absl::string_view message, absl::Duration retry_delay) {
  return WithRetryDelay(absl::ResourceExhaustedError(message), retry_delay);
}

absl::Status QuotaExceededError(absl::string_view subject, absl::string_view description) {
  return WithDetail(absl::ResourceExhaustedError(absl::StrCat(subject, ": ", description)),
                    QuotaDetail{std::string(subject), std::string(description)});
}

absl::Status DrainingError(absl::Duration retry_delay) {
  return WithRetryDelay(absl::UnavailableError("the server is shutting down; try again later"), retry_delay);
}

std::string Quoted(absl::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return absl::StrCat("\"", absl::Utf8SafeCHexEscape(text), "\"");
  size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a UTF-8 sequence
  return absl::StrCat("\"", absl::Utf8SafeCHexEscape(text.substr(0, end)), "…\" (", text.size(), " bytes)");
}

}  // namespace fidelio
