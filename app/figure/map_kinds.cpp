#include "figure/map_kinds.h"

#include <algorithm>
#include <numeric>

#include "figure/labels.h"
#include "words/figure_words.h"
#include "words/words.h"

namespace headlight {

namespace {

const auto& kind_words(MapKind kind) { return kMapKindWords.kinds[static_cast<std::size_t>(kind)]; }

}  // namespace

const char* number_title(Language language, MapKind kind) { return words(language, kind_words(kind).title); }
const char* kind_line(Language language, MapKind kind) { return words(language, kind_words(kind).line); }
const char* kind_formula(Language language, MapKind kind) { return words(language, kind_words(kind).formula); }
const char* kind_caption(Language language, MapKind kind) {
  if (kind == MapKind::weights) return "";
  return words(language, kMapKindWords.captions[static_cast<std::size_t>(kind) - 1]);
}

std::string why_not_line(Language language, MapKind kind, MapUnavailable why) {
  const Words& line = why == MapUnavailable::no_values       ? kMapKindWords.no_values
                      : why == MapUnavailable::two_sequences ? kMapKindWords.two_sequences
                      : why == MapUnavailable::below_zero    ? kMapKindWords.below_zero
                                                             : kMapKindWords.too_long;
  return filled(words(language, line),
                {words(language, kind == MapKind::norms ? kMapKindWords.norms : kMapKindWords.rollout)});
}

ColourScale other_scale(const DerivedMaps& maps, Theme theme, Scale scale) {
  // Unlike weights, of which many heads have some near 1, norms and shares would leave half of the colours unused.
  const float largest = maps.kind == MapKind::rollout ? std::min(maps.largest, 1.0f) : maps.largest;
  const float top = nice_range(largest);
  for (const float part : {0.48f, 0.6f, 0.8f})
    if (part * top >= largest) return {.theme = theme, .scale = scale, .top = part * top};
  return {.theme = theme, .scale = scale, .top = top};
}

const DerivedMaps* other_maps_of(const FigureSubject& subject, Stack stack) {
  return subject.other && !subject.other->stacks[static_cast<std::size_t>(stack)].empty() ? subject.other : nullptr;
}

MapKind kind_of(const FigureSubject& subject, Stack stack) {
  const DerivedMaps* other = other_maps_of(subject, stack);
  return other ? other->kind : MapKind::weights;
}

ColourScale map_scale(const FigureSubject& subject, const FigureOptions& options) {
  const DerivedMaps* other = other_maps_of(subject, options.head.stack);
  ColourScale scale = other ? other_scale(*other, options.theme, options.scale)
                            : weight_scale(subject.trace, subject.folded, options.theme, options.scale);
  scale.colours = options.colours;
  return in_range(scale, options.range);
}

ColourScale own_scale(ColourScale scale, const Matrix& weights, const FigureOptions& options) {
  return options.own_range && !options.range && weights.size() > 0 ? of_numbers(scale, weights) : scale;
}

Index maps_a_layer(const FigureSubject& subject, Stack stack) {
  return kind_of(subject, stack) == MapKind::rollout ? 1 : subject.trace.num_heads(stack);
}

std::vector<Index> layers_of(const FigureSubject& subject, const FigureOptions& options) {
  if (options.layers) return *options.layers;
  std::vector<Index> all(static_cast<std::size_t>(subject.trace.num_layers(options.head.stack)));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

std::vector<HeadRef> maps_of_layers(const FigureSubject& subject, const FigureOptions& options) {
  const Stack stack = options.head.stack;
  std::vector<HeadRef> all;
  for (const Index layer : layers_of(subject, options))
    for (Index head = 0; head < maps_a_layer(subject, stack); ++head) all.push_back({layer, head, stack});
  return all;
}

}  // namespace headlight
