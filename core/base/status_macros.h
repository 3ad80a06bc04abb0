// Early return on error, for functions that return absl::Status or absl::StatusOr.
#ifndef FIDELIO_CORE_BASE_STATUS_MACROS_H_
#define FIDELIO_CORE_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"

#define FIDELIO_CONCAT_INNER_(a, b) a##b
#define FIDELIO_CONCAT_(a, b) FIDELIO_CONCAT_INNER_(a, b)

#define FIDELIO_RETURN_IF_ERROR(expr)                                 \
  do {                                                                \
    if (absl::Status fidelio_status = (expr); !fidelio_status.ok()) { \
      return fidelio_status;                                          \
    }                                                                 \
  } while (false)

#define FIDELIO_ASSIGN_OR_RETURN(lhs, expr) \
  FIDELIO_ASSIGN_OR_RETURN_IMPL_(FIDELIO_CONCAT_(fidelio_statusor_, __LINE__), lhs, expr)

#define FIDELIO_ASSIGN_OR_RETURN_IMPL_(statusor, lhs, expr) \
  auto statusor = (expr);                                   \
  if (!statusor.ok()) return std::move(statusor).status();  \
  lhs = std::move(statusor).value()

#endif  // FIDELIO_CORE_BASE_STATUS_MACROS_H_
