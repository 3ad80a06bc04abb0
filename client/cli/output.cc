#include "client/cli/output.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace fidelio::cli {

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Open(const std::string& path, std::ostream& standard_output) {
  const bool standard = path.empty() || path == "-";
  std::unique_ptr<OutputFile> output(new OutputFile(standard ? "" : path, standard_output));
  if (standard) return output;
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  const bool plain = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
  if (plain) output->partial_ = path + ".partial";
  errno = 0;
  output->file_.open(plain ? output->partial_ : path, std::ios::binary | std::ios::trunc);
  output->out_ = &output->file_;
  if (!output->file_) {
    output->partial_.clear();
    return output->Error();
  }
  return output;
}

OutputFile::~OutputFile() {
  if (partial_.empty()) return;
  file_.close();
  std::error_code ignored;
  std::filesystem::remove(partial_, ignored);
}

absl::Status OutputFile::Error() const {
  const std::string reason = errno == 0 ? "" : absl::StrCat(": ", std::strerror(errno));
  return absl::InvalidArgumentError(path_.empty() ? absl::StrCat("standard output: cannot be written", reason)
                                                  : absl::StrCat("-o: ", path_, ": cannot be written", reason));
}

absl::Status OutputFile::Write(absl::string_view bytes) {
  errno = 0;
  out_->write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return *out_ ? absl::OkStatus() : Error();
}

absl::Status OutputFile::Commit() {
  errno = 0;
  out_->flush();
  if (!*out_) return Error();
  if (path_.empty()) return absl::OkStatus();
  file_.close();
  if (!file_) return Error();
  if (partial_.empty()) return absl::OkStatus();
  std::error_code error;
  std::filesystem::rename(partial_, path_, error);
  if (error) return absl::InvalidArgumentError(absl::StrCat("-o: ", path_, ": cannot be written: ", error.message()));
  partial_.clear();
  return absl::OkStatus();
}

}  // namespace fidelio::cli
