// Rows whose values are lists: heads and parts that are off, weights set by hand, edits of single layers.
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/result.h"
#include "model/head_text.h"
#include "model/request.h"
#include "question/question_fields.h"
#include "words/question_words.h"

namespace headlight {
namespace {

using nlohmann::json;

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

/// `cross:1=X`: a layer and what is set there.
struct LayerSetting {
  Stack stack = Stack::self;
  Index layer = 0;
  std::string value;
};
Result<LayerSetting> parse_layer(const char* option, const std::string& text, const Document& document) {
  const std::size_t equals = text.find('=');
  std::string_view where = std::string_view(text).substr(0, equals);
  const auto stack = take_stack(where);
  const auto layer = parse_index(where);
  if (equals == std::string::npos || !layer) return bad_input(option, "", "LAYER=VALUE or STACK:LAYER=VALUE", text);
  const auto size = TRY(known_size(option, document, stack, text));
  TRY(check_within(option, "layer", *layer, size.layers));
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
  const auto size = TRY(known_size("--off", document, stack, text));
  const auto layer = parse_index(off.layer);
  if (!layer && off.layer != "*") return bad_input("--off", "", "PART:LAYER or PART:*", text);
  if (layer) TRY(check_within("--off", "layer", *layer, size.layers));
  if (off.part != BlockPart::scale && *stack == Stack::cross)
    return bad_input("--off", "", "a part of the decoder's block, which is named without cross:", text);
  if (has_own_inputs(document) && !has_part(*document.model, *stack, 0, off.part))
    return bad_input("--off", "", "a part that the model has", text + ", which numbers from a file do not have");
  for (Index at = layer.value_or(0); at < (layer ? *layer + 1 : size.layers); ++at)
    switch_off(document.edits, *stack, at, off.part, true);
  return Done{};
}

Status take_off(Document& document, const GivenOptions& given) {
  for (const std::string& text : given.all("--off")) {
    if (const auto part = parse_part_text(text)) {
      TRY(switch_part_off(document, *part, text));
      continue;
    }
    std::string_view rest = text;
    const auto stack = take_stack(rest);
    const auto size = TRY(known_size("--off", document, stack, text));
    const auto heads = parse_heads(rest);
    if (!heads) return bad_input("--off", "", "LAYER.HEAD, LAYER.* or PART:LAYER", text);
    TRY(check_within("--off", "layer", heads->layer, size.layers));
    if (heads->head) TRY(check_within("--off", "head", *heads->head, size.heads));
    for (const HeadRef& head : heads_in({*stack, heads->layer, heads->head}, size.heads))
      switch_off(document.edits, head, true);
  }
  return Done{};
}

/// The heads, then the parts of layers.
void put_off(const Document& document, OptionWords& words) {
  std::string off = joined_texts(document.edits.off, ",", head_text);
  for (const LayerEdit& edit : document.edits.layers)
    for (const BlockPart part : kBlockParts)
      if (const auto field = field_of(part); field && edit.parts.*field)
        off += (off.empty() ? "" : ",") + stack_prefix(edit.stack) + std::string(name(part)) + ":" +
               std::to_string(edit.layer);
  if (!off.empty()) words.add("--off", std::move(off));
}

std::optional<HeadRef> head_from(const json& value) {
  const auto head = value.is_string() ? parse_head(value.get<std::string>()) : std::nullopt;
  return head && head->layer < kMaxLayers && head->head < kMaxHeads ? head : std::nullopt;
}

void read_off(const JsonField& fields, Document& document) {
  if (!fields.contains("off")) return;
  const JsonField off = fields.at("off");
  for (const JsonField& item : off.items()) {
    const auto head = head_from(item.value());
    if (!head) return off.problem("heads such as \"0.3\" or \"cross:0.3\"", item.value());
    switch_off(document.edits, *head, true);
  }
}

Status take_weights(Document& document, const GivenOptions& given) {
  for (const std::string& text : given.all("--weight")) {
    const std::size_t equals = text.find('=');
    std::string_view cell = std::string_view(text).substr(0, equals);
    const auto stack = take_stack(cell);
    const auto size = TRY(known_size("--weight", document, stack, text));
    const auto key = take_last(cell), query = take_last(cell);  // what is left names the head
    const auto head = parse_head(cell);
    const float weight =
        equals == std::string::npos ? -1.0f : finite_number(std::string_view(text).substr(equals + 1)).value_or(-1.0f);
    if (!head || !query || !key || !(weight >= 0.0f && weight <= 1.0f))
      return bad_input("--weight", "", "LAYER.HEAD.QUERY.KEY=WEIGHT, the weight 0 to 1", text);
    TRY(check_within("--weight", "layer", head->layer, size.layers));
    TRY(check_within("--weight", "head", head->head, size.heads));
    set_weight(document.edits, {head->layer, head->head, *stack}, {*query, *key}, weight);
  }
  return Done{};
}

void put_weights(const Document& document, OptionWords& words) {
  for (const WeightEdit& edit : document.edits.weights)
    words.add("--weight", head_text(edit.head) + "." + std::to_string(edit.cell.query) + "." +
                              std::to_string(edit.cell.key) + "=" + shortest_text(edit.weight));
}

void read_weights(const JsonField& fields, Document& document) {
  if (!fields.contains("weights")) return;
  const JsonField weights = fields.at("weights");
  for (const JsonField& field : weights.items()) {
    const json& item = field.value();
    const bool four = item.is_array() && item.size() == 4;
    const auto head = four ? head_from(item[0]) : std::nullopt;
    if (!head || !is_whole(item[1], 0, kMaxTokens - 1) || !is_whole(item[2], 0, kMaxTokens - 1) ||
        !item[3].is_number() || !std::isfinite(item[3].get<float>()))
      return weights.problem("a list of [\"0.3\", query, key, weight]", item);
    set_weight(document.edits, *head, {item[1].get<Index>(), item[2].get<Index>()}, item[3].get<float>());
  }
}

Status take_layers(Document& document, const GivenOptions& given) {
  const auto edit_of = [&](const LayerSetting& at) { return layer_edit_or_none(document.edits, at.stack, at.layer); };
  for (const std::string& text : given.all("--layer-mask")) {
    const auto at = TRY(parse_layer("--layer-mask", text, document));
    auto mask = TRY(parse_mask_option("--layer-mask", at.value, given));
    LayerEdit edit = edit_of(at);
    edit.mask = std::move(mask);
    set_layer_edit(document.edits, std::move(edit));
  }
  for (const std::string& text : given.all("--layer-scale")) {
    const auto at = TRY(parse_layer("--layer-scale", text, document));
    TRY(check_scaled("--layer-scale", document, at.stack, at.layer));
    LayerEdit edit = edit_of(at);
    edit.scale = finite_number(at.value);
    if (!edit.scale) return bad_input("--layer-scale", "", "LAYER=NUMBER", text);
    set_layer_edit(document.edits, std::move(edit));
  }
  return Done{};
}

void put_layers(const Document& document, OptionWords& words) {
  for (const LayerEdit& edit : document.edits.layers) {
    const std::string layer = stack_prefix(edit.stack) + std::to_string(edit.layer) + "=";
    if (edit.mask) words.add("--layer-mask", layer + mask_option_word(*edit.mask, words));
    if (edit.scale) words.add("--layer-scale", layer + shortest_text(*edit.scale));
  }
}

json layer_json(const LayerEdit& edit) {
  json object{{"stack", stack_name(edit.stack)}, {"layer", edit.layer}};
  if (edit.scale) object["scale"] = *edit.scale;
  if (edit.mask) object["mask"] = mask_json(*edit.mask);
  for (const BlockPart part : kBlockParts)
    if (const auto field = field_of(part); field && edit.parts.*field) object["off"].push_back(name(part));
  return object;
}

void read_parts(const JsonField& off, LayerEdit& edit) {
  constexpr const char* kParts = "a list of residual, norm and ffn, of a layer of self or encoder";
  if (!off.value().is_array() || edit.stack == Stack::cross) return off.problem(kParts);
  for (const json& item : off.value()) {
    const auto part = item.is_string() ? parse_part(item.get<std::string>()) : std::nullopt;
    const auto field = part ? field_of(*part) : nullptr;
    if (!field) return off.problem(kParts, item);
    edit.parts.*field = true;
  }
}

void read_layer(const JsonField& object, Edits& edits) {
  LayerEdit edit;
  const json& stack = object.at("stack").value();
  const auto named = stack.is_string() ? parse_stack(stack.get<std::string>()) : std::nullopt;
  if (named) edit.stack = *named;
  else object.at("stack").problem("self, encoder or cross");
  object.read_integer("layer", edit.layer, static_cast<std::uint64_t>(kMaxLayers) - 1);
  object.read("scale", edit.scale);
  if (object.contains("off")) read_parts(object.at("off"), edit);
  if (object.contains("mask")) edit.mask = mask_from_json(object.at("mask"));
  if (object.is_good()) set_layer_edit(edits, std::move(edit));
}

void read_layers(const JsonField& fields, Document& document) {
  if (!fields.contains("layer_edits")) return;
  const JsonField list = fields.at("layer_edits");
  for (const JsonField& layer : list.items()) {
    if (!layer.value().is_object()) return list.problem("a list of objects", layer.value());
    read_layer(layer, document.edits);
  }
}

Status take_padding(Document& document, const GivenOptions& given) {
  if (has_own_inputs(document))
    return bad_input("--pad", "", "no such option beside " + inputs_in_words(document), source_in_words(document));
  document.pad = parse_number<std::size_t>(given.word("--pad")).value_or(0);
  return Done{};
}

}  // namespace

Status check_scaled(const char* option, const Document& document, Stack stack, Index layer) {
  if (!has_own_inputs(document) || has_part(*document.model, stack, layer, BlockPart::scale)) return Done{};
  return bad_input(option, "", "a model that computes scores", "attention alone, without scores");
}

QuestionField heads_off_field() {
  QuestionField row{FieldPart::edits, "off"};
  row.options = {
      FieldOption("--off", OptionKind::list, "HEADS",
                  "Heads switched off: 0.3,1.*,cross:0.1 (layer.head, from 0; L0.H3 is taken too), or parts of a "
                  "layer: residual:1,norm:1,scale:1,ffn:*")};
  row.is_same = same_by([](const Document& d) -> const auto& { return d.edits.off; });
  row.take = take_off;
  row.put = put_off;
  row.write = [](const Document& d, json& object) {
    for (const HeadRef& head : d.edits.off) object["off"].push_back(head_text(head));
  };
  row.read = read_off;
  return row;
}

QuestionField weights_field() {
  QuestionField row{FieldPart::edits, "weights", kQuestionWords.weights};
  row.options = {FieldOption("--weight", OptionKind::repeated, "CELL=W",
                             "[STACK:]L.H.Q.K=W sets one weight by hand, 0 to 1; may be repeated")};
  row.is_same = same_by([](const Document& d) -> const auto& { return d.edits.weights; });
  row.take = take_weights;
  row.put = put_weights;
  row.write = [](const Document& d, json& object) {
    for (const WeightEdit& edit : d.edits.weights)
      object["weights"].push_back({head_text(edit.head), edit.cell.query, edit.cell.key, edit.weight});
  };
  row.read = read_weights;
  return row;
}

QuestionField layer_edits_field() {
  QuestionField row{FieldPart::edits, "layer_edits", kQuestionWords.layer};
  row.options = {FieldOption("--layer-mask", OptionKind::repeated, "LAYER=MASK",
                             "[STACK:]L=MASK, a mask for one layer; may be repeated"),
                 FieldOption("--layer-scale", OptionKind::repeated, "LAYER=X",
                             "[STACK:]L=X, a scale for one layer; may be repeated")};
  row.is_same = same_by([](const Document& d) -> const auto& { return d.edits.layers; });
  row.take = take_layers;
  row.put = put_layers;
  row.write = [](const Document& d, json& object) {
    for (const LayerEdit& edit : d.edits.layers) object["layer_edits"].push_back(layer_json(edit));
  };
  row.read = read_layers;
  return row;
}

QuestionField padding_field() {
  QuestionField row{FieldPart::text, "pad", kQuestionWords.padding};
  row.options = {FieldOption("--pad", OptionKind::count, "N", "The last N tokens are padding")};
  row.is_same = same_by([](const Document& d) { return d.pad; });
  row.take = take_padding;
  row.put = [](const Document& d, OptionWords& words) {
    if (!has_own_inputs(d) && d.pad > 0) words.add("--pad", std::to_string(d.pad));
  };
  row.write = [](const Document& d, json& object) {
    if (!has_own_inputs(d)) object["pad"] = d.pad;
  };
  row.read = [](const JsonField& fields, Document& d) { fields.read_integer("pad", d.pad, kMaxTokens); };
  return row;
}

}  // namespace headlight
