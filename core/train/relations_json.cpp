#include "train/relations_json.h"

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

}  // namespace

nlohmann::ordered_json relations_json(const RelationReport& report) {
  nlohmann::ordered_json json = {{"test_seed", report.test_seed}, {"relations", nlohmann::ordered_json::array()}};
  for (const RelationScore& one : report.relations) {
    json["relations"].push_back({{"relation", one.relation},
                                 {"label", one.en},
                                 {"label_zh", one.zh},
                                 {"layer", one.chosen.layer},
                                 {"head", one.chosen.head},
                                 {"direction", one.chosen.reversed ? "key→query" : "query→key"},
                                 {"accuracy", rounded(one.score.accuracy)},
                                 {"weight", rounded(one.score.weight)},
                                 {"hard", rounded(one.score.hard)},
                                 {"hard_sentences", one.score.hard_count},
                                 {"random", rounded(one.random)},
                                 {"offset", rounded(one.offset)},
                                 {"family_offset", rounded(one.kind_offset)},
                                 {"supervised", false},
                                 {"sentences", one.sentences}});
  }
  const double right = static_cast<double>(report.pairs_right) / static_cast<double>(std::max<Index>(1, report.pairs));
  json["pairs"] = {{"count", report.pairs}, {"both_right", rounded(right)}};
  json["literals"] = nlohmann::ordered_json::array();
  for (const LiteralScore& one : report.literals) {
    json["literals"].push_back({{"text", one.text},
                                {"relation", one.relation},
                                {"query", one.query},
                                {"key", one.key},
                                {"shown", one.shown},
                                {"layer", one.best.layer},
                                {"head", one.best.head},
                                {"direction", one.best.reversed ? "key→query" : "query→key"},
                                {"weight", rounded(one.weight)}});
  }
  return json;
}

RelationReport relations_from(const JsonField& field) {
  RelationReport report;
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  report.test_seed = static_cast<std::uint64_t>(field.integer("test_seed", 0, kMost));
  for (const JsonField& one : field.at("relations").items()) {
    RelationScore score{.relation = one.text("relation"), .en = one.text("label"), .zh = one.text("label_zh")};
    score.chosen = {one.integer("layer", 0, kMaxLayers), one.integer("head", 0, kMaxHeads),
                    one.text("direction") == "key→query"};
    score.score = {share(one, "accuracy"), share(one, "weight"), share(one, "hard"),
                   one.integer("hard_sentences", 0, kMost)};
    score.random = share(one, "random");
    score.offset = share(one, "offset");
    score.kind_offset = share(one, "family_offset");
    score.sentences = one.integer("sentences", 0, kMost);
    report.relations.push_back(std::move(score));
  }
  report.pairs = field.at("pairs").integer("count", 0, kMost);
  report.pairs_right =
      static_cast<Index>(std::lround(share(field.at("pairs"), "both_right") * static_cast<double>(report.pairs)));
  for (const JsonField& one : field.at("literals").items()) {
    LiteralScore score{.text = one.text("text"), .relation = one.text("relation"), .query = one.text("query"),
                       .key = one.text("key")};
    score.best = {one.integer("layer", 0, kMaxLayers), one.integer("head", 0, kMaxHeads),
                  one.text("direction") == "key→query"};
    score.shown = one.flag("shown", false);
    score.weight = share(one, "weight");
    report.literals.push_back(std::move(score));
  }
  return report;
}

}  // namespace headlight
