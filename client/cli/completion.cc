#include "client/cli/completion.h"

#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace fidelio::cli {
namespace {

// Asks the server for the names of models, and does not wait for one that is not there.
constexpr char kModels[] = "fidelio model list --names --retry 0 --timeout 2 2>/dev/null";

struct Command {
  const CLI::App* app;
  std::vector<std::string> path;  // "model", "create"
};

// Every command, the root first.
std::vector<Command> Commands(const CLI::App& root) {
  std::vector<Command> all;
  const std::function<void(const CLI::App&, const std::vector<std::string>&)> visit =
      [&](const CLI::App& app, const std::vector<std::string>& path) {
        all.push_back({&app, path});
        for (const CLI::App* sub : app.get_subcommands(nullptr)) {
          std::vector<std::string> longer = path;
          longer.push_back(sub->get_name());
          visit(*sub, longer);
        }
      };
  visit(root, {});
  return all;
}

bool IsPositional(const CLI::Option& option) { return option.get_lnames().empty() && option.get_snames().empty(); }
bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// "--output", "-o"
std::vector<std::string> Flags(const CLI::Option& option) {
  std::vector<std::string> flags;
  for (const std::string& name : option.get_lnames()) flags.push_back("--" + name);
  for (const std::string& name : option.get_snames()) flags.push_back("-" + name);
  return flags;
}

std::vector<std::string> SubcommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) names.push_back(sub->get_name());
  return names;
}

// In single quotes, for every shell.
std::string Quoted(const std::string& text) { return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "’"}}), "'"); }

enum class Value { kAnything, kWords, kFile, kModel };
Value ValueOf(const CLI::Option& option, const OptionWords& words) {
  if (words.count(&option) > 0) return Value::kWords;
  const std::string what = IsPositional(option) ? option.get_name(/*positional=*/true) : option.get_type_name();
  return what == "FILE" ? Value::kFile : what == "NAME" ? Value::kModel : Value::kAnything;
}

// What bash completes for a value.
std::string BashReply(const CLI::Option& option, const OptionWords& words) {
  switch (ValueOf(option, words)) {
    case Value::kWords:
      return absl::StrCat("COMPREPLY=($(compgen -W ", Quoted(absl::StrJoin(words.at(&option), " ")), " -- \"$cur\"))");
    case Value::kFile:
      return "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\"))";
    case Value::kModel:
      return absl::StrCat("COMPREPLY=($(compgen -W \"$(", kModels, ")\" -- \"$cur\"))");
    case Value::kAnything:
      break;
  }
  return "COMPREPLY=()";
}

// Options of a command and of all, which may stand everywhere.
std::vector<const CLI::Option*> OptionsOf(const Command& command, const CLI::App& root) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : command.app->get_options()) options.push_back(option);
  if (command.app == &root) return options;
  for (const CLI::Option* option : root.get_options()) {
    if (option->get_lnames() != std::vector<std::string>{"help"} &&
        option->get_lnames() != std::vector<std::string>{"version"}) {
      options.push_back(option);
    }
  }
  return options;
}

std::string BashBody(const CLI::App& root, const OptionWords& words) {
  const std::vector<Command> commands = Commands(root);
  std::string walk, values, options, others;
  std::vector<std::string> taking;
  for (const Command& command : commands) {
    const std::string path = absl::StrJoin(command.path, " ");
    if (!command.path.empty()) {
      const std::vector<std::string> parents(command.path.begin(), command.path.end() - 1);
      absl::StrAppend(&walk, "      ", Quoted(absl::StrCat(absl::StrJoin(parents, " "), ">", command.path.back())),
                      ") path=", Quoted(path), " at=0; continue ;;\n");
    }
    std::vector<std::string> flags;
    std::vector<std::string> positionals;  // what completes each
    for (const CLI::Option* option : OptionsOf(command, root)) {
      if (IsPositional(*option)) {
        positionals.push_back(BashReply(*option, words));
        continue;
      }
      for (const std::string& flag : Flags(*option)) {
        flags.push_back(flag);
        if (!TakesValue(*option)) continue;
        absl::StrAppend(&values, "    ", Quoted(absl::StrCat(path, ">", flag)), ") ", BashReply(*option, words),
                        "; return ;;\n");
        taking.push_back(absl::StrCat("      ", Quoted(absl::StrCat(path, ">", flag)), ") value=1 ;;\n"));
      }
    }
    absl::StrAppend(&options, "      ", Quoted(path), ") COMPREPLY=($(compgen -W ", Quoted(absl::StrJoin(flags, " ")),
                    " -- \"$cur\")) ;;\n");
    // A command with arguments and commands: both may come first.
    if (const std::vector<std::string> subs = SubcommandNames(*command.app); !subs.empty()) {
      absl::StrAppend(&others, "      ", Quoted(path + "#0"), ") ",
                      positionals.empty() ? "COMPREPLY=(" : positionals.front() + "; COMPREPLY+=(", "$(compgen -W ",
                      Quoted(absl::StrJoin(subs, " ")), " -- \"$cur\")) ;;\n");
      if (!positionals.empty()) positionals.front().clear();
    }
    for (size_t i = 0; i < positionals.size(); ++i) {
      if (positionals[i].empty()) continue;
      absl::StrAppend(&others, "      ", Quoted(absl::StrCat(path, "#", i)), ") ", positionals[i], " ;;\n");
    }
  }
  return absl::StrCat(
      "_fidelio() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path='' at=0 value=0 word\n"
      "  COMPREPLY=()\n"
      "  # The command that stands there, and how many of its arguments.\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    if ((value)); then value=0; continue; fi\n"
      "    case \"$path>$word\" in\n",
      walk, absl::StrJoin(taking, ""),
      "      *'>'-*) ;;\n"
      "      *) at=$((at+1)) ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$path>$prev\" in\n",
      values,
      "  esac\n"
      "  if [[ $cur == -* ]]; then\n"
      "    case \"$path\" in\n",
      options,
      "    esac\n"
      "  else\n"
      "    case \"$path#$at\" in\n",
      others,
      "    esac\n"
      "  fi\n"
      "}\n");
}

}  // namespace

std::string BashCompletion(const CLI::App& app, const OptionWords& words) {
  return absl::StrCat("# Completion of fidelio for bash, as `fidelio completion bash` prints it.\n",
                      BashBody(app, words), "complete -F _fidelio fidelio\n");
}

std::string ZshCompletion(const CLI::App& app, const OptionWords& words) {
  return absl::StrCat("#compdef fidelio\n# Completion of fidelio for zsh, as `fidelio completion zsh` prints it.\n",
                      "autoload -Uz +X compinit bashcompinit\n(( $+functions[compdef] )) || compinit\nbashcompinit\n",
                      BashBody(app, words), "complete -F _fidelio fidelio\n");
}

std::string FishCompletion(const CLI::App& app, const OptionWords& words) {
  std::string script =
      "# Completion of fidelio for fish, as `fidelio completion fish` prints it.\ncomplete -c fidelio -f\n";
  for (const Command& command : Commands(app)) {
    std::string condition;
    for (const std::string& name : command.path) {
      absl::StrAppend(&condition, condition.empty() ? "" : "; and ", "__fish_seen_subcommand_from ", name);
    }
    if (const std::vector<std::string> subs = SubcommandNames(*command.app); !subs.empty()) {
      const std::string none = absl::StrCat(condition, condition.empty() ? "" : "; and ",
                                            "not __fish_seen_subcommand_from ", absl::StrJoin(subs, " "));
      for (const CLI::App* sub : command.app->get_subcommands(nullptr)) {
        absl::StrAppend(&script, "complete -c fidelio -n ", Quoted(none), " -a ", sub->get_name(), " -d ",
                        Quoted(sub->get_description()), "\n");
      }
    }
    const std::string when = condition.empty() ? "" : absl::StrCat(" -n ", Quoted(condition));
    for (const CLI::Option* option : command.app->get_options()) {
      const Value value = ValueOf(*option, words);
      std::string takes = value == Value::kWords   ? absl::StrCat(" -a ", Quoted(absl::StrJoin(words.at(option), " ")))
                          : value == Value::kFile  ? " -F"
                          : value == Value::kModel ? absl::StrCat(" -a ", Quoted(absl::StrCat("(", kModels, ")")))
                                                   : "";
      if (IsPositional(*option)) {
        if (!takes.empty()) absl::StrAppend(&script, "complete -c fidelio", when, takes, "\n");
        continue;
      }
      absl::StrAppend(&script, "complete -c fidelio", when);
      for (const std::string& name : option->get_lnames()) absl::StrAppend(&script, " -l ", name);
      for (const std::string& name : option->get_snames()) absl::StrAppend(&script, " -s ", name);
      if (TakesValue(*option)) absl::StrAppend(&script, " -r", takes);
      absl::StrAppend(&script, " -d ", Quoted(option->get_description()), "\n");
    }
  }
  return script;
}

}  // namespace fidelio::cli
