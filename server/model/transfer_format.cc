#include "server/model/transfer_format.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/bytes.h"
#include "core/base/status_macros.h"
#include "server/store/sha256.h"

namespace fidelio {
namespace {

constexpr uint32_t kVersion = 2;
constexpr size_t kTrailerBytes = 4;

std::string Seal(const ByteWriter& out, FilePart kind) { return out.Seal(static_cast<uint32_t>(kind), kVersion); }

absl::StatusOr<ByteReader::Opened> Open(absl::string_view bytes, FilePart kind) {
  return ByteReader::Open(bytes, static_cast<uint32_t>(kind), kVersion, "file of a model");
}

void Put(const std::vector<double>& values, ByteWriter& out) {
  out.Write(Vector(Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()))));
}

std::vector<double> GetDoubles(ByteReader& in) {
  const Vector values = in.ReadVector();
  return {values.begin(), values.end()};
}

// What observations have since version 2.
void GetHistory(ByteReader& in, FileObservations& part) {
  const uint64_t ids = in.U64();
  for (uint64_t i = 0; i < ids && in.ok(); ++i) part.block.run_ids.push_back(in.ReadString());
  if (!in.Bool()) return;
  WithdrawnRows& withdrawn = part.withdrawn.emplace();
  withdrawn.corrected = in.Bool();
  withdrawn.reason = in.ReadString();
  const uint64_t ranges = in.U64();
  for (uint64_t i = 0; i < ranges && in.ok(); ++i) {
    RowRange& range = withdrawn.rows.emplace_back();
    range.data_version = in.I64();
    range.part = static_cast<int>(in.I64());
    range.level = static_cast<int>(in.I64());
    range.first = in.I64();
    range.count = in.I64();
  }
}

uint64_t Little(absl::string_view bytes, size_t at, int count) {
  uint64_t v = 0;
  for (int i = 0; i < count; ++i) v |= uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return v;
}

}  // namespace

std::string EncodePart(const FileModel& part) {
  ByteWriter out;
  out.String(part.name);
  out.String(part.spec);
  out.I64(part.data_version);
  out.I64(part.revisions);
  out.I64(part.current);
  return Seal(out, FilePart::kModel);
}

absl::StatusOr<FileModel> DecodeModelPart(absl::string_view bytes) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened, Open(bytes, FilePart::kModel));
  FileModel part;
  part.name = opened.reader.ReadString();
  part.spec = opened.reader.ReadString();
  part.data_version = opened.reader.I64();
  part.revisions = opened.reader.I64();
  part.current = opened.reader.I64();
  FIDELIO_RETURN_IF_ERROR(opened.reader.Finish());
  return part;
}

std::string EncodePart(const FileObservations& part) {
  ByteWriter out;
  out.I64(part.data_version);
  out.I64(part.block.level);
  out.I64(part.block.rows);
  out.I64(part.block.cols);
  Put(part.block.x, out);
  Put(part.block.y, out);
  Put(part.block.noise, out);
  out.U64(part.block.run_ids.size());
  for (const std::string& id : part.block.run_ids) out.String(id);
  out.Bool(part.withdrawn.has_value());
  if (part.withdrawn) {
    out.Bool(part.withdrawn->corrected);
    out.String(part.withdrawn->reason);
    out.U64(part.withdrawn->rows.size());
    for (const RowRange& range : part.withdrawn->rows) {
      for (const int64_t v :
           {range.data_version, int64_t{range.part}, int64_t{range.level}, range.first, range.count}) {
        out.I64(v);
      }
    }
  }
  return Seal(out, FilePart::kObservations);
}

absl::StatusOr<FileObservations> DecodeObservationsPart(absl::string_view bytes) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened, Open(bytes, FilePart::kObservations));
  FileObservations part;
  part.data_version = opened.reader.I64();
  part.block.level = static_cast<int>(opened.reader.I64());
  part.block.rows = opened.reader.I64();
  part.block.cols = opened.reader.I64();
  part.block.x = GetDoubles(opened.reader);
  part.block.y = GetDoubles(opened.reader);
  part.block.noise = GetDoubles(opened.reader);
  if (opened.version >= 2) GetHistory(opened.reader, part);
  FIDELIO_RETURN_IF_ERROR(opened.reader.Finish());
  return part;
}

std::string EncodePart(const FileRevision& part) {
  ByteWriter out;
  out.String(part.metadata);
  out.String(part.checkpoint);
  return Seal(out, FilePart::kRevision);
}

absl::StatusOr<FileRevision> DecodeRevisionPart(absl::string_view bytes) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened, Open(bytes, FilePart::kRevision));
  FileRevision part;
  part.metadata = opened.reader.ReadString();
  part.checkpoint = opened.reader.ReadString();
  FIDELIO_RETURN_IF_ERROR(opened.reader.Finish());
  return part;
}

std::string EncodePart(const FileEnd& part) {
  ByteWriter out;
  out.I64(part.parts);
  out.String(part.chain);
  return Seal(out, FilePart::kEnd);
}

absl::StatusOr<FileEnd> DecodeEndPart(absl::string_view bytes) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened, Open(bytes, FilePart::kEnd));
  FileEnd part;
  part.parts = opened.reader.I64();
  part.chain = opened.reader.ReadString();
  FIDELIO_RETURN_IF_ERROR(opened.reader.Finish());
  return part;
}

std::string ExtendChain(absl::string_view chain, absl::string_view part) {
  return Sha256(absl::StrCat(chain, Sha256(part)));
}

absl::StatusOr<PartHeader> ReadPartHeader(absl::string_view bytes) {
  constexpr absl::string_view kMagic("FIDELIO\0", 8);
  if (!absl::StartsWith(bytes, kMagic)) {
    return absl::InvalidArgumentError("chunk: not an exported model: the header is missing");
  }
  const auto kind = static_cast<uint32_t>(Little(bytes, 8, 4));
  if (kind < static_cast<uint32_t>(FilePart::kModel) || kind > static_cast<uint32_t>(FilePart::kEnd)) {
    return absl::InvalidArgumentError(
        absl::StrCat("chunk: not an exported model: a part of kind ", kind, ", want 110 to 113"));
  }
  const uint64_t length = Little(bytes, 16, 8);
  if (length > static_cast<uint64_t>(kMaxBlobBytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("chunk: a part of ", length, " bytes, want at most ", kMaxBlobBytes));
  }
  return PartHeader{static_cast<FilePart>(kind), kPartHeaderBytes + length + kTrailerBytes};
}

}  // namespace fidelio
