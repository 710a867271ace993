// Arcs over a sentence. Those with names and the pinned one are bold: flat at the top, in lanes, each above all that it
// spans. Those without are hair-thin behind them. One over a line break is in two halves, as a tie in printed music.
#include <algorithm>
#include <cmath>

#include "figure/labels.h"
#include "views/sentence/sentence_lanes.h"

namespace headlight {
namespace {

constexpr float kCircle = 0.5523f;  // of a quarter as a cubic curve

void line_to(std::vector<Point>& points, Point to) {
  const Point from = points.back();
  points.insert(points.end(), {from, to, to});
}

/// Points along cubic curves.
std::vector<Point> sampled(const std::vector<Point>& curves) {
  constexpr int kSteps = 10;
  std::vector<Point> line{curves.front()};
  for (std::size_t i = 0; i + 3 < curves.size(); i += 3)
    for (int s = 1; s <= kSteps; ++s) {
      const float t = static_cast<float>(s) / kSteps, r = 1 - t;
      const float a = r * r * r, b = 3 * r * r * t, c = 3 * r * t * t, d = t * t * t;
      line.push_back({a * curves[i].x + b * curves[i + 1].x + c * curves[i + 2].x + d * curves[i + 3].x,
                      a * curves[i].y + b * curves[i + 1].y + c * curves[i + 2].y + d * curves[i + 3].y});
    }
  return line;
}

Rgb colour_of_arc(const SentenceCanvas& canvas, const SentenceArc& arc, bool letters) {
  if (arc.change) return diverging_map(canvas.wishes.theme)[*arc.change > 0 ? 255 : 0];
  if (is_lit_arc(canvas.wishes, arc) && !arc.pinned) return canvas.inks.text;
  if (arc.pinned) return canvas.inks.accent;
  return relation_colour(canvas.wishes.theme, arc.relation, letters);
}

/// The curves of an arc whose ends stand at `y`.
std::vector<Point> curves_of(const LaidArc& one, float y, float tip) {
  const float top = y - one.height, way = one.to > one.from ? 1 : -1;
  float rx = std::min(one.span() / 2, std::clamp(one.height * 0.7f, 18.0f, 60.0f));
  const float ry = std::max(1.0f, std::min(one.height - tip - 1, std::max(18.0f, one.height * 0.85f))), k = kCircle;
  if (!one.away) {
    std::vector<Point> points{{one.from, y}};
    line_to(points, {one.from, top + ry});
    points.insert(points.end(),
                  {{one.from, top + ry * (1 - k)}, {one.from + way * rx * (1 - k), top}, {one.from + way * rx, top}});
    line_to(points, {one.to - way * rx, top});
    points.insert(points.end(), {{one.to - way * rx * (1 - k), top}, {one.to, top + ry * (1 - k)}, {one.to, top + ry}});
    line_to(points, {one.to, y - tip});
    return points;
  }
  // From the edge of the stage to a word, or from a word to the edge.
  const bool arrives = *one.away == one.arc->query;
  const float word = arrives ? one.to : one.from, edge = arrives ? one.from : one.to, side = edge > word ? 1 : -1;
  rx = std::min({rx, 40.0f, std::abs(edge - word) / 2});
  const std::vector<Point> shoulder{
      {word + side * rx, top}, {word + side * rx * (1 - k), top}, {word, top + ry * (1 - k)}, {word, top + ry}};
  std::vector<Point> points{{edge, top}};
  line_to(points, shoulder[0]);
  points.insert(points.end(), {shoulder[1], shoulder[2], shoulder[3]});
  line_to(points, {word, arrives ? y - tip : y});
  if (!arrives) std::ranges::reverse(points);
  return points;
}

void draw_arc(SentenceCanvas& canvas, const LaidArc& one, float y) {
  constexpr float kTip = 7;
  const SentenceArc& arc = *one.arc;
  const bool arrives = !one.away || *one.away == arc.query;
  Path path{.points = curves_of(one, y, arrives ? kTip : 0),
            .width = width_of_arc(arc),
            .colour = colour_of_arc(canvas, arc, false),
            .opacity = (is_faint_arc(canvas.wishes, arc) ? 0.25f : 1) * canvas.wishes.opacity,
            .dash = arc.by_hand || arc.off ? 6.0f : 0.0f,
            .head = arrives ? kTip + 1 : 0};
  canvas.drawn.arcs.push_back({arc, sampled(path.points)});
  canvas.drawing.add(std::move(path));
}

/// Names on the flat tops, moved aside within the span where legs of others pass; one that would lie on another is left
/// out.
void draw_names(SentenceCanvas& canvas, const std::vector<const LaidArc*>& order, float y, float size, bool shows) {
  struct Leg {
    float x, high;
    const LaidArc* of;
  };
  std::vector<Leg> legs;
  std::vector<std::pair<Box, const LaidArc*>> taken;
  for (const LaidArc* one : order) {
    for (const float x : {one->x0, one->x1}) legs.push_back({x, y - one->height + 12, one});
    if (one->arc->pinned) taken.push_back({{one->x0 + 12, y - one->height - 4, one->span() - 24, 8}, one});
  }
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const LaidArc& one = **at;
    if (one.name.empty() || !(shows || one.arc->pinned || is_lit_arc(canvas.wishes, *one.arc))) continue;
    const float half = one.label / 2 - 2, top = y - one.height, type = type_of_name(*one.arc, size);
    float middle = one.away ? (one.onwards ? canvas.right() - half : canvas.left() + half) : one.middle;
    const float reach = one.away ? 0 : one.label < one.span() ? std::max(0.0f, one.span() / 2 - half - 6) : 14;
    const auto cost = [&](float x) {
      const auto hit = std::ranges::count_if(legs, [&](const Leg& leg) {
        return leg.of != &one && leg.high < top - 4 && x - half - 3 < leg.x && leg.x < x + half + 3;
      });
      return static_cast<float>(hit) * 40 + std::abs(x - (one.x0 + one.x1) / 2);
    };
    middle = std::clamp(middle, canvas.left() + half, std::max(canvas.left() + half, canvas.right() - half));
    float best = middle;
    for (float x = middle - std::floor(reach); x <= middle + reach; x += 2)
      if (x - half >= canvas.left() && x + half <= canvas.right() && cost(x) < cost(best)) best = x;
    const float over = 6 + width_of_arc(*one.arc) / 2;
    const Box box{best - half, top - over - type * 0.62f, 2 * half, type * 0.95f};
    const auto overlaps = [&](const auto& other) {
      return other.second != &one && other.first.x < box.right() && box.x < other.first.right() &&
             other.first.y < box.bottom() && box.y < other.first.bottom();
    };
    if (std::ranges::any_of(taken, overlaps)) continue;
    taken.push_back({box, &one});
    const bool faint = is_faint_arc(canvas.wishes, *one.arc);
    canvas.drawing.add(Rectangle{.box = box, .fill = canvas.inks.ground, .corner = 2, .opacity = 0.85f});
    const Rgb ink = colour_of_arc(canvas, *one.arc, true);
    canvas.text({best, box.y + box.h / 2}, one.name, type, faint ? mixed(canvas.inks.ground, ink, 0.35f) : ink,
                Anchor::middle);
  }
}

/// The half of an ellipse from word to word, without an arrowhead at rest.
void draw_thin(SentenceCanvas& canvas, const WordLines& words, const SentenceArc& arc, float y, float area,
               float longest) {
  const auto middle = [&](Index word) { return words.places[static_cast<std::size_t>(word)].middle(); };
  const bool lit = is_lit_arc(canvas.wishes, arc), faint = is_faint_arc(canvas.wishes, arc);
  const float from = middle(arc.query), to = middle(arc.key), half = (from + to) / 2, k = kCircle;
  const float height = std::max(6.0f, (area - 8) * (words.lines == 1 ? 0.8f : 1.0f) *
                                          std::min(1.0f, std::pow(std::abs(to - from) / longest, 0.75f)));
  const float tip = lit ? 7 : 0;
  Path path{.points = {{from, y},
                       {from, y - height * k},
                       {half + (from - half) * k, y - height},
                       {half, y - height},
                       {half + (to - half) * k, y - height},
                       {to, y - height * k},
                       {to, y - tip}},
            .width = lit ? 0.8f + 2.2f * arc.weight : 0.6f + 0.9f * arc.weight,
            .colour = lit ? canvas.inks.text : canvas.inks.grey,
            .opacity = (lit     ? 1
                        : faint ? 0.15f
                                : 0.25f + 0.3f * arc.weight) *
                       canvas.wishes.opacity,
            .head = lit ? tip + 1 : 0};
  canvas.drawn.arcs.push_back({arc, sampled(path.points)});
  canvas.drawing.add(std::move(path));
  if (!lit) return;
  const std::string number = cell_number(arc.weight);
  const float wide = canvas.width(number, 11) + 4;
  canvas.drawing.add(Rectangle{{half - wide / 2, y - height - 13, wide, 11}, canvas.inks.ground, {}, 0, 2, 0.85f});
  canvas.text({half, y - height - 7.5f}, number, 11, canvas.inks.text, Anchor::middle);
}

}  // namespace

std::size_t lanes_of(const SentenceCanvas& canvas, const WordLines& words, const std::vector<SentenceArc>& arcs,
                     std::size_t line) {
  return count_of(laid_out(canvas, words, arcs, ports_of(words, arcs), line, 13));
}

std::vector<SentenceArc> thin_arcs(SentenceCanvas& canvas, const std::vector<SentenceArc>& bold) {
  const SentenceContent& content = canvas.content;
  const SentenceWishes& wishes = canvas.wishes;
  std::vector<SentenceArc> thin;
  std::vector<float> all;  // the weights of pairs, of arcs that are bold among them
  for (Index i = 0; i < std::ssize(content.queries); ++i)
    for (Index j = 0; j < std::ssize(content.keys); ++j) {
      const int by = content.by[static_cast<std::size_t>(i * std::ssize(content.keys) + j)];
      const bool special =
          content.queries[static_cast<std::size_t>(i)].special || content.keys[static_cast<std::size_t>(j)].special;
      if (by < 0 || special || (content.one && i == j) || content.best(i, j) < 0.1f) continue;
      all.push_back(content.best(i, j));
      const auto is_bold = [&](const SentenceArc& arc) { return arc.query == i && arc.key == j; };
      if (std::ranges::any_of(bold, is_bold)) continue;
      thin.push_back(content.arc_of(content.heads[static_cast<std::size_t>(by)], i, j));
    }
  const auto is_near = [&](const SentenceArc& arc) { return content.one && std::abs(arc.query - arc.key) < 2; };
  float least = wishes.threshold.value_or(kLeastArc);
  if (!wishes.threshold) {
    std::vector<float> weights;
    for (const SentenceArc& arc : thin)
      if (!is_near(arc)) weights.push_back(arc.weight);
    std::ranges::sort(weights, std::greater());
    const auto count = [&] { return std::ranges::count_if(weights, [&](float weight) { return weight >= least; }); };
    while (count() > static_cast<std::ptrdiff_t>(kMostThinArcs) && least < 0.949f)
      least = std::round((least + 0.05f) * 20) / 20;
  }
  canvas.drawn.threshold = least;
  canvas.drawn.above = std::ranges::count_if(all, [&](float weight) { return weight >= least; });
  // Neighbours stand while their word is pointed at.
  std::erase_if(thin, [&](const SentenceArc& arc) {
    const bool pointed = wishes.word == arc.query && arc.weight >= std::min(least, kLeastArc);
    return !pointed && (arc.weight < least || is_near(arc));
  });
  return thin;
}

void add_arcs(SentenceCanvas& canvas, const WordLines& words, const std::vector<SentenceArc>& arcs,
              const std::vector<float>& tops, const std::vector<float>& areas) {
  const Ports ports = ports_of(words, arcs);
  const std::vector<SentenceArc> thin = thin_arcs(canvas, arcs);
  const auto line_of = [&](Index word) { return words.places[static_cast<std::size_t>(word)].line; };
  const auto draw_all_thin = [&](bool lit) {
    for (const SentenceArc& arc : thin) {
      const std::size_t line = line_of(arc.query);
      if (line != line_of(arc.key) || is_lit_arc(canvas.wishes, arc) != lit) continue;
      float first = canvas.right(), last = canvas.left();
      for (const WordPlace& place : words.places)
        if (place.line == line) first = std::min(first, place.middle()), last = std::max(last, place.middle());
      draw_thin(canvas, words, arc, tops[line] - 2, areas[line] - 2, std::max(1.0f, last - first));
    }
  };
  draw_all_thin(false);
  for (std::size_t line = 0; line < words.lines; ++line) {
    float size = areas[line] >= 120 ? 13 : 12;
    std::vector<LaidArc> laid = laid_out(canvas, words, arcs, ports, line, size);
    if (laid.empty()) continue;
    const bool shows = raise_arcs(canvas, laid, areas[line] - 2, size);
    if ((areas[line] - 10) / static_cast<float>(count_of(laid)) < 18) size = 11;
    std::vector<const LaidArc*> order;
    for (const LaidArc& one : laid) order.push_back(&one);
    std::ranges::stable_sort(order, [&](const LaidArc* a, const LaidArc* b) {
      const auto rank = [&](const LaidArc* one) {
        return std::tuple(one->arc->pinned || is_lit_arc(canvas.wishes, *one->arc), -static_cast<int>(one->lane));
      };
      return rank(a) < rank(b);
    });
    for (const LaidArc* one : order) draw_arc(canvas, *one, tops[line] - 2);
    draw_names(canvas, order, tops[line] - 2, size, shows);
  }
  draw_all_thin(true);
}

void add_crossings(SentenceCanvas& canvas, const WordLines& upper, const WordLines& lower,
                   const std::vector<SentenceArc>& arcs, float from, float to) {
  std::vector<SentenceArc> all = thin_arcs(canvas, arcs);
  const std::size_t thin = all.size();
  all.insert(all.end(), arcs.begin(), arcs.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const SentenceArc& arc = all[i];
    const float a = upper.places[static_cast<std::size_t>(arc.query)].middle(),
                b = lower.places[static_cast<std::size_t>(arc.key)].middle(), middle = (from + to) / 2;
    const bool bold = i >= thin, lit = is_lit_arc(canvas.wishes, arc), faint = is_faint_arc(canvas.wishes, arc);
    Path path{.points = {{a, from}, {a, middle}, {b, middle}, {b, to - (bold || lit ? 7 : 0)}},
              .width = bold ? width_of_arc(arc) : 0.6f + 0.9f * arc.weight,
              .colour = bold  ? colour_of_arc(canvas, arc, false)
                        : lit ? canvas.inks.text
                              : canvas.inks.grey,
              .opacity = (faint         ? 0.2f
                          : bold || lit ? 1
                                        : 0.25f + 0.3f * arc.weight) *
                         canvas.wishes.opacity,
              .dash = arc.by_hand || arc.off ? 6.0f : 0.0f,
              .head = bold || lit ? 8.0f : 0.0f};
    canvas.drawn.arcs.push_back({arc, sampled(path.points)});
    canvas.drawing.add(std::move(path));
    const std::string name = bold ? name_of_arc(canvas, arc, 90, 13) : "";
    if (!arc.pinned || name.empty()) continue;
    const float wide = canvas.width(name, 14) + 6, x = (a + b) / 2;
    canvas.drawing.add(Rectangle{{x - wide / 2, middle - 9, wide, 18}, canvas.inks.ground, {}, 0, 2, 0.85f});
    canvas.text({x, middle}, name, 14, canvas.inks.accent, Anchor::middle);
  }
}

}  // namespace headlight
