#include "tests/bench/calibration_cases.h"

#include <utility>

#include "tests/bench/calibration_families.h"

namespace fidelio::bench {

std::vector<CalibrationCase> CalibrationCases() {
  std::vector<CalibrationCase> cases;
  for (auto* family : {&MomentCalibration, &VariationalCalibration, &BaselineCalibration}) {
    for (CalibrationCase& one : family()) cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace fidelio::bench
