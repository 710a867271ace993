// What the check of a checkpoint found, for the Chinese window: the lines themselves are English.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

/// The meaning of the line of a Finding, in Chinese.
std::string_view finding_in_chinese(std::string_view line);

/// All of them, for the fonts.
std::string all_finding_words();

}  // namespace headlight
