#include "card/universal_relations.h"

#include <algorithm>

namespace headlight {

const std::vector<UniversalRelation>& universal_relations() {
  static const std::vector<UniversalRelation> all = {
      {"nsubj", "subject → its predicate", "主语 → 谓语", "subject", "subjects", "主语"},
      {"obj", "object → its verb", "宾语 → 动词", "object", "objects", "宾语"},
      {"iobj", "indirect object → its verb", "间接宾语 → 动词", "indirect object", "indirect objects", "间接宾语"},
      {"det", "determiner → its noun", "限定词 → 名词", "determiner", "determiners", "限定词"},
      {"nmod:poss", "possessor → what is owned", "领有者 → 所属物", "possessor", "possessors", "领有者"},
      {"nummod", "number → what is counted", "数词 → 所数之物", "number", "numbers", "数词"},
      {"clf", "measure word → its number", "量词 → 数词", "measure word", "measure words", "量词"},
      {"amod", "adjective → its noun", "形容词 → 名词", "adjective", "adjectives", "形容词"},
      {"case", "preposition → its noun", "介词、方位词、的 → 名词", "preposition", "prepositions", "介词·的"},
      {"aux", "auxiliary → its verb", "助词、助动词 → 动词", "auxiliary", "auxiliaries", "助词"},
      {"cop", "copula → its predicate", "系词 → 表语", "copula", "copulas", "系词"},
      {"mark", "clause mark → its clause", "从句标记（的、如果） → 从句", "clause mark", "clause marks", "从句标记"},
      {"advmod", "adverb → what it modifies", "副词 → 所修饰的词", "adverb", "adverbs", "副词"},
      {"compound", "part of a compound → its main word", "复合词的部分 → 中心词", "compound part", "compound parts",
       "复合词部分"},
      {"flat", "part of a name → its first word", "名称的部分 → 首词", "name part", "name parts", "名称部分"},
      {"nmod", "noun → the noun it modifies", "名词定语 → 名词", "noun of a noun", "nouns of nouns", "名词定语"},
      {"acl", "clause → the noun it modifies", "定语从句 → 名词", "clause of a noun", "clauses of nouns", "定语从句"},
      {"obl", "noun beside a verb → that verb", "状语名词 → 动词", "noun beside a verb", "nouns beside verbs",
       "状语名词"},
      {"advcl", "adverbial clause → main verb", "状语从句 → 主句动词", "adverbial clause", "adverbial clauses",
       "状语从句"},
      {"xcomp", "open complement → its verb", "开放补语 → 动词", "open complement", "open complements", "开放补语"},
      {"ccomp", "complement clause → its verb", "补语从句 → 动词", "complement clause", "complement clauses",
       "补语从句"},
      {"conj", "second part → first part", "并列后项 → 前项", "second part", "second parts", "并列后项"},
      {"cc", "and, or → what it joins", "并列连词 → 后项", "conjunction", "conjunctions", "并列连词"},
  };
  return all;
}

const UniversalRelation* universal_relation(std::string_view name) {
  const auto& all = universal_relations();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const UniversalRelation* counting_relation(std::string_view name) {
  const UniversalRelation* exact = universal_relation(name);
  return exact ? exact : universal_relation(name.substr(0, name.find(':')));
}

std::string_view universal_name(std::string_view relation) {
  const UniversalRelation* found = counting_relation(relation);
  return found ? found->name : std::string_view();
}

}  // namespace headlight
