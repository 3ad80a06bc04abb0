// Fields in their order (the envelope and the types of fields are in core/base/bytes.h). Enumerations are u32; times and
// durations are i64 nanoseconds; optional fields are a bool and, when that is true, the field; lists are a u64 and so many
// entries.
//
//   spec         string description, i64 input dimension, optional (vector lower, vector upper), list of (string name,
//                f64 cost), u32 transform, f64 lower, f64 upper, u32 kind
//   fit spec     u32 inference, optional u32 kernel family, bool warm start, optional f64 seconds, optional i64 iterations,
//                u64 seed
//   progress     string phase, i64 iteration, i64 evaluations, f64 fraction, optional f64 elbo, elapsed, optional eta
//   status       u32 code, string message, list of (string url, string payload)
//
//   kind 101, StoredSpec             spec, string owner, list of u32 noise
//   kind 102, StoredFit              fit spec, string owner
//   kind 103, StoredProgress         progress, optional u32 inference, string reason, i64 resumes, i64 idle resumes;
//                                    since version 2: list of (string phase, i64 iteration, f64 elbo, elapsed)
//   kind 104, RevisionInfo           u32 origin, i64 fit, i64 data version, list of i64 counts, u32 kind, fit spec,
//                                    u32 inference, string reason, f64 elbo, i64 evaluations, duration, string version
//   kind 105, Status                 status
//   kind 106, ModelInfo              string name, spec, string etag, i64 data version, list of i64 counts, i64 revision,
//                                    created, updated, u32 state, string reason
//   kind 107, AddObservationsAnswer  i64 data version, list of i64 counts, string etag, i64 revision
//   kind 108, FitInfo                string model, i64 id, u32 state, fit spec, progress, i64 data version, i64 revision,
//                                    status, optional u32 inference, string reason, created, optional started,
//                                    optional finished, i64 resumes, i64 position
#include "server/model/codec.h"

#include <cmath>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "core/base/bytes.h"
#include "core/base/status_macros.h"

namespace fidelio {
namespace {

constexpr uint32_t kVersion = 1;
constexpr uint32_t kProgressVersion = 2;
enum Kind : uint32_t {
  kSpec = 101,
  kFit = 102,
  kProgress = 103,
  kRevision = 104,
  kStatus = 105,
  kModelAnswer = 106,
  kObservationsAnswer = 107,
  kFitAnswer = 108,
};

// ---- Fields ----

template <typename E>
void PutEnum(E value, ByteWriter& out) {
  out.U32(static_cast<uint32_t>(value));
}

// An enumeration whose values are least … most; others are an error.
template <typename E>
E GetEnum(ByteReader& in, E least, E most, bool& good) {
  const uint32_t value = in.U32();
  if (value < static_cast<uint32_t>(least) || value > static_cast<uint32_t>(most)) {
    good = false;
    return least;
  }
  return static_cast<E>(value);
}

template <typename T, typename F>
void PutOptional(const std::optional<T>& value, ByteWriter& out, F&& put) {
  out.Bool(value.has_value());
  if (value) put(*value);
}

template <typename F>
auto GetOptional(ByteReader& in, F&& get) -> std::optional<decltype(get())> {
  if (!in.Bool()) return std::nullopt;
  return get();
}

void Put(absl::Time value, ByteWriter& out) { out.I64(absl::ToUnixNanos(value)); }
absl::Time GetTime(ByteReader& in) { return absl::FromUnixNanos(in.I64()); }
void Put(absl::Duration value, ByteWriter& out) { out.I64(absl::ToInt64Nanoseconds(value)); }
absl::Duration GetDuration(ByteReader& in) { return absl::Nanoseconds(in.I64()); }

void Put(const std::vector<int64_t>& values, ByteWriter& out) {
  out.U64(values.size());
  for (const int64_t v : values) out.I64(v);
}

std::vector<int64_t> GetIntegers(ByteReader& in) {
  std::vector<int64_t> values;
  const uint64_t count = in.U64();
  for (uint64_t i = 0; i < count && in.ok(); ++i) values.push_back(in.I64());
  return values;
}

void Put(const ModelSpec& spec, ByteWriter& out) {
  out.String(spec.description);
  out.I64(spec.input_dimension);
  PutOptional(spec.input_box, out, [&](const InputBox& box) {
    out.Write(box.lower);
    out.Write(box.upper);
  });
  out.U64(spec.fidelities.size());
  for (const FidelitySpec& f : spec.fidelities) {
    out.String(f.name);
    out.F64(f.cost);
  }
  PutEnum(spec.output_transform.kind, out);
  out.F64(spec.output_transform.lower);
  out.F64(spec.output_transform.upper);
  PutEnum(spec.kind, out);
}

ModelSpec GetSpec(ByteReader& in, bool& good) {
  ModelSpec spec;
  spec.description = in.ReadString();
  spec.input_dimension = in.I64();
  spec.input_box = GetOptional(in, [&] {
    InputBox box;
    box.lower = in.ReadVector();
    box.upper = in.ReadVector();
    return box;
  });
  const uint64_t fidelities = in.U64();
  for (uint64_t t = 0; t < fidelities && in.ok(); ++t) {
    FidelitySpec f;
    f.name = in.ReadString();
    f.cost = in.F64();
    spec.fidelities.push_back(std::move(f));
  }
  spec.output_transform.kind = GetEnum(in, OutputTransformKind::kIdentity, OutputTransformKind::kBounded, good);
  spec.output_transform.lower = in.F64();
  spec.output_transform.upper = in.F64();
  spec.kind = GetEnum(in, ModelKind::kMfDgp, ModelKind::kAr1Recursive, good);
  // Quarantined models are answered without a spec, so its sizes are checked where they are relied on.
  return spec;
}

void Put(const FitSpec& spec, ByteWriter& out) {
  PutEnum(spec.inference, out);
  PutOptional(spec.kernel_family, out, [&](KernelFamily k) { PutEnum(k, out); });
  out.Bool(spec.warm_start);
  PutOptional(spec.budget_seconds, out, [&](double v) { out.F64(v); });
  PutOptional(spec.budget_iterations, out, [&](int64_t v) { out.I64(v); });
  out.U64(spec.seed);
}

FitSpec GetFitSpec(ByteReader& in, bool& good) {
  FitSpec spec;
  spec.inference = GetEnum(in, Inference::kAuto, Inference::kPointEstimate, good);
  spec.kernel_family = GetOptional(in, [&] { return GetEnum(in, KernelFamily::kRbf, KernelFamily::kMatern52, good); });
  spec.warm_start = in.Bool();
  spec.budget_seconds = GetOptional(in, [&] { return in.F64(); });
  spec.budget_iterations = GetOptional(in, [&] { return in.I64(); });
  spec.seed = in.U64();
  return spec;
}

void Put(const JobProgress& progress, ByteWriter& out) {
  out.String(progress.phase);
  out.I64(progress.iteration);
  out.I64(progress.evaluations);
  out.F64(progress.fraction);
  PutOptional(progress.elbo, out, [&](double v) { out.F64(v); });
  Put(progress.elapsed, out);
  PutOptional(progress.eta, out, [&](absl::Duration v) { Put(v, out); });
}

JobProgress GetProgress(ByteReader& in) {
  JobProgress progress;
  progress.phase = in.ReadString();
  progress.iteration = in.I64();
  progress.evaluations = in.I64();
  progress.fraction = in.F64();
  progress.elbo = GetOptional(in, [&] { return in.F64(); });
  progress.elapsed = GetDuration(in);
  progress.eta = GetOptional(in, [&] { return GetDuration(in); });
  return progress;
}

void Put(const std::vector<FitPoint>& history, ByteWriter& out) {
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

void Put(const absl::Status& status, ByteWriter& out) {
  out.U32(static_cast<uint32_t>(status.raw_code()));
  out.String(status.message());
  std::vector<std::pair<std::string, std::string>> payloads;
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    payloads.emplace_back(std::string(url), std::string(payload));
  });
  out.U64(payloads.size());
  for (const auto& [url, payload] : payloads) {
    out.String(url);
    out.String(payload);
  }
}

absl::Status GetStatus(ByteReader& in) {
  const auto code = static_cast<absl::StatusCode>(in.U32());
  absl::Status status(code, in.ReadString());
  const uint64_t payloads = in.U64();
  for (uint64_t i = 0; i < payloads && in.ok(); ++i) {
    const std::string url = in.ReadString();
    status.SetPayload(url, absl::Cord(in.ReadString()));
  }
  return status;
}

// ---- Whole values ----

// Opens the envelope, reads its fields by get(reader, good, version), and checks that they were all there and made sense.
template <typename T, typename F>
absl::StatusOr<T> ReadVersioned(absl::string_view bytes, Kind kind, uint32_t newest, absl::string_view want, F&& get) {
  absl::StatusOr<ByteReader::Opened> opened = ByteReader::Open(bytes, kind, newest, want);
  if (!opened.ok()) return opened.status();
  bool good = true;
  T value = get(opened->reader, good, opened->version);
  if (const absl::Status status = opened->reader.Finish(); !status.ok()) {
    return absl::DataLossError(absl::StrCat(want, ": ", status.message()));
  }
  if (!good) return absl::DataLossError(absl::StrCat(want, ": a field has a value that it can't have"));
  return value;
}

// The same for what has had one version only.
template <typename T, typename F>
absl::StatusOr<T> Read(absl::string_view bytes, Kind kind, absl::string_view want, F&& get) {
  return ReadVersioned<T>(bytes, kind, kVersion, want,
                          [&](ByteReader& in, bool& good, uint32_t) { return get(in, good); });
}

bool IsServable(const ModelSpec& spec) {
  const int64_t d = spec.input_dimension;
  return d >= 1 && !spec.fidelities.empty() && spec.fidelities.size() <= static_cast<size_t>(kMaxLevels) &&
         (!spec.input_box || (spec.input_box->lower.size() == d && spec.input_box->upper.size() == d));
}

}  // namespace

std::string Encode(const StoredSpec& value) {
  ByteWriter out;
  Put(value.spec, out);
  out.String(value.owner);
  out.U64(value.noise.size());
  for (const LevelNoise n : value.noise) PutEnum(n, out);
  return out.Seal(kSpec, kVersion);
}

template <>
absl::StatusOr<StoredSpec> Decode(absl::string_view bytes) {
  return Read<StoredSpec>(bytes, kSpec, "description of a model", [](ByteReader& in, bool& good) {
    StoredSpec value;
    value.spec = GetSpec(in, good);
    value.owner = in.ReadString();
    const uint64_t levels = in.U64();
    for (uint64_t t = 0; t < levels && in.ok(); ++t) {
      value.noise.push_back(GetEnum(in, LevelNoise::kNoData, LevelNoise::kGiven, good));
    }
    good = good && IsServable(value.spec) && value.noise.size() == value.spec.fidelities.size();
    return value;
  });
}

std::string Encode(const StoredFit& value) {
  ByteWriter out;
  Put(value.spec, out);
  out.String(value.owner);
  return out.Seal(kFit, kVersion);
}

template <>
absl::StatusOr<StoredFit> Decode(absl::string_view bytes) {
  return Read<StoredFit>(bytes, kFit, "options of a fit", [](ByteReader& in, bool& good) {
    StoredFit value;
    value.spec = GetFitSpec(in, good);
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
  Put(value.history, out);
  return out.Seal(kProgress, kProgressVersion);
}

template <>
absl::StatusOr<StoredProgress> Decode(absl::string_view bytes) {
  if (bytes.empty()) return StoredProgress();  // of a fit that has not begun
  const auto get = [](ByteReader& in, bool& good, uint32_t version) {
    StoredProgress value;
    value.progress = GetProgress(in);
    value.inference = GetOptional(in, [&] { return GetEnum(in, Inference::kAuto, Inference::kPointEstimate, good); });
    value.inference_reason = in.ReadString();
    value.resume_count = in.I64();
    value.idle_resumes = in.I64();
    if (version >= 2) value.history = GetHistory(in);
    return value;
  };
  return ReadVersioned<StoredProgress>(bytes, kProgress, kProgressVersion, "progress of a fit", get);
}

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
  return out.Seal(kRevision, kVersion);
}

template <>
absl::StatusOr<RevisionInfo> Decode(absl::string_view bytes) {
  return Read<RevisionInfo>(bytes, kRevision, "description of a revision", [](ByteReader& in, bool& good) {
    RevisionInfo value;
    value.origin = GetEnum(in, RevisionOrigin::kFit, RevisionOrigin::kCondition, good);
    value.fit = in.I64();
    value.data_version = in.I64();
    value.observation_counts = GetIntegers(in);
    value.kind = GetEnum(in, ModelKind::kMfDgp, ModelKind::kAr1Recursive, good);
    value.options = GetFitSpec(in, good);
    value.inference = GetEnum(in, Inference::kAuto, Inference::kPointEstimate, good);
    value.inference_reason = in.ReadString();
    value.elbo = in.F64();
    value.evaluations = in.I64();
    value.fit_duration = GetDuration(in);
    value.code_version = in.ReadString();
    return value;
  });
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
  return out.Seal(kModelAnswer, kVersion);
}

template <>
absl::StatusOr<ModelInfo> Decode(absl::string_view bytes) {
  return Read<ModelInfo>(bytes, kModelAnswer, "remembered answer", [](ByteReader& in, bool& good) {
    ModelInfo value;
    value.name = in.ReadString();
    value.spec = GetSpec(in, good);
    value.etag = in.ReadString();
    value.data_version = in.I64();
    value.observation_counts = GetIntegers(in);
    value.current_revision = in.I64();
    value.created = GetTime(in);
    value.updated = GetTime(in);
    value.state = GetEnum(in, ModelState::kActive, ModelState::kQuarantined, good);
    value.quarantine_reason = in.ReadString();
    return value;
  });
}

std::string Encode(const AddObservationsAnswer& value) {
  ByteWriter out;
  out.I64(value.data_version);
  Put(value.observation_counts, out);
  out.String(value.etag);
  out.I64(value.revision);
  return out.Seal(kObservationsAnswer, kVersion);
}

template <>
absl::StatusOr<AddObservationsAnswer> Decode(absl::string_view bytes) {
  return Read<AddObservationsAnswer>(bytes, kObservationsAnswer, "remembered answer", [](ByteReader& in, bool&) {
    AddObservationsAnswer value;
    value.data_version = in.I64();
    value.observation_counts = GetIntegers(in);
    value.etag = in.ReadString();
    value.revision = in.I64();
    return value;
  });
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
  return out.Seal(kFitAnswer, kVersion);
}

template <>
absl::StatusOr<FitInfo> Decode(absl::string_view bytes) {
  return Read<FitInfo>(bytes, kFitAnswer, "remembered answer", [](ByteReader& in, bool& good) {
    FitInfo value;
    value.model = in.ReadString();
    value.id = in.I64();
    value.state = GetEnum(in, FitState::kPending, FitState::kCancelled, good);
    value.options = GetFitSpec(in, good);
    value.progress = GetProgress(in);
    value.data_version = in.I64();
    value.revision = in.I64();
    value.error = GetStatus(in);
    value.inference = GetOptional(in, [&] { return GetEnum(in, Inference::kAuto, Inference::kPointEstimate, good); });
    value.inference_reason = in.ReadString();
    value.created = GetTime(in);
    value.started = GetOptional(in, [&] { return GetTime(in); });
    value.finished = GetOptional(in, [&] { return GetTime(in); });
    value.resume_count = in.I64();
    value.queue_position = in.I64();
    return value;
  });
}

}  // namespace fidelio
