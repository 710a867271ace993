#include "figure/labels.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "derived/fold.h"
#include "figure/drawing/map_layout.h"
#include "models/bundled_models.h"
#include "models/model_choice.h"
#include "words/answer_words.h"
#include "words/figure_words.h"
#include "words/model_words.h"

namespace headlight {

std::string score_text(double score) { return typeset(formatted("%.2f", score)); }
std::string sum_text(double sum) { return typeset(formatted("%.4f", sum)); }
std::string term_text(double term) { return typeset(formatted("%+.4f", term)); }

std::string cut_to(const std::string& line, float room, const std::function<float(const std::string&)>& width_of) {
  if (width_of(line) <= room) return line;
  const std::vector<char32_t> points = code_points(line);
  const auto cut = [&](std::size_t count) {
    std::string text;
    while (count > 0 && points[count - 1] == U' ') --count;
    for (std::size_t i = 0; i < count; ++i) append_utf8(text, points[i]);
    append_utf8(text, U'…');
    return text;
  };
  std::size_t least = 0, most = points.size();  // the most characters before the ellipsis that fit
  while (least < most) {
    const std::size_t middle = (least + most + 1) / 2;
    if (width_of(cut(middle)) <= room) least = middle;
    else most = middle - 1;
  }
  return cut(least);
}

std::string beginning_of(std::string_view text, std::size_t characters) {
  std::string result;
  std::size_t count = 0;
  for (const char32_t c : code_points(text)) {
    if (++count > characters) return result + "…";
    append_utf8(result, c < U' ' || c == 0x7F ? U' ' : c);
  }
  return result;
}

std::string piece_label(Language language, const Tokens& tokens, Index token) {
  const FoldedAxis::Group word = word_at(tokens, token);
  const std::string own = axis_label(tokens.tokens[static_cast<std::size_t>(token)]);
  if (word.count == 1) return own;
  return filled(words(language, kAnswerWords.piece_of), {own, axis_label(joined(tokens, word))});
}

std::string layer_title(Language language, Index layer) {
  return filled(words(language, kFigureWords.layer), {std::to_string(layer)});
}

std::string stack_title(Language language, Stack stack) {
  if (stack == Stack::encoder) return words(language, kModelWords.encoder);
  return words(language, stack == Stack::cross ? kFigureWords.cross_attention : kModelWords.decoder);
}

std::string mask_title(Language language, std::string_view kind) {
  std::string title;
  for (std::size_t at = 0; at <= kind.size();) {
    const auto end = std::min(kind.find('+', at), kind.size());
    const std::string_view part = kind.substr(at, end - at), word = part.substr(0, part.find(':'));
    title += title.empty() ? "" : " + ";
    title += looked_up(language, "masks", word).value_or(std::string(word));
    if (word.size() < part.size()) title += " " + std::string(part.substr(word.size() + 1));
    at = end + 1;
  }
  return title;
}

std::string model_title(Language language, const Document& document) {
  if (is_any_sentence(document)) return words(language, kFigureWords.any_sentence_model);
  if (is_shipped(document))
    return reads_picture(document) ? words(language, kFigureWords.shapes_model)
                                   : words(language, kFigureWords.trained_model) + (" (" + document.model_path + ")");
  if (document.model && document.model->given) return document.model->name;
  if (document.model)
    return filled(words(language, kFigureWords.checkpoint), {model_name_in(language, document.model->name)});
  return filled(words(language, kFigureWords.random_model), {std::to_string(document.config.seed)});
}

std::string model_name_in(Language language, const std::string& name) {
  constexpr std::string_view kStep = ", step ";
  const std::size_t at = name.rfind(kStep);
  if (language == Language::en || at == std::string::npos) return name;
  const std::string step = name.substr(at + kStep.size());
  if (step.empty() || step.find_first_not_of("0123456789") != std::string::npos) return name;
  return filled(words(language, kFigureWords.model_at_step), {name.substr(0, at), step});
}

std::string cell_number(float weight) {
  if (weight == 0.0f) return "0";
  if (weight >= 0.995f && weight <= 1.005f) return "1";
  const std::string text = formatted(weight < 9.995f ? "%.2f" : "%.0f", static_cast<double>(weight));
  return text[0] == '0' ? text.substr(1) : text;
}

std::string signed_cell_number(float difference) {
  const std::string number = cell_number(std::abs(difference));
  if (number == "0" || number == ".00") return number;
  return (difference < 0 ? "−" : "+") + number;
}

std::string typeset(const std::string& number) {
  if (number.find_first_not_of("+-0.") == std::string::npos) return number.substr(number.find_first_not_of("+-"));
  return number.starts_with('-') ? "−" + number.substr(1) : number;
}

std::string brief_number(float value) {
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  const double size = std::abs(static_cast<double>(value));
  return typeset(formatted(size != 0 && (size < 1e-3 || size >= 1e5) ? "%.2e" : "%.4g", static_cast<double>(value)));
}

std::string exact_number(float value) {
  std::string text;
  return append_number(text, value) ? typeset(text) : brief_number(value);
}

std::string order_number_text(float value) {
  const double number = static_cast<double>(value);
  const bool tiny = number != 0 && std::abs(number) < 0.001;
  return formatted(tiny ? "%.1e" : number < 10 ? "%.3f" : "%.1f", number);
}

std::string tick_number(float value) { return typeset(formatted("%.3g", static_cast<double>(value))); }

bool begins_right_to_left(std::string_view text) {
  for (const char32_t c : code_points(text.substr(0, std::min<std::size_t>(text.size(), 1000)))) {
    if ((c >= 0x0590 && c <= 0x08FF) || (c >= 0xFB1D && c <= 0xFDFF) || (c >= 0xFE70 && c <= 0xFEFE)) return true;
    const bool sign = c < U'A' || (c > U'Z' && c < U'a') || (c > U'z' && c < 0x00C0) || (c >= 0x2000 && c < 0x2C00);
    if (!sign) return false;
  }
  return false;
}

}  // namespace headlight
