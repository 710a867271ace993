#include "study/study_plots.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "figure/labels.h"

namespace headlight {
namespace {

constexpr float kPlotHeight = 14;  // ems of a label

/// From where to where numbers go, 0 between them, made round; and where each stands on the page.
struct NumberAxis {
  double low = 0, high = 0;
  float from = 0, to = 0;

  explicit NumberAxis(const std::vector<PlottedMean>& means) {
    for (const auto& [label, one, dim] : means) {
      low = std::min({low, one.mean, one.low.value_or(0)});
      high = std::max({high, one.mean, one.high.value_or(0)});
    }
    const double step = static_cast<double>(nice_range(static_cast<float>(std::max(high, -low)))) / 10;
    low = std::floor(low / step) * step, high = std::ceil(high / step) * step;
    if (low == high) high = step;
  }
  float at(double value) const { return from + static_cast<float>((value - low) / (high - low)) * (to - from); }
  /// What is written beside it.
  std::vector<double> marks() const {
    std::vector<double> marks{0};
    for (const double end : {low, high})
      if (std::abs(end) > (high - low) / 8) marks.push_back(end);
    return marks;
  }
};

/// A line from low to high with short ends, level or upright.
void add_interval(Page& page, const NumberAxis& axis, float across, const Summary& one, bool level) {
  if (!one.low) return;
  const float end = 0.22f * page.label, low = axis.at(*one.low), high = axis.at(*one.high);
  const auto add = [&](Point from, Point to) {
    if (!level) std::swap(from.x, from.y), std::swap(to.x, to.y);
    page.drawing.add(Stroke{from, to, 0.7f, page.ink.text});
  };
  add({low, across}, {high, across});
  for (const float at : {low, high}) add({at, across - end}, {at, across + end});
}

/// The mean, its interval, n, and p where there is one.
std::vector<std::string> numbers_of(const Summary& one, int digits) {
  std::vector<std::string> texts{number_text(one.mean, digits), "", std::to_string(one.count)};
  if (one.low) texts[1] = "[" + number_text(*one.low, digits) + ", " + number_text(*one.high, digits) + "]";
  if (one.p_holm) texts.push_back(formatted(*one.p_holm < 0.001 ? "%.0e" : "%.3f", *one.p_holm));
  return texts;
}

}  // namespace

int digits_of(double largest) {
  return std::clamp(2 - static_cast<int>(std::floor(std::log10(std::max(std::abs(largest), 1e-30)))), 0, 6);
}

std::string number_text(double value, int digits) { return typeset(formatted("%.*f", digits, value)); }

void add_bars(Page& page, const std::vector<PlottedMean>& bars, Theme theme) {
  const float size = page.label, line = 1.5f * size, gap = 0.8f * size;
  NumberAxis axis(bars);
  const int digits = digits_of(std::max(axis.high, -axis.low));
  float left = 0, right = page.right();
  std::vector<float> widths(4);
  for (const auto& [label, summary, dim] : bars) {
    left = std::max(left, page.measure(label, size));
    const std::vector<std::string> texts = numbers_of(summary, digits);
    for (std::size_t i = 0; i < texts.size(); ++i) widths[i] = std::max(widths[i], page.measure(texts[i], size) + gap);
  }
  left = std::min(left, 0.4f * page.room());
  for (const float width : widths) right -= width;
  axis.from = page.left() + left + gap, axis.to = std::max(right, axis.from + 4 * size);
  const float top = page.y;
  for (const auto& [label, summary, dim] : bars) {
    const float middle = page.y + line / 2, zero = axis.at(0), end = axis.at(summary.mean);
    const auto width = [&](const std::string& text) { return page.measure(text, size); };
    add_text(page, {page.left(), middle}, cut_to(label, left, width), size, dim ? page.ink.dim : page.ink.text);
    const Box bar{std::min(zero, end), middle - 0.4f * size, std::abs(end - zero), 0.8f * size};
    page.drawing.add(Rectangle{.box = bar, .fill = diverging_map(theme)[summary.mean < 0 ? 60 : 195]});
    page.drawing.hits.push_back({"bar " + label, bar});
    add_interval(page, axis, middle, summary, true);
    const std::vector<std::string> texts = numbers_of(summary, digits);
    float x = page.right();
    for (std::size_t i = widths.size(); i-- > 0; x -= widths[i])
      if (i < texts.size()) add_text(page, {x, middle}, texts[i], size, page.ink.text, Role::value, Anchor::right);
    page.y += line;
  }
  page.drawing.add(Stroke{{axis.at(0), top}, {axis.at(0), page.y}, 0.5f, page.ink.dim});
  for (const double mark : axis.marks()) {
    const std::string text = tick_number(static_cast<float>(mark));
    const bool touches_zero = std::abs(axis.at(mark) - axis.at(0)) < page.measure(text + "0 ", page.value) / 2;
    if (mark != 0 && touches_zero) continue;
    add_text(page, {axis.at(mark), page.y + 0.7f * size}, text, page.value, page.ink.dim, Role::value, Anchor::middle);
  }
  page.y += 2 * size;
}

void add_line_plot(Page& page, const std::vector<PlottedMean>& points) {
  const float size = page.label;
  NumberAxis axis(points);
  float left = 0;
  const auto text_of_mark = [](double mark) { return tick_number(static_cast<float>(mark)); };
  for (const double mark : axis.marks())
    left = std::max(left, page.measure(text_of_mark(mark), page.value) + 0.6f * size);
  page.y += 0.6f * size;
  const Box plot{page.left() + left, page.y, page.room() - left, std::min(kPlotHeight * size, 0.6f * page.room())};
  axis.from = plot.bottom(), axis.to = plot.y;
  for (const double mark : axis.marks()) {
    const float y = axis.at(mark);
    add_text(page, {plot.x - 0.5f * size, y}, text_of_mark(mark), page.value, page.ink.dim, Role::value, Anchor::right);
    page.drawing.add(Stroke{{plot.x, y}, {plot.right(), y}, 0.4f, page.ink.line});
  }
  const float step = plot.w / static_cast<float>(points.size()), dot = 0.22f * size;
  const auto thinned = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(2.5f * size / step)));
  Point before{};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [label, summary, dim] = points[i];
    const Point at{plot.x + (static_cast<float>(i) + 0.5f) * step, axis.at(summary.mean)};
    const Box box{at.x - dot, at.y - dot, 2 * dot, 2 * dot};
    if (i > 0) page.drawing.add(Stroke{before, at, 1, page.ink.accent});
    add_interval(page, axis, at.x, summary, false);
    page.drawing.add(Rectangle{.box = box, .fill = page.ink.accent, .corner = dot});
    page.drawing.hits.push_back({"point " + label, box});
    if (i % thinned == 0)
      add_text(page, {at.x, plot.bottom() + 0.9f * size}, label, page.value, page.ink.dim, Role::value, Anchor::middle);
    before = at;
  }
  page.y = plot.bottom() + 2.2f * size;
}

}  // namespace headlight
