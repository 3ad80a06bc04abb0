#include "server/store/request_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/store/row.h"

namespace fidelio {
namespace {

absl::StatusOr<RequestRow> DecodeRequest(const Statement& statement, int64_t model) {
  RequestRow result;
  RowReader row(statement, "requests");
  result.model = row.Int();
  result.seq = row.Int();
  result.key.principal = row.Text();
  result.key.request_id = row.Text();
  result.record.digest = row.Blob();
  result.record.answer = row.Blob();
  result.record.erased = row.Int() != 0;
  result.record.time = row.Time();
  FIDELIO_RETURN_IF_ERROR(row.Finish("a record of a request"));
  if (result.model != model) return absl::DataLossError("requests: a row of another model is in its place");
  return result;
}

absl::Status Missing(int64_t seq) {
  return absl::DataLossError(absl::StrCat("record ", seq, " of a request is missing"));
}

}  // namespace

absl::Status InsertRequest(Database& database, const RequestRow& row) {
  FIDELIO_ASSIGN_OR_RETURN(Statement statement,
                           database.Prepare("INSERT INTO requests VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
  RowWriter writer(statement, "requests");
  writer.Int(row.model).Int(row.seq).Text(row.key.principal).Text(row.key.request_id).Blob(row.record.digest);
  return writer.Blob(row.record.answer).Int(row.record.erased ? 1 : 0).Time(row.record.time).Run();
}

absl::StatusOr<RequestRow> ReadRequest(Database& database, int64_t model, int64_t seq) {
  FIDELIO_ASSIGN_OR_RETURN(
      Statement statement,
      database.Prepare("SELECT model, seq, principal, request_id, digest, answer, erased, time, crc FROM requests "
                       "WHERE model=?1 AND seq=?2"));
  statement.BindInt(1, model);
  statement.BindInt(2, seq);
  FIDELIO_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return Missing(seq);
  FIDELIO_ASSIGN_OR_RETURN(RequestRow row, DecodeRequest(statement, model));
  if (row.seq != seq) return Missing(seq);
  return row;
}

absl::Status DeleteRequest(Database& database, int64_t model, int64_t seq) {
  FIDELIO_ASSIGN_OR_RETURN(Statement statement, database.Prepare("DELETE FROM requests WHERE model=?1 AND seq=?2"));
  statement.BindInt(1, model);
  statement.BindInt(2, seq);
  return statement.Run();
}

absl::Status ReadRequests(Database& database, int64_t model, int64_t first, int64_t next,
                          std::vector<RequestRow>& rows) {
  FIDELIO_ASSIGN_OR_RETURN(
      Statement statement,
      database.Prepare("SELECT model, seq, principal, request_id, digest, answer, erased, time, crc FROM requests "
                       "WHERE model=?1 AND seq>=?2 AND seq<?3 ORDER BY model, seq"));
  statement.BindInt(1, model);
  statement.BindInt(2, first);
  statement.BindInt(3, next);
  absl::Status status;
  int64_t expected = first;
  while (true) {
    FIDELIO_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) break;
    absl::StatusOr<RequestRow> row = DecodeRequest(statement, model);
    if (!row.ok()) {
      status = row.status();
      continue;
    }
    if (row->seq != expected && status.ok()) status = Missing(expected);
    expected = row->seq + 1;
    rows.push_back(*std::move(row));
  }
  if (expected != next && status.ok()) status = Missing(expected);
  return status;
}

}  // namespace fidelio
