#include "figure/map_kinds.h"

#include <algorithm>
#include <numeric>

#include "base/formatted.h"
#include "figure/difference_words.h"
#include "figure/labels.h"
#include "model/head_text.h"
#include "words/enum_words.h"
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
  return filled(words(language, line), {words(language, kind == MapKind::norms     ? kMapKindWords.norms
                                                        : kind == MapKind::rollout ? kMapKindWords.rollout
                                                                                   : kMapKindWords.summed)});
}

std::string reduction_caption(Language language, const ReducedMaps& maps) {
  const auto& [traces, stack, by, only, without_special, renormalize] = maps.of;
  const auto at = static_cast<std::size_t>(by.by);
  std::vector<std::string> parts;
  const auto add = [&](const Words& line, std::initializer_list<std::string> values = {}) {
    parts.push_back(filled(words(language, line), values));
  };
  const auto listed_heads = [](const std::vector<HeadRef>& heads) {
    return joined_texts(heads, ", ", [](const HeadRef& head) { return head_text({head.layer, head.head}); });
  };
  const bool rolled = by.by == ReduceBy::rollout;
  if (by.heads || by.layers || rolled) {
    const Words& of = rolled       ? (by.layers ? kReduceWords.up_to_last : kReduceWords.up_to_each)
                      : !by.layers ? kReduceWords.of_heads
                      : by.heads   ? kReduceWords.of_both
                                   : kReduceWords.of_layers;
    add(kReduceWords.by[at], {words(language, of)});
  }
  if (!only.empty()) add(kReduceWords.chosen, {listed_heads(only)});
  if (by.tokens || by.words) {
    add(by.words ? kReduceWords.of_words : kReduceWords.of_tokens);
    add(kReduceWords.blocks[by.by == ReduceBy::rollout ? 0 : at]);
  }
  if (by.sentences) {
    if (!by.heads && !by.layers) add(kReduceWords.by[at], {words(language, kReduceWords.of_sentences)});
    add(kReduceWords.positions, {std::to_string(traces.size()), std::to_string(maps.rows().size())});
  }
  if (!maps.off.empty()) add(kReduceWords.left_out, {listed_heads(maps.off)});
  if (rolled && !traces.front()->request.edits.off.empty()) add(kReduceWords.pass_nothing);
  if (by.by == ReduceBy::max || by.by == ReduceBy::sum) add(kReduceWords.rows);
  return in_a_line(parts);
}

ColourScale head_scale(Theme theme) { return {.theme = theme, .colours = ColourMap::heads}; }

std::vector<std::string> coloured_head_names(Language language, const DerivedMaps& maps, Stack stack) {
  std::vector<std::string> names;
  for (const HeadRef& head : maps.coloured[static_cast<std::size_t>(stack)])
    names.push_back(maps.has_layers(stack) ? "H" + std::to_string(head.head) : head_label(head));
  if (maps.others[static_cast<std::size_t>(stack)]) names.emplace_back(words(language, kReduceWords.others));
  return names;
}

std::string summed_title(Language language, const DerivedMaps* maps, const HeadRef& head) {
  if (!maps || (maps->has_layers(head.stack) && maps->has_heads(head.stack))) return {};
  if (maps->has_layers(head.stack)) return layer_title(language, head.layer);
  return maps->has_heads(head.stack) ? "H" + std::to_string(head.head) : number_title(language, maps->kind);
}

std::string summed_title(Language language, const Reduction& by, const HeadRef& head) {
  const bool has_heads = !by.heads && by.by != ReduceBy::rollout;
  if (!by.layers) return has_heads ? head_label(head) : layer_title(language, head.layer);
  return has_heads ? "H" + std::to_string(head.head) : number_title(language, kind_of(by.by));
}

std::vector<Token> blocks_in(Language language, std::vector<Token> blocks) {
  for (Token& block : blocks) {
    for (const Words& name : kReduceWords.block_names)
      if (block.text == name.en) block.text = words(language, name);
    if (const auto role = value_named<ChatRole>(kChatRoles, block.text))
      block.text = words(language, role_words(*role));
  }
  return blocks;
}

ColourScale other_scale(const DerivedMaps& maps, Theme theme, Scale scale) {
  if (maps.trace->is_signed) return {.theme = theme, .top = nice_range(maps.largest), .diverging = true};
  // Unlike weights, of which many heads have some near 1, norms and shares would leave half of the colours unused.
  const bool shares = maps.kind != MapKind::norms && maps.kind != MapKind::sum;
  const float largest = shares ? std::min(maps.largest, 1.0f) : maps.largest;
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

std::vector<Index> layers_of(const FigureSubject& subject, const FigureOptions& options) {
  if (options.layers) return *options.layers;
  std::vector<Index> all(static_cast<std::size_t>(subject.trace.num_layers(options.head.stack)));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

std::vector<HeadRef> maps_of_layers(const FigureSubject& subject, const FigureOptions& options) {
  const Stack stack = options.head.stack;
  const DerivedMaps* other = other_maps_of(subject, stack);
  std::vector<HeadRef> all;
  for (const Index layer : other && !other->has_layers(stack) ? std::vector<Index>{0} : layers_of(subject, options))
    for (Index head = 0; head < (other && !other->has_heads(stack) ? 1 : subject.trace.num_heads(stack)); ++head)
      if (!other || other->place_of({layer, head, stack})) all.push_back({layer, head, stack});
  return all;
}

}  // namespace headlight
