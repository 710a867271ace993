// The scene of Flow: the words of both sides of an attention in two columns, and a line for each weight. Window and
// figures draw the same.
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
  float begin = 0, end = 0;   // of both columns of words
  float left = 0, right = 0;  // where lines leave and arrive; words end before and begin after that
  float top = 0, pitch = 0;   // the first row, and from one row to the next
  float size = 9;             // an em of the words

  float gap() const { return 0.4f * size; }  // between words and lines
  float middle(Index row) const { return top + (static_cast<float>(row) + 0.5f) * pitch; }
  float bottom() const { return top + static_cast<float>(std::max(queries, keys)) * pitch; }
  /// Both columns of words, and the lines between them, in the middle of `width`, or from `least_begin` on.
  void centre(float width, float query_width, float key_width, float between, float least_begin = -1e9f);
};

/// A word that is pointed at: only its lines are drawn strongly.
struct FlowWord {
  bool query = true;
  Index index = 0;

  friend bool operator==(const FlowWord&, const FlowWord&) = default;
};

struct FlowWishes {
  float threshold = 0.05f;             // lines of smaller weights are left out
  float thickest = 4;                  // of a line of weight 1, in the layout's unit; others in proportion
  std::size_t most_lines = 4000;       // the strongest of those that are seen
  float from_y = 0, to_y = 1e9f;       // lines and words wholly outside are left out
  std::optional<FlowWord> word = {};   // whose lines are wanted alone
  std::optional<CellRef> lit = {};     // its words are in the accent's colour, and so is a mark beside them
  std::vector<bool> pale = {};         // keys to which lines are thin and faint; none where it is empty
  std::optional<CellRef> pinned = {};  // has a line in the accent's colour
  float pin = 1.5f;                    // the width of that line
  float opacity = 1;                   // of the other lines
};

/// Of the width and of the opacity that a line to a pale key would have.
inline constexpr float kPaleLine = 0.3f;

float line_opacity(float weight);

/// `flow query I`, then `flow key J`: the boxes of all words, as wide as the widest of their column.
std::vector<Hit> flow_hits(const FlowLayout& layout);

/// Adds the lines, the strongest last, and the words, one label for each query and each key. True where there were more
/// than most_lines.
bool add_flow(Drawing& scene, const FlowLayout& layout, const std::vector<FlowHead>& heads,
              const std::vector<std::string>& query_labels, const std::vector<std::string>& key_labels,
              const FlowWishes& wishes, const InkColours& ink, const TextWidth& measure);

/// Adds the names of both columns, their middle at `y`; one that is wider than its words begins at the edge.
void add_flow_sides(Drawing& scene, const FlowLayout& layout, const std::string& query, const std::string& key, float y,
                    float size, float left, float right, Rgb colour, const TextWidth& measure);

/// A head beside its colour.
struct FlowLegendEntry {
  Index head = 0;
  std::string label, name;
  Rgb swatch, ink, name_ink;
  bool shown = true;  // else an outline stands for its colour
};
struct FlowLegendSizes {
  float text = 9;                // an em
  float swatch = 14, thick = 2;  // of a colour
  float gap = 4, between = 11;   // after a colour, after an entry
  float line = 12, height = 9;   // from line to line; of an entry
  Rgb outline = {};
};
/// Adds the entries in as many lines as it takes, the middle of the first at `y`. Gives the middle of the last. Hit
/// boxes: `flow head H`.
float add_flow_legend(Drawing& scene, const std::vector<FlowLegendEntry>& entries, const FlowLegendSizes& sizes,
                      float left, float right, float y, const TextWidth& measure);

/// The strongest line of a word in any of the heads: what pointing at the word means as a cell.
std::optional<CellRef> strongest_of(const std::vector<FlowHead>& heads, const FlowWord& word);

}  // namespace headlight
