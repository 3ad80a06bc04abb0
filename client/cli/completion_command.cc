// fidelio completion.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/command.h"
#include "client/cli/completion.h"

namespace fidelio::cli {
namespace {

using Script = std::string (*)(const CLI::App&, const OptionWords&);

}  // namespace

void AddCompletionCommand(CLI::App& app, Context& context) {
  CLI::App* completion = AddGroup(app, "completion", "Print a script by which a shell completes fidelio's commands");
  const std::vector<std::pair<std::string, std::pair<Script, std::string>>> shells = {
      {"bash",
       {BashCompletion,
        "  source <(fidelio completion bash)                                            # for this shell\n"
        "  fidelio completion bash > ~/.local/share/bash-completion/completions/fidelio # for your shells\n"
        "  fidelio completion bash > /usr/share/bash-completion/completions/fidelio     # for everybody's\n"}},
      {"zsh",
       {ZshCompletion,
        "  source <(fidelio completion zsh)                                       # for this shell\n"
        "  fidelio completion zsh > ~/.zfunc/_fidelio                             # for yours, with fpath+=~/.zfunc\n"
        "  fidelio completion zsh > /usr/local/share/zsh/site-functions/_fidelio  # for everybody's\n"}},
      {"fish",
       {FishCompletion,
        "  fidelio completion fish | source                                   # for this shell\n"
        "  fidelio completion fish > ~/.config/fish/completions/fidelio.fish  # for your shells\n"}}};
  for (const auto& [shell, how] : shells) {
    AddCommand(*completion, context, shell, "Print the script for " + shell, how.second,
               [&app, &context, script = how.first] {
                 const std::string text = script(app, context.words);
                 context.Print(Json{{"script", text}}, text);
                 return absl::OkStatus();
               });
  }
}

}  // namespace fidelio::cli
