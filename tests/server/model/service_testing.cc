#include "tests/server/model/service_testing.h"

#include <algorithm>
#include <utility>

namespace fidelio {

void Gate::Pass() {
  absl::MutexLock lock(&mutex_);
  ++arrivals_;
  mutex_.Await(absl::Condition(&open_));
}

void Gate::AwaitArrivals(int count) {
  absl::MutexLock lock(&mutex_);
  const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return arrivals_ >= count; };
  mutex_.Await(absl::Condition(&enough));
}

void Gate::Open() {
  absl::MutexLock lock(&mutex_);
  open_ = true;
}

Server::Server(std::string directory, ModelServiceOptions options, std::string vfs) {
  auto store = OpenSqliteStore({.directory = std::move(directory), .vfs = std::move(vfs)});
  if (!store.ok()) ADD_FAILURE() << store.status();
  store_ = *std::move(store);
  auto service = ModelService::Open(store_.get(), std::move(options));
  if (!service.ok()) ADD_FAILURE() << service.status();
  service_ = *std::move(service);
}

void Server::Close() {
  service_.reset();
  store_.reset();
}

MutationContext Request(const std::string& id, absl::string_view body, const std::string& caller) {
  return {.caller = {.name = caller}, .request_id = id, .body = body};
}

ModelSpec SpecOf(int dimension, int fidelities) {
  ModelSpec spec;
  spec.input_dimension = dimension;
  spec.fidelities.resize(static_cast<size_t>(fidelities));
  return spec;
}

std::vector<ObservationBatch> Batches(const std::vector<int>& sizes, int dimension, uint64_t seed) {
  std::vector<ObservationBatch> batches;
  const Dataset data = SmallData(sizes, dimension, seed);
  for (size_t t = 0; t < sizes.size(); ++t) {
    if (sizes[t] == 0) continue;
    batches.push_back({.level = static_cast<int>(t), .inputs = data.levels[t].x, .outputs = data.levels[t].y});
  }
  return batches;
}

void MakeModel(ModelService& service, const std::string& name, const std::vector<int>& sizes) {
  const auto model = service.CreateModel(Request(), name, SpecOf(1, static_cast<int>(sizes.size())));
  ASSERT_TRUE(model.ok()) << model.status();
  const auto added = service.AddObservations(Request(), name, "", Batches(sizes, 1));
  ASSERT_TRUE(added.ok()) << added.status();
}

FitInfo AwaitFit(ModelService& service, const std::string& model, int64_t fit) {
  const auto watch = service.WatchFit(model, fit);
  if (!watch.ok()) {
    ADD_FAILURE() << watch.status();
    return {};
  }
  while (true) {
    const auto event = (*watch)->Next(absl::InfiniteFuture());
    if (!event.ok()) {
      ADD_FAILURE() << event.status();
      return {};
    }
    if ((*event)->last) return (*event)->fit;
  }
}

FitInfo RunFit(ModelService& service, const std::string& model, const FitSpec& spec) {
  const auto fit = service.StartFit(Request(), model, "", spec);
  if (!fit.ok()) {
    ADD_FAILURE() << fit.status();
    return {};
  }
  FitInfo ended = AwaitFit(service, model, fit->id);
  EXPECT_EQ(ended.state, FitState::kSucceeded) << ended.error;
  return ended;
}

Vector Answers(ModelService& service, const std::string& model, int64_t revision) {
  const auto loaded = service.AcquireRevision(model, revision);
  if (!loaded.ok()) {
    ADD_FAILURE() << loaded.status();
    return {};
  }
  const Emulator& emulator = (*loaded)->emulator();
  std::vector<double> numbers;
  for (int level = 0; level < emulator.levels(); ++level) {
    const auto prediction = emulator.Predict(SmallQueries(7, emulator.input_dimension()),
                                             {.level = level, .include_noise = true, .quantiles = {0.1, 0.9}});
    if (!prediction.ok()) {
      ADD_FAILURE() << prediction.status();
      return {};
    }
    numbers.insert(numbers.end(), prediction->mean.begin(), prediction->mean.end());
    numbers.insert(numbers.end(), prediction->variance.begin(), prediction->variance.end());
    for (const double v : prediction->quantiles.reshaped()) numbers.push_back(v);
  }
  return Eigen::Map<Vector>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

std::string ExportBytes(ModelService& service, const std::string& model, bool all_revisions) {
  auto out = service.ExportModel(model, all_revisions);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return "";
  }
  std::string bytes;
  while (true) {
    const auto chunk = (*out)->Next(1000);
    if (!chunk.ok()) {
      ADD_FAILURE() << chunk.status();
      return "";
    }
    if (chunk->empty()) return bytes;
    EXPECT_LE(chunk->size(), 1000u);
    bytes += *chunk;
  }
}

absl::StatusOr<ModelInfo> ImportBytes(ModelService& service, absl::string_view bytes, const std::string& model,
                                      const MutationContext& context) {
  auto in = service.ImportModel(context, model);
  if (!in.ok()) return in.status();
  for (size_t at = 0; at < bytes.size(); at += 777) {
    if (const absl::Status status = (*in)->Write(bytes.substr(at, 777)); !status.ok()) return status;
  }
  return (*in)->Finish();
}

}  // namespace fidelio
