#include "server/model/core_models.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/emulator/transformed_emulator.h"
#include "server/model/observation_history.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

using Eigen::Index;

// The levels that a kind of model learns from.
std::vector<int64_t> CountsInUse(const ModelSpec& spec, const std::vector<int64_t>& counts) {
  return LearnsFromHighestOnly(spec.kind) ? std::vector<int64_t>{counts.back()} : counts;
}

// The observations of a level, which grow in place: conservativeResize would copy them every time.
struct LevelBuilder {
  std::vector<double> x;  // row-major
  std::vector<double> y, noise;
  std::vector<bool> withdrawn;  // as long as the last row that is no longer in use needs

  void Append(const ObservationBlock& block) {
    // Rows without a variance before rows with one are all withdrawn: Compact leaves them out.
    if (!block.noise.empty()) noise.resize(y.size(), 0.0);
    x.insert(x.end(), block.x.begin(), block.x.end());
    y.insert(y.end(), block.y.begin(), block.y.end());
    noise.insert(noise.end(), block.noise.begin(), block.noise.end());
  }

  void Withdraw(size_t first, size_t count) {
    withdrawn.resize(std::max(withdrawn.size(), first + count), false);
    std::fill_n(withdrawn.begin() + static_cast<std::ptrdiff_t>(first), count, true);
  }

  // Leaves out the rows that are no longer in use.
  void Compact(size_t dimension) {
    if (withdrawn.empty()) return;
    const auto compact = [this](std::vector<double>& values, size_t width) {
      size_t to = 0;
      for (size_t row = 0; row * width < values.size(); ++row) {
        if (row < withdrawn.size() && withdrawn[row]) continue;
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * width), width,
                    values.begin() + static_cast<std::ptrdiff_t>(to * width));
        ++to;
      }
      values.resize(to * width);
    };
    compact(x, dimension);
    compact(y, 1);
    compact(noise, 1);
    withdrawn.clear();
  }

  LevelData Build(Index dimension) {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Compact(static_cast<size_t>(dimension));
    LevelData level;
    const auto n = static_cast<Index>(y.size());
    level.x = Eigen::Map<const RowMajor>(x.data(), n, dimension);
    level.y = Eigen::Map<const Vector>(y.data(), n);
    level.noise_variance = Eigen::Map<const Vector>(noise.data(), static_cast<Index>(noise.size()));
    return level;
  }
};

// Where the rows of a stored block begin in its level.
struct BlockPlace {
  size_t level = 0;
  size_t first = 0;
  int64_t rows = 0;
};

}  // namespace

absl::Status CheckKnown(absl::string_view model, const ModelSpec& spec) {
  if (FindUse(spec.kind) == nullptr) {
    return PreconditionError(
        "UNKNOWN_KIND", absl::StrCat("models/", model),
        absl::StrCat("is of kind ", static_cast<int>(spec.kind), ", which this program does not have"),
        "use a version of Fidelio that has this kind");
  }
  return CheckKnownTransform(model, spec);
}

absl::Status CheckKnownTransform(absl::string_view model, const ModelSpec& spec) {
  const OutputTransformKind kind = spec.output_transform.kind;
  if (kind >= OutputTransformKind::kIdentity && kind <= OutputTransformKind::kBounded) return absl::OkStatus();
  return PreconditionError(
      "UNKNOWN_OUTPUT_TRANSFORM", absl::StrCat("models/", model),
      absl::StrCat("has output transform ", static_cast<int>(kind), ", which this program does not have"),
      "use a version of Fidelio that has this transform");
}

absl::Status CheckDataForFit(absl::string_view model, const ModelSpec& spec, const std::vector<int64_t>& counts) {
  const size_t needed = LearnsFromHighestOnly(spec.kind) ? spec.fidelities.size() - 1 : 0;
  if (needed < counts.size() && counts[needed] > 0) return absl::OkStatus();
  return PreconditionError(
      "NO_DATA", absl::StrCat("models/", model),
      absl::StrCat("has no observations of level ", needed, " (", spec.fidelities[needed].name, "), which a fit needs"),
      "add some with AddObservations, then fit");
}

FitOptions CoreFitOptions(const FitSpec& asked, const MethodChoice& choice, int threads) {
  FitOptions options;
  options.kernel = asked.kernel_family;
  options.seed = asked.seed;
  options.threads = threads;
  if (asked.budget_seconds) options.max_seconds = *asked.budget_seconds;
  if (asked.budget_iterations) options.max_iterations = *asked.budget_iterations;
  for (const MethodOption& option : choice.method->options) {
    const auto given = asked.method_options.find(option.name);
    if (given == asked.method_options.end()) continue;
    if (option.set != nullptr) {
      option.set(given->second, options);
    } else {
      options.method_options[option.name] = given->second;
    }
  }
  if (choice.use->adjust != nullptr) choice.use->adjust(options);
  return options;
}

absl::Status CheckMemoryForFit(absl::string_view model, const ModelSpec& spec, const std::vector<int64_t>& counts,
                               const MethodChoice& choice, const FitSpec& asked, int threads, int64_t limit) {
  const double bytes = choice.method->fit_bytes(CountsInUse(spec, counts), static_cast<int>(spec.input_dimension),
                                                CoreFitOptions(asked, choice, threads));
  if (bytes <= static_cast<double>(limit)) return absl::OkStatus();
  std::string with;
  for (const auto& [name, value] : asked.method_options) {
    absl::StrAppend(&with, with.empty() ? " with " : ", ", name, ": ", value);
  }
  return QuotaExceededError("server", absl::StrCat("a fit of the observations of models/", model, with, " needs about ",
                                                   static_cast<int64_t>(bytes / (1 << 20)),
                                                   " MiB of memory, and the limit is ", limit >> 20, " MiB"));
}

absl::StatusOr<Dataset> ReadDataset(const Store& store, absl::string_view model, const ModelSpec& spec,
                                    const DataVersions& versions, const std::vector<ObservationBlock>& more_blocks) {
  std::vector<LevelBuilder> builders(spec.fidelities.size());
  std::map<std::pair<int64_t, int>, BlockPlace> places;
  absl::Status status = absl::OkStatus();
  const auto add = [&](const StoredBlock& part) -> absl::Status {
    if (part.withdrawn) {
      for (const RowRange& range : part.withdrawn->rows) {
        const auto place = places.find({range.data_version, range.part});
        if (place == places.end()) {
          if (range.data_version > versions.added) continue;
          return absl::DataLossError("observations that do not exist were withdrawn");
        }
        if (range.first + range.count > place->second.rows) {
          return absl::DataLossError("observations that do not exist were withdrawn");
        }
        builders[place->second.level].Withdraw(place->second.first + static_cast<size_t>(range.first),
                                               static_cast<size_t>(range.count));
      }
      return absl::OkStatus();
    }
    if (part.data_version > versions.added) return absl::OkStatus();
    const auto level = static_cast<size_t>(part.block.level);
    if (level >= builders.size() || part.block.cols != spec.input_dimension) {
      return absl::DataLossError(absl::StrCat("observations of level ", level, " and dimension ", part.block.cols,
                                              ", which the model does not have"));
    }
    places[{part.data_version, part.part}] = {level, builders[level].y.size(), part.block.rows};
    builders[level].Append(part.block);
    return absl::OkStatus();
  };
  const int64_t last = std::max(versions.added, versions.withdrawn);
  if (last > 0) {
    FIDELIO_RETURN_IF_ERROR(ForEachPart(store, model, {.last_version = last}, [&](const StoredBlock& part) {
      status = add(part);
      return status.ok();
    }));
    FIDELIO_RETURN_IF_ERROR(status);
  }
  for (const ObservationBlock& block : more_blocks) builders[static_cast<size_t>(block.level)].Append(block);
  if (LearnsFromHighestOnly(spec.kind)) builders.erase(builders.begin(), builders.end() - 1);
  Dataset data;
  for (LevelBuilder& builder : builders) data.levels.push_back(builder.Build(spec.input_dimension));
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
  FIDELIO_ASSIGN_OR_RETURN(result.data, ReadDataset(store, model, spec, {data_version, data_version}));
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
