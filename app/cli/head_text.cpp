#include "cli/head_text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/formatted.h"
#include "base/utf8.h"
#include "cli/options/print.h"
#include "document/bundled_models.h"
#include "model/head_text.h"
#include "write/csv.h"
#include "write/json.h"
#include "write/number.h"

namespace headlight {
namespace {

struct Column {
  std::string name;
  std::function<std::optional<float>(const HeadRow&)> value;
};

std::vector<Column> columns() {
  std::vector<Column> all;
  for (const Measure measure : kMeasures)
    all.push_back({std::string(name(measure)), [measure](const HeadRow& row) { return row.measures[measure]; }});
  all.push_back(
      {"effect", [](const HeadRow& row) { return row.effect ? std::optional(row.effect->change) : std::nullopt; }});
  all.push_back({"top_word", [](const HeadRow& row) { return row.effect ? row.effect->top_word : std::nullopt; }});
  all.push_back(
      {"found", [](const HeadRow& row) { return row.found ? std::optional(row.found->weight) : std::nullopt; }});
  return all;
}

/// In brackets where this sentence is no reason to believe it.
std::string name_text(const HeadRow& row) {
  const std::string name = name_with_score(row.name);
  return row.name.doubtful ? "(" + name + ")" : name;
}

/// What was measured of the head, as scripts read it; in brackets what it does not wear.
std::string learned_fields(const HeadRow& row) {
  std::string text;
  for (std::size_t i = 0; i < row.learned.size(); ++i) {
    const RelationScore& score = *row.learned[i];
    const std::string one =
        score.relation + formatted(" %.3f", score.score.accuracy) + (row.taught[i] ? " taught" : "");
    text.append(text.empty() ? "" : ", ").append(is_worn(score) ? one : "(" + one + ")");
  }
  return text;
}

std::string three_decimals(const std::optional<float>& value) {
  if (!value) return "—";
  const double number = static_cast<double>(*value);
  return formatted(number != 0 && std::abs(number) < 0.0005 ? "%.1e" : "%.3f", number);
}

/// Appends a cell of so many characters, to the right or to the left of its blanks.
void append_cell(std::string& line, const std::string& cell, std::size_t width, bool right) {
  const std::string filled = padded(cell, width);
  line += right ? filled.substr(cell.size()) + cell : filled;
}

Error overflow(const Column& column, const HeadRow& row) {
  return bad_input("heads", column.name + " of head " + head_label(row.measures.head), "a finite number",
                   "an overflow");
}

std::string quoted_word(const std::string& word) { return word.empty() ? "any word" : word_in_table(word); }

}  // namespace

Result<std::string> text_table(const HeadTable& table) {
  struct Shown {
    std::string name;
    std::vector<std::string> cells;
    std::size_t width = 0;
  };
  std::vector<Shown> shown{{"head", {}, 0}};
  for (const HeadRow& row : table.rows) shown[0].cells.push_back(head_label(row.measures.head));
  for (const Column& column : columns()) {
    Shown one{column.name, {}, 0};
    std::replace(one.name.begin(), one.name.end(), '_', ' ');
    bool any = false;
    for (const HeadRow& row : table.rows) {
      any = any || column.value(row);
      one.cells.push_back(three_decimals(column.value(row)));
    }
    if (any) shown.push_back(std::move(one));
  }
  Shown names{"name", {}, 0};
  for (const HeadRow& row : table.rows) names.cells.push_back(name_text(row));
  shown.push_back(std::move(names));

  for (Shown& one : shown) {
    one.width = one.name.size();
    for (const std::string& cell : one.cells) one.width = std::max(one.width, code_points(cell).size());
  }
  std::string text;
  for (std::size_t line = 0; line <= table.rows.size() && !table.rows.empty(); ++line) {
    std::string cells;
    for (const Shown& one : shown) {
      const bool right = one.name != "head" && one.name != "name";
      if (!cells.empty()) cells += "  ";
      append_cell(cells, line == 0 ? one.name : one.cells[line - 1], one.width, right);
    }
    text += cells.substr(0, cells.find_last_not_of(' ') + 1) + "\n";
  }
  if (table.words)
    text += std::to_string(table.rows.size()) + " of " + std::to_string(table.heads) + " heads look from " +
            quoted_word(table.words->from) + " at " + quoted_word(table.words->to) + " with more than " +
            three_decimals(table.above) + "\n";
  if (table.sentences > 1) text += "measured over " + std::to_string(table.sentences) + " sentences\n";
  const auto is_doubtful = [](const HeadRow& row) { return row.name.doubtful; };
  if (std::any_of(table.rows.begin(), table.rows.end(), is_doubtful))
    text +=
        "in brackets: measured on sentences of another kind or language, or with words that the model does not know\n";
  if (!table.rows.empty() && table.rows.front().effect)
    text += table.of_words ? "effect: what the word's distribution loses with the head off, as KL divergence in nats; "
                             "top word: the change of its probability\n"
                           : "effect: the relative change of the last hidden states with the head off\n";
  return text;
}

Result<std::string> csv_table(const HeadTable& table) {
  const std::vector<Column> all = columns();
  std::string text = "stack,layer,head";
  for (const Column& column : all) text += "," + column.name;
  text += ",learned\n";
  for (const HeadRow& row : table.rows) {
    const HeadRef& head = row.measures.head;
    text += row.stack + "," + std::to_string(head.layer) + "," + std::to_string(head.head);
    for (const Column& column : all) {
      text += ',';
      if (const auto value = column.value(row); value && !append_number(text, *value)) return overflow(column, row);
    }
    text += "," + csv_field(learned_fields(row)) + "\n";
  }
  return text;
}

Result<std::string> json_table(const HeadTable& table) {
  const std::vector<Column> all = columns();
  std::string text = "{\"heads\":[";
  for (const HeadRow& row : table.rows) {
    const HeadRef& head = row.measures.head;
    if (text.back() != '[') text += ",\n";
    text += "{\"stack\":" + json_string(row.stack) + ",\"layer\":" + std::to_string(head.layer) +
            ",\"head\":" + std::to_string(head.head);
    for (const Column& column : all) {
      const auto value = column.value(row);
      if (!value) continue;
      text += ",\"" + column.name + "\":";
      if (!append_number(text, *value)) return overflow(column, row);
    }
    if (row.found)
      text += ",\"cell\":{\"sentence\":" + std::to_string(row.found->sentence) +
              ",\"query\":" + std::to_string(row.found->cell.query) +
              ",\"key\":" + std::to_string(row.found->cell.key) + "}";
    std::string learned;
    for (std::size_t i = 0; i < row.learned.size(); ++i) {
      const RelationScore* one = row.learned[i];
      learned += (learned.empty() ? "" : ",") + ("{\"relation\":" + json_string(one->relation)) +
                 ",\"label\":" + json_string(one->en) +
                 ",\"direction\":" + (one->chosen.reversed ? "\"key→query\"" : "\"query→key\"") + ",\"accuracy\":";
      append_number(learned, static_cast<float>(one->score.accuracy));
      append_number(learned += ",\"position\":", static_cast<float>(position_alone(*one)));
      learned += std::string(",\"worn\":") + (is_worn(*one) ? "true" : "false") +
                 ",\"supervised\":" + (row.taught[i] ? "true" : "false") +
                 ",\"doubted\":" + (row.doubted[i] ? "true" : "false") + '}';
    }
    if (!learned.empty()) text += ",\"learned\":[" + learned + "]";
    text += '}';
  }
  text += "],\"sentences\":" + std::to_string(table.sentences);
  if (!table.rows.empty() && table.rows.front().effect)
    text += std::string(",\"effect_on\":") + (table.of_words ? "\"words\"" : "\"last_hidden_state\"");
  if (table.words) {
    text += ",\"find\":{\"from\":" + json_string(table.words->from) + ",\"to\":" + json_string(table.words->to) +
            ",\"above\":";
    append_number(text, table.above);
    text += '}';
  }
  return text + "}\n";
}

}  // namespace headlight
