// The sample sentences that are one click away, from assets/samples.json.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/words.h"

namespace headlight {

struct Sample {
  std::string text;                    // the sentence, or the title of a file
  std::string note_en, note_zh;        // what to look for, one short sentence
  std::string file = {};               // opened instead of a sentence
  std::string change = {}, into = {};  // a word of it, and its replacement, which changes what the heads do
};

/// [{"text": …, "note": {"en": …, "zh": …}, "file": a path from `folder` on, if any, "change": a word of the text, if
/// any, "into": …}, …]
Result<std::vector<Sample>> parse_samples(std::string_view where, std::string_view text,
                                          const std::filesystem::path& folder = {});

/// The samples that come with the program, read once.
const Result<std::vector<Sample>>& read_samples();

/// The words of each sample that is one sentence, cut by the lexicon.
std::vector<std::vector<std::string>> words_of_samples(const Lexicon& lexicon);

}  // namespace headlight
