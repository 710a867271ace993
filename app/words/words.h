// The words that a person reads, in English and in Chinese. The texts are in words.json: of its groups *_words cmake
// makes the headers words/*_words.h (cmake/words.cmake); the rows of the others are looked up here by their names.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/error_code.h"
#include "base/names.h"
#include "view/settings.h"

namespace headlight {

/// The text with each % replaced by the next of the parts. A % of a part stays.
std::string filled(std::string text, std::initializer_list<std::string> parts);

/// words.json, which is part of the program. A row is [English, Chinese]; `operations` are in the order of Operation,
/// and of `glosses` a row is the English word alone.
std::string_view words_json();
const nlohmann::json& words_table();
/// The text of a row in the language.
const char* words(Language language, const nlohmann::json& row);
/// … of the row of this name in a group; nothing where it has none.
std::optional<std::string> looked_up(Language language, const char* group, std::string_view name);

/// What an error, a warning or a finding of this code means, without terms of file formats.
const Words& failure_words(ErrorCode code);

/// All characters that the interface needs in both languages, so that their glyphs are there from the start.
std::string all_words();

/// The English translation of a word of the examples: "ticket" of 机票; empty for other words.
std::string_view gloss_of(std::string_view word);

}  // namespace headlight
