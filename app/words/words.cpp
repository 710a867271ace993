#include "words/words.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <iterator>

#include "document/question_fields.h"
#include "words/answer_words.h"
#include "words/chosen_head_words.h"
#include "words/compare_words.h"
#include "words/explain_words.h"
#include "words/failure_words.h"
#include "words/grid_words.h"
#include "words/head_words.h"
#include "words/inside_words.h"
#include "words/mask_words.h"
#include "words/model_words.h"
#include "words/relation_words.h"
#include "words/sentence_words.h"
#include "words/text_words.h"
#include "words/train_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

/// An area holds nothing but Words.
template <class Area>
void add(std::string& all, const Area& area) {
  static_assert(sizeof(Area) % sizeof(Words) == 0);
  for (const Words& words : std::bit_cast<std::array<Words, sizeof(Area) / sizeof(Words)>>(area))
    all.append(words.en).append(words.zh);
}

template <class... Area>
std::string characters(const Area&... areas) {
  std::string all;
  (add(all, areas), ...);
  return all;
}

}  // namespace

std::string filled(std::string text, std::initializer_list<std::string> parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    at = text.find('%', at);
    if (at == std::string::npos) break;
    text.replace(at, 1, part);
    at += part.size();
  }
  return text;
}

std::string all_words() {
  std::string all = characters(kWindowWords, kFileWords, kSentenceWords, kModelWords, kMaskWords, kAnswerWords,
                               kAnySentenceWords, kChosenHeadWords, kInsideWords, kCodeWords, kNumberWords, kTrainWords,
                               kFlowWords, kCompareWords, kGridWords, kHeadOrderWords, kMapWords, kLessonWords,
                               kPairWords, kChatWords, kPaletteWords, kFailureWords);
  for (const QuestionField& field : question_fields()) all += std::string(field.change.en) + field.change.zh;
  return all + characters(kHeadNameWords, kStageWords, kTextWords, kDoubtWords, kWordKindWords, kChangeWords) +
         all_relation_words() + all_explain_words() + all_failure_words() + "+−→✓▸▾×";
}

namespace {

struct Gloss {
  std::string_view word, english;
};
constexpr Gloss kGlosses[] = {
    {"我", "I"},
    {"他", "he"},
    {"她", "she"},
    {"它", "it"},
    {"请", "ask"},
    {"李雷", "Li Lei"},
    {"韩梅梅", "Han Meimei"},
    {"帮", "help"},
    {"订了", "booked"},
    {"去", "go to"},
    {"北京", "Beijing"},
    {"上海", "Shanghai"},
    {"的", "of"},
    {"机票", "ticket"},
    {"爱", "love"},
    {"那只", "that"},
    {"那个", "that"},
    {"动物", "animal"},
    {"没有", "did not"},
    {"过", "cross"},
    {"马路", "street"},
    {"因为", "because"},
    {"太", "too"},
    {"累了", "tired"},
    {"宽了", "wide"},
    {"小猫", "kitten"},
    {"昨天", "yesterday"},
    {"在", "in"},
    {"公园", "park"},
    {"里", "inside"},
    {"追逐", "chase"},
    {"一只", "one"},
    {"蝴蝶", "butterfly"},
    {"玩得", "played"},
    {"不亦乐乎", "merrily"},
    {"结果", "so"},
    {"把", "(object)"},
    {"晚餐", "supper"},
    {"都", "all"},
    {"忘了", "forgot"},
    {"现在", "now"},
    {"饿坏了", "starving"},
    {"猫", "cat"},
    {"狗", "dog"},
    {"老鼠", "mouse"},
    {"追", "chase"},
};

}  // namespace

std::string_view gloss_of(std::string_view word) {
  const auto* const found =
      std::find_if(std::begin(kGlosses), std::end(kGlosses), [&](const Gloss& gloss) { return gloss.word == word; });
  return found == std::end(kGlosses) ? std::string_view{} : found->english;
}

}  // namespace headlight
