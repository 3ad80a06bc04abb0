// Models as files, read and written piece by piece. transfer_format.h describes the bytes.
#ifndef FIDELIO_SERVER_MODEL_MODEL_TRANSFER_H_
#define FIDELIO_SERVER_MODEL_MODEL_TRANSFER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/model/model_types.h"

namespace fidelio {

// A model on its way out. Not thread-safe: one caller at a time. Shows the model of the moment when it began; observations
// and revisions that arrive later are not in it. Memory: one batch of observations or one checkpoint at a time.
class ModelExport {
 public:
  virtual ~ModelExport() = default;

  // The next bytes of the file, 1 to `max_bytes` of them; empty at the end. ABORTED when the model, or a revision that is
  // to be in it, was deleted meanwhile.
  virtual absl::StatusOr<std::string> Next(size_t max_bytes) = 0;
};

// A model on its way in. Not thread-safe: one caller at a time. Nothing exists before Finish has returned OK; destroying
// it instead leaves nothing behind.
class ModelImport {
 public:
  virtual ~ModelImport() = default;

  // The next bytes of the file. INVALID_ARGUMENT ("chunk: …") as soon as the bytes are seen to be wrong: damaged, of
  // another kind, or of a newer format.
  virtual absl::Status Write(absl::string_view bytes) = 0;

  // Checks that the file is complete, and creates the model in one transaction (or replays the answer to the request).
  // Call it once.
  virtual absl::StatusOr<ModelInfo> Finish() = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_MODEL_TRANSFER_H_
