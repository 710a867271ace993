#include "cli/frame/cli.h"

#include <algorithm>

#include "base/folders.h"
#include "base/result.h"
#include "base/system.h"
#include "cli/frame/commands.h"
#include "cli/frame/tool_commands.h"
#include "read/hub/kept_models.h"
#include "session/tool_state.h"
#include "text/nearest.h"

namespace headlight {
namespace {

constexpr int kBadInput = 2;

/// Earlier names of commands: still accepted, in no help.
constexpr std::pair<std::string_view, std::string_view> kEarlierNames[] = {{"compare", "diagnose"}};

constexpr const NamedCommand* kViewer[] = {&kOpen,   &kExport, &kScreenshot, &kExplain,  &kWhy,
                                           &kLens,   &kNext,   &kGenerate,   &kTokenize, &kHeads,
                                           &kFigure, &kModels, &kWhat,       &kCode,     &kSimilarity};

/// The commands in the order of the help, and the tool that gives each; empty: the viewer. Others stand behind these.
struct Place {
  std::string_view command, tool = {};
};
constexpr Place kPlaces[] = {{"open"},
                             {"export"},
                             {"screenshot"},
                             {"explain"},
                             {"why"},
                             {"lens"},
                             {"patch", "study"},
                             {"next"},
                             {"similarity"},
                             {"generate"},
                             {"diagnose", "diagnose"},
                             {"tokenize"},
                             {"check", "diagnose"},
                             {"train", "train"},
                             {"heads"},
                             {"claims", "train"},
                             {"figure"},
                             {"page", "page"},
                             {"site", "page"},
                             {"models"},
                             {"what"},
                             {"report", "diagnose"},
                             {"code"},
                             {"mcp", "mcp"},
                             {"study", "study"}};

/// Commands that ended, and what to do instead.
constexpr std::pair<std::string_view, std::string_view> kEnded[] = {
    {"bench", "headlight bench: ended; `./run bench` measures speed"},
    {"worksheet",
     "headlight worksheet: ended; `headlight figure --view matrix` draws a matrix with its numbers, "
     "`headlight code` and the view Code have the computation line by line"}};

std::vector<const NamedCommand*> all_commands() {
  std::vector<const NamedCommand*> all(std::begin(kViewer), std::end(kViewer));
  for (const Tool* tool : tools())
    if (tool->commands) all.insert(all.end(), tool->commands->commands.begin(), tool->commands->commands.end());
  std::ranges::stable_sort(all, {}, [](const NamedCommand* command) {
    return std::ranges::find(kPlaces, std::string_view(command->name), &Place::command);
  });
  return all;
}

/// Why the first word is no command of this build; empty: it is none of any build.
std::string missing_command(const std::string& word) {
  for (const auto& [command, instead] : kEnded)
    if (word == command) return std::string(instead);
  const auto* const earlier =
      std::ranges::find(kEarlierNames, word, &std::pair<std::string_view, std::string_view>::first);
  const std::string_view now = earlier == std::end(kEarlierNames) ? word : earlier->second;
  const auto* const place = std::ranges::find(kPlaces, now, &Place::command);
  if (place == std::end(kPlaces) || place->tool.empty()) return {};
  if (std::ranges::any_of(tools(), [&](const Tool* tool) { return tool->name == place->tool; })) return {};
  return missing_tool("headlight " + word, place->tool).message();
}

/// The status of an error that was printed; `hint` stands behind its line.
int report(const Error& error, const std::string& hint = "") {
  print_error(Error(error.code, error.message() + hint));
  return kBadInput;
}

int status_of(const Result<int>& done, const std::string& hint = "") {
  return done ? *done : report(done.error(), hint);
}

/// The hint behind the error line where the first word is neither a command nor a path that exists: it may be misspelt.
std::string command_hint(const std::string& word, const std::vector<std::string>& commands) {
  if (!is_model_name(word) || word.find_first_of("/@:") != word.npos || path_exists(word)) return "";
  const std::string nearest = nearest_name(commands, word);
  return nearest.empty() ? "; `headlight --help` lists the commands" : "; the nearest command: " + nearest;
}

/// The words behind the program's name, with the command that they leave out.
std::vector<std::string> completed(std::vector<std::string> words, const std::vector<std::string>& commands,
                                   std::string& hint) {
  for (const auto& [earlier, name] : kEarlierNames)
    if (!words.empty() && words[0] == earlier) words[0] = name;
  const std::string first = words.empty() ? "" : words[0];
  const bool of_the_program = first == "--help" || first == "-h" || first == "--version";
  if (of_the_program || std::ranges::find(commands, first) != commands.end()) return words;
  if (!first.empty()) hint = command_hint(first, commands);
  words.insert(words.begin(), kOpen.name);
  return words;
}

/// A line of the program that was parsed, and its command.
struct ReadLine {
  Parser program;
  ParsedLine line;
  ParsedCommand run;
};

Result<ReadLine> read_line(const std::vector<std::string>& words, const std::vector<const NamedCommand*>& commands,
                           const Frontend& frontend) {
  Parser program("headlight", "Headlight shows attention: every head of every layer, live.");
  program.version(std::string("headlight ") + HEADLIGHT_VERSION);
  program.footer(
      "headlight COMMAND --help says more. Without a command: the window.\n"
      "Results go to standard output, messages to standard error.\n"
      "Exit status: 0 done, 1 a comparison or a check differs, 2 wrong use or bad input.");
  ParsedCommand run;
  std::optional<Parser> asked;
  for (const NamedCommand* command : commands) {
    Parser parser = program.command(command->name, command->about);
    if (words[0] != command->name) continue;  // only the options of the command that is asked are made
    parser.footer(command->examples + (*command->examples == '\n'));
    name_work(command->name);
    run = command->add(parser, frontend);
    asked = parser;
  }
  auto line = TRY(program.parse(words));
  if (asked) name_work(asked->given_names());
  return ReadLine{program, std::move(line), std::move(run)};
}

int run_program(int argc, const char* const* argv, const Frontend& frontend) {
  const std::vector<const NamedCommand*> commands = all_commands();
  std::vector<std::string> names;
  for (const NamedCommand* command : commands) names.emplace_back(command->name);
  std::string hint;
  const std::vector<std::string> words = completed({argv + 1, argv + argc}, names, hint);
  if (std::ranges::find(names, argc > 1 ? argv[1] : "open") == names.end())
    if (const std::string missing = missing_command(argv[1]); !missing.empty())
      return report(Error(ErrorCode::bad_value, missing));
  const auto read = read_line(words, commands, frontend);
  if (!read) return report(inside("headlight", read.error()), " (see --help)" + hint);
  if (!read->line.text.empty()) return status_of(print(read->line.text));
  std::optional<ProgressReport> progress;
  if (words[0] != kOpen.name) progress.emplace(words[0]);  // which reports the time until its window
  return status_of(read->run(), hint);
}

}  // namespace

int run_command_line(int argc, const char* const* argv, const Frontend& frontend) {
  try {
    return run_program(argc, argv, frontend);
  } catch (...) { return report(thrown_error()); }
}

Result<int> run_command(const std::vector<std::string>& words) {
  try {
    const auto read = TRY(read_line(words, all_commands(), {}));
    return read.line.text.empty() ? read.run() : print(read.line.text);
  } catch (...) { return thrown_error(); }
}

}  // namespace headlight
