// The name of a head in words: decided here alone, for the window, figures, pages and the command line.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "document/document.h"
#include "document/sentence_facts.h"
#include "heads/head_measures.h"
#include "train/measure/relations.h"
#include "view/settings.h"

namespace headlight {

/// A head without a relation is named by the measure that has most of its weight, if that is more than this share; it
/// is spread out where the normalised entropy of its rows is above the other.
inline constexpr float kLeastShare = 0.5f, kLeastSpread = 0.85f;

struct HeadName {
  std::string words;                        // "object → its verb", "previous word"; empty: nothing is known of it yet
  const RelationScore* relation = nullptr;  // that the head has; of the document's card
  double score = 0, alone = 0;              // of the relation: the share that is right, and what position alone reaches
  std::optional<Measure> measure = {};      // that it is named by, and …
  float share = 0;                          // … its value
  std::string taught;                       // " taught", behind the score of a relation that the head was taught
  bool doubtful = false;                    // is_doubted
};

/// Whether the relations of the shipped grammar are meant: they were measured on its sentences alone.
bool is_of_grammar(const std::string& relation);
/// Whether the sentence is no reason to believe the measured relation: it has words that the model does not know, or is
/// of another kind than those measured; of a relation that was measured on sentences of all kinds, is_of_other_words.
/// Decided here alone, for the window, figures, pages and `heads`.
bool is_doubted(const RelationScore& relation, const SentenceFacts& facts);

/// The name of a head. `measures`: of the answer, null where they are not known (yet); `facts`: of its sentence. Of
/// several relations of a head those that the sentence has come first, then those that it was chosen for, before
/// those of which it is the best in the other direction; then the one farthest above position.
HeadName head_name(Language language, const Document& document, const HeadRef& head, const HeadMeasures* measures,
                   const SentenceFacts& facts);

/// The names of some heads of an answer, which is measured for it.
std::vector<HeadName> names_of(Language language, const Document& document, const Trace& trace,
                               const std::vector<HeadRef>& heads);

/// The name, and of a relation its score: "object → its verb 100 %"; empty where there is none.
std::string name_with_score(const HeadName& name);

/// As much of the name as is not wider than `room` by `width_of`: with its score, without it, without "its", at last
/// cut off with an ellipsis; empty where even that is too short.
std::string name_within(const HeadName& name, float room, const std::function<float(const std::string&)>& width_of);

/// The same in at most so many lines, broken between words; of the first one so much is taken already, and where
/// nothing has room beside it, it is empty.
std::vector<std::string> name_in_lines(const HeadName& name, float room, std::size_t most,
                                       const std::function<float(const std::string&)>& width_of, float taken = 0);

/// The title of a head, a value of it if there is one, and its name: "L1·H5", "  0.43", "  object → its verb 100 %".
struct MeasuredTitle {
  std::string head, value, relations;
  bool quiet = false;  // the name states nothing that was proved of this sentence: it is written in grey
};
/// Of the name what `room` leaves to it (name_within). `value` is there whole or, where there is no room, not at all.
MeasuredTitle measured_title(const HeadRef& head, const HeadName& name, const std::string& value, float room,
                             const std::function<float(const std::string&)>& width_of);

/// The tooltip of a head's name: the measurement, its method, and reasons to doubt it.
std::string name_explained(Language language, const HeadName& name, const SentenceFacts& facts);

/// A share as text: 93 %, 0.4 %, <0.1 %; 100 % only for what rounds to it from 99.95 %.
std::string share_text(double share);

}  // namespace headlight
