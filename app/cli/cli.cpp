#include "cli/cli.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/folders.h"
#include "base/nearest.h"
#include "base/thrown.h"
#include "cli/commands.h"
#include "read/hub/model_places.h"

namespace headlight {
namespace {

constexpr int kBadInput = 2;

/// Earlier names of commands: still accepted, in no help.
constexpr std::pair<std::string_view, std::string_view> kEarlierNames[] = {{"compare", "diagnose"}};

int report(const std::string& message) {
  print_message(message);
  return kBadInput;
}

/// The status of what was printed, or of its failure, behind which `hint` stands.
int status_of(const Result<int>& done, const std::string& hint = "") {
  return done ? *done : report(done.error().message + hint);
}

/// What a refused call says of a first word that is neither a command nor on this disk: it may be a misspelt command.
std::string command_hint(const std::string& word, const std::vector<std::string>& commands) {
  if (!is_model_name(word) || word.find_first_of("/@") != word.npos || path_exists(word)) return "";
  const std::string nearest = nearest_name(commands, word);
  return nearest.empty() ? "; `headlight --help` lists the commands" : "; the nearest command: " + nearest;
}

int run_program(int argc, const char* const* argv, const Frontend& frontend) {
  if (argc > 1 && argv[1] == std::string_view("bench"))
    return report("headlight bench: a program of its own: ./run bench in the source tree builds and runs it");
  Parser program("headlight", "Headlight shows attention: every head of every layer, live.");
  program.version(std::string("headlight ") + HEADLIGHT_VERSION);
  program.footer(
      "headlight COMMAND --help says more. Without a command: the window.\n"
      "Results go to standard output, messages to standard error.\n"
      "Exit status: 0 done, 1 a comparison or a check differs, 2 wrong use or bad input.");
  const std::vector<ParsedCommand> runs{
      add_open(program, frontend), add_export(program),   add_screenshot(program, frontend),
      add_explain(program),        add_why(program),      add_lens(program),
      add_patch(program),          add_next(program),     add_generate(program),
      add_diagnose(program),       add_tokenize(program), add_check(program),
      add_train(program),          add_heads(program),    add_figure(program),
      add_page(program),           add_models(program),   add_code(program),
      add_worksheet(program)};
  const std::vector<std::string> commands = program.commands();

  // `open` may be left out.
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (const auto& [earlier, name] : kEarlierNames)
    if (!arguments.empty() && arguments[0] == earlier) arguments[0] = name;
  const auto position_of = [&](const std::string& word) { return std::find(commands.begin(), commands.end(), word); };
  const bool of_the_program =
      !arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "--version");
  std::string hint;
  if (arguments.empty() || (position_of(arguments[0]) == commands.end() && !of_the_program)) {
    if (!arguments.empty()) hint = command_hint(arguments[0], commands);
    arguments.insert(arguments.begin(), "open");
  }

  const auto parsed = program.parse(arguments);
  if (!parsed) return report("headlight: " + parsed.error().message + " (see --help)" + hint);
  if (!parsed->text.empty()) return status_of(print(parsed->text));
  return status_of(runs[static_cast<std::size_t>(position_of(parsed->command) - commands.begin())](), hint);
}

}  // namespace

int run_command_line(int argc, const char* const* argv, const Frontend& frontend) {
  try {
    return run_program(argc, argv, frontend);
  } catch (...) { return report(thrown_error().message); }
}

}  // namespace headlight
