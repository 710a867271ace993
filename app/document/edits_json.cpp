#include "document/edits_json.h"

#include <cmath>
#include <limits>

#include "document/document.h"
#include "model/batch_mask.h"
#include "model/head_text.h"
#include "read/json/json_rows.h"

namespace headlight {
namespace {

using nlohmann::json;

/// Rows of the additive mask: false blocks, a number is added to the score.
json given_mask_json(const Matrix& mask) {
  json rows = json::array();
  for (Index i = 0; i < mask.rows(); ++i) {
    json row = json::array();
    for (Index j = 0; j < mask.cols(); ++j) {
      if (std::isinf(mask(i, j))) row.push_back(false);
      else row.push_back(mask(i, j));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<float> addend_of(const json& cell) {
  if (cell.is_boolean()) return cell.get<bool>() ? 0.0f : -std::numeric_limits<float>::infinity();
  if (cell.is_number() && std::isfinite(cell.get<float>())) return cell.get<float>();
  return std::nullopt;
}

void read_given(const JsonField& field, MaskSpec& mask) {
  const json& rows = field.value();
  if (!rows.is_array() || rows.empty() || !rows[0].is_array() || rows[0].empty())
    return field.problem("rows of numbers");
  if (const auto odd = odd_row(rows)) return field.problem("rows of equal length", rows[*odd]);
  Matrix matrix(static_cast<Index>(rows.size()), static_cast<Index>(rows[0].size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      const auto value = addend_of(rows[i][j]);
      if (!value) return field.problem("numbers, true or false", rows[i][j]);
      matrix(static_cast<Index>(i), static_cast<Index>(j)) = *value;
    }
  }
  mask.given = std::make_shared<const Matrix>(std::move(matrix));
}

/// The same of three axes: {"shape", "added"}, the last axis running fastest.
json batch_mask_json(const BatchMask& mask) {
  json added = json::array();
  for (const float value : mask.addends) {
    if (std::isinf(value)) added.push_back(false);
    else added.push_back(value);
  }
  return {{"shape", mask.shape}, {"added", std::move(added)}};
}

void read_batch(const JsonField& field, MaskSpec& mask) {
  constexpr const char* kExpected = "{\"shape\": [three sizes], \"added\": [a number, true or false each]}";
  BatchMask batch;
  if (!field.value().is_object() || !field.contains("shape") || !field.contains("added"))
    return field.problem(kExpected);
  const json &shape = field.value()["shape"], &added = field.value()["added"];
  if (!shape.is_array() || shape.size() != batch.shape.size() || !added.is_array())
    return field.problem(kExpected, shape);
  std::size_t size = 1;
  for (std::size_t axis = 0; axis < batch.shape.size(); ++axis) {
    if (!is_whole(shape[axis], 1, kMaxBatchTokens)) return field.problem(kExpected, shape[axis]);
    batch.shape[axis] = shape[axis].get<Index>();
    size *= shape[axis].get<std::size_t>();
  }
  if (size != added.size()) return field.problem(std::to_string(size) + " numbers, as its shape says", shape);
  for (const json& cell : added) {
    const auto value = addend_of(cell);
    if (!value) return field.problem("numbers, true or false", cell);
    batch.addends.push_back(*value);
  }
  mask.batch = std::make_shared<const BatchMask>(std::move(batch));
}

void read_painted(const JsonField& field, MaskSpec& mask) {
  constexpr const char* kExpected = "a list of [query, key, 0 or 1]";
  if (!field.value().is_array()) return field.problem(kExpected);
  for (const json& cell : field.value()) {
    if (!cell.is_array() || cell.size() != 3 || !is_whole(cell[0], 0, kMaxTokens - 1) ||
        !is_whole(cell[1], 0, kMaxTokens - 1) || !is_whole(cell[2], 0, 1))
      return field.problem(kExpected, cell);
    paint(mask.painted, {cell[0].get<Index>(), cell[1].get<Index>(), cell[2].get<int>() != 0});
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

std::optional<HeadRef> head_from(const json& value) {
  const auto head = value.is_string() ? parse_head(value.get<std::string>()) : std::nullopt;
  return head && head->layer < kMaxLayers && head->head < kMaxHeads ? head : std::nullopt;
}

void read_off(const JsonField& off, Edits& edits) {
  for (const JsonField& item : off.items()) {
    const auto head = head_from(item.value());
    if (!head) return off.problem("heads such as \"0.3\" or \"cross:0.3\"", item.value());
    switch_off(edits, *head, true);
  }
}

void read_weights(const JsonField& weights, Edits& edits) {
  for (const JsonField& field : weights.items()) {
    const json& item = field.value();
    const bool four = item.is_array() && item.size() == 4;
    const auto head = four ? head_from(item[0]) : std::nullopt;
    if (!head || !is_whole(item[1], 0, kMaxTokens - 1) || !is_whole(item[2], 0, kMaxTokens - 1) ||
        !item[3].is_number() || !std::isfinite(item[3].get<float>()))
      return weights.problem("a list of [\"0.3\", query, key, weight]", item);
    set_weight(edits, *head, {item[1].get<Index>(), item[2].get<Index>()}, item[3].get<float>());
  }
}

}  // namespace

json mask_json(const MaskSpec& mask) {
  json object{{"causal", mask.causal}, {"padding", mask.padding}};
  if (mask.window) object["window"] = *mask.window;
  if (mask.chunk > 0) object["chunk"] = mask.chunk;
  if (mask.prefix > 0) object["prefix"] = mask.prefix;
  if (mask.batch) object["batch"] = batch_mask_json(*mask.batch);
  else if (mask.given) object["given"] = given_mask_json(*mask.given);
  if (!mask.painted.empty()) {
    json cells = json::array();
    for (const auto& cell : mask.painted) cells.push_back({cell.query, cell.key, cell.allowed ? 1 : 0});
    object["painted"] = std::move(cells);
  }
  return object;
}

MaskSpec mask_from_json(const JsonField& object) {
  constexpr auto kMost = static_cast<std::uint64_t>(kMaxMaskTokens);
  MaskSpec mask;
  object.read("causal", mask.causal);
  object.read("padding", mask.padding);
  if (object.contains("window")) object.read_integer("window", mask.window.emplace(), kMost);
  object.read_integer("chunk", mask.chunk, kMost);
  object.read_integer("prefix", mask.prefix, kMost);
  if (object.contains("given")) read_given(object.at("given"), mask);
  if (object.contains("batch")) read_batch(object.at("batch"), mask);
  if (object.contains("painted")) read_painted(object.at("painted"), mask);
  return mask;
}

void write_edits(const Edits& edits, json& object) {
  if (edits.scale) object["scale"] = *edits.scale;
  for (const HeadRef& head : edits.off) object["off"].push_back(head_text(head));
  if (edits.off_as != OffAs::zero) object["off_as"] = "mean";
  for (const WeightEdit& edit : edits.weights)
    object["weights"].push_back({head_text(edit.head), edit.cell.query, edit.cell.key, edit.weight});
  for (const LayerEdit& edit : edits.layers) object["layer_edits"].push_back(layer_json(edit));
  if (edits.dropout == 0 && edits.dropout_seed == 0) return;
  object["dropout"] = edits.dropout;
  object["dropout_seed"] = edits.dropout_seed;
}

void read_edits(const JsonField& object, Edits& edits) {
  constexpr std::string_view kOffAs[] = {"zero", "mean"};
  object.read("scale", edits.scale);
  if (object.contains("off")) read_off(object.at("off"), edits);
  object.read_choice("off_as", edits.off_as, kOffAs);
  if (object.contains("weights")) read_weights(object.at("weights"), edits);
  object.read("dropout", edits.dropout);
  if (!(edits.dropout >= 0.0f && edits.dropout < 1.0f)) object.at("dropout").problem("0 or more and less than 1");
  object.read_integer("dropout_seed", edits.dropout_seed, std::numeric_limits<std::uint64_t>::max());
  if (!object.contains("layer_edits")) return;
  for (const JsonField& layer : object.at("layer_edits").items()) {
    if (!layer.value().is_object()) return object.at("layer_edits").problem("a list of objects", layer.value());
    read_layer(layer, edits);
  }
}

}  // namespace headlight
