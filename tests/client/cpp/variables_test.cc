#include "client/cpp/variables.h"

#include "gtest/gtest.h"

namespace fidelio::client {
namespace {

using Strings = std::vector<std::string>;

TEST(VariablesTest, AModelWithoutNamesHasX1ToXdAndY) {
  v1::Model model;
  model.set_input_dimension(3);
  EXPECT_EQ(InputNames(model), (Strings{"x1", "x2", "x3"}));
  EXPECT_EQ(InputLabels(model), (Strings{"x1", "x2", "x3"}));
  EXPECT_EQ(OutputName(model), "y");
  EXPECT_EQ(OutputLabel(model), "y");
}

TEST(VariablesTest, NamesAndUnitsAreTheModels) {
  v1::Model model;
  model.set_input_dimension(2);
  model.add_inputs()->set_name("thickness");
  model.mutable_inputs(0)->set_unit("mm");
  model.add_inputs()->set_name("cells");
  model.add_outputs()->set_name("deflection");
  EXPECT_EQ(InputNames(model), (Strings{"thickness", "cells"}));
  EXPECT_EQ(InputLabels(model), (Strings{"thickness (mm)", "cells"}));
  EXPECT_EQ(OutputName(model), "deflection");
  EXPECT_EQ(OutputLabel(model), "deflection");
  model.mutable_outputs(0)->set_unit("mm");
  EXPECT_EQ(OutputLabel(model), "deflection (mm)");
}

}  // namespace
}  // namespace fidelio::client
