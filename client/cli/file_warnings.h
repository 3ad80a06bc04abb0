// FileWarnings: what the server found suspicious about the rows of a file that were observed, in terms of that file.
//
// Not thread-safe.
#ifndef FIDELIO_CLIENT_CLI_FILE_WARNINGS_H_
#define FIDELIO_CLIENT_CLI_FILE_WARNINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/json.h"
#include "client/cli/tables.h"
#include "client/cpp/types.h"

namespace fidelio::cli {

// "row 4", "rows 2-26", "rows 2-5, 9": ascending numbers, `count` of them in all, of which the first are known.
std::string RowsText(const std::vector<int64_t>& rows, int64_t count);

class FileWarnings {
 public:
  // What one call committed, which sent `table` as `observations`.
  void Add(const client::AddedObservations& added, const DataTable& table, const ObservationTable& observations);

  // One sentence per warning, with the command that puts it right. `skipped`: copies were left out.
  std::vector<std::string> Text(const std::string& model, bool skipped) const;

  // [{"kind": "duplicate", "count": 2, "rows": [3, 4], "run_ids": ["2-1", "2-2"], "message": …}]
  Json ToJson(const std::string& model, bool skipped) const;

 private:
  struct Warning {
    v1::ObservationWarningKind kind = v1::OBSERVATION_WARNING_KIND_UNSPECIFIED;
    int64_t count = 0;
    std::vector<int64_t> rows = {};     // of the file, the first of them
    std::vector<std::string> ids = {};  // of these rows; empty unless all are known
    bool ids_known = true;
    std::string message = {};  // the server's
  };

  std::string Sentence(const Warning& warning, const std::string& model, bool skipped) const;
  std::string DuplicateSentence(const Warning& warning, const std::string& model, bool skipped) const;

  int64_t rows_ = 0;                    // of all calls
  std::vector<int64_t> data_versions_;  // that the calls made
  std::vector<Warning> warnings_;
};

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_FILE_WARNINGS_H_
