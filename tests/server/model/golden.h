// The golden files of a format version: made once by a program of that version, read by all that come after it.
//
//   mf_dgp.checkpoint   what an MF-DGP's Save wrote: the bytes of revision 1 of the model "wing"
//   store.db            a data directory's database: that model with two batches, a fit, a revision and remembered requests
//   model.export        what ExportModel wrote of it
//   predictions.csv     what it predicted: level, x, mean, variance, quantiles 0.1 and 0.9
//
// From version 4 on also, for every other kind of model and inference (Ways), NAME.checkpoint, NAME.export and NAME.csv: the same
// three of the model of that name, which the store holds, too.
//
// From version 5 on also the model "history" in the store, and history.export: inputs and output with names, run_ids,
// withdrawn and corrected observations, and of two revisions the first deleted.
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
inline constexpr char kHistory[] = "history", kHistoryExport[] = "history.export";

// A kind of model, and how it is fitted. The model's name is that of its files, too.
struct Way {
  const char* name;
  ModelKind kind;
  Inference inference;
};
// All that there are but MF_DGP by MOMENTS, which the model "wing" is.
inline constexpr Way kWays[] = {{"mf-dgp-variational", ModelKind::kMfDgp, Inference::kVariational},
                                {"mf-dgp-svi", ModelKind::kMfDgp, Inference::kSvi},
                                {"mf-dgp-neighbours", ModelKind::kMfDgp, Inference::kNeighbours},
                                {"gp", ModelKind::kGp, Inference::kMoments},
                                {"gp-neighbours", ModelKind::kGp, Inference::kNeighbours},
                                {"ar1", ModelKind::kAr1, Inference::kPointEstimate},
                                {"ar1-recursive", ModelKind::kAr1Recursive, Inference::kPointEstimate},
                                {"nargp", ModelKind::kNargp, Inference::kPointEstimate},
                                {"deep-mf", ModelKind::kDeepMf, Inference::kPointEstimate},
                                {"ar1-moments", ModelKind::kAr1, Inference::kMoments},
                                {"ar1-recursive-moments", ModelKind::kAr1Recursive, Inference::kMoments},
                                {"nargp-moments", ModelKind::kNargp, Inference::kMoments},
                                {"deep-mf-moments", ModelKind::kDeepMf, Inference::kMoments}};

// The three files of a way.
struct WayFiles {
  std::string checkpoint, exported, predictions;
};
WayFiles FilesOf(const Way& way);

// Of the mutations that made the model; the same in every version, since they must be replayed.
ModelSpec Spec();
ObservationBatch Batch(int level);
MutationContext Creation();
MutationContext Addition(int level);

// Makes all files in an existing directory.
void Write(const std::string& directory);

// The predictions: one row per level and input, with the columns of predictions.csv.
Matrix Predict(const Emulator& emulator);
Matrix ReadPredictions(const std::string& path);

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, absl::string_view bytes);

}  // namespace fidelio::golden

#endif  // FIDELIO_TESTS_SERVER_MODEL_GOLDEN_H_
