#include <algorithm>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "explain/matrix_kinds.h"
#include "explain/moved_rows.h"
#include "figure/labels.h"
#include "gui/frame/draw.h"
#include "gui/frame/map_view.h"
#include "gui/frame/scene.h"
#include "gui/frame/texture_ids.h"
#include "model/batch_mask.h"
#include "session/answer_state.h"
#include "session/number_commands.h"
#include "session/shown.h"
#include "views/inside/inside_labels.h"
#include "views/inside/matrix_scene.h"
#include "views/inside/panel/inside.h"
#include "views/inside/panel/term_table.h"
#include "words/explain_words.h"
#include "words/inside_words.h"
#include "words/model_words.h"

namespace headlight {
namespace {

std::string shown_cell(Gui& gui, const Trace& trace, const MatrixId& id, Index row, Index col) {
  return gui.fonts.shown(cell_title(trace, id, row, col));
}

/// The shape in which PyTorch keeps it, with the axes of sentences and heads; empty for one sentence, and for what all
/// sentences have in common.
std::string shape_in_batch(Gui& gui, const Trace& trace, const MatrixId& id) {
  const auto sentences = static_cast<Index>(gui.state.requests.size());
  const bool common = (is_learned(id.quantity) && !is_mask(id.quantity)) || id.quantity == Quantity::position_vectors;
  if (sentences < 2 || common) return {};
  std::vector<Index> sizes{sentences};
  if (is_per_head(id.quantity)) {
    const AttentionTrace& attention = trace.attention(id.stack, id.layer);
    const Axes along = axes(trace, id);
    const bool of_keys = along.rows == Axis::keys && (along.cols == Axis::d_k || along.cols == Axis::d_v);
    sizes.push_back(of_keys ? attention.num_kv_heads : attention.num_heads());
  }
  const Shape size = shape(trace, id);
  sizes.insert(sizes.end(), {size.rows, size.cols});
  return filled(gui.word(kInsideWords.in_the_batch), {axes_text(sizes)});
}

/// Back, symbol, name, where it is, formula and shape.
void heading(Gui& gui, const Trace& trace, const MatrixId& id) {
  back_button(gui);
  ImGui::SameLine(0, 10 * gui.unit);
  const float top = ImGui::GetCursorPosY();
  {
    // On the same base line as the smaller text beside it.
    ImGui::SetCursorPosY(top + (ImGui::GetFrameHeight() - gui.fonts.pixels(TextSize::title)) / 2 - 2 * gui.unit);
    const FontScope title(gui, TextSize::title);
    ImGui::TextUnformatted(gui.fonts.shown(symbol(id)).c_str());
  }
  ImGui::SameLine(0, 10 * gui.unit);
  ImGui::SetCursorPosY(top);
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(words_of(gui.state.settings.language, id.quantity));
  const Shape size = shape(trace, id);
  std::string line = gui.fonts.shown(formula_in(gui.state.settings.language, trace, id)) + "   " + shape_text(size);
  if (is_per_head(id.quantity)) line += "   " + head_words(gui, {id.layer, id.head, id.stack});
  if (const std::string whole = shape_in_batch(gui, trace, id); !whole.empty()) line += "   " + whole;
  dim_text(gui, line);
}

MatrixStyle matrix_style(const Gui& gui, const TextWidth& measure, bool square) {
  const float em = gui.fonts.pixels(TextSize::small) / kLineOfEm;
  return {.theme = gui.state.settings.theme,
          .ink = ink_colours(gui.state.settings.theme),
          .measure = measure,
          .label = em,
          .value = em,
          .least_value = em,
          .above = 0.35f,
          .number_room = measure("-0.00", em) + 2 * gui.unit,
          .widest = 64 * gui.unit,
          .highest = (square ? 64 : 24) * gui.unit,
          .least_outline = 5 * gui.unit,
          .square = square,
          .whole = true,
          .pen = {gui.unit, 1}};
}

void map_of_matrix(Gui& gui, const Inside& inside, const Box& area) {
  const FontScope small(gui, TextSize::small);
  const Trace& trace = *inside.question.trace;
  const MatrixId& id = inside.question.look.matrix;
  const MatrixPicture& picture = inside.matrix;
  const std::shared_ptr<const MatrixPicture> shared_picture(gui.state.inside.answer(), &picture);
  const bool square = is_pattern(axes(trace, id));
  const TextWidth measure = window_measure(gui);
  const MatrixStyle style = matrix_style(gui, measure, square);
  const float above = 4 * gui.unit;
  const Box room{area.x, area.y + above, area.w - gradients_width(gui, inside), area.h - above - 1.8f * style.label};
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  MatrixSubject subject{trace, id, shared_picture, inside.question.look.cell};
  const MatrixGrid grid = matrix_grid(subject, style, room);
  ImGui::SetCursorScreenPos(top_left(grid.plot));
  ImGui::InvisibleButton("matrix", {std::max(1.0f, grid.plot.w), std::max(1.0f, grid.plot.h)});
  gui.name_box("matrix", grid.plot, BoxKind::map);
  std::string tip;
  if (const auto at = grid.at(picture, mouse.x, mouse.y); at && ImGui::IsItemHovered()) {
    subject.pointed = MatrixCell{picture.first_row + at->row, picture.column_of(at->row, at->col)};
    if (ImGui::IsItemActivated()) gui.push(LookAt{{id, subject.pointed}});
    tip = shown_cell(gui, trace, id, subject.pointed->row, subject.pointed->col) + " = " +
          exact_number(picture.values(at->row, at->col));
  }
  subject.lit = subject.pointed ? subject.pointed : subject.chosen;
  Drawing scene;
  add_matrix(scene, subject, style, grid, room);
  paint_scene(gui, scene, {.opacity = inside_opacity(gui.state), .version = [&](std::size_t) {
                             return inside_matrix_version(gui.state);
                           }});
  ImDrawList& list = *ImGui::GetWindowDrawList();
  mark_moved(gui, list, picture, grid.plot, square);
  draw_gradients(gui, list, inside, grid.plot);
  if (!tip.empty()) ImGui::SetTooltip("%s", tip.c_str());
}

void terms_table(Gui& gui, const Trace& trace, const Cell& cell) {
  const bool adds_up = is_sum_of_terms(cell.operation);
  const auto number = has_room_for_terms(gui) ? exact_number : brief_number;
  const auto part_of = [&](const CellValue& one) {
    return TermPart{shown_cell(gui, trace, one.id, one.row, one.col) + "  " + number(one.value), [one] {
                      return LookAt{{one.id, MatrixCell{one.row, one.col}}};
                    }};
  };
  const auto line = [&](std::size_t i) {
    const Term& term = cell.terms[i];
    TermLine words{.from = part_of(term.from)};
    if (!adds_up) return words;
    if (term.times) words.times = part_of(*term.times);
    else if (term.factor != 1) words.times.text = "× " + number(term.factor);
    words.addend = "= " + number(term.contribution);
    return words;
  };
  term_table(
      gui, cell.terms.size(), {adds_up, adds_up}, [&](std::size_t i) { return term_length(cell.terms[i], adds_up); },
      line);
}

/// A field for a hand-typed number: what is typed, and each step of the buttons, replaces it at once.
void own_number_box(Gui& gui, const OwnCell& own) {
  float value = own_table(*gui.state.document.numbers, own.table, own.head)->numbers(own.row, own.column);
  ImGui::AlignTextToFramePadding();
  dim_text(gui, gui.word(kNumberWords.set_to));
  ImGui::SameLine(0, 6 * gui.unit);
  ImGui::SetNextItemWidth(160 * gui.unit);
  const bool changed = ImGui::InputFloat("##own number", &value, 0.1f, 1.0f, "%.7g");
  gui.name_item("own number", BoxKind::field);
  explain_item(gui, kNumberWords.tip_set);
  if (changed) gui.push(SetOwnNumber{own, value});
  if (ImGui::IsItemDeactivated()) gui.push(EndGesture{});
}

/// The tutorials mask in different ways, which differ in a row without any key.
void empty_row_answers(Gui& gui, Index keys) {
  wrapped_dim(gui, gui.word(kInsideWords.empty_row));
  const std::pair<const Words&, float> answers[] = {
      {kInsideWords.empty_zeros, 0.0f},
      {kInsideWords.empty_infinite, softmax_of_equal(keys, -std::numeric_limits<float>::infinity())},
      {kInsideWords.empty_large, softmax_of_equal(keys, -1e9f)}};
  bool first = true;
  for (const auto& [how, weight] : answers) {
    const std::string text =
        std::string(gui.word(how)) + "  " + (std::isnan(weight) ? std::string("NaN") : exact_number(weight));
    if (!first) same_line_if_room(ImGui::CalcTextSize(text.c_str()).x, 24 * gui.unit);
    first = false;
    ImGui::TextUnformatted(text.c_str());
  }
}

const Words& axis_words(char axis) {
  return axis == 'i'   ? kInsideWords.axis_queries
         : axis == 'j' ? kInsideWords.axis_keys
         : axis == 'b' ? kInsideWords.axis_sentences
                       : kInsideWords.axis_heads;
}

/// The shape of a mask from a file, and which of its axes are repeated.
void given_mask_line(Gui& gui, const Trace& trace, const MatrixId& id) {
  const auto given = stretched_mask(trace.request, id.stack, id.layer, trace.mask(id.stack, id.layer));
  if (!given) return;
  std::string axes;
  for (const char axis : given->axes) axes += (axes.empty() ? "(" : ", ") + std::string(gui.word(axis_words(axis)));
  std::string text = filled(gui.word(kInsideWords.given_mask), {axes + ")", axes_text(given->shape)});
  if (given->is_stretched()) text += filled(gui.word(kInsideWords.broadcast), {axes_text(given->whole)});
  for (std::size_t axis = 0; axis < given->shape.size(); ++axis)
    if (given->shape[axis] != given->whole[axis])
      text +=
          filled(gui.word(kInsideWords.axis_repeated),
                 {std::to_string(axis), gui.word(axis_words(given->axes[axis])), std::to_string(given->whole[axis])});
  if (given->either) text += gui.word(kInsideWords.fits_either);
  wrapped_dim(gui, text);
  gui.name_item("given mask", BoxKind::label);
}

/// The chosen cell: its number, how it follows, and the numbers it came from.
void cell_of_matrix(Gui& gui, const Inside& inside) {
  if (!inside.terms) {
    dim_text(gui, gui.word(kInsideWords.click_for_terms));
    return;
  }
  const Cell& cell = *inside.terms;
  const Trace& trace = *inside.question.trace;
  ImGui::TextUnformatted(
      (shown_cell(gui, trace, cell.id, cell.row, cell.col) + " = " + exact_number(cell.value)).c_str());
  gui.name_item("cell value", BoxKind::label);
  if (const auto own = own_cell(gui.state, cell.id, {cell.row, cell.col})) own_number_box(gui, *own);
  const std::string line = operation_line(gui.state.settings.language, cell);
  const FontScope small(gui, TextSize::small);
  ImGui::PushTextWrapPos(0);
  coloured_text(gui.colours().dim, line);
  ImGui::PopTextWrapPos();
  if (inside.empty_row) empty_row_answers(gui, shape(trace, cell.id).cols);
  if (!cell.terms.empty()) terms_table(gui, trace, cell);
}

constexpr float kGradientColumn = 70, kGradientGap = 12;  // pixels of the design
constexpr float kLargestGradient = 0.5f;                  // two keys with half of the weight each

const Words& reason(const MatrixId& id, const Edits& edits) {
  const auto in_head = [&](const WeightEdit& one) { return one.head == HeadRef{id.layer, id.head, id.stack}; };
  if (id.quantity == Quantity::weights && std::ranges::any_of(edits.weights, in_head))
    return kInsideWords.moved_by_hand;
  const Spread spread = spread_of(id.quantity);
  if (spread == Spread::own_row && kind_of(id.quantity).part == MatrixPart::ffn) return kInsideWords.moved_by_ffn;
  static constexpr Words kUnsaid;
  return spread == Spread::none ? kUnsaid : kInsideWords.moved_by[static_cast<std::size_t>(spread) - 1];
}

}  // namespace

void back_button(Gui& gui) {
  ImGui::BeginDisabled(gui.state.view.looked.empty());
  if (flat_button(gui, "look back", gui.word(kInsideWords.back))) gui.push(LookBack{});
  ImGui::EndDisabled();
  explain_item(gui, kInsideWords.tip_back);
}

void matrix_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (answer_state(state).kind != AnswerState::Kind::shown || !state.inside) return;
  const Inside& inside = *state.inside;
  const MatrixId& id = inside.question.look.matrix;
  if (inside.matrix.values.size() == 0) {
    back_button(gui);
    dim_text(gui, gui.word(kInsideWords.no_such_matrix));
    return;
  }
  heading(gui, *inside.question.trace, id);
  moved_line(gui, inside);
  const ImVec2 room = ImGui::GetContentRegionAvail(), at = ImGui::GetCursorScreenPos();
  const float cells = static_cast<float>(inside.matrix.rows) * 24 * gui.unit + 30 * gui.unit;
  const bool square = is_pattern(axes(*inside.question.trace, id));
  const float height =
      square ? std::min(room.y * 0.62f, room.x) : std::min(room.y * 0.56f, std::max(cells, 60 * gui.unit));
  map_of_matrix(gui, inside, {at.x, at.y, room.x, height});
  ImGui::SetCursorScreenPos({at.x, at.y + height + 10 * gui.unit});
  ImGui::BeginChild("terms");
  if (is_mask(id.quantity)) given_mask_line(gui, *inside.question.trace, id);
  cell_of_matrix(gui, inside);
  ImGui::EndChild();
}

float inside_opacity(const AppState& state) {
  return is_stale(state) || state.inside->question.trace != state.trace ? kStaleOpacity : 1.0f;
}

void mark_moved(Gui& gui, ImDrawList& list, const MatrixPicture& picture, const Box& plot, bool cells) {
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
