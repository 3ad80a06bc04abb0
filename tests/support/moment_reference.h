// The golden values of tests/golden/moment_reference_values.h as data sets and models of core.
#ifndef FIDELIO_TESTS_SUPPORT_MOMENT_REFERENCE_H_
#define FIDELIO_TESTS_SUPPORT_MOMENT_REFERENCE_H_

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/scaled_data.h"
#include "core/dgp/moments/moment_model.h"
#include "tests/golden/moment_reference_values.h"
#include "tests/support/reference_recipes.h"

namespace fidelio {

// One recipe at one of its points in parameter space.
struct MomentReferenceCase {
  std::string name;
  std::shared_ptr<const MomentModel> model;
  Matrix queries;  // scaled
  golden::MomentPoint point;
};

inline void PrintTo(const MomentReferenceCase& c, std::ostream* out) { *out << c.name; }

inline std::vector<MomentReferenceCase> MomentReferenceCases() {
  std::vector<MomentReferenceCase> cases;
  for (const int recipe : {1, 2}) {
    const golden::MomentReference reference = recipe == 1 ? golden::Recipe1() : golden::Recipe2();
    Dataset data;
    int at = 0;
    for (const int n : reference.counts) {
      data.levels.push_back(
          {.x = reference.x.middleRows(at, n), .y = reference.y.segment(at, n), .noise_variance = Vector()});
      at += n;
    }
    const auto model =
        std::make_shared<const MomentModel>(ScaleData(data), recipe == 1 ? ReferenceRecipe1() : ReferenceRecipe2());
    for (const golden::MomentPoint& point : reference.points) {
      cases.push_back({.name = "Recipe" + std::to_string(recipe) + "_" + point.name,
                       .model = model,
                       .queries = model->data.scaling.ScaleInputs(reference.queries),
                       .point = point});
    }
  }
  return cases;
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_MOMENT_REFERENCE_H_
