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
  /// Tooltips of the labels above, by the same names.
  Words tip_measure{
      "Named by what it does in this sentence: on average % of its weight goes there, more than anywhere else.",
      "按它在这句话里的表现命名：平均有 % 的权重在那里，多于别处。"};
  Words tip_spread{"Its rows are nearly even: no word gets much more than the others.",
                   "它的各行几乎均匀：没有哪个词明显更多。"};
  Words tip_mixed{"No single pattern has half of its weight in this sentence.",
                  "在这句话里，没有哪一种模式占到一半的权重。"};
  Words tip_relation{
      "On % sentences kept from training, it found the right word for % of the words with this relation: its strongest "
      "target. Position alone would find %, the best head of random weights %.",
      "在 % 个未训练过的句子上，它为 % 的有此关系的词找到了正确的词（最强目标）。只靠位置可找到 %，随机权重最好的头为 "
      "%。"};
  /// What a head did in this sentence: its relations, and the words that rest.
  Words rests{"rests here", "在此停歇"};
  Words resting{"% words rest on %", "% 个词停在 % 上"};
  Words resting_one{"1 word rests on %", "1 个词停在 % 上"};
  Words tip_arcs{"%: % here. Where it was measured, % of 100 such cells were right.",
                 "%：这里 % 处。测量时，100 个这样的单元格里对 % 个。"};
  /// By Unnamed (document/named_arcs.h): why no cell has a name.
  Words unnamed[4]{{"No cell is named by a relation.", "没有以关系命名的单元格。"},
                   {"No names: text of no measured kind.", "没有名称：这类文字没有测量过。"},
                   {"No names: unlike measured sentences.", "没有名称：不像测量过的句子。"},
                   {"No names: more than 400 tokens.", "没有名称：超过 400 个词元。"}};
  Words tip_unnamed{"Names are measured in sentences of English or simplified Chinese, up to 400 tokens.",
                    "名称是在英文或简体中文的句子（最多 400 个词元）里测量的。"};
};
inline constexpr HeadNameWords kHeadNameWords;

/// "object → its verb": a relation of the grammar or of Universal Dependencies, turned round where the head looks from
/// its second word at the first. One that neither has is called as it is named.
std::string relation_in_words(Language language, const std::string& relation, bool reversed = false);
/// The same of a score: the model card has words for a relation that no table has.
std::string relation_in_words(Language language, const RelationScore& relation);

/// "3 determiners", "2 × object → its verb": of cells with one relation.
std::string counted_relation(Language language, const std::string& relation, bool reversed, std::size_t count);

/// The same name where there is little room: "object → verb".
std::string brief_name(std::string name);
/// "object→verb", where there is less.
std::string close_name(std::string name);
/// Of a brief name in which two words look the second alone: "clause → verb" of "complement clause → verb".
std::string briefest_name(const std::string& brief);

/// The characters of all of them.
std::string all_relation_words();

}  // namespace headlight
