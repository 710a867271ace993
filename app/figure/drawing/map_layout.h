// Where a labelled map puts its cells and its labels: arithmetic on boxes, no drawing.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/index.h"
#include "model/tokens.h"
#include "view/view_state.h"

namespace headlight {

struct Point {
  float x = 0, y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

struct Box {
  float x = 0, y = 0, w = 0, h = 0;

  float right() const { return x + w; }
  float bottom() const { return y + h; }
  bool contains(float px, float py) const { return px >= x && px < right() && py >= y && py < bottom(); }
  friend bool operator==(const Box&, const Box&) = default;
};

inline Box moved(const Box& box, Point by) { return {box.x + by.x, box.y + by.y, box.w, box.h}; }

/// How much larger than at 1440 × 900 the bars, rows and large type of the stage are, in steps.
float stage_growth(float width, float height);

/// A token as an axis shows it: spaces that would be invisible become ␣, a line break ⏎, long ones end in …, and a
/// picture (an emoji) is its name.
std::string axis_label(const Token& token);
/// The same with the mark by which the tokenizer marks where words begin: ## before a piece that continues a word
/// (WordPiece), ␣ before one that a space stands before (byte-level BPE, SentencePiece).
std::string piece_label(const Token& token);

/// The sizes of an axis' labels that the layout needs, in pixels at the label size.
struct LabelMetrics {
  float widest = 0;               // as a line of text
  std::size_t longest = 0;        // characters
  bool upright = false;           // all are written in characters that stand one above the other
  float widest_turned = 0;        // of those that cannot stand in a column, as a line of text
  std::size_t most_standing = 0;  // characters, of those that can

  /// Takes the size of one more label; `width` is its width as a line of text. The first sets `upright`.
  void add(std::string_view label, float width);
};

/// Whether a label may be written from top to bottom, one character above the other (Chinese, Japanese, Korean).
bool stands_upright(std::string_view label);
/// Whether it is, above a column beside labels that must be turned: Chinese words that are short enough, and signs.
bool stands_in_column(std::string_view label);

/// Neighbouring rows or columns whose tokens are of one role of a conversation.
struct RoleRun {
  Index first = 0, count = 0;  // counted from the first one shown
  ChatRole role = ChatRole::none;
  friend bool operator==(const RoleRun&, const RoleRun&) = default;
};
/// Those of tokens [first, first + count) that have a role.
std::vector<RoleRun> role_runs(const std::vector<Token>& tokens, Index first, Index count);

enum class ColumnLabels { none, horizontal, stacked, rotated };

struct MapLayout {
  Box plot;        // the cells
  float cell = 0;  // side of a cell; below one pixel for long sentences
  ColumnLabels columns = ColumnLabels::none;
  bool rows = false;   // row labels are drawn
  Index row_step = 1;  // every so many rows have a label, so that none overlap
  Index column_step = 1;
};

/// Labels may stand this close, in lines of text: the ink of a line is lower than the line. Where not all have room
/// those that remain stand farther apart: words that are no neighbours would read as a sentence.
inline constexpr float kLabelPitch = 0.78f, kThinnedPitch = 1.05f;

/// Of labels that stand `pitch` apart, every so many are drawn.
Index label_step(float text, float pitch);
/// Sets the steps of a map whose cells and kind of labels are known.
void thin_labels(MapLayout& layout, float text);

/// Fits a map of rows × columns square cells into `area`, labels on the left and on top where there is room for them.
/// `text` is the height of a line of label text, `largest_cell` the most that a cell's side may be.
MapLayout layout_map(const Box& area, Index rows, Index columns, const LabelMetrics& row_labels,
                     const LabelMetrics& column_labels, float text,
                     float largest_cell = std::numeric_limits<float>::infinity());

/// The cell of rows × columns under a point, if there is one.
std::optional<CellRef> cell_at(const MapLayout& layout, Index rows, Index columns, float x, float y);

/// The box of a cell.
Box cell_box(const MapLayout& layout, Index row, Index column);

/// The character's name in the Unicode character database, in small letters (`bubble tea`), cut after 24 characters;
/// `U+10FFFF` where it has none.
std::string character_name(char32_t character);

/// Whether it is a picture by default (Unicode Technical Standard 51: Emoji_Presentation), which outline fonts lack.
bool is_picture(char32_t character);
/// Whether it only changes the picture before it: a skin tone, a joiner, the request for a picture.
bool is_picture_modifier(char32_t character);

}  // namespace headlight
