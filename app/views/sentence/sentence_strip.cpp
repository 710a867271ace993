// The row of the pinned weight as bars, on an axis up to 1; below it the row of the same word in every other head.
#include <algorithm>
#include <cmath>

#include "figure/head_name.h"
#include "figure/labels.h"
#include "model/head_text.h"
#include "views/sentence/sentence_parts.h"
#include "words/text_words.h"

namespace headlight {
namespace {

/// Heads whose rows look alike are one row of the strip.
struct StripRow {
  std::vector<const SentenceHead*> heads;
  bool named = false, off = false;
  float away = 0;  // the largest weight at another word
};

struct WordStrip {
  std::vector<StripRow> rows;
  // Heads that give other words less than half of their weight, by what has more of the rest.
  std::size_t resting = 0, on_itself = 0;
};

float difference(const SentenceHead& a, const SentenceHead& b, Index row) {
  float sum = 0;
  for (Index j = 0; j < a.weights->cols(); ++j)
    sum += std::abs(SentenceContent::weight(a, row, j) - SentenceContent::weight(b, row, j));
  return sum;
}

WordStrip strip_of(const SentenceContent& content, bool bars) {
  constexpr float kAlike = 0.3f, kLooks = 0.5f;
  const Index row = content.query;
  const bool alone = content.keys.size() == 1;
  WordStrip strip;
  std::vector<StripRow> rows;
  for (const SentenceHead& head : content.heads) {
    const bool pinned = content.pinned && content.pinned->head == head.head;
    if (pinned && bars) continue;
    StripRow one{{&head}, false, head.off};
    float sum = 0, special = content.rests(head, row), own = 0;
    for (Index j = 0; j < std::ssize(content.keys); ++j) {
      const float weight = SentenceContent::weight(head, row, j);
      if (content.keys[static_cast<std::size_t>(j)].special) special += weight;
      else if (!alone && content.one && j == row) own += weight;
      else sum += weight, one.away = std::max(one.away, weight);
    }
    one.named = std::ranges::any_of(content.named,
                                    [&](const SentenceArc& arc) { return arc.query == row && arc.head == head.head; });
    if (!alone && !one.named && !pinned && sum < kLooks) {
      ++(special >= own ? strip.resting : strip.on_itself);
      continue;
    }
    rows.push_back(std::move(one));
  }
  std::ranges::stable_sort(rows, [](const StripRow& a, const StripRow& b) {
    return std::tuple(a.off, !a.named, -a.away) < std::tuple(b.off, !b.named, -b.away);
  });
  for (StripRow& one : rows) {
    const auto alike = [&](const StripRow& other) {
      return !one.named && !other.named && one.off == other.off &&
             difference(*one.heads.front(), *other.heads.front(), row) <= kAlike;
    };
    const auto known = alone ? strip.rows.end() : std::ranges::find_if(strip.rows, alike);
    if (known != strip.rows.end()) known->heads.push_back(one.heads.front());
    else strip.rows.push_back(std::move(one));
  }
  return strip;
}

/// The cells of the strip under the words: they meet in the middle of the gaps; that of a word alone is `wide`.
std::vector<Box> cells_of(const WordLines& words, float wide) {
  std::vector<Box> cells;
  const auto& places = words.places;
  if (places.size() == 1) {
    wide = std::max(wide, places[0].w);
    return {{places[0].middle() - wide / 2, 0, wide, 0}};
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto between = [&](std::size_t a) { return (places[a].x + places[a].w + places[a + 1].x) / 2; };
    const float from = i == 0 ? places[i].x : between(i - 1);
    const float to = i + 1 < places.size() ? between(i) : places[i].x + places[i].w;
    cells.push_back({from, 0, to - from, 0});
  }
  return cells;
}

/// Calm diagonals over what a mask hides.
void hatch(SentenceCanvas& canvas, const Box& box) {
  const Rgb line = blocked_colours(canvas.wishes.theme).line;
  for (float x = box.x - box.h + 6; x < box.right(); x += 6) {
    const float from = std::max(x, box.x), to = std::min(x + box.h, box.right());
    canvas.drawing.add(Stroke{{from, box.bottom() - (from - x)}, {to, box.bottom() - (to - x)}, 1, line});
  }
}

/// A number where it has room.
void number_in(SentenceCanvas& canvas, const Box& box, const std::string& text, Rgb ink) {
  constexpr float kSize = 12;
  if (canvas.width(text, kSize) + 4 <= box.w)
    canvas.text({box.x + box.w / 2, box.y + box.h / 2}, text, kSize, ink, Anchor::middle);
}

std::string cut_words(const SentenceCanvas& canvas, const std::string& text, float size, float room) {
  return cut_to(text, room, [&](const std::string& part) { return canvas.width(part, size); });
}

/// Of several lines of words the strip has columns of its own, with words that stand upright above them.
float own_columns(SentenceCanvas& canvas, std::vector<Box>& cells, float y) {
  const SentenceContent& content = canvas.content;
  const float head = canvas.frame.low ? 48 : 62, left = canvas.left() + canvas.frame.gutter;
  const auto count = static_cast<float>(content.keys.size());
  const float wide = std::min(40 * canvas.frame.k, (canvas.right() - left) / count);
  for (std::size_t i = 0; i < content.keys.size(); ++i) {
    const float x = left + static_cast<float>(i) * wide;
    cells.push_back({x, 0, wide, 0});
    const auto index = static_cast<Index>(i);
    const bool lit = content.pinned && (content.pinned->query == index || content.pinned->key == index);
    const std::string& word = content.keys[i].label;
    const Rgb ink = lit ? canvas.inks.accent : canvas.inks.dim;
    const float size = std::min(12.5f, wide);
    if (stands_upright(word) && canvas.width(word, size) <= wide)
      canvas.text({x + wide / 2, y + head - 10}, word, size, ink, Anchor::middle);
    else
      canvas.text({x + wide / 2, y + head - 4}, cut_words(canvas, word, size, head - 8), size, ink, Anchor::left,
                  TextRotation::upwards);
  }
  return y + head;
}

std::string label_of(const SentenceCanvas& canvas, const HeadRef& head) {
  const Trace* trace = canvas.content.trace;
  return trace ? map_label(canvas.wishes.language, *trace, head) : head_label(head);
}

void add_bars(SentenceCanvas& canvas, const std::vector<Box>& cells, float y, float height) {
  constexpr float kMostWide = 44, kLeastNumber = 0.03f, kLeastInside = 18;
  const SentenceContent& content = canvas.content;
  const SentenceArc& pinned = *content.pinned;
  const SentenceHead& head = *content.of(pinned.head);
  const SentenceInks& inks = canvas.inks;
  const float first = cells.front().x, last = cells.back().right(), bottom = y + height, edge = canvas.left();
  const float axis = edge + canvas.frame.gutter - 14;
  canvas.drawing.add(Stroke{{first, y}, {last, y}, 1, inks.line});
  const float name = canvas.frame.gutter - 28;
  const std::string looks = filled(headlight::words(canvas.wishes.language, kTextWords.looks),
                                   {content.queries[static_cast<std::size_t>(content.query)].label});
  const std::string& word = content.queries[static_cast<std::size_t>(content.query)].label;
  canvas.text({edge, y + 7}, cut_words(canvas, canvas.width(looks, 12.5f) <= name ? looks : word, 12.5f, name), 12.5f,
              inks.dim);
  canvas.text({edge, y + 27}, label_of(canvas, pinned.head), 15, inks.accent);
  canvas.text({axis, y + 5}, "1", 12, inks.dim, Anchor::right);
  canvas.text({axis, bottom - 4}, "0", 12, inks.dim, Anchor::right);
  const float rests = content.rests(head, content.query);
  if (head.rests)
    canvas.drawing.add(Rectangle{.box = {first - 10, bottom - rests * height, 7, rests * height}, .fill = inks.grey});
  if (rests >= 0.005f && height > 46)
    canvas.text({edge, y + 47},
                cut_words(canvas,
                          filled(headlight::words(canvas.wishes.language, kTextWords.share_rests),
                                 {share_text(static_cast<double>(rests))}),
                          12, name),
                12, inks.dim);
  for (std::size_t j = 0; j < cells.size(); ++j) {
    const auto column = static_cast<Index>(j);
    const Box& cell = cells[j];
    const float weight = SentenceContent::weight(head, content.query, column), tall = std::min(1.0f, weight) * height;
    const float wide = std::min(cell.w > 12 ? cell.w - 4 : cell.w - 2, kMostWide);
    const Box bar{cell.x + (cell.w - wide) / 2, bottom - tall, wide, tall};
    if ((*head.weights)(content.query, column) < 0) hatch(canvas, {cell.x, y, cell.w, height});
    canvas.drawn.columns.push_back({cell.x, y, cell.w, height});
    canvas.drawing.hits.push_back({"bar " + std::to_string(j), canvas.drawn.columns.back()});
    if (weight < 0.005f) continue;
    const bool lit = column == pinned.key;
    const Rgb fill = lit ? inks.accent : inks.action;
    canvas.drawing.add(Rectangle{.box = bar, .fill = fill});
    if (lit && pinned.by_hand)
      canvas.drawing.add(Rectangle{.box = {bar.right() - 6, bar.y, 6, 6}, .fill = inks.action});
    if (weight < kLeastNumber) continue;
    const std::string number = cell_number(weight);
    const bool inside = tall > kLeastInside && canvas.width(number, 12) + 4 <= bar.w;
    number_in(canvas, inside ? Box{bar.x, bar.y + 2, bar.w, 14} : Box{cell.x, std::max(y, bar.y - 15), cell.w, 14},
              number, inside ? text_on(fill) : inks.dim);
  }
  canvas.drawing.add(Stroke{{first, bottom}, {last, bottom}, 1, inks.outline});
  canvas.drawn.bars = {first, y, last - first, height};
}

/// The heads of a row in the gutter: "L1·H6 +2", and what the first does where that fits.
void add_row_title(SentenceCanvas& canvas, const StripRow& row, float y, float height) {
  constexpr float kSize = 12.5f;
  const SentenceContent& content = canvas.content;
  const SentenceHead& head = *row.heads.front();
  const float edge = canvas.left() + canvas.frame.gutter - 16, middle = y + height / 2;
  const std::string more = row.heads.size() > 1 ? " +" + std::to_string(row.heads.size() - 1) : "";
  const std::string title = label_of(canvas, head.head) + more;
  const bool lit = canvas.wishes.head == head.head || (content.pinned && content.pinned->head == head.head);
  const Rgb ink = lit ? canvas.inks.accent : canvas.inks.text;
  canvas.text({canvas.left(), middle}, title, kSize, row.off ? mixed(canvas.inks.ground, ink, 0.45f) : ink);
  const float begin = canvas.left() + canvas.width(title, kSize) + 6;
  const auto arc = std::ranges::find_if(
      content.named, [&](const SentenceArc& one) { return one.query == content.query && one.head == head.head; });
  const auto index = static_cast<std::size_t>(&head - content.heads.data());
  std::string name;
  if (arc != content.named.end()) name = arc_name(canvas.wishes.language, arc->relation, arc->reversed);
  else if (index < canvas.wishes.names.size()) name = canvas.wishes.names[index];
  if (name.empty() || begin + canvas.width(name, kSize) > edge) return;
  canvas.text({begin, middle}, name, kSize,
              arc != content.named.end() ? relation_colour(canvas.wishes.theme, arc->relation, true) : canvas.inks.dim);
}

void add_row(SentenceCanvas& canvas, const StripRow& row, const std::vector<Box>& cells, float y, float height) {
  constexpr float kLeastNumber = 0.095f;
  const SentenceContent& content = canvas.content;
  const SentenceHead& head = *row.heads.front();
  const ColourScale scale = canvas.wishes.scale.value_or(
      ColourScale{.theme = canvas.wishes.theme, .top = 1, .colours = canvas.wishes.colours});
  const float first = cells.front().x, last = cells.back().right();
  const auto faded = [&](Rgb colour) { return row.off ? mixed(canvas.inks.ground, colour, 0.35f) : colour; };
  canvas.drawing.add(Rectangle{{first, y, last - first, height}, {}, canvas.inks.line, 1});
  if (const float rests = content.rests(head, content.query); rests > 0.05f)
    canvas.drawing.add(
        Rectangle{.box = {first - 8, y, 4, height}, .fill = mixed(canvas.inks.ground, canvas.inks.grey, rests)});
  for (std::size_t j = 0; j < cells.size(); ++j) {
    const Box cell{cells[j].x, y + 1, cells[j].w - 0.5f, height - 1};
    const float weight = (*head.weights)(content.query, static_cast<Index>(j));
    if (weight < 0) {
      hatch(canvas, cell);
      continue;
    }
    if (weight < 0.004f) continue;
    const Rgb fill = faded(colour_of(scale, weight));
    canvas.drawing.add(Rectangle{.box = cell, .fill = fill});
    if (weight >= kLeastNumber && height >= 13) number_in(canvas, cell, cell_number(weight), text_on(fill));
  }
  if (row.off) canvas.drawing.add(Stroke{{first, y + height / 2}, {last, y + height / 2}, 1, canvas.inks.outline});
  add_row_title(canvas, row, y, height);
  const Box box{canvas.left(), y, last - canvas.left(), height};
  canvas.drawn.rows.push_back({head.head, box});
  canvas.drawing.hits.push_back({"row " + head_text(head.head), box});
}

/// The row of a word in each of two answers, and their difference, under the words.
void add_compared_rows(SentenceCanvas& canvas, const std::vector<Box>& cells, float y) {
  constexpr float kLeastNumber = 0.095f, kTitle = 15, kBetween = 3;
  const SentenceContent& content = canvas.content;
  const float first = cells.front().x, last = cells.back().right();
  const float room = (canvas.frame.box.bottom() - y) / static_cast<float>(content.rows.size()) - kBetween;
  const float height = std::floor(std::clamp(room, 12.0f, 36 * canvas.frame.k));
  for (const SentenceRow& row : content.rows) {
    canvas.text({canvas.left(), y + height / 2}, row.title, std::min(kTitle, height), row.ink);
    for (std::size_t j = 0; j < cells.size(); ++j) {
      const Box cell{cells[j].x, y + 1, cells[j].w - 0.5f, height - 1};
      const float value = (*row.cells)(content.query, static_cast<Index>(j));
      const bool blocked = value < (row.scale.diverging ? -1.5f : 0);  // −inf of a difference
      const Rgb fill = std::isnan(value) ? gap_colour(canvas.wishes.theme) : colour_of(row.scale, value);
      if (blocked) hatch(canvas, cell);
      else if (std::isnan(value) || std::abs(value) >= 0.004f) canvas.drawing.add(Rectangle{.box = cell, .fill = fill});
      if (blocked || !(std::abs(value) >= kLeastNumber) || height < 13) continue;
      number_in(canvas, cell, row.scale.diverging ? signed_cell_number(value) : cell_number(value), text_on(fill));
    }
    canvas.drawing.add(Rectangle{{first, y, last - first, height}, {}, canvas.inks.line, 1});
    y += height + kBetween;
  }
  for (std::size_t j = 0; j < cells.size(); ++j) {
    const float top = y - static_cast<float>(content.rows.size()) * (height + kBetween);
    canvas.drawn.columns.push_back({cells[j].x, top, cells[j].w, y - top});
    canvas.drawing.hits.push_back({"bar " + std::to_string(j), canvas.drawn.columns.back()});
  }
}

}  // namespace

void add_strip(SentenceCanvas& canvas, const WordLines& words, float y) {
  const SentenceContent& content = canvas.content;
  const SentenceFrame& frame = canvas.frame;
  const bool one_line = words.lines == 1;
  std::vector<Box> cells;
  if (one_line) cells = cells_of(words, lone_column(frame));
  else y = own_columns(canvas, cells, y);
  if (!content.rows.empty()) return add_compared_rows(canvas, cells, y + 4);
  float bars = std::round((one_line ? 64 : 46) * frame.k),
        least = std::round((frame.low || frame.box.h < 500 ? 16 : 18) * std::min(frame.k, 1.2f));
  if (frame.low) bars = one_line ? 44 : 0;
  if (!content.pinned) bars = 0;
  if (bars > 0) {
    add_bars(canvas, cells, y, bars);
    y += bars + 8;
  }
  const WordStrip strip = strip_of(content, bars > 0);
  const float room = frame.box.bottom() - 18 - y;
  const auto fit = static_cast<std::size_t>(std::max(0.0f, room / (least + 1)));
  const std::size_t shown = std::min(fit, strip.rows.size());
  if (shown == 0) return;
  const float height = std::floor(std::clamp(room / static_cast<float>(shown) - 1, least, 30 * frame.k));
  std::size_t more = 0;
  for (std::size_t i = 0; i < strip.rows.size(); ++i) {
    if (i >= shown) {
      more += strip.rows[i].heads.size();
      continue;
    }
    add_row(canvas, strip.rows[i], cells, y, height);
    y += height + 1;
  }
  const Language language = canvas.wishes.language;
  const auto said = [&](std::size_t count, const Words& singular, const Words& plural) {
    return filled(headlight::words(language, count == 1 ? singular : plural), {std::to_string(count)});
  };
  std::string line;
  if (more > 0) line = said(more, kTextWords.more_head, kTextWords.more_heads_here);
  const auto and_of = [&](std::size_t count, const Words& singular, const Words& plural) {
    if (count > 0) line += (line.empty() ? "" : " · ") + said(count, singular, plural);
  };
  and_of(strip.resting, kTextWords.head_rests, kTextWords.heads_rest);
  and_of(strip.on_itself, kTextWords.head_on_itself, kTextWords.heads_on_itself);
  if (!line.empty()) canvas.text({cells.front().x, y + 9}, line, 13, canvas.inks.dim);
}

}  // namespace headlight
