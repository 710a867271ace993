// The parts of the scene of a sentence. All lengths are pixels of the design; add_sentence scales the finished drawing.
#pragma once

#include <map>

#include "views/sentence/sentence_scene.h"

namespace headlight {

struct SentenceInks {
  Rgb ground, text, dim, line, accent, chip, outline, grey, selected, action, caution;
};
SentenceInks sentence_inks(Theme theme);
/// `share` of b in a.
Rgb mixed(Rgb a, Rgb b, float share);

/// A chip of the axis, without its height.
struct WordPlace {
  float x = 0, w = 0;
  std::size_t line = 0;
  float middle() const { return x + w / 2; }
};

struct WordLines {
  float size = 12, pad = 3;
  std::vector<WordPlace> places;  // of every word
  std::size_t lines = 1;
  float height() const { return std::round(size * 1.45f) + (size > 16 ? 4 : 2); }
};

/// What the parts share while the scene is made.
struct SentenceCanvas {
  const SentenceContent& content;
  const SentenceFrame& frame;
  const SentenceWishes& wishes;
  SentenceInks inks;
  TextWidth width;  // in pixels of the design
  Drawing drawing = {};
  DrawnSentence drawn = {};

  void text(Point at, const std::string& text, float size, Rgb colour, Anchor anchor = Anchor::left,
            TextRotation turn = TextRotation::level);
  float left() const { return frame.box.x; }
  float right() const { return frame.box.right(); }
};

/// The width of the bars and the strip of a word alone, in whose middle it stands.
inline float lone_column(const SentenceFrame& frame) { return 0.6f * (frame.box.w - frame.gutter); }

/// The words in as few lines as they fit into at a legible size.
WordLines word_lines(const SentenceCanvas& canvas, const std::vector<SentenceWord>& words,
                     const std::vector<SentenceArc>& arcs);
/// The arcs of one sentence over its lines; `tops` are the upper edges of the chips, `areas` the heights above them.
void add_arcs(SentenceCanvas& canvas, const WordLines& words, const std::vector<SentenceArc>& arcs,
              const std::vector<float>& tops, const std::vector<float>& areas);
/// How many lanes the arcs of a line take.
std::size_t lanes_of(const SentenceCanvas& canvas, const WordLines& words, const std::vector<SentenceArc>& arcs,
                     std::size_t line);
/// Lines between two sentences.
void add_crossings(SentenceCanvas& canvas, const WordLines& upper, const WordLines& lower,
                   const std::vector<SentenceArc>& arcs, float from, float to);
/// Pairs of words whose arcs have no name, by their weight; sets `threshold` and `above`.
std::vector<SentenceArc> thin_arcs(SentenceCanvas& canvas, const std::vector<SentenceArc>& bold);
/// The pinned row as bars, then the row of its word in all other heads, from `y` on.
void add_strip(SentenceCanvas& canvas, const WordLines& words, float y);
/// The middle of a chip's upper edge is at its place's; words that are looked at or look are outlined.
void add_chips(SentenceCanvas& canvas, const std::vector<SentenceWord>& words, const WordLines& lines,
               const std::vector<float>& tops, bool queries);

}  // namespace headlight
