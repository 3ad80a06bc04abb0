// Principal: who makes a call, and what that allows.
//
// Plain data; safe to share between threads.
#ifndef FIDELIO_SERVER_AUTH_PRINCIPAL_H_
#define FIDELIO_SERVER_AUTH_PRINCIPAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace fidelio {

// Each role may do what the ones before it may.
enum class Role {
  kReader,  // reads models and predicts
  kWriter,  // and makes, changes, fits and deletes models
  kAdmin,   // and everything else
};

std::string_view RoleName(Role role);  // "reader"

// Nothing: no limit but the server's.
struct Quotas {
  std::optional<int64_t> max_models = {};
  std::optional<int64_t> max_observations = {};  // of all models of the token together, and added to models of others
  std::optional<int64_t> max_concurrent_fits = {};

  friend bool operator==(const Quotas&, const Quotas&) = default;
};

struct Principal {
  std::string name = {};
  Role role = Role::kReader;
  std::string prefix = {};  // of the names of all models that it may see or touch; empty: all
  Quotas quotas = {};

  friend bool operator==(const Principal&, const Principal&) = default;
};

// Whether the model exists for this principal at all: lists leave out the others.
bool MaySee(const Principal& principal, std::string_view model);

// OK, or PERMISSION_DENIED when the role is too low or the name lies outside the prefix. The answer depends on the names
// alone, never on whether the model exists. `model` is empty for calls without one; `method` names the call in messages.
absl::Status Authorize(const Principal& principal, Role needed, std::string_view method, std::string_view model);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_AUTH_PRINCIPAL_H_
