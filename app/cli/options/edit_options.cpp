#include "cli/options/edit_options.h"

#include <cmath>

#include "base/formatted.h"
#include "base/within.h"
#include "cli/options/print.h"
#include "math/block.h"
#include "model/batch_mask.h"
#include "model/block_parts.h"
#include "model/head_text.h"
#include "read/external/mask_file.h"

namespace headlight {
namespace {

/// Layers and heads of an attention; nothing where the document has no such attention.
struct Size {
  Index layers = 0, heads = 0;
};
std::optional<Size> size_of(const Document& document, Stack stack) {
  const Config& config = config_of(document);
  const auto of_blocks = [](const StackWeights& weights) {
    return Size{static_cast<Index>(weights.blocks.size()), weights.blocks.front().self.num_heads};
  };
  if (has_own_inputs(document)) {
    const auto& stacks = document.model->given->stacks;
    const auto at = stacks.find(stack);
    if (at == stacks.end()) return std::nullopt;
    const auto& patterns = at->second.patterns;
    return patterns.empty() ? Size{1, config.num_heads}
                            : Size{static_cast<Index>(patterns.size()), static_cast<Index>(patterns.front().size())};
  }
  if (stack != Stack::self && config.arch != Arch::encoder_decoder) return std::nullopt;
  if (!document.model)
    return Size{stack == Stack::encoder ? config.layers_of_encoder() : config.num_layers, config.num_heads};
  return stack == Stack::encoder ? of_blocks(*document.model->encoder) : of_blocks(*document.model);
}

Result<Size> known_size(const char* option, const Document& document, std::optional<Stack> stack,
                        std::string_view found) {
  const auto size = stack ? size_of(document, *stack) : std::nullopt;
  if (size) return *size;
  const bool two_stacks = size_of(document, Stack::encoder).has_value();
  return bad_input(option, "", two_stacks ? "self:, encoder: or cross:" : "no stack, the model has one", found);
}

std::optional<float> finite_number(std::string_view text) {
  const auto number = parse_number<float>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

/// Takes the number behind the last dot off `text`, the dot included.
std::optional<Index> take_last(std::string_view& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto number = parse_index(text.substr(dot + 1));
  text = text.substr(0, dot);
  return number;
}

Result<MaskSpec> parse_mask(const char* option, const std::string& text) {
  if (text.ends_with(".npy") || text.ends_with(".json")) {
    std::vector<Error> notes;
    auto mask = read_mask(text, notes);
    if (mask) print_warnings(notes);
    return mask;
  }
  auto words = parse_mask_words(option, text);
  if (words) return *words;
  return bad_input(option, "",
                   "none, or causal, padding, window:N, chunk:N, prefix:N with + between them, FILE.npy or FILE.json",
                   text);
}

/// `cross:1=X`: a layer and what is set there.
struct LayerSetting {
  Stack stack = Stack::self;
  Index layer = 0;
  std::string value;
};
Result<LayerSetting> parse_layer(const char* option, const std::string& text, const Document& document) {
  const std::size_t equals = text.find('=');
  std::string_view place = std::string_view(text).substr(0, equals);
  const auto stack = take_stack(place);
  const auto layer = parse_index(place);
  if (equals == std::string::npos || !layer) return bad_input(option, "", "LAYER=VALUE or STACK:LAYER=VALUE", text);
  const auto size = known_size(option, document, stack, text);
  if (!size) return size.error();
  if (const auto valid = check_within(option, "layer", *layer, size->layers); !valid) return valid.error();
  return LayerSetting{*stack, *layer, text.substr(equals + 1)};
}

/// `residual:1`, `encoder:norm:*`: a part of a layer, or of all layers.
struct PartText {
  std::string_view stack, layer;
  BlockPart part = BlockPart::residual;
};
std::optional<PartText> parse_part_text(std::string_view text) {
  const std::size_t last = text.rfind(':');
  if (last == std::string_view::npos) return std::nullopt;
  const std::string_view before = text.substr(0, last);
  const std::size_t first = before.rfind(':') + 1;  // 0 where there is none
  const auto part = parse_part(before.substr(first));
  if (!part) return std::nullopt;
  return PartText{before.substr(0, first), text.substr(last + 1), *part};
}

Status switch_part_off(Document& document, const PartText& off, const std::string& text) {
  std::string_view rest = off.stack;
  const auto stack = take_stack(rest);
  const auto size = known_size("--off", document, stack, text);
  if (!size) return size.error();
  const auto layer = parse_index(off.layer);
  if (!layer && off.layer != "*") return bad_input("--off", "", "PART:LAYER or PART:*", text);
  if (layer)
    if (const auto valid = check_within("--off", "layer", *layer, size->layers); !valid) return valid;
  if (off.part != BlockPart::scale && *stack == Stack::cross)
    return bad_input("--off", "", "a part of the decoder's block, which is named without cross:", text);
  if (has_own_inputs(document) && !has_part(*document.model, *stack, 0, off.part))
    return bad_input("--off", "", "a part that the model has", text + ", which numbers from a file do not have");
  for (Index at = layer.value_or(0); at < (layer ? *layer + 1 : size->layers); ++at)
    switch_off(document.edits, *stack, at, off.part, true);
  return Done{};
}

}  // namespace

EditOptions::EditOptions(Parser& command) : command_(command) {
  command.section("The attention (STACK: is encoder: or cross: in an encoder-decoder; nothing: the decoder's own)",
                  kRequestTopic);
  command.option("--mask", mask_,
                 "none, or causal, padding, window:N, chunk:N, prefix:N with + between them, or FILE.npy, FILE.json: "
                 "[query][key], true or 1 = may attend");
  command.option("--encoder-mask", encoder_mask_, "The same for the encoder of an encoder-decoder");
  command.option("--cross-mask", cross_mask_, "The same for its cross-attention");
  command.option("--scale", scale_, "Multiplies the scores in place of 1/sqrt(d_k)", "X");
  command
      .option("--off", off_,
              "Heads switched off: 0.3,1.*,cross:0.1 (layer.head, from 0; L0.H3 is taken too), or parts of a layer: "
              "residual:1,norm:1,scale:1,ffn:*",
              "HEADS")
      .list();
  command.option("--off-as", off_as_, "zero (default): such a head hands on nothing; mean: its sentence's mean");
  command.option("--weight", weights_, "[STACK:]L.H.Q.K=W sets one weight by hand, 0 to 1; may be repeated", "CELL=W")
      .repeated();
  command.option("--layer-mask", layer_masks_, "[STACK:]L=MASK, a mask for one layer; may be repeated", "LAYER=MASK")
      .repeated();
  command.option("--layer-scale", layer_scales_, "[STACK:]L=X, a scale for one layer; may be repeated", "LAYER=X")
      .repeated();
  command.option("--dropout", dropout_, "Each weight becomes 0 with this probability", "P");
  command.option("--dropout-seed", dropout_seed_, "Which weights those are, 0 by default", "N").not_negative();
  command.section();
}

Status EditOptions::apply(Document& document) const {
  Edits& edits = document.edits;
  if (given("--scale")) {
    if (!std::isfinite(scale_)) return bad_input("--scale", "", "a finite number", std::to_string(scale_));
    edits.scale = scale_;
  }
  if (given("--dropout")) {
    if (!(dropout_ >= 0.0f && dropout_ < 1.0f))
      return bad_input("--dropout", "", "0 or more and less than 1", std::to_string(dropout_));
    edits.dropout = dropout_;
  }
  if (given("--dropout-seed")) edits.dropout_seed = dropout_seed_;
  if (const auto masks = apply_masks(document); !masks) return masks;
  if (const auto off = apply_off(document); !off) return off;
  if (const auto weights = apply_weights(document); !weights) return weights;
  return apply_layers(document);
}

Status EditOptions::apply_masks(Document& document) const {
  struct MaskOption {
    const char* name;
    const std::string& text;
    Stack stack;
  };
  for (const MaskOption& option :
       {MaskOption{"--mask", mask_, Stack::self}, MaskOption{"--encoder-mask", encoder_mask_, Stack::encoder},
        MaskOption{"--cross-mask", cross_mask_, Stack::cross}}) {
    if (!given(option.name)) continue;
    if (!size_of(document, option.stack))
      return bad_input(option.name, "", "an encoder-decoder", "a model of one stack");
    auto mask = parse_mask(option.name, option.text);
    if (!mask) return mask.error();
    mask_of(document, option.stack) = std::move(*mask);
  }
  return Done{};
}

Status EditOptions::apply_off(Document& document) const {
  if (given("--off-as")) {
    if (off_as_ != "zero" && off_as_ != "mean") return bad_input("--off-as", "", "zero or mean", off_as_);
    document.edits.off_as = off_as_ == "mean" ? OffAs::mean : OffAs::zero;
  }
  for (const std::string& text : off_) {
    if (const auto part = parse_part_text(text)) {
      if (const auto switched = switch_part_off(document, *part, text); !switched) return switched;
      continue;
    }
    std::string_view rest = text;
    const auto stack = take_stack(rest);
    const auto size = known_size("--off", document, stack, text);
    if (!size) return size.error();
    const auto heads = parse_heads(rest);
    if (!heads) return bad_input("--off", "", "LAYER.HEAD, LAYER.* or PART:LAYER", text);
    if (const auto valid = check_within("--off", "layer", heads->layer, size->layers); !valid) return valid;
    if (heads->head)
      if (const auto valid = check_within("--off", "head", *heads->head, size->heads); !valid) return valid;
    const Index first = heads->head.value_or(0), end = heads->head ? first + 1 : size->heads;
    for (Index head = first; head < end; ++head) switch_off(document.edits, {heads->layer, head, *stack}, true);
  }
  return Done{};
}

Status EditOptions::apply_weights(Document& document) const {
  for (const std::string& text : weights_) {
    const std::size_t equals = text.find('=');
    std::string_view cell = std::string_view(text).substr(0, equals);
    const auto stack = take_stack(cell);
    const auto size = known_size("--weight", document, stack, text);
    if (!size) return size.error();
    const auto key = take_last(cell), query = take_last(cell);  // what is left names the head
    const auto head = parse_head(cell);
    const float weight =
        equals == std::string::npos ? -1.0f : finite_number(std::string_view(text).substr(equals + 1)).value_or(-1.0f);
    if (!head || !query || !key || !(weight >= 0.0f && weight <= 1.0f))
      return bad_input("--weight", "", "LAYER.HEAD.QUERY.KEY=WEIGHT, the weight 0 to 1", text);
    if (const auto valid = check_within("--weight", "layer", head->layer, size->layers); !valid) return valid;
    if (const auto valid = check_within("--weight", "head", head->head, size->heads); !valid) return valid;
    set_weight(document.edits, {head->layer, head->head, *stack}, {*query, *key}, weight);
  }
  return Done{};
}

Status EditOptions::apply_layers(Document& document) const {
  const auto edit_of = [&](const LayerSetting& at) { return layer_edit_or_none(document.edits, at.stack, at.layer); };
  for (const std::string& text : layer_masks_) {
    const auto at = parse_layer("--layer-mask", text, document);
    if (!at) return at.error();
    auto mask = parse_mask("--layer-mask", at->value);
    if (!mask) return mask.error();
    LayerEdit edit = edit_of(*at);
    edit.mask = std::move(*mask);
    set_layer_edit(document.edits, std::move(edit));
  }
  for (const std::string& text : layer_scales_) {
    const auto at = parse_layer("--layer-scale", text, document);
    if (!at) return at.error();
    LayerEdit edit = edit_of(*at);
    edit.scale = finite_number(at->value);
    if (!edit.scale) return bad_input("--layer-scale", "", "LAYER=NUMBER", text);
    set_layer_edit(document.edits, std::move(edit));
  }
  return Done{};
}

std::vector<Error> mask_warnings(const Request& request) {
  std::vector<Error> warnings;
  for (const Stack stack : kStacks) {
    if (!has_stack(request, stack)) continue;
    const auto mask = stretched_mask(mask_spec(request, stack), static_cast<Index>(query_tokens(request, stack).size()),
                                     static_cast<Index>(key_tokens(request, stack).size()));
    if (mask && mask->either)
      warnings.emplace_back(ErrorCode::bad_value, mask_name(stack),
                            axes_text(mask->shape) +
                                " fits with the sentences as its first axis and as its last: read as " +
                                axes_in_words(*mask));
  }
  return warnings;
}

}  // namespace headlight
