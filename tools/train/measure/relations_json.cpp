#include "train/measure/relations_json.h"

#include "train/measure/treebank_scores.h"

#include <algorithm>
#include <cmath>

namespace headlight {
namespace {

/// Scores to four digits: more would be noise of the draw.
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

double share(const JsonField& field, const char* name) {
  const nlohmann::json& value = field.at(name).value();
  if (value.is_number() && value.get<double>() >= 0 && value.get<double>() <= 1) return value.get<double>();
  field.at(name).problem("a number from 0 to 1");
  return 0;
}

double perplexity(const JsonField& field) {
  const nlohmann::json& value = field.at("perplexity").value();
  if (value.is_number() && value.get<double>() >= 1 && std::isfinite(value.get<double>())) return value.get<double>();
  field.at("perplexity").problem("a number from 1 on");
  return 1;
}

nlohmann::ordered_json directed_json(const DirectedHead& head) {
  return {{"layer", head.layer}, {"head", head.head}, {"direction", head.reversed ? "key→query" : "query→key"}};
}

DirectedHead directed_from(const JsonField& field) {
  return {field.integer("layer", 0, kMaxLayers), field.integer("head", 0, kMaxHeads),
          field.text("direction") == "key→query"};
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

HeadScore rows_from(const JsonField& field) {
  return {.accuracy = share(field, "accuracy"), .weight = share(field, "weight"), .hard = share(field, "hard")};
}

nlohmann::ordered_json look_json(const LiteralLook& look) {
  nlohmann::ordered_json json = {{"shown", look.shown}};
  json.update(directed_json(look.head));
  json["weight"] = rounded(look.weight);
  return json;
}

LiteralLook look_from(const JsonField& field) {
  return {directed_from(field), field.flag("shown", false), share(field, "weight")};
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

AlignmentReport alignment_from(const JsonField& field) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  AlignmentReport report{.words = field.integer("words", 0, kMost), .diagonal = share(field, "diagonal")};
  for (const JsonField& head : field.at("heads").items())
    report.heads.push_back({head.integer("layer", 0, kMaxLayers), head.integer("head", 0, kMaxHeads),
                            rows_from(head.at("own")), rows_from(head.at("next"))});
  for (const JsonField& one : field.at("literals").items())
    report.literals.push_back(
        {one.text("text"), one.text("english"), one.integer("words", 0, kMost), one.integer("right", 0, kMost)});
  return report;
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

RelationReport relations_from(const JsonField& field) {
  RelationReport report;
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  report.test_seed = static_cast<std::uint64_t>(field.integer("test_seed", 0, kMost));
  for (const JsonField& one : field.at("relations").items()) {
    RelationScore score{.relation = one.text("relation"), .en = one.text("label"), .zh = one.text("label_zh")};
    score.stack = one.text("stack", "Self") == "Cross" ? Stack::cross : Stack::self;
    score.chosen = directed_from(one);
    score.score = {share(one, "accuracy"), share(one, "weight"), share(one, "hard"),
                   one.integer("hard_sentences", 0, kMost)};
    score.random = share(one, "random");
    score.offset = share(one, "offset");
    score.kind_offset = share(one, "family_offset");
    score.sentences = one.integer("sentences", 0, kMost);
    if (one.has("opposite")) {
      RelationScore& other = report.opposite.emplace_back(score);
      other.chosen = directed_from(one.at("opposite"));
      other.score = rows_from(one.at("opposite"));
    }
    report.relations.push_back(std::move(score));
  }
  report.pairs = field.at("pairs").integer("count", 0, kMost);
  report.pairs_right =
      static_cast<Index>(std::lround(share(field.at("pairs"), "both_right") * static_cast<double>(report.pairs)));
  for (const JsonField& one : field.at("literals").items()) {
    LiteralScore score{
        .text = one.text("text"), .relation = one.text("relation"), .query = one.text("query"), .key = one.text("key")};
    score.best = look_from(one);
    if (one.has("opposite")) score.other = look_from(one.at("opposite"));
    report.literals.push_back(std::move(score));
  }
  if (field.has("alignment")) report.alignment = alignment_from(field.at("alignment"));
  if (field.has("next_word")) {
    const JsonField next = field.at("next_word");
    report.next_word = {share(next, "accuracy"), perplexity(next), next.integer("words", 0, kMost)};
  }
  return report;
}

}  // namespace headlight
