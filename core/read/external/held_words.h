// The words beside arrays that a program holds.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "read/external/held_arrays.h"

namespace headlight {

/// Whether the tokens are a list for each sentence.
bool lists_sentences(const ArrayFile& held);

/// Of words that are a list for each sentence those of one; a last word that generate() did not read goes, and is told.
Status choose_words(std::string_view where, const ArrayChoice& choice, const std::map<std::string, Array>& arrays,
                    std::map<std::string, std::string>& metadata, std::vector<Error>& notes);

/// Warnings of lists of words that name neither side.
std::vector<Error> words_of_no_side(std::string_view where, const ArrayFile& file);

}  // namespace headlight
