// Files that the user names, and standard input when that name is "-".
#ifndef FIDELIO_CLIENT_CLI_INPUT_H_
#define FIDELIO_CLIENT_CLI_INPUT_H_

#include <cstdint>
#include <fstream>
#include <istream>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/data_table.h"

namespace fidelio::cli {

// How a path is called in messages.
std::string DisplayName(const std::string& path);

// The whole of a file. INVALID_ARGUMENT says why not.
absl::StatusOr<std::string> ReadInput(const std::string& path, std::istream& standard_input);

// InputFile: a file that is being read. Not thread-safe.
class InputFile {
 public:
  // INVALID_ARGUMENT says why it can't be read. `standard_input` outlives this.
  static absl::StatusOr<std::unique_ptr<InputFile>> Open(const std::string& path, std::istream& standard_input);

  const std::string& path() const { return path_; }
  std::istream& stream() { return *stream_; }

  // Whether Rewind works: not for standard input and pipes.
  bool seekable() const { return size_ >= 0; }
  void Rewind();

  int64_t size() const { return size_; }  // in bytes; −1 when that is not known
  int64_t position();                     // in bytes from the beginning; 0 when that is not known

  // Rows from here on, in CSV or .npy. The reader must not outlive this.
  std::unique_ptr<TableReader> Tables(NameColumns name_columns);

 private:
  std::string path_;
  std::ifstream file_;
  std::istream* stream_ = nullptr;
  int64_t size_ = -1;
};

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_INPUT_H_
