#include "words/words.h"

#include <array>
#include <bit>

#include <nlohmann/json.hpp>

#include "question/question_fields.h"
#include "words/answer_words.h"
#include "words/chosen_head_words.h"
#include "words/compare_words.h"
#include "words/explain_words.h"
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

const nlohmann::json& words_table() {
  static const nlohmann::json table = nlohmann::json::parse(words_json());
  return table;
}

std::string all_words() {
  std::string all = characters(kWindowWords, kFileWords, kSentenceWords, kModelWords, kMaskWords, kAnswerWords,
                               kAnySentenceWords, kChosenHeadWords, kInsideWords, kCodeWords, kNumberWords, kTrainWords,
                               kFlowWords, kCompareWords, kGridWords, kHeadOrderWords, kMapWords, kLessonWords,
                               kPairWords, kChatWords, kPaletteWords, kFailureWords);
  for (const QuestionField& field : question_fields()) all += std::string(field.change.en) + field.change.zh;
  return all + characters(kHeadNameWords, kStageWords, kTextWords, kDoubtWords, kWordKindWords, kChangeWords) +
         all_relation_words() + all_explain_words() + words_table().dump() + "+−→✓▸▾×";
}

std::string_view gloss_of(std::string_view word) {
  const auto& glosses = words_table()["glosses"];
  const auto found = glosses.find(word);
  return found == glosses.end() ? std::string_view{} : found->get_ref<const std::string&>();
}

const Words& failure_words(ErrorCode code) {
  static const std::vector<Words> all = [] {
    std::vector<Words> meanings;
    for (std::size_t i = 0; i < kErrorCodes; ++i) {
      const auto& row = words_table()["failures"][name(static_cast<ErrorCode>(i))];
      const auto text = [&](std::size_t at) { return row[at].get_ref<const std::string&>().c_str(); };
      meanings.push_back({text(0), text(1)});
    }
    return meanings;
  }();
  return all[static_cast<std::size_t>(code)];
}

}  // namespace headlight
