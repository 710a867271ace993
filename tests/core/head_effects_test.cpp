#include "heads/head_effects.h"

#include <cmath>

#include "drawn.h"
#include "heads/head_measures.h"
#include "math/output.h"

// What is lost with a head: against whole forward passes, and where nothing can be lost.

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::counted_words;
using reference::drawn_request;

std::vector<HeadEffect> effects_of(const Trace& trace, int threads = 1) {
  Progress progress;
  const auto effects = head_effects(trace, progress, threads);
  EXPECT_TRUE(effects) << effects.error().message();
  EXPECT_TRUE(*effects);
  EXPECT_FLOAT_EQ(progress.done, 1);
  return **effects;
}

/// Softmax in double.
std::vector<double> words_of(const Trace& trace, Index place) {
  const Matrix logits = logit_rows(trace, place, 1);
  std::vector<double> words;
  double sum = 0;
  for (Index i = 0; i < logits.size(); ++i)
    sum += words.emplace_back(std::exp(static_cast<double>(logits.data()[i] - logits.maxCoeff())));
  for (double& word : words) word /= sum;
  return words;
}

/// The same from a forward pass that knows nothing of the one before, straight from the formulas.
HeadEffect by_formula(const Trace& before, const HeadRef& head, const std::vector<Index>& places) {
  Request request = before.request;
  switch_off(request.edits, head, true);
  const auto after = ask(request);
  HeadEffect effect{.head = head};
  if (before.logits.size() == 0 || places.empty()) {
    double difference = 0, size = 0;
    for (Index i = 0; i < before.last_hidden_state().rows(); ++i) {
      if (before.query_tokens().tokens[static_cast<std::size_t>(i)].pad) continue;
      difference +=
          (after->last_hidden_state().row(i) - before.last_hidden_state().row(i)).cast<double>().squaredNorm();
      size += before.last_hidden_state().row(i).cast<double>().squaredNorm();
    }
    if (size > 0) effect.change = static_cast<float>(std::sqrt(difference / size));
    return effect;
  }
  double divergence = 0, top = 0;
  for (const Index place : places) {
    const auto p = words_of(before, place), q = words_of(*after, place);
    for (std::size_t w = 0; w < p.size(); ++w)
      if (p[w] > 0) divergence += p[w] * std::log(p[w] / q[w]) / static_cast<double>(places.size());
    const auto best = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
    top += (q[best] - p[best]) / static_cast<double>(places.size());
  }
  effect.change = static_cast<float>(divergence);
  effect.top_word = static_cast<float>(top);
  return effect;
}

TEST(HeadEffects, AreThoseOfWholeForwardPassesInAnySetting) {
  Random random(81);
  int with_words = 0, without = 0;
  for (int round = 0; round < 40; ++round) {
    const auto trace = ask(drawn_request(random, {.least_width = 4, .longest = 12}));
    ASSERT_TRUE(trace);
    (trace->logits.size() > 0 ? with_words : without) += 1;
    const auto effects = effects_of(*trace);
    ASSERT_EQ(effects.size(), heads_of(*trace).size());
    for (const int threads : {2, 3}) ASSERT_EQ(effects_of(*trace, threads), effects) << round;
    for (const HeadEffect& effect : effects) {
      const HeadEffect expected = by_formula(*trace, effect.head, asked_positions(*trace));
      ASSERT_NEAR(effect.change, expected.change, 1e-4 * std::max(1.0f, expected.change)) << round;
      ASSERT_EQ(effect.top_word.has_value(), expected.top_word.has_value());
      ASSERT_NEAR(effect.top_word.value_or(0), expected.top_word.value_or(0), 1e-5) << round;
      ASSERT_TRUE(!is_off(trace->request.edits, effect.head) || effect.change == 0.0f) << round;
    }
  }
  EXPECT_GT(with_words, 5);
  EXPECT_GT(without, 5);
}

TEST(HeadEffects, AHeadWhoseOutputIsNotReadHasNone) {
  Request request{.config = {.arch = Arch::decoder, .d_model = 16, .num_heads = 4, .num_layers = 2, .ffn = 8},
                  .tokens = counted(6)};
  for (const bool words : {true, false}) {
    auto model = std::make_shared<Model>(*random_model(request.config, words ? counted_words(9) : nullptr));
    model->blocks[1].self.output.weight.middleCols(2 * 4, 4).setZero();
    request.model = model;
    for (const HeadEffect& effect : effects_of(*ask(request))) {
      const bool unread = effect.head == HeadRef{1, 2};
      EXPECT_EQ(effect.change == 0.0f, unread) << effect.head.layer << "." << effect.head.head;
      EXPECT_EQ(effect.top_word.has_value(), words);
      EXPECT_TRUE(!unread || effect.top_word.value_or(0) == 0.0f);
    }
  }
}

TEST(HeadEffects, EveryMaskedWordIsAskedFor) {
  Request request{.config = {.d_model = 16, .num_heads = 2, .num_layers = 1, .ffn = 0},
                  .vocabulary = counted_words(7),
                  .tokens = reference::sentence({"w1", "[MASK]", "w3", "<mask>", "w2"})};
  const auto trace = ask(request);
  EXPECT_EQ(asked_positions(*trace), (std::vector<Index>{1, 3}));
  for (const HeadEffect& effect : effects_of(*trace)) {
    const HeadEffect first = by_formula(*trace, effect.head, {1}), second = by_formula(*trace, effect.head, {3});
    EXPECT_NEAR(effect.change, (first.change + second.change) / 2, 1e-6);
    EXPECT_NEAR(*effect.top_word, (*first.top_word + *second.top_word) / 2, 1e-6);
  }
  request.tokens = reference::sentence({"w1", "w2"});
  EXPECT_TRUE(asked_positions(*ask(request)).empty()) << "an encoder that nothing is asked of";
  request.config.arch = Arch::decoder;
  EXPECT_EQ(asked_positions(*ask(request)), (std::vector<Index>{1}));
}

TEST(HeadEffects, OfOtherSentencesAreTheMeanAndTheSpreadOfEach) {
  Request request{.config = {.arch = Arch::decoder, .d_model = 16, .num_heads = 4, .num_layers = 2, .ffn = 8},
                  .vocabulary = counted_words(9),
                  .tokens = reference::sentence({"w1", "w2", "w3", "w4"})};
  const auto trace = ask(request);
  std::vector<std::shared_ptr<const Trace>> others;
  for (const auto& words : {std::vector<std::string>{"w5", "w6", "w7", "w8"}, {"w4", "w1", "w8", "w2"}}) {
    request.tokens = reference::sentence(words);
    others.push_back(ask(request));
  }
  const auto of = [&](const std::vector<std::shared_ptr<const Trace>>& beside) {
    Progress progress;
    const auto effects = head_effects(*trace, progress, 1,
                                      {.baseline = {.others = beside},
                                       .metric = [](const Vector& logits) { return static_cast<double>(logits(3)); }});
    EXPECT_TRUE(effects && *effects);
    return **effects;
  };
  const auto both = of(others), first = of({others[0]}), second = of({others[1]});
  ASSERT_EQ(both.size(), 8u);
  for (std::size_t i = 0; i < both.size(); ++i) {
    EXPECT_NEAR(both[i].change, (first[i].change + second[i].change) / 2, 1e-6);
    EXPECT_NEAR(*both[i].spread, std::abs(first[i].change - second[i].change) / 2, 1e-6);
    EXPECT_NEAR(*both[i].top_word, (*first[i].top_word + *second[i].top_word) / 2, 1e-6);
    EXPECT_NEAR(*both[i].metric, (*first[i].metric + *second[i].metric) / 2, 1e-6);
    EXPECT_FALSE(first[i].spread) << "of one there is none";
  }
}

/// z of a head as a baseline has it, row by row: those of one sentence, of the mean of all rows, or of the mean at each
/// position; of rows that no other sentence has its own.
Matrix z_of_baseline(const Trace& trace, const HeadRef& head, const Baseline& baseline) {
  Matrix z = z_rows(trace, head, 0, trace.queries());
  for (Index row = 0; row < z.rows(); ++row) {
    std::vector<Vector> rows;
    for (const auto& other : baseline.others) {
      const Matrix theirs = z_rows(*other, head, 0, other->queries());
      for (Index at = 0; at < theirs.rows(); ++at)
        if (baseline.kind == BaselineKind::mean || at == row) rows.push_back(theirs.row(at));
    }
    if (rows.empty()) continue;
    z.row(row).setZero();
    for (const Vector& one : rows) z.row(row) += one / static_cast<float>(rows.size());
  }
  return z;
}

TEST(HeadEffects, OfSentencesOfOtherLengthsAreThoseOfTheirRows) {
  Request request{.config = {.arch = Arch::decoder, .d_model = 16, .num_heads = 4, .num_layers = 2, .ffn = 8},
                  .vocabulary = counted_words(9),
                  .tokens = reference::sentence({"w1", "w2", "w3", "w4"})};
  const auto trace = ask(request);
  std::vector<std::shared_ptr<const Trace>> others;
  for (const auto& words : {std::vector<std::string>{"w5", "w6", "w7", "w8", "w1", "w3"}, {"w4", "w1"}}) {
    request.tokens = reference::sentence(words);
    others.push_back(ask(request));
  }
  for (const Baseline& baseline : {Baseline{{others[0]}, BaselineKind::resample},
                                   {{others[1]}, BaselineKind::resample},
                                   {others, BaselineKind::mean},
                                   {others, BaselineKind::position}}) {
    Progress progress;
    const auto effects = head_effects(*trace, progress, 1, {.baseline = baseline});
    ASSERT_TRUE(effects && *effects);
    for (const HeadEffect& effect : **effects) {
      const Patches patches{patch_of_rows(PatchAt::heads, effect.head, z_of_baseline(*trace, effect.head, baseline))};
      const auto after = *forward(trace->request, progress, trace.get(), 1, &patches);
      const auto p = words_of(*trace, trace->answering), q = words_of(*after, trace->answering);
      double divergence = 0;
      for (std::size_t w = 0; w < p.size(); ++w) divergence += p[w] * std::log(p[w] / q[w]);
      EXPECT_NEAR(effect.change, divergence, 1e-6 + 1e-3 * divergence) << static_cast<int>(baseline.kind);
    }
  }
}

TEST(HeadEffects, AttentionAloneHasNothingBehindIt) {
  auto model = std::make_shared<Model>();
  ExternalStack stack;
  stack.query_tokens = stack.key_tokens = counted(2);
  stack.patterns = {{Matrix::Identity(2, 2)}};
  model->given = ExternalInputs{{{Stack::self, stack}}};
  Progress progress;
  const auto refused = head_effects(*ask(reference::request_for(model)), progress);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "effect: expected a model, in which heads can be switched off, found attention alone");

  Random random(82);
  const Matrix x = reference::random_matrix(random, 4, 6);
  auto attention = reference::given_model(x, x, x, 2);
  for (const HeadEffect& effect : effects_of(*ask(reference::request_for(attention)))) EXPECT_GT(effect.change, 0.1f);
}

TEST(HeadEffects, AStoppedSweepHasNoAnswer) {
  const auto trace = ask(Request{.tokens = counted(4)});
  Progress progress;
  progress.stop = true;
  const auto effects = head_effects(*trace, progress);
  ASSERT_TRUE(effects);
  EXPECT_FALSE(*effects);
}

TEST(Forward, ALaterEditBeginsAtItsLayerAndGivesTheSameBits) {
  Random random(83);
  for (int round = 0; round < 60; ++round) {
    Request request = drawn_request(random, {.longest = 20});
    const auto before = ask(request);
    ASSERT_TRUE(before);
    request.edits = reference::drawn_edits(random, request, {});
    request.edits.scale = before->request.edits.scale;
    request.edits.dropout = before->request.edits.dropout;
    request.edits.dropout_seed = before->request.edits.dropout_seed;
    request.edits.off_as = before->request.edits.off_as;
    ASSERT_TRUE(reference::same_answer(*ask(request), *ask(request, before.get()))) << round;
  }
}

// An earlier answer with a mark in its first layer: an answer that reuses that layer has the mark.
TEST(Forward, TakesOverTheLayersBelowTheEdit) {
  Request request{.config = {.d_model = 8, .num_heads = 2, .num_layers = 3, .ffn = 0}, .tokens = counted(5)};
  Trace marked = *ask(request);
  for (BlockTrace& block : marked.blocks) block.self.heads[0].row_max(0) = 77;
  const auto marks = [&](const std::vector<HeadRef>& off) {
    Request changed = request;
    for (const HeadRef& head : off) switch_off(changed.edits, head, true);
    const auto trace = ask(changed, &marked);
    int count = 0;
    for (const BlockTrace& block : trace->blocks) count += block.self.heads[0].row_max(0) == 77;
    return count;
  };
  EXPECT_EQ(marks({}), 3);
  EXPECT_EQ(marks({{2, 0}}), 2);
  EXPECT_EQ(marks({{1, 1}, {2, 0}}), 1);
  EXPECT_EQ(marks({{0, 0}}), 0);
}

}  // namespace
}  // namespace headlight
