// Options of the view that `figure` and `screenshot` share.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

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

/// --dialect and --block: what a program is written in, and how much of the layer.
inline void add_program_options(CLI::App& command, CodeLook& code) {
  command
      .add_option_function<std::string>(
          "--dialect",
          [&code](const std::string& dialect) { code.dialect = *value_named<Dialect>(kDialectNames, dialect); },
          "numpy (default); einsum: PyTorch, tokens first (i, b, h, d); matmul: PyTorch (b, h, i, d); module: "
          "torch.nn.MultiheadAttention")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kDialectNames), std::end(kDialectNames))));
  command.add_flag("--block", code.block, "The whole block: norms, residual sums and feed-forward");
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
