// Why a word looks at another: the score of the pinned cell split over what wrote its query and its key.
#include <cmath>

#include "base/formatted.h"
#include "explain/matrix_source.h"
#include "figure/labels.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/map_view.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/texture_ids.h"
#include "session/answer_state.h"
#include "views/inside/inside_labels.h"
#include "views/inside/panel/inside.h"
#include "views/inside/panel/term_table.h"
#include "views/inside/rival_words.h"
#include "words/answer_words.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

/// The answer that is shown, with its question: perhaps an earlier one, while the present one is computed.
struct ShownSplit {
  Gui& gui;
  const WriterQuestion& question;
  const WriterSplit& all;
  bool of_now = false;

  const Trace& trace() const { return *question.trace; }
  std::string word(bool of_query) const {
    const Stack stack = question.head.stack;
    const Tokens& tokens = of_query ? trace().query_tokens(stack) : trace().key_tokens(stack);
    return gui.fonts.shown(
        axis_label(tokens.tokens[static_cast<std::size_t>(of_query ? question.cell.query : question.cell.key)]));
  }
  std::string in_words(const Words& words) const { return filled(gui.word(words), {word(true), word(false)}); }
  Way way_to(const Writer& writer, bool of_query) const {
    return of_now ? way_to_writer(trace(), writer, of_query ? question.cell.query : question.cell.key) : Way();
  }
};

std::optional<ShownSplit> shown_split(Gui& gui) {
  const auto& slot = gui.state.writers;
  const auto asked = writer_question(gui.state);
  if (!asked || slot.error_of(*asked) || !slot) return std::nullopt;
  return ShownSplit{gui, *slot.question(), *slot, *asked == *slot.question()};
}

/// The cells that were visited before this one.
void trail(Gui& gui) {
  constexpr std::size_t kMostNamed = 3;
  const auto& looked = gui.state.view.looked;
  std::string line;
  for (std::size_t i = looked.size(), named = 0; i > 0 && named < kMostNamed; --i) {
    const LookedAt& before = looked[i - 1];
    if (before.tab != InsideTab::why || !before.pinned || !gui.state.trace->has(before.head.stack)) break;
    if (before.pinned->query >= gui.state.trace->queries(before.head.stack) ||
        before.pinned->key >= gui.state.trace->keys(before.head.stack))
      break;
    if (before.head == gui.state.view.chosen && before.pinned == gui.state.view.pinned) continue;
    line += (named++ > 0 ? "  ‹  " : gui.word(kInsideWords.trail)) + head_words(gui, before.head) + " " +
            query_label(gui, before.pinned->query, before.head.stack) + " → " +
            key_label(gui, before.pinned->key, before.head.stack);
  }
  if (line.empty()) return;
  const FontScope small(gui, TextSize::small);
  cut_text(gui, line, gui.colours().dim, ImGui::GetContentRegionAvail().x);
  gui.name_item("trail", BoxKind::label);
}

void terms(const ShownSplit& shown) {
  const ScoreSplit& split = shown.all.split;
  const auto term = [&](std::size_t i) -> const ScoreTerm& { return split.terms[shown.all.order[i]]; };
  const auto part = [&](const Writer& writer, bool of_query) {
    return TermPart{writer_in(shown.gui.state.settings.language, writer), shown.way_to(writer, of_query), true};
  };
  const auto line = [&](std::size_t i) {
    TermLine words{.from = part(term(i).query, true), .times = part(term(i).key, false)};
    words.addend = term_text(term(i).value);
    return words;
  };
  const auto heading = [&](const Words& words, bool of_query) {
    return TermPart{filled(shown.gui.word(words), {shown.word(of_query)})};
  };
  term_table(shown.gui, split.terms.size(), {true, true},
             [&](std::size_t i) { return static_cast<float>(term(i).value); }, line,
             {.from = heading(kInsideWords.in_query, true), .times = heading(kInsideWords.in_key, false)});
}

/// Why this word and not its strongest rival: few lines, each with what the weights are without it.
void rivals_table(const ShownSplit& shown) {
  Gui& gui = shown.gui;
  const std::vector<Rivals::Line>& lines = shown.all.rivals->lines;
  const RivalWords text =
      rivals_in_words(gui.state.settings.language, shown.trace(), shown.question.head.stack, *shown.all.rivals);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(gui.fonts.shown(text.title).c_str());
  ImGui::PopTextWrapPos();
  gui.name_item("rivals", BoxKind::label);
  const FontScope small(gui, TextSize::small);
  wrapped_dim(gui, text.carried);
  if (!ImGui::BeginTable("rivals", 3, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("writer", ImGuiTableColumnFlags_WidthStretch);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    cut_text(gui, text.lines[i].text, gui.colours().text, ImGui::GetContentRegionAvail().x);
    gui.name_item("rival line " + std::to_string(i), BoxKind::label);
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(gui.fonts.shown(text.lines[i].favours).c_str());
    ImGui::TableNextColumn();
    const std::string& off = text.lines[i].off;
    if (off.empty()) continue;
    ImGui::PushID(static_cast<int>(i));
    const Writer& writer = *lines[i].writer;
    const bool head = writer.kind == WriterKind::head;
    if (head && flat_button(gui, ("rival off " + std::to_string(i)).c_str(), off.c_str()))
      gui.push_once(SwitchHead{writer.head, true});
    if (!head) dim_text(gui, off);
    explain_item(
        gui, filled(gui.word(kInsideWords.tip_rival_off), {gui.fonts.shown(text.word), gui.fonts.shown(text.rival)}));
    ImGui::PopID();
  }
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  dim_text(gui, gui.word(kInsideWords.rival_rest));
  ImGui::TableNextColumn();
  dim_text(gui, gui.fonts.shown(text.rest));
  ImGui::EndTable();
}

/// A click on a cell of the map goes to the head that wrote the key, or else the query.
Way way_of_cell(const ShownSplit& shown, const CellRef& cell) {
  const auto of = [&](const WriterAxis& axis, Index at, bool of_query) {
    const auto i = static_cast<std::size_t>(at);
    return i < axis.writers.size() ? shown.way_to(axis.writers[i], of_query) : Way();
  };
  const Way key = of(shown.all.keys, cell.key, false);
  return key ? key : of(shown.all.queries, cell.query, true);
}

}  // namespace

void writer_list(Gui& gui) {
  const AppState& state = gui.state;
  const auto asked = writer_question(state);
  if (!asked) return dim_text(gui, gui.word(kInsideWords.pin_for_steps));
  back_button(gui);
  ImGui::SameLine(0, 10 * gui.unit);
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted((head_words(gui, asked->head) + "   " + cell_in_words(gui, asked->head, asked->cell)).c_str());
  trail(gui);
  if (const Error* error = state.writers.error_of(*asked)) {
    wrapped_dim(gui, plain_lines(gui, *error));
    return gui.name_item("no terms", BoxKind::label);
  }
  const auto shown = shown_split(gui);
  if (!shown) return dim_text(gui, gui.word(kAnswerWords.computing));
  if (shown->all.rivals && shown->of_now) rivals_table(*shown);
  const ScoreSplit& split = shown->all.split;
  std::string line = filled(gui.word(kInsideWords.score_and_sum),
                            {sum_text(split.score), std::to_string(split.terms.size()), sum_text(split.sum)});
  if (split.blocked) line += gui.word(kInsideWords.before_mask);
  ImGui::TextUnformatted(line.c_str());
  gui.name_item("score and sum", BoxKind::label);
  terms(*shown);
}

void writers_panel(Gui& gui) {
  if (answer_state(gui.state).kind != AnswerState::Kind::shown) return;
  const auto shown = shown_split(gui);
  if (!shown) return;
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  wrapped_small(gui, shown->in_words(kInsideWords.map_of_writers), gui.colours().text);
  const float text = ImGui::GetCursorScreenPos().y + 6 * gui.unit - at.y, below = 3 * gui.fonts.pixels(TextSize::small);
  const Language language = gui.state.settings.language;
  const std::vector<Token> rows = writer_labels(language, shown->all.queries),
                           columns = writer_labels(language, shown->all.keys);
  const PointedCell pointed = named_map(gui,
                                        {.name = "writers",
                                         .rows = rows,
                                         .columns = columns,
                                         .values = shown->all.sums,
                                         .version = writers_version(gui.state),
                                         .scale = writers_scale(gui.state.settings.theme, shown->all),
                                         .opacity = shown->of_now && !is_stale(gui.state) ? 1.0f : kStaleOpacity},
                                        {at.x, at.y + text, room.x, room.y - text - below});
  if (pointed.cell) {
    const Way way = way_of_cell(*shown, *pointed.cell);
    std::string tip = rows[static_cast<std::size_t>(pointed.cell->query)].text + " × " +
                      columns[static_cast<std::size_t>(pointed.cell->key)].text + "  " +
                      term_text(double(shown->all.sums(pointed.cell->query, pointed.cell->key)));
    if (way) {
      LookAt there = way();
      tip += "\n" + filled(gui.word(kInsideWords.goes_to_writer), {head_words(gui, head_ref(there.look.matrix))});
      if (pointed.clicked) gui.push(std::move(there));
    }
    show_tip(gui, tip);
  }
  if (!gui.state.trace->model->given) wrapped_dim(gui, gui.word(kInsideWords.norms_frozen));
}

}  // namespace headlight
