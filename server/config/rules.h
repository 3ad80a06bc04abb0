// The rules between settings; rules of a single setting stand in its row of the table (settings.h).
#ifndef FIDELIO_SERVER_CONFIG_RULES_H_
#define FIDELIO_SERVER_CONFIG_RULES_H_

#include <string>
#include <vector>

#include "server/config/server_config.h"

namespace fidelio {

struct RuleViolation {
  std::string setting;  // the name of the setting to blame
  std::string rule;
};

// All rules that `config` breaks.
std::vector<RuleViolation> CheckRules(const ServerConfig& config);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_CONFIG_RULES_H_
