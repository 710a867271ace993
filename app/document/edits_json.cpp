#include "document/edits_json.h"

#include <limits>

#include "document/document.h"
#include "document/fields.h"
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

void read_given(Fields& fields, const json& rows, MaskSpec& mask) {
  if (!rows.is_array() || rows.empty() || !rows[0].is_array() || rows[0].empty())
    return fields.fail("given", "rows of numbers", rows);
  if (const auto odd = odd_row(rows)) return fields.fail("given", "rows of equal length", rows[*odd]);
  Matrix matrix(static_cast<Index>(rows.size()), static_cast<Index>(rows[0].size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      const auto value = addend_of(rows[i][j]);
      if (!value) return fields.fail("given", "numbers, true or false", rows[i][j]);
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

void read_batch(Fields& fields, const json& object, MaskSpec& mask) {
  constexpr const char* kExpected = "{\"shape\": [three sizes], \"added\": [a number, true or false each]}";
  BatchMask batch;
  if (!object.is_object() || !object.contains("shape") || !object.contains("added"))
    return fields.fail("batch", kExpected, object);
  const json &shape = object["shape"], &added = object["added"];
  if (!shape.is_array() || shape.size() != batch.shape.size() || !added.is_array())
    return fields.fail("batch", kExpected, shape);
  std::size_t size = 1;
  for (std::size_t axis = 0; axis < batch.shape.size(); ++axis) {
    if (!shape[axis].is_number_unsigned() || shape[axis] < 1 || shape[axis] > kMaxBatchTokens)
      return fields.fail("batch", kExpected, shape[axis]);
    batch.shape[axis] = shape[axis].get<Index>();
    size *= shape[axis].get<std::size_t>();
  }
  if (size != added.size()) return fields.fail("batch", std::to_string(size) + " numbers, as its shape says", shape);
  for (const json& cell : added) {
    const auto value = addend_of(cell);
    if (!value) return fields.fail("batch", "numbers, true or false", cell);
    batch.addends.push_back(*value);
  }
  mask.batch = std::make_shared<const BatchMask>(std::move(batch));
}

json layer_json(const LayerEdit& edit) {
  json object{{"stack", stack_name(edit.stack)}, {"layer", edit.layer}};
  if (edit.scale) object["scale"] = *edit.scale;
  if (edit.mask) object["mask"] = mask_json(*edit.mask);
  for (const BlockPart part : kBlockParts)
    if (const auto field = field_of(part); field && edit.parts.*field) object["off"].push_back(name(part));
  return object;
}

void read_parts(Fields& fields, const json& list, LayerEdit& edit) {
  constexpr const char* kParts = "a list of residual, norm and ffn, of a layer of self or encoder";
  if (!list.is_array() || edit.stack == Stack::cross) return fields.fail("off", kParts, list);
  for (const json& item : list) {
    const auto part = item.is_string() ? parse_part(item.get<std::string>()) : std::nullopt;
    const auto field = part ? field_of(*part) : nullptr;
    if (!field) return fields.fail("off", kParts, item);
    edit.parts.*field = true;
  }
}

Status read_layer(const std::string& where, const json& object, Edits& edits) {
  if (!object.is_object()) return bad_input(where, "layer_edits", "a list of objects", object.type_name());
  Fields fields(where, object);
  LayerEdit edit;
  const json* stack = fields.find("stack");
  const auto named = stack && stack->is_string() ? parse_stack(stack->get<std::string>()) : std::nullopt;
  if (named) edit.stack = *named;
  else fields.fail("stack", "self, encoder or cross", stack ? *stack : json());
  fields.read_integer("layer", edit.layer, static_cast<std::uint64_t>(kMaxLayers) - 1);
  fields.read("scale", edit.scale);
  if (const json* off = fields.find("off")) read_parts(fields, *off, edit);
  if (!fields.status()) return fields.status();
  if (const json* mask = fields.find("mask")) {
    edit.mask.emplace();
    if (const auto read = read_mask_json(where, *mask, *edit.mask); !read) return read;
  }
  set_layer_edit(edits, std::move(edit));
  return Done{};
}

std::optional<HeadRef> head_from(const json& value) {
  const auto head = value.is_string() ? parse_head(value.get<std::string>()) : std::nullopt;
  return head && head->layer < kMaxLayers && head->head < kMaxHeads ? head : std::nullopt;
}

void read_off(Fields& fields, const json& list, Edits& edits) {
  for (const json& item : list) {
    const auto head = head_from(item);
    if (!head) return fields.fail("off", "heads such as \"0.3\" or \"cross:0.3\"", item);
    switch_off(edits, *head, true);
  }
}

void read_weights(Fields& fields, const json& list, Edits& edits) {
  const auto place = [](const json& value) {
    return value.is_number_unsigned() && value.get<std::uint64_t>() < kMaxTokens;
  };
  for (const json& item : list) {
    const bool four = item.is_array() && item.size() == 4;
    const auto head = four ? head_from(item[0]) : std::nullopt;
    if (!head || !place(item[1]) || !place(item[2]) || !item[3].is_number() || !std::isfinite(item[3].get<float>()))
      return fields.fail("weights", "a list of [\"0.3\", query, key, weight]", item);
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

Status read_mask_json(const std::string& where, const json& object, MaskSpec& mask) {
  if (!object.is_object()) return bad_input(where, "mask", "an object", object.type_name());
  Fields fields(where, object);
  fields.read("causal", mask.causal);
  fields.read("padding", mask.padding);
  const auto number = [&](const char* key) -> std::optional<Index> {
    const json* value = fields.find(key);
    if (!value) return std::nullopt;
    if (value->is_number_unsigned() && value->get<std::uint64_t>() <= static_cast<std::uint64_t>(kMaxMaskTokens))
      return value->get<Index>();
    fields.fail(key, "a whole number from 0 to " + std::to_string(kMaxMaskTokens), *value);
    return std::nullopt;
  };
  mask.window = number("window");
  mask.chunk = number("chunk").value_or(0);
  mask.prefix = number("prefix").value_or(0);
  if (const json* given = fields.find("given")) read_given(fields, *given, mask);
  if (const json* batch = fields.find("batch")) read_batch(fields, *batch, mask);
  if (const json* painted = fields.find("painted")) {
    if (!painted->is_array()) fields.fail("painted", "a list of [query, key, 0 or 1]", *painted);
    else
      for (const json& cell : *painted) {
        const bool valid = cell.is_array() && cell.size() == 3 && cell[0].is_number_unsigned() &&
                           cell[1].is_number_unsigned() && cell[2].is_number_unsigned() &&
                           cell[0].get<std::uint64_t>() < kMaxTokens && cell[1].get<std::uint64_t>() < kMaxTokens &&
                           cell[2].get<std::uint64_t>() <= 1;
        if (!valid) {
          fields.fail("painted", "a list of [query, key, 0 or 1]", cell);
          break;
        }
        paint(mask.painted, {cell[0].get<Index>(), cell[1].get<Index>(), cell[2].get<int>() != 0});
      }
  }
  return fields.status();
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

Status read_edits(const std::string& where, const json& object, Edits& edits) {
  Fields fields(where, object);
  fields.read("scale", edits.scale);
  for (const char* key : {"off", "weights", "layer_edits"})
    if (const json* list = fields.find(key); list && !list->is_array()) fields.fail(key, "a list", *list);
  if (!fields.status()) return fields.status();
  if (const json* off = fields.find("off")) read_off(fields, *off, edits);
  if (const json* off_as = fields.find("off_as")) {
    if (*off_as == "mean" || *off_as == "zero") edits.off_as = *off_as == "mean" ? OffAs::mean : OffAs::zero;
    else fields.fail("off_as", "zero or mean", *off_as);
  }
  if (const json* weights = fields.find("weights")) read_weights(fields, *weights, edits);
  fields.read("dropout", edits.dropout);
  if (!(edits.dropout >= 0.0f && edits.dropout < 1.0f))
    fields.fail("dropout", "0 or more and less than 1", *fields.find("dropout"));
  fields.read_integer("dropout_seed", edits.dropout_seed, std::numeric_limits<std::uint64_t>::max());
  if (!fields.status()) return fields.status();
  if (const json* layers = fields.find("layer_edits"))
    for (const json& layer : *layers)
      if (const auto read = read_layer(where, layer, edits); !read) return read;
  return Done{};
}

}  // namespace headlight
