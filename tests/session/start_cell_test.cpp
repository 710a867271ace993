// What a window begins with: the head and the cell that show most. And which edits a change of the model removes.
#include "view/start_cell.h"
#include "app/shipped.h"

#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "models/model_choice.h"
#include "session/head_grid.h"
#include "session/update.h"

namespace headlight {
namespace {

/// The window's state with the shipped models, settled after every command.
struct RunningWindow : fixture::Running {
  explicit RunningWindow(Document document = default_document(fixture::shipped().get()))
      : Running(initial_state(fixture::lexicon(), std::move(document), {}, {}, fixture::shipped())) {}
};

TEST(Telling, TheDefaultSentenceShowsTheSamePerson) {
  RunningWindow window;
  EXPECT_EQ(window.state.view.chosen, HeadRef{}) << "nothing is chosen unasked";
  window.push(ChooseStart{});
  EXPECT_EQ(window.state.view.chosen, (HeadRef{1, 5}));
  EXPECT_EQ(window.state.view.pinned, (CellRef{4, 0}));
}

TEST(Telling, TheEnglishSentenceShowsItsPronoun) {
  RunningWindow window;
  window.push(SetText{"The animal didn't cross the street because it was too tired."}, EndGesture{}, ChooseStart{});
  EXPECT_EQ(window.state.view.chosen, (HeadRef{1, 5}));
  EXPECT_EQ(window.state.view.pinned, (CellRef{7, 1}));
  window.push(SetText{"The animal didn't cross the street because it was too wide."}, EndGesture{}, ChooseStart{});
  EXPECT_EQ(window.state.view.pinned, (CellRef{7, 5})) << "the answer that belongs to the new sentence is awaited";
}

TEST(Telling, OfASentenceThatWasNotMeasuredShowsThePronounOrTheStrongestTaughtHead) {
  RunningWindow window;
  window.push(SetText{"The cat didn't cross because it was too tired"}, EndGesture{},
              ChooseStart{});  // known words, in no sentence of the grammar
  const auto word = [&](Index token) { return window.state.trace->key_tokens(Stack::self).tokens[at(token)].text; };
  ASSERT_TRUE(window.state.view.pinned);
  EXPECT_EQ(word(window.state.view.pinned->query), "it");
  EXPECT_EQ(word(window.state.view.pinned->key), "cat");
  window.push(SetText{"I want to buy a new book for my sister."}, EndGesture{});
  ASSERT_TRUE(is_any_sentence(window.state.document)) << "which another model answers";
  const HeadRef head = window.state.view.chosen;
  EXPECT_FALSE(relations_of(window.state.document, head).empty());
  ASSERT_TRUE(window.state.view.pinned);
  const auto [query, key] = *window.state.view.pinned;
  EXPECT_GT(attention_rows(*window.state.trace, head, query, 1)(0, key), 0.5f);
  EXPECT_FALSE(window.state.trace->key_tokens(Stack::self).tokens[at(key)].special);
}

/// The words of the pinned cell, without marks of pieces.
std::pair<std::string, std::string> pinned_words(const AppState& state) {
  const Tokens& tokens = state.trace->query_tokens();
  const auto word_of = [&](Index token) {
    for (const SpeltWord& word : spelt_words(tokens))
      if (word.has(token)) return tokens.text.substr(word.begin, word.end - word.begin);
    return std::string("none");
  };
  return {word_of(state.view.pinned->query), word_of(state.view.pinned->key)};
}

// The head that was taught pronouns has no name for such cells, and is shown all the same.
TEST(Telling, AWordThatRefersToAnotherComesFirst) {
  RunningWindow window;
  const auto opens_on = [&](const char* text) {
    window.push(SetText{text}, EndGesture{}, ChooseStart{});
    EXPECT_TRUE(is_any_sentence(window.state.document)) << text;
    EXPECT_EQ(arcs_of(window.state).at(window.state.view.chosen, *window.state.view.pinned), nullptr) << text;
    return pinned_words(window.state);
  };
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(opens_on("The trophy does not fit in the suitcase because it is too big."), Pair("it", "trophy"));
  EXPECT_EQ(opens_on("The trophy does not fit in the suitcase because it is too small."), Pair("it", "suitcase"));
  EXPECT_EQ(opens_on("The children were hungry because they had not eaten all day."), Pair("they", "children"));
  EXPECT_EQ(opens_on("小猫追老鼠，它跑得很快。"), Pair("小猫", "追")) << "no share was measured of Chinese pronouns";
  for (const char* text :
       {"My phone fell into the water, so I dried it.", "It is important that you read this book."}) {
    window.push(SetText{text}, EndGesture{}, ChooseStart{});
    EXPECT_NE(window.state.view.chosen, (HeadRef{3, 7}))
        << text << ": no pronoun of the third person, or no noun before it";
  }
  opens_on("The children were hungry because they had not eaten all day.");
  const auto telling = first_with(telling_heads(window.state), HeadRef{}, 9);
  EXPECT_NE(std::ranges::find(telling, window.state.view.chosen), telling.end()) << "its map is among the first";
}

TEST(Telling, WhereNoNameIsSureACellIsSeenClearly) {
  RunningWindow window;
  for (const char* text : {"小王把钥匙忘在家里了，所以他进不去。", "你喜欢喝咖啡还是喝茶？"}) {
    window.push(SetText{text}, EndGesture{}, ChooseStart{});
    const auto [query, key] = *window.state.view.pinned;
    EXPECT_GE(attention_rows(*window.state.trace, window.state.view.chosen, query, 1)(0, key), 0.5f) << text;
  }
}

TEST(Telling, ALongTextBeginsWithAWordThatIsLookedAt) {
  RunningWindow window;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "The old man walked to the river and sat under a tree . ";
  window.push(SetText{text}, EndGesture{}, ChooseStart{});
  ASSERT_GT(window.state.trace->queries(), 600);
  ASSERT_TRUE(window.state.view.pinned);
  const auto [query, key] = *window.state.view.pinned;
  EXPECT_GE(attention_rows(*window.state.trace, window.state.view.chosen, query, 1)(0, key), kLeastPointing);
}

TEST(Telling, OpensOnAnotherWordAndNoPieceOfTheSame) {
  for (const char* text : {"Ich habe gestern meiner Großmutter einen Brief geschrieben.", "Der Hund schläft",
                           "mañana iremos a la playa", "buffalo buffalo Buffalo buffalo"}) {
    RunningWindow window;
    window.push(SetText{text}, EndGesture{}, ChooseStart{});
    ASSERT_TRUE(window.state.view.pinned) << text;
    const auto [query, key] = *window.state.view.pinned;
    const auto& tokens = window.state.trace->query_tokens().tokens;
    const auto first = [&](Index token) {
      while (tokens[static_cast<std::size_t>(token)].continues) --token;
      return token;
    };
    EXPECT_NE(first(query), first(key)) << text;
  }
}

TEST(Telling, FollowsTheTextUntilTheUserChooses) {
  RunningWindow window;
  window.push(ChooseStart{});
  window.push(SetText{"The animal didn't cross the street because it was too tired."}, EndGesture{});
  EXPECT_EQ(window.state.view.pinned, (CellRef{7, 1}));
  window.push(SetMask{.causal = true}, EndGesture{});
  EXPECT_EQ(window.state.view.pinned, (CellRef{7, 1})) << "an edit moves nothing";
  window.push(Pin{CellRef{2, 3}}, SetText{"The animal didn't cross the street because it was too wide."}, EndGesture{});
  EXPECT_EQ(window.state.view.pinned, (CellRef{2, 3}));
}

TEST(Telling, TypingChoosesNothing) {
  RunningWindow window;
  window.push(ChooseHead{{0, 3}}, SetText{"The animal didn't cross the street because it was too tired."},
              EndGesture{});
  EXPECT_EQ(window.state.view.chosen, (HeadRef{0, 3}));
  EXPECT_FALSE(window.state.view.pinned);
}

TEST(Telling, ATranslatorBeginsWithCrossAttention) {
  RunningWindow window;
  Config config = window.state.document.config;
  config.arch = Arch::encoder_decoder;
  window.push(SetConfig{config}, EndGesture{}, ChooseStart{});
  ASSERT_TRUE(window.state.document.model);
  EXPECT_EQ(window.state.view.chosen.stack, Stack::cross);
  EXPECT_TRUE(window.state.view.pinned);
}

/// A word that looks at another one, with a weight that is seen.
void expect_content(const AppState& state) {
  ASSERT_TRUE(state.view.pinned);
  const auto [query, key] = *state.view.pinned;
  const HeadRef head = state.view.chosen;
  EXPECT_NE(query, key);
  EXPECT_GE(attention_rows(*state.trace, head, query, 1)(0, key), 0.1f);
  EXPECT_FALSE(state.trace->query_tokens(head.stack).tokens[at(query)].special);
  EXPECT_FALSE(state.trace->key_tokens(head.stack).tokens[at(key)].special);
}

TEST(Telling, RandomWeightsBeginWithAWordThatHadAChoice) {
  for (const Arch arch : {Arch::encoder, Arch::decoder}) {
    Document document = default_document(fixture::shipped().get());
    document.trained = false;
    document.model.reset();
    document.card.reset();
    document.config = {.arch = arch, .d_model = 192, .num_heads = 12, .num_layers = 12};
    document.mask.causal = arch == Arch::decoder;
    document.source.text = "The committee that approved the budget resigned yesterday.";
    RunningWindow window(document);
    window.push(ChooseStart{});
    expect_content(window.state);
    if (arch == Arch::encoder) continue;
    EXPECT_GT(window.state.view.pinned->key, 0) << "rows of a causal model rest at the first word";
    EXPECT_GT(window.state.view.pinned->query, 1);
  }
}

TEST(Telling, OfACausalModelNoWordOfTheFirstColumnIsChosen) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Document document;
    document.config = {.arch = Arch::decoder, .d_model = 16, .num_heads = 2, .num_layers = 1, .ffn = 0, .seed = seed};
    document.mask.causal = true;
    document.source.text = "one two three four five";
    RunningWindow window(document);
    window.push(ChooseStart{});
    EXPECT_GT(window.state.view.pinned.value_or(CellRef{0, 1}).key, 0) << "seed " << seed;
  }
}

TEST(Telling, NoSentenceBeginsWithAnEmptyCell) {
  for (const char* text : {"机器学习改变世界", "昨天我在学校门口遇到了一个老朋友。", "The bird sang",
                           "The committee that approved the budget resigned yesterday."}) {
    RunningWindow window;
    window.push(SetText{text}, EndGesture{}, ChooseStart{});
    SCOPED_TRACE(text);
    expect_content(window.state);
  }
}

TEST(Telling, ABareLineJoinsWords) {
  RunningWindow window;
  window.push(SetText{"人人为我，我为人人。"}, EndGesture{}, ChooseStart{});
  ASSERT_TRUE(window.state.view.pinned);
  const auto& tokens = window.state.trace->key_tokens(Stack::self).tokens;
  for (const Index end : {window.state.view.pinned->query, window.state.view.pinned->key})
    EXPECT_TRUE(tokens[at(end)].text == "我" || tokens[at(end)].text == "人人" || tokens[at(end)].text == "为")
        << tokens[at(end)].text;
  EXPECT_EQ(arcs_of(window.state).at(window.state.view.chosen, *window.state.view.pinned), nullptr)
      << "为 here is no copula";
}

TEST(Reset, LooksAsAtTheBeginning) {
  RunningWindow window;
  window.push(ChooseHead{{0, 3}}, SetScope{true}, SetPainting{true},
              SetMask{.causal = true, .padding = true, .layer = 0}, EndGesture{});
  window.push(Reset{}, EndGesture{});
  EXPECT_FALSE(window.state.view.one_layer);
  EXPECT_FALSE(window.state.view.painting);
  EXPECT_EQ(window.state.view.chosen, (HeadRef{1, 5}));
  EXPECT_EQ(window.state.view.pinned, (CellRef{7, 1})) << "of the sentence in English";
}

TEST(Edits, OfAnotherModelsHeadsAndWordsAreDropped) {
  RunningWindow window;
  window.push(SetWeight{{1, 5}, {0, 0}, 0.39f}, EndGesture{}, SwitchHead{{1, 5}, true}, EndGesture{},
              PaintCell{{2, 3}, false}, EndGesture{}, SetScale{0.5f}, EndGesture{});
  Config config = window.state.document.config;
  config.arch = Arch::decoder;
  window.push(SetConfig{config}, EndGesture{});
  const Document& document = window.state.document;
  EXPECT_TRUE(document.edits.weights.empty()) << "the decoder's first word is <s>, not the encoder's";
  EXPECT_TRUE(document.edits.off.empty());
  EXPECT_TRUE(document.mask.painted.empty());
  EXPECT_EQ(document.edits.scale, 0.5f) << "which speaks of no head and no word";
  window.push(Undo{});
  EXPECT_EQ(document.edits.weights.size(), 1u);
  EXPECT_EQ(document.edits.off.size(), 1u);
  // Another number of heads: L1·H5 is another head. Other positions: the same one.
  config = window.state.document.config;
  config.num_heads = 4;
  window.push(SetConfig{config}, EndGesture{});
  EXPECT_TRUE(document.edits.weights.empty() && document.edits.off.empty());
  window.push(Undo{});
  config = window.state.document.config;
  config.position = Position::learned;
  window.push(SetConfig{config}, EndGesture{});
  EXPECT_EQ(document.edits.weights.size(), 1u);
}

TEST(Nearest, IsLookedForWhereWordsAreUnknown) {
  RunningWindow window;
  EXPECT_FALSE(window.state.nearest);
  Config config = window.state.document.config;
  config.d_model = 64;  // a model of the family, which no sentence exchanges for another
  window.push(SetConfig{config}, EndGesture{}, SetText{"I am a student"}, EndGesture{});
  ASSERT_TRUE(window.state.nearest);
  EXPECT_EQ(window.state.nearest.question()->words, (std::vector<std::string>{"I", "am", "a", "student"}));
  EXPECT_FALSE(window.state.nearest->empty());
}

TEST(GuessOfTheStage, FollowsThePinnedRow) {
  RunningWindow window;
  window.push(ChooseStart{});
  ASSERT_TRUE(window.state.guess);
  EXPECT_EQ(window.state.guess.question()->hidden, 4);
  window.push(Pin{CellRef{9, 5}});
  EXPECT_EQ(window.state.guess.question()->hidden, 9);
  EXPECT_EQ(window.state.guess->token, "机票");
  window.push(SwitchHead{{1, 5}, true}, EndGesture{});
  EXPECT_EQ(window.state.guess.question()->trace, window.state.trace);
  EXPECT_TRUE(window.state.guess->right->before);
}

}  // namespace
}  // namespace headlight
