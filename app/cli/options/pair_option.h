// --pair: which part of a pair of sentences is the query, and which the key.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "derived/fold.h"

namespace headlight {

inline void add_pair_part(CLI::App& command, std::string& part) {
  command
      .add_option(
          "--pair", part,
          "Of two sentences (--text-pair): all (default), or one part, a-a, a-b, b-a, b-b: queries of the first "
          "letter's sentence, keys of the second's; rows are not scaled")
      ->check(CLI::IsMember({"all", "a-a", "a-b", "b-a", "b-b"}));
}

}  // namespace headlight
