#include "tests/server/store/store_testing.h"

#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/store/sha256.h"

namespace fidelio {
namespace {

bool SameBits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

std::string Bits(const std::vector<double>& values) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)));
}

}  // namespace

bool SameBlock(const ObservationBlock& a, const ObservationBlock& b) {
  return a.level == b.level && a.rows == b.rows && a.cols == b.cols && SameBits(a.x, b.x) && SameBits(a.y, b.y) &&
         SameBits(a.noise, b.noise);
}

std::vector<ObservationBlock> Batch(int seed, int parts) {
  std::vector<ObservationBlock> batch;
  for (int i = 0; i < parts; ++i) {
    const double s = seed + 0.1 * i;
    ObservationBlock block{.level = i, .rows = 2, .cols = 2, .x = {s, 1 / s, -s, s * s}, .y = {s + 1, s - 1}};
    if (i % 2 == 1) block.noise = {s, s / 3};
    batch.push_back(block);
  }
  return batch;
}

absl::Status CreateModel(Store& store, const std::string& model, const std::string& spec) {
  return store.Write([&](StoreTransaction& t) { return t.CreateModel(model, spec).status(); });
}

absl::Status DeleteModel(Store& store, const std::string& model) {
  return store.Write([&](StoreTransaction& t) { return t.DeleteModel(model, 0); });
}

absl::Status Append(Store& store, const std::string& model, int seed, int parts) {
  return store.Write([&](StoreTransaction& t) { return t.AppendObservations(model, Batch(seed, parts)).status(); });
}

absl::Status Fill(Store& store, const std::string& model) {
  return store.Write([&](StoreTransaction& t) -> absl::Status {
    for (int i = 1; i <= 3; ++i) {
      FIDELIO_RETURN_IF_ERROR(t.AppendObservations(model, Batch(i, 2)).status());
      FIDELIO_RETURN_IF_ERROR(t.CreateFit(model, absl::StrCat("options ", i)).status());
    }
    const std::string checkpoint = absl::StrCat(model, std::string(6000, 'k'));
    FIDELIO_RETURN_IF_ERROR(t.AddRevision(model, "first", checkpoint).status());
    FIDELIO_RETURN_IF_ERROR(t.AddRevision(model, "second", "small").status());
    FIDELIO_RETURN_IF_ERROR(t.SetCurrentRevision(model, 0, 2).status());
    FIDELIO_RETURN_IF_ERROR(t.UpdateFit(model, 1, {.state = FitState::kRunning}).status());
    FIDELIO_RETURN_IF_ERROR(t.UpdateFit(model, 1, {.state = FitState::kSucceeded, .revision = 2}).status());
    FIDELIO_RETURN_IF_ERROR(t.UpdateFit(model, 2,
                                        {.state = FitState::kRunning,
                                         .progress = "half",
                                         .saved_state = absl::StrCat(model, std::string(500, 's'))})
                                .status());
    for (const char* id : {"1", "2"}) {
      FIDELIO_RETURN_IF_ERROR(
          t.RecordRequest(model, {model, id}, Sha256(id), absl::StrCat("answer ", id, " about ", model)));
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::string> Everything(const Store& store, const std::string& model) {
  FIDELIO_ASSIGN_OR_RETURN(const ModelRecord record, store.GetModel(model));
  std::string text = absl::StrCat(record.name, " ", record.etag, " ", record.spec, " ", record.data_version, " ",
                                  record.fits, " ", record.revisions, " ", record.current_revision, "\n");
  FIDELIO_ASSIGN_OR_RETURN(const ObservationPage observations, store.ReadObservations(model, {}));
  for (const StoredBlock& s : observations.blocks) {
    absl::StrAppend(&text, s.data_version, " ", s.part, " ", s.block.level, " ", s.block.rows, " ", s.block.cols, " ",
                    Bits(s.block.x), " ", Bits(s.block.y), " ", Bits(s.block.noise), "\n");
  }
  FIDELIO_ASSIGN_OR_RETURN(const FitPage fits, store.ListFits(model, 0, 1000));
  for (const FitRecord& f : fits.fits) {
    absl::StrAppend(&text, f.id, " ", static_cast<int>(f.state), " ", f.options, " ", f.progress, " ", f.error, " ",
                    f.revision, " ", f.data_version, "\n");
    if (!f.has_saved_state) continue;
    FIDELIO_ASSIGN_OR_RETURN(const std::string state, store.ReadFitState(model, f.id));
    absl::StrAppend(&text, state, "\n");
  }
  FIDELIO_ASSIGN_OR_RETURN(const RevisionPage revisions, store.ListRevisions(model, 0, 1000));
  for (const RevisionRecord& r : revisions.revisions) {
    FIDELIO_ASSIGN_OR_RETURN(const std::string checkpoint, store.ReadCheckpoint(model, r.id));
    absl::StrAppend(&text, r.id, " ", r.metadata, " ", checkpoint, "\n");
  }
  for (const char* id : {"1", "2"}) {
    FIDELIO_ASSIGN_OR_RETURN(const auto request, store.FindRequest(model, {model, id}));
    absl::StrAppend(&text, request ? request->answer : "no request", "\n");
  }
  return text;
}

absl::StatusOr<std::unique_ptr<Store>> OpenAt(const std::string& directory, absl::Time now) {
  return OpenSqliteStore({.directory = directory, .clock = [now] { return now; }});
}

}  // namespace fidelio
