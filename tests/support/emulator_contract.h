// Every method's model, for tests of what emulators promise, whichever method fitted them.
#ifndef FIDELIO_TESTS_SUPPORT_EMULATOR_CONTRACT_H_
#define FIDELIO_TESTS_SUPPORT_EMULATOR_CONTRACT_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/registry/emulator_registry.h"
#include "gtest/gtest.h"
#include "tests/support/small_data.h"

namespace fidelio {

inline constexpr int kContractLevels = 3;

// A fit that is long enough to be a model and short enough for a test.
inline std::unique_ptr<MixtureEmulator> FitOrDie(const EmulatorMethod& method, const Dataset& data,
                                                 FitOptions options = {}) {
  options.max_iterations = 400;
  options.threads = 1;
  auto fit = method.create(data, options);
  EXPECT_TRUE(fit.ok()) << fit.status();
  auto model = (*fit)->Run(nullptr);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

inline Prediction PredictOrDie(const Emulator& model, const Matrix& x, const PredictOptions& options = {}) {
  auto prediction = model.Predict(x, options);
  EXPECT_TRUE(prediction.ok()) << prediction.status();
  return *std::move(prediction);
}

inline Matrix FunctionsOrDie(const Emulator& model, const Matrix& x, const PathOptions& options) {
  const auto paths = model.DrawPaths(options);
  EXPECT_TRUE(paths.ok()) << paths.status();
  auto values = (*paths)->Evaluate(x);
  EXPECT_TRUE(values.ok()) << values.status();
  return *std::move(values);
}

class EmulatorContractTest : public ::testing::TestWithParam<EmulatorMethod> {
 protected:
  // Fitted once per method, for the tests that only look at it.
  static const MixtureEmulator& Model() {
    static auto* const models = new std::map<std::string, std::unique_ptr<MixtureEmulator>>;
    std::unique_ptr<MixtureEmulator>& model = (*models)[GetParam().name];
    if (model == nullptr) model = FitOrDie(GetParam(), Data());
    return *model;
  }
  static Dataset Data() { return SmallData({14, 8, 5}, 2); }
};

inline std::string MethodName(const testing::TestParamInfo<EmulatorMethod>& method) {
  return std::string(method.param.name);
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_EMULATOR_CONTRACT_H_
