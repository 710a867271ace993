// Changes of one word: proposed, tried, measured as the sentence with the change has it.
#include "derived/word_changes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "app/session_fixture.h"
#include "app/shipped.h"
#include "explain/moved_rows.h"
#include "math/attention.h"
#include "math/forward.h"
#include "models/open_model.h"

namespace headlight {
namespace {

using fixture::Running;

const char* const kTired = "The animal didn't cross the street because it was tired";

AppState begun(const std::string& text) {
  Document document = default_document(fixture::shipped().get());
  document.source.text = text;
  return initial_state(fixture::lexicon(), std::move(document), Settings{}, {}, fixture::shipped());
}

Index token_of(const Trace& trace, const std::string& text) {
  const auto& tokens = trace.query_tokens().tokens;
  const auto found = std::find_if(tokens.begin(), tokens.end(), [&](const Token& one) { return one.text == text; });
  return found == tokens.end() ? -1 : found - tokens.begin();
}

/// The window on this sentence, with the word's row pinned in L1·H5, which pronouns look through.
struct Pinned : Running {
  explicit Pinned(const std::string& text, const std::string& word) : Running(begun(text)) {
    push(ChooseHead{{1, 5}}, Pin{CellRef{token_of(*state.trace, word), 0}});
  }
  const WordChanges* found() const {
    const auto question = changes_question(state);
    return question ? state.changes.to(*question) : nullptr;
  }
};

TEST(WordChanges, TheExamplesOwnChangeComesFirstAndMovesThePronoun) {
  Pinned window(kTired, "it");
  ASSERT_TRUE(window.found());
  const WordChanges changes = *window.found();
  ASSERT_FALSE(changes.best.empty());
  const WordChange& wide = changes.best.front();
  EXPECT_TRUE(wide.of_example && wide.moves);
  EXPECT_EQ(wide.from, "tired");
  EXPECT_EQ(wide.to, "wide");
  EXPECT_EQ(wide.text, "The animal didn't cross the street because it was wide");
  EXPECT_EQ(wide.key, token_of(*window.state.trace, "street"));
  EXPECT_GE(wide.after, kMovedWeight);
  EXPECT_GT(changes.tried, 20);
  EXPECT_LE(changes.tried, kMostAnswers);
  EXPECT_GE(changes.moving, 1);
  EXPECT_LE(changes.best.size(), kMostOffered);
}

TEST(WordChanges, WhatIsOfferedIsWhatTheSentenceThenShows) {
  for (const char* text : {kTired, "我请李雷帮我订了去北京的机票", "The cat sat on the mat because it was tired"}) {
    Pinned window(text, text == std::string("我请李雷帮我订了去北京的机票") ? "帮" : "it");
    ASSERT_TRUE(window.found()) << text;
    const WordChanges changes = *window.found();
    const auto before = window.state.trace.answer();
    const Index query = window.state.view.pinned->query;
    const HeadRef head = window.state.view.chosen;
    std::set<std::pair<Index, Index>> places;
    for (const WordChange& change : changes.best) {
      window.push(SetText{change.text}, EndGesture{});
      const Trace& after = *window.state.trace;
      const auto word = changed_word(before->request, after.request);
      ASSERT_TRUE(word) << change.text;
      EXPECT_EQ(word->from, change.from);
      EXPECT_EQ(word->to, change.to);
      EXPECT_NE(change.token, query) << "the row is the same word's";
      EXPECT_TRUE(written_alike(change.from, change.to));
      const Vector was = attention_rows(*before, head, query, 1).row(0),
                   is = attention_rows(after, head, query, 1).row(0);
      EXPECT_EQ(change.before, was(change.key));
      EXPECT_EQ(change.after, is(change.key));
      Index from = 0, to = 0;
      was.maxCoeff(&from), is.maxCoeff(&to);
      if (change.moves) {
        EXPECT_NE(from, to);
        EXPECT_EQ(change.key, to);
        EXPECT_GE(change.after, kMovedWeight);
      } else {
        EXPECT_EQ(change.key, from);
        EXPECT_GE(std::abs(change.after - change.before), kLeastShift);
      }
      EXPECT_TRUE(places.emplace(change.token, change.key).second) << "one a word and key";
      window.push(Undo{});
    }
  }
}

/// The changes of a sentence that the model for any sentence answers, of a word's row in one of its heads.
WordChanges own_changes(const std::string& text, const HeadRef& head, const std::string& word) {
  Document document = open_model("shipped:any-sentence")->document;
  set_text(document, TextSide::source, text, fixture::lexicon());
  Running window(initial_state(fixture::lexicon(), std::move(document), Settings{}, {}, fixture::shipped()));
  window.push(ChooseHead{head}, Pin{CellRef{token_of(*window.state.trace, word), 0}});
  EXPECT_EQ(window.state.document.model_path, "shipped:any-sentence");
  const auto question = changes_question(window.state);
  const WordChanges* changes = question ? window.state.changes.to(*question) : nullptr;
  EXPECT_TRUE(changes) << text;
  return changes ? *changes : WordChanges{};
}

TEST(WordChanges, AWordOfOnesOwnSentenceIsReplacedByOneOfItsKind) {
  const WordChanges changes = own_changes(
      "Please send the signed contract to the lawyer before the meeting because we needed it for court", {3, 0}, "we");
  EXPECT_GT(changes.tried, 10);
  const std::set<std::pair<std::string, std::string>> others{{"needed", "are"}, {"it", "pay"}, {"for", "needed"}};
  for (const WordChange& change : changes.best) EXPECT_FALSE(others.contains({change.from, change.to})) << change.text;
}

/// What README promises: of *big* the word *tight* moves the pronoun to the suitcase, with a full stop and without, and
/// the head says *trophy* of the one and *suitcase* of the other.
TEST(WordChanges, WhatTheReadmePromisesOfTheTrophyIsOffered) {
  const std::string big = "The trophy does not fit in the suitcase because it is too big";
  for (const std::string stop : {"", "."}) {
    const WordChanges changes = own_changes(big + stop, {3, 7}, "it");
    const auto tight = std::find_if(changes.best.begin(), changes.best.end(),
                                    [](const WordChange& one) { return one.from == "big" && one.to == "tight"; });
    ASSERT_NE(tight, changes.best.end()) << "of " << changes.tried << " tried" << stop;
    EXPECT_TRUE(tight->moves);
    EXPECT_EQ(tight->looked_at, "suitcase");
    EXPECT_GE(tight->after, 0.9f);
    EXPECT_EQ(tight->text, "The trophy does not fit in the suitcase because it is too tight" + stop);
  }
}

/// Number, form and part of speech of the replaced word stay: no "to go his dentist", no "a dogs".
TEST(WordChanges, AnOfferEndsAsTheWordDidAndKeepsTheRelationsOfAll) {
  for (const char* text :
       {"I forgot to call my dentist before the meeting", "He told the boss that the dogs barked loudly",
        "The light in the kitchen is broken because it was old"}) {
    const WordChanges changes = own_changes(text, {3, 0}, text[0] == 'T' ? "light" : text[0] == 'H' ? "He" : "I");
    for (const WordChange& change : changes.best) {
      const auto ends = [&](const std::string& ending) {
        return change.from.ends_with(ending) == change.to.ends_with(ending);
      };
      EXPECT_TRUE(change.to.ends_with("ss") || ends("s")) << change.text;
      EXPECT_TRUE(ends("ing")) << change.text;
      EXPECT_NE(change.to, "go") << change.text;
    }
  }
}

TEST(WordChanges, ARowIsThatOfTheWholeWord) {
  const std::string text = "My neighbour sold the boat to his cousin.";
  Document document = open_model("shipped:any-sentence")->document;
  set_text(document, TextSide::source, text, fixture::lexicon());
  const auto trace = *forward(requests_of(document, fixture::lexicon())->front());
  const auto words = spelt_words(trace->query_tokens());
  const SpeltWord neighbour = words[1];
  ASSERT_GT(neighbour.count, 1);
  const auto piece = [&](Index at) { return trace->query_tokens().tokens[static_cast<std::size_t>(at)].text; };
  const HeadRef head{3, 0};
  const WordChanges one = own_changes(text, head, piece(neighbour.first)),
                    other = own_changes(text, head, piece(neighbour.first + neighbour.count - 1));
  EXPECT_GT(one.tried, 10);
  EXPECT_EQ(one.word, "neighbour");
  EXPECT_EQ(other.word, "neighbour");
  EXPECT_EQ(one.tried, other.tried);
  EXPECT_EQ(one.moving, other.moving);
  ASSERT_EQ(one.best.size(), other.best.size());
  for (std::size_t i = 0; i < one.best.size(); ++i) {
    EXPECT_EQ(one.best[i].before, other.best[i].before);
    const Index key = one.best[i].key;
    const auto word = std::find_if(words.begin(), words.end(), [&](const SpeltWord& each) { return each.has(key); });
    const Matrix rows = attention_rows(*trace, head, neighbour.first, neighbour.count);
    const float sum = rows.middleCols(key, word == words.end() ? 1 : word->count).sum();
    EXPECT_NEAR(one.best[i].before, sum / static_cast<float>(neighbour.count), 1e-6f) << one.best[i].text;
  }
}

TEST(WordChanges, AChineseSentenceOfOnesOwnIsOfferedChanges) {
  const WordChanges changes = own_changes("经理把文件交给了秘书", {3, 0}, "经理");
  EXPECT_GT(changes.tried, 0);
  EXPECT_FALSE(changes.best.empty());
  for (const WordChange& change : changes.best) EXPECT_TRUE(written_alike(change.to, "经理")) << change.text;
}

TEST(WordChanges, TheSameSentenceGivesTheSameChanges) {
  const auto texts = [](const WordChanges& changes) {
    std::vector<std::string> all{std::to_string(changes.tried), std::to_string(changes.moving)};
    for (const WordChange& change : changes.best) all.push_back(change.text);
    return all;
  };
  Pinned one(kTired, "it"), two(kTired, "it");
  ASSERT_TRUE(one.found() && two.found());
  EXPECT_EQ(texts(*one.found()), texts(*two.found()));
}

TEST(WordChanges, ACausalModelTriesWordsBeforeTheRowAlone) {
  AppState state = begun("我请李雷帮我订了去北京的机票");
  Config config = state.document.config;
  config.arch = Arch::decoder;
  Running window(std::move(state));
  window.push(SetConfig{config}, EndGesture{});
  ASSERT_EQ(window.state.document.model_path, "shipped:decoder");
  const Index last = window.state.trace->queries() - 1;
  window.push(Pin{CellRef{last - 2, 0}});
  const auto question = changes_question(window.state);
  ASSERT_TRUE(question);
  const WordChanges* changes = window.state.changes.to(*question);
  ASSERT_TRUE(changes);
  EXPECT_GT(changes->tried, 0);
  for (const WordChange& change : changes->best) EXPECT_LT(change.token, last - 2);
}

TEST(WordChanges, NothingIsAskedWhereNoWordCanBeTried) {
  Pinned window(kTired, "it");
  EXPECT_TRUE(changes_question(window.state));
  const Index query = window.state.view.pinned->query;
  window.push(SetWeight{{1, 5}, {query, 2}, 0.5f}, EndGesture{});
  EXPECT_FALSE(changes_question(window.state)) << "the row is set by hand";
  window.push(Undo{}, ShowView{View::flow});
  EXPECT_FALSE(changes_question(window.state)) << "not seen";
  window.push(ShowView{View::heads}, SwitchHead{{1, 5}, true}, EndGesture{});
  EXPECT_FALSE(changes_question(window.state)) << "the head is off";
  window.push(Undo{}, UseTrained{false});
  EXPECT_FALSE(changes_question(window.state)) << "random weights";
}

TEST(WordChanges, AStoppedSearchGivesNothing) {
  const Running window(begun(kTired));
  Progress progress;
  progress.stop = true;
  ChangeSource source{[](const Token&, const std::string&) { return std::optional<Retyped>(); }};
  EXPECT_EQ(find_changes({window.state.trace, {1, 5}, 7}, source, progress), nullptr);
}

TEST(WordChanges, WordsAreAlikeWhereTheyAreWrittenAlike) {
  EXPECT_TRUE(written_alike("tired", "wide"));
  EXPECT_TRUE(written_alike("didn't", "cat"));
  EXPECT_TRUE(written_alike("机票", "门票"));
  for (const auto& [one, other] : std::vector<std::pair<std::string, std::string>>{
           {"tired", "Wide"}, {"tired", "累了"}, {"tired", "."}, {".", ","}, {"2", "two"}, {"", ""}})
    EXPECT_FALSE(written_alike(one, other)) << one << " " << other;
}

}  // namespace
}  // namespace headlight
