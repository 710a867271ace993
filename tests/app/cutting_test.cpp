// Text is cut the same by trained models and for fresh weights, and the sentences of the grammar as it wrote them.
#include <gtest/gtest.h>

#include "card/grammar.h"
#include "models/open_model.h"
#include "question/document.h"
#include "question/tokenizers.h"
#include "text/words.h"
#include "train/run/training_files.h"

namespace headlight {
namespace {

using Texts = std::vector<std::string>;

Texts texts_of(const Document& document) {
  const auto requests = requests_of(document, *kept_lexicon());
  EXPECT_TRUE(requests) << requests.error().message();
  Texts texts;
  if (requests)
    for (const Token& token : requests->front().tokens.tokens) texts.push_back(token.text);
  return texts;
}

struct Cutting : testing::Test {
  Document trained, fresh;

  void SetUp() override {
    auto opened = open_model("shipped:encoder");
    ASSERT_TRUE(opened) << opened.error().message();
    trained = std::move(opened->document);
  }
  Texts cut(const std::string& text) {
    trained.source = fresh.source = {.text = text};
    EXPECT_EQ(texts_of(trained), texts_of(fresh)) << text;
    return texts_of(trained);
  }
};

TEST_F(Cutting, SentencesOfTheGrammarAreCutIntoItsWords) {
  const auto grammar = read_grammar();
  ASSERT_TRUE(grammar) << grammar.error().message();
  Random random(5);
  for (int i = 0; i < 500; ++i) {
    const auto part = i % 2 == 0 ? CorpusPart::training : CorpusPart::held_out;
    const Sentence sentence = draw_sentence(**grammar, part, random);
    Texts expected;
    for (const std::int32_t word : sentence.words) expected.push_back((*grammar)->words[at(word)]);
    ASSERT_EQ(cut(text_of(**grammar, sentence)), expected);
  }
}

TEST_F(Cutting, OtherWordsAreCutTheSameWithEveryModel) {
  for (const Texts& expected : {Texts{"我", "请", "李雷", "帮", "我", "订了", "去", "北京", "的", "机票"},
                                {"派", "司机", "关了"},
                                {"图书馆"},
                                {"门票"},
                                {"长江大桥"}}) {
    std::string text;
    for (const std::string& word : expected) text += word;
    EXPECT_EQ(cut(text), expected);
  }
  cut("The cat didn't sit on the mat, because it's 3.5 m high");
  // Without the word list of the any-sentence model ICU decides where these end.
  const bool listed = kept_lexicon()->likely != nullptr;
  const Texts told = cut("他告诉我，他要走了。"), student = cut("我是一个学生");
  if (!listed) return;
  EXPECT_EQ(told, (Texts{"他", "告诉", "我", "，", "他", "要", "走了", "。"}));
  EXPECT_EQ(student, (Texts{"我", "是", "一个", "学生"}));
}

}  // namespace
}  // namespace headlight
