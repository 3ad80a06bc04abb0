#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "client/cli/cli.h"

namespace {

// Columns of the terminal that standard error is, or 0 when it is none, or one that can't redraw a line.
int TerminalWidth() {
  const char* term = std::getenv("TERM");
  if (!isatty(STDERR_FILENO) || term == nullptr || std::string(term) == "dumb") return 0;
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

int main(int argc, char** argv) {
  // gRPC writes to its log what the errors that we print say, too.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  fidelio::cli::Streams streams{.in = std::cin,
                                .out = std::cout,
                                .err = std::cerr,
                                .in_is_terminal = isatty(STDIN_FILENO) != 0,
                                .err_width = TerminalWidth()};
  return fidelio::cli::RunCli(std::vector<std::string>(argv + 1, argv + argc), streams);
}
