// fidelio-bench isa: the speed of the core library that the loader chose, beside that of one built for this very machine
// (-march=native; target fidelio_core_native, library in lib/native).
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "tests/bench/commands.h"
#include "tests/bench/metrics.h"
#include "tests/bench/table.h"

namespace fidelio::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kLeastShare = 0.80;

using Times = std::map<std::string, double>;  // row of fit-speed → microseconds per evaluation

// The environment of this process, with LD_LIBRARY_PATH set to the directory unless that is empty.
std::vector<std::string> Environment(const std::string& library_directory) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (library_directory.empty() || !absl::StartsWith(*variable, "LD_LIBRARY_PATH=")) variables.push_back(*variable);
  }
  if (!library_directory.empty()) variables.push_back("LD_LIBRARY_PATH=" + library_directory);
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs this program again as fit-speed, with the library of the directory, and reads its times.
absl::StatusOr<Times> MeasureWith(const std::string& library_directory) {
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  const std::string json = (fs::temp_directory_path() / absl::StrCat("fidelio-bench-isa-", getpid())).string();
  std::vector<std::string> arguments = {program, "fit-speed", "--sizes", "300", "--budget", "3", "--json", json};
  std::vector<std::string> environment = Environment(library_directory);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, program.c_str(), &actions, nullptr, Pointers(arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0 || waitpid(child, &status, 0) != child || status != 0) {
    return absl::InternalError(absl::StrCat("fit-speed did not run with the libraries of ",
                                            library_directory.empty() ? "the loader" : library_directory));
  }
  std::ifstream file(json);
  const nlohmann::json results = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  fs::remove(json);
  if (!results.is_object()) return absl::InternalError(absl::StrCat(json, ": fit-speed wrote no results"));
  Times times;
  for (const nlohmann::json& row : results["rows"]) {
    times[absl::StrCat(row["problem"].get<std::string>(), " ", row["sizes"].dump())] = row["us_per_evaluation"];
  }
  return times;
}

void KeepFaster(const Times& times, Times* best) {
  for (const auto& [row, time] : times) {
    const auto [place, inserted] = best->emplace(row, time);
    if (!inserted) place->second = std::min(place->second, time);
  }
}

class IsaCommand : public Command {
 public:
  std::string name() const override { return "isa"; }
  std::string about() const override { return "The default build's speed beside that of a -march=native build"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--native", native_, "directory of the native library (default: ../lib/native from the program)");
    app.add_option("--rounds", rounds_, "measurements of each, of which the fastest counts")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
  }

  absl::StatusOr<Outcome> Run() override {
    if (native_.empty()) {
      native_ = (fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib" / "native").string();
    }
    if (!fs::is_directory(native_)) {
      return absl::NotFoundError(
          absl::StrCat("--native: ", native_, " does not exist; build the target fidelio_core_native"));
    }
    Times chosen;
    Times native;
    for (int round = 0; round < rounds_; ++round) {
      FIDELIO_ASSIGN_OR_RETURN(const Times a, MeasureWith(""));
      KeepFaster(a, &chosen);
      FIDELIO_ASSIGN_OR_RETURN(const Times b, MeasureWith(native_));
      KeepFaster(b, &native);
    }
    Outcome outcome;
    outcome.json = nlohmann::json::array();
    Table table({"problem", "us/evaluation", "native us/evaluation", "share of native"});
    std::vector<double> shares;
    for (const auto& [row, time] : chosen) {
      shares.push_back(native[row] / time);
      table.Add({row, Fixed(time, 1), Fixed(native[row], 1), Fixed(shares.back(), 3)});
      outcome.json.push_back({{"problem", row}, {"us_per_evaluation", time}, {"native_us", native[row]}});
    }
    table.Print();
    const double share = Mean(shares);
    if (share < kLeastShare) {
      outcome.missed.push_back(absl::StrFormat("%.3f of the native build's speed, bar %g", share, kLeastShare));
    }
    outcome.summary = absl::StrFormat("the default build has %.3f of the native build's speed, %d bars missed", share,
                                      outcome.missed.size());
    return outcome;
  }

 private:
  std::string native_;
  int rounds_ = 2;
};

}  // namespace

std::unique_ptr<Command> MakeIsaCommand() { return std::make_unique<IsaCommand>(); }

}  // namespace fidelio::bench
