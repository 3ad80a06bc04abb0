// A ModelService on a real store in a temporary directory, for tests.
#ifndef FIDELIO_TESTS_SERVER_MODEL_SERVICE_TESTING_H_
#define FIDELIO_TESTS_SERVER_MODEL_SERVICE_TESTING_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "server/model/model_service.h"
#include "server/store/sqlite_store.h"
#include "tests/support/small_data.h"
#include "tests/support/status.h"
#include "tests/support/temp_directory.h"

namespace fidelio {

// Of a caller that never gives up.
inline absl::Status GoOn() { return absl::OkStatus(); }

// Where threads wait until they are let through.
class Gate {
 public:
  // Waits until the gate is open. Of a hook.
  void Pass();
  // Waits until so many threads have come, over all times.
  void AwaitArrivals(int count);
  void Open();

 private:
  absl::Mutex mutex_;
  int arrivals_ ABSL_GUARDED_BY(mutex_) = 0;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
};

// A store and a service on it. Closing leaves the directory as it is.
class Server {
 public:
  explicit Server(std::string directory, ModelServiceOptions options = {}, std::string vfs = "");
  ~Server() { Close(); }

  void Close();
  ModelService* operator->() { return service_.get(); }
  ModelService& service() { return *service_; }
  Store& store() { return *store_; }

 private:
  std::unique_ptr<Store> store_;
  std::unique_ptr<ModelService> service_;
};

// A context with this request_id and body.
MutationContext Request(const std::string& id = "", absl::string_view body = "", const std::string& caller = "alice");

ModelSpec SpecOf(int dimension, int fidelities);

// SmallData as one batch per level.
std::vector<ObservationBatch> Batches(const std::vector<int>& sizes, int dimension, uint64_t seed = 1);

// A model of two levels and one input with data. Fits of it take some hundredths of a second.
inline const std::vector<int> kSizes = {8, 4};
void MakeModel(ModelService& service, const std::string& name, const std::vector<int>& sizes = kSizes);

// Waits for the end of a fit.
FitInfo AwaitFit(ModelService& service, const std::string& model, int64_t fit);

// Starts a fit and waits for its success.
FitInfo RunFit(ModelService& service, const std::string& model, const FitSpec& spec = {});

// What the current (or another) revision predicts, all numbers in one vector.
Vector Answers(ModelService& service, const std::string& model, int64_t revision = 0);

// The bytes of an export, and an import of them.
std::string ExportBytes(ModelService& service, const std::string& model, bool all_revisions = false);
absl::StatusOr<ModelInfo> ImportBytes(ModelService& service, absl::string_view bytes, const std::string& model = "",
                                      const MutationContext& context = Request());

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SERVER_MODEL_SERVICE_TESTING_H_
