#include "client/cli/predict_file.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/cli/as_typed.h"
#include "client/cli/progress.h"
#include "client/cli/tables.h"

namespace fidelio::cli {
namespace {

constexpr int kMostRows = 8192;        // of a piece
constexpr int kMostNumbers = 1 << 20;  // of its inputs, or of their predictions

const TypedNames& PredictNames() {
  static const auto* names = new TypedNames{{"model", "NAME"},
                                            {"options.level", "--level"},
                                            {"options.quantiles", "--quantiles"},
                                            {"revision", "--revision"},
                                            {"inputs", "FILE"},
                                            {"header.model", "NAME"},
                                            {"header.options.level", "--level"},
                                            {"header.options.quantiles", "--quantiles"},
                                            {"header.revision", "--revision"}};
  return *names;
}

// Tables whose predictions are on their way. Thread-safe.
class Queue {
 public:
  void Push(std::unique_ptr<DataTable> table) {
    absl::MutexLock lock(&mutex_);
    tables_.push_back(std::move(table));
  }
  std::unique_ptr<DataTable> Pop() {
    absl::MutexLock lock(&mutex_);
    std::unique_ptr<DataTable> table = std::move(tables_.front());
    tables_.pop_front();
    return table;
  }

 private:
  absl::Mutex mutex_;
  std::deque<std::unique_ptr<DataTable>> tables_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

void PredictionRemarks::Add(const client::Prediction& prediction) {
  ++parts_;
  if (prediction.warnings.empty()) return;
  ++parts_with_warnings_;
  if (texts_.empty()) texts_ = prediction.warnings;
}

void PredictionRemarks::Print(Context& context) const {
  for (const std::string& text : texts_) {
    const std::string part =
        parts_ == 1 ? ""
                    : absl::StrCat(" (In the first of ", parts_with_warnings_,
                                   parts_with_warnings_ == 1 ? " part" : " parts", " of the file with such rows.)");
    context.Remark(absl::StrCat("warning: ", text, part));
  }
}

absl::Status PredictFile(Context& context, client::Client& client, const v1::Model& model,
                         const client::PredictOptions& options, InputFile& input,
                         const std::function<absl::Status(const DataTable&, const client::Prediction&)>& on_rows) {
  const int columns =
      std::max(static_cast<int>(model.input_dimension()), static_cast<int>(options.quantiles.size()) + 3);
  const int most = std::clamp(kMostNumbers / columns, 1, kMostRows);
  const auto rows = input.Tables(NameInputColumns(model));
  auto first = rows->Next(most);
  if (!first.ok()) return first.status();
  auto second = rows->Next(most);
  if (!second.ok()) return second.status();
  if (*second == nullptr) {
    const auto inputs = ReadInputs(**first, model);
    if (!inputs.ok()) return inputs.status();
    const auto prediction = client.Predict(model.name(), *inputs, options);
    if (!prediction.ok()) return AsTyped(prediction.status(), PredictNames());
    return on_rows(**first, *prediction);
  }

  Queue queue;
  std::deque<std::unique_ptr<DataTable>> read;  // before the stream began
  read.push_back(*std::move(first));
  read.push_back(*std::move(second));
  const auto next = [&]() -> absl::StatusOr<Eigen::MatrixXd> {
    std::unique_ptr<DataTable> table;
    if (!read.empty()) {
      table = std::move(read.front());
      read.pop_front();
    } else {
      auto more = rows->Next(most);
      if (!more.ok()) return more.status();
      table = *std::move(more);
    }
    if (table == nullptr) return Eigen::MatrixXd();
    auto inputs = ReadInputs(*table, model);
    if (inputs.ok()) queue.Push(std::move(table));
    return inputs;
  };
  ProgressPrinter printer(context.streams.err, context.streams.err_width);
  int64_t done = 0;
  const auto on_chunk = [&](const client::Prediction& prediction) -> absl::Status {
    const std::unique_ptr<DataTable> table = queue.Pop();
    if (absl::Status status = on_rows(*table, prediction); !status.ok()) return status;
    done += table->rows();
    if (context.streams.err_width > 0) printer.ShowCount("row", done, -1);
    return absl::OkStatus();
  };
  return AsTyped(client.PredictStream(model.name(), options, next, on_chunk), PredictNames());
}

}  // namespace fidelio::cli
