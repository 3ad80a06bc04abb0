// Records of models, with their fields in order (codec_fields.h has those that are not plain):
//
//   kind 101, StoredSpec             spec, string owner, list of u32 noise; since version 3: list of (i64 at,
//                                    i64 added, i64 count) withdrawn, list of (string token, i64 observations)
//   kind 106, ModelInfo              string name, spec, string etag, i64 data version, list of i64 counts, i64 revision,
//                                    created, updated, u32 state, string reason; since version 3: i64 withdrawn,
//                                    i64 withdrawn of the current revision
//   kind 107, AddObservationsAnswer  i64 data version, list of i64 counts, string etag, i64 revision; since version 3: list
//                                    of (u32 kind, i64 count, list of i64 rows, string message), i64 added, i64 skipped,
//                                    i64 replayed
//   kind 109, ChangeObservationsAnswer  i64 data version, list of i64 counts, string etag, i64 changed,
//                                    i64 withdrawn of the current revision
#include <utility>

#include "server/model/codec.h"
#include "server/model/codec_fields.h"

namespace fidelio {

using codec::GetEnum;
using codec::GetIntegers;
using codec::GetSpec;
using codec::GetTime;
using codec::kChangeAnswer;
using codec::kModelAnswer;
using codec::kObservationsAnswer;
using codec::kSpec;
using codec::kVersion;
using codec::Put;
using codec::PutEnum;
using codec::Read;

namespace {

bool IsServable(const ModelSpec& spec) {
  const int64_t d = spec.input_dimension;
  return d >= 1 && !spec.fidelities.empty() && spec.fidelities.size() <= static_cast<size_t>(kMaxLevels) &&
         (spec.inputs.empty() || static_cast<int64_t>(spec.inputs.size()) == d) &&
         (!spec.input_box || (spec.input_box->lower.size() == d && spec.input_box->upper.size() == d));
}

}  // namespace

std::string Encode(const StoredSpec& value) {
  ByteWriter out;
  Put(value.spec, out);
  out.String(value.owner);
  out.U64(value.noise.size());
  for (const LevelNoise n : value.noise) PutEnum(n, out);
  out.U64(value.withdrawn.size());
  for (const WithdrawnCount& w : value.withdrawn) {
    out.I64(w.at);
    out.I64(w.added);
    out.I64(w.count);
  }
  out.U64(value.contributions.size());
  for (const auto& [token, observations] : value.contributions) {
    out.String(token);
    out.I64(observations);
  }
  return out.Seal(kSpec, kVersion);
}

template <>
absl::StatusOr<StoredSpec> Decode(absl::string_view bytes) {
  return Read<StoredSpec>(bytes, kSpec, "description of a model", [](ByteReader& in, bool& good, uint32_t version) {
    StoredSpec value;
    value.spec = GetSpec(in, version);
    value.owner = in.ReadString();
    const uint64_t levels = in.U64();
    for (uint64_t t = 0; t < levels && in.ok(); ++t) {
      value.noise.push_back(GetEnum<LevelNoise>(in));
      good = good && value.noise.back() >= LevelNoise::kNoData && value.noise.back() <= LevelNoise::kGiven;
    }
    const uint64_t withdrawn = version >= 3 ? in.U64() : 0;
    for (uint64_t i = 0; i < withdrawn && in.ok(); ++i) {
      WithdrawnCount& w = value.withdrawn.emplace_back();
      w.at = in.I64();
      w.added = in.I64();
      w.count = in.I64();
      good = good && w.added >= 1 && w.at > w.added && w.count >= 1;
    }
    const uint64_t contributions = version >= 3 ? in.U64() : 0;
    for (uint64_t i = 0; i < contributions && in.ok(); ++i) {
      std::string token = in.ReadString();
      value.contributions[std::move(token)] = in.I64();
    }
    good = good && IsServable(value.spec) && value.noise.size() == value.spec.fidelities.size();
    return value;
  });
}

std::string Encode(const ModelInfo& value) {
  ByteWriter out;
  out.String(value.name);
  Put(value.spec, out);
  out.String(value.etag);
  out.I64(value.data_version);
  Put(value.observation_counts, out);
  out.I64(value.current_revision);
  Put(value.created, out);
  Put(value.updated, out);
  PutEnum(value.state, out);
  out.String(value.quarantine_reason);
  out.I64(value.withdrawn_count);
  out.I64(value.current_revision_withdrawn_count);
  return out.Seal(kModelAnswer, kVersion);
}

template <>
absl::StatusOr<ModelInfo> Decode(absl::string_view bytes) {
  return Read<ModelInfo>(bytes, kModelAnswer, "remembered answer", [](ByteReader& in, bool&, uint32_t version) {
    ModelInfo value;
    value.name = in.ReadString();
    value.spec = GetSpec(in, version);
    value.etag = in.ReadString();
    value.data_version = in.I64();
    value.observation_counts = GetIntegers(in);
    value.current_revision = in.I64();
    value.created = GetTime(in);
    value.updated = GetTime(in);
    value.state = GetEnum<ModelState>(in);
    value.quarantine_reason = in.ReadString();
    if (version < 3) return value;
    value.withdrawn_count = in.I64();
    value.current_revision_withdrawn_count = in.I64();
    return value;
  });
}

std::string Encode(const AddObservationsAnswer& value) {
  ByteWriter out;
  out.I64(value.data_version);
  Put(value.observation_counts, out);
  out.String(value.etag);
  out.I64(value.revision);
  out.U64(value.warnings.size());
  for (const ObservationWarning& warning : value.warnings) {
    PutEnum(warning.kind, out);
    out.I64(warning.count);
    Put(warning.rows, out);
    out.String(warning.message);
  }
  out.I64(value.added);
  out.I64(value.skipped);
  out.I64(value.replayed);
  return out.Seal(kObservationsAnswer, kVersion);
}

template <>
absl::StatusOr<AddObservationsAnswer> Decode(absl::string_view bytes) {
  const auto get = [](ByteReader& in, bool&, uint32_t version) {
    AddObservationsAnswer value;
    value.data_version = in.I64();
    value.observation_counts = GetIntegers(in);
    value.etag = in.ReadString();
    value.revision = in.I64();
    if (version < 3) return value;
    const uint64_t warnings = in.U64();
    for (uint64_t i = 0; i < warnings && in.ok(); ++i) {
      ObservationWarning& warning = value.warnings.emplace_back();
      warning.kind = GetEnum<ObservationWarningKind>(in);
      warning.count = in.I64();
      warning.rows = GetIntegers(in);
      warning.message = in.ReadString();
    }
    value.added = in.I64();
    value.skipped = in.I64();
    value.replayed = in.I64();
    return value;
  };
  return Read<AddObservationsAnswer>(bytes, kObservationsAnswer, "remembered answer", get);
}

std::string Encode(const ChangeObservationsAnswer& value) {
  ByteWriter out;
  out.I64(value.data_version);
  Put(value.observation_counts, out);
  out.String(value.etag);
  out.I64(value.changed);
  out.I64(value.current_revision_withdrawn);
  return out.Seal(kChangeAnswer, kVersion);
}

template <>
absl::StatusOr<ChangeObservationsAnswer> Decode(absl::string_view bytes) {
  return Read<ChangeObservationsAnswer>(bytes, kChangeAnswer, "remembered answer", [](ByteReader& in, bool&) {
    ChangeObservationsAnswer value;
    value.data_version = in.I64();
    value.observation_counts = GetIntegers(in);
    value.etag = in.ReadString();
    value.changed = in.I64();
    value.current_revision_withdrawn = in.I64();
    return value;
  });
}

}  // namespace fidelio
