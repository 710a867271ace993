#include "views/inside/inside_scene.h"

#include <algorithm>
#include <cmath>

#include "figure/labels.h"
#include "figure/map_scene.h"
#include "views/inside/inside_labels.h"
#include "words/explain_words.h"

namespace headlight {
namespace {

/// As many of the numbers as fit into a line.
std::string numbers_that_fit(const Matrix& values, float size, float room, const TextWidth& measure) {
  if (values.size() == 1) return exact_number(values(0, 0));
  std::string line;
  for (Index i = 0; i < values.size(); ++i) {
    const std::string more = line + (i > 0 ? "   " : "") + brief_number(values.data()[i]);
    if (measure(more + "   …", size) > room) return line + "   …";
    line = more;
  }
  return line;
}

bool is_number(const Step& step) { return step.value.size() == 1; }

float strip_height(const MatrixPicture& picture, float unit) {
  return std::clamp(static_cast<float>(picture.rows) * 2, 8.0f, 24.0f) * unit;
}

void add_picture(Drawing& scene, const InsideStyle& style, const SharedPicture& picture, const Box& box,
                 const MatrixId& id) {
  scene.add(Cells{box, SharedMatrix(picture, &picture->values), picture_scale(style.theme, *picture, is_signed(id))});
  scene.add(style.pen.frame(box, style.ink.line));
}

void add_edge(Drawing& scene, const InsideStyle& style, const std::vector<Point>& line, Point origin,
              const Edge& edge) {
  for (std::size_t i = 1; i < line.size(); ++i)
    scene.add(Stroke{{origin.x + line[i - 1].x, origin.y + line[i - 1].y},
                     {origin.x + line[i].x, origin.y + line[i].y},
                     edge.residual ? style.residual_width : style.edge_width,
                     edge.residual ? style.faint : style.edge,
                     i + 1 == line.size() ? 4 * style.type.unit : 0});
}

void add_node(Drawing& scene, const InsideStyle& style, const Trace& trace, const Node& node,
              const SharedPicture& picture, const Box& box, bool chosen) {
  const InsideType& type = style.type;
  const float inset = 5 * type.unit, room = box.w - 2 * inset, y = box.y + 2 * type.unit + type.small_line / 2;
  scene.hits.push_back({"node " + node.id, box});
  scene.add(Rectangle{box, style.ground, chosen ? style.ink.accent : style.frame,
                      chosen ? 2 * style.pen.width : style.pen.width, style.corner});
  if (picture->values.size() > 0) {
    Box cells{box.x + inset, box.y + type.small_line + 4 * type.unit, room, box.h - type.small_line - 8 * type.unit};
    // Cells of attention are as high as wide, as everywhere; of vectors a strip is enough.
    if (shows_pairs(node))
      cells.w = std::min(
          room, std::round(cells.h * static_cast<float>(picture->columns) / static_cast<float>(picture->rows)));
    add_picture(scene, style, picture, cells, node.shows);
    const float beside = cells.right() + 4 * inset, width = std::min(box.right() - 2 * inset - beside, 20 * type.small);
    if (shows_pairs(node) && width > 6 * type.small)
      add_ramp(scene,
               {{beside, cells.y + cells.h / 2 - 8 * type.unit, width, 8 * type.unit},
                picture_scale(style.theme, *picture, is_signed(node.shows))},
               type.small, style.ink, style.pen, style.measure);
  }
  const std::string title = cut_to(node_title(style.language, node), type.small, room + 0.8f * inset, style.measure);
  const Text named =
      text_of({box.x + inset, y}, title, type.small, chosen ? style.ink.accent : style.ink.text, style.measure);
  scene.add(named);
  if (!exists(trace, node.shows)) return;
  const Shape size = shape(trace, node.shows);
  const std::string dims = std::to_string(size.rows) + "×" + std::to_string(size.cols);
  if (named.width + style.measure(dims, type.small) + inset <= room)
    scene.add(text_of({box.right() - inset, y}, dims, type.small, style.ink.dim, style.measure, Anchor::right));
}

}  // namespace

float step_height(const Step& step, const MatrixPicture& picture, const InsideType& type) {
  return type.title_line + 2 * type.small_line + (is_number(step) ? 0 : strip_height(picture, type.unit)) +
         16 * type.unit;
}

void add_step(Drawing& scene, const InsideStyle& style, const Trace& trace, const Step& step,
              const SharedPicture& picture, std::size_t index, const Box& box, bool chosen) {
  const InsideType& type = style.type;
  const float inset = 6 * type.unit, left = box.x + inset, room = box.w - 2 * inset;
  const float first = box.y + 4 * type.unit + type.title_line / 2;
  float y = first;
  y += (type.title_line + type.small_line) / 2 + type.unit;
  const float formula = y;
  y += type.small_line / 2 + 2 * type.unit;
  scene.hits.push_back({"step " + step.name, box});
  if (!is_number(step)) {
    const Box strip{left, y, room, strip_height(*picture, type.unit)};
    add_picture(scene, style, picture, strip, step.id);
    y += strip.h + 2 * type.unit;
  }
  const std::string dims = step.shape.rows == 1 && step.shape.cols == 1 ? std::string{} : shape_text(step.shape);
  const float dims_width = dims.empty() ? 0 : style.measure(dims, type.small) + inset;
  const std::string title = std::to_string(index + 1) + "  " + step_title(style.language, trace, step);
  Text named = text_of({left, first}, cut_to(title, type.title, room - dims_width, style.measure), type.title,
                       chosen ? style.ink.accent : style.ink.text, style.measure);
  named.role = Role::title;
  scene.add(std::move(named));
  const auto small = [&](float at, const std::string& text, Rgb colour) {
    scene.add(text_of({left, at}, text, type.small, colour, style.measure));
  };
  if (!dims.empty())
    scene.add(text_of({left + room, first}, dims, type.small, style.ink.dim, style.measure, Anchor::right));
  small(formula, cut_to(step_formula(style.language, trace, step), type.small, room, style.measure), style.ink.dim);
  small(y + type.small_line / 2, numbers_that_fit(step.value, type.small, room, style.measure), style.ink.text);
}

DiagramMeasures diagram_measures(const InsideType& type, float least_node) {
  return {.node_height = type.small_line + 32 * type.unit,
          .pattern_height = type.small_line + 104 * type.unit,
          .gap = 14 * type.unit,
          .side_gap = 8 * type.unit,
          .lane = 9 * type.unit,
          .least_node = least_node * type.unit};
}

void add_diagram(Drawing& scene, const InsideStyle& style, const Trace& trace, const Diagram& diagram,
                 const std::vector<SharedPicture>& pictures, const DiagramLayout& layout, Point origin,
                 const std::optional<MatrixId>& chosen) {
  for (std::size_t e = 0; e < layout.edges.size(); ++e)
    add_edge(scene, style, layout.edges[e], origin, diagram.edges[e]);
  for (std::size_t n = 0; n < diagram.nodes.size(); ++n) {
    const Box& node = layout.nodes[n];
    add_node(scene, style, trace, diagram.nodes[n], pictures[n], {origin.x + node.x, origin.y + node.y, node.w, node.h},
             chosen == diagram.nodes[n].shows);
  }
}

Box add_lens(Drawing& scene, const InsideStyle& style, ColourMap colours, const LayerLens& lens, const Box& area) {
  constexpr float kWidestCell = 110, kHighestCell = 26;  // pixels of the design
  const InsideType& type = style.type;
  const Index layers = lens.probabilities.rows(), columns = lens.probabilities.cols();
  const auto label = [](Index layer) { return "L" + std::to_string(layer); };
  const float gap = 4 * type.unit, left = style.measure(label(layers), type.small) + gap;
  const float width = std::min((area.w - left) / static_cast<float>(columns), kWidestCell * type.unit);
  const float head = type.small_line + gap;
  const float height = std::min((area.h - head) / static_cast<float>(layers), kHighestCell * type.unit);
  const Box plot{area.x + left, area.y + head, width * static_cast<float>(columns),
                 height * static_cast<float>(layers)};
  const ColourScale scale{.theme = style.theme, .colours = colours};
  scene.hits.push_back({"lens", plot});
  scene.add(Cells{plot, shared(lens.probabilities), scale});
  scene.add(style.pen.frame(plot, style.ink.line));
  const float size = std::min(type.small, height / 1.15f);
  const auto add = [&](Point at, std::string text, float room, Rgb colour, Anchor anchor) {
    scene.add(text_of(at, cut_to(text, size, room, style.measure), size, colour, style.measure, anchor));
  };
  const auto middle = [&](Index column) { return plot.x + (static_cast<float>(column) + 0.5f) * width; };
  for (Index column = 0; column < columns; ++column) {
    const bool chosen = lens.chosen_column() == column;
    const auto& tokens = lens.trace->query_tokens().tokens;
    const std::string text =
        lens.ranks ? std::to_string(column + 1) : axis_label(tokens[static_cast<std::size_t>(lens.first + column)]);
    add({middle(column), plot.y - gap - size / 2}, text, width - gap, chosen ? style.ink.accent : style.ink.dim,
        Anchor::middle);
  }
  for (Index layer = 0; layer < layers; ++layer) {
    const float y = plot.y + (static_cast<float>(layer) + 0.5f) * height;
    add({plot.x - gap, y}, label(layer), left, style.ink.dim, Anchor::right);
    for (Index column = 0; column < columns; ++column) {
      Token word;
      word.text = lens.cells[static_cast<std::size_t>(layer)][static_cast<std::size_t>(column)].text;
      add({middle(column), y}, axis_label(word), width - gap,
          text_on(colour_of(scale, lens.probabilities(layer, column))), Anchor::middle);
    }
  }
  return plot;
}

}  // namespace headlight
