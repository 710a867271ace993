// Writing on: a word appended, words generated one after another, and steps looked at again.
#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "math/generate.h"
#include "models/open_model.h"

namespace headlight {
namespace {

using fixture::answer;
using fixture::lexicon;
using fixture::raws;

using Texts = std::vector<std::string>;

Document decoder(std::string text = "我请李雷") {
  Document document = fixture::small_document(std::move(text));
  document.config.arch = Arch::decoder;
  document.mask.causal = true;
  return document;
}

Document translator() {
  Document document = decoder("我爱你");
  document.config.arch = Arch::encoder_decoder;
  document.target.text = "I";
  return document;
}

AppState state_of(Document document) { return initial_state(lexicon(), std::move(document), Settings{}); }

Texts token_texts(const Tokens& tokens) {
  Texts texts;
  for (const Token& token : tokens.tokens) texts.push_back(token.text);
  return texts;
}

const Tokens& written(const AppState& state) { return query_tokens(*whole_request(state), Stack::self); }

/// What repeated questions by hand give.
Texts by_hand(const Document& document, Index count, const Sampling& sampling) {
  Request request = requests_of(document, lexicon())->front();
  for (Index i = 0; i < count; ++i) request = extended(request, *next_word(**forward(request), sampling));
  return token_texts(query_tokens(request, Stack::self));
}

Texts generated(const Document& document, Index count, const Sampling& sampling) {
  AppState state = state_of(document);
  Loop loop([] {}, "");
  Commands commands{Generate{count, sampling}};
  loop.step(state, commands, 0);
  loop.settle(state);
  EXPECT_FALSE(state.generation);
  EXPECT_FALSE(is_stale(state)) << "the last step is answered too";
  return token_texts(written(state));
}

Document inserted(std::string text, std::size_t pad, const std::string& word) {
  Document document = decoder(std::move(text));
  document.pad = pad;
  append_word(document, 0, {.id = hashed_id(word), .text = word}, lexicon());
  return document;
}

TEST(AppendWord, IsATokenOfItsOwn) {
  EXPECT_EQ(raws(requests_of(inserted("我请", 0, "李雷"), lexicon())->front().tokens), (Texts{"我", "请", "李雷"}));
  EXPECT_EQ(raws(requests_of(inserted("李", 0, "雷"), lexicon())->front().tokens), (Texts{"李", "雷"}))
      << "where the split would join them";
  EXPECT_EQ(inserted("the cat", 0, "sat").source.text, "the cat sat");
  EXPECT_EQ(inserted("我", 0, "请").source.text, "我请");
  EXPECT_EQ(inserted("我", 0, "New York").source.text, "我 New York");
}

TEST(AppendWord, StandsBeforeThePadding) {
  EXPECT_EQ(raws(requests_of(inserted("a b c", 2, "x"), lexicon())->front().tokens), (Texts{"a", " x", " b", " c"}));
  EXPECT_EQ(raws(requests_of(inserted("a b", 9, "我"), lexicon())->front().tokens), (Texts{"我", "a", " b"}));
}

TEST(AppendWord, BelongsToItsSentence) {
  Document document = decoder("我爱\n你\n他 们");
  document.source.hand_cuts = {3, 10, 14};  // one of them at a line's end, where it cuts nothing
  append_word(document, 1, {.text = "去"}, lexicon());
  EXPECT_EQ(document.source.text, "我爱\n你去\n他 们");
  const auto requests = requests_of(document, lexicon());
  ASSERT_TRUE(requests) << requests.error().message();
  EXPECT_EQ(raws((*requests)[1].tokens), (Texts{"你", "去"}));
  EXPECT_TRUE(are_cuts(document.source.text, *document.source.hand_cuts));
}

TEST(AppendWord, GoesToTheDecoderAndIsUndone) {
  AppState state = state_of(translator());
  update(state, AppendWord{{.text = "love"}});
  EXPECT_EQ(state.document.target.text, "I love");
  EXPECT_EQ(state.document.source.text, "我爱你");
  EXPECT_EQ(wanted(state)->target.size(), 2u);
  update(state, Undo{});
  EXPECT_EQ(state.document.target.text, "I");
}

TEST(AppendWord, ACheckpointTakesTheId) {
  auto opened = open_model(fixture::golden("gpt2"));
  ASSERT_TRUE(opened) << opened.error().message();
  Document document = opened->document;
  EXPECT_FALSE(requests_of(document, lexicon()));
  document.source.ids = {5, 9};
  append_word(document, 0, {.id = 7, .text = "7"}, lexicon());
  EXPECT_EQ(document.source.ids, (std::vector<std::int64_t>{5, 9, 7}));
  const auto requests = requests_of(document, lexicon());
  ASSERT_TRUE(requests) << requests.error().message();
  EXPECT_EQ(token_texts(requests->front().tokens), (Texts{"5", "9", "7"}));
}

TEST(Generate, IsWhatRepeatedQuestionsGive) {
  for (const Document& document : {decoder(), translator()}) {
    EXPECT_EQ(generated(document, 4, {}), by_hand(document, 4, {}));
    const Sampling sampling{.temperature = 1.5f, .seed = 3};
    const Texts drawn = generated(document, 6, sampling);
    EXPECT_EQ(drawn, by_hand(document, 6, sampling));
    EXPECT_EQ(drawn, generated(document, 6, sampling)) << "the seed decides";
    EXPECT_NE(drawn, generated(document, 6, {.temperature = 1.5f, .seed = 4}));
  }
}

TEST(Generate, IsOneStepOfUndo) {
  AppState state = state_of(decoder());
  update(state, SetPad{0});
  update(state, answer(state));
  update(state, Generate{3, {}});
  for (std::size_t length = 4; length < 6; ++length) {
    EXPECT_EQ(written(state).size(), length) << "a word at every answer";
    EXPECT_TRUE(state.generation);
    update(state, EndGesture{});
    update(state, answer(state));
  }
  EXPECT_FALSE(state.generation);
  EXPECT_EQ(written(state).size(), 6u);
  update(state, Undo{});
  EXPECT_EQ(state.document, decoder());
  update(state, Redo{});
  EXPECT_EQ(written(state).size(), 6u);
}

TEST(Generate, EndsWithAStopAnEditAndAnError) {
  const auto begun = [] {
    AppState state = state_of(decoder());
    update(state, answer(state));
    update(state, Generate{5, {}});
    EXPECT_TRUE(state.generation);
    return state;
  };
  AppState state = begun();
  update(state, StopGenerating{});
  EXPECT_FALSE(state.generation);
  EXPECT_EQ(written(state).size(), 4u) << "what was written stays";
  for (const Command& command : Commands{SetScale{2.0f}, Undo{}, ChoosePrefix{2}}) {
    state = begun();
    update(state, command);
    EXPECT_FALSE(state.generation);
  }
  state = begun();
  update(state, reply(&Answers::trace, *wanted(state), Error(ErrorCode::bad_value, "an error")));
  EXPECT_FALSE(state.generation);
  EXPECT_EQ(message_of(problem_of(state)), "an error");
  update(state, Generate{5, {}});
  EXPECT_FALSE(state.generation) << "that question has no answer";
}

TEST(Generate, WhatCannotWriteOnSaysSo) {
  AppState state = state_of(fixture::small_document());
  update(state, answer(state));
  const Document before = state.document;
  update(state, Generate{2, {}});
  EXPECT_FALSE(state.generation);
  ASSERT_TRUE(state.notice);
  EXPECT_EQ(state.notice->kind, Notice::Kind::failed);
  EXPECT_TRUE(state.notice->text.find("decoder") != std::string::npos) << state.notice->text;
  EXPECT_EQ(state.document, before);
  EXPECT_TRUE(state.undo.empty());
}

TEST(Generate, CrossAttentionGrowsWithIt) {
  AppState state = state_of(translator());
  update(state, answer(state));
  const Index keys = state.trace->keys(Stack::cross);
  for (Index queries = 1; queries <= 3; ++queries) {
    EXPECT_EQ(state.trace->queries(Stack::cross), queries);
    EXPECT_EQ(state.trace->keys(Stack::cross), keys);
    update(state, Generate{1, {}});
    update(state, answer(state));
  }
}

TEST(Prefix, StepsThroughWhatWasWritten) {
  AppState state = state_of(translator());
  std::vector<std::shared_ptr<const Trace>> steps;
  update(state, answer(state));
  for (int i = 0; i < 3; ++i) {
    steps.push_back(state.trace);
    update(state, Generate{1, {}});
    update(state, answer(state));
  }
  const Document before = state.document;
  for (std::size_t count = 1; count <= 3; ++count) {
    update(state, ChoosePrefix{count});
    update(state, answer(state));
    EXPECT_EQ(wanted(state)->target.size(), count);
    EXPECT_TRUE(same(state.trace->last_hidden_state(), steps[count - 1]->last_hidden_state())) << "the step as it was";
    EXPECT_EQ(written(state).size(), 4u) << "the text is whole";
  }
  update(state, ChoosePrefix{99});
  EXPECT_EQ(wanted(state), whole_request(state));
  update(state, ChoosePrefix{0});
  EXPECT_EQ(wanted(state), whole_request(state));
  EXPECT_EQ(state.document, before) << "a look changes nothing";
}

TEST(Prefix, CutsWhatBelongsToTheRest) {
  Document document = decoder("a b c d");
  document.mask.given = fixture::open_mask(4, 4);
  document.mask.painted = {{0, 0, true}, {3, 0, false}};
  set_layer_edit(document.edits, {.layer = 1, .mask = MaskSpec{.given = fixture::open_mask(4, 4)}});
  set_weight(document.edits, {0, 0}, {1, 1}, 0.5f);
  set_weight(document.edits, {0, 0}, {3, 1}, 0.5f);
  const Request request = prefix_of(requests_of(document, lexicon())->front(), 2);
  EXPECT_EQ(request.tokens.text, "a b");
  EXPECT_EQ(request.mask.given->rows(), 2);
  EXPECT_EQ(request.mask.given->cols(), 2);
  EXPECT_EQ(request.mask.painted.size(), 1u);
  EXPECT_EQ(request.edits.weights.size(), 1u);
  EXPECT_EQ(request.edits.layers[0].mask->given->rows(), 2);
  EXPECT_TRUE(forward(request));
  document.config.arch = Arch::encoder;
  EXPECT_EQ(prefix_of(requests_of(document, lexicon())->front(), 2).tokens.size(), 4u)
      << "an encoder reads all at once";
}

}  // namespace
}  // namespace headlight
