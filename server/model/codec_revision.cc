// Records of revisions, with their fields in order (codec_fields.h has those that are not plain):
//
//   kind 104, RevisionInfo           u32 origin, i64 fit, i64 data version, list of i64 counts, u32 kind, fit spec,
//                                    u32 inference, string reason, f64 elbo, i64 evaluations, duration, string version;
//                                    since version 4: optional report
#include "server/model/codec.h"
#include "server/model/codec_fields.h"

namespace fidelio {

using codec::GetDuration;
using codec::GetEnum;
using codec::GetFitSpec;
using codec::GetIntegers;
using codec::GetOptional;
using codec::GetReport;
using codec::kRevision;
using codec::kVersion;
using codec::Put;
using codec::PutEnum;
using codec::PutOptional;
using codec::Read;

std::string Encode(const RevisionInfo& value) {
  ByteWriter out;
  PutEnum(value.origin, out);
  out.I64(value.fit);
  out.I64(value.data_version);
  Put(value.observation_counts, out);
  PutEnum(value.kind, out);
  Put(value.options, out);
  PutEnum(value.inference, out);
  out.String(value.inference_reason);
  out.F64(value.elbo);
  out.I64(value.evaluations);
  Put(value.fit_duration, out);
  out.String(value.code_version);
  PutOptional(value.report, out, [&](const FitReport& report) { Put(report, out); });
  return out.Seal(kRevision, kVersion);
}

template <>
absl::StatusOr<RevisionInfo> Decode(absl::string_view bytes) {
  return Read<RevisionInfo>(bytes, kRevision, "description of a revision",
                            [](ByteReader& in, bool& good, uint32_t version) {
                              RevisionInfo value;
                              value.origin = GetEnum<RevisionOrigin>(in);
                              value.fit = in.I64();
                              value.data_version = in.I64();
                              value.observation_counts = GetIntegers(in);
                              value.kind = GetEnum<ModelKind>(in);
                              value.options = GetFitSpec(in, version);
                              value.inference = GetEnum<Inference>(in);
                              value.inference_reason = in.ReadString();
                              value.elbo = in.F64();
                              value.evaluations = in.I64();
                              value.fit_duration = GetDuration(in);
                              value.code_version = in.ReadString();
                              if (version >= 4) {
                                value.report = GetOptional(in, [&] { return GetReport(in, good); });
                              }
                              return value;
                            });
}

}  // namespace fidelio
