// Every part that can be patched against a second implementation: GPT-2's golden checkpoint in doubles, written here.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "core/checkpoints.h"
#include "explain/patch/patching.h"

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

}  // namespace
}  // namespace headlight
