#include "figure/line_bars.h"

#include <algorithm>
#include <cmath>

#include "figure/labels.h"

namespace headlight {

Box LineLayout::bars_of(Index head) const {
  return {bars.x, bars.y + static_cast<float>(head) * pitch, bars.w, pitch - gap};
}

Index LineLayout::bars_drawn() const { return std::min<Index>(count, std::max<Index>(1, static_cast<Index>(bars.w))); }

float LineLayout::bar_width() const { return bars.w / static_cast<float>(bars_drawn()); }

std::optional<Index> LineLayout::bar_at(float x) const {
  if (x < bars.x || x >= bars.right()) return std::nullopt;
  return std::min<Index>(bars_drawn() - 1, static_cast<Index>((x - bars.x) / bar_width()));
}

LineLayout line_layout(const Box& area, Index heads, Index count, const LabelMetrics& words, const LineSizes& sizes) {
  LineLayout layout{.bars = {}, .gap = sizes.gap, .count = count};
  const float width = area.w - sizes.titles - sizes.tops;
  layout.level = words.widest + 0.5f * sizes.text <= width / static_cast<float>(count);
  const float above = layout.level    ? sizes.text
                      : words.upright ? sizes.text * static_cast<float>(words.longest)
                                      : words.widest;
  const float top = std::min(above, sizes.most_words) + 2 * sizes.gap;
  layout.pitch = std::clamp((area.h - top) / static_cast<float>(heads), sizes.least_pitch, sizes.most_pitch);
  layout.bars = {area.x + sizes.titles, area.y + top, width, layout.pitch - sizes.gap};
  return layout;
}

std::vector<Bar> bars_of_head(const LineLayout& layout, Index head, const Vector& weights, float top) {
  std::vector<Bar> bars;
  if (weights.size() != layout.count) return bars;
  const Box box = layout.bars_of(head);
  const float width = layout.bar_width(), inset = width > 8 ? std::round(width * 0.12f) : 0;
  for (Index bar = 0; bar < layout.bars_drawn(); ++bar) {
    const Index first = layout.first_of(bar), end = layout.first_of(bar + 1);
    Index strongest = 0;
    const float weight = weights.segment(first, end - first).maxCoeff(&strongest);
    const float height = box.h * std::clamp(weight / top, 0.0f, 1.0f);
    const float x = box.x + static_cast<float>(bar) * width;
    bars.push_back({{x + inset, box.bottom() - height, width - 2 * inset, height}, first, end, first + strongest});
  }
  return bars;
}

float top_of_line(const Vector& weights, float shared, bool own) {
  if (!own || weights.size() == 0) return shared;
  const float largest = weights.maxCoeff();
  return largest > 0 ? largest : shared;
}

float top_of_weights(float largest) { return largest < 1e-6f ? 1 : nice_top(largest); }

std::vector<Text> words_above(const LineLayout& layout, const std::vector<std::string>& words,
                              const LabelMetrics& metrics, std::optional<Index> lit, float size, float text,
                              const InkColours& ink, const TextWidth& measure) {
  std::vector<Text> above;
  const float pitch = layout.bars.w / static_cast<float>(layout.count);
  const Index step = label_step(text, pitch);
  const float bottom = layout.bars.y - layout.gap;
  const TextRotation turn = layout.level      ? TextRotation::level
                            : metrics.upright ? TextRotation::stacked
                                              : TextRotation::upwards;
  for (Index i = 0; i < std::min(layout.count, static_cast<Index>(words.size())); ++i) {
    const bool is_lit = lit == i;
    if (!is_lit && (i % step != 0 || (lit && std::abs(*lit - i) < step))) continue;
    const std::string& word = words[static_cast<std::size_t>(i)];
    above.push_back(
        {.at = {layout.bars.x + (static_cast<float>(i) + 0.5f) * pitch, layout.level ? bottom - text / 2 : bottom},
         .text = word,
         .size = size,
         .width = measure(word, size),
         .role = Role::label,
         .colour = is_lit ? ink.accent : ink.dim,
         .anchor = Anchor::middle,
         .turn = turn});
  }
  return above;
}

const char* line_title(Language language, bool of_query, MapKind kind) {
  switch (kind) {
    case MapKind::weights: break;
    case MapKind::norms:
      return of_query ? either(language, "takes, in every head, from", "在每个头里取自")
                      : either(language, "gives, in every head, to", "在每个头里给予");
    case MapKind::rollout:
      return of_query ? either(language, "contains, layer by layer,", "在各层中含有")
                      : either(language, "is contained, layer by layer, in", "在各层中进入");
  }
  return of_query ? either(language, "looks, in every head, at", "在每个头里看向")
                  : either(language, "is looked at, in every head, by", "在每个头里被谁看");
}

}  // namespace headlight
