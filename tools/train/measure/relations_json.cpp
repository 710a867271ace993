#include "train/measure/relations_json.h"

#include <algorithm>
#include <cmath>

namespace headlight {
namespace {

/// Scores to four digits: more would be noise of the draw.
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

nlohmann::ordered_json directed_json(const DirectedHead& head) {
  return {{"layer", head.layer}, {"head", head.head}, {"direction", head.reversed ? "key→query" : "query→key"}};
}

nlohmann::ordered_json rows_json(const HeadScore& score) {
  return {{"accuracy", rounded(score.accuracy)}, {"weight", rounded(score.weight)}, {"hard", rounded(score.hard)}};
}

/// A head and its score.
nlohmann::ordered_json head_json(const DirectedHead& head, const HeadScore& score) {
  nlohmann::ordered_json json = directed_json(head);
  json.update(rows_json(score));
  return json;
}

nlohmann::ordered_json baselines_json(const RelationScore& score) {
  return {{"random", rounded(score.random)},
          {"offset", rounded(score.offset)},
          {"family_offset", rounded(score.kind_offset)}};
}

nlohmann::ordered_json look_json(const LiteralLook& look) {
  nlohmann::ordered_json json = {{"shown", look.shown}};
  json.update(directed_json(look.head));
  json["weight"] = rounded(look.weight);
  return json;
}

nlohmann::ordered_json alignment_json(const AlignmentReport& report) {
  nlohmann::ordered_json json = {{"words", report.words},
                                 {"diagonal", rounded(report.diagonal)},
                                 {"heads", nlohmann::ordered_json::array()},
                                 {"literals", nlohmann::ordered_json::array()}};
  for (const CrossHead& head : report.heads)
    json["heads"].push_back(
        {{"layer", head.layer}, {"head", head.head}, {"own", rows_json(head.own)}, {"next", rows_json(head.next)}});
  for (const LiteralAlignment& one : report.literals)
    json["literals"].push_back(
        {{"text", one.text}, {"english", one.english}, {"words", one.words}, {"right", one.right}});
  return json;
}

}  // namespace

nlohmann::ordered_json relations_json(const RelationReport& report, const std::vector<TaughtHead>& taught) {
  nlohmann::ordered_json json = {{"test_seed", report.test_seed}, {"relations", nlohmann::ordered_json::array()}};
  for (const RelationScore& one : report.relations) {
    nlohmann::ordered_json row = {{"relation", one.relation}, {"label", one.en}, {"label_zh", one.zh}};
    row.update(head_json(one.chosen, one.score));
    row["hard_sentences"] = one.score.hard_count;
    row.update(baselines_json(one));
    row["supervised"] = was_taught(taught, one);
    row["sentences"] = one.sentences;
    if (const RelationScore* other = opposite_of(report, one)) row["opposite"] = head_json(other->chosen, other->score);
    if (one.stack == Stack::cross) row["stack"] = "Cross";
    json["relations"].push_back(std::move(row));
  }
  const double right = static_cast<double>(report.pairs_right) / static_cast<double>(std::max<Index>(1, report.pairs));
  json["pairs"] = {{"count", report.pairs}, {"both_right", rounded(right)}};
  json["literals"] = nlohmann::ordered_json::array();
  for (const LiteralScore& one : report.literals) {
    nlohmann::ordered_json row = {
        {"text", one.text}, {"relation", one.relation}, {"query", one.query}, {"key", one.key}};
    row.update(look_json(one.best));
    row["opposite"] = look_json(one.other);
    json["literals"].push_back(std::move(row));
  }
  if (!report.alignment.heads.empty()) json["alignment"] = alignment_json(report.alignment);
  if (report.next_word.words > 0) {
    json["next_word"] = {{"accuracy", rounded(report.next_word.accuracy)},
                         {"perplexity", rounded(report.next_word.perplexity)},
                         {"words", report.next_word.words}};
  }
  return json;
}

nlohmann::ordered_json layers_json(const RelationReport& report) {
  nlohmann::ordered_json json = {{"test_seed", report.test_seed}, {"relations", nlohmann::ordered_json::array()}};
  for (const RelationScore& one : report.relations) {
    nlohmann::ordered_json layers = nlohmann::ordered_json::array();
    for (const std::size_t best : one.best_of_layer) layers.push_back(head_json(one.directed[best], one.heads[best]));
    nlohmann::ordered_json row = {{"relation", one.relation}, {"label", one.en}, {"layers", std::move(layers)}};
    row.update(baselines_json(one));
    row["sentences"] = one.sentences;
    json["relations"].push_back(std::move(row));
  }
  return json;
}

}  // namespace headlight
