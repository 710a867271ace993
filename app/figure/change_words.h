// A change of one word in words, for the window and for pages.
#pragma once

#include <functional>
#include <string>

#include "derived/word_changes.h"
#include "view/settings.h"

namespace headlight {

/// A word as it can be written.
using ShownText = std::function<std::string(const std::string&)>;

/// `tired → wide: street 12 → 82 %`.
std::string change_label(Language language, const WordChange& change, const ShownText& shown);
/// What the change does, and what was tried.
std::string change_tip(Language language, const WordChanges& changes, const WordChange& change, const ShownText& shown);
/// What stands in place of offers: no word moves the row, or the reader's word fits nowhere; empty: nothing.
std::string no_change_line(Language language, const WordChanges& changes, const std::string& own,
                           const ShownText& shown);

}  // namespace headlight
