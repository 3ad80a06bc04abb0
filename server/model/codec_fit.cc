// Records of fits, with their fields in order (codec_fields.h has those that are not plain):
//
//   kind 102, StoredFit              fit spec, string owner
//   kind 103, StoredProgress         progress, optional u32 inference, string reason, i64 resumes, i64 idle resumes;
//                                    since version 2: list of (string phase, i64 iteration, f64 elbo, elapsed);
//                                    since version 3: bool not served; since version 4: optional report
//   kind 105, Status                 status
//   kind 108, FitInfo                string model, i64 id, u32 state, fit spec, progress, i64 data version, i64 revision,
//                                    status, optional u32 inference, string reason, created, optional started,
//                                    optional finished, i64 resumes, i64 position; since version 3: bool not served;
//                                    since version 4: optional report
#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "server/model/codec.h"
#include "server/model/codec_fields.h"

namespace fidelio {

using codec::GetDuration;
using codec::GetEnum;
using codec::GetFitSpec;
using codec::GetOptional;
using codec::GetProgress;
using codec::GetReport;
using codec::GetStatus;
using codec::GetTime;
using codec::kFit;
using codec::kFitAnswer;
using codec::kProgress;
using codec::kStatus;
using codec::kVersion;
using codec::Put;
using codec::PutEnum;
using codec::PutOptional;
using codec::Read;

namespace {

void PutHistory(const std::vector<FitPoint>& history, ByteWriter& out) {
  out.U64(history.size());
  for (const FitPoint& point : history) {
    out.String(point.phase);
    out.I64(point.iteration);
    out.F64(point.elbo);
    Put(point.elapsed, out);
  }
}

std::vector<FitPoint> GetHistory(ByteReader& in) {
  std::vector<FitPoint> history;
  const uint64_t count = in.U64();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    FitPoint point;
    point.phase = in.ReadString();
    point.iteration = in.I64();
    point.elbo = in.F64();
    point.elapsed = GetDuration(in);
    history.push_back(std::move(point));
  }
  return history;
}

}  // namespace

std::string Encode(const StoredFit& value) {
  ByteWriter out;
  Put(value.spec, out);
  out.String(value.owner);
  return out.Seal(kFit, kVersion);
}

template <>
absl::StatusOr<StoredFit> Decode(absl::string_view bytes) {
  return Read<StoredFit>(bytes, kFit, "options of a fit", [](ByteReader& in, bool&, uint32_t version) {
    StoredFit value;
    value.spec = GetFitSpec(in, version);
    value.owner = in.ReadString();
    return value;
  });
}

std::string Encode(const StoredProgress& value) {
  ByteWriter out;
  Put(value.progress, out);
  PutOptional(value.inference, out, [&](Inference i) { PutEnum(i, out); });
  out.String(value.inference_reason);
  out.I64(value.resume_count);
  out.I64(value.idle_resumes);
  PutHistory(value.history, out);
  out.Bool(value.not_served);
  PutOptional(value.report, out, [&](const FitReport& report) { Put(report, out); });
  return out.Seal(kProgress, kVersion);
}

template <>
absl::StatusOr<StoredProgress> Decode(absl::string_view bytes) {
  if (bytes.empty()) return StoredProgress();  // of a fit that has not begun
  const auto get = [](ByteReader& in, bool& good, uint32_t version) {
    StoredProgress value;
    value.progress = GetProgress(in);
    value.inference = GetOptional(in, [&] { return GetEnum<Inference>(in); });
    value.inference_reason = in.ReadString();
    value.resume_count = in.I64();
    value.idle_resumes = in.I64();
    if (version >= 2) value.history = GetHistory(in);
    if (version >= 3) value.not_served = in.Bool();
    if (version >= 4) value.report = GetOptional(in, [&] { return GetReport(in, good); });
    return value;
  };
  return Read<StoredProgress>(bytes, kProgress, "progress of a fit", get);
}

std::string Encode(const absl::Status& value) {
  ByteWriter out;
  Put(value, out);
  return out.Seal(kStatus, kVersion);
}

absl::Status DecodeStatus(absl::string_view bytes) {
  if (bytes.empty()) return absl::OkStatus();
  absl::StatusOr<ByteReader::Opened> opened = ByteReader::Open(bytes, kStatus, kVersion, "error of a fit");
  if (!opened.ok()) return opened.status();
  absl::Status status = GetStatus(opened->reader);
  FIDELIO_RETURN_IF_ERROR(opened->reader.Finish());
  return status;
}

std::string Encode(const FitInfo& value) {
  ByteWriter out;
  out.String(value.model);
  out.I64(value.id);
  PutEnum(value.state, out);
  Put(value.options, out);
  Put(value.progress, out);
  out.I64(value.data_version);
  out.I64(value.revision);
  Put(value.error, out);
  PutOptional(value.inference, out, [&](Inference i) { PutEnum(i, out); });
  out.String(value.inference_reason);
  Put(value.created, out);
  PutOptional(value.started, out, [&](absl::Time t) { Put(t, out); });
  PutOptional(value.finished, out, [&](absl::Time t) { Put(t, out); });
  out.I64(value.resume_count);
  out.I64(value.queue_position);
  out.Bool(value.not_served);
  PutOptional(value.report, out, [&](const FitReport& report) { Put(report, out); });
  return out.Seal(kFitAnswer, kVersion);
}

template <>
absl::StatusOr<FitInfo> Decode(absl::string_view bytes) {
  return Read<FitInfo>(bytes, kFitAnswer, "remembered answer", [](ByteReader& in, bool& good, uint32_t version) {
    FitInfo value;
    value.model = in.ReadString();
    value.id = in.I64();
    value.state = GetEnum<FitState>(in);
    value.options = GetFitSpec(in, version);
    value.progress = GetProgress(in);
    value.data_version = in.I64();
    value.revision = in.I64();
    value.error = GetStatus(in);
    value.inference = GetOptional(in, [&] { return GetEnum<Inference>(in); });
    value.inference_reason = in.ReadString();
    value.created = GetTime(in);
    value.started = GetOptional(in, [&] { return GetTime(in); });
    value.finished = GetOptional(in, [&] { return GetTime(in); });
    value.resume_count = in.I64();
    value.queue_position = in.I64();
    if (version >= 3) value.not_served = in.Bool();
    if (version >= 4) value.report = GetOptional(in, [&] { return GetReport(in, good); });
    return value;
  });
}

}  // namespace fidelio
