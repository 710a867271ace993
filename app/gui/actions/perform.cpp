#include <algorithm>
#include <iterator>

#include "gui/actions/actions.h"

#include "words/window_words.h"

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

}  // namespace

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
