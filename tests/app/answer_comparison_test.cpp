// Two answers beside each other: keeping, swapping and dropping A, and what differs between A and B.
#include "derived/answer_comparison.h"

#include <algorithm>
#include <cmath>

#include "cli/options/against_option.h"
#include "math/attention.h"
#include "math/output.h"
#include "models/open_model.h"
#include "session/loop/command_line_of.h"
#include "session/shown.h"
#include "session_fixture.h"

namespace headlight {
namespace {

using fixture::lexicon;
using fixture::small_document;

class ComparisonTest : public testing::Test {
 protected:
  explicit ComparisonTest(Document document = small_document())
      : state(initial_state(lexicon(), std::move(document), {})) {
    settle();
  }
  void settle() { loop.settle(state); }
  template <class... Pushed>
  void push(Pushed... pushed) {
    (update(state, Command(std::move(pushed))), ...);
    settle();
  }
  const ComparedHeads& heads() { return *state.comparison->heads; }

  Loop loop{{}, {}};
  AppState state;
};

Matrix weights(const Trace& trace, const HeadRef& head) {
  return attention_rows(trace, head, 0, trace.queries(head.stack));
}

TEST_F(ComparisonTest, IsAskedOnlyWhereItIsSeen) {
  push(KeepAnswer{}, SetText{"我请小猫"});
  EXPECT_FALSE(comparison_question(state));
  EXPECT_FALSE(state.comparison);
  push(ShowView{View::compare});
  ASSERT_TRUE(state.comparison);
  EXPECT_TRUE(is_of_now(state));
  EXPECT_TRUE(state.comparison.to(*comparison_question(state)));
  const auto before = state.comparison->heads;
  push(ChooseHead{{1, 1}});
  EXPECT_EQ(state.comparison->heads, before) << "another head of the same two";
  EXPECT_EQ(state.comparison->chosen, (HeadRef{1, 1}));
}

TEST_F(ComparisonTest, TwoSentencesStandOnOneAxis) {
  const auto a = state.trace;
  push(KeepAnswer{}, SetText{"小猫帮我订了去北京的车票"}, ShowView{View::compare}, ChooseHead{{1, 0}});
  const auto b = state.trace;
  const JointStack& stack = *heads().stack(Stack::self);
  const PatternPair& maps = state.comparison->maps;
  const Matrix in_a = weights(*a, {1, 0}), in_b = weights(*b, {1, 0});
  ASSERT_EQ(maps.difference.rows(), static_cast<Index>(stack.queries.size()));
  for (Index r = 0; r < maps.difference.rows(); ++r)
    for (Index c = 0; c < maps.difference.cols(); ++c) {
      const CellsBehind cells = cells_behind(stack, {r, c});
      EXPECT_EQ(std::isnan(maps.a(r, c)), !cells.a);
      EXPECT_EQ(std::isnan(maps.b(r, c)), !cells.b);
      EXPECT_EQ(std::isnan(maps.difference(r, c)), !cells.a || !cells.b);
      if (cells.a) { EXPECT_EQ(maps.a(r, c), in_a(cells.a->query, cells.a->key)); }
      if (cells.b) { EXPECT_EQ(maps.b(r, c), in_b(cells.b->query, cells.b->key)); }
      if (cells.a && cells.b) {
        EXPECT_EQ(maps.difference(r, c), in_b(cells.b->query, cells.b->key) - in_a(cells.a->query, cells.a->key));
      }
      if (cells.b) { EXPECT_EQ(joint_cell(stack, cells.b, {}), (CellRef{r, c})); }
      if (cells.a) { EXPECT_EQ(joint_cell(stack, {}, cells.a), (CellRef{r, c})); }
    }
  const auto pairs = std::count_if(stack.axes.queries.begin(), stack.axes.queries.end(),
                                   [](const JointToken& place) { return place.in_both(); });
  EXPECT_EQ(pairs, 6) << "帮 我 订了 去 北京 的";
  float largest = 0;
  for (const HeadDifference& head : heads().heads) largest = std::max(largest, head.measured.largest);
  EXPECT_EQ(heads().largest, largest);
  EXPECT_EQ(heads().heads.size(), 4u);
  EXPECT_EQ(heads().head({1, 0})->map.rows(), maps.difference.rows());
}

TEST_F(ComparisonTest, WordsOfBothAreNamedWherePositionsAreAligned) {
  push(KeepAnswer{}, SetText{"他帮我订了去上海的机票"}, ShowView{View::compare});
  const auto words = [&] {
    std::string line;
    for (const Token& token : heads().stack(Stack::self)->keys) line += token.text + " ";
    return line;
  };
  const std::string aligned = words();
  push(SetAlignment{Alignment::positions});
  EXPECT_EQ(words(), "我 / 他 请 / 帮 李雷 / 我 帮 / 订了 我 / 去 订了 / 上海 去 / 的 北京 / 机票 的 机票 ");
  push(SetAlignment{Alignment::words});
  EXPECT_EQ(words(), aligned);
}

TEST(FoldedComparison, WordsAreWholeAndSpecialTokensLeftOutWhereTheLookFoldsThem) {
  Loop loop{{}, {}};
  const auto opened = open_model("shipped:any-sentence");
  ASSERT_TRUE(opened);
  AppState state = initial_state(lexicon(), opened->document, {});
  const auto push = [&](Command command) {
    update(state, std::move(command));
    loop.settle(state);
  };
  push(SetText{"My neighbour sold the boat."});
  push(KeepAnswer{});
  push(SetText{"My neighbour found the wonderful boat."});
  push(SetFold{{.special = true, .words = true}});
  push(ShowView{View::compare});
  ASSERT_TRUE(state.comparison);
  EXPECT_TRUE(is_of_now(state));
  const JointStack& stack = *state.comparison->heads->stack(Stack::self);
  std::string words;
  for (const Token& token : stack.queries) words += token.text + " ";
  EXPECT_EQ(words, "My neighbour sold found the wonderful boat . ");
  const PatternPair& maps = state.comparison->maps;
  const Trace &a = *compared_trace(state), &b = *state.trace;
  const HeadRef head = state.comparison->chosen;
  const Matrix of_a = folded(weights(a, head), stack.a), of_b = folded(weights(b, head), stack.b);
  for (Index r = 0; r < maps.difference.rows(); ++r)
    for (Index c = 0; c < maps.difference.cols(); ++c) {
      const CellsBehind cells = cells_behind(stack, {r, c});
      ASSERT_EQ(std::isnan(maps.a(r, c)), !cells.a);
      ASSERT_EQ(std::isnan(maps.b(r, c)), !cells.b);
      if (cells.a) { EXPECT_NEAR(maps.a(r, c), *folded_weight(a, stack.a, head, *cells.a), 1e-6f); }
      if (cells.b) { EXPECT_NEAR(maps.b(r, c), *folded_weight(b, stack.b, head, *cells.b), 1e-6f); }
      if (cells.b) { EXPECT_EQ(joint_cell(stack, cells.b, {}), (CellRef{r, c})); }
      if (cells.a) { EXPECT_EQ(joint_cell(stack, {}, cells.a), (CellRef{r, c})); }
    }
  EXPECT_NEAR(maps.b(1, 0), of_b(1, 0), 1e-6f);
  const CellRef later{b.queries() - 2, 2};  // a piece of “boat” or that word itself, and of “neighbour”
  EXPECT_EQ(joint_cell(stack, later, {}), (CellRef{6, 1})) << "each piece stands for its word";
  EXPECT_EQ(maps.a.row(1).head(2), of_a.row(1).head(2));
  const auto before = state.comparison->heads;
  push(SetFold{});
  ASSERT_TRUE(is_of_now(state));
  EXPECT_NE(state.comparison->heads, before);
  EXPECT_TRUE(state.comparison->heads->stack(Stack::self)->queries.front().special);
}

TEST_F(ComparisonTest, AHeadSwitchedOffIsComparedWithTheQuestionBeforeEdits) {
  push(ShowView{View::compare});
  EXPECT_FALSE(compared_trace(state)) << "nothing was kept, nothing was edited";
  push(SwitchHead{{0, 1}, true});
  ASSERT_TRUE(compared_trace(state));
  EXPECT_EQ(compared_trace(state), state.baseline);
  EXPECT_TRUE(compares_edits(state));
  ASSERT_TRUE(is_of_now(state));
  EXPECT_EQ(heads().head({0, 0})->measured.largest, 0) << "the first layer reads the same";
  EXPECT_GT(heads().head({1, 0})->measured.largest, 0);
  push(SwitchHead{{0, 1}, false});
  EXPECT_FALSE(compared_trace(state));
}

TEST_F(ComparisonTest, BlockedCellsCountAsNothing) {
  push(KeepAnswer{}, SetMask{true, true}, ShowView{View::compare});
  const PatternPair& maps = state.comparison->maps;
  for (Index r = 0; r < maps.b.rows(); ++r)
    for (Index c = 0; c < maps.b.cols(); ++c)
      if (c > r) {
        EXPECT_EQ(maps.b(r, c), -1);
        EXPECT_EQ(maps.difference(r, c), -maps.a(r, c));
      }
}

TEST_F(ComparisonTest, OfAnotherModelTheHeadsOfBothAreCompared) {
  Config larger = fixture::small_config();
  larger.num_heads = 4;
  larger.num_layers = 3;
  push(KeepAnswer{}, SetConfig{larger}, ShowView{View::compare});
  push(ChooseHead{{2, 3}});
  EXPECT_EQ(heads().heads.size(), 4u);
  EXPECT_EQ(heads().only_b, 8u);
  EXPECT_EQ(heads().only_a, 0u);
  EXPECT_TRUE(state.comparison->maps.a.array().isNaN().all()) << "A has no such head";
  EXPECT_FALSE(state.comparison->maps.b.array().isNaN().any());
  EXPECT_EQ(heads().head({2, 3}), nullptr);
  push(ChooseHead{{0, 0}}, SwapKept{});
  EXPECT_EQ(heads().only_a, 8u);
  EXPECT_EQ(heads().only_b, 0u);
}

TEST_F(ComparisonTest, AnAttentionThatAOnlyLacksHasNoDifference) {
  Config both = fixture::small_config();
  both.arch = Arch::encoder_decoder;
  push(KeepAnswer{}, SetConfig{both}, ShowView{View::compare});
  push(ChooseHead{{0, 0, Stack::cross}});
  const JointStack& cross = *heads().stack(Stack::cross);
  EXPECT_FALSE(cross.in_both);
  EXPECT_TRUE(state.comparison->maps.difference.array().isNaN().all());
  EXPECT_TRUE(heads().stack(Stack::self)->in_both);
}

TEST_F(ComparisonTest, HeadsStandInTheOrderOfWhatDiffers) {
  push(KeepAnswer{}, SetText{"小猫帮我订了去北京的机票"}, ShowView{View::compare});
  for (const DifferenceOrder order : {DifferenceOrder::largest, DifferenceOrder::mean, DifferenceOrder::divergence}) {
    const auto by = heads_by(heads(), Stack::self, order);
    ASSERT_EQ(by.size(), 4u);
    for (std::size_t i = 1; i < by.size(); ++i)
      EXPECT_GE(*order_value(*heads().head(by[i - 1]), order), *order_value(*heads().head(by[i]), order));
  }
  EXPECT_EQ(heads_by(heads(), Stack::self, DifferenceOrder::layer),
            (std::vector<HeadRef>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_TRUE(heads_by(heads(), Stack::cross, DifferenceOrder::layer).empty());
}

TEST_F(ComparisonTest, SwappingAsksAsQuestionAgain) {
  const Document first = state.document;
  push(KeepAnswer{}, SetText{"小猫帮我"}, ShowView{View::compare});
  const Document second = state.document;
  const float largest = heads().largest;
  const auto b = state.trace;
  const std::size_t undos = state.undo.size();
  push(EndGesture{}, SwapKept{});
  EXPECT_TRUE(state.document == first);
  EXPECT_EQ(state.kept->trace, b);
  EXPECT_TRUE(state.kept->document == second);
  EXPECT_EQ(state.trace->request.tokens.text, first.source.text);
  EXPECT_GT(largest, 0);
  EXPECT_EQ(heads().largest, largest);
  push(Undo{});
  EXPECT_TRUE(state.document == second) << "one step of undo";
  EXPECT_EQ(state.undo.size(), undos);
  push(Redo{});
  EXPECT_TRUE(state.document == first);
  push(DropKept{});
  EXPECT_FALSE(state.kept);
  EXPECT_FALSE(comparison_question(state));
}

TEST_F(ComparisonTest, NothingIsKeptOrSwappedBeforeTheAnswerIsThere) {
  const auto first = state.trace;
  push(KeepAnswer{});
  update(state, Command(SetText{"小猫"}));
  update(state, Command(KeepAnswer{}));
  update(state, Command(SwapKept{}));
  EXPECT_EQ(state.kept->trace, first);
  EXPECT_EQ(state.document.source.text, "小猫");
  settle();
  push(KeepAnswer{});
  EXPECT_EQ(state.kept->trace, state.trace);
}

TEST_F(ComparisonTest, ASentenceOfABatchAndAPrefixAreAskedAgain) {
  Document document = small_document("我请李雷帮我订票\n小猫饿坏了");
  document.config.arch = Arch::decoder;
  document.mask.causal = true;
  state = initial_state(lexicon(), document, {});
  settle();
  push(ChooseSentence{1}, ChoosePrefix{2});
  push(KeepAnswer{});
  const Request asked = state.trace->request;
  EXPECT_EQ(asked.tokens.size(), 2u);
  push(ChoosePrefix{0}, ChooseSentence{0}, ShowView{View::compare});
  EXPECT_FALSE(state.trace->request == asked);
  push(SwapKept{});
  EXPECT_TRUE(state.trace->request == asked) << "the same part of the same sentence";
  push(SwapKept{});
  EXPECT_EQ(state.view.sentence, 0u);
  EXPECT_EQ(state.view.prefix, 0u);
}

TEST_F(ComparisonTest, SwappingEndsWhatIsBeingWritten) {
  Document document = small_document("我请");
  document.config.arch = Arch::decoder;
  document.mask.causal = true;
  state = initial_state(lexicon(), document, {});
  settle();
  push(KeepAnswer{});
  update(state, Command(SetText{"我请小猫"}));
  settle();
  state.generation = Generation{5, {}};
  update(state, Command(SwapKept{}));
  EXPECT_FALSE(state.generation);
  settle();
  EXPECT_EQ(state.document.source.text, "我请");
}

TEST_F(ComparisonTest, IsCopiedAsACommandThatAsksBoth) {
  push(SetText{"it's"}, EndGesture{});
  push(KeepAnswer{}, SetText{"小猫 \"b\""}, SetMask{true, true}, ShowView{View::compare}, ChooseHead{{1, 0}});
  const auto words = command_words(state);
  ASSERT_TRUE(words) << words.error().message();
  EXPECT_EQ((*words)[1], "figure");
  const auto against = std::find(words->begin(), words->end(), "--against");
  ASSERT_NE(against, words->end());
  const auto question = question_of(*std::next(against));
  ASSERT_TRUE(question) << question.error().message();
  EXPECT_EQ(question->source.text, "it's");
  EXPECT_EQ(question->config, state.kept->document.config);
  EXPECT_FALSE(question->mask.causal);
  push(KeepAnswer{}, SetText{"it's \"b\""});
  push(KeepAnswer{});
  EXPECT_FALSE(command_words(state)) << "quotes of both kinds";
}

TEST_F(ComparisonTest, WordsThatOnlyAHasCanBePinned) {
  push(KeepAnswer{}, SetText{"小猫"}, ShowView{View::compare});
  push(Pin{std::nullopt, CellRef{9, 8}});
  EXPECT_EQ(state.view.pinned_kept, (CellRef{9, 8}));
  push(Pin{std::nullopt, CellRef{10, 0}});
  EXPECT_FALSE(state.view.pinned_kept) << "A has ten words";
  push(Pin{std::nullopt, CellRef{9, 8}}, DropKept{});
  EXPECT_FALSE(state.view.pinned_kept);
}

TEST_F(ComparisonTest, LongSentencesAreRefusedInOneLine) {
  std::string text;
  for (int i = 0; i < 513; ++i) text += i == 0 ? "a" : " a";
  push(KeepAnswer{}, SetText{text}, ShowView{View::compare});
  ASSERT_TRUE(state.comparison);
  EXPECT_EQ(heads().too_long, 513u);
  EXPECT_TRUE(heads().heads.empty());
  EXPECT_EQ(state.comparison->maps.a.size(), 0);
  push(SetText{text.substr(2)});
  EXPECT_FALSE(heads().too_long);
  EXPECT_EQ(heads().heads.size(), 4u);
  EXPECT_EQ(heads().heads.front().map.rows(), kThumbnail);
}

TEST_F(ComparisonTest, TheSameBitsWithAnyNumberOfThreads) {
  push(KeepAnswer{}, SetText{"小猫帮我订了去北京的机票"}, ShowView{View::compare});
  const ComparisonQuestion question = *comparison_question(state);
  Progress progress;
  const auto one = compare_answers(question, nullptr, progress, 1),
             three = compare_answers(question, nullptr, progress, 3);
  for (std::size_t i = 0; i < one->heads->heads.size(); ++i) {
    EXPECT_EQ(one->heads->heads[i].measured.mean, three->heads->heads[i].measured.mean);
    EXPECT_EQ(one->heads->heads[i].measured.divergence, three->heads->heads[i].measured.divergence);
  }
  progress.stop = true;
  EXPECT_EQ(compare_answers(question, nullptr, progress, 1), nullptr);
}

TEST_F(ComparisonTest, TheNextWordsOfBothStandTogether) {
  auto decoder = open_model("shipped:decoder");
  ASSERT_TRUE(decoder);
  state = initial_state(lexicon(), decoder->document, {});
  settle();
  push(KeepAnswer{}, SwitchHead{{0, 0}, true}, ShowView{View::compare});
  const Vector before = probabilities(state.kept->trace->logits), after = probabilities(state.trace->logits);
  ASSERT_FALSE(state.comparison->words.empty());
  const ComparedWord& first = state.comparison->words.front();
  EXPECT_EQ(std::max(*first.a, *first.b), std::max(before.maxCoeff(), after.maxCoeff()));
  for (const ComparedWord& word : state.comparison->words) {
    const auto row = find_word(*state.trace->model, word.text);
    ASSERT_TRUE(row) << word.text;
    EXPECT_EQ(word.a, before(*row));
    EXPECT_EQ(word.b, after(*row));
  }
}

}  // namespace
}  // namespace headlight
