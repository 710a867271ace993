#include "cli/cli.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
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
std::string command_hint(const std::string& word, const std::vector<CLI::App*>& commands) {
  if (!is_model_name(word) || word.find_first_of("/@") != word.npos || path_exists(word)) return "";
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  const std::string nearest = nearest_name(names, word);
  return nearest.empty() ? "; `headlight --help` lists the commands" : "; the nearest command: " + nearest;
}

/// The parts of a text between fixed ones: "a, " and " not in " of "a, 3 not in 1 - 2" give "3" and "1 - 2". Nothing where
/// the text does not begin with the first of them or lacks another.
std::optional<std::vector<std::string>> parts_of(std::string_view text, std::initializer_list<std::string_view> fixed) {
  std::vector<std::string> parts;
  for (bool first = true; const std::string_view part : fixed) {
    const std::size_t found = text.find(part);
    if (found == std::string_view::npos || (first && found != 0)) return std::nullopt;
    if (!first) parts.emplace_back(text.substr(0, found));
    text.remove_prefix(found + part.size());
    first = false;
  }
  parts.emplace_back(text);
  return parts;
}

/// CLI11 describes a mistake over several lines, and two of its messages in words of its own; the first line is enough.
std::string one_line(std::string message) {
  message = message.substr(0, message.find('\n'));
  if (const auto parts = parts_of(message, {"Could not convert: ", " = "}))
    message = (*parts)[0] + ": expected a number, found '" + (*parts)[1] + "'";
  else if (const auto range = parts_of(message, {"", ": Value ", " not in range "}))
    message = (*range)[0] + ": expected " + (*range)[2] + ", found " + (*range)[1];
  return "headlight: " + message + " (see --help)";
}

int run_program(int argc, const char* const* argv, const Frontend& frontend) {
  if (argc > 1 && argv[1] == std::string_view("bench"))
    return report("headlight bench: a program of its own: ./run bench in the source tree builds and runs it");
  CLI::App program{"Headlight shows attention: every head of every layer, live.", "headlight"};
  program.set_version_flag("--version", std::string("headlight ") + HEADLIGHT_VERSION);
  program.require_subcommand(1);
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
  const auto commands = program.get_subcommands({});

  // `open` may be left out.
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (const auto& [earlier, name] : kEarlierNames)
    if (!arguments.empty() && arguments[0] == earlier) arguments[0] = name;
  const auto is_command = [&](const std::string& word) {
    return std::any_of(commands.begin(), commands.end(), [&](const CLI::App* c) { return c->get_name() == word; });
  };
  const bool of_the_program =
      !arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "--version");
  std::string hint;
  if (arguments.empty() || (!is_command(arguments[0]) && !of_the_program)) {
    if (!arguments.empty()) hint = command_hint(arguments[0], commands);
    arguments.insert(arguments.begin(), "open");
  }

  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    program.parse(arguments);
  } catch (const CLI::CallForVersion& version) {
    return status_of(print(std::string(version.what()) + "\n"));
  } catch (const CLI::Success&) { return status_of(print(program.help())); } catch (const CLI::ParseError& error) {
    return report(one_line(error.what()) + hint);
  }
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (!commands[i]->parsed()) continue;
    return status_of(runs[i](), hint);
  }
  return kBadInput;
}

}  // namespace

int run_command_line(int argc, const char* const* argv, const Frontend& frontend) {
  try {
    return run_program(argc, argv, frontend);
  } catch (...) { return report(thrown_error().message); }
}

}  // namespace headlight
