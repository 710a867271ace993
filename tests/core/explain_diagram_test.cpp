#include "explain/diagram.h"

#include <gtest/gtest.h>

#include <set>

#include "drawn.h"

namespace headlight {
namespace {

using reference::ask;
using reference::counted;

Diagram diagram_of(Config config, Index layer = 0, Index encoder_layer = 0) {
  Request request{.config = std::move(config), .tokens = counted(3)};
  if (request.config.arch == Arch::encoder_decoder) request.target = counted(2);
  const auto trace = ask(request);
  return diagram_of(*trace, layer, encoder_layer, 0);
}

std::vector<std::string> labels(const Diagram& diagram, Index column) {
  std::vector<std::string> list;
  for (const Node& node : diagram.nodes)
    if (node.column == column) list.push_back(node.label);
  return list;
}

using Labels = std::vector<std::string>;

std::size_t count(const Diagram& diagram, bool Edge::*flag) {
  std::size_t edges = 0;
  for (const Edge& edge : diagram.edges) edges += edge.*flag;
  return edges;
}

TEST(Diagrams, OfAPostNormEncoderPutTheNormAfterTheSum) {
  const Diagram diagram = diagram_of({.d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 4});
  EXPECT_EQ(labels(diagram, 0), (Labels{"Token vectors", "Positions", "Add", "Q", "K", "V", "Scores", "Attention", "z",
                                        "Concat", "W_O", "Add", "Norm", "Up", "Activation", "Down", "Add", "Norm"}));
  EXPECT_EQ(count(diagram, &Edge::residual), 2u);
  EXPECT_EQ(count(diagram, &Edge::cross), 0u);
}

TEST(Diagrams, OfAPreNormGatedDecoderPutTheNormBefore) {
  const Diagram diagram = diagram_of({.arch = Arch::decoder,
                                      .d_model = 8,
                                      .num_heads = 2,
                                      .num_layers = 3,
                                      .ffn = 4,
                                      .position = Position::rotary,
                                      .norm = Norm::pre,
                                      .gated = true},
                                     1);
  EXPECT_EQ(labels(diagram, 0), (Labels{"Token vectors", "Layer 0", "Norm",      "Q",    "K",   "V",       "Scores",
                                        "Attention",     "z",       "Concat",    "W_O",  "Add", "Norm",    "Gate",
                                        "Activation",    "Up",      "Gate · up", "Down", "Add", "Layer 2", "Norm"}));
  EXPECT_EQ(count(diagram, &Edge::residual), 2u);
}

TEST(Diagrams, OfAnEncoderDecoderHaveTwoColumnsAndCrossEdges) {
  const Diagram diagram =
      diagram_of({.arch = Arch::encoder_decoder, .d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 4});
  const Labels attention{"Q", "K", "V", "Scores", "Attention", "z", "Concat", "W_O", "Add", "Norm"};
  Labels decoder{"Token vectors", "Positions", "Add"};
  for (int twice = 0; twice < 2; ++twice) decoder.insert(decoder.end(), attention.begin(), attention.end());
  decoder.insert(decoder.end(), {"Up", "Activation", "Down", "Add", "Norm"});
  EXPECT_EQ(labels(diagram, 1), decoder);
  EXPECT_EQ(count(diagram, &Edge::cross), 2u);  // key and value of the cross-attention
  for (const Edge& edge : diagram.edges) {
    if (!edge.cross) continue;
    EXPECT_EQ(diagram.nodes[edge.from].id, "encoder.0.output");
    EXPECT_EQ(diagram.nodes[edge.to].shows.stack, Stack::cross);
  }
  EXPECT_EQ(count(diagram, &Edge::residual), 5u);
}

TEST(Diagrams, EndInWordsWhereTheModelSaysWords) {
  const auto trace = ask({.config = {.d_model = 8, .num_heads = 2, .num_layers = 1},
                          .vocabulary = reference::counted_words(5),
                          .tokens = counted(3)});
  ASSERT_TRUE(trace);
  const Labels shown = labels(diagram_of(*trace, 0, 0, 0), 0);
  EXPECT_EQ(shown[shown.size() - 2], "Logits");
  EXPECT_EQ(shown.back(), "Softmax");
}

TEST(Diagrams, OfTensorsFilesAreOneBareAttention) {
  Random random(321);
  using reference::random_matrix;
  const auto model =
      reference::given_model(random_matrix(random, 3, 4), random_matrix(random, 2, 4), random_matrix(random, 2, 4), 2);
  const auto trace = ask(reference::request_for(model));
  ASSERT_TRUE(trace);
  EXPECT_EQ(labels(diagram_of(*trace, 0, 0, 1), 0),
            (Labels{"query", "key", "value", "Q", "K", "V", "Scores", "Attention", "z", "Concat", "W_O"}));
  model->given->stacks.at(Stack::self).patterns = {{Matrix::Constant(3, 2, 0.5f)}, {Matrix::Constant(3, 2, 0.5f)}};
  const auto pattern = ask(reference::request_for(model));
  ASSERT_TRUE(pattern);
  const Diagram diagram = diagram_of(*pattern, 1, 0, 0);
  EXPECT_EQ(labels(diagram, 0), Labels{"Attention"});
  EXPECT_EQ(diagram.nodes[0].id, "attention.1.self.0.weights");
}

TEST(Diagrams, AreInTopologicalOrderConnectedAndShowMatricesThatExist) {
  Random random(322);
  for (int round = 0; round < 300; ++round) {
    Request request = reference::drawn_request(random, {.least_width = 4, .longest = 4});
    if (round >= 200) reference::draw_parts_off(random, request);
    const auto trace = ask(request);
    ASSERT_TRUE(trace);
    for (const Index layer : {0, 1, 9}) {
      const Diagram diagram = diagram_of(*trace, layer, layer, layer);
      std::set<std::string> ids;
      std::vector<bool> is_fed(diagram.nodes.size(), false), feeds(diagram.nodes.size(), false);
      for (const Edge& edge : diagram.edges) {
        EXPECT_LT(edge.from, edge.to);
        is_fed[edge.to] = feeds[edge.from] = true;
        EXPECT_EQ(edge.cross, diagram.nodes[edge.from].column != diagram.nodes[edge.to].column);
      }
      std::size_t ends = 0;
      for (std::size_t i = 0; i < diagram.nodes.size(); ++i) {
        const Node& node = diagram.nodes[i];
        EXPECT_TRUE(ids.insert(node.id).second) << node.id;
        EXPECT_TRUE(exists(*trace, node.shows)) << node.id;
        EXPECT_EQ(is_fed[i], node.kind != NodeKind::embedding) << node.id;
        ends += !feeds[i];
      }
      EXPECT_EQ(ends, 1u) << "everything leads to the output";
    }
  }
}

}  // namespace
}  // namespace headlight
