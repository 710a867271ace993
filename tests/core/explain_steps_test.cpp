#include "explain/steps.h"

#include <gtest/gtest.h>

#include <cmath>

#include "drawn.h"

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::draw;
using reference::random_matrix;

const Step* find(const std::vector<Step>& steps, std::string_view name) {
  for (const Step& step : steps)
    if (step.name == name) return &step;
  return nullptr;
}

const Step& step(const std::vector<Step>& steps, std::string_view name) {
  static const Step none;
  const Step* found = find(steps, name);
  EXPECT_TRUE(found) << name;
  return found ? *found : none;
}

float number(const std::vector<Step>& steps, std::string_view name) {
  const Step& found = step(steps, name);
  EXPECT_EQ(found.value.size(), 1) << name;
  return found.value.size() == 1 ? found.value(0, 0) : std::nanf("");
}

std::vector<std::string> names(const std::vector<Step>& steps) {
  std::vector<std::string> names;
  for (const Step& one : steps) names.push_back(one.name);
  return names;
}

/// Two tokens, two components, one head; every number can be followed by hand.
std::shared_ptr<Model> by_hand() {
  Matrix x(2, 2);
  x << 1, 2, 3, -1;
  auto model = reference::given_model(x, x, x, 1);
  auto& self = model->blocks[0].self;
  self.query.weight = (Matrix(2, 2) << 1, 0, 0, 2).finished();
  self.query.bias = (Vector(2) << 0, 1).finished();
  self.key.weight = (Matrix(2, 2) << 0, 1, 1, 0).finished();
  self.value.weight = (Matrix(2, 2) << 1, 1, 0, 1).finished();
  self.output.weight = (Matrix(2, 2) << 2, 0, 0, 1).finished();
  self.output.bias = (Vector(2) << 0, -1).finished();
  return model;
}

TEST(Steps, OfASmallAttentionAreThoseWorkedOutByHand) {
  Request request = reference::request_for(by_hand());
  request.edits.scale = 0.5f;
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  const auto steps = steps_of(*trace, {}, {0, 1});
  const std::vector<std::string> expected{"x_query",
                                          "W_Q",
                                          "b_Q",
                                          "q",
                                          "x_key",
                                          "W_K",
                                          "k",
                                          "products",
                                          "dot",
                                          "scaled",
                                          "mask",
                                          "scores",
                                          "exponentials",
                                          "sum",
                                          "weight",
                                          "gradient",
                                          "gradient_unscaled",
                                          "x_value",
                                          "W_V",
                                          "v",
                                          "share",
                                          "z",
                                          "concat",
                                          "W_O",
                                          "b_O",
                                          "contribution",
                                          "output"};
  EXPECT_EQ(names(steps), expected);
  // q = (1·1, 2·2 + 1) = (1, 5); k = (-1, 3); products (-1, 15); their sum 14, halved 7.
  EXPECT_EQ(step(steps, "q").value, (Matrix(1, 2) << 1, 5).finished());
  EXPECT_EQ(step(steps, "k").value, (Matrix(1, 2) << -1, 3).finished());
  EXPECT_EQ(step(steps, "products").value, (Matrix(1, 2) << -1, 15).finished());
  EXPECT_EQ(number(steps, "dot"), 14.0f);
  EXPECT_EQ(number(steps, "scaled"), 7.0f);
  EXPECT_EQ(number(steps, "mask"), 0.0f);
  EXPECT_EQ(number(steps, "scores"), 7.0f);
  // The other key: k = (2, 1), score (2 + 5) / 2 = 3.5.
  EXPECT_NEAR(step(steps, "exponentials").value(0, 0), std::exp(-3.5), 1e-6);
  EXPECT_EQ(step(steps, "exponentials").value(0, 1), 1.0f);
  const double weight = 1 / (1 + std::exp(-3.5));
  EXPECT_NEAR(number(steps, "sum"), 1 + std::exp(-3.5), 1e-6);
  EXPECT_NEAR(number(steps, "weight"), weight, 1e-6);
  // Of two keys the Jacobian is p(1 - p) [[1, -1], [-1, 1]], its norm 2p(1 - p); unscaled the scores are 7 apart.
  const double unscaled = 1 / (1 + std::exp(-7));
  EXPECT_NEAR(number(steps, "gradient"), 2 * weight * (1 - weight), 1e-6);
  EXPECT_NEAR(number(steps, "gradient_unscaled"), 2 * unscaled * (1 - unscaled), 1e-7);
  // v = (3 - 1, -1) = (2, -1) of key 1, (3, 2) of key 0.
  EXPECT_EQ(step(steps, "v").value, (Matrix(1, 2) << 2, -1).finished());
  EXPECT_NEAR(step(steps, "share").value(0, 0), 2 * weight, 1e-6);
  EXPECT_NEAR(step(steps, "z").value(0, 0), 2 * weight + 3 * (1 - weight), 1e-6);
  EXPECT_NEAR(step(steps, "output").value(0, 0), 2 * (2 * weight + 3 * (1 - weight)), 1e-5);
  EXPECT_NEAR(step(steps, "output").value(0, 1), -weight + 2 * (1 - weight) - 1, 1e-6);
}

TEST(Steps, NameTheirTerms) {
  Request request = reference::request_for(by_hand());
  request.edits.scale = 0.5f;
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  const auto steps = steps_of(*trace, {}, {0, 1});
  const auto& products = step(steps, "products").terms;
  ASSERT_EQ(products.size(), 2u);
  EXPECT_EQ(products[1].from, "q[1]");
  EXPECT_EQ(products[1].value, 5.0f);
  EXPECT_EQ(products[1].times, "k[1]");
  EXPECT_EQ(products[1].factor, 3.0f);
  const auto& q = step(steps, "q").terms;  // component by component: the products summed, and the bias
  ASSERT_EQ(q.size(), 4u);
  EXPECT_EQ(q[2].from, "x_query·W_Q[1]");
  EXPECT_EQ(q[2].value, 4.0f);
  EXPECT_EQ(q[3].from, "b_Q[1]");
  EXPECT_EQ(q[3].value, 1.0f);
  const auto& scaled = step(steps, "scaled").terms;
  ASSERT_EQ(scaled.size(), 1u);
  EXPECT_EQ(scaled[0].from, "dot");
  EXPECT_EQ(scaled[0].value, 14.0f);
  EXPECT_EQ(scaled[0].times, "scale");
  EXPECT_EQ(scaled[0].factor, 0.5f);
  const auto& scores = step(steps, "scores").terms;
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores[0].from, "scaled");
  EXPECT_EQ(scores[1].from, "mask");
  const auto& weight = step(steps, "weight").terms;
  ASSERT_EQ(weight.size(), 2u);
  EXPECT_EQ(weight[0].from, "exponentials[1]");
  EXPECT_EQ(weight[1].from, "sum");
  EXPECT_EQ(step(steps, "z").terms[1].times, "v of key 1");
}

/// A worked example of many tutorials: words of four numbers, projected to three, three words.
TEST(Steps, OfEmbeddingsOfFourNumbersEndInTheTextbooksScores) {
  Matrix x(3, 4);
  x << 1, 0, 1, 0, 0, 2, 0, 2, 1, 1, 1, 1;
  auto model = reference::given_model(x, x, x, 1);
  auto& self = model->blocks[0].self;
  self.query.weight = (Matrix(4, 3) << 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1).finished().transpose();
  self.key.weight = (Matrix(4, 3) << 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0).finished().transpose();
  self.value.weight = (Matrix(4, 3) << 0, 2, 0, 0, 3, 0, 1, 0, 3, 1, 1, 0).finished().transpose();
  Request request = reference::request_for(model);
  request.edits.scale = 1.0f;
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  // q of the first word (1, 0, 2); k (0, 1, 1), (4, 4, 0), (2, 3, 1); scores 2, 4, 4;
  // v (1, 2, 3), (2, 8, 0), (2, 6, 3).
  const double weights[] = {1 / (1 + 2 * std::exp(2)), 1 / (std::exp(-2) + 2), 1 / (std::exp(-2) + 2)};
  const float scores[] = {2, 4, 4};
  for (Index key = 0; key < 3; ++key) {
    const auto steps = steps_of(*trace, {}, {0, key});
    EXPECT_EQ(step(steps, "q").value, (Matrix(1, 3) << 1, 0, 2).finished());
    EXPECT_EQ(number(steps, "scores"), scores[key]);
    EXPECT_NEAR(number(steps, "weight"), weights[key], 1e-6);
    const Matrix& z = step(steps, "z").value;
    EXPECT_NEAR(z(0, 0), 1 * weights[0] + 2 * weights[1] + 2 * weights[2], 1e-6);
    EXPECT_NEAR(z(0, 1), 2 * weights[0] + 8 * weights[1] + 6 * weights[2], 1e-5);
    EXPECT_NEAR(z(0, 2), 3 * weights[0] + 0 * weights[1] + 3 * weights[2], 1e-6);
  }
}

void expect_near(const Matrix& a, const Matrix& b, const std::string& what) {
  ASSERT_EQ(a.rows(), b.rows()) << what;
  ASSERT_EQ(a.cols(), b.cols()) << what;
  for (Index i = 0; i < a.size(); ++i) {
    const float x = a.data()[i], y = b.data()[i];
    EXPECT_TRUE(x == y || std::abs(x - y) <= 1e-5f * std::max(1.0f, std::abs(y))) << what << ": " << x << ", " << y;
  }
}

/// How the steps must agree with each other, in any model.
void expect_consistent(const Trace& trace, const HeadRef& head, const CellRef& cell) {
  const auto steps = steps_of(trace, head, cell);
  for (const Step& one : steps) {
    EXPECT_EQ(find(steps, one.name), &one) << one.name << " comes twice";
    EXPECT_FALSE(one.title.empty());
    if (one.addends) continue;
    const Matrix from = rows_of(trace, one.id, one.row, one.value.rows());
    expect_near(one.value, from.middleCols(one.col, one.value.cols()), one.name);
    EXPECT_EQ(one.shape, shape(trace, one.id)) << one.name;
  }
  const AttentionTrace& attention = trace.attention(head.stack, head.layer);
  const float weight = attention_rows(trace, head, cell.query, 1)(0, cell.key);
  EXPECT_EQ(number(steps, "weight"), weight);
  if (attention.patterns) return;
  expect_near(step(steps, "dot").value, Matrix::Constant(1, 1, step(steps, "products").value.sum()), "dot");
  EXPECT_NEAR(number(steps, "sum"), step(steps, "exponentials").value.sum(), 1e-5);
  expect_near(step(steps, "share").value, weight * step(steps, "v").value, "share");
  const Matrix output = rows_of(trace, matrix_id(Quantity::attention_output, head), cell.query, 1);
  expect_near(step(steps, "output").value, output, "output");
  // The heads' contributions and the bias are the output.
  Matrix sum = Matrix::Zero(1, output.cols());
  for (Index h = 0; h < attention.num_heads(); ++h)
    sum += rows_of(trace, matrix_id(Quantity::contribution, {head.layer, h, head.stack}), cell.query, 1);
  if (const Step* bias = find(steps, "b_O")) sum += bias->value;
  expect_near(sum, output, "contributions");
  // They also are the sum of the terms of the last step.
  Matrix told = Matrix::Zero(1, output.cols());
  const auto& terms = step(steps, "output").terms;
  const auto each = terms.size() / static_cast<std::size_t>(told.cols());
  for (std::size_t i = 0; i < terms.size(); ++i) told(0, static_cast<Index>(i / each)) += terms[i].value;
  expect_near(told, output, "terms of the output");
}

TEST(Steps, AgreeWithOneAnotherInModelsDrawnAtRandom) {
  Random random(311);
  for (int round = 0; round < 60; ++round) {
    const auto trace = ask(reference::drawn_request(random, {.least_width = 4, .longest = 6}));
    ASSERT_TRUE(trace);
    reference::for_each_head(*trace, [&](const HeadRef& head) {
      const CellRef cell{draw(random, 0, trace->queries(head.stack) - 1), draw(random, 0, trace->keys(head.stack) - 1)};
      SCOPED_TRACE("round " + std::to_string(round) + ", layer " + std::to_string(head.layer));
      expect_consistent(*trace, head, cell);
    });
    if (HasFailure()) return;
  }
}

TEST(Steps, OfRotaryPositionsAndNormsOfHeadsShowWhatComesBetween) {
  const Config config{.d_model = 8, .num_heads = 2, .num_layers = 1, .position = Position::rotary};
  auto model = std::make_shared<Model>(*random_model(config));
  const NormWeights norm{.scale = Vector::Constant(4, 1.5f), .shift = {}, .kind = NormKind::rms_norm};
  model->blocks[0].self.query_norm = norm;
  const auto trace = ask({.model = model, .config = config, .tokens = counted(4)});
  ASSERT_TRUE(trace);
  const auto steps = steps_of(*trace, {0, 1, Stack::self}, {3, 2});
  EXPECT_TRUE(find(steps, "q_projected"));
  EXPECT_TRUE(find(steps, "q_normed"));
  EXPECT_TRUE(find(steps, "k_projected"));
  EXPECT_FALSE(find(steps, "k_normed"));
  const auto& q = step(steps, "q").terms;
  ASSERT_EQ(q.size(), 8u);  // each component of two: cosine and sine
  EXPECT_EQ(q[0].from, "q_normed[0]");
  EXPECT_EQ(q[1].from, "q_normed[2]");
  EXPECT_NEAR(*q[0].factor, std::cos(3.0), 1e-6);
  EXPECT_NEAR(*q[1].factor, -std::sin(3.0), 1e-6);
}

TEST(Steps, TellOfEdits) {
  Request request{.config = {.d_model = 8, .num_heads = 2, .num_layers = 1}, .tokens = counted(4)};
  set_weight(request.edits, {}, {1, 2}, 0.75f);
  switch_off(request.edits, {0, 1, Stack::self}, true);
  request.edits.off_as = OffAs::mean;
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  auto steps = steps_of(*trace, {}, {1, 2});
  EXPECT_EQ(number(steps, "weight"), 0.75f);
  EXPECT_EQ(step(steps, "weight").terms.front().from, "set");
  EXPECT_NE(number(steps, "softmax"), 0.75f);
  steps = steps_of(*trace, {}, {1, 0});
  const auto& shared = step(steps, "weight").terms;
  ASSERT_EQ(shared.size(), 3u);
  EXPECT_EQ(shared[0].from, "softmax");
  EXPECT_NEAR(number(steps, "weight"), shared[0].value * 0.25f / shared[2].value, 1e-6);
  steps = steps_of(*trace, {0, 1, Stack::self}, {1, 0});
  EXPECT_TRUE(find(steps, "head_output"));
  const Matrix before = whole(*trace, matrix_id(Quantity::head_output, {0, 1, Stack::self}));
  expect_near(step(steps, "z").value, before.colwise().mean(), "mean");
}

TEST(Steps, OfABlockedCellAreAWeightOfZero) {
  const auto trace =
      ask({.config = {.d_model = 8, .num_heads = 2, .num_layers = 1}, .tokens = counted(4), .mask = {.causal = true}});
  ASSERT_TRUE(trace);
  const auto steps = steps_of(*trace, {}, {1, 3});
  EXPECT_EQ(number(steps, "mask"), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isfinite(number(steps, "scaled")));
  EXPECT_EQ(number(steps, "weight"), 0.0f);
}

TEST(Steps, OfAPatternComputedElsewhereInventNothing) {
  auto model = reference::given_model(Matrix::Zero(2, 1), Matrix::Zero(2, 1), Matrix::Zero(2, 1), 1);
  model->given->stacks.at(Stack::self).patterns = {{(Matrix(2, 2) << 0.25f, 0.75f, 0.5f, 0.5f).finished()}};
  const auto open = ask(reference::request_for(model));
  ASSERT_TRUE(open);
  const auto steps = steps_of(*open, {}, {0, 1});
  EXPECT_EQ(names(steps), std::vector<std::string>{"weight"});
  EXPECT_EQ(number(steps, "weight"), 0.75f);
  EXPECT_TRUE(steps[0].terms.empty());
  Request edited = reference::request_for(model, {.causal = true});
  edited.edits.dropout = 0.25f;
  const auto masked = ask(edited);
  ASSERT_TRUE(masked);
  const std::vector<std::string> expected{"given",        "logarithm", "mask",    "scores",
                                          "exponentials", "sum",       "softmax", "weight"};
  EXPECT_EQ(names(steps_of(*masked, {}, {1, 0})), expected);
  expect_consistent(*masked, {}, {1, 0});
}

}  // namespace
}  // namespace headlight
