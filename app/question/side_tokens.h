// The tokens of one side of a document, whether it is read as text, as ids or as a conversation.
#pragma once

#include <vector>

#include "question/document.h"
#include "text/tokenizer.h"

namespace headlight {

/// By what a checkpoint reads the texts of this side; null: by nothing.
const Tokenizer* tokenizer_of(const Document& document, TextSide side);

/// Whether the decoder reads its start token alone: it has one, and its text is empty.
bool says_nothing_yet(const Document& document);

/// The sentences of one side, each with as many tokens as it has, and each token with its role where a sentence is a
/// conversation. Errors: those of tokens_of_lines, encoded_lines and chat_text.
Result<std::vector<Tokens>> lines_of_side(const Document& document, TextSide side, const Lexicon& lexicon);

/// Asks by the ids of a text, `1,2,3` in each line that is not empty. Errors name the line, where there are several: no
/// numbers, an id without an embedding; with `notes` these are noted there, and an Error is that no line is left.
Status set_ids(const std::string& where, Document& document, TextSide side, std::string_view text,
               std::vector<Error>* notes = nullptr);

}  // namespace headlight
