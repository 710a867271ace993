// The words of trainings.
#pragma once

#include <string_view>

namespace headlight {

/// words.json, which is part of the program. Its texts are in the header train/train_words.h, which cmake makes of it.
std::string_view train_words_json();

}  // namespace headlight
