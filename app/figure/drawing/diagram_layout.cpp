#include "figure/drawing/diagram_layout.h"

#include <algorithm>
#include <cmath>

namespace headlight {
namespace {

/// The longest way to each node from the beginning of its column: encoder and decoder begin beside each other, as the
/// two are usually drawn. What only reads the encoder's output stands beside what it works with.
std::vector<std::size_t> ranks_of(const Diagram& diagram) {
  std::vector<std::size_t> ranks(diagram.nodes.size(), 0);
  std::vector<bool> reads_own(diagram.nodes.size(), false), reads_other(diagram.nodes.size(), false);
  for (const Edge& edge : diagram.edges) (edge.cross ? reads_other : reads_own)[edge.to] = true;
  for (std::size_t to = 0; to < diagram.nodes.size(); ++to)
    for (const Edge& edge : diagram.edges)
      if (edge.to == to && !edge.cross) ranks[to] = std::max(ranks[to], ranks[edge.from] + 1);
  std::size_t latest = diagram.nodes.size();
  const auto only_other = [&](std::size_t node) { return reads_other[node] && !reads_own[node]; };
  for (const Edge& edge : diagram.edges)
    if (only_other(edge.from) && ranks[edge.to] > 0) latest = std::min(latest, ranks[edge.to] - 1);
  for (std::size_t node = 0; node < diagram.nodes.size(); ++node)
    if (only_other(node)) ranks[node] = latest;
  return ranks;
}

/// Which of the lanes beside a column each residual edge runs in: those that overlap run beside each other.
std::vector<std::size_t> lanes_of(const Diagram& diagram, const std::vector<std::size_t>& ranks, Index column,
                                  std::size_t& lanes) {
  std::vector<std::size_t> lane(diagram.edges.size(), 0);
  std::vector<std::size_t> ends;  // the rank where each lane is free again
  for (std::size_t e = 0; e < diagram.edges.size(); ++e) {
    const Edge& edge = diagram.edges[e];
    if (!edge.residual || diagram.nodes[edge.to].column != column) continue;
    std::size_t free = 0;
    while (free < ends.size() && ends[free] > ranks[edge.from]) ++free;
    if (free == ends.size()) ends.push_back(0);
    ends[free] = ranks[edge.to];
    lane[e] = free;
  }
  lanes = std::max(lanes, ends.size());
  return lane;
}

/// Neither around a sublayer nor from the other column.
bool is_straight(const Edge& edge) { return !edge.residual && !edge.cross; }

struct Column {
  float left = 0, width = 0;
  std::vector<std::size_t> lane;  // of each edge
};

/// The contents of one rank of one column: boxes, and edges over several ranks that pass them.
struct InRank {
  std::vector<std::size_t> nodes, passing;
};

InRank in_rank(const Diagram& diagram, const std::vector<std::size_t>& ranks, std::size_t rank, Index column) {
  InRank boxes;
  for (std::size_t n = 0; n < diagram.nodes.size(); ++n)
    if (ranks[n] == rank && diagram.nodes[n].column == column) boxes.nodes.push_back(n);
  for (std::size_t e = 0; e < diagram.edges.size(); ++e) {
    const Edge& edge = diagram.edges[e];
    if (is_straight(edge) && diagram.nodes[edge.to].column == column && ranks[edge.from] < rank &&
        rank < ranks[edge.to])
      boxes.passing.push_back(e);
  }
  return boxes;
}

/// The room that its passing edges take at its right.
float passing_width(const InRank& boxes, const DiagramMeasures& measures) {
  return 1.5f * measures.lane * static_cast<float>(boxes.passing.size());
}

float least_width(const InRank& boxes, const DiagramMeasures& measures) {
  const float count = static_cast<float>(boxes.nodes.size());
  return count * measures.least_node + std::max(0.0f, count - 1) * measures.side_gap + passing_width(boxes, measures);
}

/// Where the k-th of `count` lines meets a side of a box: spread over its middle half.
float spread(float begin, float length, std::size_t k, std::size_t count) {
  return begin + length * (0.25f + 0.5f * (static_cast<float>(k) + 0.5f) / static_cast<float>(count));
}

}  // namespace

DiagramLayout layout_diagram(const Diagram& diagram, float width, const DiagramMeasures& measures) {
  DiagramLayout layout;
  if (diagram.nodes.empty()) return layout;
  const auto ranks = ranks_of(diagram);
  const std::size_t num_ranks = *std::max_element(ranks.begin(), ranks.end()) + 1;
  Index num_columns = 1;
  for (const Node& node : diagram.nodes) num_columns = std::max(num_columns, node.column + 1);

  std::size_t lanes = 1;
  std::vector<Column> columns(static_cast<std::size_t>(num_columns));
  for (Index c = 0; c < num_columns; ++c)
    columns[static_cast<std::size_t>(c)].lane = lanes_of(diagram, ranks, c, lanes);
  const float margin = measures.lane * static_cast<float>(lanes + 1);
  float least = 0;
  for (std::size_t rank = 0; rank < num_ranks; ++rank)
    for (Index c = 0; c < num_columns; ++c)
      least = std::max(least, least_width(in_rank(diagram, ranks, rank, c), measures));
  width = std::max(width, std::ceil(least + margin) * static_cast<float>(num_columns));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    columns[c].width = width / static_cast<float>(columns.size()) - margin;
    columns[c].left = static_cast<float>(c) * width / static_cast<float>(columns.size());
  }

  std::vector<float> heights(num_ranks, measures.node_height), tops(num_ranks, 0);
  for (std::size_t n = 0; n < diagram.nodes.size(); ++n)
    if (diagram.nodes[n].shows.quantity == Quantity::weights) heights[ranks[n]] = measures.pattern_height;
  for (std::size_t rank = 1; rank < num_ranks; ++rank) tops[rank] = tops[rank - 1] + heights[rank - 1] + measures.gap;

  // Edges over several ranks pass the boxes between in lanes of their own, at the right of each rank.
  std::vector<std::vector<float>> passes(diagram.edges.size());  // x in each rank between
  layout.nodes.resize(diagram.nodes.size());
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    for (Index c = 0; c < num_columns; ++c) {
      const InRank boxes = in_rank(diagram, ranks, rank, c);
      const auto& here = boxes.nodes;
      const Column& column = columns[static_cast<std::size_t>(c)];
      const float room = column.width - passing_width(boxes, measures);
      for (std::size_t k = 0; k < boxes.passing.size(); ++k)
        passes[boxes.passing[k]].push_back(column.left + room + measures.lane * (1.5f * static_cast<float>(k) + 1));
      const float count = static_cast<float>(here.size());
      const float each = here.empty() ? 0 : (room - measures.side_gap * (count - 1)) / count;
      for (std::size_t k = 0; k < here.size(); ++k)
        layout.nodes[here[k]] = {std::floor(column.left + static_cast<float>(k) * (each + measures.side_gap)),
                                 tops[rank], std::floor(each), heights[rank]};
    }
  }
  for (const Box& box : layout.nodes) {
    layout.width = std::max(layout.width, box.right() + margin);
    layout.height = std::max(layout.height, box.bottom());
  }

  // Lines that meet the same side of a box are spread over it, in the order of where they come from.
  const auto end_of = [&](std::size_t e, bool at_end) {
    const std::size_t node = at_end ? diagram.edges[e].to : diagram.edges[e].from;
    std::vector<std::size_t> all;
    for (std::size_t other = 0; other < diagram.edges.size(); ++other)
      if (is_straight(diagram.edges[other]) && (at_end ? diagram.edges[other].to : diagram.edges[other].from) == node)
        all.push_back(other);
    const auto other_end = [&](std::size_t i) {
      return layout.nodes[at_end ? diagram.edges[i].from : diagram.edges[i].to].x;
    };
    std::stable_sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) { return other_end(a) < other_end(b); });
    const auto k = static_cast<std::size_t>(std::find(all.begin(), all.end(), e) - all.begin());
    const Box& box = layout.nodes[node];
    return spread(box.x, box.w, k, all.size());
  };
  layout.edges.resize(diagram.edges.size());
  for (std::size_t e = 0; e < diagram.edges.size(); ++e) {
    const Edge& edge = diagram.edges[e];
    const Box &from = layout.nodes[edge.from], &to = layout.nodes[edge.to];
    auto& line = layout.edges[e];
    if (edge.residual) {
      const Column& column = columns[static_cast<std::size_t>(diagram.nodes[edge.to].column)];
      const float x = column.left + column.width + measures.lane * static_cast<float>(column.lane[e] + 1);
      line = {{from.right(), from.y + from.h * 0.7f},
              {x, from.y + from.h * 0.7f},
              {x, to.y + to.h * 0.3f},
              {to.right(), to.y + to.h * 0.3f}};
    } else if (edge.cross) {
      const float x = columns[static_cast<std::size_t>(diagram.nodes[edge.to].column)].left - measures.lane * 0.6f;
      const float above = to.y - measures.gap * 0.65f, middle = to.x + to.w * 0.65f;
      line = {
          {from.right(), from.y + from.h / 2}, {x, from.y + from.h / 2}, {x, above}, {middle, above}, {middle, to.y}};
    } else {
      // Down the gaps between the ranks, through the lanes on the way.
      float x = end_of(e, false), end = end_of(e, true);
      const float y = from.bottom();
      // Straight down where the one box is over the other: a jog shorter than the arrow's head would be a hook.
      const auto is_over = [&](float at, const Box& box) {
        return at >= box.x + measures.side_gap && at <= box.right() - measures.side_gap;
      };
      if (passes[e].empty() && is_over(end, from)) x = end;
      else if (passes[e].empty() && is_over(x, to)) end = x;
      line = {{x, y}};
      const auto go_to = [&](float next_x, float rank_top) {
        if (std::abs(next_x - x) >= 2) {
          line.push_back({x, rank_top - measures.gap / 2});
          line.push_back({next_x, rank_top - measures.gap / 2});
        }
        x = next_x;
      };
      std::size_t rank = ranks[edge.from];
      for (const float lane : passes[e]) go_to(lane, tops[++rank]);
      go_to(end, to.y);
      line.push_back({x, to.y});
    }
  }
  return layout;
}

}  // namespace headlight
