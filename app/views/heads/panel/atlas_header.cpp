// Above the atlas: what is shown of the heads, in which order, and what the maps are.
#include <algorithm>

#include "gui/actions/actions.h"
#include "gui/actions/buttons.h"
#include "gui/actions/look.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/frame/map_view.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/special_columns.h"
#include "gui/frame/stacks.h"
#include "session/answer_state.h"
#include "session/head_grid.h"
#include "session/shown.h"
#include "views/heads/panel/derived_maps.h"
#include "views/heads/panel/grid_parts.h"
#include "views/heads/panel/heads.h"
#include "views/heads/panel/stage_parts.h"
#include "words/answer_words.h"
#include "words/chosen_head_words.h"
#include "words/grid_words.h"
#include "words/head_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

const Words& grid_word(GridShow show) {
  switch (show) {
    case GridShow::maps: return kGridWords.grid_maps;
    case GridShow::all: return kGridWords.grid_all;
    case GridShow::relations: return kGridWords.grid_relations;
  }
  return kGridWords.grid_maps;
}

/// `Maps · weights`
std::string shown_label(const Gui& gui) {
  if (shown_grid(gui.state) == GridShow::relations) return gui.word(kGridWords.grid_relations);
  return std::string(gui.word(grid_word(shown_grid(gui.state)))) + " · " + map_kind_word(gui, gui.state.view.maps);
}

/// The ways in which the heads can be shown.
void grid_lines(Gui& gui) {
  const struct {
    GridShow show;
    const char* name;
    const Words& tip;
  } ways[] = {{GridShow::maps, "grid maps", kGridWords.tip_grid_maps},
              {GridShow::all, "grid all", kGridWords.tip_grid_all},
              {GridShow::relations, "grid relations", kGridWords.tip_grid_relations}};
  for (const auto& way : ways) {
    if (way.show == GridShow::all && !has_more_heads(gui.state)) continue;
    if (menu_line(gui, way.name, gui.word(grid_word(way.show)), {}, shown_grid(gui.state) == way.show))
      gui.push(ShowGrid{way.show});
    explain_item(gui, way.tip, {Act::next_grid});
  }
}

/// The menu chooses how heads are shown, the kind of numbers, and the tokens that are folded.
void shown_menu(Gui& gui, const std::string& label) {
  const ViewState& view = gui.state.view;
  const FoldChoice usual_fold{.special = view.fold.special, .words = view.fold.words};  // both at the start
  const bool usual =
      shown_grid(gui.state) == GridShow::maps && view.maps == MapKind::weights && view.fold == usual_fold;
  if (menu_button(gui, "shown menu", label.c_str(), !usual)) ImGui::OpenPopup("shown");
  if (!begin_menu_below(gui, "shown")) return;
  if (view.view == View::heads) {
    grid_lines(gui);
    ImGui::Separator();
  }
  if (menu_line(gui, "find heads", gui.word(kHeadOrderWords.find_heads), {}, view.find.on)) begin_search(gui);
  explain_item(gui, kHeadOrderWords.tip_find, {Act::find_heads});
  ImGui::Separator();
  map_kind_lines(gui);
  {
    const FontScope small(gui, TextSize::small);
    fold_switches(gui, false);
  }
  ImGui::EndPopup();
}

/// How many heads are shown, and the way to the others, or back.
struct HeadsTitle {
  std::string title, link = {};
  bool part = false;
};

HeadsTitle heads_title(const Gui& gui) {
  const AppState& state = gui.state;
  const std::size_t count = heads_of(*state.trace, state.view.chosen.stack).size(), shown = gui.shown_heads.size();
  if (is_of_layers(shown_kind(state, state.view.chosen.stack)))
    return {
        filled(gui.word(kGridWords.all_layers), {std::to_string(state.trace->num_layers(state.view.chosen.stack))})};
  if (shown > 0)
    return {filled(gui.word(kGridWords.some_heads), {std::to_string(shown), std::to_string(count)}),
            filled(gui.word(kGridWords.more_heads), {std::to_string(count - shown)}), true};
  const bool all = shown_grid(state) == GridShow::all;
  if (count == 1) return {gui.word(kGridWords.one_head)};
  return {filled(gui.word(kGridWords.all_heads), {std::to_string(count)}), all ? gui.word(kGridWords.fewer_heads) : ""};
}

/// In this room; the link is left out last.
void draw_heads_title(Gui& gui, float room) {
  const auto [title, link, part] = heads_title(gui);
  const auto width = [](const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x; };
  const float gap = 10 * gui.unit, of_link = link.empty() ? 0 : width(link) + gap;
  if (width(title) + of_link <= room) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(title.c_str());
    gui.name_item("atlas title", BoxKind::label);
    if (part) explain_item(gui, kGridWords.tip_some_heads);
    ImGui::SameLine(0, gap);
  }
  if (link.empty() || width(link) > room) return;
  if (link_button(gui, "more heads", link.c_str())) gui.push(ShowGrid{part ? GridShow::all : GridShow::maps});
  if (part) explain_item(gui, kGridWords.tip_more_heads, {Act::next_grid});
  else explain_item(gui, kGridWords.tip_fewer_heads);
}

/// The meaning of a dot of the atlas that stands for several cells.
std::string pooled_words(const Gui& gui) {
  const AppState& state = gui.state;
  if (!state.trace) return {};
  const MapContent content = whole_content(state, state.view.chosen);
  const Index rows = content.region.num_queries, columns = content.region.num_keys;
  if (std::max(rows, columns) <= kThumbnail || content.grid) return {};
  return std::to_string(rows) + " × " + std::to_string(columns) + ": " +  // what is folded cannot be zoomed
         gui.word(content.folded || shows_text(gui.state) ? kAnswerWords.pooled_folded : kAnswerWords.pooled);
}

/// One line states the problem, else the changes of the maps, else their meaning; the tooltip has all of it.
void note_line(Gui& gui) {
  const AppState& state = gui.state;
  ImU32 colour = gui.colours().dim;
  std::string line, whole;
  if (const Error* problem = problem_of(state)) {
    line =
        plain_line(gui, *problem) + (state.trace ? std::string(" — ") + gui.word(kAnswerWords.stale) : std::string());
    whole = problem->message();
    colour = gui.colours().warning;
    const auto button = [](Gui& at, const char* name, const char* label) { return flat_button(at, name, label); };
    if (read_first_button(gui, button)) ImGui::SameLine(0, 8 * gui.unit);
  } else if (state.trace && !state.trace->warnings.empty()) {
    for (const Error& warning : state.trace->warnings) {
      line += (line.empty() ? "" : "  ") + plain_line(gui, warning);
      whole += (whole.empty() ? "" : "\n") + warning.message();
    }
    colour = gui.colours().caution;
  } else if (shown_grid(state) == GridShow::relations) {
    if (known_layer_scores(state)) line = gui.word(kGridWords.relations_of_layers);
  } else if (const std::string kind = map_kind_words(gui); !kind.empty()) {
    line = kind;
  } else if (const std::string pooled = pooled_words(gui); !pooled.empty()) {
    line = pooled;
  } else if (has_one_word(state)) {
    line = gui.word(kFailureWords.one_word);
  } else if (shown_grids(state)) {
    line = gui.word(kTextWords.what_is_a_picture);
  } else if (greeting(gui)) {
    return;
  } else if (const auto folds = folds_in_words(gui); !folds.empty()) {
    line = whole_sentences(folds, ImGui::GetContentRegionAvail().x);
  } else if (state.trace) {
    std::vector<std::string> sentences;
    for (const Words& sentence : kChosenHeadWords.what_is_a_square) sentences.emplace_back(gui.word(sentence));
    if (has_pale_columns(gui)) sentences.back() = gui.word(kChosenHeadWords.special_is_paler);
    line = whole_sentences(sentences, ImGui::GetContentRegionAvail().x);
  }
  if (line.empty()) return;
  cut_text(gui, line, colour, ImGui::GetContentRegionAvail().x);
  if (gui.chinese() && !whole.empty()) explain_item(gui, whole);
}

}  // namespace

void atlas_header(Gui& gui, const Box& slot) {
  const AppState& state = gui.state;
  const SlotScope scope("atlas header", slot);
  const float gap = 8 * gui.unit;
  ImGui::SetCursorPos({0, 6 * gui.unit});
  bool tabs_below = false;
  if (state.trace) {
    const FontScope small(gui, TextSize::small);
    const float others = gap + order_control_width(gui), tabs = stack_tabs_width(gui);
    const auto begin_of = [&](const std::string& shown) { return slot.w - menu_width(gui, shown.c_str()) - others; };
    const float left = tabs > 0 ? tabs + gap : 0;
    const std::string whole = shown_label(gui), brief = gui.word(grid_word(shown_grid(state)));
    const std::string& shown = begin_of(whole) >= left ? whole : brief;
    const float begin = begin_of(shown);
    if (tabs > 0) {
      if (begin < left) ImGui::SetCursorPos({0, 34 * gui.unit});  // where the note else stands
      stack_tabs(gui);
      tabs_below = begin < left;
    } else {
      draw_heads_title(gui, begin - gap);
    }
    ImGui::SetCursorPos({std::max(0.0f, begin), 6 * gui.unit});
    shown_menu(gui, shown);
    ImGui::SameLine(0, gap);
    order_control(gui);
  }
  const FontScope small(gui, TextSize::small);
  ImGui::SetCursorPos({0, 36 * gui.unit});
  if (tabs_below) return;
  if (state.view.find.on) return search_line(gui);
  if (state.trace && sweep_line(gui)) return;
  note_line(gui);
}

}  // namespace headlight
