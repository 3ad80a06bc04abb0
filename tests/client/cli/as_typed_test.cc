#include "client/cli/as_typed.h"

#include "gtest/gtest.h"

namespace fidelio::cli {
namespace {

const TypedNames kNames = {{"model_id", "NAME"},
                           {"model.fidelities[].cost", "--costs"},
                           {"model.fidelities", "--fidelities"},
                           {"model.input_box.lower", "--lower"}};

std::string Typed(const char* message) {
  return std::string(AsTyped(absl::InvalidArgumentError(message), kNames).message());
}

TEST(AsTypedTest, FieldsBecomeTheFlagsThatSetThem) {
  EXPECT_EQ(Typed("model_id: \"Wing\" must match [a-z]…"), "NAME: \"Wing\" must match [a-z]…");
  EXPECT_EQ(Typed("model.fidelities[1].cost: -1, must be above 0"), "--costs, entry 2: -1, must be above 0");
  EXPECT_EQ(Typed("model.fidelities[0].name: \"\""), "--fidelities, entry 1: \"\"");
  EXPECT_EQ(Typed("model.fidelities: 0 entries"), "--fidelities: 0 entries");
  EXPECT_EQ(Typed("model.input_box.lower[2]: nan"), "--lower, entry 3: nan");
  EXPECT_EQ(AsTyped(absl::NotFoundError("model_id: gone"), kNames).message(), "NAME: gone");
}

TEST(AsTypedTest, OtherMessagesStayAsTheyAre) {
  for (const char* message : {"model_id_2: x", "model.input_box: x", "no field", "model.fidelities_x[0]: y", "a[: b"}) {
    EXPECT_EQ(Typed(message), message);
  }
  EXPECT_EQ(AsTyped(absl::AbortedError("model_id: gone"), kNames).message(), "model_id: gone");
}

TEST(ForPeopleTest, NamesAreThoseThatPeopleSay) {
  EXPECT_EQ(ForPeople("models/wing: no such model"), "model wing: no such model");
  EXPECT_EQ(ForPeople("models/wing-2/fits/3: failed"), "fit 3 of model wing-2: failed");
  EXPECT_EQ(ForPeople("models/wing/revisions/9: no such revision"), "revision 9 of model wing: no such revision");
  EXPECT_EQ(ForPeople("models/wing: has no revision yet; start a fit and wait until it has succeeded"),
            "model wing: has no revision yet; fidelio fit wing --watch creates one");
  EXPECT_EQ(ForPeople("add some with AddObservations"), "add some with fidelio observe");
}

}  // namespace
}  // namespace fidelio::cli
