// The words beside arrays that a program holds.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "read/external/held_arrays.h"

namespace headlight {

/// Words in each form that a file has them in as one, a JSON list of texts in the metadata: a text with spaces, ids (an
/// array of them too), a list in a list.
void take_words(ArrayFile& file);

/// Whether the tokens are a list for each sentence.
bool lists_sentences(const ArrayFile& held);

/// Of words that are a list for each sentence those of one; a last word that generate() did not read goes, and is told.
Status choose_words(std::string_view where, const ArrayChoice& choice, const std::map<std::string, Array>& arrays,
                    std::map<std::string, std::string>& metadata, std::vector<Error>& notes);

/// The tokens of a list in JSON; without one they are numbered. An Error names the key, where it is no list of texts
/// or has another length.
Result<Tokens> parse_tokens(std::string_view where, const std::string& key, const std::optional<std::string>& list,
                            Index count);

/// The words of both sides. `tokens` are those of the source, which are the keys where the file names a target; of one
/// side alone, where only its number of words fits, that one's.
Status name_sides(std::string_view where, const ArrayFile& file, Stack stack, bool one, ExternalStack& named,
                  Index queries, Index keys);

/// Warnings of lists of words that name neither side.
std::vector<Error> words_of_no_side(std::string_view where, const ArrayFile& file);

}  // namespace headlight
