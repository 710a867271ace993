#include "read/hub/families.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "base/utf8.h"

namespace headlight {
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
