// Options of the view that `figure` and `screenshot` share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/formatted.h"
#include "cli/options/parser.h"
#include "view/settings.h"
#include "view/view_names.h"

namespace headlight {

/// --view, of those views for which `wanted` holds; their earlier names are taken too, and what a tool shows.
template <class Wanted>
void add_view(Parser& command, std::string& view, Wanted wanted, const char* help, std::string_view of_tool = {}) {
  std::vector<std::string> names;
  for (const NamedView& one : kNamedViews)
    if (wanted(one)) names.emplace_back(one.name);
  if (!of_tool.empty()) names.emplace_back(of_tool);
  const auto check = [wanted, names, of_tool](const std::string& name) {
    const NamedView* named = named_view(name);
    return (named && wanted(*named)) || name == of_tool
               ? std::string()
               : "expected " + joined_texts(names, ", ") + ", found '" + name + "'";
  };
  command.option("--view", view, help, "{" + joined_texts(names, ",") + "}").check(check);
}

/// An option that takes one of these names, of a value or of an optional one.
template <class Enum, class Value>
Option add_choice(Parser& command, const char* option, Value& value, Names names, const char* help,
                  const char* takes = "") {
  const TakeWord take = [&value, names](const std::string& word) {
    value = *value_named<Enum>(names, word);
    return std::string();
  };
  return command.option(option, take, help, takes).one_of(std::vector<std::string>(names.begin(), names.end()));
}

/// --theme and --language of a picture; without the first the theme that `theme` has, without the second the system's
/// language.
template <class Value>
void add_theme_and_language(Parser& command, Value& theme, std::optional<Language>& language) {
  add_choice<Theme>(command, "--theme", theme, kThemeNames, "light (default) or dark");
  add_choice<Language>(command, "--language", language, kLanguageNames, "en or zh; default: the system's");
}

inline void add_maps(Parser& command, std::optional<MapKind>& maps) {
  add_choice<MapKind>(command, "--maps", maps, Names(kMapKindNames).first(kPlainKinds),
                      "weights (default); norms: how long the vectors are that heads add; rollout: through all layers "
                      "up to each");
}

/// --reduce BY:OVER
inline void add_reduce(Parser& command, std::string& reduction) {
  command.option("--reduce", reduction,
                 "Maps that sum up others, in their place: mean, max, sum, rollout or strongest (which head has the "
                 "largest weight), of heads (each layer has one map), layers (each head one), both, tokens (blocks: "
                 "special tokens, sentence A, B), words, sentences (of a batch, by position)",
                 "HOW:OVER,…");
}

/// --pair: which part of a pair of sentences is the query, and which the key.
inline void add_pair_part(Parser& command, PairPart& part) {
  add_choice<PairPart>(
      command, "--pair", part, kPairNames,
      "Of two sentences (--text-pair): all (default), or one part, a-a, a-b, b-a, b-b: queries of the first "
      "letter's sentence, keys of the second's; rows are not scaled");
}

/// --align: which tokens of A and B belong together.
inline void add_alignment(Parser& command, std::optional<Alignment>& alignment) {
  add_choice<Alignment>(command, "--align", alignment, kAlignments,
                        "Of two answers: the same words belong together (words), or those at the same positions; "
                        "default: words, of patch positions where both have as many");
}

/// --dialect and --block: what a program is written in, and how much of the layer.
inline void add_program_options(Parser& command, CodeLook& code) {
  add_choice<Dialect>(command, "--dialect", code.dialect, kDialectNames,
                      "numpy (default); einsum: PyTorch, tokens first (i, b, h, d); matmul: PyTorch (b, h, i, d); "
                      "module: torch.nn.MultiheadAttention");
  command.option("--block", code.block, "The whole block: norms, residual sums and feed-forward");
}

/// --range: the ends of the colours of weights.
inline void add_range(Parser& command, std::optional<ColourRange>& range) {
  const TakeWord take = [&range](const std::string& word) {
    const auto found = parse_range(word);
    if (found) range = *found;
    return found ? std::string() : "expected " + found.error().expected + ", found '" + word + "'";
  };
  command.option("--range", take, "The numbers at both ends of the colours, 0,0.5, in place of those that fit", "A,B");
}

/// --fold special,words
inline void add_folds(Parser& command, std::vector<std::string>& folds) {
  command
      .option("--fold", folds,
              "special: special tokens left out; words: subwords merged to words, both as the window has it at the "
              "start; none: every token by itself")
      .list()
      .one_of({"special", "words", "none"});
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
