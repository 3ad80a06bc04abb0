#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/support/problems/families.h"
#include "tests/support/problems/problem.h"

namespace fidelio {
namespace {

std::vector<Problem> Concatenate() {
  std::vector<Problem> all;
  for (auto* family : {&Table1Problems, &OneDimensionalProblems, &ClassicProblems, &EngineeringProblems,
                       &HighDimensionalProblems, &HardLinkProblems}) {
    std::vector<Problem> problems = family();
    all.insert(all.end(), std::make_move_iterator(problems.begin()), std::make_move_iterator(problems.end()));
  }
  return all;
}

}  // namespace

const std::vector<Problem>& AllProblems() {
  static const auto* const kAll = new std::vector<Problem>(Concatenate());
  return *kAll;
}

absl::StatusOr<const Problem*> FindProblem(absl::string_view name) {
  for (const Problem& problem : AllProblems()) {
    if (problem.name == name) return &problem;
  }
  return absl::NotFoundError(
      absl::StrCat("problem: \"", name, "\" is not one of the ", AllProblems().size(), " known problems"));
}

}  // namespace fidelio
