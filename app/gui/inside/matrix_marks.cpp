#include "gui/inside/matrix_marks.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "explain/matrix_kinds.h"
#include "explain/moved_rows.h"
#include "figure/labels.h"
#include "gui/frame/draw.h"
#include "gui/frame/map_view.h"
#include "session/shown.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

constexpr float kGradientColumn = 70, kGradientGap = 12;  // pixels of the design
constexpr float kLargestGradient = 0.5f;                  // two keys with half of the weight each

const Words& reason(const MatrixId& id, const Edits& edits) {
  const auto in_head = [&](const WeightEdit& one) { return one.head == HeadRef{id.layer, id.head, id.stack}; };
  if (id.quantity == Quantity::weights && std::ranges::any_of(edits.weights, in_head))
    return kInsideWords.moved_by_hand;
  const Spread spread = spread_of(id.quantity);
  if (spread == Spread::own_row && kind_of(id.quantity).part == MatrixPart::ffn) return kInsideWords.moved_by_ffn;
  return kInsideWords.moved_by[static_cast<std::size_t>(spread)];
}

}  // namespace

float inside_opacity(const AppState& state) {
  return is_stale(state) || state.inside->question.trace != state.trace ? kStaleOpacity : 1.0f;
}

void mark_moved(Gui& gui, ImDrawList& list, const Picture& picture, const Box& plot, bool cells) {
  if (picture.moved.size() == 0) return;
  const ImU32 ink = to_imgui(diverging_map(gui.state.settings.theme).back());
  const float height = plot.h / static_cast<float>(picture.rows);
  const float width = plot.w / static_cast<float>(picture.moved.cols());
  cells = cells && (picture.moved.array() == 0).any();  // where all moved the bars of the rows show it
  for (const Index row : moved_rows(picture.moved)) {
    const float y = plot.y + static_cast<float>(row) * height;
    list.AddRectFilled({plot.x - 4 * gui.unit, y}, {plot.x - gui.unit, y + std::max(1.0f, height - 1)}, ink);
    const float corner = std::min(5 * gui.unit, std::min(width, height) / 3);
    for (Index c = 0; cells && corner >= 2 && c < picture.moved.cols(); ++c) {
      if (picture.moved(row, c) == 0) continue;
      const float x = plot.x + static_cast<float>(c) * width;
      list.AddTriangleFilled({x, y}, {x + corner, y}, {x, y + corner}, ink);
    }
  }
}

void moved_line(Gui& gui, const Inside& inside) {
  const auto moved = num_moved_rows(inside.matrix);
  if (!moved) return;
  const std::string count = std::to_string(*moved), rows = std::to_string(inside.matrix.rows);
  const InsideQuestion& question = inside.question;
  const auto by_word = question.before == compared_trace(gui.state)
                           ? std::nullopt
                           : changed_word(question.before->request, question.trace->request);
  const std::string line =
      (by_word
           ? filled(gui.word(kInsideWords.moved_since),
                    {count, rows, gui.fonts.shown(by_word->from), gui.fonts.shown(by_word->to)})
           : filled(gui.word(gui.state.kept ? kInsideWords.moved_rows : kInsideWords.moved_by_edits), {count, rows})) +
      " " + gui.word(reason(question.look.matrix, question.trace->request.edits));
  wrapped_small(gui, line, gui.colours().text);
  gui.name_item("moved rows", BoxKind::label);
}

float gradients_width(const Gui& gui, const Inside& inside) {
  if (!inside.effect || !gui.state.view.gradients) return 0;
  return (kGradientGap + (inside.effect->other.size() > 0 ? 2 : 1) * kGradientColumn) * gui.unit;
}

void draw_gradients(Gui& gui, ImDrawList& list, const Inside& inside, const Box& plot) {
  if (gradients_width(gui, inside) == 0) return;
  const ScaleEffect& effect = *inside.effect;
  const float unit = gui.unit, text = ImGui::GetFontSize(), height = plot.h / static_cast<float>(inside.matrix.rows);
  const ImU32 bar = to_imgui(diverging_map(gui.state.settings.theme)[215]);
  const auto column = [&](const Vector& sizes, float scale, float x) {
    const std::string title = effect.other.size() > 0 ? "∂ × " + brief_number(scale) : std::string("∂");
    list.AddText({x, std::round(plot.y - text - unit)}, gui.colours().dim, title.c_str());
    for (Index row = 0; row < sizes.size(); ++row) {
      const float y = plot.y + static_cast<float>(row) * height;
      const float number = height >= text ? ImGui::CalcTextSize("0.000").x + 12 * unit : 0;
      const float most = kGradientColumn * unit - number - 4 * unit;
      const float length = std::max(1.0f, std::min(1.0f, sizes(row) / kLargestGradient) * most);
      list.AddRectFilled({x, y + height * 0.25f}, {x + length, y + std::max(1.0f, height * 0.75f)}, bar);
      if (number == 0) continue;
      const std::string digits = formatted("%.3f", static_cast<double>(sizes(row)));
      list.AddText({x + kGradientColumn * unit - number, std::round(y + (height - text) / 2)}, gui.colours().text,
                   digits.c_str());
    }
  };
  const float begin = plot.right() + kGradientGap * unit;
  column(effect.gradient, effect.scale, begin);
  if (effect.other.size() > 0) column(effect.other, effect.other_scale, begin + kGradientColumn * unit);
  const Box all{begin, plot.y - text - unit, gradients_width(gui, inside) - kGradientGap * unit, plot.h + text + unit};
  gui.name_box("gradients", all, BoxKind::label);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!ImGui::IsWindowHovered() || !all.contains(mouse.x, mouse.y) || mouse.y < plot.y) return;
  const auto row = std::clamp<Index>(static_cast<Index>((mouse.y - plot.y) / height), 0, inside.matrix.rows - 1);
  const std::string own = exact_number(effect.gradient(row));
  std::string numbers = filled(gui.word(kInsideWords.row_gradient), {own});
  if (effect.other.size() > 0)
    numbers = filled(gui.word(kInsideWords.gradient_of_scale), {brief_number(effect.scale), own}) + "\n" +
              filled(gui.word(kInsideWords.gradient_of_scale),
                     {brief_number(effect.other_scale), exact_number(effect.other(row))});
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(320 * unit);
  ImGui::TextUnformatted((std::string(gui.word(kInsideWords.tip_gradient)) + "\n" + numbers).c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

}  // namespace headlight
