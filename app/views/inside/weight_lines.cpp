#include "views/inside/weight_lines.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/formatted.h"
#include "figure/head_name.h"
#include "figure/labels.h"
#include "views/inside/inside_labels.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

/// The words of a row that line 4 shows: the strongest, and the one that is asked about.
constexpr std::size_t kWordsOfRow = 4;
// Pixels of the design.
constexpr float kBarsHeight = 30, kIndent = 20, kSymbol = 44, kWidestBar = 44;

/// What is drawn below a heading, from its top left corner on.
struct LineOfWeight {
  Drawing& scene;
  const InsideStyle& style;
  const WeightNumbers& of;
  Box box;

  float unit() const { return style.type.unit; }
  float line() const { return style.type.small_line; }
  float width_of(std::string_view text) const { return style.measure(text, style.type.small); }
  /// A line of small text, its upper edge at y.
  void text(float x, float y, const std::string& words, Rgb colour, Anchor anchor = Anchor::left) const {
    if (words.empty()) return;
    scene.add(text_of({x, y + line() / 2}, words, style.type.small, colour, style.measure, anchor, Role::value));
  }
  const char* word(const Words& text) const { return words(style.language, text); }
  std::string token(bool query) const {
    const Tokens& tokens = query ? of.trace.query_tokens(of.head.stack) : of.trace.key_tokens(of.head.stack);
    return piece_label(style.language, tokens, query ? of.cell.query : of.cell.key);
  }
  std::string named(const Words& text, bool query) const { return filled(word(text), {token(query)}); }
};

Rgb bar_colour(Theme theme, float value) { return diverging_map(theme)[value < 0 ? 40 : 215]; }

std::string bar_number(float value) {
  return typeset(formatted(std::abs(value) >= 9.95f ? "%.0f" : "%.1f", static_cast<double>(value)));
}

/// The numbers of a row as bars from a common zero, upwards where they are positive, each number below its bar where
/// there is room. A pooled row shows of each group the number of largest magnitude.
NumberBars add_bars(const LineOfWeight& line, const MatrixPicture& picture, const std::string& symbol) {
  const float unit = line.unit();
  const float label = std::max(kSymbol * unit, line.width_of(symbol) + 8 * unit);
  const Box plot{line.box.x + label, line.box.y, line.box.w - label, kBarsHeight * unit};
  line.text(line.box.x, plot.y + (plot.h - line.line()) / 2, symbol, line.style.ink.dim);
  const Index count = picture.values.cols();
  if (count == 0) return {};
  float most = 0, least = 0, widest = 0;
  for (Index c = 0; c < count; ++c) {
    const float value = picture.values(0, c);
    widest = std::max(widest, line.width_of(bar_number(value)));
    if (std::isfinite(value)) most = std::max(most, value), least = std::min(least, value);
  }
  const float range = std::max(most - least, 1e-12f), zero = plot.y + std::round(plot.h * most / range);
  const float pitch = std::min(plot.w / static_cast<float>(count), kWidestBar * unit);
  const bool numbered = pitch >= widest + 3 * unit;
  for (Index c = 0; c < count; ++c) {
    const float value = picture.values(0, c), x = plot.x + static_cast<float>(c) * pitch;
    if (!std::isfinite(value)) continue;
    const float end = zero - value / range * plot.h, gap = pitch > 4 * unit ? unit : 0;
    line.scene.add(Rectangle{.box = {x + gap, std::min(zero, end), pitch - 2 * gap, std::abs(end - zero)},
                             .fill = bar_colour(line.style.theme, value)});
    if (numbered)
      line.text(x + pitch / 2, plot.bottom() + 2 * unit, bar_number(value), line.style.ink.dim, Anchor::middle);
  }
  const Point begin{plot.x, zero}, end{plot.x + pitch * static_cast<float>(count), zero};
  line.scene.add(Stroke{begin, end, line.style.pen.width, line.style.ink.line});
  return {.plot = plot, .pitch = pitch, .symbol = symbol, .numbers = &picture, .digits = line.line()};
}

NumberBars add_bars_of_step(const LineOfWeight& line, const char* name, const std::string& symbol) {
  const Step* step = line.of.step(name);
  if (!step) return {};
  return add_bars(line, line.of.pictures[static_cast<std::size_t>(step - line.of.steps.data())], symbol);
}

/// `q·k 23.1   × 0.25 = 5.78   + mask 0`
std::string line_score_text(const LineOfWeight& line) {
  std::string text;
  const auto value = [&](const char* name) -> std::optional<float> {
    const Step* step = line.of.step(name);
    return step && step->value.size() == 1 ? std::optional(step->value(0, 0)) : std::nullopt;
  };
  if (const auto dot = value("dot")) text += "q·k = " + brief_number(*dot);
  if (const auto scaled = value("scaled"))
    if (const Step* step = line.of.step("scaled"); !step->terms.empty() && step->terms.front().factor)
      text += "   × " + brief_number(*step->terms.front().factor) + " = " + brief_number(*scaled);
  if (const auto logarithm = value("logarithm")) text += "log " + brief_number(*logarithm);
  if (const auto bias = value("relative_bias")) text += "   + " + brief_number(*bias);
  if (const auto mask = value("mask"))
    text += std::string("   + ") + line.word(kInsideWords.mask) + " " + brief_number(*mask);
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
std::string sink_text(const LineOfWeight& line) {
  if (!line.of.step("sink") || line.of.row.size() == 0) return {};
  return filled(line.word(kInsideWords.sink_takes),
                {share_text(static_cast<double>(std::max(0.0f, 1 - line.of.row.cwiseMax(0.0f).sum())))});
}

/// `∂A/∂score of this row: 0.31; without the scale 0.02`
std::string gradient_text(const LineOfWeight& line) {
  const Step* own = line.of.step("gradient");
  if (!own || !line.of.gradients) return {};
  const auto text = [&](const Words& words, const Step* step) {
    return step ? filled(line.word(words), {brief_number(step->value(0, 0))}) : std::string();
  };
  return text(kInsideWords.row_gradient, own) +
         text(kInsideWords.unscaled_gradient, line.of.step("gradient_unscaled")) +
         text(kInsideWords.scaled_gradient, line.of.step("gradient_scaled"));
}

void add_shares(const LineOfWeight& line) {
  const Matrix& row = line.of.row;
  if (row.size() == 0) return;
  const Tokens& tokens = line.of.trace.key_tokens(line.of.head.stack);
  const Index asked = line.of.cell.key;
  const std::vector<Index> keys = words_of_row(row, asked);
  const float unit = line.unit(), pitch = line.line() + 3 * unit, em = line.style.type.small;
  std::vector<std::string> labels;
  float widest = 0;
  for (const Index key : keys) {
    labels.push_back(cut_to(piece_label(line.style.language, tokens, key), em, line.box.w / 3, line.style.measure));
    widest = std::max(widest, line.width_of(labels.back()));
  }
  const float begin = line.box.x + std::min(kSymbol * unit, line.box.w / 12) + widest + 8 * unit;
  const float room = line.box.right() - begin - line.width_of("<0.1 %") - 8 * unit;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const float y = line.box.y + static_cast<float>(i) * pitch, weight = std::max(0.0f, row(0, keys[i]));
    const bool is_asked = keys[i] == asked;
    const Rgb ink = is_asked ? line.style.ink.text : line.style.ink.dim;
    line.text(begin - 8 * unit, y, labels[i], ink, Anchor::right);
    const float length = std::max(room * std::min(weight, 1.0f), unit);
    line.scene.add(Rectangle{.box = {begin, y + 3 * unit, length, line.line() - 4 * unit},
                             .fill = is_asked ? bar_colour(line.style.theme, 1) : line.style.faint});
    line.text(begin + length + 6 * unit, y, share_text(static_cast<double>(weight)), ink);
  }
  line.text(line.box.x, line.box.bottom() - line.line(),
            cut_to(sink_text(line) + gradient_text(line), em, line.box.w, line.style.measure), line.style.ink.dim);
}

/// `Its share among 10 words: softmax`
std::string heading_of_share(const LineOfWeight& line) {
  const WeightNumbers& of = line.of;
  const bool by_hand = edited_weight(of.trace.request.edits, of.head, of.cell) != nullptr;
  const auto& tokens = of.trace.key_tokens(of.head.stack).tokens;
  const bool of_words = !std::ranges::any_of(tokens, [](auto& one) { return one.special || one.continues; });
  const Mask& mask = of.trace.mask_of(of.head);
  Index among = 0;
  for (Index key = 0; key < of.row.cols(); ++key) among += mask.allowed(of.cell.query, key);
  const Words& share = by_hand    ? kInsideWords.share_by_hand
                       : of_words ? kInsideWords.share
                                  : kInsideWords.share_of_tokens;
  return filled(line.word(share), {std::to_string(among)});
}

struct LineHeading {
  std::string left, right;
};

LineHeading heading_of(const LineOfWeight& line, WeightLine which) {
  const WeightNumbers& of = line.of;
  switch (which) {
    case WeightLine::asks: return {line.named(kInsideWords.asks, true), "q"};
    case WeightLine::answers: return {line.named(kInsideWords.answers, false), "k"};
    case WeightLine::matches: {
      const Step* scores = of.step("scores");
      return {line.word(kInsideWords.matches), scores ? brief_number(scores->value(0, 0)) : ""};
    }
    case WeightLine::share: {
      const float weight = of.row.size() > 0 ? std::max(0.0f, of.row(0, of.cell.key)) : 0;
      return {heading_of_share(line), share_text(static_cast<double>(weight))};
    }
    case WeightLine::hands_over:
      return {line.named(kInsideWords.hands_over, false), line.word(kInsideWords.weight_times_v)};
  }
  return {};
}

NumberBars add_numbers(const LineOfWeight& line, WeightLine which) {
  switch (which) {
    case WeightLine::asks: return add_bars_of_step(line, "q", "q");
    case WeightLine::answers: return add_bars_of_step(line, "k", "k");
    case WeightLine::matches: {
      const NumberBars bars = add_bars_of_step(line, "products", "q×k");
      const InsideType& type = line.style.type;
      line.text(line.box.x, bars.numbers ? line.box.bottom() - line.line() : line.box.y,
                cut_to(line_score_text(line), type.small, line.box.w, line.style.measure), line.style.ink.text);
      return bars;
    }
    case WeightLine::share: add_shares(line); return {};
    case WeightLine::hands_over:
      return add_bars_of_step(line, "share",
                              share_text(static_cast<double>(line.of.row(0, line.of.cell.key))) + " × v");
  }
  return {};
}

}  // namespace

const Step* WeightNumbers::step(std::string_view name) const {
  const auto found = std::ranges::find(steps, name, &Step::name);
  return found == steps.end() ? nullptr : &*found;
}

bool WeightNumbers::has(WeightLine line) const {
  return std::ranges::any_of(steps, [&](const Step& step) { return weight_line_of(step.name) == line; });
}

std::optional<Index> NumberBars::at(Point point) const {
  if (!numbers || point.x < plot.x || point.y < plot.y || point.y >= plot.bottom() + digits) return std::nullopt;
  const auto bar = static_cast<Index>((point.x - plot.x) / pitch);
  return bar < numbers->values.cols() ? std::optional(bar) : std::nullopt;
}

std::string NumberBars::tip(Index bar) const {
  return symbol + "[" + std::to_string(numbers->column_of(0, bar)) + "] = " + exact_number(numbers->values(0, bar));
}

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

const Step* step_of_line(const WeightNumbers& of, WeightLine line) {
  constexpr const char* kSteps[] = {"q", "k", "scores", "weight", "z"};
  const Step* found = of.step(kSteps[static_cast<std::size_t>(line)]);
  return found || line != WeightLine::hands_over ? found : of.step("head_output");
}

float heading_of_line(const InsideType& type) { return type.title_line + 8 * type.unit; }

float numbers_of_line(const InsideType& type, WeightLine line) {
  const float bars = (kBarsHeight + 4) * type.unit + type.small_line, more = type.small_line + 3 * type.unit;
  if (line == WeightLine::share) return static_cast<float>(kWordsOfRow + 1) * more;
  return line == WeightLine::matches ? bars + more : bars;
}

NumberBars add_weight_line(Drawing& scene, const InsideStyle& style, const WeightNumbers& of, WeightLine which,
                           Point at, float width, float mark) {
  const InsideType& type = style.type;
  const float unit = type.unit, heading = heading_of_line(type), inset = kIndent * unit;
  const LineOfWeight line{
      scene, style, of, {at.x + inset, at.y + heading, width - inset - 6 * unit, numbers_of_line(type, which)}};
  const auto number = std::to_string(static_cast<std::size_t>(which) + 1);
  const LineHeading words = heading_of(line, which);
  const float right = style.measure(words.right, type.title), middle = at.y + heading / 2;
  const bool is_number = which == WeightLine::matches || which == WeightLine::share;
  scene.hits.push_back({"line " + number, {at.x, at.y, width, heading}});
  scene.add(text_of({at.x + mark, middle},
                    cut_to(number + "  " + words.left, type.title, width - mark - right - 14 * unit, style.measure),
                    type.title, style.ink.text, style.measure, Anchor::left, Role::title));
  if (!words.right.empty())
    scene.add(text_of({at.x + width - 6 * unit, middle}, words.right, type.title,
                      is_number ? style.ink.text : style.ink.dim, style.measure, Anchor::right));
  return add_numbers(line, which);
}

}  // namespace headlight
