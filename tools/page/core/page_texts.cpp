// What a page says in words and tables, with the numbers and the colours that the window gives them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "figure/labels.h"
#include "math/attention.h"
#include "page/core/page_scenes.h"

namespace headlight {
namespace {

using nlohmann::json;

std::string colour_text(Rgb colour) { return formatted("#%02x%02x%02x", colour.r, colour.g, colour.b); }

/// A cell of a table of the page's data: its text, its colours, and what it is in words.
json tinted_cell(const json& table, std::size_t row, std::size_t column, const ColourScale& scale) {
  const float value = table["values"][row][column].get<float>();
  const bool has_words = table.contains("words");
  const std::string word = has_words ? table["words"][row][column].get<std::string>() : "";
  const std::string place = table["rows"][row].get<std::string>() + " · " + table["columns"][column].get<std::string>();
  const Rgb colour = colour_of(scale, value);
  return {has_words                            ? word
          : table.value("kind", "") == "patch" ? signed_cell_number(value)
                                               : cell_number(value),
          place + ": " +
              (has_words ? word + " " + share_text(static_cast<double>(value)) : brief_number(100 * value) + " %"),
          colour_text(colour), colour_text(text_on(colour))};
}

/// A weight of a row, or a number that is none; empty where blocked.
std::string number_text(const Trace& trace, float number) {
  if (std::isnan(number)) return "NaN";
  if (number == trace.blocked() || (number < 0 && !trace.is_signed)) return "";
  return trace.is_signed ? signed_cell_number(number) : share_text(static_cast<double>(number));
}

}  // namespace

json cells_of_table(const json& table, const PageLook& look) {
  ColourScale scale = look.scale;
  scale.scale = Scale::linear;
  scale.top = table.value("top", 1.0f);
  scale.diverging = table.value("diverging", false);
  json lines = json::array();
  for (std::size_t row = 0; row < table["rows"].size(); ++row) {
    json& line = lines.emplace_back(json::array());
    for (std::size_t column = 0; column < table["columns"].size(); ++column)
      line.push_back(tinted_cell(table, row, column, scale));
  }
  return lines;
}

json row_of_cell(PageMaps& maps, const PageLook& look, const CellRef& cell) {
  const HeadRef& head = look.head;
  const FoldedStack* folded = maps.folded(head.stack, look.fold, {head});
  const auto shown = folded ? folded->fold.groups_of(cell) : std::nullopt;
  const Trace& trace = maps.trace();
  Matrix own;
  if (!shown) {
    own = attention_rows(trace, head, cell.query, 1);
    for (Index key = 0; key < own.cols(); ++key)
      if (is_missing(trace, head, {cell.query, key})) own(0, key) = std::numeric_limits<float>::quiet_NaN();
      else if (own(0, key) <= 0 && !trace.mask_of(head).allowed(cell.query, key)) own(0, key) = trace.blocked();
  }
  const Vector row = shown ? Vector(folded->map(head).row(shown->query)) : Vector(own.row(0));
  const auto& queries = shown ? folded->fold.queries.tokens : trace.query_tokens(head.stack).tokens;
  const auto& keys = shown ? folded->fold.keys.tokens : trace.key_tokens(head.stack).tokens;
  json words = json::array();
  for (Index key = 0; key < row.size(); ++key)
    words.push_back({{"label", axis_label(keys[static_cast<std::size_t>(key)])},
                     {"key", shown ? folded->fold.keys.tokens_of(key).first : key},
                     {"weight", row(key)},
                     {"share", number_text(trace, row(key))}});
  json object{{"from", axis_label(queries[static_cast<std::size_t>(shown ? shown->query : cell.query)])},
              {"words", std::move(words)},
              {"lit", shown ? shown->key : cell.key}};
  if (shown && !folded->rests.empty())
    object["rests"] = share_text(static_cast<double>(folded->rests[folded->index_of(head)](shown->query)));
  return object;
}

}  // namespace headlight
