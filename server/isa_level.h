// Which of the core libraries the dynamic loader chose.
#ifndef FIDELIO_SERVER_ISA_LEVEL_H_
#define FIDELIO_SERVER_ISA_LEVEL_H_

#include <string>

namespace fidelio {

// "v2", "v3" or "v4"; "default" where there is one for all machines. `base` is that of the library in lib/.
std::string LoadedIsaLevel(const std::string& base);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_ISA_LEVEL_H_
