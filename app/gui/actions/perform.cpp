#include <algorithm>
#include <iterator>

#include "gui/actions/actions.h"
#include "words/model_words.h"

namespace headlight {
namespace {

// clang-format off
constexpr Words kGroups[] = {{"Views", "视图"}, {"Heads and cells", "头与单元格"}, {"Sentence and mask", "句子与掩码"},
                             {"Model", "模型"},
                             {"Training", "训练"}, {"Lessons", "课程"}, {"Files", "文件"}, {"Window", "窗口"}};
// clang-format on
static_assert(std::size(kGroups) == static_cast<std::size_t>(ActionGroup::count));

/// `heads 4 → 8`: a number of the model that the commands change; empty where there is none.
std::string changed_number(const Gui& gui, std::span<const Command> pushed) {
  const Config& before = gui.state.document.config;
  const std::pair<const Words&, Index Config::*> numbers[] = {{kModelWords.heads, &Config::num_heads},
                                                              {kModelWords.d_model, &Config::d_model},
                                                              {kModelWords.layers, &Config::num_layers},
                                                              {kModelWords.feed_forward, &Config::ffn}};
  for (const Command& command : pushed) {
    const auto* set = command.as<SetConfig>();
    if (!set) continue;
    std::string text;
    const auto add = [&](const Words& name, const std::string& from, const std::string& to) {
      if (from != to) text += (text.empty() ? "" : ", ") + std::string(gui.word(name)) + " " + from + " → " + to;
    };
    for (const auto& [name, field] : numbers)
      add(name, std::to_string(before.*field), std::to_string(set->config.*field));
    add(kModelWords.seed, std::to_string(before.seed), std::to_string(set->config.seed));
    return text;
  }
  return {};
}

}  // namespace

const Words& group_words(ActionGroup group) { return kGroups[static_cast<std::size_t>(group)]; }

void perform(Gui& gui, const Action& action) {
  const std::size_t before = gui.commands.size();
  action.run(gui);
  const std::span<const Command> pushed = std::span(gui.commands).subspan(before);
  const bool edits = std::ranges::any_of(
      pushed, [](const Command& command) { return command.as<EndGesture>() || command.as<SwapKept>(); });
  if (!edits) return;
  const std::string number = changed_number(gui, pushed);
  gui.push(Changed{number.empty() ? gui.word(action.name) : number});
}

std::string all_action_words() {
  std::string all;
  for (const Words& group : kGroups) all.append(group.en).append(group.zh);
  for (const Action& action : all_actions())
    all.append(action.name.en).append(action.name.zh).append(keys_of(action.id));
  return all;
}

}  // namespace headlight
