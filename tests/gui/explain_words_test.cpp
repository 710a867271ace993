// Everything that can be explained has its words, in both languages.
#include "words/explain_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "base/utf8.h"
#include "explain/recipe.h"
#include "gui/harness.h"
#include "question/tokenizers.h"
#include "session/loop/startup.h"
#include "words/words.h"

namespace headlight {
namespace {

bool has_chinese(std::string_view text) {
  const auto points = code_points(text);
  return std::any_of(points.begin(), points.end(), [](char32_t c) { return c >= 0x4E00 && c <= 0x9FFF; });
}

/// The English words in a formula; symbols of matrices, functions and indices are in no language.
std::set<std::string> english_in(const std::string& formula) {
  static const std::set<std::string> kSymbols{
      "softmax",   "exp",    "relu",   "gelu",     "silu",  "tanh", "ln",         "norm",    "concat",
      "attention", "ffn",    "hidden", "up",       "down",  "gate", "activation", "logits",  "scores",
      "log",       "mask",   "token",  "position", "type",  "sum",  "model",      "dropout", "scale",
      "projected", "normed", "given",  "weights",  "query", "key",  "value",      "kv",      "vocab"};
  std::set<std::string> found;
  std::string word;
  for (const char c : formula + " ") {
    if (std::isalpha(static_cast<unsigned char>(c))) {
      word += c;
      continue;
    }
    if (word.size() > 1 && !kSymbols.contains(word) && !kSymbols.contains(word + "s")) found.insert(word);
    word.clear();
  }
  return found;
}

std::shared_ptr<const Trace> answer_of(const Request& request) {
  const auto trace = forward(request);
  EXPECT_TRUE(trace) << trace.error().message();
  return *trace;
}

/// Requests of all kinds: every architecture, norm, position, and everything that can be changed by hand.
std::vector<Request> many_requests() {
  static const auto lexicon = read_lexicon();
  std::vector<Request> requests;
  Random random(17);
  const auto draw = [&](std::uint64_t below) { return static_cast<Index>(random.next() % below); };
  for (int i = 0; i < 60; ++i) {
    Document document;
    document.source.text = "我爱你";
    document.target.text = "I love you";
    Config& config = document.config;
    config = {.arch = static_cast<Arch>(draw(3)), .d_model = 8, .num_heads = 2, .num_layers = 2, .ffn = 8 * draw(2)};
    config.position = static_cast<Position>(draw(5));
    config.norm = static_cast<Norm>(draw(2));
    config.norm_kind = static_cast<NormKind>(draw(2));
    config.activation = static_cast<Activation>(draw(4));
    config.gated = draw(2) == 0;
    config.tied = draw(2) == 0;
    config.bias.query = config.bias.output = draw(2) == 0;
    config.num_kv_heads = draw(2);
    document.mask.causal = config.arch != Arch::encoder;
    if (draw(3) == 0) document.edits.off = {{0, 1}};
    document.edits.off_as = static_cast<OffAs>(draw(2));
    if (draw(3) == 0) document.edits.weights = {{{0, 0}, {1, 0}, 0.5f}};
    if (draw(3) == 0) document.edits.dropout = 0.5f;
    if (i % 10 == 9) document.edits.scale = 1.0f;
    const auto made = requests_of(document, *lexicon);
    EXPECT_TRUE(made) << made.error().message();
    requests.push_back(made->front());
  }
  return requests;
}

TEST(ExplainWords, EveryKindOfMatrixHasAName) {
  for (int i = 0; i <= static_cast<int>(Quantity::probabilities); ++i) {
    const auto quantity = static_cast<Quantity>(i);
    const std::string en = words_of(Language::en, quantity), zh = words_of(Language::zh, quantity);
    EXPECT_FALSE(en.empty()) << i;
    EXPECT_TRUE(has_chinese(zh) || zh == "softmax" || zh == "logits") << i << ": " << zh;
    EXPECT_FALSE(has_chinese(en)) << en;
  }
}

TEST(ExplainWords, EveryOperationIsASentence) {
  for (int i = 0; i <= static_cast<int>(Operation::product); ++i) {
    const auto operation = static_cast<Operation>(i);
    const std::string en = words_of(Language::en, operation), zh = words_of(Language::zh, operation);
    EXPECT_TRUE(en.ends_with(".")) << i << ": " << en;
    EXPECT_TRUE(zh.ends_with("。") && has_chinese(zh)) << i << ": " << zh;
  }
}

TEST(ExplainWords, EveryStepOfManyModelsHasATitleAndAFormula) {
  std::set<std::string> names, unknown;
  for (const Request& request : many_requests()) {
    const auto trace = answer_of(request);
    for (const Stack stack : kStacks) {
      if (!trace->has(stack)) continue;
      for (const HeadRef& head : {HeadRef{0, 0, stack}, HeadRef{0, 1, stack}})
        for (const CellRef& cell : {CellRef{1, 0}, CellRef{2, 1}})
          for (const Step& step : steps_of(*trace, head, cell)) {
            names.insert(step.name);
            const std::string zh = step_title(Language::zh, *trace, step);
            EXPECT_FALSE(step_title(Language::en, *trace, step).empty()) << step.name;
            if (!has_chinese(zh) && step.name != "softmax") unknown.insert(step.name + ": " + zh);
            EXPECT_FALSE(step_formula(Language::en, *trace, step).empty()) << step.name;
            for (const std::string& word : english_in(step_formula(Language::zh, *trace, step)))
              unknown.insert(word + " in the formula of " + step.name);
          }
    }
  }
  for (const std::string& one : unknown) ADD_FAILURE() << one;
  for (const char* name : {"x_query",
                           "W_Q",
                           "b_Q",
                           "q_projected",
                           "q",
                           "k",
                           "products",
                           "dot",
                           "scaled",
                           "mask",
                           "scores",
                           "exponentials",
                           "sum",
                           "softmax",
                           "dropped",
                           "weight",
                           "v",
                           "share",
                           "head_output",
                           "z",
                           "concat",
                           "W_O",
                           "b_O",
                           "contribution",
                           "output",
                           "gradient",
                           "gradient_unscaled",
                           "gradient_scaled"})
    EXPECT_TRUE(names.contains(name)) << name << " was never told";
}

TEST(ExplainWords, APartThatIsFilledInIsNotFilledItself) {
  EXPECT_EQ(filled("% of %", {"5 %", "7"}), "5 % of 7");
  EXPECT_EQ(filled("%", {"a", "b"}), "a");
  EXPECT_EQ(filled("% %", {"a"}), "a %");
}

TEST(ExplainWords, AHeadThatIsOffIsNotSaidToAddUp) {
  for (const Request& request : many_requests()) {
    if (request.edits.off.empty()) continue;
    const auto trace = answer_of(request);
    const auto title_of_z = [&](Index head) {
      for (const Step& step : steps_of(*trace, {0, head}, {1, 0}))
        if (step.name == "z") return step_title(Language::en, *trace, step);
      return std::string();
    };
    EXPECT_NE(title_of_z(0).find("added up"), std::string::npos);
    EXPECT_NE(title_of_z(1).find("switched off"), std::string::npos);
  }
}

TEST(ExplainWords, EveryBoxOfTheDiagramsHasATitle) {
  std::set<std::string> unknown;
  for (const Request& request : many_requests()) {
    const auto trace = answer_of(request);
    for (const Index layer : {0, 1})
      for (const Node& node : diagram_of(*trace, layer, layer, 0).nodes) {
        EXPECT_FALSE(node_title(Language::en, node).empty());
        const std::string zh = node_title(Language::zh, node);
        if (!has_chinese(zh) && zh != "logits") unknown.insert(node.label + ": " + zh);
      }
  }
  for (const std::string& one : unknown) ADD_FAILURE() << one;
}

TEST(ExplainWords, ABoxOfSeveralLayersNamesTheFirstAndTheLast) {
  Node node;
  node.kind = NodeKind::other_layers;
  node.first_layer = node.last_layer = 3;
  EXPECT_EQ(node_title(Language::en, node), "Layer 3");
  EXPECT_EQ(node_title(Language::zh, node), "层 3");
  node.last_layer = 5;
  EXPECT_EQ(node_title(Language::en, node), "Layers 3–5");
  EXPECT_EQ(node_title(Language::zh, node), "层 3–5");
}

TEST(ExplainWords, FormulasOfEveryMatrixAreInTheLanguage) {
  std::set<std::string> unknown;
  for (const Request& request : many_requests()) {
    const auto trace = answer_of(request);
    for (const Stack stack : kStacks) {
      if (!trace->has(stack)) continue;
      for (int i = 0; i <= static_cast<int>(Quantity::probabilities); ++i) {
        const MatrixId id = matrix_id(static_cast<Quantity>(i), {0, 1, stack});
        if (!exists(*trace, id)) continue;
        EXPECT_FALSE(formula_in(Language::en, *trace, id).empty());
        for (const std::string& word : english_in(formula_in(Language::zh, *trace, id)))
          unknown.insert(word + " in " + formula_in(Language::zh, *trace, id));
        const Cell cell = explain_cell(*trace, id, 0, 0);
        for (const Constant& constant : cell.constants) {
          const std::string zh = constant_name(Language::zh, constant.name);
          if (!has_chinese(zh) && zh != "ε") unknown.insert("constant " + constant.name);
        }
      }
    }
  }
  for (const std::string& one : unknown) ADD_FAILURE() << one;
}

}  // namespace
}  // namespace headlight
