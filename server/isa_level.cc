#include "server/isa_level.h"

#include <link.h>

#include <string_view>

namespace fidelio {
namespace {

// Where the loader looks for libraries of a level: …/glibc-hwcaps/x86-64-v3/libfidelio_core.so.0
int FindLevel(dl_phdr_info* info, size_t /*size*/, void* level) {
  constexpr std::string_view kDirectory = "/glibc-hwcaps/x86-64-";
  const std::string_view path = info->dlpi_name;
  const size_t place = path.find(kDirectory);
  if (path.find("/libfidelio_core.") == std::string_view::npos || place == std::string_view::npos) return 0;
  const std::string_view rest = path.substr(place + kDirectory.size());
  *static_cast<std::string*>(level) = std::string(rest.substr(0, rest.find('/')));
  return 1;
}

}  // namespace

std::string LoadedIsaLevel(const std::string& base) {
  std::string level = base;
  dl_iterate_phdr(FindLevel, &level);
  return level;
}

}  // namespace fidelio
