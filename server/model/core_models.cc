#include "server/model/core_models.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/emulator/transformed_emulator.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int64_t kMaxPage = 10'000;  // points that are read at a time

// The levels that a kind of model learns from.
std::vector<int64_t> CountsInUse(const ModelSpec& spec, const std::vector<int64_t>& counts) {
  return spec.kind == ModelKind::kGp ? std::vector<int64_t>{counts.back()} : counts;
}

// Appends a block to its level, which grows in place: conservativeResize would copy it every time.
struct LevelBuilder {
  std::vector<double> x;  // row-major
  std::vector<double> y, noise;

  void Append(const ObservationBlock& block) {
    x.insert(x.end(), block.x.begin(), block.x.end());
    y.insert(y.end(), block.y.begin(), block.y.end());
    noise.insert(noise.end(), block.noise.begin(), block.noise.end());
  }

  LevelData Build(Index dimension) const {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    LevelData level;
    const auto n = static_cast<Index>(y.size());
    level.x = Eigen::Map<const RowMajor>(x.data(), n, dimension);
    level.y = Eigen::Map<const Vector>(y.data(), n);
    level.noise_variance = Eigen::Map<const Vector>(noise.data(), static_cast<Index>(noise.size()));
    return level;
  }
};

}  // namespace

absl::Status CheckDataForFit(absl::string_view model, const ModelSpec& spec, const std::vector<int64_t>& counts) {
  const size_t needed = spec.kind == ModelKind::kGp ? spec.fidelities.size() - 1 : 0;
  if (needed < counts.size() && counts[needed] > 0) return absl::OkStatus();
  return PreconditionError(
      "NO_DATA", absl::StrCat("models/", model),
      absl::StrCat("has no observations of level ", needed, " (", spec.fidelities[needed].name, "), which a fit needs"),
      "add some with AddObservations, then fit");
}

absl::Status CheckMemoryForFit(absl::string_view model, const ModelSpec& spec, const std::vector<int64_t>& counts,
                               const EmulatorMethod& method, int threads, int64_t limit) {
  const double bytes = method.fit_bytes(CountsInUse(spec, counts), static_cast<int>(spec.input_dimension), threads);
  if (bytes <= static_cast<double>(limit)) return absl::OkStatus();
  return QuotaExceededError("server", absl::StrCat("a fit of the observations of models/", model, " needs about ",
                                                   static_cast<int64_t>(bytes / (1 << 20)),
                                                   " MiB of memory, and the limit is ", limit >> 20, " MiB"));
}

absl::StatusOr<Dataset> ReadDataset(const Store& store, absl::string_view model, const ModelSpec& spec,
                                    int64_t data_version, const std::vector<ObservationBlock>& more_blocks) {
  std::vector<LevelBuilder> builders(spec.fidelities.size());
  ObservationQuery query{.last_version = data_version, .max_points = kMaxPage};
  for (bool more = data_version > 0; more;) {
    FIDELIO_ASSIGN_OR_RETURN(const ObservationPage page, store.ReadObservations(model, query));
    for (const StoredBlock& stored : page.blocks) {
      const auto level = static_cast<size_t>(stored.block.level);
      if (level >= builders.size() || stored.block.cols != spec.input_dimension) {
        return absl::DataLossError(absl::StrCat("observations of level ", level, " and dimension ", stored.block.cols,
                                                ", which the model does not have"));
      }
      builders[level].Append(stored.block);
    }
    more = page.next.has_value();
    if (more) query.from = *page.next;
  }
  for (const ObservationBlock& block : more_blocks) builders[static_cast<size_t>(block.level)].Append(block);
  if (spec.kind == ModelKind::kGp) builders.erase(builders.begin(), builders.end() - 1);
  Dataset data;
  for (const LevelBuilder& builder : builders) data.levels.push_back(builder.Build(spec.input_dimension));
  data.box = spec.input_box;
  return data;
}

std::optional<OutputTransform> TransformOf(const ModelSpec& spec) {
  OutputTransform transform;
  switch (spec.output_transform.kind) {
    case OutputTransformKind::kIdentity:
      return std::nullopt;
    case OutputTransformKind::kLog:
      transform.kind = OutputTransform::Kind::kLog;
      return transform;
    case OutputTransformKind::kLogit:
      transform.kind = OutputTransform::Kind::kLogit;
      return transform;
    case OutputTransformKind::kBounded:
      transform.kind = OutputTransform::Kind::kLogit;
      transform.lower = spec.output_transform.lower;
      transform.upper = spec.output_transform.upper;
      return transform;
  }
  return std::nullopt;
}

absl::StatusOr<FitData> ReadFitData(const Store& store, absl::string_view model, const ModelSpec& spec,
                                    int64_t data_version) {
  FitData result;
  FIDELIO_ASSIGN_OR_RETURN(result.data, ReadDataset(store, model, spec, data_version));
  if (const std::optional<OutputTransform> transform = TransformOf(spec)) {
    FIDELIO_ASSIGN_OR_RETURN(TransformedData transformed, TransformOutputs(result.data, *transform));
    result = {.data = std::move(transformed.data), .transform = transformed.transform};
  }
  return result;
}

std::unique_ptr<Emulator> MakeEmulator(const std::optional<OutputTransform>& transform,
                                       std::unique_ptr<MixtureEmulator> fitted) {
  if (!transform) return fitted;
  return std::make_unique<TransformedEmulator>(*transform, std::move(fitted));
}

std::vector<int64_t> KnownCounts(const Emulator& emulator, int fidelities) {
  std::vector<int64_t> counts(static_cast<size_t>(fidelities - emulator.levels()), 0);
  for (const LevelData& level : FittedModel(emulator).data().levels) counts.push_back(level.y.size());
  return counts;
}

}  // namespace fidelio
