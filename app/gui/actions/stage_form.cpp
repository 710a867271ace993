// The form of the stage, and moving over its sentence.
#include <algorithm>

#include "gui/actions/look.h"
#include "session/shown.h"

namespace headlight {

void move_in_sentence(Gui& gui, Index heads, Index words) {
  const auto content = shown_sentence(gui.state);
  if (!content) return;
  const auto last = std::ssize(content->queries) - 1;
  if (words != 0) {
    const auto arc = content->heaviest_of(std::clamp<Index>(content->query + words, 0, last));
    if (arc) pin_arc(gui, *arc);
    return;
  }
  struct Choice {
    const SentenceHead* head;
    Index key;
    float weight;
  };
  std::vector<Choice> choices;
  for (const SentenceHead& head : content->heads) {
    Choice one{&head, 0, -1};
    for (Index key = 0; key < std::ssize(content->keys); ++key)
      if (const float weight = SentenceContent::weight(head, content->query, key); weight > one.weight)
        one.key = key, one.weight = weight;
    if (!head.off) choices.push_back(one);
  }
  std::ranges::stable_sort(choices, [](const Choice& a, const Choice& b) { return a.weight > b.weight; });
  const auto now =
      std::ranges::find_if(choices, [&](const Choice& one) { return one.head->head == gui.state.view.chosen; });
  const auto at =
      std::clamp<std::ptrdiff_t>(now == choices.end() ? 0 : now - choices.begin() + heads, 0, std::ssize(choices) - 1);
  if (choices.empty()) return;
  const Choice& to = choices[static_cast<std::size_t>(at)];
  pin_arc(gui, content->arc_of(*to.head, content->query, to.key));
}

void show_form(Gui& gui, StageForm form) {
  gui.push(ShowView{View::heads});
  if (form != StageForm::map) {
    gui.push(ShowMaps{MapKind::weights});
    gui.push(SetPainting{false});
    gui.push(SetViewport{});
  }
  change_text_look(gui, [&](TextLook& look) { look.form = form; });
}

void step_form(Gui& gui) {
  if (shows_picture(gui.state))
    return show_form(gui, stage_form(gui.state) == StageForm::map ? StageForm::text : StageForm::map);
  const auto next = static_cast<StageForm>((static_cast<int>(stage_form(gui.state)) + 1) % 3);
  show_form(gui, next == StageForm::sentence && !offers_sentence(gui.state) ? StageForm::map : next);
}

std::optional<SentenceContent> shown_sentence(const AppState& state) {
  if (stage_form(state) != StageForm::sentence) return std::nullopt;
  const HeadRef& chosen = state.view.chosen;
  auto content =
      sentence_content(*state.trace, shown_fold(state, chosen.stack), arcs_of(state), chosen, state.view.pinned);
  if (content && !state.view.pinned) {
    const FoldedStack* folded = shown_fold(state, chosen.stack);
    const CellRef strongest = pinned_or_strongest(state);
    content->query = folded ? folded->fold.queries.group(strongest.query).value_or(0) : strongest.query;
  }
  return content;
}

void pin_arc(Gui& gui, const SentenceArc& arc) {
  if (!(gui.state.view.chosen == arc.head)) gui.push(ChooseHead{arc.head});
  gui.push(Pin{arc.cell});
}

}  // namespace headlight
