// Take from A: which parts of A, put into B, bring A's answer back. A map of shares, filled row by row.
#include <cmath>

#include "base/formatted.h"
#include "derived/head_stats.h"
#include "derived/writer_split.h"
#include "figure/figure.h"
#include "figure/labels.h"
#include "gui/actions/actions.h"
#include "gui/actions/look.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/frame/map_view.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/texture_ids.h"
#include "session/shown.h"
#include "views/compare/panel/compare.h"
#include "words/answer_words.h"
#include "words/compare_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

void set_form(Gui& gui, PatchForm form) {
  PatchLook look = gui.state.view.patch;
  look.form = form, look.stopped = false;
  gui.push(SetPatch{std::move(look)});
}

void forms(Gui& gui) {
  const PatchLook& now = gui.state.view.patch;
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < std::size(kPatchForms); ++i)
    segments.push_back({"patch " + std::string(kPatchForms[i]), gui.word(kCompareWords.patch_forms[i]),
                        now.form == static_cast<PatchForm>(i), gui.word(kCompareWords.tip_patch_forms[i])});
  if (const auto pressed = segmented(gui, segments)) set_form(gui, static_cast<PatchForm>(*pressed));
}

/// What is compared: a number, its words, and the word of the sentence where they are read.
void measured_by(Gui& gui) {
  if (!gui.state.trace) return;
  const ViewState& view = gui.state.view;
  PatchLook look = view.patch;
  const Metric now = look.metric.value_or(gui.state.patch ? gui.state.patch->metric : Metric::logit_difference);
  std::vector<Segment> metrics;
  for (std::size_t i = 0; i < std::size(kMetricNames); ++i)
    metrics.push_back({"metric " + std::string(kMetricNames[i]), gui.word(kCompareWords.metric_names[i]),
                       now == static_cast<Metric>(i), gui.word(kCompareWords.tip_metrics[i])});
  if (const auto pressed = segmented(gui, metrics)) look.metric = static_cast<Metric>(*pressed);
  const auto box = [&](const char* name, const Words& hint, const Words& tip, std::string& word) {
    ImGui::SameLine(0, 6 * gui.unit);
    word_box(gui, name, hint, word, 110 * gui.unit);
    explain_item(gui, tip);
  };
  if (now != Metric::kl) box("patch word", kCompareWords.right_word, kCompareWords.tip_right_word, look.words.word);
  if (now == Metric::logit_difference)
    box("patch minus", kCompareWords.wrong_word, kCompareWords.tip_wrong_word, look.words.minus);
  if (view.pinned && view.chosen.stack != Stack::encoder) {
    const bool pinned = patch_measure(view, *gui.state.trace).query.has_value();
    const std::string there =
        filled(gui.word(kCompareWords.at_pinned), {query_label(gui, view.pinned->query, view.chosen.stack)});
    ImGui::SameLine(0, 6 * gui.unit);
    const auto pressed = segmented(
        gui, {{"patch at answer", gui.word(kCompareWords.at_answer), !pinned, gui.word(kCompareWords.tip_at_answer)},
              {"patch at pinned", there.c_str(), pinned, gui.word(kCompareWords.tip_at_pinned)}});
    if (pressed) look.at_pinned = *pressed == 1;
  }
  look.stopped = look.stopped && look == view.patch;
  if (!(look == view.patch)) gui.push(SetPatch{std::move(look)});
}

/// How far it is, how long the rest takes, and a button that stops it or goes on.
void progress_line(Gui& gui, const PatchMap& map) {
  const PatchLook& look = gui.state.view.patch;
  ImGui::ProgressBar(static_cast<float>(map.known) / static_cast<float>(map.rows()),
                     {120 * gui.unit, ImGui::GetFrameHeight()});
  gui.name_item("patch progress", BoxKind::label);
  ImGui::SameLine(0, 8 * gui.unit);
  PatchLook other = look;
  other.stopped = !look.stopped;
  const Words& label = look.stopped ? kCompareWords.patch_go_on : kWindowWords.cancel;
  if (flat_button(gui, look.stopped ? "patch go on" : "cancel patch", gui.word(label))) gui.push(SetPatch{other});
  if (look.stopped || map.known == 0) return;
  const double left = map.seconds / static_cast<double>(map.known) * static_cast<double>(map.rows() - map.known);
  ImGui::SameLine(0, 8 * gui.unit);
  ImGui::AlignTextToFramePadding();
  dim_text(gui, filled(gui.word(kCompareWords.patch_time_left), {formatted("%.0f", std::ceil(left))}));
}

/// A patched cell in words, and the share of the metric that it restores.
std::string cell_text(Gui& gui, const Token& row, const Token& column, float restored) {
  return gui.fonts.shown(axis_label(row)) + " · " + gui.fonts.shown(axis_label(column)) + "   " +
         typeset(formatted("%+.1f", 100 * double(restored))) + " %";
}

/// Goes to why a head looks where it does at this token; of a layer's residual stream to the map of its heads.
void go_to(Gui& gui, const PatchMap& map, const CellRef& cell) {
  const HeadRef head = map.head_of(cell);
  if (map.choice.form == PatchForm::residual) {
    gui.push(ChooseHead{head});
    return set_form(gui, PatchForm::tokens);
  }
  const Trace& trace = *gui.state.trace;
  const bool of_token = map.choice.form == PatchForm::tokens;
  const Index token = of_token ? map.tokens[static_cast<std::size_t>(cell.key)] : 0;
  const CellRef at =
      of_token ? cell_of_writer(trace, {WriterKind::head, head}, token)->cell : strongest_cell(trace, head);
  gui.push(LookAt{look_of_weight(head, at), at, InsideTab::why});
  gui.push(ShowView{View::inside});
}

}  // namespace

void patch_panel(Gui& gui) {
  const AppState& state = gui.state;
  forms(gui);
  const auto asked = patch_question(state);
  const PatchMap* map = state.patch.get();
  const bool of_now = asked && map && map->is_of(asked->a, asked->b, asked->choice);
  ImGui::SameLine(0, 16 * gui.unit);
  if (of_now && !map->is_whole()) progress_line(gui, *map);
  else ImGui::NewLine();
  measured_by(gui);
  if (!asked) return dim_text(gui, gui.word(kAnswerWords.computing));
  if (const Error* error = state.patch.error_of(*asked)) {
    Error shown = *error;
    if (shown.where == "--from") shown.where = "B";  // as the window calls the question that is patched
    wrapped_dim(gui, plain_lines(gui, shown));
    return gui.name_item("no patch", BoxKind::label);
  }
  const auto b = map ? map->b.lock() : nullptr;
  if (!map || !b) return dim_text(gui, gui.word(kAnswerWords.computing));
  wrapped_small(gui, gui.fonts.shown(patch_line(state.settings.language, *map)), gui.colours().text);
  gui.name_item("patch metric", BoxKind::label);
  const std::vector<Token> rows = patch_rows(*map), columns = patch_columns(*map, *b);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float below = 3 * gui.fonts.pixels(TextSize::small);
  const PointedCell pointed = named_map(gui,
                                        {.name = "patch",
                                         .rows = rows,
                                         .columns = columns,
                                         .values = map->restored,
                                         .version = patch_version(state),
                                         .scale = patch_scale(state.settings.theme, *map),
                                         .opacity = of_now && !is_stale(state) ? 1.0f : kStaleOpacity},
                                        {at.x, at.y + 6 * gui.unit, room.x, room.y - below});
  if (pointed.cell && pointed.cell->query < map->known) {
    const auto [row, column] = *pointed.cell;
    const Words& leads_to =
        map->choice.form == PatchForm::residual ? kCompareWords.patch_to_heads : kCompareWords.patch_to_why;
    show_tip(gui, cell_text(gui, rows[static_cast<std::size_t>(row)], columns[static_cast<std::size_t>(column)],
                            map->restored(row, column)) +
                      "\n" + gui.word(leads_to));
    if (pointed.clicked && of_now) go_to(gui, *map, *pointed.cell);
  }
  wrapped_dim(gui, gui.word(kCompareWords.patch_hint));
}

}  // namespace headlight
