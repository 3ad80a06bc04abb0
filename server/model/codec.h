// What server/model keeps in the store's opaque bytes: specs, options, progress, metadata, errors and remembered answers.
//
// Each is a sealed envelope (core/base/bytes.h) of its own kind and version; codec_model.cc, codec_fit.cc and
// codec_revision.cc state the order of the fields. A newer program reads every version that an older one wrote. Decoding
// checks everything that the program relies on: bytes that pass their checksum and still make no sense are DATA_LOSS.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_MODEL_CODEC_H_
#define FIDELIO_SERVER_MODEL_CODEC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/model/model_types.h"

namespace fidelio {

// Whether the noise of a level is known: all of its observations have variances, or none has.
enum class LevelNoise { kNoData = 0, kLearned = 1, kGiven = 2 };

// How many of the observations that version `added` of the data brought, version `at` took out of use.
struct WithdrawnCount {
  int64_t at = 0;
  int64_t added = 0;
  int64_t count = 0;

  friend bool operator==(const WithdrawnCount&, const WithdrawnCount&) = default;
};

// ModelRecord::spec.
struct StoredSpec {
  ModelSpec spec = {};
  std::string owner = {};                      // who made the model
  std::vector<LevelNoise> noise = {};          // one per fidelity
  std::vector<WithdrawnCount> withdrawn = {};  // ascending by `at`, then by `added`
  // Observations that others than the owner have added, by token.
  std::map<std::string, int64_t> contributions = {};
};

// FitRecord::options.
struct StoredFit {
  FitSpec spec = {};
  std::string owner = {};  // who started the fit
};

// FitRecord::progress.
struct StoredProgress {
  JobProgress progress = {};
  std::optional<Inference> inference = {};
  std::string inference_reason = {};
  int64_t resume_count = 0;
  int64_t idle_resumes = 0;  // resumes since the last checkpoint
  std::vector<FitPoint> history = {};
  bool not_served = false;  // the model was rolled back: the fit's revision does not become current
  std::optional<FitReport> report = {};
};

std::string Encode(const StoredSpec& value);
std::string Encode(const StoredFit& value);
std::string Encode(const StoredProgress& value);
std::string Encode(const RevisionInfo& value);  // without what the store knows: model, id, created, size, sum, current
std::string Encode(const absl::Status& value);  // with its details

// Answers to mutations.
std::string Encode(const ModelInfo& value);
std::string Encode(const AddObservationsAnswer& value);
std::string Encode(const ChangeObservationsAnswer& value);
std::string Encode(const FitInfo& value);  // without its history, which grows after the answer

// T is one of the types above.
template <typename T>
absl::StatusOr<T> Decode(absl::string_view bytes);
template <>
absl::StatusOr<StoredSpec> Decode(absl::string_view bytes);
template <>
absl::StatusOr<StoredFit> Decode(absl::string_view bytes);
template <>
absl::StatusOr<StoredProgress> Decode(absl::string_view bytes);
template <>
absl::StatusOr<RevisionInfo> Decode(absl::string_view bytes);
template <>
absl::StatusOr<ModelInfo> Decode(absl::string_view bytes);
template <>
absl::StatusOr<AddObservationsAnswer> Decode(absl::string_view bytes);
template <>
absl::StatusOr<ChangeObservationsAnswer> Decode(absl::string_view bytes);
template <>
absl::StatusOr<FitInfo> Decode(absl::string_view bytes);

// Empty bytes are OK.
absl::Status DecodeStatus(absl::string_view bytes);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_CODEC_H_
