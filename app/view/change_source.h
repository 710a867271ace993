// What a search for changes of one word needs besides the answer: the sentence with another word in it, as the window
// or a page would ask about it.
#pragma once

#include "derived/word_changes.h"
#include "models/bundled_models.h"

namespace headlight {

/// Of the document's sentence with this number. `shipped`: the models that the changed sentence may choose among; a
/// sentence that another model would answer is not tried. It refers to all that it is given.
ChangeSource change_source(const Document& document, const BundledModels* shipped, const Lexicon& lexicon,
                           std::size_t sentence);

}  // namespace headlight
