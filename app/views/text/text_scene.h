// The scene of a text that is read: its words in lines, each on a shade of its weight. Window and figures draw the
// same.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "derived/shades.h"
#include "figure/drawing/drawing.h"

namespace headlight {

/// A text in lines, its top left corner at `corner`.
struct TextLines {
  struct Word {
    std::string label;
    float x = 0, width = 0;  // of its letters
    Index line = 0;
  };
  std::vector<Word> words;
  std::vector<Index> begins;  // the first word of each line, then the number of words
  Point corner = {};
  float em = 9, pitch = 15, width = 0;

  Index num_lines() const { return static_cast<Index>(begins.size()) - 1; }
  float height() const { return static_cast<float>(num_lines()) * pitch; }
  /// What shades a word.
  Box box(Index word) const;
  /// The nearest word so many lines further down; the word itself where there is no such line.
  Index below(Index word, Index lines) const;
};

/// Lays out the words of a text, broken between words where a line would be wider than `width`. Words stand as far
/// apart as spaces in `typed` (Tokens::text) part them; of tokens without a text all stand apart, but pieces of words.
/// Of a text that begins from right to left each line runs so too, words and pieces in that order.
TextLines text_lines(const std::vector<Token>& tokens, std::string_view typed, float width, float em,
                     const TextWidth& measure);

/// The texts of an attention: one, or the queries' and the keys'.
struct ShadedTexts {
  struct Side {
    const std::vector<Token>& words;
    std::string_view typed;
  } queries, keys;
  bool one = true;

  const Side& chosen(bool columns) const { return columns ? keys : queries; }
  const Side& shaded(bool columns) const { return columns ? queries : keys; }
};
ShadedTexts shaded_texts(const Trace& trace, const FoldedStack* folded, Stack stack);

/// The colours of these weights of these words: from 0 to a round number above the largest weight of a word that is no
/// special token, since heads rest at those.
ColourScale shade_scale(const Vector& shades, const std::vector<Token>& words, ColourScale scale);

/// "Shaded: where “it” looks · mean of the 4 heads of layer 1"
std::string shades_in_words(Language language, const Trace& trace, const ShadeChoice& choice,
                            const std::vector<Token>& words, const std::vector<Index>& chosen);

struct TextMarks {
  const Vector* shades = nullptr;  // of each word, −1: blocked; null: none is shaded
  ColourScale scale = {};
  const std::vector<Index>* chosen = nullptr;  // words that are outlined, ascending; null: none
  std::string_view hits = "text word ";        // the hit box of word i is `text word i`
  float from_y = 0, to_y = 1e9f;               // lines wholly outside are left out
  float outline = 1;                           // the width of lines
  float opacity = 1;                           // of the shades
  std::optional<Rgb> unknown = {};             // underlines words that the model does not know
};

/// Adds the words of the lines in sight, and their hit boxes.
void add_shaded_text(Drawing& scene, const TextLines& lines, const std::vector<Token>& tokens, const TextMarks& marks,
                     const InkColours& ink);

}  // namespace headlight
