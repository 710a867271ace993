// The words about the order of the heads and about finding them, in both languages.
#pragma once

#include <string>

#include "gui/gui.h"

namespace headlight {

/// An order: its name, and one sentence that says what it goes by, with the source of the measure.
struct OrderWords {
  const char* name;
  const char* tip;
};
OrderWords order_words(Language language, const HeadOrder& order);

enum class HeadStr {
  order, largest_first, smallest_first, tip_direction, find, tip_find, from_hint, to_hint, looks_at, more_than, tip_above,
  found_of, no_such_word, pinned_cell, tip_pinned_cell, trying, tip_order, count
};
const char* head_words(Language language, HeadStr string);

/// All characters of these words in both languages.
std::string all_head_words();

}  // namespace headlight
