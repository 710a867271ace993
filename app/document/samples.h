// The sample sentences that are one click away, from assets/samples.json.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headlight {

struct Sample {
  std::string text;              // the sentence, or the title of a file
  std::string note_en, note_zh;  // what to look for, one short sentence
  std::string file = {};         // opened in place of a sentence
};

/// [{"text": …, "note": {"en": …, "zh": …}, "file": a path from `folder` on, if any}, …]
Result<std::vector<Sample>> parse_samples(std::string_view where, std::string_view text,
                                          const std::filesystem::path& folder = {});

}  // namespace headlight
