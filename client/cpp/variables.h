// Names and units of a model's inputs and output. A model without names has the inputs x1 … xd and the output y.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CPP_VARIABLES_H_
#define FIDELIO_CLIENT_CPP_VARIABLES_H_

#include <string>
#include <vector>

#include "fidelio/v1/model.pb.h"

namespace fidelio::client {

// One per input, in the order of the columns of every matrix of inputs.
std::vector<std::string> InputNames(const v1::Model& model);
std::string OutputName(const v1::Model& model);

// The same with units, for axes and tables: "thickness (mm)", or "thickness" without a unit.
std::vector<std::string> InputLabels(const v1::Model& model);
std::string OutputLabel(const v1::Model& model);

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_VARIABLES_H_
