// The command `fidelio` as a function.
#ifndef FIDELIO_CLIENT_CLI_CLI_H_
#define FIDELIO_CLIENT_CLI_CLI_H_

#include <string>
#include <vector>

#include "client/cli/command.h"

namespace fidelio::cli {

// Runs one command line (without the program's name) and answers the exit code. Reads the environment (FIDELIO_SERVER
// and so on). Safe from several threads as long as their streams differ and nobody changes the environment.
int RunCli(const std::vector<std::string>& arguments, Streams& streams);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_CLI_H_
