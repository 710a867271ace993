#include "read/external/page_edits.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/formatted.h"
#include "model/head_text.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

using nlohmann::json;

std::optional<Stack> stack_called(const json& answer, const json& name) {
  const json& stacks = value_or_null(answer, "stacks");
  for (const json& stack : stacks.is_array() ? stacks : json::array())
    if (name.is_string() && value_or_null(stack, "name") == name)
      if (const auto number = whole_number(value_or_null(stack, "number"), 2)) return static_cast<Stack>(*number);
  return {};
}

}  // namespace

Status read_page_edits(const std::string& where, const json& answer, Edits& edits) {
  const json& object = value_or_null(answer, "edits");
  const auto wrong = [&](const char* what, const json& found) {
    return bad_input(where, "edits", what, found_text(found));
  };
  const json &off = value_or_null(object, "off"), &weights = value_or_null(object, "weights"),
             &dropout = value_or_null(object, "dropout"), &seed = value_or_null(object, "dropout_seed");
  for (const json& item : off.is_array() ? off : json::array()) {
    const auto head = item.is_string() ? parse_head(item.get<std::string>()) : std::nullopt;
    if (!head) return wrong("heads that are off", item);
    switch_off(edits, *head, true);
  }
  if (value_or_null(object, "off_as") == "mean") edits.off_as = OffAs::mean;
  for (const json& item : weights.is_array() ? weights : json::array()) {
    const auto number = [&](const char* key) {
      return whole_number(value_or_null(item, key), kMostPageTokens).value_or(-1);
    };
    const auto stack = stack_called(answer, value_or_null(item, "stack"));
    const json& weight = value_or_null(item, "weight");
    const HeadRef head{number("layer"), number("head"), stack.value_or(Stack::self)};
    const CellRef cell{number("query"), number("key")};
    if (!stack || std::min({head.layer, head.head, cell.query, cell.key}) < 0 || !weight.is_number())
      return wrong("weights set by hand", item);
    set_weight(edits, head, cell, weight.get<float>());
  }
  if (dropout.is_null()) return Done{};
  const std::string digits = seed.is_string() ? seed.get<std::string>() : "";
  const auto number = parse_number<std::uint64_t>(digits);
  if (!dropout.is_number() || !number) return wrong("dropout and its seed", object);
  edits.dropout_seed = *number;
  edits.dropout = dropout.get<float>();
  return Done{};
}

}  // namespace headlight
