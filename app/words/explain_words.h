// The matrices, the operations and the steps of an explanation in words, in English and in Chinese.
#pragma once

#include <string>
#include <string_view>

#include "explain/diagram.h"
#include "explain/steps.h"
#include "view/settings.h"

namespace headlight {

/// The description of a matrix, in a few words.
const char* words_of(Language language, Quantity quantity);

/// How a number follows from its terms, in one sentence.
const char* words_of(Language language, Operation operation);

/// A number that is in no matrix, as Cell::constants names them.
std::string constant_name(Language language, std::string_view constant);

/// How a matrix follows from others: the formula, its words in the language.
std::string formula_in(Language language, const Trace& trace, const MatrixId& id);

/// The description of a box of the diagram.
std::string node_title(Language language, const Node& node);

/// The heading of a step by its name; the title of the step where there is none.
std::string step_title(Language language, const Trace& trace, const Step& step);

/// How the step follows from those before it.
std::string step_formula(Language language, const Trace& trace, const Step& step);

/// How far it is from the key's word to the query's:
/// `4 steps through an RNN, 2 layers of convolutions of width 3, 1 here`. Empty of a word and itself.
std::string path_in_words(Language language, const Trace& trace, const HeadRef& head, const CellRef& cell);

/// All of them, for the fonts.
std::string all_explain_words();

}  // namespace headlight
