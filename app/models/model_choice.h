// Which of the two shipped encoders answers a sentence: the grammar's, or the one that reads any sentence.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "models/bundled_models.h"

namespace headlight {

/// The model that reads any sentence. The sliders of the shape do not reach it, and it is loaded when it is
/// needed, so that no start waits for it.
inline constexpr std::string_view kAnySentence = "shipped:any-sentence";

bool is_any_sentence(const Document& document);

/// Whether the tokenizers of a model know every word of the sentences. With `typing` the last word may be the beginning
/// of one. Nothing where there is no word, or no text that could be read.
std::optional<bool> knows_all(const BundledModel& one, const TextInput& text, bool typing);

/// The sentence chooses between kDefaultModel and kAnySentence: the first, where it knows every word, else the second.
/// Documents of other models, and those that read no text, stay as they are; so does one without a word. With `typing`
/// the last word counts as known as long as a known word begins so, and the grammar's model answers. A model comes from
/// `shipped` (null: none) or from one of the documents `seen`, else from its folder; a second model that is not
/// installed is not chosen. Error: a model that cannot be read, or a text; the document is left as it was.
Status choose_model(Document& document, const BundledModels* shipped, const std::vector<const Document*>& seen = {},
                    bool typing = false);

}  // namespace headlight
