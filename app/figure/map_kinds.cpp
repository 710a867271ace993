#include "figure/map_kinds.h"

#include "figure/labels.h"

namespace headlight {

const char* number_title(Language language, MapKind kind) {
  switch (kind) {
    case MapKind::weights: break;
    case MapKind::norms: return either(language, "norm", "范数");
    case MapKind::rollout: return either(language, "rollout", "累积");
  }
  return either(language, "weight", "权重");
}

const char* kind_line(Language language, MapKind kind) {
  switch (kind) {
    case MapKind::weights: break;
    case MapKind::norms:
      return either(language,
                    "A square is ‖α f(x)‖: how long the vector is that the head brings from the column's word to the "
                    "row's, its weight times what there is to take (Kobayashi et al. 2020).",
                    "每个方格是 ‖α f(x)‖：该头从列词元带给行词元的向量有多长，即权重乘以可取之量（Kobayashi et al. 2020）。");
    case MapKind::rollout:
      return either(language,
                    "A square is how much of the column's word has come into the row's through all layers up to this "
                    "one: half the mean of the heads, half the word itself, multiplied (Abnar & Zuidema 2020).",
                    "每个方格是经过到这一层为止的所有层，列词元有多少进入了行词元：各头平均占一半、词元自身占一半，逐层相乘"
                    "（Abnar & Zuidema 2020）。");
  }
  return either(language,
                "A square is α: the share of its attention that the row's word gives to the column's (Vaswani et al. 2017).",
                "每个方格是 α：行词元分给列词元的注意力份额（Vaswani et al. 2017）。");
}

const char* kind_caption(Language language, MapKind kind) {
  switch (kind) {
    case MapKind::weights: break;
    case MapKind::norms:
      return either(language, "norms ‖α f(x)‖ of what the heads add (Kobayashi et al. 2020)",
                    "各头所加向量的范数 ‖α f(x)‖（Kobayashi et al. 2020）");
    case MapKind::rollout:
      return either(language, "attention rollout up to each layer (Abnar & Zuidema 2020)",
                    "到各层为止的注意力累积 rollout（Abnar & Zuidema 2020）");
  }
  return "";
}

std::string why_not_line(Language language, MapKind kind, NoReading why) {
  const std::string name = either(language, kind == MapKind::norms ? "Norms" : "Rollout",
                                  kind == MapKind::norms ? "范数" : "累积");
  switch (why) {
    case NoReading::no_values:
      return name + either(language, ": this file has weights only, not the vectors that they weigh. Weights are shown.",
                           "：该文件只有权重，没有被加权的向量。显示的是权重。");
    case NoReading::two_sequences:
      return name + either(language,
                           ": the rows and the columns here are different words, so that layers do not follow one "
                           "another. Weights are shown.",
                           "：这里的行与列是不同的词元，各层不能首尾相接。显示的是权重。");
    case NoReading::too_long: break;
  }
  return name + either(language, ": only for sentences of up to 128 tokens. Weights are shown.",
                       "：只用于不超过 128 个词元的句子。显示的是权重。");
}

std::string layer_title(Language language, Index layer) {
  return std::string(either(language, "Layer", "层")) + " " + std::to_string(layer + 1);
}

ColourScale other_scale(const OtherMaps& maps, Theme theme, Scale scale) {
  const bool of_shares = maps.kind == MapKind::rollout;
  return {.theme = theme, .scale = scale, .top = of_shares ? nice_top(maps.largest) : nice_range(maps.largest)};
}

const OtherMaps* other_maps_of(const Subject& subject, Stack stack) {
  return subject.other && !subject.other->stacks[static_cast<std::size_t>(stack)].empty() ? subject.other : nullptr;
}

MapKind kind_of(const Subject& subject, Stack stack) {
  const OtherMaps* other = other_maps_of(subject, stack);
  return other ? other->kind : MapKind::weights;
}

ColourScale map_scale(const Subject& subject, const FigureOptions& options) {
  if (const OtherMaps* other = other_maps_of(subject, options.head.stack))
    return other_scale(*other, options.theme, options.scale);
  return weight_scale(subject.trace, subject.folded, options.theme, options.scale);
}

Index maps_a_layer(const Subject& subject, Stack stack) {
  return kind_of(subject, stack) == MapKind::rollout ? 1 : subject.trace.num_heads(stack);
}

}  // namespace headlight
