#include "explain/cell.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

#include "drawn.h"
#include "evaluated.h"
#include "explained.h"

namespace headlight {
namespace {

using reference::all_matrices;
using reference::ask;
using reference::counted;
using reference::evaluate;
using reference::listed_matrices;
using reference::random_matrix;

using Q = Quantity;

bool near(float a, float b, float magnitude = 1) {
  if (a == b) return true;  // infinite ones too
  return std::abs(a - b) <= 1e-6f * std::max({1.0f, magnitude, std::abs(a), std::abs(b)});
}

/// How much larger than the number its rounding is: a norm of numbers that lie close together magnifies the last bit of
/// each by the largest of them over their spread; of a sum the largest addend counts, not what it leaves.
float magnified(const Cell& cell) {
  if (cell.operation == Operation::sum || cell.operation == Operation::dot_product) {
    float largest = 1;
    for (const Term& term : cell.terms) largest = std::max(largest, std::abs(term.contribution));
    return largest;
  }
  const auto spread = constant(cell, cell.operation == Operation::layer_norm ? "variance" : "mean square");
  if (!spread) return 1;
  float largest = 0, scale = 1;
  for (const Term& term : cell.terms) {
    if (term.from.id == cell.terms.front().from.id) largest = std::max(largest, std::abs(term.from.value));
    else scale = std::max(scale, std::abs(term.from.value));
  }
  return largest * scale / static_cast<float>(std::sqrt(*spread + *constant(cell, "epsilon")));
}

/// Whole matrices, each computed once.
class Values {
 public:
  explicit Values(const Trace& trace) : trace_(trace) {}
  const Matrix& of(const MatrixId& id) {
    const auto at = kept_.find(id);
    return at != kept_.end() ? at->second : kept_.emplace(id, whole(trace_, id)).first->second;
  }

 private:
  const Trace& trace_;
  std::map<MatrixId, Matrix> kept_;
};

/// How many cells of the matrix are not found again from their terms, or have a term whose cell holds another value.
int wrong_cells(const Trace& trace, const MatrixId& id, Values& values) {
  const Matrix& matrix = values.of(id);
  int wrong = 0;
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Index col = 0; col < matrix.cols(); ++col) {
      const Cell cell = explain_cell(trace, id, row, col);
      bool right = cell.value == matrix(row, col) && near(evaluate(cell), matrix(row, col), magnified(cell));
      for (const Term& term : cell.terms) {
        right = right && near(term.from.value, values.of(term.from.id)(term.from.row, term.from.col));
        if (term.times) right = right && near(term.factor, values.of(term.times->id)(term.times->row, term.times->col));
      }
      if (!right && ++wrong == 1)
        ADD_FAILURE() << path(trace, id) << " (" << row << ", " << col << "): " << formula(trace, id) << "\nshown "
                      << matrix(row, col) << ", cell " << cell.value << ", from its terms " << evaluate(cell);
    }
  }
  return wrong;
}

void expect_answerable(const Trace& trace, const std::string& what) {
  SCOPED_TRACE(what);
  Values values(trace);
  for (const MatrixId& id : all_matrices(trace)) {
    const Shape expected = shape(trace, id);
    ASSERT_EQ(values.of(id).rows(), expected.rows) << path(trace, id);
    ASSERT_EQ(values.of(id).cols(), expected.cols) << path(trace, id);
    ASSERT_EQ(wrong_cells(trace, id, values), 0) << path(trace, id);
  }
}

TEST(ExplainedCells, AreFoundAgainFromTheirTermsInModelsDrawnAtRandom) {
  Random random(301);
  for (int round = 0; round < 20; ++round) {
    const auto trace = ask(reference::drawn_request(random, {.least_width = 4, .longest = 5}));
    ASSERT_TRUE(trace);
    expect_answerable(*trace, "round " + std::to_string(round));
    if (HasFailure()) return;
  }
}

TEST(ExplainedCells, AreFoundAgainWherePartsOfBlocksAreOff) {
  Random random(302);
  for (int round = 0; round < 20; ++round) {
    Request request = reference::drawn_request(random, {.least_width = 4, .longest = 4});
    reference::draw_parts_off(random, request);
    const auto trace = ask(request);
    ASSERT_TRUE(trace);
    expect_answerable(*trace, "round " + std::to_string(round));
    if (HasFailure()) return;
  }
}

/// One thing set apart from a model that has everything.
TEST(ExplainedCells, AreFoundAgainForEverySetting) {
  const Config base{
      .arch = Arch::encoder_decoder, .d_model = 6, .num_heads = 2, .num_layers = 2, .encoder_layers = 1, .ffn = 5};
  std::vector<Config> configs;
  for (const Arch arch : {Arch::encoder, Arch::decoder, Arch::encoder_decoder})
    for (const Norm norm : {Norm::post, Norm::pre})
      for (const NormKind kind : {NormKind::layer_norm, NormKind::rms_norm}) {
        Config config = base;
        config.arch = arch;
        config.norm = norm;
        config.norm_kind = kind;
        configs.push_back(config);
      }
  for (const Activation activation :
       {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu, Activation::quick_gelu})
    for (const bool gated : {false, true}) {
      Config config = base;
      config.activation = activation;
      config.gated = gated;
      configs.push_back(config);
    }
  for (const Position position :
       {Position::none, Position::sinusoidal, Position::sinusoidal_halves, Position::learned, Position::rotary}) {
    Config config = base;
    config.position = position;
    config.head_dim = 4;
    config.num_heads = 4;
    config.num_kv_heads = 2;
    config.bias = {.query = false, .key = true, .value = false, .output = false, .ffn = false};
    configs.push_back(config);
  }
  for (const Config& config : configs) {
    Request request{
        .config = config, .vocabulary = reference::counted_words(7), .tokens = counted(4), .mask = {.causal = true}};
    if (config.arch == Arch::encoder_decoder) request.target = counted(3);
    const auto trace = ask(request);
    ASSERT_TRUE(trace);
    expect_answerable(*trace, std::string(name(config.arch)) + " " + std::string(name(config.norm)) + " " +
                                  std::string(name(config.position)) + " " + std::string(name(config.activation)));
  }
}

TEST(ExplainedCells, AreFoundAgainWithEditsOfEveryKind) {
  for (const OffAs off_as : {OffAs::zero, OffAs::mean})
    for (const float dropout : {0.0f, 0.4f}) {
      Request request{.config = {.arch = Arch::decoder, .d_model = 8, .num_heads = 2, .num_layers = 2, .ffn = 0},
                      .tokens = counted(5),
                      .mask = {.causal = true}};
      request.edits = {.off_as = off_as, .dropout = dropout, .dropout_seed = 4};
      switch_off(request.edits, {0, 1, Stack::self}, true);
      set_weight(request.edits, {0, 0, Stack::self}, {3, 1}, 0.7f);
      set_weight(request.edits, {0, 0, Stack::self}, {3, 4}, 0.2f);  // a cell that the mask blocks
      set_weight(request.edits, {1, 1, Stack::self}, {0, 0}, 0.5f);  // the only one of its row
      set_weight(request.edits, {1, 1, Stack::self}, {2, 0}, 1.0f);
      set_weight(request.edits, {1, 1, Stack::self}, {2, 1}, 1.0f);  // more than there is to share
      set_layer_edit(request.edits, {.layer = 1, .scale = 2.0f, .mask = MaskSpec{.painted = {{4, 2, false}}}});
      const auto trace = ask(request);
      ASSERT_TRUE(trace);
      expect_answerable(*trace, "edits");
      const HeadRef edited{0, 0, Stack::self};
      const auto operation = [&](Index query, Index key) {
        return explain_cell(*trace, matrix_id(Q::weights, edited), query, key).operation;
      };
      EXPECT_EQ(operation(3, 1), Operation::set_by_hand);
      EXPECT_EQ(operation(3, 0), Operation::share_of_rest);
      EXPECT_EQ(operation(2, 0), Operation::copy);
      EXPECT_EQ(exists(*trace, matrix_id(Q::dropped, edited)), dropout > 0);
      EXPECT_TRUE(exists(*trace, matrix_id(Q::head_output, {0, 1, Stack::self})));
      EXPECT_FALSE(exists(*trace, matrix_id(Q::head_output, edited)));
    }
}

/// Random numbers in half precision, as a checkpoint may keep them.
Linear half_linear(Random& random, Index out, Index in) {
  const auto bytes = std::make_shared<std::vector<std::uint16_t>>();
  const Matrix drawn = random_matrix(random, out, in);
  for (Index i = 0; i < drawn.size(); ++i)
    bytes->push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(drawn.data()[i]) >> 16));
  StoredMatrix half{.kind = StoredMatrix::Kind::bfloat16,
                    .rows = out,
                    .cols = in,
                    .bytes = reinterpret_cast<const char*>(bytes->data()),
                    .file = bytes};
  return {.weight = {}, .bias = random_matrix(random, 1, out), .stored = std::make_shared<const StoredMatrix>(half)};
}

TEST(ExplainedCells, OfWhatOnlyCheckpointsHaveAreFoundAgain) {
  Random random(308);
  const Index d = 6, narrow = 4;
  const Config config{.arch = Arch::encoder_decoder,
                      .d_model = d,
                      .num_heads = 2,
                      .num_layers = 2,
                      .ffn = 5,
                      .position = Position::learned,
                      .activation = Activation::gelu};
  for (const bool normed : {false, true}) {
    auto model = std::make_shared<Model>(*random_model(config));
    for (StackWeights* stack : {static_cast<StackWeights*>(model.get()), &*model->encoder}) {
      Embeddings& embeddings = stack->embeddings;
      embeddings.tokens = table_of(random_matrix(random, 9, narrow));
      embeddings.positions = random_matrix(random, 12, narrow);
      embeddings.first_position = 2;
      embeddings.pad_id = 1;
      embeddings.scale = 2.0f;
      embeddings.token_types = random_matrix(random, 2, narrow);
      if (normed) embeddings.norm = reference::drawn_norm(random, narrow, NormKind::layer_norm);
      embeddings.projection = {.weight = random_matrix(random, d, narrow), .bias = random_matrix(random, 1, d)};
      const RelativeBias bias{
          .table = random_matrix(random, 4, 2), .bidirectional = stack != model.get(), .max_distance = 6};
      for (BlockWeights& block : stack->blocks) {
        block.self.relative_bias = std::make_shared<const RelativeBias>(bias);
        block.self.scale = 1.0f;
        block.self.query = half_linear(random, d, d);
        block.self.output = half_linear(random, d, d);
        block.up = half_linear(random, 5, d);
      }
    }
    model->output = OutputWeights{.weight = table_of(random_matrix(random, 7, narrow))};
    model->output->transform = {.weight = random_matrix(random, narrow, d), .bias = random_matrix(random, 1, narrow)};
    model->output->activation = Activation::silu;
    if (normed) model->output->transform_norm = reference::drawn_norm(random, narrow, NormKind::layer_norm);
    Request request{.model = model, .config = config, .tokens = counted(5), .target = counted(4)};
    for (Tokens* tokens : {&request.tokens, &request.target})
      for (std::size_t t = 0; t < tokens->size(); ++t) tokens->tokens[t].id = static_cast<std::int64_t>(t % 4);
    const auto trace = ask(request);
    ASSERT_TRUE(trace);
    expect_answerable(*trace, normed ? "with norms" : "without norms");
    EXPECT_TRUE(exists(*trace, matrix_id(Q::relative_bias)));
    EXPECT_FALSE(exists(*trace, matrix_id(Q::relative_bias, {.stack = Stack::cross})));
    EXPECT_EQ(exists(*trace, matrix_id(Q::transformed)), normed);
    const auto list = listed_matrices(*trace);
    const std::set<MatrixId> listed(list.begin(), list.end());
    for (const Q quantity : {Q::token_lookup, Q::embedding_sum, Q::embedding_projection_weight, Q::relative_bias,
                             Q::transform, Q::activated_transform, Q::logits})
      EXPECT_TRUE(listed.contains(matrix_id(quantity))) << path(*trace, matrix_id(quantity));
  }
}

TEST(ExplainedCells, OfTensorsFilesAreFoundAgain) {
  Random random(302);
  for (const bool projected : {false, true}) {
    auto model = reference::given_model(random_matrix(random, 3, 4), random_matrix(random, 5, 4),
                                        random_matrix(random, 5, projected ? 3 : 4), 2);
    if (projected) {
      auto& self = model->blocks[0].self;
      self.query = {random_matrix(random, 6, 4), random_matrix(random, 1, 6)};
      self.key = {random_matrix(random, 6, 4), {}};
      self.value = {random_matrix(random, 2, 3), random_matrix(random, 1, 2)};
      self.output = {random_matrix(random, 7, 2), random_matrix(random, 1, 7)};
    } else {
      model->blocks[0].self.output.bias = random_matrix(random, 1, 4);
    }
    const auto trace = ask(reference::request_for(model, {.causal = true}));
    ASSERT_TRUE(trace);
    expect_answerable(*trace, projected ? "projected" : "bare");
    EXPECT_EQ(path(*trace, matrix_id(Q::query, {0, 1, Stack::self})), "attention.0.self.1.query");
    EXPECT_FALSE(exists(*trace, matrix_id(Q::attention_sum)));
    EXPECT_EQ(origin(*trace, matrix_id(Q::last_hidden_state)), matrix_id(Q::attention_output));
  }
}

std::shared_ptr<Model> pattern_model(Random& random, Index queries, Index keys) {
  auto model = reference::given_model(Matrix::Zero(queries, 1), Matrix::Zero(keys, 1), Matrix::Zero(keys, 1), 2);
  std::vector<Matrix> heads;
  for (int head = 0; head < 2; ++head) {
    Matrix pattern = random_matrix(random, queries, keys).cwiseAbs();
    for (Index q = 0; q < queries; ++q) pattern.row(q) /= pattern.row(q).sum();
    heads.push_back(std::move(pattern));
  }
  model->given->stacks.at(Stack::self).patterns = {heads};
  return model;
}

TEST(ExplainedCells, OfPatternsComputedElsewhereAreThePatternAndWhatWasDoneToIt) {
  Random random(303);
  const auto model = pattern_model(random, 3, 4);
  const auto open = ask(reference::request_for(model));
  ASSERT_TRUE(open);
  EXPECT_EQ(all_matrices(*open).size(), 4u);  // softmax and weights of two heads
  EXPECT_EQ(explain_cell(*open, matrix_id(Q::weights), 1, 2).operation, Operation::given);
  expect_answerable(*open, "open");
  Request masked = reference::request_for(model, {.causal = true});
  set_weight(masked.edits, {0, 1, Stack::self}, {1, 0}, 0.9f);
  masked.edits.dropout = 0.3f;
  const auto trace = ask(masked);
  ASSERT_TRUE(trace);
  EXPECT_TRUE(exists(*trace, matrix_id(Q::given_weights)));
  EXPECT_FALSE(exists(*trace, matrix_id(Q::query)));
  EXPECT_FALSE(exists(*trace, matrix_id(Q::z)));
  expect_answerable(*trace, "masked");
}

}  // namespace
}  // namespace headlight
