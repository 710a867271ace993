// The words of both sides of an attention in two columns, and a line for each weight: what the window's Flow view and
// the figure share.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "derived/flow_lines.h"
#include "figure/drawing/drawing.h"

namespace headlight {

/// A head whose lines are drawn.
struct FlowHead {
  const std::vector<FlowLine>* lines = nullptr;  // the strongest first
  Rgb colour;
};

/// Where the words and the lines stand.
struct FlowLayout {
  Index queries = 0, keys = 0;
  float left = 0, right = 0;  // where lines leave and arrive; words end before and begin after that
  float top = 0, pitch = 0;   // the first row, and from one row to the next
  float size = 9;             // an em of the words

  float middle(Index row) const { return top + (static_cast<float>(row) + 0.5f) * pitch; }
  float bottom() const { return top + static_cast<float>(std::max(queries, keys)) * pitch; }
  /// The word at a height; nothing above the first and below the last.
  std::optional<Index> row_at(float y, Index count) const;
};

/// A word that is pointed at: only its lines are drawn strongly.
struct FlowWord {
  bool query = true;
  Index index = 0;

  friend bool operator==(const FlowWord&, const FlowWord&) = default;
};

struct FlowWishes {
  float threshold = 0.05f;            // lines of smaller weights are left out
  float thickest = 4;                 // of a line of weight 1, in the layout's unit; others in proportion
  std::size_t most_lines = 4000;      // the strongest of those that are seen
  float from_y = 0, to_y = 1e9f;      // lines and words wholly outside are left out
  std::optional<FlowWord> word = {};  // whose lines are wanted alone
  std::optional<CellRef> lit = {};    // its words are in the accent's colour, and so is a mark beside them
  std::vector<bool> pale = {};        // keys to which lines are thin and faint; none where it is empty
};

struct FlowItems {
  std::vector<Curve> lines;  // the strongest last
  std::vector<Text> words;   // their widths measured
  bool cut = false;          // there were more than most_lines
};

/// Of the width and of the opacity that a line to a pale key would have.
inline constexpr float kPaleLine = 0.3f;

float line_opacity(float weight);

/// `labels` are ready to be drawn, one for each query and each key.
FlowItems flow_items(const FlowLayout& layout, const std::vector<FlowHead>& heads,
                     const std::vector<std::string>& query_labels, const std::vector<std::string>& key_labels,
                     const FlowWishes& wishes, const InkColours& ink, const TextWidth& measure);

/// The strongest line of a word in any of the heads: what pointing at the word means as a cell.
std::optional<CellRef> strongest_of(const std::vector<FlowHead>& heads, const FlowWord& word);

}  // namespace headlight
