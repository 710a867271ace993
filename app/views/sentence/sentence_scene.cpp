#include "views/sentence/sentence_scene.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "figure/labels.h"
#include "views/sentence/sentence_parts.h"

namespace headlight {
namespace {

/// Everything of an item, and of a box, so much larger; of a text from right to left mirrored, but for its words.
struct Enlarger {
  float by;
  bool mirrored = false;
  float edges = 0;  // of the scene, the sum of the left and the right one
  float across(float x, float width) const { return by * (mirrored ? edges - x - width : x); }
  Point point(Point at) const { return {across(at.x, 0), by * at.y}; }
  Box box(const Box& of) const { return {across(of.x, of.w), by * of.y, by * of.w, by * of.h}; }
  void operator()(Cells& cells) const { cells.box = box(cells.box); }
  void operator()(Image& image) const { image.box = box(image.box); }
  void operator()(Ramp& ramp) const { ramp.box = box(ramp.box); }
  void operator()(Rectangle& one) const { one.box = box(one.box), one.width *= by, one.corner *= by; }
  void operator()(Stroke& one) const {
    one.from = point(one.from), one.to = point(one.to), one.width *= by, one.head *= by;
  }
  void operator()(Curve& one) const { one.from = point(one.from), one.to = point(one.to), one.width *= by; }
  void operator()(Path& one) const {
    for (Point& at : one.points) at = point(at);
    one.width *= by, one.dash *= by, one.head *= by;
  }
  void operator()(Text& one) const {
    one.at = point(one.at);
    if (mirrored && one.turn == TextRotation::level && one.anchor != Anchor::middle)
      one.anchor = one.anchor == Anchor::left ? Anchor::right : Anchor::left;
    one.size *= by, one.width *= by;
  }
};

/// The arcs that are bold: those with names, and the pinned one.
std::vector<SentenceArc> bold_arcs(const SentenceContent& content) {
  std::vector<SentenceArc> arcs = content.named;
  if (!content.pinned || (content.one && content.pinned->query == content.pinned->key)) return arcs;
  const SentenceArc& pinned = *content.pinned;
  std::erase_if(arcs, [&](const SentenceArc& arc) { return arc.query == pinned.query && arc.key == pinned.key; });
  const bool special = content.queries[static_cast<std::size_t>(pinned.query)].special ||
                       content.keys[static_cast<std::size_t>(pinned.key)].special;
  if (!special || !content.one) arcs.push_back(pinned);  // a decoder may have read nothing else yet
  return arcs;
}

/// How high the parts below the words are, at least.
float strip_height(const SentenceFrame& frame, std::size_t lines) {
  const float rows = frame.low ? (lines > 1 ? 2.0f : 3.0f) : 5, row = frame.low ? 15 : std::round(16 * frame.k);
  return (frame.low ? 48 : 62) + (frame.low ? 0 : std::round(46 * frame.k)) + 8 + rows * (row + 1) + 24;
}

void add_one(SentenceCanvas& canvas) {
  const SentenceContent& content = canvas.content;
  const SentenceFrame& frame = canvas.frame;
  const std::vector<SentenceArc> arcs = bold_arcs(content);
  const WordLines words = word_lines(canvas, content.queries, arcs);
  const float chip = words.height(), tall = frame.box.h;
  std::vector<float> tops, areas;
  if (words.lines == 1) {
    areas.push_back(std::round(tall * (frame.low ? 0.38f : content.queries.size() == 1 ? 0.12f : 0.42f)));
  } else {
    const auto lines = static_cast<float>(words.lines);
    const float area = std::max(22 * lines, tall - strip_height(frame, words.lines) - (chip + 8) * lines);
    std::vector<float> wanted;
    float sum = 0;
    for (std::size_t line = 0; line < words.lines; ++line) {
      wanted.push_back(std::max(1.6f, static_cast<float>(lanes_of(canvas, words, arcs, line))));
      sum += wanted.back();
    }
    for (const float lanes : wanted) areas.push_back(area * lanes / sum);
  }
  float y = frame.box.y;
  for (const float area : areas) {
    tops.push_back(std::round(y + area));
    y += area + chip + (words.lines == 1 ? 0 : 8);
  }
  add_arcs(canvas, words, arcs, tops, areas);
  add_chips(canvas, content.queries, words, tops, true);
  canvas.drawn.lines = words.lines;
  canvas.drawn.type = words.size;
  add_strip(canvas, words, tops.back() + chip + 6);
}

/// Two sentences: the one that looks above the other.
void add_two(SentenceCanvas& canvas) {
  const SentenceContent& content = canvas.content;
  const Box& box = canvas.frame.box;
  const std::vector<SentenceArc> arcs = bold_arcs(content);
  WordLines upper = word_lines(canvas, content.queries, {}), lower = word_lines(canvas, content.keys, {});
  const float between = std::round(0.34f * box.h), top = box.y + 2;
  std::vector<float> of_upper, of_lower;
  for (std::size_t i = 0; i < upper.lines; ++i) of_upper.push_back(top + static_cast<float>(i) * (upper.height() + 8));
  const float from = of_upper.back() + upper.height() + 2;
  for (std::size_t i = 0; i < lower.lines; ++i)
    of_lower.push_back(from + between + static_cast<float>(i) * (lower.height() + 8));
  add_crossings(canvas, upper, lower, arcs, from, of_lower.front() - 2);
  add_chips(canvas, content.queries, upper, of_upper, true);
  add_chips(canvas, content.keys, lower, of_lower, false);
  canvas.drawn.lines = std::max(upper.lines, lower.lines);
  canvas.drawn.type = std::min(upper.size, lower.size);
  add_strip(canvas, lower, of_lower.back() + lower.height() + 6);
}

}  // namespace

void SentenceCanvas::text(Point at, const std::string& text, float size, Rgb colour, Anchor anchor, TextRotation turn) {
  drawing.add(text_of(at, text, size, colour, width, anchor, Role::label, turn));
}

void add_chips(SentenceCanvas& canvas, const std::vector<SentenceWord>& words, const WordLines& lines,
               const std::vector<float>& tops, bool queries) {
  const SentenceContent& content = canvas.content;
  const SentenceInks& inks = canvas.inks;
  const float high = lines.height();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const WordPlace& place = lines.places[i];
    const auto index = static_cast<Index>(i);
    const Box box{place.x, tops[place.line], place.w, high};
    const auto& pinned = content.pinned;
    const bool looks = queries && content.query == index;
    const bool lit =
        pinned && ((queries && pinned->query == index) || ((content.one || !queries) && pinned->key == index));
    const auto row = canvas.wishes.word.value_or(-1);
    const bool hidden = (content.one || !queries) && row >= 0 && content.heads.front().weights->coeff(row, index) < 0;
    canvas.drawing.add(Rectangle{.box = box, .fill = looks && lit ? inks.selected : inks.chip, .corner = 4});
    if (hidden)
      for (float x = box.x + 6; x < box.right(); x += 6)
        canvas.drawing.add(Stroke{{x - 5, box.bottom() - 1},
                                  {std::min(x + high - 8, box.right() - 1), box.y + 1},
                                  1,
                                  blocked_colours(canvas.wishes.theme).line});
    const bool unknown = queries && i < canvas.wishes.unknown.size() && canvas.wishes.unknown[i];
    if (unknown)
      canvas.drawing.add(Rectangle{{box.x + 0.5f, box.y + 0.5f, box.w - 1, box.h - 1}, {}, inks.caution, 1, 4});
    if (lit || looks)
      canvas.drawing.add(Rectangle{
          {box.x + 0.75f, box.y + 0.75f, box.w - 1.5f, box.h - 1.5f}, {}, lit ? inks.accent : inks.outline, 1.5f, 4});
    canvas.text({place.middle(), box.y + high / 2}, words[i].label, lines.size,
                hidden    ? inks.dim
                : unknown ? inks.caution
                : lit     ? inks.accent
                          : words[i].ink.value_or(inks.text),
                Anchor::middle);
    float x = place.x + lines.pad;
    for (std::size_t p = 0; p + 1 < words[i].pieces.size(); ++p) {
      x += canvas.width(words[i].pieces[p], lines.size);
      if (x > box.right()) break;  // of a word that is cut
      canvas.drawing.add(Rectangle{.box = {x - 0.5f, box.bottom() - 4, 1, 4}, .fill = inks.outline});
    }
    (queries ? canvas.drawn.words : canvas.drawn.keys).push_back(box);
    canvas.drawing.hits.push_back({(queries ? "word " : "key ") + std::to_string(i), box});
  }
}

Box DrawnSentence::Arc::box() const {
  float x0 = line.front().x, x1 = x0, y0 = line.front().y, y1 = y0;
  for (const Point& at : line) {
    x0 = std::min(x0, at.x), x1 = std::max(x1, at.x);
    y0 = std::min(y0, at.y), y1 = std::max(y1, at.y);
  }
  return {x0, y0, x1 - x0, y1 - y0};
}

float DrawnSentence::Arc::distance(Point from) const {
  float least = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const Point a = line[i], b = line[i + 1];
    const float dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    const float t = length > 0 ? std::clamp(((from.x - a.x) * dx + (from.y - a.y) * dy) / length, 0.0f, 1.0f) : 0;
    least = std::min(least, std::hypot(from.x - a.x - t * dx, from.y - a.y - t * dy));
  }
  return least;
}

DrawnSentence add_sentence(Drawing& scene, const SentenceContent& content, const SentenceFrame& frame,
                           const SentenceWishes& wishes, float unit, const TextWidth& measure) {
  SentenceCanvas canvas{content, frame, wishes, sentence_inks(wishes.theme),
                        [&](std::string_view text, float size) { return measure(text, size * unit) / unit; }};
  canvas.inks.ground = wishes.ground.value_or(canvas.inks.ground);
  if (content.one) add_one(canvas);
  else add_two(canvas);
  DrawnSentence& drawn = canvas.drawn;
  for (const DrawnSentence::Arc& arc : drawn.arcs)
    canvas.drawing.hits.push_back(
        {"arc " + std::to_string(arc.arc.query) + " " + std::to_string(arc.arc.key), arc.box()});
  const Enlarger larger{unit, begins_right_to_left(content.queries.front().label), frame.box.x + frame.box.right()};
  for (Item& item : canvas.drawing.items) {
    std::visit(larger, item);
    scene.items.push_back(std::move(item));
  }
  for (Hit& hit : canvas.drawing.hits) scene.hits.push_back({std::move(hit.name), larger.box(hit.box)});
  for (DrawnSentence::Arc& arc : drawn.arcs)
    for (Point& at : arc.line) at = larger.point(at);
  for (auto* boxes : {&drawn.words, &drawn.keys, &drawn.columns})
    for (Box& box : *boxes) box = larger.box(box);
  for (DrawnSentence::Row& row : drawn.rows) row.box = larger.box(row.box);
  drawn.bars = larger.box(drawn.bars);
  return std::move(drawn);
}

}  // namespace headlight
