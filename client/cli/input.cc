#include "client/cli/input.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/csv.h"
#include "client/cli/npy.h"

namespace fidelio::cli {
namespace {

absl::Status Unreadable(const std::string& path, int error) {
  return absl::InvalidArgumentError(absl::StrCat(
      DisplayName(path), ": cannot be read: ", error == 0 ? "an error of the system" : std::strerror(error)));
}

// Of a file whose name says that it is not a table of text.
class NoReader final : public TableReader {
 public:
  NoReader(const std::string& path, absl::string_view why)
      : error_(absl::InvalidArgumentError(absl::StrCat(path, ": ", why))) {}

  absl::StatusOr<std::unique_ptr<DataTable>> Next(int) override { return error_; }

 private:
  const absl::Status error_;
};

}  // namespace

std::string DisplayName(const std::string& path) { return path == "-" ? "standard input" : path; }

absl::StatusOr<std::string> ReadInput(const std::string& path, std::istream& standard_input) {
  const auto file = InputFile::Open(path, standard_input);
  if (!file.ok()) return file.status();
  errno = 0;
  std::string text(std::istreambuf_iterator<char>((*file)->stream()), {});
  if ((*file)->stream().bad()) return Unreadable(path, errno);
  return text;
}

absl::StatusOr<std::unique_ptr<InputFile>> InputFile::Open(const std::string& path, std::istream& standard_input) {
  auto input = std::make_unique<InputFile>();
  input->path_ = path;
  input->stream_ = &standard_input;
  if (path == "-") return input;
  std::error_code ignored;
  // Opening a directory succeeds; only reading it does not.
  if (std::filesystem::is_directory(path, ignored)) return Unreadable(path, EISDIR);
  errno = 0;
  input->file_.open(path, std::ios::binary);
  if (!input->file_) return Unreadable(path, errno);
  input->stream_ = &input->file_;
  if (std::filesystem::is_regular_file(path, ignored)) {
    const auto size = std::filesystem::file_size(path, ignored);
    if (!ignored) input->size_ = static_cast<int64_t>(size);
  }
  return input;
}

void InputFile::Rewind() {
  stream_->clear();
  stream_->seekg(0);
}

int64_t InputFile::position() {
  if (!seekable()) return 0;
  const std::streamoff at = stream_->eof() ? -1 : static_cast<std::streamoff>(stream_->tellg());
  return at < 0 ? size_ : at;
}

std::unique_ptr<TableReader> InputFile::Tables(NameColumns name_columns) {
  // The first byte tells: it is not that of any text.
  if (stream_->peek() == static_cast<unsigned char>(kNpyMagic[0])) {
    return std::make_unique<NpyReader>(DisplayName(path_), *stream_, std::move(name_columns));
  }
  const std::filesystem::path name(path_);
  if (name.extension() == ".npy")
    return std::make_unique<NoReader>(path_, "not a file written by numpy.save, although it is called .npy");
  if (name.extension() == ".npz")
    return std::make_unique<NoReader>(path_, "holds several arrays; numpy.save writes one (.npy)");
  return std::make_unique<CsvReader>(DisplayName(path_), *stream_);
}

}  // namespace fidelio::cli
