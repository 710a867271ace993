// The tab Lens: the guess after each layer, and what each head and feed-forward adds to a word.
#include <algorithm>

#include "base/formatted.h"
#include "figure/labels.h"
#include "gui/actions/look.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/map_view.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/scene.h"
#include "gui/frame/texture_ids.h"
#include "session/answer_state.h"
#include "views/inside/inside_labels.h"
#include "views/inside/panel/inside.h"
#include "views/inside/panel/term_table.h"
#include "words/answer_words.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

/// The answer, perhaps to the question before.
struct ShownLens {
  const LensQuestion& question;
  const LayerLens& lens;
  bool of_now = false;
};

std::optional<ShownLens> shown_lens(const AppState& state) {
  const auto asked = lens_question(state);
  if (!asked || state.lens.error_of(*asked) || !state.lens) return std::nullopt;
  return ShownLens{*state.lens.question(), *state.lens, state.lens.question() == asked && !is_stale(state)};
}

/// The two words: what is split, and whose logit is taken from it.
void word_boxes(Gui& gui) {
  LensWords words = gui.state.view.lens;
  const float width = 120 * gui.unit;
  ImGui::AlignTextToFramePadding();
  dim_text(gui, gui.word(kInsideWords.lens_word));
  ImGui::SameLine(0, 6 * gui.unit);
  bool changed = word_box(gui, "lens word", kInsideWords.most_probable, words.word, width);
  explain_item(gui, kInsideWords.tip_lens_word);
  ImGui::SameLine(0, 6 * gui.unit);
  dim_text(gui, "−");
  ImGui::SameLine(0, 6 * gui.unit);
  changed |= word_box(gui, "lens minus", kInsideWords.no_word, words.minus, width);
  explain_item(gui, kInsideWords.tip_lens_minus);
  if (changed) gui.push(SetLens{std::move(words)});
}

void terms(Gui& gui, const ShownLens& shown) {
  const LogitSplit& split = *shown.lens.split;
  const auto term = [&](std::size_t i) -> const LogitTerm& { return split.terms[shown.lens.order[i]]; };
  const auto line = [&](std::size_t i) {
    TermLine words{.from = {writer_in(gui.state.settings.language, term(i).from)}};
    words.from.as_link = true;
    if (shown.of_now)
      words.from.leads_to = way_to_writer(*shown.question.trace, term(i).from, shown.lens.query, InsideTab::why);
    words.addend = term_text(term(i).value);
    return words;
  };
  term_table(
      gui, split.terms.size(), {.addends = true}, [&](std::size_t i) { return static_cast<float>(term(i).value); },
      line);
}

/// The cell of the table under a point.
std::optional<CellRef> cell_under(const Box& plot, const LayerLens& lens, ImVec2 point) {
  if (!plot.contains(point.x, point.y)) return std::nullopt;
  const auto at = [](float from, float size, Index count) {
    return std::min(static_cast<Index>(from / size * static_cast<float>(count)), count - 1);
  };
  return CellRef{at(point.y - plot.y, plot.h, lens.probabilities.rows()),
                 at(point.x - plot.x, plot.w, lens.probabilities.cols())};
}

/// A click looks at the token of the column, and splits the word of the cell.
void click(Gui& gui, const LayerLens& lens, const CellRef& cell) {
  const AppState& state = gui.state;
  const Candidate& word = lens.cells[static_cast<std::size_t>(cell.query)][static_cast<std::size_t>(cell.key)];
  LensWords words = state.view.lens;
  words.word = find_word(*lens.trace->model, word.text) == word.row ? word.text : std::to_string(word.id);
  gui.push(SetLens{std::move(words)});
  if (!lens.ranks && state.view.chosen.stack != Stack::encoder)
    gui.push(Pin{cell_of_word(state, true, lens.first + cell.key)});
}

}  // namespace

void lens_list(Gui& gui) {
  const AppState& state = gui.state;
  const bool of_picture = reads_picture(state.document);
  if (!can_say_words(state))
    return wrapped_dim(gui, gui.word(of_picture ? kInsideWords.no_classes : kInsideWords.no_vocabulary));
  back_button(gui);
  ImGui::SameLine(0, 10 * gui.unit);
  word_boxes(gui);
  const auto asked = lens_question(state);
  if (!asked) return;
  if (const Error* error = state.lens.error_of(*asked)) return wrapped_dim(gui, plain_lines(gui, *error));
  const auto shown = shown_lens(state);
  if (!shown) return dim_text(gui, gui.word(kAnswerWords.computing));
  if (shown->lens.problem) {
    wrapped_dim(gui, plain_lines(gui, *shown->lens.problem));
    return gui.name_item("no terms", BoxKind::label);
  }
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(gui.fonts.shown(logit_line(state.settings.language, shown->lens)).c_str());
  ImGui::PopTextWrapPos();
  gui.name_item("logit and sum", BoxKind::label);
  terms(gui, *shown);
}

void lens_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (answer_state(state).kind != AnswerState::Kind::shown) return;
  const auto shown = shown_lens(state);
  if (!shown) return;
  const LayerLens& lens = shown->lens;
  wrapped_small(gui, gui.fonts.shown(lens_title(state.settings.language, lens)), gui.colours().text);
  gui.name_item("lens title", BoxKind::label);
  const TextWidth measure = window_measure(gui);
  const InsideStyle style = inside_style(gui, measure);
  const float below = 3 * gui.fonts.pixels(TextSize::small);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  Drawing scene;
  const Box plot = add_lens(scene, style, state.settings.colours, lens, {at.x, at.y, room.x, room.y - below});
  paint_scene(gui, scene, {.opacity = shown->of_now ? 1.0f : kStaleOpacity, .version = [&](std::size_t) {
                             return lens_version(state);
                           }});
  ImGui::SetCursorScreenPos(top_left(plot));
  const bool clicked = ImGui::InvisibleButton("lens", {plot.w, plot.h});
  gui.name_box("lens", plot, BoxKind::map);
  if (const auto cell = cell_under(plot, lens, ImGui::GetIO().MousePos); cell && ImGui::IsItemHovered()) {
    const Candidate& word = lens.cells[static_cast<std::size_t>(cell->query)][static_cast<std::size_t>(cell->key)];
    show_tip(gui, "L" + std::to_string(cell->query) + "  " + gui.fonts.shown(word.text) + "  " +
                      percent(word.probability) + "\n" + gui.word(kInsideWords.tip_lens));
    if (clicked) click(gui, lens, *cell);
  }
  ImGui::SetCursorScreenPos({at.x, plot.bottom() + 8 * gui.unit});
  wrapped_dim(gui, gui.word(kInsideWords.norms_frozen));
}

}  // namespace headlight
