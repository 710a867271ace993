// What `figure` and `screenshot` share of saying what is looked at.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "view/view_names.h"

namespace headlight {

/// The names of kNamedViews for which `wanted` holds.
template <class Wanted>
std::vector<std::string> view_names(Wanted wanted) {
  std::vector<std::string> names;
  for (const NamedView& view : kNamedViews)
    if (wanted(view)) names.emplace_back(view.name);
  return names;
}

/// --fold special,words
inline void add_folds(CLI::App& command, std::vector<std::string>& folds) {
  command
      .add_option("--fold", folds,
                  "special: special tokens left out, rows scaled back to 1; words: subwords merged to words")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"special", "words"}));
}

inline FoldChoice fold_choice(const std::vector<std::string>& folds) {
  FoldChoice choice;
  for (const std::string& fold : folds) (fold == "words" ? choice.words : choice.special) = true;
  return choice;
}

}  // namespace headlight
