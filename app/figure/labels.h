// The words of figures, in English and in Chinese: titles, numbers in cells. Window and files have the same.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/formatted.h"
#include "question/document.h"
#include "words/words.h"

namespace headlight {

/// "1 head", "4 heads", of a pair of texts for one and for many.
std::string counted(Language language, std::size_t count, const auto& texts) {
  return filled(words(language, count == 1 ? texts.one : texts.many), {std::to_string(count)});
}

/// All of a line, or its beginning and an ellipsis: as much as is not wider than `room` by `width_of`.
std::string cut_to(const std::string& line, float room, const std::function<float(const std::string&)>& width_of);

/// The first so many characters of a text and an ellipsis, or all of it, with spaces instead of control characters.
std::string beginning_of(std::string_view text, std::size_t characters);

/// `y of trophy`: a piece with its word; any other token as axes show it.
std::string piece_label(Language language, const Tokens& tokens, Index token);

/// `Layer 1`, `层 1`: counted from 0.
std::string layer_title(Language language, Index layer);
/// encoder, decoder, cross-attention.
std::string stack_title(Language language, Stack stack);
/// The kind of a mask (Mask::kind) in words.
std::string mask_title(Language language, std::string_view kind);
/// The model of the answer: the trained model, a checkpoint's name, fresh weights with their seed.
std::string model_title(Language language, const Document& document);
/// The name of a model as a person reads it: of one that is being trained, `NAME, step 30` in the window's language.
std::string model_name_in(Language language, const std::string& name);

/// A score: two digits after the point.
std::string score_text(double score);
/// A sum, and one of its terms with its sign: four digits after the point.
std::string sum_text(double sum);
std::string term_text(double term);

/// A weight, or another number that is not negative, in the room of a cell: two digits after the point, without the
/// zero before it; from 10 on no digits after the point.
std::string cell_number(float weight);
/// The same of a difference, with its sign: +.75, −.12.
std::string signed_cell_number(float difference);
/// What printf wrote, with a minus sign in place of a hyphen, and no sign before a zero.
std::string typeset(const std::string& number);
/// A number with as many digits as distinguish it from its neighbours, at most six.
std::string brief_number(float value);
/// A number that reads back to the same float: as exports have it.
std::string exact_number(float value);
/// The number by which a head stands in an order: three digits after the point where it is not tiny.
std::string order_number_text(float value);
/// A number beside a colour bar, or in a caption: three digits.
std::string tick_number(float value);

/// Whether a text runs from right to left: its first letter is of Hebrew, Arabic or their neighbours.
bool begins_right_to_left(std::string_view text);

}  // namespace headlight
