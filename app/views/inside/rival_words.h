// Why a word looks at one word and not at another, in words.
#pragma once

#include <string>
#include <vector>

#include "derived/writer_split.h"
#include "view/settings.h"

namespace headlight {

struct RivalWords {
  struct Line {
    std::string text;     // the writer and, of a head, the words that it reads
    std::string favours;  // its part of the difference, at the word that it speaks for
    std::string off;      // the two weights without it; empty where they were not computed
  };
  std::string word = {}, rival = {}, title = {}, carried = {};
  std::vector<Line> lines = {};  // those of Rivals, in its order
  std::string rest = {};         // its part of the difference
};

RivalWords rivals_in_words(Language language, const Trace& trace, Stack stack, const Rivals& rivals);

}  // namespace headlight
