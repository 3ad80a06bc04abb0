// fidelio-bench: measures what Fidelio promises. Exit code 0; 1 when --check finds a missed bar; 2 for a usage or file
// error.
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/command.h"
#include "tests/bench/commands.h"
#include "tests/bench/csv.h"

namespace fidelio::bench {
namespace {

constexpr int kMissed = 1;
constexpr int kUsage = 2;

struct Entry {
  std::unique_ptr<Command> command;
  CLI::App* app = nullptr;
  std::string json;
  bool check = false;
};

int FailJson(const absl::Status& status) {
  std::fprintf(stderr, "fidelio-bench: --json: %s\n", std::string(status.message()).c_str());
  return kUsage;
}

int RunEntry(Entry& entry) {
  if (!entry.json.empty()) {
    if (const absl::Status writable = CheckWritable(entry.json); !writable.ok()) return FailJson(writable);
  }
  absl::StatusOr<Outcome> outcome = entry.command->Run();
  if (!outcome.ok()) {
    std::fprintf(stderr, "fidelio-bench %s: %s\n", entry.command->name().c_str(),
                 std::string(outcome.status().message()).c_str());
    return kUsage;
  }
  if (!entry.json.empty()) {
    const absl::Status written = WriteFile(entry.json, outcome->json.dump(1) + "\n");
    if (!written.ok()) return FailJson(written);
  }
  for (const std::string& missed : outcome->missed) std::printf("missed: %s\n", missed.c_str());
  std::printf("%s: %s\n", entry.command->name().c_str(), outcome->summary.c_str());
  return entry.check && !outcome->missed.empty() ? kMissed : 0;
}

int Main(int argc, char** argv) {
  CLI::App app{"Measures what Fidelio promises."};
  app.require_subcommand(1);
  std::vector<Entry> entries;
  for (auto* make : {&MakeTable1Command, &MakeProblemsCommand,   &MakeFitSpeedCommand,  &MakePredictSpeedCommand,
                     &MakeStressCommand, &MakeIsaCommand,        &MakeServeCommand,     &MakeEchoServerCommand,
                     &MakeCrashCommand,  &MakeFloodCommand,      &MakeFlipsCommand,     &MakeDppCommand,
                     &MakeLoopCommand,   &MakeRoundsCommand,     &MakeConditionCommand, &MakeMalariaCommand,
                     &MakeGrowthCommand, &MakeNeighboursCommand, &MakeLargeCommand,     &MakeSyntheticCommand,
                     &MakeCallCommand,   &MakeCalibrationCommand}) {
    entries.emplace_back().command = make();
  }
  for (Entry& entry : entries) {
    entry.app = app.add_subcommand(entry.command->name(), entry.command->about());
    entry.app->add_option("--json", entry.json, "write the results to this file");
    entry.app->add_flag("--check", entry.check, "exit with 1 when a bar is missed");
    entry.command->AddOptions(*entry.app);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (const auto rest = app.remaining(); app.get_subcommands().empty() && !rest.empty()) {
      std::fprintf(stderr, "fidelio-bench: \"%s\" is not a command; see fidelio-bench --help\n", rest[0].c_str());
      return kUsage;
    }
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  for (Entry& entry : entries) {
    if (entry.app->parsed()) return RunEntry(entry);
  }
  return kUsage;
}

}  // namespace
}  // namespace fidelio::bench

int main(int argc, char** argv) {
  try {
    return fidelio::bench::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fidelio-bench: %s\n", error.what());
    return 2;
  }
}
