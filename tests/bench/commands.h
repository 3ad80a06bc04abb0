// The subcommands of fidelio-bench, each in a file of its name.
#ifndef FIDELIO_TESTS_BENCH_COMMANDS_H_
#define FIDELIO_TESTS_BENCH_COMMANDS_H_

#include <memory>

#include "tests/bench/command.h"

namespace fidelio::bench {

std::unique_ptr<Command> MakeTable1Command();
std::unique_ptr<Command> MakeProblemsCommand();
std::unique_ptr<Command> MakeFitSpeedCommand();
std::unique_ptr<Command> MakePredictSpeedCommand();
std::unique_ptr<Command> MakeStressCommand();
std::unique_ptr<Command> MakeIsaCommand();
std::unique_ptr<Command> MakeServeCommand();
std::unique_ptr<Command> MakeEchoServerCommand();
std::unique_ptr<Command> MakeCrashCommand();
std::unique_ptr<Command> MakeFloodCommand();
std::unique_ptr<Command> MakeFlipsCommand();
std::unique_ptr<Command> MakeDppCommand();
std::unique_ptr<Command> MakeLoopCommand();
std::unique_ptr<Command> MakeRoundsCommand();
std::unique_ptr<Command> MakeConditionCommand();
std::unique_ptr<Command> MakeSyntheticCommand();
std::unique_ptr<Command> MakeCallCommand();
std::unique_ptr<Command> MakeMalariaCommand();
std::unique_ptr<Command> MakeGrowthCommand();
std::unique_ptr<Command> MakeNeighboursCommand();
std::unique_ptr<Command> MakeLargeCommand();
std::unique_ptr<Command> MakeCalibrationCommand();

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_COMMANDS_H_
