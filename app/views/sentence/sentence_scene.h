// The scene of a sentence: its words as the axis, arcs above them from the words that look to those that they look at,
// the row of the pinned weight as bars below, and under these the row of the same word in every other head. Window and
// figures draw the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figure/drawing/drawing.h"
#include "figure/head_name.h"
#include "figure/page.h"
#include "views/sentence/sentence_content.h"

namespace headlight {

/// Where the scene stands, in pixels of the design; it follows from the size of the window alone.
struct SentenceFrame {
  Box box;
  float k = 1;         // of bars, rows, lanes and the type of words
  float gutter = 118;  // left of the words of a single line
  bool low = false;    // a window of less than 700 pixels
};
/// The frame in this box of a window of that size, all in pixels of the design.
SentenceFrame sentence_frame(const Box& box, float width, float height);

/// The frame on a page, from where it is written on, in the width that is left, and a pixel of the design there.
struct SentenceOnPage {
  SentenceFrame frame;
  float unit = 1;
};
SentenceOnPage sentence_frame_of(const Page& page);

/// What is pointed at, and which arcs are wanted.
struct SentenceWishes {
  std::optional<Index> word = {};       // its arcs of all heads, with their weights
  std::optional<SentenceArc> arc = {};  // in the text's colour
  std::optional<HeadRef> head = {};     // arcs of other heads are faint
  std::optional<float> threshold = {};  // of arcs without a name; nothing: 0.3, more where many would stand
  std::vector<std::string> names = {};  // of content.heads by what they do, in few words; empty ones are left out
  std::vector<bool> unknown = {};       // of content.queries that the model does not know; empty: none
  std::optional<Rgb> ground = {};       // behind the scene; nothing: the theme's
  Theme theme = Theme::light;
  Language language = Language::en;
  ColourMap colours = ColourMap::teal;
  std::optional<ColourScale> scale = {};  // of the strip; nothing: linear, from 0 to 1
  float opacity = 1;
};

/// So many arcs without a name are drawn at most where no threshold is wished, from kLeastArc up.
inline constexpr std::size_t kMostThinArcs = 22;
inline constexpr float kLeastArc = 0.3f;

/// Where things are, in the units of the drawing.
struct DrawnSentence {
  struct Arc {
    SentenceArc arc;
    std::vector<Point> line;  // along it
    Box box() const;
    float distance(Point from) const;
  };
  std::vector<Arc> arcs;  // those that are drawn, the named and the pinned ones last
  struct Row {
    HeadRef head;
    Box box;
  };
  std::vector<Row> rows;         // of the strip
  std::vector<Box> words, keys;  // the chips; of one sentence `keys` is empty
  std::vector<Box> columns;      // of bars and strip
  Box bars;                      // empty: there are none
  float threshold = kLeastArc;   // of arcs without a name
  Index above = 0;               // pairs of words with such a weight
  std::size_t lines = 1;
  float type = 0;  // an em of the words
};

/// Adds the scene; `unit` is a pixel of the design in units of the drawing. Hit boxes: `word I`, of another sentence
/// `key J`, `arc I J`, `bar J`, `row L.H`.
DrawnSentence add_sentence(Drawing& scene, const SentenceContent& content, const SentenceFrame& frame,
                           const SentenceWishes& wishes, float unit, const TextWidth& measure);

/// What lies at a point of the scene.
struct PointedSentence {
  std::optional<Index> word = {};       // that looks
  std::optional<SentenceArc> arc = {};  // an arc, or a cell of the strip
  std::optional<Index> bar = {};        // of the pinned row
  std::optional<HeadRef> head = {};     // of a row of the strip
};
/// An arc that is not farther than `near`, in the units of the drawing.
PointedSentence pointed_at(const SentenceContent& content, const DrawnSentence& drawn, Point at, float near);

/// What a row of the strip has room for of a head's name: of what it does at other places than relations.
std::string name_of_row(Language language, const HeadName& name);
/// `29 pairs above .30`: DrawnSentence::above.
std::string pairs_above(Language language, Index count, float threshold);

/// The name of an arc in few words: "determiner", "pronoun → noun".
std::string arc_name(Language language, const std::string& relation, bool reversed, bool brief = true);
/// The colour of its family of relations, told apart by colour-blind eyes; of letters, with a contrast of 4.5.
Rgb relation_colour(Theme theme, const std::string& relation, bool letters = false);

}  // namespace headlight
