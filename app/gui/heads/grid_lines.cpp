#include <algorithm>
#include <cmath>

#include "figure/line_bars.h"
#include "gui/frame/draw.h"
#include "gui/frame/relation_labels.h"
#include "gui/heads/derived_maps.h"
#include "gui/heads/grid_parts.h"
#include "model/head_text.h"
#include "session/head_grid.h"
#include "session/shown.h"
#include "words/grid_words.h"
#include "words/pair_words.h"

namespace headlight {
namespace {

/// The bars of all heads share these.
struct Frame {
  HeadLine line;
  LineLayout layout;
  float top = 1;    // the weight of the highest bar, where all heads share one range
  float right = 0;  // where the number of a range of its own ends
};

/// The word's own token of a bar: of folded words the first.
CellRef cell_of(const Frame& frame, const MapContent& content, Index word) {
  Index token = word;
  if (content.folded) {
    const FoldedAxis& axis = frame.line.of_query ? content.folded->fold.keys : content.folded->fold.queries;
    token = axis.groups[static_cast<std::size_t>(word)].first;
  }
  return frame.line.of_query ? CellRef{frame.line.at, token} : CellRef{token, frame.line.at};
}

void draw_bars(Gui& gui, const Frame& frame, Index row, const Vector& weights, std::optional<Index> lit,
               float opacity) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, ImGui::GetStyle().Alpha * opacity);
  const Settings& settings = gui.state.settings;
  const ImU32 plain =
      ImGui::GetColorU32(ImGui::ColorConvertU32ToFloat4(to_imgui(colour_map(settings.theme, settings.colours)[150])));
  const ImU32 accent = ImGui::GetColorU32(ImGui::ColorConvertU32ToFloat4(gui.colours().accent));
  ImGui::PopStyleVar();
  const bool own = gui.state.view.own_range;
  const float top = top_of_line(weights, frame.top, own);
  for (const Bar& bar : bars_of_head(frame.layout, row, weights, top)) {
    const bool is_lit = lit && *lit >= bar.first && *lit < bar.end;
    list.AddRectFilled(top_left(bar.box), bottom_right(bar.box), is_lit ? accent : plain);
  }
  const Box box = frame.layout.bars_of(row);
  list.AddLine({box.x, box.bottom()}, {box.right(), box.bottom()}, gui.colours().line, gui.unit);
  if (!own || weights.size() == 0) return;
  const std::string number = tick_number(top);
  list.AddText({std::round(frame.right - ImGui::CalcTextSize(number.c_str()).x), std::round(box.y)}, gui.colours().dim,
               number.c_str());
}

/// The head's name and its bars; the bar under the pointer is its cell.
void one_line(Gui& gui, const Frame& frame, const HeadRef& head, Index place, const Box& row, bool hovered,
              bool pressed) {
  const AppState& state = gui.state;
  const MapContent content = whole_content(state, head);
  const Vector weights = line_of_head(state, frame.line, head);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float text = ImGui::GetFontSize();
  const MeasuredTitle title =
      content.kind == MapKind::rollout
          ? MeasuredTitle{map_title(gui, head), {}, {}}
          : measured_title(gui, head, frame.layout.bars.x - row.x - 10 * gui.unit, order_value_text(state, head));
  const float middle = row.y + (row.h - text) / 2;
  const bool chosen = head == state.view.chosen;
  list.AddText({row.x, middle}, chosen || hovered ? gui.colours().accent : gui.colours().text, title.head.c_str());
  float x = row.x + ImGui::CalcTextSize(title.head.c_str()).x;
  list.AddText({x, middle}, gui.colours().dim, title.value.c_str());
  x += ImGui::CalcTextSize(title.value.c_str()).x;
  list.AddText({x, middle}, title.quiet ? gui.colours().dim : gui.colours().text, title.relations.c_str());

  const Box bars = frame.layout.bars_of(place);
  gui.name_box("line head " + head_text({head.layer, head.head}), bars);
  std::optional<Index> lit;
  const auto& lit_cell = state.view.hovered ? state.view.hovered : state.view.pinned;
  if (lit_cell) lit = frame.line.of_query ? map_column(content, lit_cell->key) : map_row(content, lit_cell->query);
  draw_bars(gui, frame, place, weights, lit, head_opacity(gui, head));
  if (!hovered) return;
  std::optional<CellRef> cell;
  if (const auto bar = frame.layout.bar_at(ImGui::GetIO().MousePos.x); bar && weights.size() == frame.layout.count)
    cell = cell_of(frame, content,
                   bars_of_head(frame.layout, place, weights, 1)[static_cast<std::size_t>(*bar)].strongest);
  gui.say(Hover{head, cell});
  if (!pressed) return;
  gui.say(ChooseHead{head});
  if (cell) gui.say(Pin{cell});
}

/// `机票 looks, in every head, at` — whose row or column it is; false where the word is folded away.
bool whose_line(Gui& gui, const HeadLine& line) {
  const Stack stack = line.stack;
  std::string word = line.of_query ? query_label(gui, line.at, stack) : key_label(gui, line.at, stack);
  bool there = true, special = false;
  if (const FoldedStack* folded = shown_fold(gui.state, stack)) {
    const FoldedAxis& axis = line.of_query ? folded->fold.queries : folded->fold.keys;
    const auto group = axis.group(line.at);
    there = group.has_value();
    const Trace& trace = *gui.state.trace;
    const Tokens& tokens = line.of_query ? trace.query_tokens(stack) : trace.key_tokens(stack);
    special = folded->fold.done.special && tokens.tokens[static_cast<std::size_t>(line.at)].special;
    if (there) word = group_label(gui, axis, *group);
  }
  coloured_text(gui.colours().accent, word);
  gui.name_item("line word", BoxKind::label);
  ImGui::SameLine(0, 6 * gui.unit);
  const char* title = line_title(gui.state.settings.language, line.of_query, shown_kind(gui.state, stack));
  const Words& why = special ? kGridWords.left_out_here : kPairWords.other_part;
  dim_text(gui, there ? gui.fonts.shown(title) : std::string(gui.word(why)));
  return there;
}

}  // namespace

void line_grid(Gui& gui) {
  const AppState& state = gui.state;
  const auto line = shown_line(state);
  if (!line || !whose_line(gui, *line)) return;
  const FontScope small(gui, TextSize::small);
  const MapContent content = whole_content(state, {.stack = line->stack});
  const AxisLabels labels = axis_labels(gui, content);
  const bool by_layer = content.kind == MapKind::rollout;  // a map a layer
  std::vector<HeadRef> heads = by_layer ? layers_of(state) : shown_order(state);
  if (heads.empty()) heads = heads_of(*state.trace, line->stack);

  const ImVec2 room = ImGui::GetContentRegionAvail(), origin = ImGui::GetCursorScreenPos();
  const Index count = line->of_query ? content.region.num_keys : content.region.num_queries;
  const LabelMetrics& metrics = line->of_query ? labels.key_metrics : labels.query_metrics;
  const float text = ImGui::GetFontSize();
  const LineSizes sizes{.text = text,
                        .titles = std::min(170 * gui.unit, room.x * 0.3f),
                        .tops = state.view.own_range ? ImGui::CalcTextSize("1.23e-05").x + 8 * gui.unit : 12 * gui.unit,
                        .gap = 4 * gui.unit,
                        .most_words = room.y * 0.3f,
                        .least_pitch = 24 * gui.unit,
                        .most_pitch = 120 * gui.unit};
  const LineLayout layout =
      line_layout({origin.x, origin.y, room.x, room.y}, static_cast<Index>(heads.size()), count, metrics, sizes);
  const Frame frame{*line, layout, colour_scale(state).top, origin.x + room.x - 4 * gui.unit};

  std::optional<Index> lit;
  const auto& lit_cell = state.view.hovered ? state.view.hovered : state.view.pinned;
  if (lit_cell) lit = line->of_query ? map_column(content, lit_cell->key) : map_row(content, lit_cell->query);
  const auto measure = [](std::string_view word, float) {
    return ImGui::CalcTextSize(word.data(), word.data() + word.size()).x;
  };
  draw_texts(gui, *ImGui::GetWindowDrawList(),
             words_above(layout, (line->of_query ? labels.keys : labels.queries).all(), metrics, lit, text / kLineOfEm,
                         text, ink_colours(state.settings.theme), measure));
  const float pitch = layout.pitch, height = pitch * static_cast<float>(heads.size());
  ImGui::SetCursorScreenPos({origin.x, layout.bars.y});
  const bool pressed = ImGui::InvisibleButton("lines", {room.x, height});
  const bool over = ImGui::IsItemHovered();
  const ImVec2 mouse = ImGui::GetIO().MousePos, window = ImGui::GetWindowPos();
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Box row{origin.x, layout.bars.y + static_cast<float>(i) * pitch, room.x, pitch};
    if (row.bottom() < window.y || row.y > window.y + ImGui::GetWindowHeight()) continue;
    const bool hovered = over && row.contains(mouse.x, mouse.y);
    one_line(gui, frame, heads[i], static_cast<Index>(i), row, hovered, hovered && pressed);
  }
}

}  // namespace headlight
