// Every part that can be patched against a second implementation: GPT-2's golden checkpoint in doubles, written here.
// Sentences of other lengths, both directions, every metric, and the random parts beside them: every number again, from
// a pass into which the rows are put here, and from its logits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoints.h"
#include "explain/patch/patching.h"
#include "heads/head_measures.h"
#include "math/attention.h"
#include "math/output.h"

namespace headlight {
namespace {

using namespace checkpoints;
using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Doubles dense(const Linear& linear) {
  const Index outputs = linear.weight.size() > 0 ? linear.weight.rows() : linear.outputs();
  return weight_rows(linear, 0, outputs).cast<double>();
}

Doubles applied(const Doubles& x, const Linear& linear) {
  Doubles y = x * dense(linear).transpose();
  if (linear.bias.size() > 0) y.rowwise() += linear.bias.cast<double>();
  return y;
}

Doubles layer_normed(const Doubles& x, const NormWeights& weights) {
  Doubles y = x;
  for (Index row = 0; row < x.rows(); ++row) {
    const double mean = x.row(row).mean();
    const double variance = (x.row(row).array() - mean).square().mean();
    y.row(row) = ((x.row(row).array() - mean) / std::sqrt(variance + static_cast<double>(weights.epsilon))) *
                     weights.scale.cast<double>().array() +
                 weights.shift.cast<double>().array();
  }
  return y;
}

double gelu_by_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

/// Called with each part and its numbers, which it may change: q, k, v, pattern, heads (z) of one head; ffn, residual.
using Hook = std::function<void(PatchAt at, Index layer, Index head, Doubles& numbers)>;

/// The scores of the word after the last token.
Eigen::RowVectorXd logits_by_hand(const Trace& trace, const Hook& hook) {
  const Model& model = *trace.model;
  Doubles x = trace.embedding.cast<double>();
  const Index tokens = x.rows(), heads = trace.num_heads();
  for (Index layer = 0; layer < trace.num_layers(); ++layer) {
    const BlockWeights& block = model.blocks[static_cast<std::size_t>(layer)];
    const Doubles input = layer_normed(x, block.attention_norm);
    const Doubles q = applied(input, block.self.query), k = applied(input, block.self.key),
                  v = applied(input, block.self.value);
    const Index width = q.cols() / heads;
    Doubles side_by_side(tokens, q.cols());
    for (Index head = 0; head < heads; ++head) {
      Doubles own_q = q.middleCols(head * width, width), own_k = k.middleCols(head * width, width),
              own_v = v.middleCols(head * width, width);
      hook(PatchAt::q, layer, head, own_q);
      hook(PatchAt::k, layer, head, own_k);
      hook(PatchAt::v, layer, head, own_v);
      Doubles pattern = Doubles::Zero(tokens, tokens);
      for (Index i = 0; i < tokens; ++i) {
        double sum = 0;
        for (Index j = 0; j <= i; ++j)
          sum += pattern(i, j) = std::exp(own_q.row(i).dot(own_k.row(j)) / std::sqrt(static_cast<double>(width)));
        pattern.row(i) /= sum;
      }
      hook(PatchAt::pattern, layer, head, pattern);
      Doubles z = pattern * own_v;
      hook(PatchAt::heads, layer, head, z);
      side_by_side.middleCols(head * width, width) = z;
    }
    x += applied(side_by_side, block.self.output);
    Doubles ffn = applied(layer_normed(x, block.ffn_norm), block.up);
    ffn = applied(ffn.unaryExpr(&gelu_by_tanh), block.down);
    hook(PatchAt::ffn, layer, 0, ffn);
    x += ffn;
    hook(PatchAt::residual, layer, 0, x);
  }
  return layer_normed(x, *model.final_norm).bottomRows(1) * dense(*model.output->weight).transpose();
}

TEST(PatchingByHand, EveryPlaceRestoresWhatASecondImplementationFinds) {
  const auto checkpoint = read_checkpoint(kGolden / "gpt2");
  ASSERT_TRUE(checkpoint);
  const auto asked = [&](const std::vector<std::int64_t>& ids) {
    return *forward(request_for(checkpoint->model, tokens_of_ids(ids)));
  };
  const auto clean = asked({5, 44, 12, 9, 7, 3}), corrupt = asked({5, 31, 12, 9, 20, 3});
  const Hook nothing = [](PatchAt, Index, Index, Doubles&) {};
  const auto by_hand = logits_by_hand(*corrupt, nothing);
  ASSERT_LT((by_hand - corrupt->logits.cast<double>()).cwiseAbs().maxCoeff(), 1e-4) << "the implementations agree";
  Index right = 0, wrong = 0;
  clean->logits.maxCoeff(&right);
  corrupt->logits.maxCoeff(&wrong);
  if (right == wrong) wrong = right == 0 ? 1 : 0;
  PatchWanted wanted{.metric = {.metric = Metric::logit_difference, .right = right, .wrong = wrong, .query = {}}};
  for (Index token = 0; token < 6; ++token) wanted.queries.emplace_back(token, token);
  wanted.keys = wanted.queries;
  const auto metric = [&](const Eigen::RowVectorXd& logits) { return logits(right) - logits(wrong); };
  const double end = metric(logits_by_hand(*clean, nothing)), begin = metric(by_hand);
  for (const PatchAt at :
       {PatchAt::heads, PatchAt::residual, PatchAt::ffn, PatchAt::pattern, PatchAt::q, PatchAt::k, PatchAt::v})
    for (const bool by_token : {false, true}) {
      wanted.at = at;
      wanted.by_token = by_token;
      const auto answer = patch_answers(*clean, *corrupt, wanted);
      ASSERT_TRUE(answer) << answer.error().message();
      for (const PatchCell& cell : answer->cells) {
        Doubles source;
        const auto is_there = [&](PatchAt here, Index layer, Index head) {
          return here == at && layer == cell.layer && head == cell.head.value_or(0);
        };
        logits_by_hand(*clean, [&](PatchAt here, Index layer, Index head, Doubles& numbers) {
          if (is_there(here, layer, head)) source = numbers;
        });
        const auto patched = logits_by_hand(*corrupt, [&](PatchAt here, Index layer, Index head, Doubles& numbers) {
          if (!is_there(here, layer, head)) return;
          if (cell.token) numbers.row(*cell.token) = source.row(*cell.token);
          else numbers = source;
        });
        EXPECT_NEAR(cell.restored, (metric(patched) - begin) / (end - begin), 1e-4)
            << name(at) << " layer " << cell.layer << " head " << cell.head.value_or(-1) << " token "
            << cell.token.value_or(-1);
      }
    }
}

constexpr Index kOwnRight = 6, kOwnWrong = 11;

/// A clean sentence of six tokens and a corrupt one of five, of which four correspond to each other.
struct OtherLengths {
  std::shared_ptr<const Trace> clean, corrupt;
  PatchWanted wanted = {};
};

OtherLengths other_lengths(const std::string& name, Stack stack) {
  const auto model = read_checkpoint(kGolden / name)->model;
  const Tokens target = model->config.arch == Arch::encoder_decoder ? tokens_of_ids({2, 7, 4}) : Tokens{};
  const auto asked = [&](const std::vector<std::int64_t>& ids) {
    return *forward(request_for(model, tokens_of_ids(ids), target));
  };
  OtherLengths both{asked({5, 14, 12, 9, 7, 3}), asked({5, 12, 20, 3, 8})};
  both.wanted.stack = stack;
  both.wanted.queries = both.wanted.keys = {{0, 0}, {2, 1}, {3, 2}, {5, 3}};
  both.wanted.metric = {.right = kOwnRight, .wrong = kOwnWrong};
  return both;
}

std::vector<double> shares_of(const Vector& logits) {
  std::vector<double> shares;
  double sum = 0;
  for (Index i = 0; i < logits.size(); ++i)
    sum += shares.emplace_back(std::exp(static_cast<double>(logits(i)) - static_cast<double>(logits.maxCoeff())));
  for (double& one : shares) one /= sum;
  return shares;
}

/// The metric by its formula: of KL how far these are from those of the clean answer, Σ clean·log(clean / these).
double measured(Metric metric, const Vector& logits, const Vector& of_clean) {
  if (metric == Metric::logit_difference) return double(logits(kOwnRight)) - double(logits(kOwnWrong));
  const std::vector<double> shares = shares_of(logits), clean = shares_of(of_clean);
  if (metric == Metric::probability) return shares[kOwnRight];
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) sum += clean[i] * std::log(clean[i] / shares[i]);
  return sum;
}

Matrix rows_at(const Trace& trace, PatchAt at, const HeadRef& head) {
  if (at == PatchAt::residual) return trace.blocks_of(head.stack)[static_cast<std::size_t>(head.layer)].output;
  if (at == PatchAt::heads) return z_rows(trace, head, 0, trace.queries(head.stack));
  const AttentionTrace& attention = trace.attention(head.stack, head.layer);
  return head_columns(attention.key, head.head, attention.num_kv_heads);
}

Vector logits_with(const Trace& base, const Patches& patches, Index query) {
  Progress progress;
  return logit_rows(**forward(base.request, progress, &base, 1, &patches), query, 1).row(0);
}

/// The patch of a cell: of the base's rows those that have a partner, or the cell's own.
Patch put(const OtherLengths& one, const Trace& source, const PatchCell& cell) {
  const bool noise = one.wanted.direction == PatchDirection::noise;
  Patch patch{.at = one.wanted.at, .stack = cell.stack, .layer = cell.layer, .head = cell.head.value_or(0)};
  const Matrix all = rows_at(source, patch.at, {patch.layer, patch.head, patch.stack});
  for (const auto& [clean, corrupt] : one.wanted.queries)
    if (!cell.token || *cell.token == (noise ? clean : corrupt)) {
      patch.rows.push_back(noise ? clean : corrupt);
      patch.values.conservativeResize(static_cast<Index>(patch.rows.size()), all.cols());
      patch.values.bottomRows(1) = all.row(noise ? corrupt : clean);
    }
  return patch;
}

/// Every cell, where the answer is read at token `query` of the clean sentence, which is `partner` of the other.
void expect_cells(const OtherLengths& one, Index query, Index partner) {
  const bool noise = one.wanted.direction == PatchDirection::noise;
  const auto answer = patch_answers(*one.clean, *one.corrupt, one.wanted);
  ASSERT_TRUE(answer) << answer.error().message();
  const Trace &base = noise ? *one.clean : *one.corrupt, &source = noise ? *one.corrupt : *one.clean;
  const Vector of_clean = logit_rows(*one.clean, query, 1).row(0),
               of_corrupt = logit_rows(*one.corrupt, partner, 1).row(0);
  const auto metric = [&](const Vector& logits) { return measured(*one.wanted.metric.metric, logits, of_clean); };
  const double clean = metric(of_clean), corrupt = metric(of_corrupt);
  EXPECT_NEAR(answer->clean, clean, 1e-5);
  EXPECT_NEAR(answer->corrupt, corrupt, 1e-5);
  for (const PatchCell& cell : answer->cells) {
    const double value = metric(logits_with(base, {put(one, source, cell)}, noise ? query : partner));
    const double begin = noise ? clean : corrupt, end = noise ? corrupt : clean;
    EXPECT_NEAR(cell.restored, (value - begin) / (end - begin), 1e-4)
        << "layer " << cell.layer << " head " << cell.head.value_or(-1) << " token " << cell.token.value_or(-1);
  }
}

TEST(PatchingLengths, EveryCellInBothDirectionsAndByEveryMetric) {
  for (const std::string name : {"gpt2", "llama-gqa"})
    for (const PatchDirection direction : {PatchDirection::denoise, PatchDirection::noise})
      for (const PatchAt at : {PatchAt::residual, PatchAt::heads, PatchAt::k})
        for (const Metric metric : {Metric::logit_difference, Metric::probability, Metric::kl}) {
          OtherLengths one = other_lengths(name, Stack::self);
          one.wanted.direction = direction, one.wanted.at = at, one.wanted.metric.metric = metric;
          SCOPED_TRACE(name + " " + std::string(headlight::name(at)) + " metric " + std::to_string(int(metric)) +
                       (direction == PatchDirection::noise ? " noise" : ""));
          expect_cells(one, one.clean->answering, one.corrupt->answering);
          one.wanted.metric.query = 3;  // of the clean sentence
          expect_cells(one, 3, 2);
        }
}

TEST(PatchingLengths, TheStreamOfEveryLayerOfAnEncoder) {
  for (const std::string name : {"family-bart", "family-t5"})
    for (const PatchDirection direction : {PatchDirection::denoise, PatchDirection::noise}) {
      OtherLengths one = other_lengths(name, Stack::encoder);
      one.wanted.direction = direction, one.wanted.at = PatchAt::residual;
      one.wanted.metric.metric = Metric::logit_difference;
      SCOPED_TRACE(name + (direction == PatchDirection::noise ? " noise" : ""));
      expect_cells(one, one.clean->answering, one.corrupt->answering);
    }
}

/// Of all parts but two, any two others are these: each draw of the control restores what both together do.
TEST(PatchingControl, DrawsFromTheOthersAlone) {
  OtherLengths one = other_lengths("gpt2", Stack::self);
  one.wanted.metric.metric = Metric::logit_difference, one.wanted.metric.query = 5;
  const auto heads = heads_of(*one.corrupt);
  for (std::size_t i = 0; i + 2 < heads.size(); ++i)
    one.wanted.heads.push_back({Stack::self, heads[i].layer, heads[i].head});
  one.wanted.control = 6;
  const auto answer = patch_answers(*one.clean, *one.corrupt, one.wanted);
  ASSERT_TRUE(answer && answer->control) << answer.error().message();
  const auto together = [&](std::size_t first, std::size_t end) {
    Patches patches;
    for (std::size_t i = first; i < end; ++i)
      patches.push_back(put(one, *one.clean, {.layer = heads[i].layer, .head = heads[i].head}));
    const double value = measured(Metric::logit_difference, logits_with(*one.corrupt, patches, 3), {});
    return (value - answer->corrupt) / (answer->clean - answer->corrupt);
  };
  EXPECT_EQ(answer->control->cells, 2);
  ASSERT_TRUE(answer->control->together);
  EXPECT_NEAR(*answer->control->together, together(0, heads.size() - 2), 1e-5);
  ASSERT_EQ(answer->control->restored.size(), 6u);
  for (const double drawn : answer->control->restored)
    EXPECT_NEAR(drawn, together(heads.size() - 2, heads.size()), 1e-5);
}

/// One part beside one other at a time: each of the others is drawn, and the chosen one never.
TEST(PatchingControl, DrawsEachOfTheOthers) {
  OtherLengths one = other_lengths("gpt2", Stack::self);
  one.wanted.metric.metric = Metric::logit_difference, one.wanted.metric.query = 5;
  const auto all = patch_answers(*one.clean, *one.corrupt, one.wanted);
  one.wanted.heads = {{Stack::self, 0, 1}};
  one.wanted.control = 60;
  const auto answer = patch_answers(*one.clean, *one.corrupt, one.wanted);
  ASSERT_TRUE(all && answer && answer->control);
  std::set<HeadRef> drawn;
  for (const double restored : answer->control->restored) {
    const auto is_it = [&](const PatchCell& cell) { return std::abs(cell.restored - restored) < 1e-9; };
    const auto cell = std::ranges::find_if(all->cells, is_it);
    ASSERT_NE(cell, all->cells.end()) << restored;
    drawn.insert({cell->layer, *cell->head});
  }
  EXPECT_EQ(drawn.size(), all->cells.size() - 1);
  EXPECT_FALSE(drawn.contains({0, 1}));
}

}  // namespace
}  // namespace headlight
