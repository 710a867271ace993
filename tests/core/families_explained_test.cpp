// The families whose blocks differ from the textbook's: the plain formulas and the explanation know every difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "core/checkpoints.h"
#include "evaluated.h"
#include "explain/cell.h"
#include "explain/softmax_gradient.h"
#include "explain/steps.h"
#include "explained.h"
#include "reference.h"

namespace headlight {
namespace {

using namespace checkpoints;
using reference::all_matrices;
using reference::evaluate;
using reference::listed_matrices;
using Q = Quantity;

constexpr const char* kFamilies[] = {"gpt_neox",
                                     "gpt_neox-sequential",
                                     "gptj",
                                     "phi",
                                     "falcon-7b",
                                     "falcon-40b",
                                     "falcon-sequential",
                                     "gemma2",
                                     "gemma3",
                                     "olmo2",
                                     "mixtral",
                                     "qwen2_moe",
                                     "qwen3_moe",
                                     "mistral-window",
                                     "bloom",
                                     "modernbert",
                                     "deberta-v3",
                                     "deberta-v2",
                                     "phi3",
                                     "qwen3",
                                     "smollm3",
                                     "gemma",
                                     "falcon-rw",
                                     "headlight-sinks",
                                     "headlight-sinks-bf16"};

/// Biases of distances or positions are not in the textbook.
bool in_textbook(const std::string& family) { return family != "bloom" && family != "falcon-rw"; }

std::shared_ptr<const Trace> asked(const std::string& family, std::shared_ptr<const Model>& model) {
  const auto checkpoint = read_checkpoint(kGolden / ("family-" + family));
  EXPECT_TRUE(checkpoint) << family;
  if (!checkpoint) return nullptr;
  model = checkpoint->model;
  const auto answer = forward(request_for(model, tokens_of_ids({5, 44, 12, 12, 7, 3})));
  EXPECT_TRUE(answer) << family;
  return answer ? *answer : nullptr;
}

TEST(FamilyFormulas, AgreeWithTheTextbook) {
  for (const std::string family : kFamilies) {
    if (!in_textbook(family)) continue;
    SCOPED_TRACE(family);
    std::shared_ptr<const Model> model;
    auto trace = asked(family, model);
    ASSERT_TRUE(trace);
    if (model->output && !model->output->transform.is_identity()) {  // not of the textbook
      auto without = std::make_shared<Model>(*model);
      without->output.reset();
      trace = *forward(request_for(without, trace->request.tokens));
    }
    const reference::Apart apart = reference::compare(*trace);
    EXPECT_LE(apart.weights, 2e-5);
    EXPECT_LE(apart.states, 2e-5);
    EXPECT_LE(apart.logits, 2e-5);
  }
}

/// Without its residuals, its norms, its feed-forwards, or all of them.
TEST(FamilyFormulas, AgreeWithTheTextbookWithoutTheirParts) {
  for (const std::string family : kFamilies) {
    if (!in_textbook(family)) continue;
    std::shared_ptr<const Model> model;
    auto trace = asked(family, model);
    ASSERT_TRUE(trace);
    auto without = std::make_shared<Model>(*model);
    without->output.reset();
    for (const PartsOff parts : {PartsOff{.residual = true}, {.norm = true}, {.ffn = true}, {true, true, true}}) {
      SCOPED_TRACE(family + (parts.residual ? " residual" : "") + (parts.norm ? " norm" : "") +
                   (parts.ffn ? " ffn" : ""));
      Request request = request_for(without, trace->request.tokens);
      request.edits.layers = {{.layer = 0, .parts = parts}};
      const auto answer = forward(request);
      ASSERT_TRUE(answer) << answer.error().message();
      const reference::Apart apart = reference::compare(**answer);
      EXPECT_LE(apart.weights, 2e-5);
      EXPECT_LE(apart.states, 2e-5);
      for (const MatrixId& id : all_matrices(**answer)) {
        const Matrix matrix = whole(**answer, id);
        const Shape expected = shape(**answer, id);
        ASSERT_TRUE(matrix.rows() == expected.rows && matrix.cols() == expected.cols) << path(**answer, id);
      }
      EXPECT_TRUE(same(whole(**answer, matrix_id(Q::block_output)), (*answer)->blocks[0].output));
    }
  }
}

/// A score is more than q·k: gemma2 caps it, mpnet and bloom add a bias of distances, deberta-v3 products with
/// distances.
TEST(FamilyFormulas, AnotherScaleKeepsEveryOtherPartOfAScore) {
  for (const std::string family : {"gemma2", "mpnet", "bloom", "deberta-v3", "falcon-rw", "headlight-sinks"}) {
    SCOPED_TRACE(family);
    std::shared_ptr<const Model> model;
    const auto trace = asked(family, model);
    ASSERT_TRUE(trace);
    const Index rows = trace->queries();
    const ScaleEffect effect = scale_effect(*trace, {}, 0, rows);
    ASSERT_EQ(effect.other.size(), rows);
    Request request = request_for(model, trace->request.tokens);
    request.edits.layers = {{.layer = 0, .scale = effect.other_scale}};
    const auto answer = forward(request);
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(effect.other, scale_effect(**answer, {}, 0, rows).gradient);
  }
}

/// The largest number that the cell was made of; of a norm, over the spread of its row.
float size_of(const Cell& cell) {
  float largest = std::max(1.0f, std::abs(cell.value));
  for (const Term& term : cell.terms)
    largest = std::max({largest, std::abs(term.contribution), std::abs(term.from.value)});
  const auto spread = constant(cell, cell.operation == Operation::layer_norm ? "variance" : "mean square");
  return spread ? largest * largest / static_cast<float>(std::sqrt(std::min(1.0, *spread + 1e-6))) : largest;
}

TEST(FamilyExplanations, FindEveryNumberAgain) {
  for (const std::string family : kFamilies) {
    std::shared_ptr<const Model> model;
    const auto trace = asked(family, model);
    ASSERT_TRUE(trace);
    for (const MatrixId& id : all_matrices(*trace)) {
      const Matrix matrix = whole(*trace, id);
      const Shape expected = shape(*trace, id);
      ASSERT_TRUE(matrix.rows() == expected.rows && matrix.cols() == expected.cols) << family << path(*trace, id);
      ASSERT_FALSE(formula(*trace, id).empty()) << family << path(*trace, id);
      for (Index i = 0; i<matrix.size(); i += matrix.size()> 100 ? 11 : 1) {
        const Index row = i / matrix.cols(), col = i % matrix.cols();
        const Cell cell = explain_cell(*trace, id, row, col);
        ASSERT_EQ(cell.value, matrix(row, col)) << family << " " << path(*trace, id);
        const float again = evaluate(cell);
        if (again == cell.value) continue;
        ASSERT_LE(std::abs(again - cell.value), 2e-6f * size_of(cell))
            << family << " " << path(*trace, id) << " (" << row << ", " << col << ") " << formula(*trace, id);
      }
    }
  }
}

TEST(FamilyExplanations, ListEveryMatrixOfItsOwn) {
  for (const std::string family : kFamilies) {
    std::shared_ptr<const Model> model;
    const auto trace = asked(family, model);
    ASSERT_TRUE(trace);
    const auto list = listed_matrices(*trace);
    const std::set<MatrixId> listed(list.begin(), list.end());
    for (const MatrixId& id : all_matrices(*trace))
      EXPECT_EQ(listed.contains(id), origin(*trace, id) == id && id.quantity != Q::softmax)
          << family << " " << path(*trace, id);
  }
}

std::set<std::string> steps_in(const std::string& family) {
  std::shared_ptr<const Model> model;
  const auto trace = asked(family, model);
  std::set<std::string> names;
  if (!trace) return names;
  for (const Step& step : steps_of(*trace, {0, 1}, {3, 2})) names.insert(step.name);
  return names;
}

TEST(FamilyExplanations, TellWhatTheFamilyDoesToTheScores) {
  EXPECT_TRUE(steps_in("gemma2").contains("capped"));
  EXPECT_FALSE(steps_in("gemma3").contains("capped"));
  EXPECT_TRUE(steps_in("gemma3").contains("q_normed"));
  EXPECT_TRUE(steps_in("olmo2").contains("q_normed"));
  const auto deberta = steps_in("deberta-v3");
  for (const char* term : {"scaled", "content_to_position", "position_to_content"})
    EXPECT_TRUE(deberta.contains(term)) << term;
}

/// What a sink takes is missing in the row, and the steps name the sink.
TEST(FamilyExplanations, TellWhatASinkTakes) {
  std::shared_ptr<const Model> model;
  const auto trace = asked("headlight-sinks", model);
  ASSERT_TRUE(trace);
  EXPECT_FALSE(steps_in("gemma2").contains("sink"));
  for (const HeadRef head : {HeadRef{0, 0}, HeadRef{1, 2}}) {
    const Matrix weights = whole(*trace, matrix_id(Q::weights, head));
    const Matrix scores = whole(*trace, matrix_id(Q::scores, head));
    const double sink = model->blocks[static_cast<std::size_t>(head.layer)].self.sinks(head.head);
    for (Index row = 0; row < weights.rows(); ++row) {
      double words = 0;
      for (Index key = 0; key <= row; ++key) words += std::exp(double(scores(row, key)));
      EXPECT_NEAR(weights.row(row).sum(), words / (words + std::exp(sink)), 1e-6) << row;
      EXPECT_LT(weights.row(row).sum(), 1 - 1e-4);
    }
    bool told = false;
    for (const Step& step : steps_of(*trace, head, {3, 2})) {
      if (step.name == "sink") { EXPECT_EQ(step.value(0, 0), static_cast<float>(sink)); }
      if (step.name != "sum") continue;
      told = true;
      double sum = 0;
      for (const StepTerm& term : step.terms) sum += term.value;
      EXPECT_NEAR(sum, step.value(0, 0), 1e-5);
      EXPECT_EQ(step.terms.back().from, "exp(sink)");
    }
    EXPECT_TRUE(told);
  }
}

/// A mixture shows which experts a token goes through, and what each of them adds.
TEST(FamilyExplanations, ShowTheRouting) {
  for (const auto& [family, chosen, to_one] : {std::tuple{"mixtral", 2, true}, {"qwen2_moe", 3, false}}) {
    std::shared_ptr<const Model> model;
    const auto trace = asked(family, model);
    ASSERT_TRUE(trace);
    const Matrix routing = whole(*trace, matrix_id(Q::routing, {1, 0}));
    for (Index token = 0; token < routing.rows(); ++token) {
      EXPECT_EQ((routing.row(token).array() > 0).count(), chosen) << family;
      EXPECT_EQ(std::abs(routing.row(token).sum() - 1.0f) < 1e-6f, to_one) << family;
    }
    const Cell cell = explain_cell(*trace, matrix_id(Q::ffn_output, {1, 0}), 2, 5);
    EXPECT_EQ(cell.terms.size(), static_cast<std::size_t>(chosen + (model->blocks[1].experts->shared ? 1 : 0)));
  }
}

}  // namespace
}  // namespace headlight
