// One row or one column of every head as bars, a head below the other, words above them: where all of it stands. What
// the window and the figure share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figure/drawing/drawing.h"
#include "session/state.h"

namespace headlight {

struct LineSizes {
  float text = 0;        // the height of a line of text
  float titles = 0;      // room at the left, for the names of the heads
  float tops = 0;        // room at the right, for the number that each head's bars go up to; 0: none is written
  float gap = 0;         // under the words, and above the bars of a head
  float most_words = 0;  // room that words above the bars may take
  float least_pitch = 0, most_pitch = 0;  // from head to head
};

struct LineLayout {
  Box bars;         // of the first head
  float pitch = 0;  // from head to head
  float gap = 0;
  Index count = 0;     // words, or groups of them
  bool level = false;  // each word has room above its bar

  Box bars_of(Index head) const;
  /// A bar is never narrower than 1: of many words it stands for several.
  Index bars_drawn() const;
  float bar_width() const;
  /// The first of the words of a bar, and the first of the next one's.
  Index first_of(Index bar) const { return bar * count / bars_drawn(); }
  /// The bar at a place from left to right.
  std::optional<Index> bar_at(float x) const;
};

/// In `area` from the top down; lower than the area where heads are few, higher where they are many.
LineLayout line_layout(const Box& area, Index heads, Index count, const LabelMetrics& words, const LineSizes& sizes);

struct Bar {
  Box box;
  Index first = 0, end = 0;  // words
  Index strongest = 0;       // the one whose weight it shows
};

/// The bars of one head, as high as their weights where `top` fills the height.
std::vector<Bar> bars_of_head(const LineLayout& layout, Index head, const Vector& weights, float top);

/// The upper end of a head's bars: its own largest weight where heads have their own range, else that of all heads.
float top_of_line(const Vector& weights, float shared, bool own);

/// The same of one row of weights, rounded up. What is below a millionth would be noise as high as the bars: it draws
/// nothing.
float top_of_weights(float largest);

/// The words above the bars: level where they fit, else upwards or one character above the other; as many as stand apart,
/// the lit one always. `size` is an em, `text` a line of text.
std::vector<Text> words_above(const LineLayout& layout, const std::vector<std::string>& words,
                              const LabelMetrics& metrics, std::optional<Index> lit, float size, float text,
                              const InkColours& ink, const TextWidth& measure);

/// `机票 looks, in every head, at`: what stands after the word whose row or column is shown.
const char* line_title(Language language, bool of_query, MapKind kind);

}  // namespace headlight
