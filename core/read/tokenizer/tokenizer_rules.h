// The rules of a tokenizer.json: its normalizer, pre_tokenizer and post_processor. A new type is a new row in a table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "read/json/json_fields.h"
#include "text/likely_words.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer.h"

namespace headlight {

/// Of what is read so far nothing counts if there is a problem: an unknown type, a field that is not as it must be. A
/// null is no rule; a sequence is its rules one after the other.
std::vector<Normalizer> normalizers_from(const JsonField& field);
/// In `Words`, a rule that only Headlight has, the lexicon is left open: it is the vocabulary's.
std::vector<PreTokenizer> pre_tokenizers_from(const JsonField& field);
/// "costs": [[7.25, "的 了"], …], words of Chinese characters by their cost in nats (text/likely_words.h).
std::vector<LikelyWords::Word> word_costs_from(const JsonField& costs);
/// The template that they put around a single text; their changes of byte ranges are left out.
std::vector<Template> templates_from(const JsonField& field);

/// The steps of ByteLevel: perhaps a space in front, perhaps GPT-2's split, bytes as letters.
std::vector<PreTokenizer> byte_level_rules(bool prefix_space, bool split);
/// An expression of the program, known to be good.
Regex known_regex(std::string_view expression);
/// Special tokens before and after the text.
Template template_around(std::vector<std::pair<std::int32_t, std::string>> before,
                         std::vector<std::pair<std::int32_t, std::string>> after);
/// The same for pairs: what ends a text stands `separators` times between two, and once behind the second, which has
/// this type as its end does.
Template for_pairs(Template around, int separators, int type);

}  // namespace headlight
