// The name of a head in words: decided here alone, for the window, figures, pages and the command line.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heads/head_measures.h"
#include "names/named_arcs.h"
#include "question/document.h"
#include "view/settings.h"

namespace headlight {

/// A head without a relation in this sentence is named by the measure that has most of its weight, if that is more
/// than this share; else it is spread out where the normalised entropy of its rows is above the second, and whatever
/// has most where it is above the third: half of the weight on one of two words is no pattern. What is left rests on
/// one token where rests_on_one() says so.
inline constexpr float kLeastShare = 0.5f, kLeastSpread = 0.85f, kEven = 0.95f;

struct HeadName {
  std::string words =
      {};  // "3 determiners, 1 possessor; 6 words rest on <s>", "previous word"; empty: nothing is known yet
  std::string brief = {};  // "3 determiners": of most cells; the same as `words` where there are no relations
  bool named = false;      // by relations of this sentence, else by a measure
  std::optional<Measure> measure = {};     // that it is named by, and …
  float share = 0;                         // … its value
  std::vector<const NamedArc*> arcs = {};  // of `named`: the arcs that the name counts
  std::string label = {};                  // what the map is called where it is no single head's
};

/// What stands above a map: `L1·H2`, or of weights that sum up others `Layer 2`, `H3`, `mean`.
std::string map_label(Language language, const Trace& trace, const HeadRef& head);

/// The name of a head: what it did in this sentence. `measures`: of the answer, null where they are not known (yet).
HeadName head_name(Language language, const SentenceArcs& arcs, const HeadRef& head, const HeadMeasures* measures);

/// The names of some heads of an answer, which is measured for it; their arcs are not kept.
std::vector<HeadName> names_of(Language language, const Document& document, const Trace& trace,
                               const std::vector<HeadRef>& heads);

/// What a cell is: “The” looks at “teacher”, 97 %.
struct CellInWords {
  std::string query, key;     // as its axes show them
  float weight = 0;           // below 0: a mask hides it
  bool itself = false;        // the word looks at itself
  bool rests = false;         // a word looks at a special token
  bool by_hand = false;       // the weight was set by hand
  bool only = false;          // the map has no other
  bool between_words = true;  // neither is a mark or of a picture
  bool share = true;          // false: one of another program's numbers, of which some are below 0
};
/// `folded`: the maps as they are shown, whose words and weight the cell has where it is in them.
CellInWords cell_of(const Trace& trace, const HeadRef& head, const CellRef& cell, const FoldedStack* folded = nullptr);
/// “The” looks at “teacher”, 97 %: determiner → its noun (right in 86 of 100). Then the same in fewer words, each line
/// shorter than the one before, the last without the relation. `arc`: the arc of the cell; null: none, one line.
/// `chosen`: the cell is pinned or under the pointer; any other is the strongest of its head, and the line begins so
/// where the map has more.
std::vector<std::string> lines_of_cell(Language language, const CellInWords& cell, const NamedArc* arc, bool chosen);

/// As much of the name as is not wider than `room` by `width_of`: all, the relation of most cells, without "its", at
/// last cut off with an ellipsis; empty where even that is too short.
std::string name_within(const HeadName& name, float room, const std::function<float(const std::string&)>& width_of);

/// The same in at most `most` lines, broken between words; `taken` of the first line is used already, and where no word
/// fits beside that, the first line is empty.
std::vector<std::string> name_in_lines(const HeadName& name, float room, std::size_t most,
                                       const std::function<float(const std::string&)>& width_of, float taken = 0);

/// What stands above a head's map.
struct HeadTitle {
  std::string head = {}, value = {};    // "L1·H5", "  0.43"
  std::string beside = {};              // on the same line: the name, or its beginning
  std::vector<std::string> below = {};  // lines of the name
  bool named = false;                   // by relations of this sentence; else it is written in grey

  std::string first_line() const {
    return head + value + (beside.empty() || beside.starts_with(' ') ? "" : "  ") + beside;
  }
};
/// A title of one line, its name shortened to `room` (name_within): "  object → its verb". `value` is complete or,
/// where there is no room, empty.
HeadTitle title_within(const HeadRef& head, const HeadName& name, const std::string& value, float room,
                       const std::function<float(const std::string&)>& width_of);

/// The tooltip of a head's name: what it counts, and how often such cells were right where they were measured.
std::string name_explained(Language language, const HeadName& name);

/// How often such a cell was right, of how many: the sentence with the relation and both numbers put in.
std::string measured_in_words(Language language, const Words& sentence, const NamedArc& arc);

/// A share as text: 93 %, 0.4 %, <0.1 %; 100 % only for what rounds to it from 99.95 %.
std::string share_text(double share);

}  // namespace headlight
