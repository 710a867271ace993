// Programs as data: what a line states of its tensor is true of the matrix that it shows. tests/python/test_code.py
// runs the programs and shows that they compute what Headlight computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "code/program.h"
#include "math/forward.h"

namespace headlight {
namespace {

std::vector<std::shared_ptr<const Trace>> answers_to(const Config& config, std::size_t sentences,
                                                     std::size_t tokens = 5) {
  std::vector<std::shared_ptr<const Trace>> answers;
  for (std::size_t i = 0; i < sentences; ++i) {
    Request request{.config = config};
    for (Tokens* side : {&request.tokens, &request.target})
      for (std::size_t t = 0; t < (side == &request.tokens ? tokens : tokens - 2); ++t) {
        const std::string word = std::to_string(10 * i + t);
        side->tokens.push_back({.id = hashed_id(word),
                                .text = word,
                                .raw = word,
                                .begin = side->text.size(),
                                .end = side->text.size() + word.size()});
        side->text += word;
      }
    request.mask.causal = config.arch != Arch::encoder;
    const auto trace = forward(request);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().message());
    answers.push_back(*trace);
  }
  return answers;
}

const Config kTwoLayers{.d_model = 12, .num_heads = 3, .num_layers = 2, .ffn = 8};

Index product_of(const std::vector<Index>& shape) {
  return std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
}

TEST(Program, EveryLineHasAnAxisForEachNumberOfItsShape) {
  for (const Dialect dialect : {Dialect::numpy, Dialect::einsum, Dialect::matmul, Dialect::module}) {
    const auto answers = answers_to(kTwoLayers, 2);
    const auto program = program_of(answers, {.head = {1, 2}, .dialect = dialect, .block = true});
    ASSERT_TRUE(program) << program.error().message();
    for (const ProgramLine& line : program->lines) {
      EXPECT_EQ(line.makes.empty(), line.shape.empty()) << line.text;
      const auto axes = std::count(line.axes.begin(), line.axes.end(), ' ') + (line.axes.empty() ? 0 : 1);
      EXPECT_EQ(static_cast<std::size_t>(axes), line.shape.size()) << line.text;
    }
  }
}

TEST(Program, TheMatrixOfALineIsInItsTensor) {
  for (const Dialect dialect : {Dialect::numpy, Dialect::einsum, Dialect::matmul}) {
    const auto answers = answers_to(kTwoLayers, 2);
    const auto program = program_of(answers, {.head = {1, 2}, .dialect = dialect, .block = true});
    ASSERT_TRUE(program) << program.error().message();
    int shown = 0;
    for (const ProgramLine& line : program->lines) {
      if (!line.shows) continue;
      ++shown;
      ASSERT_TRUE(exists(*answers.front(), *line.shows)) << line.text;
      const Shape size = shape(*answers.front(), *line.shows);
      const bool narrow = line.makes == "mean" || line.makes == "variance" || line.makes == "largest";
      EXPECT_TRUE(narrow || product_of(line.shape) % (size.rows * size.cols) == 0) << line.text;
      EXPECT_TRUE(!is_per_head(line.shows->quantity) || line.shows->head == 2) << line.text;
    }
    EXPECT_GT(shown, 25);
  }
}

TEST(Program, AMaskOfEachHeadHasTheirAxis) {
  Request request = answers_to(kTwoLayers, 1).front()->request;
  Matrix given = Matrix::Zero(3 * 5, 5);
  given(1 * 5 + 2, 0) = -1;
  request.mask = {.given = std::make_shared<const Matrix>(given), .heads = 3};
  for (const auto& [dialect, axes] :
       {std::pair{Dialect::numpy, "b h i j"}, {Dialect::einsum, "i j b h"}, {Dialect::module, "b h i j"}}) {
    const auto program = program_of({*forward(request)}, {.head = {1, 2}, .dialect = dialect});
    ASSERT_TRUE(program) << program.error().message();
    const auto mask = std::ranges::find(program->lines, "mask", &ProgramLine::makes);
    ASSERT_NE(mask, program->lines.end());
    EXPECT_EQ(mask->axes, axes);
    EXPECT_EQ(product_of(mask->shape), 3 * 5 * 5);
  }
  given.row(1 * 5 + 2).setConstant(-std::numeric_limits<float>::infinity());
  request.mask.given = std::make_shared<const Matrix>(given);
  const auto refused = program_of({*forward(request)}, {.head = {1, 2}, .dialect = Dialect::module});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("query 2, which may attend in some heads"), std::string::npos);
}

TEST(Program, LeavesOutThePartsThatAreOff) {
  const auto text = [](BlockPart part) {
    Request request = answers_to(kTwoLayers, 1).front()->request;
    for (const Index layer : {0, 1}) switch_off(request.edits, Stack::self, layer, part, true);
    const auto trace = forward(request);
    EXPECT_TRUE(trace);
    const auto program = program_of({*trace}, {.head = {1, 2}, .dialect = Dialect::numpy, .block = true});
    EXPECT_TRUE(program) << program.error().message();
    return program_text(*program);
  };
  const auto has = [](const std::string& program, const char* word) { return program.find(word) != std::string::npos; };
  EXPECT_TRUE(has(text(BlockPart::scale), "variance"));
  EXPECT_FALSE(has(text(BlockPart::norm), "variance"));
  EXPECT_TRUE(has(text(BlockPart::norm), "x + "));
  EXPECT_FALSE(has(text(BlockPart::residual), "x + "));
  EXPECT_TRUE(has(text(BlockPart::scale), "W_up"));
  EXPECT_FALSE(has(text(BlockPart::ffn), "W_up"));
}

TEST(Program, AnArrayIsAsLargeAsItsShape) {
  Config config = kTwoLayers;
  config.arch = Arch::encoder_decoder;
  for (const Dialect dialect : {Dialect::numpy, Dialect::einsum, Dialect::matmul, Dialect::module})
    for (const Stack stack : {Stack::encoder, Stack::self, Stack::cross})
      for (const bool block : {false, true}) {
        const auto answers = answers_to(config, 3);
        const auto program = program_of(answers, {.head = {1, 1, stack}, .dialect = dialect, .block = block});
        ASSERT_TRUE(program) << program.error().message();
        for (const ArrayStream& array : program->inputs) {
          Index numbers = 0;
          for (Index piece = 0; piece < array.pieces; ++piece) numbers += array.piece(piece).size();
          EXPECT_EQ(numbers, product_of(array.shape)) << array.name;
          EXPECT_EQ(array.axes.size(), array.shape.size()) << array.name;
        }
      }
}

TEST(Program, StatesItsShapesBehindItsStatements) {
  const ProgramLine line{.text = "q = x @ W_Q.T", .makes = "q", .shape = {1, 5, 12}, .axes = "b i hd", .shows = {}};
  EXPECT_EQ(line_text(line, 20), "q = x @ W_Q.T       # (1, 5, 12)  b i hd");
  EXPECT_EQ(line_text(line, 2), "q = x @ W_Q.T  # (1, 5, 12)  b i hd");
  EXPECT_EQ(line_text({.text = "import numpy as np"}), "import numpy as np");
}

TEST(Program, ModuleTakesTheRestOfAnotherScaleIntoItsQueries) {
  const auto before = answers_to(kTwoLayers, 1);
  Request request = before.front()->request;
  request.edits.scale = 1;  // d_k is 4: the module itself takes 0.5
  const auto trace = forward(request);
  ASSERT_TRUE(trace);
  const auto program = program_of({*trace}, {.head = {1, 2}, .dialect = Dialect::module});
  ASSERT_TRUE(program) << program.error().message();
  const auto scaled = [&](const char* text) {
    return std::any_of(program->lines.begin(), program->lines.end(),
                       [&](const ProgramLine& line) { return line.text.find(text) != std::string::npos; });
  };
  EXPECT_TRUE(scaled("[2 * W_Q"));
  EXPECT_FALSE(scaled("0.5 * W_Q"));
}

TEST(Program, ModuleSaysWhatItDoesNotHave) {
  Config config = kTwoLayers;
  config.position = Position::rotary;
  const auto refused = program_of(answers_to(config, 1), {.dialect = Dialect::module});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("rotary positions"), std::string::npos) << refused.error().message();
  config = kTwoLayers;
  config.head_dim = 8;
  const auto wide = program_of(answers_to(config, 1), {.dialect = Dialect::module});
  ASSERT_FALSE(wide);
  EXPECT_NE(wide.error().message().find("3 heads of 8 columns"), std::string::npos) << wide.error().message();
}

}  // namespace
}  // namespace headlight
