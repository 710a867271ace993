// What a search for changes of one word needs besides the answer: the sentence with another word in it, as the window
// or a page would ask about it.
#pragma once

#include "derived/word_changes.h"
#include "models/bundled_models.h"

namespace headlight {

/// Whether other words are tried in this answer: to a single text of at most kLongestChanged tokens, by a model that
/// guesses words.
bool may_change_words(const Document& document, const Trace& trace);
/// For this row of it: that of a word, no weight of it set by hand, in a head that is on. `edits`: those of the answer.
bool may_change_row(const Trace& trace, const Edits& edits, const HeadRef& head, Index query);

/// Of the document's sentence with this number. `shipped`: the models that the changed sentence may choose among; a
/// sentence that another model would answer is not tried. It refers to all that it is given.
ChangeSource change_source(const Document& document, const BundledModels* shipped, const Lexicon& lexicon,
                           std::size_t sentence);

}  // namespace headlight
