#include "views/heads/panel/derived_maps.h"

#include "figure/map_kinds.h"
#include "gui/actions/actions.h"
#include "gui/frame/looks.h"
#include "gui/frame/stacks.h"
#include "session/shown.h"
#include "words/answer_words.h"
#include "words/grid_words.h"

namespace headlight {
namespace {

/// In the order of MapKind.
constexpr const Words* kKindWords[] = {&kMapWords.weight_maps,   &kMapWords.norm_maps,    &kMapWords.rollout_maps,
                                       &kMapWords.mean_maps,     &kMapWords.largest_maps, &kMapWords.sum_maps,
                                       &kMapWords.strongest_maps};
static_assert(std::size(kKindWords) == std::size(kMapKindNames));

/// Why the chosen head's stack has no maps of this kind.
std::optional<MapUnavailable> why_not_here(const AppState& state, MapKind kind) {
  return why_not(*state.trace, state.view.chosen.stack, kind);
}

}  // namespace

const char* map_kind_word(const Gui& gui, MapKind kind) {
  return gui.word(*kKindWords[static_cast<std::size_t>(kind)]);
}

void map_kind_lines(Gui& gui) {
  const AppState& state = gui.state;
  if (!state.trace) return;
  const Language language = state.settings.language;
  for (std::size_t i = 0; i < std::size(kKindWords); ++i) {
    const auto kind = static_cast<MapKind>(i);
    if (i == kPlainKinds) {
      ImGui::Separator();
      const FontScope small(gui, TextSize::small);
      dim_text(gui, gui.word(kMapWords.reduce));
    }
    const auto why = why_not_here(state, kind);
    const std::string called = "maps " + std::string(name(kind));
    ImGui::PushStyleVar(ImGuiStyleVar_Alpha, ImGui::GetStyle().Alpha * (why ? 0.5f : 1.0f));
    if (menu_line(gui, called.c_str(), map_kind_word(gui, kind), {}, state.view.maps == kind)) gui.push(ShowMaps{kind});
    ImGui::PopStyleVar();
    explain_item(gui, why ? why_not_line(language, kind, *why)
                          : std::string(kind_line(language, kind)) + "\n" + kind_formula(language, kind) + "\n" +
                                with_keys(gui, kMapWords.tip_map_kinds, {Act::next_maps, Act::previous_maps}));
  }
  const FontScope small(gui, TextSize::small);
  dim_text(gui, gui.word(kMapWords.reduce_further));
}

std::string map_kind_words(const Gui& gui) {
  const AppState& state = gui.state;
  const MapKind kind = wanted_kind(state);
  if (!state.trace || kind == MapKind::weights) return {};
  const Language language = state.settings.language;
  if (const auto why = why_not_here(state, kind)) return why_not_line(language, kind, *why);
  const MapKind shown = shown_kind(state, state.view.chosen.stack);
  if (shown == kind) return kind_line(language, kind);
  return std::string(map_kind_word(gui, kind)) + ": " + gui.word(kAnswerWords.computing);
}

std::string map_title(const Gui& gui, const HeadRef& head) {
  if (!is_of_layers(shown_kind(gui.state, head.stack))) return head_words(gui, head);
  const Language language = gui.state.settings.language;
  std::string title =
      layer_title(language, head.layer) + " · " + number_title(language, shown_kind(gui.state, head.stack));
  return gui.state.trace->encoder ? std::string(stack_word(gui, head.stack)) + " · " + title : title;
}

const char* row_words(const Gui& gui, MapKind kind) {
  if (kind == MapKind::weights || reduced_by(kind)) return gui.word(kAnswerWords.row_of);
  return gui.word(kind == MapKind::norms ? kMapWords.what_it_takes : kMapWords.what_it_contains);
}

std::vector<HeadRef> layers_of(const AppState& state) {
  std::vector<HeadRef> layers;
  const HeadRef& chosen = state.view.chosen;
  for (Index layer = 0; layer < state.trace->num_layers(chosen.stack); ++layer)
    layers.push_back({layer, chosen.head, chosen.stack});
  return layers;
}

}  // namespace headlight
