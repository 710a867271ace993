// The sample sentences that are one click away, from assets/samples.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headlight {

struct Sample {
  std::string text;
  std::string note_en, note_zh;  // what to look for, one short sentence
};

/// [{"text": …, "note": {"en": …, "zh": …}}, …]
Result<std::vector<Sample>> parse_samples(std::string_view where, std::string_view text);

}  // namespace headlight
