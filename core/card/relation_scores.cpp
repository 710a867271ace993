#include "card/relation_scores.h"

#include <algorithm>
#include <cmath>

#include "card/training_plan.h"
#include "card/universal_relations.h"
#include "model/config.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

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

DirectedHead directed_from(const JsonField& field) {
  return {field.integer("layer", 0, kMaxLayers), field.integer("head", 0, kMaxHeads),
          field.text("direction") == "key→query"};
}

HeadScore rows_from(const JsonField& field) {
  return {.accuracy = share(field, "accuracy"), .weight = share(field, "weight"), .hard = share(field, "hard")};
}

LiteralLook look_from(const JsonField& field) {
  return {directed_from(field), field.flag("shown", false), share(field, "weight")};
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

const RelationScore* opposite_of(const RelationReport& report, const RelationScore& relation) {
  for (const RelationScore& one : report.opposite)
    if (one.relation == relation.relation) return &one;
  return nullptr;
}

std::string_view plain_name(const RelationScore& score) {
  const std::string_view name = score.relation;
  return name.starts_with(kChinesePrefix) ? name.substr(kChinesePrefix.size()) : name;
}

bool is_universal(const RelationScore& score) { return universal_relation(plain_name(score)) != nullptr; }

bool is_of_chinese(const RelationScore& score) { return score.relation.starts_with(kChinesePrefix); }

bool was_taught(const std::vector<TaughtHead>& taught, const RelationScore& score) {
  const auto teaching = taught_head(taught, plain_name(score));
  return teaching && !score.chosen.reversed && taught[*teaching].layer == score.chosen.layer &&
         taught[*teaching].head == score.chosen.head;
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
