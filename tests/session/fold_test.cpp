// Maps with tokens folded, as numbers: by hand, against exports, and what must hold of any of them.
#include "derived/fold.h"

#include "app/session_fixture.h"
#include "base/random.h"
#include "session/update.h"
#include "write/arrays.h"

namespace headlight {
namespace {

using namespace fixture;
using Group = FoldedAxis::Group;

/// `<s>play|ing| cats|</s>`: special tokens in angle brackets, ranges for all others.
Tokens cut(const std::vector<std::string>& parts) {
  Tokens tokens;
  for (const std::string& part : parts) {
    const bool special = part.starts_with('<');
    const std::size_t begin = tokens.text.size();
    if (!special) tokens.text += part;
    tokens.tokens.push_back(
        {.id = 0, .text = part, .raw = part, .begin = begin, .end = tokens.text.size(), .special = special});
  }
  return tokens;
}

Matrix matrix(std::initializer_list<std::initializer_list<float>> rows) {
  Matrix result(static_cast<Index>(rows.size()), static_cast<Index>(rows.begin()->size()));
  Index i = 0;
  for (const auto& row : rows) {
    Index j = 0;
    for (const float value : row) result(i, j++) = value;
    ++i;
  }
  return result;
}

constexpr FoldChoice kSpecial{.special = true, .words = false}, kWords{.special = false, .words = true},
    kBoth{.special = true, .words = true};

TEST(Fold, WithoutSpecialTokensAndLongWordsThereIsNothing) {
  const Tokens plain = cut({"the", " cat", " sat"});
  EXPECT_EQ(foldable(plain, plain), FoldChoice{});
  EXPECT_FALSE(fold_of(plain, plain, kBoth));
  const Tokens tokens = cut({"<s>", "play", "ing"});
  EXPECT_EQ(foldable(tokens, tokens), kBoth);
  EXPECT_FALSE(fold_of(tokens, tokens, {}));
  EXPECT_EQ(fold_of(cut({"<s>", "cat"}), cut({"<s>", "cat"}), kBoth)->done, kSpecial);
  EXPECT_EQ(foldable(cut({"<s>", "</s>"}), cut({"<s>", "</s>"})), FoldChoice{}) << "nothing would be left";
  EXPECT_EQ(foldable(plain, cut({"<s>"})), FoldChoice{});
  EXPECT_EQ(foldable(plain, cut({"<s>", "cat"})), kSpecial) << "one side is enough";
}

TEST(Fold, GroupsAreWordsAndWhatIsNotSpecial) {
  const Tokens tokens = cut({"<s>", "Play", "ing", " cat", "s", "<sep>", "me", "</s>"});
  const Fold both = *fold_of(tokens, tokens, kBoth);
  EXPECT_EQ(both.queries.groups, (std::vector<Group>{{1, 2}, {3, 2}, {6, 1}}));
  EXPECT_EQ(both.queries.group_of, (std::vector<Index>{-1, 0, 0, 1, 1, -1, 2, -1}));
  EXPECT_EQ(both.keys.tokens[0].text, "Playing");
  EXPECT_EQ(both.keys.tokens[1].text, "cats");
  EXPECT_EQ(both.keys.tokens[1].raw, " cats");
  EXPECT_EQ(both.keys.group(4), 1);
  EXPECT_FALSE(both.keys.group(5) || both.keys.group(8) || both.keys.group(-1));
  EXPECT_TRUE(both.keys.together(3, 4) && both.keys.together(5, 5));
  EXPECT_FALSE(both.keys.together(2, 3) || both.keys.together(0, 5));
  const Fold words = *fold_of(tokens, tokens, kWords);
  EXPECT_EQ(words.keys.groups, (std::vector<Group>{{0, 1}, {1, 2}, {3, 2}, {5, 1}, {6, 1}, {7, 1}}));
  EXPECT_EQ(words.keys.tokens[0].text, "<s>");
}

TEST(Fold, TokensWithoutARangeAndPaddingAreAlone) {
  Tokens tokens = cut({"play", "ing", "ly"});
  tokens.tokens[2].pad = true;
  EXPECT_EQ(fold_of(tokens, tokens, kWords)->keys.groups, (std::vector<Group>{{0, 2}, {2, 1}}));
  for (Token& token : tokens.tokens) token.begin = token.end = 0;
  EXPECT_EQ(foldable(tokens, tokens), FoldChoice{});
  Tokens nameless;
  nameless.tokens.resize(3);
  EXPECT_EQ(foldable(nameless, nameless), FoldChoice{});
}

TEST(Fold, WeightsToAWordAreSummedAndFromItAveraged) {
  const Tokens tokens = cut({"play", "ing", " cat"});
  const Matrix weights = matrix({{0.5f, 0.25f, 0.25f}, {0.125f, 0.125f, 0.75f}, {0.25f, 0.5f, 0.25f}});
  EXPECT_TRUE(same(folded(weights, *fold_of(tokens, tokens, kWords)), matrix({{0.5f, 0.5f}, {0.75f, 0.25f}})));
}

TEST(Fold, SpecialTokensGoFirst) {
  const Tokens tokens = cut({"<s>", "play", "ing", " b"});
  const Matrix weights =
      matrix({{1, 0, 0, 0}, {0.5f, 0.25f, 0, 0.25f}, {0.75f, 0.125f, 0.125f, 0}, {0, 0.25f, 0.25f, 0.5f}});
  EXPECT_TRUE(same(folded(weights, *fold_of(tokens, tokens, kBoth)), matrix({{0.25f, 0.125f}, {0.5f, 0.5f}})));
}

TEST(Fold, IsBlockedWhereAllItsCellsAre) {
  const Tokens tokens = cut({"play", "ing", " cat", "s"});
  const Matrix causal = matrix({{1, -1, -1, -1}, {0.5f, 0.5f, -1, -1}, {0.25f, 0.25f, 0.5f, -1}, {0, 0, 1, 0}});
  EXPECT_TRUE(same(folded(causal, *fold_of(tokens, tokens, kWords)), matrix({{1, -1}, {0.25f, 0.75f}})));
  const Matrix shut = Matrix::Constant(4, 4, -1);
  EXPECT_TRUE(same(folded(shut, *fold_of(tokens, tokens, kWords)), matrix({{-1, -1}, {-1, -1}})));
}

TEST(Fold, SidesOfTheirOwn) {
  const Tokens target = cut({"a", " b"}), source = cut({"<s>", "play", "ing"});
  const Matrix weights = matrix({{0.5f, 0.25f, 0.25f}, {0.75f, 0.25f, 0}});
  EXPECT_TRUE(same(folded(weights, *fold_of(target, source, kBoth)), matrix({{0.5f}, {0.25f}})));
  EXPECT_TRUE(same(folded(weights, *fold_of(target, source, kWords)), matrix({{0.5f, 0.5f}, {0.75f, 0.25f}})));
  EXPECT_TRUE(same(folded(weights, *fold_of(target, source, kSpecial)), matrix({{0.25f, 0.25f}, {0.25f, 0}})));
}

TEST(Fold, RowsKeepTheirSum) {
  Random random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> parts{"<s>"};
    for (std::uint64_t i = 0, count = 2 + random.next() % 20; i < count; ++i)
      parts.push_back(random.next() % 3 == 0 ? " w" : random.next() % 4 == 0 ? "<x>" : "p");
    parts.push_back(" end");
    const Tokens tokens = cut(parts);
    const auto size = static_cast<Index>(parts.size());
    Matrix weights(size, size);
    for (Index i = 0; i < weights.size(); ++i) weights.data()[i] = 0.01f + random.uniform();
    for (Index i = 0; i < size; ++i) weights.row(i) /= weights.row(i).sum();
    for (const FoldChoice choice : {kSpecial, kWords, kBoth}) {
      const auto fold = fold_of(tokens, tokens, choice);
      if (!fold) continue;
      const Matrix all = folded(weights, *fold);
      const Vector rest = resting(weights, *fold);
      for (Index i = 0; i < all.rows(); ++i) EXPECT_NEAR(all.row(i).sum() + rest(i), 1, 1e-5);
    }
  }
}

TEST(Fold, RowsKeepTheirWeightsAndSayWhatRests) {
  const Tokens tokens = cut({"<s>", "play", "ing", " cat", "</s>"});
  const Matrix weights = matrix({{0.2f, 0.2f, 0.2f, 0.2f, 0.2f},
                                 {0.5f, 0.1f, 0.1f, 0.1f, 0.2f},
                                 {0.1f, 0.3f, 0.2f, 0.4f, 0},
                                 {0.9f, 0, 0, 0.05f, 0.05f},
                                 {1, 0, 0, 0, -1}});
  const Fold fold = *fold_of(tokens, tokens, kSpecial);
  EXPECT_TRUE(is_of_tokens(fold));
  EXPECT_TRUE(same(folded(weights, fold), matrix({{0.1f, 0.1f, 0.1f}, {0.3f, 0.2f, 0.4f}, {0, 0, 0.05f}})));
  const Vector rests = resting(weights, fold);
  ASSERT_EQ(rests.size(), 3);
  EXPECT_FLOAT_EQ(rests(0), 0.7f);
  EXPECT_FLOAT_EQ(rests(1), 0.1f);
  EXPECT_FLOAT_EQ(rests(2), 0.95f);
  const Fold words = *fold_of(tokens, tokens, kBoth);
  EXPECT_FALSE(is_of_tokens(words));
  EXPECT_FLOAT_EQ(resting(weights, words)(0), 0.4f) << "the mean over the tokens of a word";
}

TEST(Fold, MovesFromGroupToGroup) {
  const Tokens tokens = cut({"<s>", "play", "ing", " cat", "</s>"});
  const Fold fold = *fold_of(tokens, tokens, kBoth);
  EXPECT_EQ(moved(fold, {2, 2}, 1, 0), (CellRef{3, 1}));
  EXPECT_EQ(moved(fold, {3, 3}, 1, -1), (CellRef{3, 1})) << "it stays inside";
  EXPECT_EQ(moved(fold, {0, 4}, 1, 1), (CellRef{1, 3})) << "from what is left out to what is nearest";
}

/// The answer to a sentence of which these tokens are special.
std::shared_ptr<const Trace> answered(AppState state, std::initializer_list<std::size_t> special,
                                      std::initializer_list<std::size_t> target_special = {}) {
  Request request = *wanted(state);
  for (const std::size_t i : special) request.tokens.tokens[i].special = true;
  for (const std::size_t i : target_special) request.target.tokens[i].special = true;
  auto trace = forward(request);
  EXPECT_TRUE(trace) << trace.error().message();
  return *trace;
}

void expect_as_exported(std::shared_ptr<const Trace> trace) {
  const auto all = folded_maps(trace, kSpecial);
  float largest = 0;
  for (const StackNames& names : stacks_of(*trace)) {
    const auto& stack = all->stacks[static_cast<std::size_t>(names.stack)];
    ASSERT_TRUE(stack);
    const ArrayStream exported = attentions_of(*trace, names, {.special = SpecialTokens::hide});
    std::vector<float> wanted, shown;  // head after head, row after row
    for (Index i = 0; i < exported.pieces; ++i) {
      const Matrix piece = exported.piece(i);
      wanted.insert(wanted.end(), piece.data(), piece.data() + piece.size());
    }
    for (const Matrix& map : stack->maps)
      for (Index i = 0; i < map.size(); ++i) shown.push_back(std::max(0.0f, map.data()[i]));
    ASSERT_EQ(shown.size(), wanted.size());
    for (std::size_t i = 0; i < shown.size(); ++i) {
      ASSERT_NEAR(shown[i], wanted[i], 1e-7f) << i;
      largest = std::max(largest, shown[i]);
    }
  }
  EXPECT_EQ(all->largest, largest);
}

TEST(FoldedMaps, SpecialTokensAreLeftOutAsInAnExport) {
  expect_as_exported(answered(small_state(), {0, 4, 9}));
  AppState causal = small_state();
  update(causal, SetMask{true, true});
  update(causal, SetPad{2});
  update(causal, SetDropout{0.3f, 5});
  expect_as_exported(answered(causal, {1, 2}));
}

TEST(FoldedMaps, OfEveryStackOfAnEncoderDecoder) {
  Document document = small_document();
  document.config.arch = Arch::encoder_decoder;
  document.target.text = "the cat sat";
  const AppState state = initial_state(lexicon(), document, Settings{});
  expect_as_exported(answered(state, {0, 9}, {2}));
}

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "wo" : " wo") + std::to_string(i % 7);
  return text;
}

TEST(FoldedMaps, SpecialTokensAloneStayInLongSentences) {
  AppState state = small_state(words(150));
  const auto all = folded_maps(answered(state, {0, 4, 149}), kSpecial);
  EXPECT_FALSE(all->stacks[static_cast<std::size_t>(Stack::self)]) << "a column of 150 is a hair";
  EXPECT_FALSE(all->possible[static_cast<std::size_t>(Stack::self)].choice.special);
}

TEST(FoldedMaps, OfLongSentencesEveryPatternIsFolded) {
  std::string text;
  for (int i = 0; i < 140; ++i) text += "ab ";
  AppState state = small_state(text);
  update(state, SetSplit{Split::characters});
  const auto all = folded_maps(answered(state, {}), kWords);
  ASSERT_TRUE(all->stacks[static_cast<std::size_t>(Stack::self)]);
  const FoldedStack& stack = *all->stacks[static_cast<std::size_t>(Stack::self)];
  EXPECT_GT(stack.map({1, 1}).rows(), kThumbnail);
  ASSERT_EQ(stack.thumbnail({1, 1}).rows(), kThumbnail);
  EXPECT_EQ(stack.thumbnail({1, 1}).maxCoeff(), stack.map({1, 1}).maxCoeff()) << "nothing bright is lost";
  EXPECT_EQ(stack.thumbnail({1, 1})(127, 127), stack.map({1, 1}).bottomRightCorner(2, 2).maxCoeff());
}

TEST(FoldedMaps, OfLongSentencesAreMadeBesideTheWindow) {
  AppState state = small_state(words(60));
  update(state, SetSplit{Split::characters});
  Loop loop({}, {});
  loop.settle(state);
  ASSERT_GT(state.trace->queries(), kThumbnail);
  EXPECT_FALSE(folds_at_once(*state.trace));
  update(state, SetFold{kWords});
  EXPECT_FALSE(shown_fold(state, Stack::self)) << "update computes no pattern";
  EXPECT_FALSE(state.folded->possible[static_cast<std::size_t>(Stack::self)].too_long);
  loop.settle(state);
  const FoldedStack* shown = shown_fold(state, Stack::self);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->map({0, 0}).rows(), 60);
  const Matrix weights = region_weights(
      *state.trace, {.head = {1, 0}, .num_queries = state.trace->queries(), .num_keys = state.trace->keys()}, 512,
      std::atomic<bool>(false));
  EXPECT_TRUE(same(shown->map({1, 0}), folded(weights, shown->fold)));
  bool unfolded = false;
  Commands edit{SetText{words(65)}, EndGesture{}};
  loop.step(state, edit, 0);
  while (is_stale(state)) {
    Commands none;
    loop.step(state, none, 0);
    unfolded = unfolded || !shown_fold(state, Stack::self);
  }
  EXPECT_FALSE(unfolded) << "the next answer comes folded";
  EXPECT_EQ(shown_fold(state, Stack::self)->map({0, 0}).rows(), 65);
  update(state, SetFold{});
  EXPECT_FALSE(shown_fold(state, Stack::self));
}

TEST(FoldedMaps, LongerOnesThanThatAreNotFolded) {
  AppState state = small_state(words(200));
  update(state, SetSplit{Split::characters});
  const auto trace = answered(state, {0});
  ASSERT_GT(trace->queries(), kMostFolded);
  const auto all = folded_maps(trace, kBoth);
  const auto& possible = all->possible[static_cast<std::size_t>(Stack::self)];
  EXPECT_TRUE(possible.too_long);
  EXPECT_EQ(possible.choice, kBoth);
  EXPECT_FALSE(all->stacks[static_cast<std::size_t>(Stack::self)]);
  EXPECT_EQ(all->largest, trace->largest_weight);
  EXPECT_TRUE(folds_at_once(*trace));
}

TEST(FoldedMaps, FollowTheAnswerAndTheLook) {
  AppState state = small_state("the cats sat");
  update(state, SetSplit{Split::characters});
  update(state, answer(state));
  ASSERT_TRUE(state.folded);
  EXPECT_FALSE(shown_fold(state, Stack::self));
  EXPECT_EQ(state.folded->largest, state.trace->largest_weight);
  update(state, SetFold{kWords});
  const FoldedStack* shown = shown_fold(state, Stack::self);
  ASSERT_TRUE(shown);
  ASSERT_EQ(shown->fold.keys.tokens.size(), 3u);
  EXPECT_EQ(shown->fold.keys.tokens[1].text, "cats");
  EXPECT_EQ(shown->maps.size(), 4u);
  EXPECT_TRUE(state.undo.size() == 1 || state.gesture) << "the split alone";
  const auto before = state.folded;
  update(state, Hover{std::nullopt, CellRef{1, 1}});
  EXPECT_EQ(state.folded, before);
  update(state, SetText{"cats"});
  update(state, answer(state));
  ASSERT_TRUE(shown_fold(state, Stack::self));
  EXPECT_EQ(shown_fold(state, Stack::self)->fold.keys.tokens.size(), 1u);
  update(state, ShowView{View::inside});
  EXPECT_FALSE(shown_fold(state, Stack::self)) << "a block is explained token by token";
  update(state, ShowView{View::heads});
  update(state, SetStroke{true});
  update(state, SetFold{});
  EXPECT_EQ(state.view.fold, kWords) << "not under a stroke";
}

}  // namespace
}  // namespace headlight
