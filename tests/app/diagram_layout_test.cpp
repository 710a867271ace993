// The picture of the data's way: boxes that do not touch, lines from box to box and through none, for many models.
#include "figure/drawing/diagram_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "app/session_fixture.h"
#include "base/random.h"

namespace headlight {
namespace {

constexpr float kSlack = 0.01f;

bool touch(const Box& a, const Box& b) {
  return a.x + kSlack < b.right() && b.x + kSlack < a.right() && a.y + kSlack < b.bottom() && b.y + kSlack < a.bottom();
}

/// Whether a level or upright segment runs through the inside of a box.
bool crosses(Point a, Point b, const Box& box) {
  const float left = std::min(a.x, b.x), right = std::max(a.x, b.x), top = std::min(a.y, b.y),
              bottom = std::max(a.y, b.y);
  return right > box.x + kSlack && left < box.right() - kSlack && bottom > box.y + kSlack &&
         top < box.bottom() - kSlack;
}

bool on_border(Point p, const Box& box) {
  const bool across = p.x >= box.x - 1 && p.x <= box.right() + 1, along = p.y >= box.y - 1 && p.y <= box.bottom() + 1;
  const bool on_side = std::abs(p.x - box.x) <= 1 || std::abs(p.x - box.right()) <= 1;
  const bool on_level = std::abs(p.y - box.y) <= 1 || std::abs(p.y - box.bottom()) <= 1;
  return (on_side && along) || (on_level && across);
}

struct DrawnDiagram {
  Diagram diagram;
  DiagramLayout layout;
  float width = 0;
};

/// What must hold of every layout.
void expect_tidy_diagram(const DrawnDiagram& drawn) {
  const auto& [diagram, layout, width] = drawn;
  ASSERT_EQ(layout.nodes.size(), diagram.nodes.size());
  ASSERT_EQ(layout.edges.size(), diagram.edges.size());
  for (std::size_t a = 0; a < layout.nodes.size(); ++a) {
    const Box& box = layout.nodes[a];
    EXPECT_GE(box.x, -kSlack);
    EXPECT_GE(box.y, -kSlack);
    EXPECT_GT(box.w, 0);
    EXPECT_LE(box.right(), layout.width + kSlack);
    EXPECT_LE(box.bottom(), layout.height + kSlack);
    for (std::size_t b = 0; b < a; ++b)
      EXPECT_FALSE(touch(box, layout.nodes[b])) << diagram.nodes[a].id << " and " << diagram.nodes[b].id;
  }
  for (std::size_t e = 0; e < layout.edges.size(); ++e) {
    const Edge& edge = diagram.edges[e];
    const auto& line = layout.edges[e];
    const std::string name = diagram.nodes[edge.from].id + " to " + diagram.nodes[edge.to].id;
    ASSERT_GE(line.size(), 2u) << name;
    EXPECT_TRUE(on_border(line.front(), layout.nodes[edge.from])) << name;
    EXPECT_TRUE(on_border(line.back(), layout.nodes[edge.to])) << name;
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
      const bool right_angled =
          std::abs(line[i].x - line[i + 1].x) < 2.5f || std::abs(line[i].y - line[i + 1].y) < kSlack;
      EXPECT_TRUE(right_angled) << name;
      EXPECT_GE(std::min(line[i].x, line[i + 1].x), -kSlack) << name;
      EXPECT_LE(std::max(line[i].x, line[i + 1].x), layout.width + kSlack) << name;
      for (std::size_t n = 0; n < layout.nodes.size(); ++n)
        EXPECT_FALSE(crosses(line[i], line[i + 1], layout.nodes[n])) << name << " through " << diagram.nodes[n].id;
    }
  }
}

Config drawn_config(Random& random) {
  const auto draw = [&](std::uint64_t below) { return static_cast<Index>(random.next() % below); };
  Config config{.arch = static_cast<Arch>(draw(3)), .d_model = 8, .num_heads = 2, .num_layers = 1 + draw(4)};
  config.encoder_layers = draw(4);
  config.ffn = draw(3) == 0 ? 0 : 8;
  config.position = static_cast<Position>(draw(5));
  config.norm = static_cast<Norm>(draw(2));
  config.norm_kind = static_cast<NormKind>(draw(2));
  config.gated = draw(2) == 0;
  config.tied = draw(2) == 0;
  return config;
}

std::shared_ptr<const Trace> answer_in(const Config& config) {
  Document document = fixture::small_document("我爱你");
  document.target.text = "I love";
  document.config = config;
  const auto requests = requests_of(document, fixture::lexicon());
  const auto trace = forward(requests->front());
  EXPECT_TRUE(trace) << trace.error().message();
  return *trace;
}

TEST(DiagramLayout, WhereThereIsNoRoomBoxesKeepTheirWidthAndTheirDistance) {
  Random random(6);
  const DiagramMeasures measures;
  for (const float width : {0.0f, 40.0f, 150.0f, 240.0f}) {
    for (int i = 0; i < 10 && !testing::Test::HasFailure(); ++i) {
      DrawnDiagram drawn{diagram_of(*answer_in(drawn_config(random)), 0, 0, 0), {}, width};
      drawn.layout = layout_diagram(drawn.diagram, width, measures);
      SCOPED_TRACE(std::to_string(width));
      expect_tidy_diagram(drawn);
      for (const Box& box : drawn.layout.nodes) EXPECT_GE(box.w, measures.least_node - 1);
    }
  }
}

TEST(DiagramLayout, EncoderAndDecoderBeginBesideEachOther) {
  const auto trace =
      answer_in({.arch = Arch::encoder_decoder, .d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 8});
  const Diagram diagram = diagram_of(*trace, 0, 0, 0);
  const DiagramLayout layout = layout_diagram(diagram, 800, {});
  float first[] = {1e9f, 1e9f};
  for (std::size_t n = 0; n < layout.nodes.size(); ++n) {
    const auto column = static_cast<std::size_t>(diagram.nodes[n].column);
    first[column] = std::min(first[column], layout.nodes[n].y);
    EXPECT_EQ(layout.nodes[n].x + layout.nodes[n].w / 2 > 400, column == 1) << diagram.nodes[n].id;
  }
  EXPECT_EQ(first[0], first[1]);
}

TEST(DiagramLayout, TheDataFlowsDown) {
  const auto trace = answer_in({.d_model = 8, .num_heads = 2, .num_layers = 3, .ffn = 8});
  const Diagram diagram = diagram_of(*trace, 1, 0, 0);
  const DiagramLayout layout = layout_diagram(diagram, 500, {});
  for (const Edge& edge : diagram.edges)
    EXPECT_LT(layout.nodes[edge.from].y, layout.nodes[edge.to].y) << diagram.nodes[edge.to].id;
}

TEST(DiagramLayout, AWayToABoxRightBelowHasNoHook) {
  const auto trace = answer_in({.d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 8, .norm = Norm::pre});
  const Diagram diagram = diagram_of(*trace, 0, 0, 0);
  int straight = 0;
  for (const float width : {480.0f, 611.0f, 900.0f}) {
    const DiagramLayout layout = layout_diagram(diagram, width, {});
    for (std::size_t e = 0; e < diagram.edges.size(); ++e) {
      const Edge& edge = diagram.edges[e];
      const bool key = diagram.nodes[edge.to].label == "K" && diagram.nodes[edge.from].kind == NodeKind::norm;
      if (!key) continue;
      ++straight;
      EXPECT_EQ(layout.edges[e].size(), 2u) << "from the norm to the key, in " << width;
    }
  }
  EXPECT_EQ(straight, 3);
}

TEST(DiagramLayout, NothingIsDrawnOfNothing) {
  const DiagramLayout layout = layout_diagram({}, 500, {});
  EXPECT_TRUE(layout.nodes.empty());
  EXPECT_EQ(layout.height, 0);
}

TEST(DiagramLayout, ManyModelsAreDrawnTidily) {
  Random random(5);
  const DiagramMeasures measures;
  for (int i = 0; i < 150 && !testing::Test::HasFailure(); ++i) {
    const Config config = drawn_config(random);
    SCOPED_TRACE(std::string(name(config.arch)) + " " + std::to_string(config.num_layers) + " layers, " +
                 std::string(name(config.norm)) + ", ffn " + std::to_string(config.ffn) +
                 (config.gated ? " gated" : ""));
    const auto trace = answer_in(config);
    const auto layer = static_cast<Index>(random.next() % static_cast<std::uint64_t>(config.num_layers));
    DrawnDiagram drawn{diagram_of(*trace, layer, 0, 0), {}, 470 + 400 * random.uniform()};
    SCOPED_TRACE("layer " + std::to_string(layer) + " in " + std::to_string(drawn.width));
    drawn.layout = layout_diagram(drawn.diagram, drawn.width, measures);
    expect_tidy_diagram(drawn);
    EXPECT_LE(drawn.layout.width, drawn.width + 1) << "no scrolling to the side";
  }
}

}  // namespace
}  // namespace headlight
