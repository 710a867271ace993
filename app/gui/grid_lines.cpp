#include <algorithm>
#include <cmath>

#include "gui/draw.h"
#include "gui/grid_parts.h"
#include "gui/grid_words.h"
#include "gui/other_maps.h"
#include "session/head_grid.h"

namespace headlight {
namespace {

/// Where the bars of all heads stand, in pixels of the screen.
struct Frame {
  HeadLine line;
  Box bars;              // of the first head
  float pitch = 0;       // from head to head
  Index count = 0;       // words, or groups of them
  float top = 1;         // the weight of the highest bar
  const AxisLabels& labels;

  Index bars_drawn() const { return std::min<Index>(count, std::max<Index>(1, static_cast<Index>(bars.w))); }
  float width() const { return bars.w / static_cast<float>(bars_drawn()); }
  /// The first of the words of a bar, and the first of the next one's.
  Index begin_of(Index bar) const { return bar * count / bars_drawn(); }
};

const std::vector<std::string>& words_of(const Frame& frame) {
  return frame.line.of_query ? frame.labels.keys : frame.labels.queries;
}

/// The words above the bars: level where they fit, else upwards; as many as stand apart.
void words_above(Gui& gui, const Frame& frame, std::optional<Index> lit) {
  const auto& words = words_of(frame);
  if (words.empty()) return;
  const LabelMetrics& metrics = frame.line.of_query ? frame.labels.key_metrics : frame.labels.query_metrics;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float text = ImGui::GetFontSize(), pitch = frame.bars.w / static_cast<float>(frame.count);
  const bool level = metrics.widest + 6 * gui.unit <= pitch;
  const auto step = std::max<Index>(1, static_cast<Index>(std::ceil(text * kLabelPitch / pitch)));
  const float bottom = frame.bars.y - 4 * gui.unit;
  for (Index i = 0; i < frame.count; ++i) {
    const bool is_lit = lit == i;
    if (!is_lit && (i % step != 0 || (lit && std::abs(*lit - i) < step))) continue;
    const std::string& word = words[static_cast<std::size_t>(i)];
    const float x = frame.bars.x + (static_cast<float>(i) + 0.5f) * pitch;
    const ImU32 colour = is_lit ? gui.colours().accent : gui.colours().dim;
    const bool stands = metrics.upright;
    if (level)
      list.AddText({std::round(x - ImGui::CalcTextSize(word.c_str()).x / 2), std::round(bottom - text)}, colour, word.c_str());
    else if (stands) draw_stacked(list, x, bottom, colour, word);
    else draw_rotated(list, x, bottom, colour, word);
  }
}

/// The word's own token of a bar: of folded words the first.
CellRef cell_of(const Frame& frame, const MapContent& content, Index word) {
  Index token = word;
  if (content.folded) {
    const FoldedAxis& axis = frame.line.of_query ? content.folded->fold.keys : content.folded->fold.queries;
    token = axis.groups[static_cast<std::size_t>(word)].first;
  }
  return frame.line.of_query ? CellRef{frame.line.at, token} : CellRef{token, frame.line.at};
}

void bars_of_head(Gui& gui, const Frame& frame, const Box& box, const Vector& weights, std::optional<Index> lit,
                  float opacity) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float width = frame.width(), inset = width > 8 ? std::round(width * 0.12f) : 0;
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, ImGui::GetStyle().Alpha * opacity);
  const Settings& settings = gui.state.settings;
  const ImU32 plain =
      ImGui::GetColorU32(ImGui::ColorConvertU32ToFloat4(to_imgui(colour_map(settings.theme, settings.colours)[150])));
  const ImU32 accent = ImGui::GetColorU32(ImGui::ColorConvertU32ToFloat4(gui.colours().accent));
  ImGui::PopStyleVar();
  for (Index bar = 0; bar < frame.bars_drawn(); ++bar) {
    const Index begin = frame.begin_of(bar), end = frame.begin_of(bar + 1);
    const float weight = weights.segment(begin, end - begin).maxCoeff();
    const float height = box.h * std::min(1.0f, weight / frame.top), x = box.x + static_cast<float>(bar) * width;
    const bool is_lit = lit && *lit >= begin && *lit < end;
    list.AddRectFilled({x + inset, box.bottom() - height}, {x + width - inset, box.bottom()}, is_lit ? accent : plain);
  }
  list.AddLine({box.x, box.bottom()}, {box.right(), box.bottom()}, gui.colours().line, gui.unit);
}

/// The head's name and its bars; the bar under the pointer is its cell.
void one_head(Gui& gui, const Frame& frame, const HeadRef& head, const Box& row, bool hovered, bool pressed) {
  const AppState& state = gui.state;
  const MapContent content = whole_content(state, head);
  const Vector weights = line_of_head(state, frame.line, head);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float text = ImGui::GetFontSize();
  const MeasuredTitle title = content.kind == MapKind::rollout
                                  ? MeasuredTitle{map_title(gui, head), {}, {}}
                                  : measured_title(gui, head, frame.bars.x - row.x - 10 * gui.unit, order_value_text(state, head));
  const float middle = row.y + (row.h - text) / 2;
  const bool chosen = head == state.view.chosen;
  list.AddText({row.x, middle}, chosen || hovered ? gui.colours().accent : gui.colours().text, title.head.c_str());
  float x = row.x + ImGui::CalcTextSize(title.head.c_str()).x;
  list.AddText({x, middle}, gui.colours().dim, title.value.c_str());
  x += ImGui::CalcTextSize(title.value.c_str()).x;
  list.AddText({x, middle}, gui.colours().accent, title.relations.c_str());

  const Box bars{frame.bars.x, row.y, frame.bars.w, row.h - 3 * gui.unit};
  gui.name_box("line head " + std::to_string(head.layer) + "." + std::to_string(head.head), bars);
  std::optional<Index> lit;
  const auto& lit_cell = state.view.hovered ? state.view.hovered : state.view.pinned;
  if (lit_cell) lit = frame.line.of_query ? map_column(content, lit_cell->key) : map_row(content, lit_cell->query);
  if (weights.size() == frame.count) bars_of_head(gui, frame, bars, weights, lit, head_opacity(state, head));
  if (!hovered) return;
  const float mouse = ImGui::GetIO().MousePos.x;
  std::optional<CellRef> cell;
  if (mouse >= bars.x && mouse < bars.right() && weights.size() == frame.count) {
    const auto bar = std::min<Index>(frame.bars_drawn() - 1, static_cast<Index>((mouse - bars.x) / frame.width()));
    const Index begin = frame.begin_of(bar), end = frame.begin_of(bar + 1);
    Index brightest = 0;
    weights.segment(begin, end - begin).maxCoeff(&brightest);
    cell = cell_of(frame, content, begin + brightest);
  }
  gui.say(Hover{head, cell});
  if (!pressed) return;
  gui.say(ChooseHead{head});
  if (cell) gui.say(Pin{cell});
}

/// `机票 looks, in every head, at` — whose row or column it is; false where the word is folded away.
bool whose_line(Gui& gui, const HeadLine& line) {
  const Stack stack = line.stack;
  std::string word = line.of_query ? query_label(gui, line.at, stack) : key_label(gui, line.at, stack);
  bool there = true;
  if (const FoldedStack* folded = shown_fold(gui.state, stack)) {
    const FoldedAxis& axis = line.of_query ? folded->fold.queries : folded->fold.keys;
    const auto group = axis.group(line.at);
    there = group.has_value();
    if (there) word = gui.fonts.shown(axis_label(axis.tokens[static_cast<std::size_t>(*group)]));
  }
  ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().accent);
  ImGui::TextUnformatted(word.c_str());
  ImGui::PopStyleColor();
  gui.name_item("line word");
  ImGui::SameLine(0, 6 * gui.unit);
  const auto kind = static_cast<std::size_t>(shown_kind(gui.state, stack));
  dim_text(gui, gui.word(!there ? kLeftOutHere : kLineWords[line.of_query ? 0 : 1][kind]));
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
  const float text = ImGui::GetFontSize(), titles = std::min(170 * gui.unit, room.x * 0.3f);
  const float width = room.x - titles - 12 * gui.unit;
  const bool level = metrics.widest + 6 * gui.unit <= width / static_cast<float>(count);
  const float above = level ? text : metrics.upright ? text * static_cast<float>(metrics.longest) : metrics.widest;
  const float head_room = std::min(above, room.y * 0.3f) + 8 * gui.unit;
  const float pitch = std::clamp((room.y - head_room) / static_cast<float>(heads.size()), 24 * gui.unit, 64 * gui.unit);
  const ColourScale scale = colour_scale(state);
  const Frame frame{*line, {origin.x + titles, origin.y + head_room, width, pitch}, pitch, count, scale.top, labels};

  std::optional<Index> lit;
  const auto& lit_cell = state.view.hovered ? state.view.hovered : state.view.pinned;
  if (lit_cell) lit = line->of_query ? map_column(content, lit_cell->key) : map_row(content, lit_cell->query);
  words_above(gui, frame, lit);
  const float height = pitch * static_cast<float>(heads.size());
  ImGui::SetCursorScreenPos({origin.x, frame.bars.y});
  const bool pressed = ImGui::InvisibleButton("lines", {room.x, height});
  const bool over = ImGui::IsItemHovered();
  const ImVec2 mouse = ImGui::GetIO().MousePos, window = ImGui::GetWindowPos();
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Box row{origin.x, frame.bars.y + static_cast<float>(i) * pitch, room.x, pitch};
    if (row.bottom() < window.y || row.y > window.y + ImGui::GetWindowHeight()) continue;
    const bool hovered = over && row.contains(mouse.x, mouse.y);
    one_head(gui, frame, heads[i], row, hovered, hovered && pressed);
  }
}

}  // namespace headlight
