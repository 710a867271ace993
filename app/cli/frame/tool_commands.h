// What a tool adds to the command line: commands, and ways of the viewer's commands.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "tool/tool.h"

namespace headlight {

class Parser;           // cli/options/parser.h
class QuestionCommand;  // cli/frame/question_command.h
struct Finding;
struct NamedCommand;       // cli/frame/commands.h
struct ScreenshotOptions;  // session/startup.h
struct StudyWays;          // cli/frame/study.h

/// Runs in place of a command where the tool's options were given; nothing: the command goes on.
using InPlace = std::function<Result<std::optional<int>>()>;

struct ToolCommands {
  std::span<const NamedCommand* const> commands = {};
  const StudyWays* study = nullptr;
  /// Adds the options of `heads --relations`.
  InPlace (*relations)(const QuestionCommand& command) = nullptr;
  /// Whether a file of the tool is right; nothing where it is none of the tool's.
  Result<std::optional<std::vector<Finding>>> (*check_file)(const std::filesystem::path& file) = nullptr;
  /// Adds options to `screenshot`, which say what is done before the picture is drawn.
  void (*screenshot)(Parser& parser, ScreenshotOptions& picture) = nullptr;
};

/// What the first tool that has it gives; null where none has.
template <class Given>
Given of_tools(Given ToolCommands::*place) {
  return of_tools(&Tool::commands, place);
}

}  // namespace headlight
