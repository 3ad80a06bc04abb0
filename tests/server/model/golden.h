// The golden files of a format version: made once by a program of that version, read by all that come after it.
//
//   mf_dgp.checkpoint   what MfDgp::Save wrote: the bytes of revision 1 of the model "wing"
//   store.db            a data directory's database: that model with two batches, a fit, a revision and remembered requests
//   model.export        what ExportModel wrote of it
//   predictions.csv     what it predicted: level, x, mean, variance, quantiles 0.1 and 0.9
#ifndef FIDELIO_TESTS_SERVER_MODEL_GOLDEN_H_
#define FIDELIO_TESTS_SERVER_MODEL_GOLDEN_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/base/types.h"
#include "core/emulator/emulator.h"
#include "server/model/model_types.h"

namespace fidelio::golden {

inline constexpr char kCheckpoint[] = "mf_dgp.checkpoint", kStore[] = "store.db", kExport[] = "model.export",
                      kPredictions[] = "predictions.csv";
inline constexpr char kModel[] = "wing";

// Of the mutations that made the model; the same in every version, since they must be replayed.
ModelSpec Spec();
ObservationBatch Batch(int level);
MutationContext Creation();
MutationContext Addition(int level);

// Makes the four files in an existing directory.
void Write(const std::string& directory);

// The predictions: one row per level and input, with the columns of predictions.csv.
Matrix Predict(const Emulator& emulator);
Matrix ReadPredictions(const std::string& path);

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, absl::string_view bytes);

}  // namespace fidelio::golden

#endif  // FIDELIO_TESTS_SERVER_MODEL_GOLDEN_H_
