#include "core/fit/fit_bytes.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

std::string State(uint32_t version, uint32_t recipe) {
  ByteWriter out;
  out.U32(recipe);
  FitOptions options{.kernel = std::nullopt, .seed = 7, .max_iterations = 30, .steps = 11, .point_estimate = true};
  options.method_options["margin"] = 2.5;
  out(options);
  out(FitWork{.iterations = 3, .evaluations = 5, .seconds = 0.5});
  return out.Seal(9, version);
}

TEST(FitBytesTest, OptionsAndWorkAreReadAsWritten) {
  const std::string bytes = State(4, 2);
  auto in = OpenState(bytes, 9, 4, 2);
  ASSERT_TRUE(in.ok()) << in.status();
  const FitOptions options = in->Read<FitOptions>();
  EXPECT_FALSE(options.kernel.has_value());
  EXPECT_EQ(options.seed, 7u);
  EXPECT_EQ(options.max_iterations, 30);
  EXPECT_EQ(options.steps, 11);
  EXPECT_TRUE(options.point_estimate);
  EXPECT_EQ(options.method_options.at("margin"), 2.5);
  const FitWork work = in->Read<FitWork>();
  EXPECT_EQ(work.iterations, 3);
  EXPECT_EQ(work.evaluations, 5);
  EXPECT_EQ(work.seconds, 0.5);
  EXPECT_TRUE(in->Finish().ok());
}

TEST(FitBytesTest, StatesOfOtherVersionsAndRecipesAreRefused) {
  for (const std::string& bytes : {State(3, 2), State(4, 1)}) {
    EXPECT_TRUE(
        IsError(OpenState(bytes, 9, 4, 2).status(), absl::StatusCode::kFailedPrecondition, {"start the fit again"}));
  }
  EXPECT_FALSE(OpenState(State(5, 2), 9, 4, 2).ok());
}

}  // namespace
}  // namespace fidelio
