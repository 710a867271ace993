// Inside a block: the steps behind one weight, and the way of the data, as the window's Inside view draws them.
#include <algorithm>
#include <numeric>
#include <utility>

#include "figure/labels.h"
#include "figure/page.h"
#include "math/attention.h"
#include "model/head_text.h"
#include "views/inside/inside_labels.h"
#include "views/inside/inside_scene.h"
#include "views/inside/weight_lines.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

constexpr float kLeastStep = 26;         // ems: a column of steps is not narrower
constexpr float kWidestDiagram = 64;     // ems
constexpr float kLeastOfDiagram = 2.5f;  // points

InsideStyle style_of(const Page& page, const FigureOptions& options, float label) {
  return {.language = options.language,
          .theme = options.theme,
          .type = {.title = 1.1f * label,
                   .small = label,
                   .title_line = 1.1f * kLineOfText * label,
                   .small_line = kLineOfText * label,
                   .unit = label / 10.4f},
          .ink = page.ink,
          .measure = page.measure,
          .ground = page.drawing.background,
          .frame = page.ink.dim,
          .edge = page.ink.dim,
          .faint = page.ink.dim};
}

Drawing finished(Page page, const FigureSubject& subject, const FigureOptions& options) {
  const std::string colours = words(options.language, kInsideWords.colours_of_pictures);
  return finished(std::move(page), subject, options, std::nullopt, false, {colours});
}

/// `机票 → 订了  0.923`
std::string cell_title(const FigureSubject& subject, const HeadRef& head, const CellRef& cell) {
  const auto label = [](const Tokens& tokens, Index at) {
    return axis_label(tokens.tokens[static_cast<std::size_t>(at)]);
  };
  const float weight = attention_rows(subject.trace, head, cell.query, 1)(0, cell.key);
  return label(subject.trace.query_tokens(head.stack), cell.query) + " → " +
         label(subject.trace.key_tokens(head.stack), cell.key) + "  " + tick_number(weight);
}

/// The steps in columns of about the same height: the first that stands in each but the first.
std::vector<std::size_t> column_starts(const std::vector<float>& heights, std::size_t columns) {
  const float all = std::accumulate(heights.begin(), heights.end(), 0.0f);
  std::vector<std::size_t> starts;
  float above = 0;
  for (std::size_t i = 0; i < heights.size(); ++i) {
    const float share = all * static_cast<float>(starts.size() + 1) / static_cast<float>(columns);
    if (starts.size() + 1 < columns && i > 0 && above + heights[i] / 2 > share) starts.push_back(i);
    above += heights[i];
  }
  return starts;
}

/// A step, and the line that stands above it where it is the first of that.
struct StepInFigure {
  std::size_t step = 0;
  std::optional<WeightLine> line = {};
};

/// Line by line.
std::vector<StepInFigure> order_of_steps(const WeightNumbers& of) {
  std::vector<StepInFigure> order;
  for (std::size_t number = 0; number < kWeightLines; ++number) {
    std::optional line(static_cast<WeightLine>(number));
    const WeightLine which = *line;
    for (std::size_t i = 0; i < of.steps.size(); ++i)
      if (weight_line_of(of.steps[i].name) == which) order.push_back({i, std::exchange(line, std::nullopt)});
  }
  return order;
}

float height_of_line(const StepInFigure& at, const InsideType& type) {
  return at.line ? heading_of_line(type) + numbers_of_line(type, *at.line) + 4 * type.unit : 0;
}

/// The diagram at a size of type that lets it fit into the page.
DiagramLayout diagram_layout(const Diagram& diagram, const Page& page, const FigureOptions& options, float& label) {
  for (;; label *= 0.94f) {
    const DiagramMeasures measures = diagram_measures(style_of(page, options, label).type, 52);
    DiagramLayout layout = layout_diagram(diagram, std::min(page.room(), kWidestDiagram * label), measures);
    if (layout.width <= page.room() || label < kLeastOfDiagram) return layout;
  }
}

}  // namespace

Result<Drawing> draw_steps(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  const Trace& trace = subject.trace;
  const auto cell = TRY(asked_cell(subject, options));
  Page page = new_page(options, measure);
  add_title(page, head_label(options.head), cell_title(subject, options.head, cell));
  const InsideStyle style = style_of(page, options, page.label);
  const std::vector<Step> steps = steps_of(trace, options.head, cell);
  std::vector<MatrixPicture> pictures;
  for (const Step& step : steps) pictures.push_back(picture_of(step));
  const Matrix row = attention_rows(trace, options.head, cell.query, 1);
  const WeightNumbers of{trace, options.head, cell, steps, pictures, row, true};
  const std::vector<StepInFigure> order = order_of_steps(of);
  std::vector<float> heights;
  for (const StepInFigure& at : order)
    heights.push_back(height_of_line(at, style.type) + step_height(steps[at.step], pictures[at.step], style.type));
  const auto columns = std::clamp<std::size_t>(static_cast<std::size_t>(page.room() / (kLeastStep * page.label)), 1,
                                               std::max<std::size_t>(1, order.size()));
  const float gap = 1.5f * page.label;
  const float width = (page.room() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  const std::vector<std::size_t> starts = column_starts(heights, columns);
  float x = page.left(), y = page.y, bottom = page.y;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& [step, line] = order[i];
    if (std::ranges::find(starts, i) != starts.end()) x += width + gap, y = page.y;
    if (line) add_weight_line(page.drawing, style, of, *line, {x, y}, width, 6 * style.type.unit);
    const float above = height_of_line(order[i], style.type);
    add_step(page.drawing, style, trace, steps[step], std::make_shared<const MatrixPicture>(pictures[step]), step,
             {x, y + above, width, heights[i] - above});
    y += heights[i];
    bottom = std::max(bottom, y);
  }
  page.y = bottom;
  return finished(std::move(page), subject, options);
}

Drawing draw_diagram(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  const Trace& trace = subject.trace;
  Page page = new_page(options, measure);
  add_title_of_head(page, subject, options, options.head);
  const Diagram diagram = diagram_of(trace, options.head);
  float label = page.label;
  const DiagramLayout layout = diagram_layout(diagram, page, options, label);
  const Point origin{page.left() + std::max(0.0f, (page.room() - layout.width) / 2), page.y};
  std::vector<SharedPicture> pictures;
  for (const Node& node : diagram.nodes)
    pictures.push_back(std::make_shared<const MatrixPicture>(
        exists(trace, node.shows) ? picture_of(trace, node.shows, options.query.value_or(0), kNodeRows, kNodeColumns)
                                  : MatrixPicture{}));
  add_diagram(page.drawing, style_of(page, options, label), trace, diagram, pictures, layout, origin);
  page.y = origin.y + layout.height;
  return finished(std::move(page), subject, options);
}

Result<Drawing> draw_lens(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  const Trace& trace = subject.trace;
  const auto found = TRY(look_through_layers({std::shared_ptr<const Trace>(std::shared_ptr<const Trace>(), &trace),
                                              options.query.value_or(trace.answering), options.lens},
                                             options.progress ? *options.progress : unwatched()));
  if (!found) return cancelled("lens");
  const LayerLens& lens = *found;
  if (lens.problem && !lens.word) return *lens.problem;
  const Language language = options.language;
  Page page = new_page(options, measure);
  add_title(page, words(language, kInsideWords.lens),
            axis_label(trace.query_tokens().tokens[static_cast<std::size_t>(lens.query)]));
  add_lines(page, lens_title(language, lens), page.label, Role::label, page.ink.text);
  page.y += 0.3f * page.label;
  const Box plot = add_lens(page.drawing, style_of(page, options, page.label), options.colours, lens,
                            {page.left(), page.y, page.room(), page.fair_height()});
  page.y = plot.bottom();
  add_colour_bar(page, {.theme = options.theme, .colours = options.colours}, words(language, kInsideWords.probability),
                 language, false);
  std::vector<std::string> remarks;
  if (lens.problem) remarks.push_back(lens.problem->message());
  if (lens.split) {
    add_lines(page, logit_line(language, lens), page.label, Role::label, page.ink.text);
    auto others = add_largest_terms(page, *lens.split, lens.order, options, [&](const LogitTerm& term) {
      return TermWords{.from = writer_in(language, term.from)};
    });
    if (!others.empty()) remarks.push_back(std::move(others));
  }
  return finished(std::move(page), subject, options, std::nullopt, false, remarks);
}

}  // namespace headlight
