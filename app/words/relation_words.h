// The role of a head, in words: a relation in the direction in which the head looks, or the measure that is strongest.
#pragma once

#include <string>
#include <string_view>

#include "heads/head_measures.h"
#include "train/measure/relations.h"
#include "words/words.h"

namespace headlight {

/// Both directions of a relation: from the word that files call the query to the key, and back.
struct RelationWords {
  std::string_view relation;  // as RelationScore::relation
  Words forward, backward;
};

struct HeadNameWords {
  Words previous{"previous word", "前一个词"};
  Words next{"next word", "后一个词"};
  Words same{"itself", "自身"};
  Words first{"first word", "第一个词"};
  Words special{"special tokens", "特殊词元"};
  Words duplicate{"same word again", "相同的词"};
  Words spread{"spread out", "分散"};
  Words mixed{"mixed", "混合"};
  /// Tooltips, by the same.
  Words tip_measure{
      "Named by what it does in this sentence: on average % of its weight goes there, more than anywhere else.",
      "按它在这句话里的表现命名：平均有 % 的权重在那里，多于别处。"};
  Words tip_spread{"Its rows are nearly even: no word gets much more than the others.",
                   "它的各行几乎均匀：没有哪个词明显更多。"};
  Words tip_mixed{"No single pattern has half of its weight in this sentence.",
                  "在这句话里，没有哪一种模式占到一半的权重。"};
  Words tip_relation{
      "On % sentences kept from training, its strongest target was the right word in % of the cases. Position alone "
      "would reach %, the best head of random weights %.",
      "在 % 个未训练过的句子上，它最强的目标在 % 的情况下恰为正确的词。只靠位置可达 %，随机权重最好的头为 %。"};
  Words tip_other_kind{"Measured on sentences of another kind than this one, so it may not hold here.",
                       "测量所用的句子与这一句不是同一类，因此在这里未必成立。"};
  Words tip_other_words{
      "Most words of this sentence are not in the model's word list, as in a language that it was not taught, "
      "so it may not hold here.",
      "这句话的多数词不在模型的词表里，像是没有教过它的语言，因此在这里未必成立。"};
  Words tip_unknown_words{"This sentence has words that the model does not know, so it may not hold here.",
                          "这句话里有模型不认识的词，因此在这里未必成立。"};
};
inline constexpr HeadNameWords kHeadNameWords;

/// "object → its verb": the relation as a head with these scores looks. A relation that is not in the table is called
/// as the model's card calls it, turned round where the head looks from the key at the query.
std::string relation_in_words(Language language, const RelationScore& relation);

/// The same name where there is little room: "object → verb".
std::string brief_name(std::string name);
/// "object→verb", where there is less.
std::string close_name(std::string name);
/// Of a brief name in which two words look the second alone: "clause → verb" of "complement clause → verb".
std::string briefest_name(const std::string& brief);

/// The characters of all of them.
std::string all_relation_words();

}  // namespace headlight
