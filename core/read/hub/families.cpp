#include "read/hub/families.h"

#include <cmath>

#include "base/utf8.h"
#include "read/array/array.h"

namespace headlight {

using nlohmann::json;

const json* Keyed::find(const Keys& keys) const {
  read_.insert(keys.begin(), keys.end());
  for (const std::string& key : keys)
    if (const auto at = object_.find(key); at != object_.end() && !at->is_null()) return &*at;
  return nullptr;
}

bool Keyed::is_null(const char* key) const {
  const auto at = object_.find(key);
  return at != object_.end() && at->is_null();
}

Index Keyed::size(const Keys& keys, Index most, std::optional<Index> fallback, Index least) {
  const json* value = find(keys);
  if (value == nullptr && fallback) return *fallback;
  const std::string expected = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  if (value == nullptr) return fail(keys, expected, "none"), least;
  // A number beyond 64 bits was parsed as a float.
  if (is_whole(*value, least, static_cast<std::uint64_t>(most))) return value->get<Index>();
  return fail(keys, expected, found_text(*value)), least;
}

double Keyed::number(const Keys& keys, double least, double most, std::optional<double> fallback) {
  const json* value = find(keys);
  if (value == nullptr && fallback) return *fallback;
  const double got = value != nullptr && value->is_number() ? value->get<double>() : NAN;
  if (got >= least && got <= most) return got;
  fail(keys, "a number from " + json(least).dump() + " to " + json(most).dump(), value ? found_text(*value) : "none");
  return fallback.value_or(least);
}

bool Keyed::flag(const Keys& keys, bool fallback) {
  const json* value = find(keys);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  return fail(keys, "true or false", found_text(*value)), fallback;
}

std::string Keyed::word(const Keys& keys, std::string_view fallback) {
  const json* value = find(keys);
  if (value == nullptr) return std::string(fallback);
  if (value->is_string()) return value->get<std::string>();
  return fail(keys, "a name", found_text(*value)), std::string(fallback);
}

Activation Keyed::activation(const Keys& keys, std::string_view fallback) {
  const std::string word_found = word(keys, fallback);
  if (word_found == "relu") return Activation::relu;
  if (word_found == "gelu" || word_found == "gelu_python") return Activation::gelu;
  for (const char* tanh : {"gelu_new", "gelu_fast", "gelu_pytorch_tanh"})
    if (word_found == tanh) return Activation::gelu_tanh;
  if (word_found == "silu" || word_found == "swish") return Activation::silu;
  if (word_found == "quick_gelu") return Activation::quick_gelu;
  fail(keys, "relu, gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, quick_gelu, silu or swish",
       "'" + printable(word_found) + "'");
  return Activation::relu;
}

void Keyed::only(const Keys& keys, bool supported) {
  if (flag(keys, supported) != supported)
    fail(keys, supported ? "true" : "false", supported ? "false, unsupported" : "true, unsupported");
}

void Keyed::only(const Keys& keys, std::string_view supported) {
  const std::string found = word(keys, supported);
  if (found != supported) fail(keys, supported, "'" + printable(found) + "'");
}

void Keyed::fail(const Keys& keys, std::string_view expected, std::string_view found) {
  if (!error_) error_ = bad_input(where_, keys.front(), expected, found, ErrorCode::bad_config);
}

namespace {

using nlohmann::json;

std::string_view text_of(const json& value) { return value.get_ref<const std::string&>(); }

/// "FIELD NAME[|OTHER NAME] [transposed] [unbiased] [optional|expected] [both] [from=LAYER] [if CONDITION,!CONDITION]"
TensorPattern parsed_pattern(std::string_view text, const std::vector<FieldRow>& fields) {
  const auto words = split_at(' ', text);
  const auto names = split_at('|', words.at(1));
  const auto field =
      std::find_if(fields.begin(), fields.end(), [&](const FieldRow& one) { return one.name == words.front(); });
  assert(field != fields.end());
  TensorPattern pattern{.row = {.name = names.front(), .field = static_cast<Field>(field - fields.begin())}};
  Row& row = pattern.row;
  row.also.assign(names.begin() + 1, names.end());
  for (auto word = words.begin() + 2; word != words.end(); ++word) {
    if (*word == "transposed") row.form = Form::transposed;
    else if (*word == "unbiased") row.bias = false;
    else if (*word == "optional") row.need = Need::optional;
    else if (*word == "expected") row.need = Need::expected;
    else if (*word == "both") pattern.of_both_stacks = true;
    else if (word->starts_with("from=")) row.from_layer = word->at(5) - '0';
    else if (*word == "if") pattern.conditions = split_at(',', *++word);
    else assert(false);
  }
  return pattern;
}

/// A row "like" another has its entries, too; null takes one away (RFC 7396).
json whole_row(const json& stated, const std::vector<Family>& before) {
  if (!stated.contains("like")) return stated;
  const auto base = std::find_if(before.begin(), before.end(),
                                 [&](const Family& one) { return one.row["types"][0] == stated["like"]; });
  json row = base->row;
  row.merge_patch(stated);
  return row;
}

/// The views of a family's texts, which lie in its row and in `tensors`.
void set_views(Family& family, const json& tensors, const std::vector<FieldRow>& fields) {
  for (const json& type : family.row["types"]) family.types.push_back(text_of(type));
  family.prefix = text_of(family.row["prefix"]);
  family.output_prefix = text_of(family.row["output prefix"][0]);
  family.tied_prefix = text_of(family.row["output prefix"][1]);
  for (const json& list : family.row["tensors"])
    for (const json& pattern : tensors[text_of(list)])
      family.tensors.push_back(parsed_pattern(text_of(pattern), fields));
}

struct Table {
  const json document = json::parse(families_text());
  std::vector<FieldRow> fields;
  std::vector<Family> families;

  Table() {
    for (const json& field : document["fields"]) fields.push_back(parsed_field(text_of(field)));
    assert(fields.size() == static_cast<std::size_t>(Field::unused) + 1);
    const json& rows = document["families"];
    families.reserve(rows.size());
    for (const json& row : rows) {
      families.push_back({.row = whole_row(row, families)});
      set_views(families.back(), document["tensors"], fields);
    }
  }
};

const Table& table() {
  static const Table parsed;
  return parsed;
}

}  // namespace

const std::vector<Family>& all_families() { return table().families; }
const std::vector<FieldRow>& all_fields() { return table().fields; }

const Family* family_of(std::string_view type) {
  for (const Family& family : all_families())
    if (std::find(family.types.begin(), family.types.end(), type) != family.types.end()) return &family;
  return nullptr;
}

}  // namespace headlight
