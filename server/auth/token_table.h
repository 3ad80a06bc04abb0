// TokenTable: the tokens that a server accepts, as digests, and whom each stands for.
//
// The file has one token per line; # begins a comment:
//
//   # name  role    digest            options
//   ci      writer  sha256:9f86d0…08  prefix=wing- max_models=10 max_observations=100000 max_concurrent_fits=2
//   grafana reader  sha256:60303a…63
//
// - name: 1 to 64 of letters, digits, "_", "-" and "."; it appears in logs. It is unique.
// - role: reader, writer or admin.
// - digest: SHA-256 of the token's bytes, 64 hexadecimal digits; `fidelio-server --hash-token` prints it. It is unique.
// - prefix: what all names of the token's models begin with. max_…: integers ≥ 0; without them there is no limit but the
//   server's.
//
// Immutable; safe to share between threads. Tokens must be random (--hash-token demands 20 characters): the digest of a
// guessable one can be guessed.
#ifndef FIDELIO_SERVER_AUTH_TOKEN_TABLE_H_
#define FIDELIO_SERVER_AUTH_TOKEN_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/auth/digest.h"
#include "server/auth/principal.h"

namespace fidelio {

struct ParsedTokens;

class TokenTable {
 public:
  // INVALID_ARGUMENT: one line per problem; `file` names the text in them. A table without tokens is a problem, too.
  static absl::StatusOr<TokenTable> Parse(std::string_view text, std::string_view file);

  // The tokens of the lines without a problem, and the problems of the others. Of two lines with the same name or digest,
  // the first counts.
  static ParsedTokens ParseLines(std::string_view text, std::string_view file);

  // Whom the token stands for, or null. Takes the same time whichever entry matches, or none.
  const Principal* Find(std::string_view token) const;

  // The principal with this name, or null.
  const Principal* FindName(std::string_view name) const;

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Digest digest = {};
    Principal principal = {};
  };

  std::vector<Entry> entries_;
};

struct ParsedTokens {
  TokenTable table = {};
  std::vector<std::string> problems = {};  // each names the file and the line
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_AUTH_TOKEN_TABLE_H_
