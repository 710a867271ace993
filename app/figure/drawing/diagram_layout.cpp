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

/// A layout while it is made: columns and ranks first, then the boxes in them, then the lines between those.
class DiagramMaker {
 public:
  DiagramMaker(const Diagram& diagram, float width, const DiagramMeasures& measures)
      : diagram_(diagram), measures_(measures), ranks_(ranks_of(diagram)), passes_(diagram.edges.size()) {
    const std::size_t ranks = *std::ranges::max_element(ranks_) + 1;
    make_columns(width, ranks);
    heights_.assign(ranks, measures.node_height);
    tops_.assign(ranks, 0);
    for (std::size_t n = 0; n < diagram.nodes.size(); ++n)
      if (shows_pairs(diagram.nodes[n])) heights_[ranks_[n]] = measures.pattern_height;
    for (std::size_t rank = 1; rank < ranks; ++rank) tops_[rank] = tops_[rank - 1] + heights_[rank - 1] + measures.gap;
    layout_.nodes.resize(diagram.nodes.size());
    for (std::size_t rank = 0; rank < ranks; ++rank)
      for (std::size_t c = 0; c < columns_.size(); ++c) place_boxes(rank, c);
    for (const Box& box : layout_.nodes) {
      layout_.width = std::max(layout_.width, box.right() + margin_);
      layout_.height = std::max(layout_.height, box.bottom());
    }
    for (std::size_t e = 0; e < diagram.edges.size(); ++e) layout_.edges.push_back(line_of(e));
  }

  DiagramLayout take() { return std::move(layout_); }

 private:
  void make_columns(float width, std::size_t ranks) {
    Index count = 1;
    for (const Node& node : diagram_.nodes) count = std::max(count, node.column + 1);
    std::size_t lanes = 1;
    columns_.resize(static_cast<std::size_t>(count));
    for (Index c = 0; c < count; ++c) columns_[static_cast<std::size_t>(c)].lane = lanes_of(diagram_, ranks_, c, lanes);
    margin_ = measures_.lane * static_cast<float>(lanes + 1);
    float least = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank)
      for (Index c = 0; c < count; ++c)
        least = std::max(least, least_width(in_rank(diagram_, ranks_, rank, c), measures_));
    width = std::max(width, std::ceil(least + margin_) * static_cast<float>(count));
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      columns_[c].width = width / static_cast<float>(columns_.size()) - margin_;
      columns_[c].left = static_cast<float>(c) * width / static_cast<float>(columns_.size());
    }
  }

  /// Edges over several ranks pass the boxes between in separate lanes, at the right of each rank.
  void place_boxes(std::size_t rank, std::size_t c) {
    const InRank boxes = in_rank(diagram_, ranks_, rank, static_cast<Index>(c));
    const auto& here = boxes.nodes;
    const Column& column = columns_[c];
    const float room = column.width - passing_width(boxes, measures_);
    for (std::size_t k = 0; k < boxes.passing.size(); ++k)
      passes_[boxes.passing[k]].push_back(column.left + room + measures_.lane * (1.5f * static_cast<float>(k) + 1));
    const float count = static_cast<float>(here.size());
    const float each = here.empty() ? 0 : (room - measures_.side_gap * (count - 1)) / count;
    for (std::size_t k = 0; k < here.size(); ++k)
      layout_.nodes[here[k]] = {std::floor(column.left + static_cast<float>(k) * (each + measures_.side_gap)),
                                tops_[rank], std::floor(each), heights_[rank]};
  }

  /// Lines that meet the same side of a box are spread over it, in the order of where they come from.
  float end_of(std::size_t e, bool at_end) const {
    const auto& edges = diagram_.edges;
    const std::size_t node = at_end ? edges[e].to : edges[e].from;
    std::vector<std::size_t> all;
    for (std::size_t other = 0; other < edges.size(); ++other)
      if (is_straight(edges[other]) && (at_end ? edges[other].to : edges[other].from) == node) all.push_back(other);
    const auto other_end = [&](std::size_t i) { return layout_.nodes[at_end ? edges[i].from : edges[i].to].x; };
    std::ranges::stable_sort(all, [&](std::size_t a, std::size_t b) { return other_end(a) < other_end(b); });
    const auto k = static_cast<std::size_t>(std::ranges::find(all, e) - all.begin());
    return spread(layout_.nodes[node].x, layout_.nodes[node].w, k, all.size());
  }

  std::vector<Point> line_of(std::size_t e) const {
    const Edge& edge = diagram_.edges[e];
    const Box &from = layout_.nodes[edge.from], &to = layout_.nodes[edge.to];
    const Column& column = columns_[static_cast<std::size_t>(diagram_.nodes[edge.to].column)];
    if (edge.residual) {
      const float x = column.left + column.width + measures_.lane * static_cast<float>(column.lane[e] + 1);
      return {{from.right(), from.y + from.h * 0.7f},
              {x, from.y + from.h * 0.7f},
              {x, to.y + to.h * 0.3f},
              {to.right(), to.y + to.h * 0.3f}};
    }
    if (edge.cross) {
      const float x = column.left - measures_.lane * 0.6f;
      const float above = to.y - measures_.gap * 0.65f, middle = to.x + to.w * 0.65f;
      return {
          {from.right(), from.y + from.h / 2}, {x, from.y + from.h / 2}, {x, above}, {middle, above}, {middle, to.y}};
    }
    return straight_line(e, from, to);
  }

  /// Down the gaps between the ranks, through the lanes on the way.
  std::vector<Point> straight_line(std::size_t e, const Box& from, const Box& to) const {
    float x = end_of(e, false), end = end_of(e, true);
    // Straight down where the one box is over the other: a jog shorter than the arrow's head would be a hook.
    const auto is_over = [&](float at, const Box& box) {
      return at >= box.x + measures_.side_gap && at <= box.right() - measures_.side_gap;
    };
    if (passes_[e].empty() && is_over(end, from)) x = end;
    else if (passes_[e].empty() && is_over(x, to)) end = x;
    std::vector<Point> line{{x, from.bottom()}};
    const auto go_to = [&](float next_x, float rank_top) {
      if (std::abs(next_x - x) >= 2) {
        line.push_back({x, rank_top - measures_.gap / 2});
        line.push_back({next_x, rank_top - measures_.gap / 2});
      }
      x = next_x;
    };
    std::size_t rank = ranks_[diagram_.edges[e].from];
    for (const float lane : passes_[e]) go_to(lane, tops_[++rank]);
    go_to(end, to.y);
    line.push_back({x, to.y});
    return line;
  }

  const Diagram& diagram_;
  const DiagramMeasures& measures_;
  std::vector<std::size_t> ranks_;          // of each node
  std::vector<std::vector<float>> passes_;  // of each edge: x in each rank between
  std::vector<Column> columns_;
  std::vector<float> heights_, tops_;  // of each rank
  float margin_ = 0;                   // beside a column
  DiagramLayout layout_;
};

}  // namespace

DiagramLayout layout_diagram(const Diagram& diagram, float width, const DiagramMeasures& measures) {
  return diagram.nodes.empty() ? DiagramLayout{} : DiagramMaker(diagram, width, measures).take();
}

}  // namespace headlight
