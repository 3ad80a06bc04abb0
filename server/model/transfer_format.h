// The file of a model: sealed envelopes (core/base/bytes.h), one after the other, each with its own CRC-32C.
//
//   kind 110, model (1)             string name, string StoredSpec (codec.h; its owner is empty), i64 data version,
//                                   i64 number of revisions that follow, i64 which of them is current (0: none)
//   kind 111, observations (0 …)    i64 data version, i64 level, i64 rows, i64 columns, vector x (row-major), vector y,
//                                   vector noise variances (empty: learned); since version 2: u64 number of run_ids (0 or
//                                   rows) and so many strings, bool withdrawn, and if so: bool corrected, string reason,
//                                   u64 number of ranges, each i64 data version, part, level, first row, count. A part that
//                                   withdraws has no rows
//   kind 112, revision (0 …)        string metadata (RevisionInfo of codec.h; its fit is 0), string checkpoint
//   kind 113, end (1)               i64 number of envelopes before it, string chain
//
// Revisions are numbered anew from 1 on where they arrive: those that were deleted are not in the file.
// The version is that of each envelope; envelopes other than 111 are the same in versions 1 and 2. Observations come in the
// order of their data versions, which are 1, 2, … data version, and of their parts. The chain ties the envelopes to
// their order: h₀ is empty, hᵢ = SHA-256(hᵢ₋₁ ‖ SHA-256(envelope i)), and the end holds the last one.
#ifndef FIDELIO_SERVER_MODEL_TRANSFER_FORMAT_H_
#define FIDELIO_SERVER_MODEL_TRANSFER_FORMAT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/store/records.h"

namespace fidelio {

enum class FilePart : uint32_t { kModel = 110, kObservations = 111, kRevision = 112, kEnd = 113 };

struct FileModel {
  std::string name = {};
  std::string spec = {};
  int64_t data_version = 0;
  int64_t revisions = 0;
  int64_t current = 0;
};

struct FileObservations {
  int64_t data_version = 0;
  ObservationBlock block = {};
  std::optional<WithdrawnRows> withdrawn = {};  // then block has no rows
};

struct FileRevision {
  std::string metadata = {};
  std::string checkpoint = {};
};

struct FileEnd {
  int64_t parts = 0;
  std::string chain = {};
};

std::string EncodePart(const FileModel& part);
std::string EncodePart(const FileObservations& part);
std::string EncodePart(const FileRevision& part);
std::string EncodePart(const FileEnd& part);

// DATA_LOSS when the bytes are damaged, INVALID_ARGUMENT when they are of another kind or a newer version.
absl::StatusOr<FileModel> DecodeModelPart(absl::string_view bytes);
absl::StatusOr<FileObservations> DecodeObservationsPart(absl::string_view bytes);
absl::StatusOr<FileRevision> DecodeRevisionPart(absl::string_view bytes);
absl::StatusOr<FileEnd> DecodeEndPart(absl::string_view bytes);

std::string ExtendChain(absl::string_view chain, absl::string_view part);

// The beginning of an envelope: its kind and the size of all of it.
inline constexpr size_t kPartHeaderBytes = 24;
struct PartHeader {
  FilePart kind = FilePart::kModel;
  uint64_t size = 0;
};
// `bytes` has kPartHeaderBytes. INVALID_ARGUMENT when this is no part of such a file, or too large to be one.
absl::StatusOr<PartHeader> ReadPartHeader(absl::string_view bytes);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_TRANSFER_FORMAT_H_
