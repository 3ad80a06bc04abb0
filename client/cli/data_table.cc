#include "client/cli/data_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace fidelio::cli {

int DataTable::Column(absl::string_view column) const {
  const auto found = std::find(columns_->begin(), columns_->end(), column);
  return found == columns_->end() ? -1 : static_cast<int>(found - columns_->begin());
}

absl::Status DataTable::Error(absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(*name_, ": ", what));
}

absl::Status DataTable::Error(int row, int column, absl::string_view what) const {
  return Error(absl::StrCat(Place(row, column), ": ", what));
}

}  // namespace fidelio::cli
