#include "views/flow/flow.h"

#include <cmath>
#include <map>

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
  std::ranges::stable_sort(wanted,
                           [](const SeenLine& a, const SeenLine& b) { return a.line->weight > b.line->weight; });
  return wanted;
}

/// How much lower each line begins and ends than the middle of its words: lines of several heads between the same two
/// words lie beside each other, the strongest in the middle.
std::vector<float> offsets_of(const std::vector<SeenLine>& lines, float thickest, float most) {
  std::map<std::pair<Index, Index>, float> taken;  // between two words, below the middle
  std::vector<float> offsets;
  for (const SeenLine& line : lines) {
    const float width = thickest * line.line->weight;
    const auto [at, first] = taken.try_emplace({line.line->query, line.line->key}, width / 2);
    offsets.push_back(first ? 0 : std::min(at->second + width / 2, most));
    if (!first) at->second += width;
  }
  return offsets;
}

void add_words(Drawing& scene, const FlowLayout& layout, bool query, const std::vector<std::string>& labels,
               const FlowWishes& wishes, const InkColours& ink, const TextWidth& measure) {
  // A pitch below a line of text names every so many words; the lit one always.
  const auto step = std::max<Index>(1, static_cast<Index>(std::ceil(layout.size / layout.pitch)));
  const Index count = query ? layout.queries : layout.keys;
  const Index lit = !wishes.lit ? -1 : query ? wishes.lit->query : wishes.lit->key;
  for (Index i = 0; i < count; ++i) {
    const float y = layout.middle(i);
    if (y < wishes.from_y - layout.size || y > wishes.to_y + layout.size) continue;
    const bool is_lit = lit == i;
    if (!is_lit && (i % step != 0 || (lit >= 0 && std::abs(i - lit) < step))) continue;
    const std::string& label = labels[static_cast<std::size_t>(i)];
    scene.add(text_of({query ? layout.left - layout.gap() : layout.right + layout.gap(), y}, label, layout.size,
                      is_lit ? ink.accent : ink.text, measure, query ? Anchor::right : Anchor::left));
  }
}

}  // namespace

void FlowLayout::centre(float width, float query_width, float key_width, float between, float least_begin) {
  begin = std::max(least_begin, (width - between - query_width - key_width - 2 * gap()) / 2);
  left = begin + query_width + gap();
  right = left + between;
  end = right + gap() + key_width;
}

float line_opacity(float weight) { return std::clamp(0.18f + 0.82f * weight, 0.0f, 1.0f); }

std::vector<Hit> flow_hits(const FlowLayout& layout) {
  std::vector<Hit> hits;
  const auto add = [&](const char* name, Index count, float begin, float end) {
    for (Index i = 0; i < count; ++i)
      hits.push_back({name + std::to_string(i),
                      {begin, layout.top + layout.pitch * static_cast<float>(i), end - begin, layout.pitch}});
  };
  add("flow query ", layout.queries, layout.begin, layout.left);
  add("flow key ", layout.keys, layout.right, layout.end);
  return hits;
}

bool add_flow(Drawing& scene, const FlowLayout& layout, const std::vector<FlowHead>& heads,
              const std::vector<std::string>& query_labels, const std::vector<std::string>& key_labels,
              const FlowWishes& wishes, const InkColours& ink, const TextWidth& measure) {
  std::vector<SeenLine> wanted = wanted_lines(layout, heads, wishes);
  const bool cut = wanted.size() > wishes.most_lines;
  if (cut) wanted.resize(wishes.most_lines);
  const auto curve = [&](Index query, Index key, float width, Rgb colour, float opacity, float lower = 0) {
    scene.add(Curve{{layout.left, layout.middle(query) + lower},
                    {layout.right, layout.middle(key) + lower},
                    width,
                    colour,
                    opacity});
  };
  const auto offsets = offsets_of(wanted, wishes.thickest, layout.pitch / 2);
  for (auto at = wanted.rbegin(); at != wanted.rend(); ++at) {
    const FlowLine& line = *at->line;
    const bool pale = !wishes.word && !wishes.pale.empty() && wishes.pale[static_cast<std::size_t>(line.key)];
    const float share = pale ? kPaleLine : 1;
    curve(line.query, line.key, share * wishes.thickest * line.weight, heads[at->head].colour,
          share * line_opacity(line.weight) * wishes.opacity,
          offsets[static_cast<std::size_t>(wanted.rend() - at - 1)]);
  }
  if (wishes.pinned) curve(wishes.pinned->query, wishes.pinned->key, wishes.pin, ink.accent, 1);
  add_words(scene, layout, true, query_labels, wishes, ink, measure);
  add_words(scene, layout, false, key_labels, wishes, ink, measure);
  return cut;
}

void add_flow_sides(Drawing& scene, const FlowLayout& layout, const std::string& query, const std::string& key, float y,
                    float size, float left, float right, Rgb colour, const TextWidth& measure) {
  const auto add = [&](const std::string& name, bool of_queries) {
    const float width = measure(name, size);
    const float x = of_queries ? std::max(layout.left - layout.gap(), left + width)
                               : std::min(layout.right + layout.gap(), right - width);
    scene.add(text_of({x, y}, name, size, colour, measure, of_queries ? Anchor::right : Anchor::left));
  };
  add(query, true);
  add(key, false);
}

float add_flow_legend(Drawing& scene, const std::vector<FlowLegendEntry>& entries, const FlowLegendSizes& sizes,
                      float left, float right, float y, const TextWidth& measure) {
  float x = left;
  for (const FlowLegendEntry& entry : entries) {
    const std::string label = entry.label + (entry.name.empty() ? "" : " ");
    const float before = sizes.swatch + sizes.gap, of_label = measure(label, sizes.text);
    const float width = before + of_label + (entry.name.empty() ? 0 : measure(entry.name, sizes.text));
    if (x > left && x + width > right) x = left, y += sizes.line;
    if (entry.shown) scene.add(Stroke{{x, y}, {x + sizes.swatch, y}, sizes.thick, entry.swatch});
    else scene.add(Rectangle{{x, y - sizes.thick / 2, sizes.swatch, sizes.thick}, {}, sizes.outline, sizes.thick / 4});
    scene.add(text_of({x + before, y}, label, sizes.text, entry.ink, measure));
    if (!entry.name.empty())
      scene.add(text_of({x + before + of_label, y}, entry.name, sizes.text, entry.name_ink, measure));
    scene.hits.push_back({"flow head " + std::to_string(entry.head), {x, y - sizes.height / 2, width, sizes.height}});
    x += width + sizes.between;
  }
  return y;
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
