// The pass back through an answer: against torch's autograd (golden/torch_gradients.py), against differences of passes
// that are patched, in every family's shape; and estimates of patches against the patches.
#include "explain/gradients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "core/checkpoints.h"
#include "explain/patch/patch_estimate.h"
#include "explain/patch/patch_pass.h"
#include "math/forward.h"

namespace headlight {
namespace {

using namespace checkpoints;

constexpr Index kRight = 6, kWrong = 11;

std::shared_ptr<const Trace> trace_by_ids(const std::string& name, const std::vector<std::int64_t>& ids,
                                          const Edits& edits = {}) {
  const auto model = read_checkpoint(kGolden / name)->model;
  const bool two = model->config.arch == Arch::encoder_decoder;
  Request request = request_for(model, tokens_of_ids(ids), two ? tokens_of_ids({2, 7, 4}) : Tokens{});
  request.edits = edits;
  const auto trace = forward(request);
  EXPECT_TRUE(trace) << trace.error().message();
  return *trace;
}

Vector of_two_words(const Trace& trace) {
  Vector of = Vector::Zero(trace.logits.size());
  of(kRight) = 1, of(kWrong) = -1;
  return of;
}

Result<std::optional<Gradients>> gradients_by_words(const Trace& trace) {
  Progress progress;
  return gradients_of(trace, trace.answering, of_two_words(trace), progress, 1);
}

double two_words(const Trace& trace) {
  return static_cast<double>(trace.logits(kRight)) - static_cast<double>(trace.logits(kWrong));
}

class AgainstTorch : public ::testing::TestWithParam<const char*> {};

TEST_P(AgainstTorch, EveryGradientIsThatOfAutograd) {
  const auto trace = trace_by_ids(GetParam(), {5, 14, 12, 9, 7, 3});
  const auto gradients = gradients_by_words(*trace);
  ASSERT_TRUE(gradients) << gradients.error().message();
  const auto golden = read_safetensors(kGolden / GetParam() / "gradients.safetensors");
  ASSERT_TRUE(golden);
  int compared = 0;
  for (Index layer = 0; layer < trace->num_layers(); ++layer) {
    const BlockGradients& of = (*gradients)->block(Stack::self, layer);
    const std::pair<const char*, const Matrix*> parts[] = {{"query", &of.self.query}, {"key", &of.self.key},
                                                           {"value", &of.self.value}, {"z", &of.self.z},
                                                           {"ffn", &of.ffn},          {"output", &of.output}};
    for (const auto& [name, part] : parts) {
      const Array* expected = find_array(golden->arrays, std::to_string(layer) + "." + name);
      ASSERT_TRUE(expected) << name;
      const Matrix matrix =
          Eigen::Map<const Matrix>(expected->values.data(), expected->shape.at(0), expected->shape.at(1));
      ASSERT_EQ(matrix.rows(), part->rows());
      ASSERT_EQ(matrix.cols(), part->cols());
      EXPECT_LT((matrix - *part).cwiseAbs().maxCoeff(), 2e-6 + 2e-5 * matrix.cwiseAbs().maxCoeff()) << layer << name;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 12);
}

INSTANTIATE_TEST_SUITE_P(Golden, AgainstTorch, ::testing::Values("gpt2", "llama-gqa"));

Matrix gradient_of_part(const Gradients& gradients, const Trace& trace, PatchAt at, const HeadRef& head) {
  if (at == PatchAt::residual) return gradients.block(head.stack, head.layer).output;
  if (at == PatchAt::ffn) return gradients.block(head.stack, head.layer).ffn;
  const AttentionGradients& of = gradients.attention(head.stack, head.layer);
  const Matrix& all = at == PatchAt::heads ? of.z : at == PatchAt::q ? of.query : at == PatchAt::k ? of.key : of.value;
  const AttentionTrace& attention = trace.attention(head.stack, head.layer);
  return head_columns(all, head.head, of_keys(at) ? attention.num_kv_heads : attention.num_heads());
}

/// The metric where the part is moved by so much.
double moved(const Trace& trace, PatchAt at, const HeadRef& head, const Matrix& values) {
  Progress progress;
  const Patches patches{patch_of_rows(at, head, values)};
  return two_words(**forward(trace.request, progress, &trace, 1, &patches));
}

/// The slope of the metric along `way` by two passes, and by the gradient. Of three steps one must agree: a long one
/// meets curvature and the corners of ReLU, a short one rounding.
void expect_slope(const Trace& trace, const Gradients& gradients, PatchAt at, const HeadRef& head, const Matrix& way) {
  const Matrix values = part_of(trace, at, head), gradient = gradient_of_part(gradients, trace, at, head);
  ASSERT_EQ(gradient.rows(), values.rows());
  ASSERT_EQ(gradient.cols(), values.cols());
  const double by_gradient = static_cast<double>(gradient.cwiseProduct(way).sum());
  std::string found;
  for (const float of_norm : {4e-3f, 1e-3f, 2.5e-4f}) {
    const float step = of_norm * std::max(0.1f, values.norm()) / way.norm();
    const double apart = moved(trace, at, head, values + step * way) - moved(trace, at, head, values - step * way);
    const double by_passes = apart / (2 * static_cast<double>(step));
    const double rounding = 4e-6 * (1 + trace.logits.cwiseAbs().maxCoeff()) / static_cast<double>(step);
    if (std::abs(by_passes - by_gradient) < 0.01 * std::abs(by_gradient) + rounding) return;
    found += " " + std::to_string(by_passes) + " +- " + std::to_string(rounding);
  }
  ADD_FAILURE() << name(at) << " " << head_text(head) << ": by gradient " << by_gradient << ", by passes" << found;
}

class AgainstDifferences : public ::testing::TestWithParam<const char*> {};

TEST_P(AgainstDifferences, ASlopeIsThatOfTwoPasses) {
  const auto trace = trace_by_ids(GetParam(), {5, 3, 12, 9, 2, 3});
  ASSERT_GT(trace->logits.size(), 0);
  const auto gradients = gradients_by_words(*trace);
  ASSERT_TRUE(gradients) << gradients.error().message();
  for (const Stack stack : kStacks) {
    if (!trace->has(stack)) continue;
    for (Index layer = 0; layer < trace->num_layers(stack); ++layer)
      for (const PatchAt at : {PatchAt::heads, PatchAt::q, PatchAt::k, PatchAt::v, PatchAt::residual, PatchAt::ffn}) {
        const bool of_stream = at == PatchAt::residual || at == PatchAt::ffn;
        if (of_stream && stack == Stack::cross) continue;
        const AttentionTrace& attention = trace->attention(stack, layer);
        const HeadRef head{layer, of_stream ? 0 : (of_keys(at) ? attention.num_kv_heads : attention.num_heads()) - 1,
                           stack};
        const Matrix own = gradient_of_part(**gradients, *trace, at, head);
        if (own.norm() < 1e-6f) continue;  // the last layer's other tokens
        expect_slope(*trace, **gradients, at, head, own);
        Matrix other = own;
        for (Index i = 0; i < other.size(); ++i) other.data()[i] = std::sin(static_cast<float>(3 * i + 1)) * own.norm();
        expect_slope(*trace, **gradients, at, head, other);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, AgainstDifferences,
                         ::testing::Values("gpt2", "llama-gqa", "llama-gqa-bf16", "marian", "family-albert",
                                           "family-bart", "family-bloom", "family-falcon-7b", "family-gemma2",
                                           "family-gemma3", "family-gptj", "family-gpt_neox", "family-headlight-sinks",
                                           "family-modernbert", "family-mpnet", "family-mt5-gated", "family-olmo2",
                                           "family-opt-post", "family-phi", "family-qwen3", "family-t5"));

TEST(Gradients, AHeadThatIsOffPassesNothingOnOrTheMeanOfItsRows) {
  for (const OffAs as : {OffAs::zero, OffAs::mean}) {
    Edits edits;
    edits.off_as = as;
    switch_off(edits, {0, 1, Stack::self}, true);
    const auto trace = trace_by_ids("gpt2", {5, 3, 12, 9, 2, 3}, edits);
    const auto gradients = gradients_by_words(*trace);
    ASSERT_TRUE(gradients);
    const HeadRef head{0, 1, Stack::self};
    const Matrix of_value = gradient_of_part(**gradients, *trace, PatchAt::v, head);
    if (as == OffAs::zero) EXPECT_EQ(of_value.norm(), 0);
    else expect_slope(*trace, **gradients, PatchAt::v, head, of_value);
  }
}

TEST(Gradients, AreTheSameWithAnyNumberOfThreads) {
  const auto trace = trace_by_ids("llama-gqa", {5, 3, 12, 9, 2, 3});
  Progress progress;
  const auto one = gradients_of(*trace, trace->answering, of_two_words(*trace), progress, 1);
  const auto four = gradients_of(*trace, trace->answering, of_two_words(*trace), progress, 4);
  EXPECT_EQ((*one)->blocks[0].self.key, (*four)->blocks[0].self.key);
  EXPECT_EQ((*one)->blocks[0].output, (*four)->blocks[0].output);
  progress.stop = true;
  EXPECT_FALSE(*gradients_of(*trace, trace->answering, of_two_words(*trace), progress, 1));
}

TEST(Gradients, NameWhatHasNone) {
  for (const auto& [name, part] :
       {std::pair("family-mixtral", "experts"), {"family-deberta-v2", "vectors of distances"}}) {
    const auto gradients = gradients_by_words(*trace_by_ids(name, {5, 3, 12, 9}));
    ASSERT_FALSE(gradients) << name;
    EXPECT_NE(gradients.error().message().find(part), std::string::npos) << gradients.error().message();
  }
  Edits edits;
  edits.dropout = 0.1f;
  EXPECT_FALSE(gradients_by_words(*trace_by_ids("gpt2", {5, 3, 12, 9}, edits)));
}

/// Two answers that are hardly apart: there the estimate is the patch.
struct EstimateCase {
  std::shared_ptr<const Trace> clean, corrupt;
  PatchWanted wanted = {};
};

EstimateCase near_case(const std::string& name, PatchAt at) {
  Edits edits;
  const auto corrupt = trace_by_ids(name, {5, 3, 12, 9, 2, 3});
  edits.scale = corrupt->attention(Stack::self, 0).scale * 1.01f;
  EstimateCase one{trace_by_ids(name, {5, 3, 12, 9, 2, 3}, edits), corrupt};
  one.wanted = {.at = at, .metric = {.metric = Metric::logit_difference, .right = kRight, .wrong = kWrong}};
  for (Index i = 0; i < corrupt->queries(); ++i)
    one.wanted.queries.emplace_back(i, i), one.wanted.keys.emplace_back(i, i);
  return one;
}

TEST(Estimates, OfAnswersThatAreHardlyApartAreThePatches) {
  for (const char* name : {"gpt2", "llama-gqa", "family-gemma2"})
    for (const PatchAt at :
         {PatchAt::heads, PatchAt::pattern, PatchAt::residual, PatchAt::ffn, PatchAt::q, PatchAt::v}) {
      const EstimateCase one = near_case(name, at);
      const auto exact = patch_answers(*one.clean, *one.corrupt, one.wanted, 1);
      const auto estimate = estimate_patches(*one.clean, *one.corrupt, one.wanted, 1, 1);
      ASSERT_TRUE(exact && estimate) << name;
      ASSERT_EQ(exact->cells.size(), estimate->all.size());
      for (std::size_t i = 0; i < exact->cells.size(); ++i)
        EXPECT_NEAR(exact->cells[i].restored, estimate->all[i].restored,
                    0.03 * std::abs(exact->cells[i].restored) + 0.02)
            << name << headlight::name(at) << i;
    }
}

TEST(Estimates, PatchTheLargestAndAsManyAtRandom) {
  const EstimateCase one = near_case("gpt2", PatchAt::heads);
  EstimateCase by_token = one;
  by_token.wanted.by_token = true;
  const auto exact = patch_answers(*one.clean, *one.corrupt, by_token.wanted, 1);
  const auto estimate = estimate_patches(*one.clean, *one.corrupt, by_token.wanted, 5, 1);
  ASSERT_TRUE(exact && estimate);
  ASSERT_EQ(estimate->at.size(), 10u);
  EXPECT_EQ(std::set<std::size_t>(estimate->at.begin(), estimate->at.end()).size(), 10u);
  double least = 1e9, most_of_others = 0;
  std::set<std::size_t> largest;
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(estimate->patched.cells[i].restored, exact->cells[estimate->at[i]].restored) << "to the bit";
    if (!estimate->largest[i]) continue;
    largest.insert(estimate->at[i]);
    least = std::min(least, std::abs(estimate->all[estimate->at[i]].restored));
  }
  for (std::size_t i = 0; i < estimate->all.size(); ++i)
    if (!largest.contains(i)) most_of_others = std::max(most_of_others, std::abs(estimate->all[i].restored));
  EXPECT_EQ(largest.size(), 5u);
  EXPECT_GE(least, most_of_others);
  const auto all = estimate_patches(*one.clean, *one.corrupt, one.wanted, 1000, 1);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->at.size(), all->all.size());
}

TEST(Estimates, OfAProbabilityAndOfADivergenceHaveTheirGradients) {
  for (const Metric metric : {Metric::probability, Metric::kl}) {
    EstimateCase one = near_case("gpt2", PatchAt::residual);
    one.wanted.metric = {.metric = metric, .right = kRight};
    if (metric == Metric::kl) one.wanted.direction = PatchDirection::denoise;
    const auto exact = patch_answers(*one.clean, *one.corrupt, one.wanted, 1);
    const auto estimate = estimate_patches(*one.clean, *one.corrupt, one.wanted, 1, 1);
    ASSERT_TRUE(exact && estimate);
    // A divergence is a square near its end: its slope there is twice the chord.
    const double factor = metric == Metric::kl ? 2 : 1;
    const std::size_t last = exact->cells.size() - 1;
    EXPECT_NEAR(exact->cells[last].restored * factor, estimate->all[last].restored, 0.06);
  }
  EstimateCase rank = near_case("gpt2", PatchAt::heads);
  rank.wanted.metric.metric = Metric::rank;
  EXPECT_FALSE(estimate_patches(*rank.clean, *rank.corrupt, rank.wanted, 1, 1));
}

}  // namespace
}  // namespace headlight
