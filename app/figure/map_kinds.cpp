#include "figure/map_kinds.h"

#include <algorithm>
#include <numeric>

#include "figure/labels.h"
#include "words/words.h"

namespace headlight {

namespace {

struct KindWords {
  Words title, line, formula, caption;
};
/// In the order of MapKind.
constexpr KindWords kKindWords[] = {
    {.title = {"weight", "权重"},
     .line = {"α: the share of its attention that the row's word gives to the column's (Vaswani et al. 2017).",
              "α：行词元分给列词元的注意力份额 (Vaswani et al. 2017)。"},
     .formula = {"The softmax of the scaled scores, after mask and edits: each row sums to 1, or to less in a head "
                 "with a sink.",
                 "缩放后的打分经 softmax，已含掩码与改动：每行之和为 1，有注意力汇的头则小于 1。"},
     .caption = {"", ""}},
    {.title = {"norm", "范数"},
     .line = {"‖α f(x)‖: how long a vector the head brings from the column's word to the row's "
              "(Kobayashi et al. 2020).",
              "‖α f(x)‖：该头从列词元带给行词元的向量有多长 (Kobayashi et al. 2020)。"},
     .formula =
         {"The weight α times the length of f(x) = (x W_V + b_V) W_O, with the head's own part of W_O: a "
          "word that is much looked at may have little to give.",
          "权重 α 乘以 f(x) = (x W_V + b_V) W_O 的长度，W_O 取该头自己的部分：被看得多的词元也可能没有多少可给。"},
     .caption = {"norms ‖α f(x)‖ of what the heads add (Kobayashi et al. 2020)",
                 "各头所加向量的范数 ‖α f(x)‖（Kobayashi et al. 2020）"}},
    {.title = {"rollout", "累积"},
     .line = {"How much of the column's word is in the row's after all layers up to this one (Abnar & Zuidema 2020).",
              "经过到这一层为止的所有层，列词元有多少进入了行词元 (Abnar & Zuidema 2020)。"},
     .formula = {"The product of the layers, the first at the right, each half the mean of its heads and half the "
                 "word itself; rows sum to 1. Heads that are off count as nothing.",
                 "各层相乘，第一层在最右；每层一半是各头的平均，一半是词元自身；每行之和为 1。关闭的头不计入。"},
     .caption = {"attention rollout up to each layer (Abnar & Zuidema 2020)",
                 "到各层为止的注意力累积 rollout（Abnar & Zuidema 2020）"}},
};
const KindWords& kind_words(MapKind kind) { return kKindWords[static_cast<std::size_t>(kind)]; }

}  // namespace

const char* number_title(Language language, MapKind kind) { return words(language, kind_words(kind).title); }
const char* kind_line(Language language, MapKind kind) { return words(language, kind_words(kind).line); }
const char* kind_formula(Language language, MapKind kind) { return words(language, kind_words(kind).formula); }
const char* kind_caption(Language language, MapKind kind) { return words(language, kind_words(kind).caption); }

std::string why_not_line(Language language, MapKind kind, MapUnavailable why) {
  const std::string name =
      either(language, kind == MapKind::norms ? "Norms" : "Rollout", kind == MapKind::norms ? "范数" : "累积");
  switch (why) {
    case MapUnavailable::no_values:
      return name + either(language,
                           ": this file has weights only, not the vectors that they weigh. Weights are shown.",
                           "：该文件只有权重，没有被加权的向量。显示的是权重。");
    case MapUnavailable::two_sequences:
      return name + either(language,
                           ": the rows and the columns here are different words, so that layers do not follow one "
                           "another. Weights are shown.",
                           "：这里的行与列是不同的词元，各层不能首尾相接。显示的是权重。");
    case MapUnavailable::too_long: break;
  }
  return name + either(language, ": only for sentences of up to 128 tokens. Weights are shown.",
                       "：只用于不超过 128 个词元的句子。显示的是权重。");
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
  return scale;
}

ColourScale own_scale(ColourScale scale, const Matrix& weights, const FigureOptions& options) {
  if (options.own_range && weights.size() > 0) scale.top = nice_range(weights.maxCoeff());
  return scale;
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
