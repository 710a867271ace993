#include "question/document.h"

#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "base/random.h"

namespace headlight {
namespace {

using fixture::lexicon;
using fixture::raws;

using Texts = std::vector<std::string>;
using Cuts = std::vector<std::size_t>;

Texts sentence_texts(const std::string& text) {
  Texts texts;
  for (const Line line : sentences(text)) texts.push_back(text.substr(line.begin, line.end - line.begin));
  return texts;
}

Document of_text(std::string text) {
  Document document;
  document.source.text = std::move(text);
  return document;
}

/// `A|B` as a document with boundaries set by hand.
Document by_hand(const std::string& marked) {
  auto parsed = parse_marked_tokens("test", marked);
  EXPECT_TRUE(parsed);
  Document document = of_text(parsed->text);
  document.source.hand_cuts = parsed->cuts;
  return document;
}

std::string marked(const Document& document) {
  return mark_tokens(document.source.text, current_cuts(document.source, lexicon()));
}

std::string after_edit(const std::string& before, std::string text) {
  Document document = by_hand(before);
  set_text(document.source, std::move(text), lexicon());
  return marked(document);
}

std::string problem(const Document& document) {
  const auto requests = requests_of(document, lexicon());
  return requests ? std::string{} : requests.error().message();
}

TEST(Sentences, AreTheLinesThatAreNotEmpty) {
  EXPECT_EQ(sentence_texts("one\ntwo"), (Texts{"one", "two"}));
  EXPECT_EQ(sentence_texts("one\n\n\ntwo\n"), (Texts{"one", "two"}));
  EXPECT_EQ(sentence_texts("\n\none"), (Texts{"one"}));
  EXPECT_EQ(sentence_texts("one\r\ntwo\r\n\r\n"), (Texts{"one", "two"}));
  EXPECT_EQ(sentence_texts("one\r"), (Texts{"one"}));
  EXPECT_EQ(sentence_texts(""), Texts{});
  EXPECT_EQ(sentence_texts("\n\r\n\n"), Texts{});
  EXPECT_EQ(sentence_texts(" "), (Texts{" "}));
}

TEST(Requests, DefaultSentenceIsTenTokens) {
  const auto requests = requests_of(Document{}, lexicon());
  ASSERT_TRUE(requests);
  ASSERT_EQ(requests->size(), 1u);
  EXPECT_EQ(raws(requests->front().tokens),
            (Texts{"我", "请", "李雷", "帮", "我", "订了", "去", "北京", "的", "机票"}));
}

TEST(Requests, CarryEverythingThatTheDocumentSets) {
  Document document;
  document.config = {.d_model = 12, .num_heads = 3, .num_layers = 1, .ffn = 0, .seed = 9};
  document.mask.causal = true;
  document.mask.painted = {{1, 2, false}};
  document.edits.scale = 0.5f;
  const auto requests = requests_of(document, lexicon());
  ASSERT_TRUE(requests);
  const Request& request = requests->front();
  EXPECT_EQ(request.config, document.config);
  EXPECT_EQ(request.mask, document.mask);
  EXPECT_EQ(request.edits, document.edits);
  EXPECT_EQ(request.model, nullptr);
}

TEST(Requests, SentencesOfABatchArePaddedToTheLongest) {
  Document document = of_text("我爱\r\n\r\nThe cat sat down.\n");
  const auto requests = requests_of(document, lexicon());
  ASSERT_TRUE(requests);
  ASSERT_EQ(requests->size(), 2u);
  const Tokens &first = (*requests)[0].tokens, &second = (*requests)[1].tokens;
  EXPECT_EQ(first.text, "我爱");
  EXPECT_EQ(second.text, "The cat sat down.");
  ASSERT_EQ(first.size(), second.size());
  EXPECT_FALSE(first.tokens[1].pad);
  for (std::size_t i = 2; i < first.size(); ++i) EXPECT_TRUE(first.tokens[i].pad && first.tokens[i].special) << i;
  for (const Token& token : second.tokens) EXPECT_FALSE(token.pad);
}

TEST(Requests, LastTokensOfEachSentenceCountAsPadding) {
  Document document = of_text("a b c\nd e f");
  document.pad = 2;
  const auto requests = requests_of(document, lexicon());
  ASSERT_TRUE(requests);
  for (const Request& request : *requests) {
    ASSERT_EQ(request.tokens.size(), 3u);
    EXPECT_FALSE(request.tokens.tokens[0].pad);
    EXPECT_TRUE(request.tokens.tokens[1].pad && request.tokens.tokens[2].pad);
  }
  document.pad = 99;
  const auto all = requests_of(document, lexicon());
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->front().tokens.tokens[0].pad);
}

TEST(Requests, CharactersKeepWhatPeopleReadAsOne) {
  Document document = of_text("李e\u0301👩‍👩‍👧");
  document.source.split = Split::characters;
  const auto requests = requests_of(document, lexicon());
  ASSERT_TRUE(requests);
  EXPECT_EQ(raws(requests->front().tokens), (Texts{"李", "e\u0301", "👩‍👩‍👧"}));
}

TEST(Requests, BoundariesSetByHandReplaceTheSplit) {
  const auto requests = requests_of(by_hand("我请|李|雷"), lexicon());
  ASSERT_TRUE(requests);
  EXPECT_EQ(raws(requests->front().tokens), (Texts{"我请", "李", "雷"}));
}

TEST(Requests, BoundariesOfABatchBelongToTheirLines) {
  Document document = by_hand("ab|c\nd|ef\n|gh");
  const auto requests = requests_of(document, lexicon());
  ASSERT_TRUE(requests);
  ASSERT_EQ(requests->size(), 3u);
  EXPECT_EQ(raws((*requests)[0].tokens), (Texts{"ab", "c"}));
  EXPECT_EQ(raws((*requests)[1].tokens), (Texts{"d", "ef"}));
  EXPECT_EQ(raws((*requests)[2].tokens), (Texts{"gh", "<pad>"}));
}

TEST(Requests, WhatCannotBeAskedIsOneClearLine) {
  EXPECT_EQ(problem(of_text("")), "text: tokens: expected at least one, found none");
  EXPECT_EQ(problem(of_text("\r\n\n")), "text: tokens: expected at least one, found none");
  EXPECT_NE(problem(of_text("ab\xFF\xFEz")).find("text"), std::string::npos);

  Document heads;
  heads.config.num_heads = 5;
  EXPECT_EQ(problem(heads), "model: num_heads: expected a divisor of d_model 64, found 5");

  Document long_text = of_text(std::string(kMaxTokens + 1, 'x'));
  long_text.source.split = Split::characters;
  EXPECT_EQ(problem(long_text), "text: tokens: expected at most 16384, found 16385");
  long_text.source.text.pop_back();
  EXPECT_EQ(problem(long_text), "");

  EXPECT_EQ(problem(of_text(std::string(kMaxTextBytes + 1, 'x'))),
            "text: size: expected at most 1048576 bytes, found 1048577");
}

TEST(Requests, ABatchIsRefusedBeforeItFillsTheMemory) {
  std::string many;
  for (std::size_t i = 0; i <= kMaxSentences; ++i) many += "a\n";
  EXPECT_EQ(problem(of_text(many)), "text: sentences: expected at most 4096, found 4097");

  Document uneven = of_text(std::string(kMaxTokens, 'x'));
  uneven.source.split = Split::characters;
  for (int i = 0; i < 20; ++i) uneven.source.text += "\na";
  EXPECT_NE(problem(uneven).find("expected at most 262144, found 344064"), std::string::npos) << problem(uneven);
}

TEST(Requests, ATensorsFileGivesExactlyOne) {
  Document document;
  auto model = std::make_shared<Model>();
  model->config = {.d_model = 6, .num_heads = 2, .num_layers = 1, .ffn = 0};
  model->given = ExternalInputs{{{Stack::self, ExternalStack{}}}};
  document.model = model;
  document.source.text = "";
  const auto requests = requests_of(document, lexicon());
  ASSERT_TRUE(requests);
  ASSERT_EQ(requests->size(), 1u);
  EXPECT_EQ(requests->front().model, document.model);
  EXPECT_EQ(requests->front().config, model->config);
}

TEST(ToggleCut, JoinsAndSplits) {
  Document document = of_text("我请李雷");
  EXPECT_EQ(marked(document), "我|请|李雷");
  toggle_cut(document.source, 3, lexicon());
  EXPECT_EQ(marked(document), "我请|李雷");
  toggle_cut(document.source, 9, lexicon());
  EXPECT_EQ(marked(document), "我请|李|雷");
  toggle_cut(document.source, 3, lexicon());
  EXPECT_EQ(marked(document), "我|请|李|雷");
}

TEST(ToggleCut, IgnoresEndsOutsideAndTheInsideOfACharacter) {
  const Document before = of_text("我请😀");
  for (const std::size_t offset : {0u, 1u, 2u, 4u, 7u, 8u, 9u, 10u, 11u, 1000u}) {
    Document document = before;
    toggle_cut(document.source, offset, lexicon());
    EXPECT_EQ(document, before) << offset;
  }
  Document empty = of_text("");
  toggle_cut(empty.source, 0, lexicon());
  EXPECT_FALSE(empty.source.hand_cuts);
}

TEST(SetText, WithoutBoundariesByHandTheSplitDecides) {
  Document document;
  set_text(document.source, "我爱", lexicon());
  EXPECT_EQ(document.source.text, "我爱");
  EXPECT_FALSE(document.source.hand_cuts);
}

TEST(SetText, BoundariesByHandStayWhereTheTextDidNotChange) {
  EXPECT_EQ(after_edit("机|票|北京去", "机票北去"), "机|票|北去") << "taken away";
  EXPECT_EQ(after_edit("机|票|北|京|去", "机票去"), "机|票|去");
  EXPECT_EQ(after_edit("机|票|北|京|去", "北京去"), "北|京|去") << "at the start";
  EXPECT_EQ(after_edit("机|票|北|京|去", "机票北"), "机|票|北") << "at the end";
  EXPECT_EQ(after_edit("ab|cd|ef",
                       "abXcd"
                       "ef"),
            "ab|Xcd|ef")
      << "put in at a boundary";
  EXPECT_EQ(after_edit("ab|cd|ef",
                       "abcXd"
                       "ef"),
            "ab|cXd|ef")
      << "put in inside a token";
  EXPECT_EQ(after_edit("ab|cd|ef", "abXYef"), "ab|XY|ef") << "replaced";
  EXPECT_EQ(after_edit("ab|cd|ef", "aXf"), "aXf") << "replaced with its boundaries";
  EXPECT_EQ(after_edit("ab|cd|ef", "abcdef"), "ab|cd|ef") << "nothing changed";
  EXPECT_EQ(after_edit("ab|cd", ""), "");
}

TEST(SetText, NewTextIsCutByTheSplit) {
  EXPECT_EQ(after_edit("机|票", "机票北京"), "机|票|北京") << "at the end";
  EXPECT_EQ(after_edit("机|票", "北京机票"), "北京|机|票") << "at the start";
  EXPECT_EQ(after_edit("机|票", "北京去"), "北京|去") << "all of it";
  EXPECT_EQ(after_edit("机|票", "机 the cat 票"), "机| the| cat| 票") << "between two tokens";
}

TEST(SetText, TypingLetterByLetterIsCutAsWell) {
  Document document = by_hand("机|票");
  std::string text = document.source.text;
  for (const char* typed : {"去", "北", "京", " ", "c", "a", "t"}) set_text(document.source, text += typed, lexicon());
  EXPECT_EQ(marked(document), "机|票|去|北京| cat");
}

TEST(SetText, CharactersThatShareBytesAreWholeCharacters) {
  // 我 is E6 88 91, 戒 is E6 88 92, 愑 is E6 84 91.
  EXPECT_EQ(after_edit("机|我|票", "机戒票"), "机|戒|票");
  EXPECT_EQ(after_edit("机|我|票", "机愑票"), "机|愑|票");
  EXPECT_EQ(after_edit("a|😀|b", "a😁b"), "a|😁|b");
  Document document = by_hand("戒|b");
  set_text(document.source, "我戒b", lexicon());
  EXPECT_TRUE(are_cuts(document.source.text, *document.source.hand_cuts));
  EXPECT_TRUE(std::count(document.source.hand_cuts->begin(), document.source.hand_cuts->end(), 6u));
}

TEST(SetText, SurvivesTextThatIsNotUtf8) {
  Document document = by_hand("机|票");
  set_text(document.source, "机票\xE6\x88", lexicon());
  EXPECT_FALSE(requests_of(document, lexicon()));
  toggle_cut(document.source, 3, lexicon());
  set_text(document.source, "机票", lexicon());
  EXPECT_TRUE(are_cuts(document.source.text, *document.source.hand_cuts));
  Document automatic = of_text("\xFF机");
  toggle_cut(automatic.source, 1, lexicon());
  EXPECT_FALSE(requests_of(automatic, lexicon()));
}

TEST(SetText, AfterAnyEditsTheTokensJoinToTheText) {
  const std::vector<std::string> pieces{"我", "戒",   "请",  "李雷", "a", " ", "e\u0301", "😀", "👩‍👩‍👧",
                                        "\n", "\r\n", "Ünï", "。",   "𠀀"};
  Random random(7);
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random.next() % count); };
  for (int run = 0; run < 40; ++run) {
    Document document = of_text("我请李雷 went 😀");
    for (int step = 0; step < 25; ++step) {
      const auto boundary_at = [&](std::size_t at) {
        while (!is_boundary(document.source.text, at)) --at;
        return at;
      };
      if (below(3) == 0) {
        toggle_cut(document.source, below(document.source.text.size() + 2), lexicon());
      } else {
        const std::size_t begin = boundary_at(below(document.source.text.size() + 1));
        const std::size_t end = boundary_at(std::min(document.source.text.size(), begin + below(8)));
        std::string text = document.source.text.substr(0, begin);
        for (std::size_t i = below(4); i > 0; --i) text += pieces[below(pieces.size())];
        set_text(document.source, text + document.source.text.substr(std::max(begin, end)), lexicon());
      }
      const auto cuts = current_cuts(document.source, lexicon());
      ASSERT_TRUE(are_cuts(document.source.text, cuts)) << run << " " << step << " " << document.source.text;
      std::string joined;
      for (const auto& raw : raws(tokens_between(document.source.text, cuts))) joined += raw;
      ASSERT_EQ(joined, document.source.text);
      const auto requests = requests_of(document, lexicon());
      ASSERT_EQ(static_cast<bool>(requests), !sentences(document.source.text).empty());
    }
  }
}

}  // namespace
}  // namespace headlight
