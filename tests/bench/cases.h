// Where data sets come from: a directory, or the problems of tests/support/problems.
#ifndef FIDELIO_TESTS_BENCH_CASES_H_
#define FIDELIO_TESTS_BENCH_CASES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/bench/result.h"

namespace fidelio::bench {

// The data sets directory/<problem>/<seed>, sorted. Empty lists select everything; a problem that is asked for and
// missing is NOT_FOUND.
absl::StatusOr<std::vector<Case>> LoadCases(const std::string& directory, const std::vector<std::string>& problems,
                                            const std::vector<int64_t>& seeds);

// Data sets of the problems' usual sizes with 500 test points, made from the seeds. An empty list of problems means all.
absl::StatusOr<std::vector<Case>> GenerateCases(const std::vector<std::string>& problems,
                                                const std::vector<int64_t>& seeds);

// Writes data sets as LoadCases reads them.
absl::Status WriteCases(const std::vector<Case>& cases, const std::string& directory);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_CASES_H_
