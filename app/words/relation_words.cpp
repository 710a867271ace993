#include "words/relation_words.h"

#include <algorithm>
#include <iterator>

#include "train/measure/treebank_scores.h"

namespace headlight {
namespace {

/// A head that learned a relation is named by it; a row more names one more.
constexpr RelationWords kRelations[] = {
    {"SP", {"subject → its verb", "主语 → 谓语"}, {"verb → its subject", "谓语 → 主语"}},
    {"VO", {"verb → its object", "动词 → 宾语"}, {"object → its verb", "宾语 → 动词"}},
    {"DP", {"direction → its place", "方向 → 地点"}, {"place → its direction", "地点 → 方向"}},
    {"CO", {"same person", "同一个人"}, {"same person later", "后文同一个人"}},
    {"IT", {"pronoun → its noun", "代词 → 名词"}, {"noun → its pronoun", "名词 → 代词"}},
    {"TA", {"time → its verb", "时间 → 动作"}, {"verb → its time", "动作 → 时间"}},
    {"PA", {"place → its verb", "地点 → 动作"}, {"verb → its place", "动作 → 地点"}},
    {"MN", {"modifier → its noun", "修饰语 → 名词"}, {"noun → its modifier", "名词 → 修饰语"}},
    {"ST", {"subject → its state", "主语 → 状态"}, {"state → its subject", "状态 → 主语"}},
    {"OWN", {"word → its source", "词 → 原词"}, {"source → its word", "原词 → 词"}},
    {"NEXT", {"next word → its source", "下一个词 → 原词"}, {"source → its next word", "原词 → 下一个词"}},
};

constexpr std::string_view kArrow = " → ";

/// "a → b" as "b → a".
std::string turned(const std::string& title) {
  const std::size_t arrow = title.find(kArrow);
  if (arrow == std::string::npos) return title;
  return title.substr(arrow + kArrow.size()) + std::string(kArrow) + title.substr(0, arrow);
}

const RelationWords* of_grammar(const std::string& relation) {
  const auto* const known = std::ranges::find(kRelations, relation, &RelationWords::relation);
  return known == std::end(kRelations) ? nullptr : known;
}

}  // namespace

std::string relation_in_words(Language language, const std::string& relation, bool reversed) {
  if (const RelationWords* own = of_grammar(relation)) return words(language, reversed ? own->backward : own->forward);
  const UniversalRelation* own = universal_relation(relation);
  const std::string title = !own ? relation : language == Language::zh ? own->zh : own->en;
  return reversed ? turned(title) : title;
}

std::string relation_in_words(Language language, const RelationScore& relation) {
  const bool reversed = relation.chosen.reversed;
  if (of_grammar(relation.relation)) return relation_in_words(language, relation.relation, reversed);
  const std::string& title = language == Language::zh ? relation.zh : relation.en;
  return reversed ? turned(title) : title;
}

std::string counted_relation(Language language, const std::string& relation, bool reversed, std::size_t count) {
  const UniversalRelation* own = universal_relation(relation);
  const std::string number = std::to_string(count);
  if (!own || reversed) {
    const std::string title = relation_in_words(language, relation, reversed);
    return count == 1 ? title : number + " × " + title;
  }
  return number + (language == Language::zh ? std::string(" 个") + own->one_zh
                                            : std::string(" ") + (count == 1 ? own->one : own->many));
}

std::string brief_name(std::string name) {
  constexpr std::string_view kIts = "→ its ";
  const std::size_t at = name.find(kIts);
  return at == std::string::npos ? name : name.replace(at, kIts.size(), "→ ");
}

std::string close_name(std::string name) {
  constexpr std::string_view kClose = "→";
  const std::size_t at = name.find(kArrow);
  return at == std::string::npos ? name : name.replace(at, kArrow.size(), kClose);
}

std::string briefest_name(const std::string& brief) {
  const std::size_t arrow = brief.find(kArrow), space = brief.find(' ');
  const bool two = arrow != std::string::npos && space < arrow && brief.find(' ', space + 1) == arrow;
  return two ? brief.substr(space + 1) : brief;
}

std::string all_relation_words() {
  std::string all;
  for (const RelationWords& one : kRelations)
    for (const Words& words : {one.forward, one.backward}) all.append(words.en).append(words.zh);
  return all;
}

}  // namespace headlight
