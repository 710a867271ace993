// Where the bold arcs of a sentence stand: their ends on the words, their lanes and heights.
#pragma once

#include "views/sentence/sentence_parts.h"

namespace headlight {

/// An arc, or its half, on one line of words.
struct LaidArc {
  const SentenceArc* arc;
  float x0, x1, from, to;  // its left and right end; where it leaves and arrives
  std::string name = {};
  float label = 0;                 // the width of the name
  std::optional<Index> away = {};  // the word of its other half, on another line
  bool onwards = false;            // … which is further down
  std::size_t lane = 0;
  float height = 0, middle = 0;  // of the flat top; of the name
  float span() const { return x1 - x0; }
};

/// Whether the arc, or its word, is pointed at; whether something else is.
bool is_lit_arc(const SentenceWishes& wishes, const SentenceArc& arc);
bool is_faint_arc(const SentenceWishes& wishes, const SentenceArc& arc);

/// The name on an arc of this span, and an em of it where those of others have `size`.
std::string name_of_arc(const SentenceCanvas& canvas, const SentenceArc& arc, float span, float size);
float type_of_name(const SentenceArc& arc, float size);
float width_of_arc(const SentenceArc& arc);

/// Where an arc stands on a word: left-going arcs from the short to the long, then right-going ones from the long to
/// the short, so that nested arcs never cross.
using Ports = std::map<std::pair<const SentenceArc*, Index>, float>;

Ports ports_of(const WordLines& words, const std::vector<SentenceArc>& arcs);

/// The arcs that touch a line, short ones first, each in the lowest lane above all that it spans.
std::vector<LaidArc> laid_out(const SentenceCanvas& canvas, const WordLines& words,
                              const std::vector<SentenceArc>& arcs, const Ports& ports, std::size_t line, float size);
std::size_t count_of(const std::vector<LaidArc>& laid);
/// Gives each arc the height of its lane, and more where there is nothing above it; whether names have room.
bool raise_arcs(const SentenceCanvas& canvas, std::vector<LaidArc>& laid, float area, float size);

}  // namespace headlight
