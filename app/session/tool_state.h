// What a tool adds to the state of a window. Its values are a part of the state (AppState::parts).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "read/tokenizer/tokenizer_file.h"
#include "session/command.h"
#include "session/figure_request.h"
#include "tool/tool.h"

namespace headlight {

class Companion;     // session/loop/companion.h
class Errand;        // session/loop/errands.h
class JobThreads;    // session/loop/worker.h
struct LoopOptions;  // session/loop/loop.h
struct Finding;
struct Grammar;
struct RelationScore;

/// The function that carries out the commands of one kind.
struct Handler {
  CommandKind kind;
  void (*run)(AppState& state, Command& command);
};

/// `run` takes the state, and as it needs them the command and its kind.
template <class T, auto run>
void carry_out(AppState& state, Command& command) {
  using Run = decltype(run);
  if constexpr (std::is_invocable_v<Run, AppState&, T&, CommandKind>) run(state, *command.as<T>(), command.kind());
  else if constexpr (std::is_invocable_v<Run, AppState&, T&>) run(state, *command.as<T>());
  else if constexpr (std::is_invocable_v<Run, AppState&, CommandKind>) run(state, command.kind());
  else run(state);
}
template <class T, auto run>
constexpr Handler handler() {
  return {command_kind<T>, carry_out<T, run>};
}

struct ToolState {
  std::span<const Handler> handlers = {};          // of its commands
  std::optional<View> view = {};                   // that it fills
  bool (*fills)(const AppState& state) = nullptr;  // whether the view has something to show; null: always
  /// What its view shows, as a figure; null: the answer.
  std::shared_ptr<const ToolPicture> (*picture)(const AppState& state) = nullptr;
  /// A worker for each of its slots.
  std::vector<Errand> (*answers)(JobThreads& threads, const std::function<void()>& wake) = nullptr;
  /// What it does beside the answers for as long as a window is open.
  std::unique_ptr<Companion> (*companion)(JobThreads& threads, const std::function<void()>& wake,
                                          const LoopOptions& options) = nullptr;
  /// The command in place of opening this path; nothing: the viewer opens it.
  std::optional<Command> (*opens)(const std::string& path) = nullptr;
  /// Shows the model again that its training had at a step, where that gave the kept answer.
  void (*show_step)(AppState& state, Index step, const Document& kept) = nullptr;

  // Judgements.
  /// Whether a model was loaded right from this folder, whose ids are those of the rules. Stopped: no findings.
  std::vector<Finding> (*check_model)(const std::filesystem::path& folder, const std::shared_ptr<const Model>& model,
                                      const std::vector<Error>& warnings, Progress& progress,
                                      ClassRules rules) = nullptr;
  /// How well each layer shows each relation of the grammar. Null where it was stopped.
  Result<std::shared_ptr<const std::vector<RelationScore>>> (*measure_layers)(const std::shared_ptr<const Model>& model,
                                                                              const Grammar* grammar,
                                                                              Progress& progress) = nullptr;

  // Files of its own beside figures.
  DrawFigure (*draws)(DrawFigure figures) = nullptr;
  PreviewFigure (*previews)(PreviewFigure figures) = nullptr;
};

/// What the first tool that has it gives; null where none has.
template <class Given>
Given of_tools(Given ToolState::*place) {
  return of_tools(&Tool::state, place);
}

/// The name of the tool that fills a view; empty: the viewer does.
std::string_view tool_of(View view);
/// The tool itself; null: the viewer fills it, or this build does not have it.
const Tool* filling(View view);
/// Whether this build has the view; and whether it can be shown now.
bool is_there(View view);
bool can_show(const AppState& state, View view);
/// What the view of the state shows of a tool, as a figure; null: the answer.
std::shared_ptr<const ToolPicture> picture_of_tool(const AppState& state);
/// The command in place of opening a path, of the first tool that has one.
std::optional<Command> opened_by_tool(const std::string& path);
/// … `headlight train: this build has no train tool`: what was asked for, and the tool.
Error missing_tool(std::string_view what, std::string_view tool);

}  // namespace headlight
