#include "server/store/observation_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/store/row.h"

namespace fidelio {
namespace {

constexpr int64_t kMaxDoubles = kMaxBlobBytes / 8;

absl::Status Missing(int64_t data_version, int part) {
  return absl::DataLossError(
      absl::StrCat("observations: part ", part, " of batch ", data_version, " is missing or out of order"));
}

// The numbers are part of the byte format.
enum PartKind : int64_t { kAdded = 1, kWithdrawn = 2, kCorrected = 3 };

constexpr size_t kNumbersPerRange = 5;

std::vector<int64_t> NumbersOf(absl::Span<const RowRange> rows) {
  std::vector<int64_t> numbers;
  numbers.reserve(kNumbersPerRange * rows.size());
  for (const RowRange& r : rows) numbers.insert(numbers.end(), {r.data_version, r.part, r.level, r.first, r.count});
  return numbers;
}

std::vector<RowRange> RangesOf(const std::vector<int64_t>& numbers) {
  std::vector<RowRange> rows;
  for (size_t i = 0; i + kNumbersPerRange <= numbers.size(); i += kNumbersPerRange) {
    rows.push_back({numbers[i], static_cast<int>(numbers[i + 1]), static_cast<int>(numbers[i + 2]), numbers[i + 3],
                    numbers[i + 4]});
  }
  return rows;
}

// Each id is a byte with its length, and its bytes.
std::string BytesOfIds(absl::Span<const std::string> ids) {
  std::string bytes;
  for (const std::string& id : ids) absl::StrAppend(&bytes, std::string(1, static_cast<char>(id.size())), id);
  return bytes;
}

std::vector<std::string> IdsOf(absl::string_view bytes) {
  std::vector<std::string> ids;
  while (!bytes.empty()) {
    const auto size = static_cast<size_t>(static_cast<unsigned char>(bytes.front()));
    ids.emplace_back(bytes.substr(1, size));
    bytes.remove_prefix(std::min(bytes.size(), size + 1));
  }
  return ids;
}

std::string BlobOrNull(RowReader& row) {
  if (!row.IsNull()) return row.Blob();
  row.Null();
  return "";
}

void PutBlobOrNull(RowWriter& writer, absl::string_view bytes) {
  if (bytes.empty()) {
    writer.Null();
  } else {
    writer.Blob(bytes);
  }
}

struct Decoded {
  StoredBlock stored;
  int parts = 0;
};

absl::StatusOr<Decoded> Decode(const Statement& statement, int64_t model) {
  Decoded result;
  ObservationBlock& block = result.stored.block;
  RowReader row(statement, "observations");
  const int64_t owner = row.Int();
  result.stored.data_version = row.Int();
  result.stored.part = static_cast<int>(row.Int());
  result.parts = static_cast<int>(row.Int());
  const int64_t kind = row.Int();
  block.level = static_cast<int>(row.Int());
  block.rows = row.Int();
  block.cols = row.Int();
  const std::string x = row.Blob();
  const std::string y = row.Blob();
  const std::string noise = BlobOrNull(row);
  const std::string ids = BlobOrNull(row);
  std::string reason = row.Text();
  result.stored.created = row.Time();
  FIDELIO_RETURN_IF_ERROR(row.Finish("a row of observations"));
  if (owner != model) return absl::DataLossError("observations: a row of another model is in its place");
  if (kind == kAdded) {
    block.x = DoublesOf(x);
    block.y = DoublesOf(y);
    block.noise = DoublesOf(noise);
    block.run_ids = IdsOf(ids);
    if (!block.run_ids.empty() && static_cast<int64_t>(block.run_ids.size()) != block.rows) {
      return absl::DataLossError("observations: a row has another number of ids than of points");
    }
    return result;
  }
  if (kind != kWithdrawn && kind != kCorrected) {
    return absl::DataLossError(absl::StrCat("observations: a row of the unknown kind ", kind));
  }
  result.stored.withdrawn =
      WithdrawnRows{.corrected = kind == kCorrected, .rows = RangesOf(IntegersOf(x)), .reason = std::move(reason)};
  block = {};
  return result;
}

}  // namespace

absl::Status ValidateBatch(absl::Span<const ObservationBlock> batch) {
  if (batch.size() > size_t{kMaxLevels}) {
    return absl::InvalidArgumentError(absl::StrCat("batch: ", batch.size(), " blocks; the most is ", kMaxLevels));
  }
  for (size_t i = 0; i < batch.size(); ++i) {
    const ObservationBlock& b = batch[i];
    const std::string at = absl::StrCat("batch[", i, "]");
    if (b.level < 0 || b.level >= kMaxLevels) {
      return absl::InvalidArgumentError(absl::StrCat(at, ".level: ", b.level, " is not in 0 … ", kMaxLevels - 1));
    }
    if (b.rows < 1 || b.cols < 1 || b.rows > kMaxDoubles / b.cols) {
      return absl::InvalidArgumentError(absl::StrCat(
          at, ": ", b.rows, " × ", b.cols, " inputs; each is at least 1, and their product at most ", kMaxDoubles));
    }
    if (static_cast<int64_t>(b.x.size()) != b.rows * b.cols || static_cast<int64_t>(b.y.size()) != b.rows ||
        (!b.noise.empty() && static_cast<int64_t>(b.noise.size()) != b.rows)) {
      return absl::InvalidArgumentError(absl::StrCat(at, ": x, y and noise have ", b.x.size(), ", ", b.y.size(),
                                                     " and ", b.noise.size(), " values, but there are ", b.rows,
                                                     " points of dimension ", b.cols));
    }
    if (!b.run_ids.empty() && static_cast<int64_t>(b.run_ids.size()) != b.rows) {
      return absl::InvalidArgumentError(
          absl::StrCat(at, ".run_ids: ", b.run_ids.size(), " ids, but there are ", b.rows, " points"));
    }
    for (const std::string& id : b.run_ids) {
      if (id.empty() || id.size() > kMaxRunIdBytes) {
        return absl::InvalidArgumentError(
            absl::StrCat(at, ".run_ids: an id of ", id.size(), " bytes; it needs 1 to ", kMaxRunIdBytes));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateWithdrawn(const WithdrawnRows& withdrawn, const ModelRecord& model) {
  if (withdrawn.rows.empty()) return absl::InvalidArgumentError("withdrawn: 0 ranges; it needs at least one");
  if (withdrawn.reason.size() > kMaxReasonBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("reason: ", withdrawn.reason.size(), " bytes; the most is ", kMaxReasonBytes));
  }
  std::vector<int64_t> left = model.observations;
  for (const RowRange& r : withdrawn.rows) {
    if (r.data_version < 1 || r.data_version > model.data_version || r.part < 0 || r.first < 0 || r.count < 1 ||
        r.level < 0 || r.level >= static_cast<int>(left.size()) ||
        (left[static_cast<size_t>(r.level)] -= r.count) < 0) {
      return absl::InvalidArgumentError(absl::StrCat("withdrawn: rows ", r.first, " to ", r.first + r.count - 1,
                                                     " of part ", r.part, " of version ", r.data_version, " at level ",
                                                     r.level, " are not all in use"));
    }
  }
  return absl::OkStatus();
}

absl::Status InsertVersion(Database& database, int64_t model, int64_t data_version, const WithdrawnRows* withdrawn,
                           absl::Span<const ObservationBlock> batch, absl::Time now) {
  const int64_t parts = static_cast<int64_t>(batch.size()) + (withdrawn != nullptr ? 1 : 0);
  int64_t part = 0;
  const auto insert = [&](PartKind kind, const ObservationBlock& b, absl::string_view x, absl::string_view reason) {
    absl::StatusOr<Statement> statement = database.Prepare(
        "INSERT INTO observations VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)");
    if (!statement.ok()) return statement.status();
    const std::string ids = BytesOfIds(b.run_ids);
    RowWriter writer(*statement, "observations");
    writer.Int(model).Int(data_version).Int(part++).Int(parts).Int(kind).Int(b.level).Int(b.rows).Int(b.cols);
    writer.Blob(x).Blob(BytesOf(b.y));
    PutBlobOrNull(writer, BytesOf(b.noise));
    PutBlobOrNull(writer, ids);
    return writer.Text(reason).Time(now).Run();
  };
  if (withdrawn != nullptr) {
    const std::vector<int64_t> rows = NumbersOf(withdrawn->rows);
    FIDELIO_RETURN_IF_ERROR(
        insert(withdrawn->corrected ? kCorrected : kWithdrawn, {}, BytesOf(rows), withdrawn->reason));
  }
  for (const ObservationBlock& b : batch) FIDELIO_RETURN_IF_ERROR(insert(kAdded, b, BytesOf(b.x), ""));
  return absl::OkStatus();
}

absl::Status CopyObservationsOfVersion1(Database& database, int64_t model) {
  FIDELIO_ASSIGN_OR_RETURN(
      Statement from,
      database.Prepare("SELECT model, data_version, part, parts, level, points, dimension, x, y, noise, created, crc "
                       "FROM old.observations WHERE model=?1 ORDER BY model, data_version, part"));
  from.BindInt(1, model);
  while (true) {
    FIDELIO_ASSIGN_OR_RETURN(const bool found, from.Step());
    if (!found) return absl::OkStatus();
    RowReader row(from, "observations");
    FIDELIO_ASSIGN_OR_RETURN(
        Statement to,
        database.Prepare(
            "INSERT INTO observations VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"));
    RowWriter writer(to, "observations");
    for (int i = 0; i < 4; ++i) writer.Int(row.Int());
    writer.Int(kAdded);
    for (int i = 0; i < 3; ++i) writer.Int(row.Int());
    const std::string x = row.Blob(), y = row.Blob(), noise = BlobOrNull(row);
    writer.Blob(x).Blob(y);
    PutBlobOrNull(writer, noise);
    writer.Null().Text("").Int(row.Int());
    FIDELIO_RETURN_IF_ERROR(row.Finish("a row of observations"));
    FIDELIO_RETURN_IF_ERROR(writer.Run());
  }
}

absl::StatusOr<ObservationPage> ReadBlocks(Database& database, int64_t model, int64_t newest,
                                           const ObservationQuery& query) {
  ObservationPage page;
  const int64_t last = query.last_version <= 0 ? newest : std::min(query.last_version, newest);
  ObservationCursor expected = {std::max<int64_t>(query.from.data_version, 1), 0};
  const ObservationCursor from = {expected.data_version, query.from.part};
  if (expected.data_version > last) return page;
  FIDELIO_ASSIGN_OR_RETURN(
      Statement statement,
      database.Prepare(
          "SELECT model, data_version, part, parts, kind, level, points, dimension, x, y, noise, "
          "run_ids, reason, created, crc FROM observations WHERE model=?1 AND data_version BETWEEN ?2 AND ?3 "
          "ORDER BY model, data_version, part"));
  statement.BindInt(1, model);
  statement.BindInt(2, expected.data_version);
  statement.BindInt(3, last);
  int64_t points = 0, rows_of_version = 0;
  while (expected.data_version <= last) {
    if (points >= query.max_points) {
      page.next = expected;
      return page;
    }
    FIDELIO_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return Missing(expected.data_version, expected.part);
    FIDELIO_ASSIGN_OR_RETURN(Decoded row, Decode(statement, model));
    row.stored.first_row = expected.part == 0 ? 0 : rows_of_version;
    rows_of_version = row.stored.first_row + row.stored.block.rows;
    const bool in_place = row.stored.data_version == expected.data_version && row.stored.part == expected.part;
    if (!in_place || expected.part >= row.parts) return Missing(expected.data_version, expected.part);
    expected = expected.part + 1 < row.parts ? ObservationCursor{expected.data_version, expected.part + 1}
                                             : ObservationCursor{expected.data_version + 1, 0};
    if (row.stored.data_version == from.data_version && row.stored.part < from.part) continue;
    points += std::max<int64_t>(row.stored.block.rows, 1);  // a withdrawal counts as one
    page.blocks.push_back(std::move(row.stored));
  }
  return page;
}

}  // namespace fidelio
