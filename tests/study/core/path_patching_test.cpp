// Path patching against its definition, written again: all other heads of every stack stay as they are, and of the
// receiver only what it reads is another.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/checkpoints.h"
#include "explain/patch/patch_metric.h"
#include "explain/patch/patching.h"
#include "heads/head_measures.h"
#include "math/attention.h"
#include "math/forward.h"

namespace headlight {
namespace {

using namespace checkpoints;

struct PathCase {
  std::shared_ptr<const Trace> clean, corrupt;
  PatchWanted wanted = {};

  PatchMetric metric() const { return *metric_of(*clean, *corrupt, wanted.metric); }
};

/// Two answers with the tokens paired by position, and a metric of two words.
PathCase path_case(const std::string& name) {
  const auto model = read_checkpoint(kGolden / name)->model;
  const bool two = model->config.arch == Arch::encoder_decoder;
  const auto asked = [&](const std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& target) {
    return *forward(request_for(model, tokens_of_ids(ids), two ? tokens_of_ids(target) : Tokens{}));
  };
  PathCase one{asked({5, 14, 12, 9, 7, 3}, {2, 7, 4}), asked({5, 3, 12, 9, 2, 3}, {2, 9, 4})};
  one.wanted.metric = {.metric = Metric::logit_difference, .right = 6, .wrong = 11};
  return one;
}

void pair_tokens(PathCase& one, Stack stack) {
  one.wanted.stack = stack, one.wanted.queries.clear(), one.wanted.keys.clear();
  for (Index i = 0; i < one.clean->queries(stack); ++i) one.wanted.queries.emplace_back(i, i);
  for (Index i = 0; i < one.clean->keys(stack); ++i) one.wanted.keys.emplace_back(i, i);
}

std::shared_ptr<const Trace> pass_with(const Trace& base, const Patches& patches) {
  Progress progress;
  return *forward(base.request, progress, &base, 1, &patches);
}

Matrix z_in(const Trace& trace, const HeadRef& head) { return z_rows(trace, head, 0, trace.queries(head.stack)); }

/// The sender's z is the clean one; every other head of the model keeps its own.
Patches all_others_held(const PathCase& one, const HeadRef& from) {
  Patches patches{patch_of_rows(PatchAt::heads, from, z_in(*one.clean, from))};
  for (const HeadRef& head : heads_of(*one.corrupt))
    if (head != from) patches.push_back(patch_of_rows(PatchAt::heads, head, z_in(*one.corrupt, head)));
  return patches;
}

double share(const PathCase& one, const Trace& pass) {
  const PatchMetric metric = one.metric();
  const double clean = metric.of(*one.clean, metric.clean_query),
               corrupt = metric.of(*one.corrupt, metric.corrupt_query);
  return (metric.of(pass, metric.corrupt_query) - corrupt) / (clean - corrupt);
}

Matrix columns_of_head(const Matrix& all, Index head, Index heads) {
  const Index width = all.cols() / heads;
  return all.middleCols(head * width, width);
}

/// z of a head, from its numbers, by the formula: a plain softmax over what the mask allows.
Matrix z_by_hand(const Matrix& query, const Matrix& key, const Matrix& value, bool causal, double scale) {
  Matrix z = Matrix::Zero(query.rows(), value.cols());
  for (Index i = 0; i < query.rows(); ++i) {
    const Index last = causal ? i + 1 : key.rows();
    std::vector<double> weights;
    double sum = 0;
    for (Index j = 0; j < last; ++j)
      weights.push_back(std::exp(scale * static_cast<double>(query.row(i).dot(key.row(j))))), sum += weights.back();
    for (Index j = 0; j < last; ++j)
      z.row(i) += static_cast<float>(weights[static_cast<std::size_t>(j)] / sum) * value.row(j);
  }
  return z;
}

double path_of(const PathCase& one, const PathWanted& path) {
  const auto answer = patch_paths(*one.clean, *one.corrupt, one.wanted, path);
  EXPECT_TRUE(answer) << answer.error().message();
  return answer ? answer->cells.front().restored : 0;
}

/// Of the sender's stack and of the others, with a layer between and without.
TEST(PathPatching, ToTheAnswerAllOtherHeadsStay) {
  for (const std::string name : {"gpt2", "llama-gqa", "family-bart", "family-t5", "family-gptj"}) {
    PathCase one = path_case(name);
    for (const HeadRef& from : heads_of(*one.corrupt)) {
      SCOPED_TRACE(name + " " + std::string(stack_name(from.stack)) + " " + head_text(from));
      pair_tokens(one, from.stack);
      EXPECT_NEAR(path_of(one, {.from = {from}}), share(one, *pass_with(*one.corrupt, all_others_held(one, from))),
                  2e-5);
    }
  }
}

/// To every head that stands behind the sender, in its own stack and in another: where a layer or another attention
/// stands between, its heads stay too.
TEST(PathPatching, ToAReceiverAllOtherHeadsStay) {
  for (const std::string name : {"family-bart", "family-t5"}) {
    PathCase one = path_case(name);
    const Trace& base = *one.corrupt;
    for (const HeadRef& from : {HeadRef{0, 0}, HeadRef{0, 1, Stack::encoder}}) {
      pair_tokens(one, from.stack);
      const auto sent = pass_with(base, all_others_held(one, from));
      for (const HeadRef& to : heads_of(base)) {
        const bool reads = to.layer > 0 || (to.stack == Stack::cross && from.stack == Stack::encoder);
        if (!reads || (from.stack == Stack::self && to.stack == Stack::encoder)) continue;
        SCOPED_TRACE(name + " " + head_text(from) + " to " + std::string(stack_name(to.stack)) + head_text(to));
        const AttentionTrace& read = sent->attention(to.stack, to.layer);
        const auto patch = [&](PatchAt at, const Matrix& all) {
          return patch_of_rows(at, to, columns_of_head(all, to.head, read.num_heads()));
        };
        const Patches parts{patch(PatchAt::q, read.query), patch(PatchAt::k, read.key), patch(PatchAt::v, read.value)};
        EXPECT_NEAR(path_of(one, {.from = {from}, .to = to}), share(one, *pass_with(base, parts)), 2e-5);
      }
    }
  }
}

/// The key or the value as one head of a group reads it: its z by hand, and nothing of the other heads of the group.
TEST(PathPatching, AHeadOfAGroupReadsAlone) {
  PathCase one = path_case("llama-gqa");
  pair_tokens(one, Stack::self);
  const Trace& base = *one.corrupt;
  const AttentionTrace& layer = base.attention(Stack::self, 1);
  ASSERT_LT(layer.num_kv_heads, layer.num_heads());
  double apart = 0;
  for (Index sender = 0; sender < layer.num_heads(); ++sender) {
    const HeadRef from{0, sender};
    const auto sent = pass_with(base, all_others_held(one, from));
    const AttentionTrace& read = sent->attention(Stack::self, 1);
    for (Index head = 0; head < layer.num_heads(); ++head)
      for (const std::optional<PatchAt> part :
           {std::optional<PatchAt>(PatchAt::k), std::optional(PatchAt::v), std::optional(PatchAt::q), {}}) {
        SCOPED_TRACE(std::to_string(sender) + " to " + std::to_string(head));
        const auto numbers = [&](PatchAt which, const Matrix AttentionTrace::*all) {
          const AttentionTrace& of = !part || part == which ? read : layer;
          return which == PatchAt::q ? columns_of_head(of.*all, head, of.num_heads())
                                     : columns_of_head(of.*all, of.kv_head(head), of.num_kv_heads);
        };
        const Matrix z =
            z_by_hand(numbers(PatchAt::q, &AttentionTrace::query), numbers(PatchAt::k, &AttentionTrace::key),
                      numbers(PatchAt::v, &AttentionTrace::value), true, layer.scale);
        const HeadRef to{1, head};
        const double expected = share(one, *pass_with(base, {patch_of_rows(PatchAt::heads, to, z)}));
        const double alone = path_of(one, {.from = {from}, .to = to, .part = part});
        EXPECT_NEAR(alone, expected, 2e-5);
        if (part == PatchAt::k)
          apart =
              std::max(apart, std::abs(alone - path_of(one, {.from = {from}, .to = to, .part = part, .group = true})));
      }
  }
  EXPECT_GT(apart, 1e-3) << "the group as a whole is another question";
}

/// What all heads of a group read: their keys are one number, whichever of them is named.
TEST(PathPatching, AGroupIsAllOfItsHeads) {
  PathCase one = path_case("llama-gqa");
  pair_tokens(one, Stack::self);
  const AttentionTrace& layer = one.corrupt->attention(Stack::self, 1);
  const Index of_group = layer.num_heads() / layer.num_kv_heads;
  const HeadRef from{0, 0};
  const auto sent = pass_with(*one.corrupt, all_others_held(one, from));
  const Matrix key = columns_of_head(sent->attention(Stack::self, 1).key, 0, layer.num_kv_heads);
  const double expected = share(one, *pass_with(*one.corrupt, {patch_of_rows(PatchAt::k, {1, 0}, key)}));
  for (Index head = 0; head < of_group; ++head)
    EXPECT_NEAR(path_of(one, {.from = {from}, .to = HeadRef{1, head}, .part = PatchAt::k, .group = true}), expected,
                2e-5);
}

/// Both directions of time: what stands behind the receiver, or is not there, is refused.
TEST(PathPatching, RefusesWhatDoesNotStandBefore) {
  PathCase one = path_case("family-bart");
  const auto refusal = [&](const HeadRef& from, const HeadRef& to) {
    pair_tokens(one, from.stack);
    const auto answer = patch_paths(*one.clean, *one.corrupt, one.wanted, {.from = {from}, .to = to});
    return answer ? std::string() : answer.error().message();
  };
  EXPECT_EQ(refusal({0, 0, Stack::cross}, {0, 1, Stack::self}),
            "--from-head: expected a head that stands before L0·H1, found cross:L0·H0");
  EXPECT_EQ(refusal({0, 0, Stack::self}, {0, 1, Stack::cross}), "");
  EXPECT_EQ(refusal({0, 0, Stack::encoder}, {0, 1, Stack::cross}), "");
  EXPECT_EQ(refusal({1, 0, Stack::self}, {1, 0, Stack::self}),
            "--from-head: expected a head of a layer below L1·H0, found L1·H0");
  PathCase alone = path_case("gpt2");
  pair_tokens(alone, Stack::self);
  const auto missing =
      patch_paths(*alone.clean, *alone.corrupt, alone.wanted, {.from = {{0, 0}}, .to = HeadRef{1, 0, Stack::cross}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message(), "--to: expected a head of a stack that this model has, found cross:1.0");
}

/// The share of a rank is one of its logarithm: from 64 to 8 as much as from 8 to 1.
TEST(PathPatching, ARankIsOnALogarithmicScale) {
  EXPECT_DOUBLE_EQ(on_scale(Metric::rank, 64) - on_scale(Metric::rank, 8), on_scale(Metric::rank, 8));
  EXPECT_EQ(on_scale(Metric::kl, 0.5), 0.5);
  PathCase one = path_case("gpt2");
  pair_tokens(one, Stack::self);
  Result<PatchAnswer> answer = bad_input("", "", "", "");
  for (Index word = 0; word < 40 && !answer; ++word) {  // the first one that has two ranks
    one.wanted.metric = {.metric = Metric::rank, .right = word};
    answer = patch_answers(*one.clean, *one.corrupt, one.wanted);
  }
  ASSERT_TRUE(answer) << answer.error().message();
  ASSERT_NE(answer->clean, answer->corrupt);
  int moved = 0;
  for (const PatchCell& cell : answer->cells) {
    const double rank = answer->corrupt * std::pow(answer->clean / answer->corrupt, cell.restored);
    EXPECT_NEAR(rank, std::round(rank), 1e-6) << "a rank is a whole number";
    moved += std::abs(rank - answer->corrupt) > 0.5;
  }
  EXPECT_GT(moved, 0);
}

}  // namespace
}  // namespace headlight
