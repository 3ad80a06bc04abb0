// Fields of the records of codec.h, which several of them have. The envelope and the plain types are in core/base/bytes.h;
// enumerations are u32; times and durations are i64 nanoseconds; optional fields are a bool and, when that is true, the
// field; lists are a u64 and so many entries.
//
//   spec         string description, i64 input dimension, optional (vector lower, vector upper), list of (string name,
//                f64 cost), u32 transform, f64 lower, f64 upper, u32 kind; since version 3: list of variable (inputs),
//                optional variable (output), i64 revisions to keep
//   variable     string name, string unit, string description
//   fit spec     u32 inference, optional u32 kernel family, bool warm start, optional f64 seconds, optional i64 iterations,
//                u64 seed; since version 5: list of (string name, f64 value), options of methods; in versions 2 to 4 these
//                were optional i64 inducing points, optional i64 batch size, optional i64 steps
//   progress     string phase, i64 iteration, i64 evaluations, f64 fraction, optional f64 elbo, elapsed, optional eta
//   report       i64 evaluations, f64 seconds, f64 log posterior, f64 acceptance, f64 largest jitter, i64 draws, i64 chains,
//                f64 R̂, f64 effective size, i64 moved chains, i64 failed columns of Hessians
//   status       u32 code, string message, list of (string url, string payload)
//
// Get… set `good` to false when a value can't be; that bytes are missing, the reader knows. Values of fidelio.v1 that this
// program does not know (kinds, inferences, kernels, …) are kept, and written back as they were: whoever uses them decides.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_MODEL_CODEC_FIELDS_H_
#define FIDELIO_SERVER_MODEL_CODEC_FIELDS_H_

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/bytes.h"
#include "server/model/model_types.h"

namespace fidelio::codec {

constexpr uint32_t kVersion = 5;

// Of envelopes. The file of a record has its fields.
enum Kind : uint32_t {
  kSpec = 101,
  kFit = 102,
  kProgress = 103,
  kRevision = 104,
  kStatus = 105,
  kModelAnswer = 106,
  kObservationsAnswer = 107,
  kFitAnswer = 108,
  kChangeAnswer = 109,
};

template <typename E>
void PutEnum(E value, ByteWriter& out) {
  out.U32(static_cast<uint32_t>(value));
}

// An enumeration of fidelio.v1, whatever its value.
template <typename E>
E GetEnum(ByteReader& in) {
  return static_cast<E>(in.U32());
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

void Put(absl::Time value, ByteWriter& out);
absl::Time GetTime(ByteReader& in);
void Put(absl::Duration value, ByteWriter& out);
absl::Duration GetDuration(ByteReader& in);
void Put(const std::vector<int64_t>& values, ByteWriter& out);
std::vector<int64_t> GetIntegers(ByteReader& in);

void Put(const ModelSpec& spec, ByteWriter& out);
ModelSpec GetSpec(ByteReader& in, uint32_t version);
void Put(const FitSpec& spec, ByteWriter& out);
FitSpec GetFitSpec(ByteReader& in, uint32_t version);
void Put(const JobProgress& progress, ByteWriter& out);
JobProgress GetProgress(ByteReader& in);
void Put(const FitReport& report, ByteWriter& out);
FitReport GetReport(ByteReader& in, bool& good);
void Put(const absl::Status& status, ByteWriter& out);
absl::Status GetStatus(ByteReader& in);

// Opens the envelope, reads its fields by get(reader, good) or, where versions differ, get(reader, good, version), and
// checks that they were all there and made sense.
template <typename T, typename F>
absl::StatusOr<T> Read(absl::string_view bytes, Kind kind, absl::string_view want, F&& get) {
  absl::StatusOr<ByteReader::Opened> opened = ByteReader::Open(bytes, kind, kVersion, want);
  if (!opened.ok()) return opened.status();
  bool good = true;
  T value = [&] {
    if constexpr (std::is_invocable_v<F, ByteReader&, bool&, uint32_t>) {
      return get(opened->reader, good, opened->version);
    } else {
      return get(opened->reader, good);
    }
  }();
  if (const absl::Status status = opened->reader.Finish(); !status.ok()) {
    return absl::DataLossError(absl::StrCat(want, ": ", status.message()));
  }
  if (!good) return absl::DataLossError(absl::StrCat(want, ": a field has a value that it can't have"));
  return value;
}

}  // namespace fidelio::codec

#endif  // FIDELIO_SERVER_MODEL_CODEC_FIELDS_H_
