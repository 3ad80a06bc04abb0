// Predictions at all inputs of a file, however long it is.
#ifndef FIDELIO_CLIENT_CLI_PREDICT_FILE_H_
#define FIDELIO_CLIENT_CLI_PREDICT_FILE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/command.h"
#include "client/cli/data_table.h"
#include "client/cli/input.h"
#include "client/cpp/client.h"

namespace fidelio::cli {

// Reads `input` in pieces from where it stands, predicts, and gives each piece with its predictions to `on_rows`, in
// order. A file of one piece takes one call; others take a stream, with a bar that shows how far it is. Memory does not
// grow with the file. Errors of the server name flags as `predict` and `score` have them.
absl::Status PredictFile(Context& context, client::Client& client, const v1::Model& model,
                         const client::PredictOptions& options, InputFile& input,
                         const std::function<absl::Status(const DataTable&, const client::Prediction&)>& on_rows);

// The warnings about the predictions of a file, in one place: those of its first part that has any, and how many parts have.
class PredictionRemarks {
 public:
  void Add(const client::Prediction& prediction);  // of the next part

  void Print(Context& context) const;  // as remarks
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  int parts_ = 0, parts_with_warnings_ = 0;
  std::vector<std::string> texts_;
};

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_PREDICT_FILE_H_
