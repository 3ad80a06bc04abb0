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
  block.level = static_cast<int>(row.Int());
  block.rows = row.Int();
  block.cols = row.Int();
  const std::string x = row.Blob();
  const std::string y = row.Blob();
  std::string noise;
  if (row.IsNull()) {
    row.Null();
  } else {
    noise = row.Blob();
  }
  result.stored.created = row.Time();
  FIDELIO_RETURN_IF_ERROR(row.Finish("a row of observations"));
  block.x = DoublesOf(x);
  block.y = DoublesOf(y);
  block.noise = DoublesOf(noise);
  if (owner != model) return absl::DataLossError("observations: a row of another model is in its place");
  return result;
}

}  // namespace

absl::Status ValidateBatch(absl::Span<const ObservationBlock> batch) {
  if (batch.empty()) return absl::InvalidArgumentError("batch: 0 blocks; it needs at least one");
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
  }
  return absl::OkStatus();
}

absl::Status InsertBatch(Database& database, int64_t model, int64_t data_version,
                         absl::Span<const ObservationBlock> batch, absl::Time now) {
  for (size_t part = 0; part < batch.size(); ++part) {
    const ObservationBlock& b = batch[part];
    FIDELIO_ASSIGN_OR_RETURN(
        Statement statement,
        database.Prepare("INSERT INTO observations VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"));
    RowWriter writer(statement, "observations");
    writer.Int(model).Int(data_version).Int(static_cast<int64_t>(part)).Int(static_cast<int64_t>(batch.size()));
    writer.Int(b.level).Int(b.rows).Int(b.cols).Blob(BytesOf(b.x)).Blob(BytesOf(b.y));
    if (b.noise.empty()) {
      writer.Null();
    } else {
      writer.Blob(BytesOf(b.noise));
    }
    FIDELIO_RETURN_IF_ERROR(writer.Time(now).Run());
  }
  return absl::OkStatus();
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
      database.Prepare("SELECT model, data_version, part, parts, level, points, dimension, x, y, noise, created, crc "
                       "FROM observations WHERE model=?1 AND data_version BETWEEN ?2 AND ?3 "
                       "ORDER BY model, data_version, part"));
  statement.BindInt(1, model);
  statement.BindInt(2, expected.data_version);
  statement.BindInt(3, last);
  int64_t points = 0;
  while (expected.data_version <= last) {
    if (points >= query.max_points) {
      page.next = expected;
      return page;
    }
    FIDELIO_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return Missing(expected.data_version, expected.part);
    FIDELIO_ASSIGN_OR_RETURN(Decoded row, Decode(statement, model));
    const bool in_place = row.stored.data_version == expected.data_version && row.stored.part == expected.part;
    if (!in_place || expected.part >= row.parts) return Missing(expected.data_version, expected.part);
    expected = expected.part + 1 < row.parts ? ObservationCursor{expected.data_version, expected.part + 1}
                                             : ObservationCursor{expected.data_version + 1, 0};
    if (row.stored.data_version == from.data_version && row.stored.part < from.part) continue;
    points += row.stored.block.rows;
    page.blocks.push_back(std::move(row.stored));
  }
  return page;
}

}  // namespace fidelio
