#include "tests/bench/cases.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/bench/csv.h"
#include "tests/support/problems/design.h"
#include "tests/support/problems/problem.h"

namespace fidelio::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kTestPoints = 500;

// The names of the directories in `path`, sorted.
std::vector<std::string> Directories(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<Case> LoadCase(const std::string& directory, const std::string& problem, int64_t seed) {
  const fs::path path = fs::path(directory) / problem / absl::StrCat(seed);
  absl::StatusOr<Dataset> train = ReadTrain((path / "train.csv").string());
  if (!train.ok()) return train.status();
  absl::StatusOr<LevelData> test = ReadTest((path / "test.csv").string());
  if (!test.ok()) return test.status();
  if (test->x.cols() != train->dimension()) {
    return absl::InvalidArgumentError(absl::StrCat((path / "test.csv").string(), ": ", test->x.cols(),
                                                   " inputs, but train.csv has ", train->dimension()));
  }
  return Case{.problem = problem, .seed = seed, .train = *std::move(train), .test = *std::move(test)};
}

}  // namespace

absl::StatusOr<std::vector<Case>> LoadCases(const std::string& directory, const std::vector<std::string>& problems,
                                            const std::vector<int64_t>& seeds) {
  const std::vector<std::string> found = Directories(directory);
  if (found.empty()) return absl::NotFoundError(absl::StrCat("--data: ", directory, ": holds no problem directory"));
  std::vector<Case> cases;
  for (const std::string& problem : problems.empty() ? found : problems) {
    const size_t before = cases.size();
    for (const std::string& name : Directories(fs::path(directory) / problem)) {
      int64_t seed = 0;
      if (!absl::SimpleAtoi(name, &seed)) continue;
      if (!seeds.empty() && std::find(seeds.begin(), seeds.end(), seed) == seeds.end()) continue;
      absl::StatusOr<Case> data = LoadCase(directory, problem, seed);
      if (!data.ok()) return data.status();
      cases.push_back(*std::move(data));
    }
    if (cases.size() == before && !problems.empty()) {
      return absl::NotFoundError(absl::StrCat("--problems: ", directory, " holds no data set of \"", problem, "\""));
    }
  }
  if (cases.empty()) return absl::NotFoundError(absl::StrCat("--data: ", directory, ": holds no such data set"));
  return cases;
}

absl::StatusOr<std::vector<Case>> GenerateCases(const std::vector<std::string>& problems,
                                                const std::vector<int64_t>& seeds) {
  std::vector<std::string> names = problems;
  if (names.empty()) {
    for (const Problem& problem : AllProblems()) names.push_back(problem.name);
  }
  std::vector<Case> cases;
  for (const std::string& name : names) {
    const absl::StatusOr<const Problem*> problem = FindProblem(name);
    if (!problem.ok()) return problem.status();
    for (int64_t seed : seeds) {
      absl::StatusOr<Dataset> train = MakeDataset(**problem, (*problem)->sizes, static_cast<uint64_t>(seed));
      if (!train.ok()) return train.status();
      absl::StatusOr<LevelData> test = MakeTestSet(**problem, kTestPoints, static_cast<uint64_t>(seed));
      if (!test.ok()) return test.status();
      cases.push_back({.problem = name, .seed = seed, .train = *std::move(train), .test = *std::move(test)});
    }
  }
  return cases;
}

absl::Status WriteCases(const std::vector<Case>& cases, const std::string& directory) {
  for (const Case& data : cases) {
    const fs::path path = fs::path(directory) / data.problem / absl::StrCat(data.seed);
    std::error_code error;
    fs::create_directories(path, error);
    if (error) return absl::InternalError(absl::StrCat(path.string(), ": ", error.message()));
    absl::Status status = WriteTrain(data.train, (path / "train.csv").string());
    if (status.ok()) status = WriteTest(data.test, (path / "test.csv").string());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace fidelio::bench
