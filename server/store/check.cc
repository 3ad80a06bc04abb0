#include "server/store/check.h"

#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/store/fit_table.h"
#include "server/store/observation_table.h"
#include "server/store/request_table.h"
#include "server/store/revision_table.h"
#include "server/store/schema.h"

namespace fidelio {
namespace {

constexpr int64_t kPointsPerPage = 1 << 16;
constexpr int kRowsPerPage = 256;

class Checker {
 public:
  Checker(Database& database, Catalog& catalog) : database_(database), catalog_(catalog) {}

  std::vector<Finding> Run() {
    Note("", Structure());
    Note("", VerifySchema(database_));
    const std::vector<EntryPtr> models = catalog_.List("", "", std::numeric_limits<size_t>::max());
    Note("", CompareStore(models));
    for (const EntryPtr& model : models) Model(*model);
    Strays(models);
    return std::move(findings_);
  }

 private:
  void Note(absl::string_view model, const absl::Status& status) {
    if (!status.ok()) findings_.push_back({std::string(model), std::string(status.message())});
  }

  // SQLite's own view of its pages, records, and free list (S2).
  absl::Status Structure() {
    FIDELIO_ASSIGN_OR_RETURN(Statement statement, database_.Prepare("PRAGMA integrity_check(100)"));
    while (true) {
      FIDELIO_ASSIGN_OR_RETURN(const bool row, statement.Step());
      if (!row) return absl::OkStatus();
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), 0));
      const std::string line = text == nullptr ? "" : text;
      if (line != "ok") findings_.push_back({"", absl::StrCat("the database's structure: ", line)});
    }
  }

  // S4: `store`, `names` and `models` on disk agree with each other and with memory.
  absl::Status CompareStore(const std::vector<EntryPtr>& models) {
    FIDELIO_ASSIGN_OR_RETURN(const StoreRow store, ReadStoreRow(database_));
    const StoreRow expected = catalog_.store();
    if (store.models != expected.models || store.next_model != expected.next_model ||
        store.first_request != expected.first_request || store.next_request != expected.next_request) {
      return absl::DataLossError("the store's own row differs from what was last written");
    }
    std::vector<std::string> problems;
    const std::map<int64_t, std::string> names = ReadNames(database_, problems);
    for (const std::string& problem : problems) findings_.push_back({"", problem});
    for (const EntryPtr& model : models) {
      const auto name = names.find(model->id);
      if (name == names.end() || name->second != model->record.name) {
        findings_.push_back({model->record.name, absl::StrCat("its row ", model->id, " in table names is missing")});
      }
    }
    std::vector<RequestRow> requests;
    return ReadRequests(database_, kNoModel, store.first_request, store.next_request, requests);
  }

  void Model(const ModelEntry& model) {
    const std::string& name = model.record.name;
    const size_t before = findings_.size();
    if (!model.record.damage.empty()) {
      findings_.push_back({name, absl::StrCat("it is quarantined: ", model.record.damage)});
      return;
    }
    Note(name, Row(model));
    Note(name, Observations(model));
    Note(name, Fits(model));
    Note(name, Revisions(model));
    std::vector<RequestRow> requests;
    Note(name, ReadRequests(database_, model.id, model.first_request, model.next_request, requests));
    if (findings_.size() > before) catalog_.Quarantine(name, findings_[before].text);
  }

  absl::Status Row(const ModelEntry& model) {
    FIDELIO_ASSIGN_OR_RETURN(const ModelEntry row, ReadModel(database_, model.id));
    const ModelRecord &a = row.record, &b = model.record;
    if (a.name != b.name || a.etag != b.etag || a.spec != b.spec || a.data_version != b.data_version ||
        a.observations != b.observations || a.fits != b.fits || a.revisions != b.revisions ||
        a.current_revision != b.current_revision || row.open_fits != model.open_fits ||
        row.first_request != model.first_request || row.next_request != model.next_request) {
      return absl::DataLossError("its row differs from what was last written");
    }
    if (a.current_revision < 0 || a.current_revision > a.revisions) {
      return absl::DataLossError(absl::StrCat("its current revision ", a.current_revision, " does not exist"));
    }
    return absl::OkStatus();
  }

  absl::Status Observations(const ModelEntry& model) {
    std::vector<int64_t> counts;
    ObservationQuery query{.max_points = kPointsPerPage};
    while (true) {
      FIDELIO_ASSIGN_OR_RETURN(const ObservationPage page,
                               ReadBlocks(database_, model.id, model.record.data_version, query));
      rows_["observations"] += static_cast<int64_t>(page.blocks.size());
      for (const StoredBlock& stored : page.blocks) {
        if (stored.withdrawn) {
          for (const RowRange& range : stored.withdrawn->rows) {
            const auto of = static_cast<size_t>(range.level);
            if (of >= counts.size()) return absl::DataLossError("it has withdrawn observations of an unknown level");
            counts[of] -= range.count;
          }
          continue;
        }
        const auto level = static_cast<size_t>(stored.block.level);
        if (counts.size() <= level) counts.resize(level + 1, 0);
        counts[level] += stored.block.rows;
      }
      if (!page.next) break;
      query.from = *page.next;
    }
    if (counts != model.record.observations) return absl::DataLossError("its counts of observations are wrong");
    return absl::OkStatus();
  }

  absl::Status Fits(const ModelEntry& model) {
    for (int64_t after = 0; after < model.record.fits;) {
      FIDELIO_ASSIGN_OR_RETURN(const std::vector<FitRow> rows, ReadFits(database_, model, after, kRowsPerPage));
      for (const FitRow& row : rows) {
        if (!row.record.has_saved_state) continue;
        FIDELIO_RETURN_IF_ERROR(LoadFitState(database_, model.id, row).status());
        ++rows_["fit_states"];
      }
      rows_["fits"] += static_cast<int64_t>(rows.size());
      after = rows.back().record.id;
    }
    return absl::OkStatus();
  }

  absl::Status Revisions(const ModelEntry& model) {
    for (int64_t after = 0; after < model.record.revisions;) {
      FIDELIO_ASSIGN_OR_RETURN(const std::vector<RevisionRecord> records,
                               ReadRevisions(database_, model, after, kRowsPerPage));
      for (const RevisionRecord& record : records) {
        if (IsDeleted(record)) {
          if (record.id != model.record.current_revision) continue;
          return absl::DataLossError(absl::StrCat("its current revision ", record.id, " was deleted"));
        }
        FIDELIO_RETURN_IF_ERROR(LoadCheckpoint(database_, model.id, record).status());
        ++rows_["checkpoints"];
      }
      rows_["revisions"] += static_cast<int64_t>(records.size());
      after = records.back().id;
    }
    return absl::OkStatus();
  }

  // S5: no table holds rows that belong to nothing.
  void Strays(const std::vector<EntryPtr>& models) {
    if (!findings_.empty()) return;  // counts are complete only when every model could be read
    const StoreRow store = catalog_.store();
    rows_["store"] = 1;
    rows_["names"] = rows_["models"] = store.models;
    rows_["requests"] = store.next_request - store.first_request;
    for (const EntryPtr& model : models) rows_["requests"] += model->next_request - model->first_request;
    for (const char* table :
         {"store", "names", "models", "observations", "fits", "fit_states", "revisions", "checkpoints", "requests"}) {
      // Counted by walking through the table: that is what a reader sees.
      const std::string sql = absl::StrCat("SELECT count(*) FROM ", table);
      sqlite3_stmt* statement = nullptr;
      const int result = sqlite3_prepare_v2(database_.connection(), sql.c_str(), -1, &statement, nullptr);
      const bool counted = result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW;
      const int64_t count = counted ? sqlite3_column_int64(statement, 0) : -1;
      sqlite3_finalize(statement);
      if (count != rows_[table]) {
        findings_.push_back({"", absl::StrCat("table ", table, " has ", count, " rows, but ", rows_[table],
                                              " belong to ", "something")});
      }
    }
  }

  Database& database_;
  Catalog& catalog_;
  std::vector<Finding> findings_;
  std::map<std::string, int64_t> rows_;  // of each table, as counted by model
};

}  // namespace

absl::StatusOr<std::vector<Finding>> CheckDatabase(Database& database, Catalog& catalog) {
  // What is in memory says nothing about the disk.
  FIDELIO_RETURN_IF_ERROR(database.Execute("PRAGMA shrink_memory"));
  std::vector<Finding> findings = Checker(database, catalog).Run();
  FIDELIO_RETURN_IF_ERROR(database.dead());
  if (const std::string damage = catalog.orphan_requests_damage(); !damage.empty()) {
    findings.push_back({"", absl::StrCat("records of requests about deleted models were lost: ", damage)});
  }
  return findings;
}

}  // namespace fidelio
