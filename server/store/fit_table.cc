#include "server/store/fit_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/crc32c.h"
#include "core/base/status_macros.h"
#include "server/store/row.h"

namespace fidelio {
namespace {

constexpr int64_t kNever = 0;  // as a time: not yet

absl::Status WriteFit(Database& database, const char* sql, int64_t model, const FitRow& row) {
  const FitRecord& fit = row.record;
  FIDELIO_ASSIGN_OR_RETURN(Statement statement, database.Prepare(sql));
  RowWriter writer(statement, "fits");
  writer.Int(model).Int(fit.id).Int(static_cast<int64_t>(fit.state)).Blob(fit.options).Int(fit.data_version);
  writer.Blob(fit.progress).Text(fit.error).Int(fit.revision);
  writer.Int(fit.has_saved_state ? row.state_bytes : -1).Int(fit.has_saved_state ? row.state_crc : 0);
  writer.Time(fit.created);
  writer.Int(fit.started == absl::InfinitePast() ? kNever : absl::ToUnixMicros(fit.started));
  writer.Int(fit.finished == absl::InfiniteFuture() ? kNever : absl::ToUnixMicros(fit.finished));
  FIDELIO_RETURN_IF_ERROR(writer.Run());
  return database.Changes() == 1 ? absl::OkStatus() : absl::DataLossError(absl::StrCat("fit ", fit.id, " is missing"));
}

absl::StatusOr<FitRow> Decode(const Statement& statement, const ModelEntry& model, int64_t expected) {
  FitRow result;
  FitRecord& fit = result.record;
  RowReader row(statement, "fits");
  const int64_t owner = row.Int();
  fit.id = row.Int();
  const int64_t state = row.Int();
  fit.options = row.Blob();
  fit.data_version = row.Int();
  fit.progress = row.Blob();
  fit.error = row.Text();
  fit.revision = row.Int();
  result.state_bytes = row.Int();
  result.state_crc = row.Int();
  fit.created = row.Time();
  const int64_t started = row.Int();
  const int64_t finished = row.Int();
  FIDELIO_RETURN_IF_ERROR(row.Finish(absl::StrCat("fit ", expected)));
  if (owner != model.id || fit.id != expected)
    return absl::DataLossError(absl::StrCat("fit ", expected, " is missing"));
  fit.state = static_cast<FitState>(state);
  fit.has_saved_state = result.state_bytes >= 0;
  if (started != kNever) fit.started = absl::FromUnixMicros(started);
  if (finished != kNever) fit.finished = absl::FromUnixMicros(finished);
  const bool open = std::binary_search(model.open_fits.begin(), model.open_fits.end(), fit.id);
  if (open == IsFinished(fit.state) || fit.data_version > model.record.data_version ||
      fit.revision > model.record.revisions) {
    return absl::DataLossError(absl::StrCat("fit ", expected, " contradicts the model's row"));
  }
  return result;
}

}  // namespace

absl::Status InsertFit(Database& database, int64_t model, const FitRow& row) {
  return WriteFit(database, "INSERT INTO fits VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                  model, row);
}

absl::Status UpdateFitRow(Database& database, int64_t model, const FitRow& row) {
  return WriteFit(database,
                  "UPDATE fits SET state=?3, options=?4, data_version=?5, progress=?6, error=?7, revision=?8, "
                  "state_bytes=?9, state_crc=?10, created=?11, started=?12, finished=?13, crc=?14 "
                  "WHERE model=?1 AND id=?2",
                  model, row);
}

absl::StatusOr<FitRow> ReadFit(Database& database, const ModelEntry& model, int64_t fit) {
  FIDELIO_ASSIGN_OR_RETURN(std::vector<FitRow> rows, ReadFits(database, model, fit - 1, 1));
  return std::move(rows.front());
}

absl::StatusOr<std::vector<FitRow>> ReadFits(Database& database, const ModelEntry& model, int64_t after, int limit) {
  const int64_t last = after + std::min<int64_t>(limit, model.record.fits - after);
  FIDELIO_ASSIGN_OR_RETURN(
      Statement statement,
      database.Prepare("SELECT model, id, state, options, data_version, progress, error, revision, state_bytes, "
                       "state_crc, created, started, finished, crc FROM fits WHERE model=?1 AND id BETWEEN ?2 AND ?3 "
                       "ORDER BY model, id"));
  statement.BindInt(1, model.id);
  statement.BindInt(2, after + 1);
  statement.BindInt(3, last);
  std::vector<FitRow> rows;
  for (int64_t id = after + 1; id <= last; ++id) {
    FIDELIO_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return absl::DataLossError(absl::StrCat("fit ", id, " is missing"));
    FIDELIO_ASSIGN_OR_RETURN(FitRow row, Decode(statement, model, id));
    rows.push_back(std::move(row));
  }
  return rows;
}

absl::Status SaveFitState(Database& database, int64_t model, absl::string_view state, FitRow& row) {
  const char* sql = row.record.has_saved_state ? "UPDATE fit_states SET bytes=?3, crc=?4 WHERE model=?1 AND fit=?2"
                                               : "INSERT INTO fit_states VALUES(?1, ?2, ?3, ?4)";
  FIDELIO_ASSIGN_OR_RETURN(Statement statement, database.Prepare(sql));
  FIDELIO_RETURN_IF_ERROR(RowWriter(statement, "fit_states").Int(model).Int(row.record.id).Blob(state).Run());
  if (database.Changes() != 1) {
    return absl::DataLossError(absl::StrCat("the saved state of fit ", row.record.id, " is missing"));
  }
  row.record.has_saved_state = true;
  row.state_bytes = static_cast<int64_t>(state.size());
  row.state_crc = Crc32c(state);
  return absl::OkStatus();
}

absl::Status DropFitState(Database& database, int64_t model, FitRow& row) {
  if (!row.record.has_saved_state) return absl::OkStatus();
  row.record.has_saved_state = false;
  FIDELIO_ASSIGN_OR_RETURN(Statement statement, database.Prepare("DELETE FROM fit_states WHERE model=?1 AND fit=?2"));
  statement.BindInt(1, model);
  statement.BindInt(2, row.record.id);
  return statement.Run();
}

absl::StatusOr<std::string> LoadFitState(Database& database, int64_t model, const FitRow& row) {
  const std::string what = absl::StrCat("the saved state of fit ", row.record.id);
  FIDELIO_ASSIGN_OR_RETURN(Statement statement,
                           database.Prepare("SELECT model, fit, bytes, crc FROM fit_states WHERE model=?1 AND fit=?2"));
  statement.BindInt(1, model);
  statement.BindInt(2, row.record.id);
  FIDELIO_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return absl::DataLossError(absl::StrCat(what, " is missing"));
  RowReader reader(statement, "fit_states");
  const int64_t owner = reader.Int();
  const int64_t fit = reader.Int();
  std::string bytes = reader.Blob();
  FIDELIO_RETURN_IF_ERROR(reader.Finish(what));
  if (owner != model || fit != row.record.id || static_cast<int64_t>(bytes.size()) != row.state_bytes ||
      Crc32c(bytes) != row.state_crc) {
    return absl::DataLossError(absl::StrCat(what, " is not the one that the fit's row names"));
  }
  return bytes;
}

}  // namespace fidelio
