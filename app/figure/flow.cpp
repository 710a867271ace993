#include "figure/flow.h"

#include <cmath>

namespace headlight {
namespace {

struct SeenLine {
  const FlowLine* line;
  std::size_t head;
};

bool touches(const FlowWord& word, const FlowLine& line) { return (word.query ? line.query : line.key) == word.index; }

/// The lines that are wanted and seen, the strongest first.
std::vector<SeenLine> wanted_lines(const FlowLayout& layout, const std::vector<FlowHead>& heads,
                                   const FlowWishes& wishes) {
  const auto seen = [&](Index row) {
    const float y = layout.middle(row);
    return y >= wishes.from_y && y <= wishes.to_y;
  };
  std::vector<SeenLine> wanted;
  for (std::size_t head = 0; head < heads.size(); ++head)
    for (const FlowLine& line : *heads[head].lines) {
      if (line.weight < wishes.threshold) break;
      if (line.query >= layout.queries || line.key >= layout.keys) continue;
      if (wishes.word && !touches(*wishes.word, line)) continue;
      if (seen(line.query) || seen(line.key)) wanted.push_back({&line, head});
    }
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const SeenLine& a, const SeenLine& b) { return a.line->weight > b.line->weight; });
  return wanted;
}

Text word_of(const FlowLayout& layout, bool query, Index index, const std::string& label, Rgb colour,
             const TextWidth& measure) {
  const float gap = 0.4f * layout.size;
  return {.at = {query ? layout.left - gap : layout.right + gap, layout.middle(index)},
          .text = label,
          .size = layout.size,
          .width = measure(label, layout.size),
          .role = Role::label,
          .colour = colour,
          .anchor = query ? Anchor::right : Anchor::left};
}

}  // namespace

std::optional<Index> FlowLayout::row_at(float y, Index count) const {
  const auto row = static_cast<Index>(std::floor((y - top) / pitch));
  return row >= 0 && row < count ? std::optional(row) : std::nullopt;
}

float line_opacity(float weight) { return std::clamp(0.18f + 0.82f * weight, 0.0f, 1.0f); }

FlowItems flow_items(const FlowLayout& layout, const std::vector<FlowHead>& heads,
                     const std::vector<std::string>& query_labels, const std::vector<std::string>& key_labels,
                     const FlowWishes& wishes, const InkColours& ink, const TextWidth& measure) {
  FlowItems items;
  std::vector<SeenLine> wanted = wanted_lines(layout, heads, wishes);
  items.cut = wanted.size() > wishes.most_lines;
  if (items.cut) wanted.resize(wishes.most_lines);
  for (auto at = wanted.rbegin(); at != wanted.rend(); ++at) {
    const FlowLine& line = *at->line;
    const bool pale = !wishes.word && !wishes.pale.empty() && wishes.pale[static_cast<std::size_t>(line.key)];
    const float share = pale ? kPaleLine : 1;
    items.lines.push_back({.from = {layout.left, layout.middle(line.query)},
                           .to = {layout.right, layout.middle(line.key)},
                           .width = share * wishes.thickest * line.weight,
                           .colour = heads[at->head].colour,
                           .opacity = share * line_opacity(line.weight)});
  }
  const auto add_words = [&](bool query, Index count, const std::vector<std::string>& labels) {
    // A pitch below a line of text names every so many words; the lit one always.
    const auto step = std::max<Index>(1, static_cast<Index>(std::ceil(layout.size / layout.pitch)));
    const Index lit = !wishes.lit ? -1 : query ? wishes.lit->query : wishes.lit->key;
    for (Index i = 0; i < count; ++i) {
      const float y = layout.middle(i);
      if (y < wishes.from_y - layout.size || y > wishes.to_y + layout.size) continue;
      const bool is_lit = lit == i;
      if (!is_lit && (i % step != 0 || (lit >= 0 && std::abs(i - lit) < step))) continue;
      items.words.push_back(
          word_of(layout, query, i, labels[static_cast<std::size_t>(i)], is_lit ? ink.accent : ink.text, measure));
    }
  };
  add_words(true, layout.queries, query_labels);
  add_words(false, layout.keys, key_labels);
  return items;
}

std::optional<CellRef> strongest_of(const std::vector<FlowHead>& heads, const FlowWord& word) {
  const FlowLine* strongest = nullptr;
  for (const FlowHead& head : heads)
    for (const FlowLine& line : *head.lines)
      if (touches(word, line)) {
        if (!strongest || line.weight > strongest->weight) strongest = &line;
        break;  // the lines of a head come strongest first
      }
  return strongest ? std::optional(CellRef{strongest->query, strongest->key}) : std::nullopt;
}

}  // namespace headlight
