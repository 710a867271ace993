// Scores and logits split over what wrote the residual stream.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/checkpoints.h"
#include "drawn.h"
#include "explain/lens.h"
#include "explain/matrices.h"
#include "explain/score_split.h"
#include "model/head_text.h"

namespace headlight {
namespace {

using namespace checkpoints;
using Q = Quantity;
using SplitRow = Eigen::RowVectorXd;

/// Post-norm, pre-norm, both; side by side; rotary, T5's and ALiBi's biases, DeBERTa's vectors; norms of queries and
/// keys; experts; shared layers; a projection after the embedding; encoder and decoder.
constexpr const char* kSplitCases[] = {"bert",
                                       "gpt2",
                                       "llama-gqa",
                                       "marian",
                                       "family-albert",
                                       "family-bart",
                                       "family-bloom",
                                       "family-deberta-v2",
                                       "family-deberta-v3",
                                       "family-electra",
                                       "family-falcon-7b",
                                       "family-falcon-rw",
                                       "family-gemma3",
                                       "family-gptj",
                                       "family-headlight-sinks",
                                       "family-m2m_100",
                                       "family-mistral-window",
                                       "family-mixtral",
                                       "family-modernbert",
                                       "family-mpnet",
                                       "family-olmo2",
                                       "family-opt-post",
                                       "family-qwen2_moe",
                                       "family-qwen3",
                                       "family-smollm3",
                                       "family-t5"};

std::shared_ptr<const Trace> answer_of_case(const std::string& name) {
  const auto checkpoint = read_checkpoint(kGolden / name);
  EXPECT_TRUE(checkpoint) << name;
  if (!checkpoint) return nullptr;
  const auto& model = checkpoint->model;
  const Tokens target = model->config.arch == Arch::encoder_decoder ? tokens_of_ids({2, 7, 19, 4}) : Tokens{};
  return reference::ask(request_for(model, tokens_of_ids({5, 44, 12, 12, 7, 3}), target));
}

/// The sums of every cell of every head, and that they are the scores of the pass.
void expect_sums(const Trace& trace, double apart) {
  reference::for_each_head(trace, [&](const HeadRef& head) {
    if (trace.attention(head.stack, head.layer).softcap > 0) return;
    const Matrix scores = whole(trace, matrix_id(Q::scores, head));
    for (Index i = 0; i < scores.size(); i += 1 + scores.size() / 8) {
      const CellRef cell{i / scores.cols(), i % scores.cols()};
      const auto split = split_score(trace, head, cell);
      ASSERT_TRUE(split);
      double largest = 1;
      for (const ScoreTerm& term : split->terms) largest = std::max(largest, std::abs(term.value));
      ASSERT_NEAR(split->sum, split->score, apart * std::max({1.0, std::abs(split->score), 0.1 * largest}))
          << head_text(head) << " " << cell.query << " " << cell.key;
      ASSERT_EQ(split->blocked, std::isinf(scores(cell.query, cell.key)));
      if (!split->blocked) { ASSERT_NEAR(split->score, double(scores(cell.query, cell.key)), 1e-5 * largest); }
    }
  });
}

TEST(ScoreSplit, SumsToTheScoreInEveryFamily) {
  for (const std::string name : kSplitCases) {
    SCOPED_TRACE(name);
    const auto trace = answer_of_case(name);
    ASSERT_TRUE(trace);
    expect_sums(*trace, 2e-5);
  }
}

/// Blocks side by side, norms behind their parts, norms before them, encoder and decoder.
TEST(ScoreSplit, SumsToTheScoreWithPartsOff) {
  for (const std::string name :
       {"family-gptj", "family-falcon-7b", "family-gemma3", "gpt2", "family-bart", "family-t5"})
    for (const BlockPart part : kBlockParts) {
      SCOPED_TRACE(name + " " + std::to_string(static_cast<int>(part)));
      Request request = answer_of_case(name)->request;
      for (const Stack stack : {Stack::self, Stack::encoder})
        if (stack == Stack::self || request.model->encoder) switch_off(request.edits, stack, 0, part, true);
      const auto trace = reference::ask(request);
      ASSERT_TRUE(trace);
      expect_sums(*trace, 1e-4);
    }
}

TEST(ScoreSplit, SumsToTheScoreWhateverIsAsked) {
  Random random(71);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    Request request = reference::drawn_request(random, {.least_width = 4, .longest = 20});
    if (reference::once_in(random, 2)) reference::draw_parts_off(random, request);
    const auto trace = reference::ask(request);
    ASSERT_TRUE(trace);
    expect_sums(*trace, 1e-4);
  }
}

SplitRow row_of(const Trace& trace, Quantity quantity, const HeadRef& head, Index row) {
  return rows_of(trace, matrix_id(quantity, head), row, 1).row(0).cast<double>();
}

/// The part of a norm, written out: the mean of the part, the spread of the whole row.
SplitRow part_of_norm(const SplitRow& part, const SplitRow& row, const NormWeights& norm) {
  const double mean = row.mean(), variance = (row.array() - mean).square().mean();
  return ((part.array() - part.mean()) / std::sqrt(variance + double(norm.epsilon))) *
         norm.scale.cast<double>().array();
}

double term_of(const ScoreSplit& split, const std::string& query, const std::string& key) {
  for (const ScoreTerm& term : split.terms)
    if (writer_name(term.query) == query && writer_name(term.key) == key) return term.value;
  ADD_FAILURE() << query << " × " << key;
  return 0;
}

/// scale·(a·W_Qᵀ)·(b·W_Kᵀ) of one head, without biases.
double score_of_parts(const Trace& trace, const HeadRef& head, const SplitRow& a, const SplitRow& b) {
  const auto weight = [&](Quantity quantity) { return whole(trace, matrix_id(quantity, head)).cast<double>().eval(); };
  const SplitRow q = a * weight(Q::query_weight).transpose(), k = b * weight(Q::key_weight).transpose();
  return q.dot(k) * double(trace.attention(head.stack, head.layer).scale);
}

TEST(ScoreSplit, ATermIsThePartThroughTheNormThatReadsIt) {
  const auto trace = answer_of_case("gpt2");
  ASSERT_TRUE(trace);
  const BlockWeights& block = trace->model->blocks[1];
  const auto split = split_score(*trace, {1, 2}, {5, 3});
  ASSERT_TRUE(split);
  const auto read = [&](const SplitRow& part, Index token) {
    return part_of_norm(part, row_of(*trace, Q::block_output, {0, 0}, token), block.attention_norm);
  };
  const SplitRow head = read(row_of(*trace, Q::contribution, {0, 1}, 5), 5);
  const SplitRow ffn = read(row_of(*trace, Q::ffn_output, {0, 0}, 3), 3);
  const SplitRow word = read(row_of(*trace, Q::token_vectors, {0, 0}, 3), 3);
  EXPECT_NEAR(term_of(*split, "L0·H1", "L0·ffn"), score_of_parts(*trace, {1, 2}, head, ffn), 1e-6);
  EXPECT_NEAR(term_of(*split, "L0·H1", "embedding"), score_of_parts(*trace, {1, 2}, head, word), 1e-6);
  EXPECT_EQ(split->queries.size(), 2u + 3 + 1 + 1);  // embedding, position, heads, feed-forward, biases
  EXPECT_EQ(split->terms.size(), split->queries.size() * split->keys.size());
}

TEST(ScoreSplit, ATermGoesThroughEveryNormOfAPostNormModel) {
  const auto trace = answer_of_case("bert");
  ASSERT_TRUE(trace);
  const Model& model = *trace->model;
  const auto split = split_score(*trace, {1, 1}, {2, 4});
  ASSERT_TRUE(split);
  const auto through_block = [&](const SplitRow& part, Index token) {
    const SplitRow after =
        part_of_norm(part, row_of(*trace, Q::attention_sum, {0, 0}, token), model.blocks[0].attention_norm);
    return part_of_norm(after, row_of(*trace, Q::ffn_sum, {0, 0}, token), model.blocks[0].ffn_norm);
  };
  const SplitRow head = through_block(row_of(*trace, Q::contribution, {0, 1}, 2), 2);
  const SplitRow word = part_of_norm(row_of(*trace, Q::token_vectors, {0, 0}, 4),
                                     row_of(*trace, Q::embedding_sum, {0, 0}, 4), *model.embeddings.norm);
  EXPECT_NEAR(term_of(*split, "L0·H1", "embedding"), score_of_parts(*trace, {1, 1}, head, through_block(word, 4)),
              1e-6);
  EXPECT_EQ(writer_name(split->queries[2]), "type");
}

TEST(ScoreSplit, NamesTheStackOfAWriter) {
  const auto trace = answer_of_case("family-bart");
  ASSERT_TRUE(trace);
  const auto split = split_score(*trace, {1, 0, Stack::cross}, {2, 3});
  ASSERT_TRUE(split);
  const auto has = [](const std::vector<Writer>& writers, const std::string& name) {
    return std::any_of(writers.begin(), writers.end(), [&](const Writer& one) { return writer_name(one) == name; });
  };
  for (const char* name : {"embedding", "position", "L0·H1", "cross:L0·H1", "L0·ffn", "L1·H0", "bias"})
    EXPECT_TRUE(has(split->queries, name)) << name;
  EXPECT_FALSE(has(split->queries, "cross:L1·H0"));
  for (const char* name : {"encoder:embedding", "encoder:position", "encoder:L0·H1", "encoder:L0·ffn"})
    EXPECT_TRUE(has(split->keys, name)) << name;
}

TEST(ScoreSplit, ADistanceIsATermOfItsOwn) {
  const auto biased = answer_of_case("family-t5"), vectors = answer_of_case("family-deberta-v3");
  ASSERT_TRUE(biased && vectors);
  const HeadRef head{0, 1, Stack::encoder};
  const auto bias = split_score(*biased, head, {4, 1});
  ASSERT_TRUE(bias);
  EXPECT_EQ(term_of(*bias, "relative", "relative"), double(whole(*biased, matrix_id(Q::relative_bias, head))(4, 1)));
  const auto split = split_score(*vectors, {0, 1}, {4, 1});
  ASSERT_TRUE(split);
  double of_queries = 0, of_keys = 0;
  for (const ScoreTerm& term : split->terms) {
    EXPECT_FALSE(term.query.kind == WriterKind::relative && term.key.kind == WriterKind::relative);
    if (term.key.kind == WriterKind::relative) of_queries += term.value;
    if (term.query.kind == WriterKind::relative) of_keys += term.value;
  }
  EXPECT_NEAR(of_queries, double(whole(*vectors, matrix_id(Q::content_to_position, {0, 1}))(4, 1)), 1e-5);
  EXPECT_NEAR(of_keys, double(whole(*vectors, matrix_id(Q::position_to_content, {0, 1}))(4, 1)), 1e-5);
}

TEST(ScoreSplit, RefusesWhatIsNoSum) {
  const auto capped = answer_of_case("family-gemma2");
  ASSERT_TRUE(capped);
  EXPECT_EQ(split_score(*capped, {0, 1}, {4, 1}).error().message(),
            "why: SOURCE: expected scores that are sums, found a soft cap (tanh), which is not linear");
}

TEST(ScoreSplit, OfATensorsFileIsInputByInput) {
  Random random(5);
  const auto model =
      reference::given_model(reference::random_matrix(random, 3, 8), reference::random_matrix(random, 4, 8),
                             reference::random_matrix(random, 4, 8), 2);
  const auto trace = reference::ask(reference::request_for(model));
  ASSERT_TRUE(trace);
  expect_sums(*trace, 1e-6);
  EXPECT_EQ(split_score(*trace, {0, 1}, {2, 3})->terms.size(), 1u);
}

TEST(LogitSplit, SumsToTheLogit) {
  int linear = 0;
  for (const std::string name : kSplitCases) {
    SCOPED_TRACE(name);
    const auto trace = answer_of_case(name);
    ASSERT_TRUE(trace);
    if (!trace->model->output) continue;
    for (const Index word : {Index{0}, Index{7}, Index{31}}) {
      const auto split = split_logit(*trace, 1, word);
      if (!trace->model->output->transform.is_identity()) {
        EXPECT_FALSE(split);
        continue;
      }
      ASSERT_TRUE(split);
      ++linear;
      EXPECT_NEAR(split->sum, split->logit, 2e-5 * std::max(1.0, std::abs(split->logit)));
      const Matrix logits = uncapped_logit_rows(*trace, 1, 1);
      EXPECT_NEAR(split->logit, double(logits(0, word)), 0);
      const auto centred = split_logit(*trace, 1, word, {}, true);
      ASSERT_TRUE(centred);
      EXPECT_NEAR(centred->logit, double(logits(0, word)) - logits.cast<double>().mean(), 1e-6);
      EXPECT_NEAR(centred->sum, centred->logit, 4e-5 * std::max(1.0, std::abs(split->logit)));
      const auto beside = split_logit(*trace, 1, word, Index{3});
      ASSERT_TRUE(beside);
      EXPECT_NEAR(beside->logit, double(logits(0, word)) - double(logits(0, 3)), 1e-9);
      EXPECT_NEAR(beside->sum, beside->logit, 4e-5 * std::max(1.0, std::abs(split->logit)));
    }
  }
  EXPECT_GT(linear, 30);
}

/// A head's term is its contribution through the frozen final norm, times the word's row.
TEST(LogitSplit, ATermIsTheHeadsOwnVector) {
  const auto trace = answer_of_case("gpt2");
  ASSERT_TRUE(trace);
  const Model& model = *trace->model;
  const auto split = split_logit(*trace, 3, 7);
  ASSERT_TRUE(split);
  const SplitRow part = part_of_norm(row_of(*trace, Q::contribution, {1, 2}, 3),
                                     row_of(*trace, Q::block_output, {1, 0}, 3), *model.final_norm);
  const double expected = part.dot(weight_rows(*model.output->weight, 7, 1).row(0).cast<double>());
  bool found = false;
  for (const LogitTerm& term : split->terms) {
    if (writer_name(term.from) != "L1·H2") continue;
    found = true;
    EXPECT_NEAR(term.value, expected, 1e-6);
  }
  EXPECT_TRUE(found);
}

TEST(Lens, EndsInTheModelsOwnAnswer) {
  for (const char* name : {"gpt2", "bert", "llama-gqa", "family-gemma2", "marian", "family-opt-post"}) {
    SCOPED_TRACE(name);
    const auto trace = answer_of_case(name);
    ASSERT_TRUE(trace);
    if (!trace->model->output) continue;
    const auto layers = lens_words(*trace, trace->answering, 4);
    ASSERT_EQ(layers.size(), trace->blocks.size());
    EXPECT_EQ(layers.back(), most_probable(*trace->model, probabilities(trace->logits), 4));
  }
}

/// The guess after a layer is that of the same model without the layers above.
TEST(Lens, IsTheAnswerWithoutTheLayersAbove) {
  const auto trace = answer_of_case("gpt2");
  ASSERT_TRUE(trace);
  auto model = std::make_shared<Model>(*trace->model);
  model->blocks.resize(1);
  model->config.num_layers = 1;
  const auto shorter = reference::ask(request_for(model, trace->request.tokens));
  ASSERT_TRUE(shorter);
  EXPECT_EQ(lens_words(*trace, trace->answering, 6).front(), most_probable(*model, probabilities(shorter->logits), 6));
}

}  // namespace
}  // namespace headlight
