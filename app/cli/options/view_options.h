// Options of the view that `figure` and `screenshot` share.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "view/settings.h"
#include "view/view_names.h"

namespace headlight {

/// Takes the names of those views for which `wanted` holds, and their earlier names.
template <class Wanted>
CLI::Validator view_names(Wanted wanted) {
  std::string names;
  for (const NamedView& view : kNamedViews)
    if (wanted(view)) names.append(names.empty() ? "" : ",").append(view.name);
  const auto check = [wanted, names](const std::string& name) {
    const NamedView* view = named_view(name);
    return view && wanted(*view) ? std::string() : name + " not in {" + names + "}";
  };
  return CLI::Validator(check, "{" + names + "}", "view");
}

/// An option that takes one of these names, of a value or of an optional one.
template <class Enum, class Value>
CLI::Option* add_choice(CLI::App& command, const char* option, Value& value, Names names, const char* help) {
  const auto take = [&value, names](const std::string& word) { value = *value_named<Enum>(names, word); };
  return command.add_option_function<std::string>(option, take, help)
      ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())));
}

/// --theme and --language of a picture; without the first the theme that `theme` has, without the second the system's
/// language.
template <class Value>
void add_theme_and_language(CLI::App& command, Value& theme, std::optional<Language>& language) {
  add_choice<Theme>(command, "--theme", theme, kThemeNames, "light (default) or dark");
  add_choice<Language>(command, "--language", language, kLanguageNames, "en or zh; default: the system's");
}

inline void add_maps(CLI::App& command, std::optional<MapKind>& maps) {
  add_choice<MapKind>(command, "--maps", maps, kMapKindNames,
                      "weights (default); norms: how long the vectors are that heads add; rollout: through all layers "
                      "up to each");
}

/// --pair: which part of a pair of sentences is the query, and which the key.
inline void add_pair_part(CLI::App& command, PairPart& part) {
  add_choice<PairPart>(
      command, "--pair", part, kPairNames,
      "Of two sentences (--text-pair): all (default), or one part, a-a, a-b, b-a, b-b: queries of the first "
      "letter's sentence, keys of the second's; rows are not scaled");
}

/// --dialect and --block: what a program is written in, and how much of the layer.
inline void add_program_options(CLI::App& command, CodeLook& code) {
  add_choice<Dialect>(command, "--dialect", code.dialect, kDialectNames,
                      "numpy (default); einsum: PyTorch, tokens first (i, b, h, d); matmul: PyTorch (b, h, i, d); "
                      "module: torch.nn.MultiheadAttention");
  command.add_flag("--block", code.block, "The whole block: norms, residual sums and feed-forward");
}

/// --fold special,words
inline void add_folds(CLI::App& command, std::vector<std::string>& folds) {
  command
      .add_option("--fold", folds,
                  "special: special tokens left out, rows scaled back to 1; words: subwords merged to words, as the "
                  "window has it at the start; none: every token by itself")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"special", "words", "none"}));
}

inline FoldChoice fold_choice(const std::vector<std::string>& folds) {
  FoldChoice choice;
  for (const std::string& fold : folds) {
    if (fold == "special") choice.special = true;
    if (fold == "words") choice.words = true;
  }
  return choice;
}

}  // namespace headlight
