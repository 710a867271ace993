#include "views/inside/panel/weight_lines.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/formatted.h"
#include "figure/head_name.h"
#include "figure/labels.h"
#include "gui/frame/draw.h"
#include "views/inside/inside_labels.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

/// The words of a row that line 4 shows: the strongest, and the one that is asked about.
constexpr std::size_t kWordsOfRow = 4;
constexpr float kBarsHeight = 30;

/// One line that is being drawn: its box, and the data for its content.
struct DrawnWeightLine {
  Gui& gui;
  const Inside& inside;
  Box box;  // of the body, below the heading

  const Trace& trace() const { return *inside.question.trace; }
  const Step* step(std::string_view name) const {
    const auto found = std::ranges::find(inside.steps, name, &Step::name);
    return found == inside.steps.end() ? nullptr : &*found;
  }
  std::string word(bool query) const {
    const HeadRef& head = inside.question.head;
    const CellRef& cell = *inside.question.cell;
    const Tokens& tokens = query ? trace().query_tokens(head.stack) : trace().key_tokens(head.stack);
    return gui.fonts.shown(axis_label(tokens.tokens[static_cast<std::size_t>(query ? cell.query : cell.key)]));
  }
};

ImU32 bar_colour(const Gui& gui, float value) {
  return to_imgui(diverging_map(gui.state.settings.theme)[value < 0 ? 40 : 215]);
}

std::string bar_number(float value) {
  return typeset(formatted(std::abs(value) >= 9.95f ? "%.0f" : "%.1f", static_cast<double>(value)));
}

/// The numbers of a row as bars from a common zero, upwards where they are positive, each number below its bar where
/// there is room. A pooled row shows of each group the number of largest magnitude.
void draw_bars(const DrawnWeightLine& line, const Picture& picture, const std::string& symbol) {
  Gui& gui = line.gui;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float unit = gui.unit, text = ImGui::GetFontSize();
  const float label = std::max(44 * unit, ImGui::CalcTextSize(symbol.c_str()).x + 8 * unit);
  const Box plot{line.box.x + label, line.box.y, line.box.w - label, kBarsHeight * unit};
  list.AddText({line.box.x, plot.y + plot.h / 2 - text / 2}, gui.colours().dim, symbol.c_str());
  const Index count = picture.values.cols();
  if (count == 0) return;
  float most = 0, least = 0;
  for (Index c = 0; c < count; ++c)
    if (const float value = picture.values(0, c); std::isfinite(value))
      most = std::max(most, value), least = std::min(least, value);
  const float range = std::max(most - least, 1e-12f), zero = std::round(plot.y + plot.h * most / range);
  const float pitch = std::min(plot.w / static_cast<float>(count), 44 * unit);
  float widest = 0;
  for (Index c = 0; c < count; ++c)
    widest = std::max(widest, ImGui::CalcTextSize(bar_number(picture.values(0, c)).c_str()).x);
  const bool numbered = pitch >= widest + 3 * unit;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (Index c = 0; c < count; ++c) {
    const float value = picture.values(0, c), x = plot.x + static_cast<float>(c) * pitch;
    if (!std::isfinite(value)) continue;
    const float end = zero - value / range * plot.h, gap = pitch > 4 * unit ? unit : 0;
    list.AddRectFilled({x + gap, std::min(zero, end)}, {x + pitch - gap, std::max(zero, end)}, bar_colour(gui, value));
    if (numbered) {
      const std::string number = bar_number(value);
      list.AddText({std::round(x + (pitch - ImGui::CalcTextSize(number.c_str()).x) / 2), plot.bottom() + 2 * unit},
                   gui.colours().dim, number.c_str());
    }
    if (ImGui::IsWindowHovered() && mouse.x >= x && mouse.x < x + pitch && mouse.y >= plot.y &&
        mouse.y < plot.bottom() + text)
      ImGui::SetTooltip("%s[%d] = %s", symbol.c_str(), static_cast<int>(picture.column_of(0, c)),
                        exact_number(value).c_str());
  }
  list.AddLine({plot.x, zero}, {plot.x + pitch * static_cast<float>(count), zero}, gui.colours().line);
}

void draw_row_of_step(const DrawnWeightLine& line, const char* name, const std::string& symbol) {
  for (std::size_t i = 0; i < line.inside.steps.size(); ++i)
    if (line.inside.steps[i].name == name) return draw_bars(line, line.inside.step_pictures[i], symbol);
}

/// `q·k 23.1   × 0.25 = 5.78   + mask 0`
std::string line_score_text(const DrawnWeightLine& line) {
  std::string text;
  const auto value = [&](const char* name) -> std::optional<float> {
    const Step* step = line.step(name);
    return step && step->value.size() == 1 ? std::optional(step->value(0, 0)) : std::nullopt;
  };
  if (const auto dot = value("dot")) text += "q·k = " + brief_number(*dot);
  if (const auto scaled = value("scaled"))
    if (const Step* step = line.step("scaled"); !step->terms.empty() && step->terms.front().factor)
      text += "   × " + brief_number(*step->terms.front().factor) + " = " + brief_number(*scaled);
  if (const auto logarithm = value("logarithm")) text += "log " + brief_number(*logarithm);
  if (const auto bias = value("relative_bias")) text += "   + " + brief_number(*bias);
  if (const auto mask = value("mask"))
    text += std::string("   + ") + line.gui.word(kInsideWords.mask) + " " + brief_number(*mask);
  return text;
}

/// The strongest words of the row with their shares, the one that is asked about among them.
std::vector<Index> words_of_row(const Matrix& row, Index asked) {
  std::vector<Index> keys(static_cast<std::size_t>(row.cols()));
  std::iota(keys.begin(), keys.end(), Index{0});
  const auto count = std::min(kWordsOfRow, keys.size());
  std::partial_sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count), keys.end(),
                    [&](Index a, Index b) { return std::pair(-row(0, a), a) < std::pair(-row(0, b), b); });
  keys.resize(count);
  if (std::ranges::find(keys, asked) == keys.end()) keys.back() = asked;
  return keys;
}

/// `the sink takes 22 %`: what is missing in the row.
std::string sink_text(const DrawnWeightLine& line) {
  if (!line.step("sink") || line.inside.row.size() == 0) return {};
  return filled(line.gui.word(kInsideWords.sink_takes),
                {percent(std::max(0.0f, 1 - line.inside.row.cwiseMax(0.0f).sum()))});
}

/// `∂A/∂score of this row: 0.31; without the scale 0.02`
std::string gradient_text(const DrawnWeightLine& line) {
  const Step* own = line.step("gradient");
  if (!own || !line.gui.state.view.gradients) return {};
  const auto text = [&](const Words& words, const Step* step) {
    return step ? filled(line.gui.word(words), {brief_number(step->value(0, 0))}) : std::string();
  };
  return text(kInsideWords.row_gradient, own) + text(kInsideWords.unscaled_gradient, line.step("gradient_unscaled")) +
         text(kInsideWords.scaled_gradient, line.step("gradient_scaled"));
}

void draw_shares(const DrawnWeightLine& line) {
  Gui& gui = line.gui;
  const Matrix& row = line.inside.row;
  if (row.size() == 0) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Tokens& tokens = line.trace().key_tokens(line.inside.question.head.stack);
  const Index asked = line.inside.question.cell->key;
  const std::vector<Index> keys = words_of_row(row, asked);
  std::vector<std::string> labels;
  float widest = 0;
  for (const Index key : keys) {
    labels.push_back(gui.fonts.shown(axis_label(tokens.tokens[static_cast<std::size_t>(key)])));
    widest = std::max(widest, ImGui::CalcTextSize(labels.back().c_str()).x);
  }
  const float unit = gui.unit, text = ImGui::GetFontSize(), pitch = text + 3 * unit;
  widest = std::min(widest, line.box.w / 3);
  const float begin = line.box.x + 44 * unit + widest + 8 * unit;
  const float room = line.box.right() - begin - ImGui::CalcTextSize("<0.1 %").x - 8 * unit;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const float y = line.box.y + static_cast<float>(i) * pitch, weight = std::max(0.0f, row(0, keys[i]));
    const ImU32 ink = keys[i] == asked ? gui.colours().text : gui.colours().dim;
    list.PushClipRect({line.box.x, y}, {begin - 4 * unit, y + pitch}, true);
    list.AddText({std::max(line.box.x, begin - 8 * unit - ImGui::CalcTextSize(labels[i].c_str()).x), y}, ink,
                 labels[i].c_str());
    list.PopClipRect();
    const float end = begin + std::max(room * std::min(weight, 1.0f), unit);
    list.AddRectFilled({begin, y + 3 * unit}, {end, y + text - unit},
                       keys[i] == asked ? bar_colour(gui, 1) : gui.colours().faint);
    list.AddText({end + 6 * unit, y}, ink, percent(weight).c_str());
  }
  const std::string gradient = cut_to(sink_text(line) + gradient_text(line), line.box.w,
                                      [](const std::string& part) { return ImGui::CalcTextSize(part.c_str()).x; });
  list.AddText({line.box.x, line.box.bottom() - text}, gui.colours().dim, gradient.c_str());
}

float height_of_body(const Gui& gui, WeightLine line) {
  const float text = gui.fonts.pixels(TextSize::small), bars = (kBarsHeight + 4) * gui.unit + text;
  switch (line) {
    case WeightLine::asks:
    case WeightLine::answers: return bars;
    case WeightLine::matches: return bars + text + 3 * gui.unit;
    case WeightLine::share: return static_cast<float>(kWordsOfRow + 1) * (text + 3 * gui.unit);
    case WeightLine::hands_over: return bars;
  }
  return bars;
}

struct Heading {
  std::string left, right;
  const char* step;  // where a click looks
};

Heading heading_of(const DrawnWeightLine& line, WeightLine which) {
  const Gui& gui = line.gui;
  const auto title = [&](const Words& words, bool query) { return filled(gui.word(words), {line.word(query)}); };
  switch (which) {
    case WeightLine::asks: return {title(kInsideWords.asks, true), "q", "q"};
    case WeightLine::answers: return {title(kInsideWords.answers, false), "k", "k"};
    case WeightLine::matches: {
      const Step* scores = line.step("scores");
      return {gui.word(kInsideWords.matches), scores ? brief_number(scores->value(0, 0)) : "", "scores"};
    }
    case WeightLine::share: {
      const Matrix& row = line.inside.row;
      const float weight = row.size() > 0 ? std::max(0.0f, row(0, line.inside.question.cell->key)) : 0;
      const InsideQuestion& question = line.inside.question;
      const bool by_hand = edited_weight(line.trace().request.edits, question.head, *question.cell) != nullptr;
      const auto& tokens = line.trace().key_tokens(question.head.stack).tokens;
      const bool of_words = std::ranges::none_of(tokens, [](auto& one) { return one.special || one.continues; });
      const Mask& mask = line.trace().mask(question.head.stack, question.head.layer);
      Index among = 0;
      for (Index key = 0; key < row.cols(); ++key) among += mask.allowed(question.cell->query, key);
      const Words& share = by_hand    ? kInsideWords.share_by_hand
                           : of_words ? kInsideWords.share
                                      : kInsideWords.share_of_tokens;
      return {filled(gui.word(share), {std::to_string(among)}), percent(weight), "weight"};
    }
    case WeightLine::hands_over:
      return {title(kInsideWords.hands_over, false), gui.word(kInsideWords.weight_times_v),
              line.step("z") ? "z" : "head_output"};
  }
  return {};
}

/// The heading is the button: it opens the line, or closes it, and the matrix beside shows where it comes from.
void heading(const DrawnWeightLine& line, WeightLine which, bool open) {
  Gui& gui = line.gui;
  const auto number = static_cast<std::size_t>(which);
  const Heading words = heading_of(line, which);
  const float unit = gui.unit, text = gui.fonts.pixels(TextSize::body), height = text + 8 * unit;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const std::string name = "line " + std::to_string(number + 1);
  if (ImGui::InvisibleButton(name.c_str(), {width, height})) {
    gui.push(OpenInsideLine{open ? std::nullopt : std::optional(number)});
    if (const Step* step = line.step(words.step); step && !open)
      gui.push(LookAt{{step->id, MatrixCell{step->row, step->col}}});
  }
  gui.name_item(name);
  const bool hovered = ImGui::IsItemHovered();
  explain_item(gui, kInsideWords.tip_line);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (hovered) list.AddRectFilled(at, {at.x + width, at.y + height}, gui.colours().button_hovered, 4 * unit);
  const float middle = at.y + height / 2, x = at.x + 9 * unit, size = 4 * unit;
  if (open)
    list.AddTriangleFilled({x - size, middle - size / 2}, {x + size, middle - size / 2}, {x, middle + size},
                           gui.colours().dim);
  else
    list.AddTriangleFilled({x - size / 2, middle - size}, {x + size, middle}, {x - size / 2, middle + size},
                           gui.colours().dim);
  const std::string title = std::to_string(number + 1) + "  " + words.left;
  const float right = ImGui::CalcTextSize(words.right.c_str()).x;
  const float room = width - right - 34 * unit;
  const auto width_of = [](const std::string& part) { return ImGui::CalcTextSize(part.c_str()).x; };
  list.AddText({at.x + 20 * unit, at.y + 4 * unit}, gui.colours().text, cut_to(title, room, width_of).c_str());
  list.AddText({at.x + width - right - 6 * unit, at.y + 4 * unit},
               which == WeightLine::matches || which == WeightLine::share ? gui.colours().text : gui.colours().dim,
               words.right.c_str());
}

void body(DrawnWeightLine line, WeightLine which) {
  Gui& gui = line.gui;
  const FontScope small(gui, TextSize::small);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float inset = 20 * gui.unit;
  line.box = {at.x + inset, at.y, ImGui::GetContentRegionAvail().x - inset - 6 * gui.unit, height_of_body(gui, which)};
  ImGui::Dummy({line.box.w, line.box.h});
  if (!ImGui::IsItemVisible()) return;
  switch (which) {
    case WeightLine::asks: return draw_row_of_step(line, "q", "q");
    case WeightLine::answers: return draw_row_of_step(line, "k", "k");
    case WeightLine::matches: {
      draw_row_of_step(line, "products", "q×k");
      const float top = line.step("products") ? line.box.bottom() - ImGui::GetFontSize() : line.box.y;
      ImGui::GetWindowDrawList()->AddText({line.box.x, top}, gui.colours().text, line_score_text(line).c_str());
      return;
    }
    case WeightLine::share: return draw_shares(line);
    case WeightLine::hands_over:
      return draw_row_of_step(
          line, "share", share_text(static_cast<double>(line.inside.row(0, line.inside.question.cell->key))) + " × v");
  }
}

}  // namespace

WeightLine weight_line_of(std::string_view step) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, step) != names.end();
  };
  if (is_one_of({"x_query", "W_Q", "b_Q", "q_projected", "q_normed", "q"})) return WeightLine::asks;
  if (is_one_of({"x_key", "W_K", "b_K", "k_projected", "k_normed", "k"})) return WeightLine::answers;
  if (is_one_of({"given", "logarithm", "products", "dot", "scaled", "relative_bias", "mask", "scores"}))
    return WeightLine::matches;
  if (is_one_of({"sink", "exponentials", "sum", "softmax", "dropped", "weight", "gradient", "gradient_unscaled",
                 "gradient_scaled"}))
    return WeightLine::share;
  return WeightLine::hands_over;
}

void weight_lines(Gui& gui, const Inside& inside, void (*draw_step)(Gui&, const Inside&, std::size_t)) {
  for (std::size_t number = 0; number < kWeightLines; ++number) {
    const auto which = static_cast<WeightLine>(number);
    const auto belongs = [&](const Step& step) { return weight_line_of(step.name) == which; };
    if (std::ranges::none_of(inside.steps, belongs)) continue;
    const bool open = gui.state.view.inside_line == number;
    const DrawnWeightLine line{gui, inside, {}};
    heading(line, which, open);
    body(line, which);
    if (open)
      for (std::size_t i = 0; i < inside.steps.size(); ++i)
        if (belongs(inside.steps[i])) draw_step(gui, inside, i);
    ImGui::Dummy({0, 2 * gui.unit});
  }
}

}  // namespace headlight
