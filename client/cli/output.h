// OutputFile: what a command writes with -o, or to standard output.
//
// A file appears under its name when all of it is there: until Commit it has ".partial" at the end of its name, and it is
// removed when it is given up. Devices and pipes are written to as they are. Not thread-safe.
#ifndef FIDELIO_CLIENT_CLI_OUTPUT_H_
#define FIDELIO_CLIENT_CLI_OUTPUT_H_

#include <fstream>
#include <memory>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace fidelio::cli {

class OutputFile {
 public:
  // `path` empty or "-": standard output, which outlives this. INVALID_ARGUMENT says why it can't be written.
  static absl::StatusOr<std::unique_ptr<OutputFile>> Open(const std::string& path, std::ostream& standard_output);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  absl::Status Write(absl::string_view bytes);
  absl::Status Commit();

 private:
  OutputFile(std::string path, std::ostream& standard_output) : path_(std::move(path)), out_(&standard_output) {}
  absl::Status Error() const;

  const std::string path_;
  std::string partial_;  // where it is written until Commit; empty: in its place
  std::ofstream file_;
  std::ostream* out_;
};

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_OUTPUT_H_
