#include <algorithm>
#include <cassert>
#include <iterator>

#include "base/utf8.h"
#include "gui/actions/actions.h"
#include "gui/actions/tool_window.h"
#include "words/window_words.h"

#define HEADLIGHT_AS_TEXT(...) #__VA_ARGS__
#define HEADLIGHT_NAMES(...) HEADLIGHT_AS_TEXT(__VA_ARGS__)

namespace headlight {
namespace {

static_assert(std::size(kPaletteWords.groups) == static_cast<std::size_t>(ActionGroup::count));

/// `heads 4 → 8`: the numbers of the model that the commands change; empty where there is none.
std::string changed_numbers(const Gui& gui, std::span<const Command> pushed) {
  for (const Command& command : pushed)
    if (const auto* set = command.as<SetConfig>())
      return changed_shape(gui.state.settings.language, gui.state.document.config, set->config);
  return {};
}

/// The rows as lists have them, and where each id stands among them.
struct ActionTable {
  std::vector<Action> rows;
  std::vector<std::string_view> names_of_tools;
  std::vector<std::size_t> place_of_id;
};

ActionTable make_table() {
  ActionTable table;
  const std::span<const Action> own = viewer_actions();
  table.rows.assign(own.begin(), own.end());
  for (const Tool* tool : tools()) {
    if (!tool->window) continue;
    for (const ToolAction& added : tool->window->actions) {
      const auto before = std::ranges::find(table.rows, added.before, &Action::id);
      const auto row = table.rows.insert(before, added.row);
      row->id = static_cast<Act>(static_cast<std::size_t>(Act::count) + table.names_of_tools.size());
      table.names_of_tools.push_back(added.called);
    }
  }
  table.place_of_id.resize(table.rows.size());
  for (std::size_t i = 0; i < table.rows.size(); ++i) table.place_of_id[static_cast<std::size_t>(table.rows[i].id)] = i;
  return table;
}

const ActionTable& action_table() {
  static const ActionTable table = make_table();
  return table;
}

}  // namespace

std::span<const Action> all_actions() { return action_table().rows; }

const Action& action(Act id) {
  const ActionTable& table = action_table();
  return table.rows[table.place_of_id[static_cast<std::size_t>(id)]];
}

std::optional<Act> parse_act(std::string_view name) {
  const std::vector<std::string_view> names = split_at(',', HEADLIGHT_NAMES(HEADLIGHT_ACTS));
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].substr(i == 0 ? 0 : 1) == name) return static_cast<Act>(i);
  const auto& of_tools = action_table().names_of_tools;
  const auto found = std::ranges::find(of_tools, name);
  if (found == of_tools.end()) return std::nullopt;
  return static_cast<Act>(names.size() + static_cast<std::size_t>(found - of_tools.begin()));
}

Act act_of_tool(std::string_view name) {
  const std::optional<Act> act = parse_act(name);
  assert(act);
  return *act;
}

const Words& group_words(ActionGroup group) { return kPaletteWords.groups[static_cast<std::size_t>(group)]; }

void perform(Gui& gui, const Action& action) {
  const std::size_t before = gui.commands.size();
  action.run(gui);
  const std::span<const Command> pushed = std::span(gui.commands).subspan(before);
  const bool edits = std::ranges::any_of(
      pushed, [](const Command& command) { return command.as<EndGesture>() || command.as<SwapKept>(); });
  if (!edits) return;
  const std::string numbers = changed_numbers(gui, pushed);
  gui.push(Changed{numbers.empty() ? gui.word(action.name) : numbers});
}

std::string all_keys() {
  std::string all;
  for (const Action& action : all_actions()) all += keys_of(action.id);
  return all;
}

}  // namespace headlight
