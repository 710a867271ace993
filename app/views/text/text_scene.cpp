#include "views/text/text_scene.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "figure/labels.h"
#include "figure/map_scene.h"
#include "figure/page.h"
#include "words/text_words.h"
#include "words/words.h"

namespace headlight {
namespace {

/// In ems: what a shade is wider than its word at either side, the gaps of shades that no space parts and that one
/// does, from one line to the next, and the height of a shade.
constexpr float kAround = 0.08f, kLeastGap = 0.02f, kSpace = 0.16f, kTextPitch = 1.75f, kShade = 1.35f;
/// Up to this position of the colour map a word keeps the colour of text.
constexpr float kPlainText = 0.15f;
/// Of the shades of special tokens.
constexpr float kSpecialOpacity = 0.4f;

bool is_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// A token as it was typed, with the spaces around it; empty where it has no range in the text.
std::string_view as_typed(std::string_view typed, const Token& token) {
  if (token.end <= token.begin || token.end > typed.size()) return {};
  return typed.substr(token.begin, token.end - token.begin);
}

enum class Parted { no, by_space, by_line };

/// What parts a word from the one before.
Parted parted(std::string_view typed, const Token& before, const Token& token) {
  const std::string_view left = as_typed(typed, before), right = as_typed(typed, token);
  const std::size_t ink = std::min(right.find_first_not_of(" \t\n\r"), right.size());
  const std::size_t end = left.find_last_not_of(" \t\n\r") + 1;  // 0: all is white
  if (left.substr(end).find('\n') != std::string_view::npos ||
      (ink < right.size() && right.substr(0, ink).find('\n') != std::string_view::npos))
    return Parted::by_line;
  if (token.special || before.special) return Parted::by_space;
  if (left.empty() || right.empty())
    return token.continues || token.raw.starts_with("##") ? Parted::no : Parted::by_space;
  return is_white(right.front()) || is_white(left.back()) ? Parted::by_space : Parted::no;
}

/// Whether a line may end between two words.
bool may_part(const std::string& before, Parted apart, const std::string& after) {
  const auto left = code_points(before), right = code_points(after);
  if (left.empty() || right.empty()) return true;
  return may_break(apart == Parted::by_space ? U' ' : left.back(), right.front());
}

}  // namespace

Box TextLines::box(Index word) const {
  const Word& at = words[static_cast<std::size_t>(word)];
  return {corner.x + at.x - kAround * em, corner.y + static_cast<float>(at.line) * pitch + (pitch - kShade * em) / 2,
          at.width + 2 * kAround * em, kShade * em};
}

Index TextLines::below(Index word, Index lines) const {
  const Word& from = words[static_cast<std::size_t>(word)];
  const Index line = from.line + lines;
  if (line < 0 || line >= num_lines()) return word;
  const float middle = from.x + from.width / 2;
  const auto distance = [&](Index at) {
    const Word& one = words[static_cast<std::size_t>(at)];
    return std::abs(one.x + one.width / 2 - middle);
  };
  Index nearest = begins[static_cast<std::size_t>(line)];
  for (Index at = nearest; at < begins[static_cast<std::size_t>(line) + 1]; ++at)
    if (distance(at) < distance(nearest)) nearest = at;
  return nearest;
}

namespace {

/// Whether a word has letters that run from the right, or from the left, or a number; else it has signs alone.
enum class Runs { right, left, number, nowhere };

Runs runs_of(std::string_view word) {
  if (begins_right_to_left(word)) return Runs::right;
  Runs runs = Runs::nowhere;
  for (const char32_t c : code_points(word)) {
    if ((c | 32) >= U'a' && ((c | 32) <= U'z' || c >= 0x00C0) && !(c >= 0x2000 && c < 0x2C00)) return Runs::left;
    if (c >= U'0' && c <= U'9') runs = Runs::number;
  }
  return runs;
}

/// Words that run against their line stand in their own order, with the numbers behind them: a name in Latin letters
/// within a Hebrew sentence.
void turn_phrases(TextLines& lines, Runs with) {
  const Runs against = with == Runs::right ? Runs::left : Runs::right;
  for (std::size_t first = 0, behind = 0; first < lines.words.size(); first = behind) {
    std::size_t last = first;
    const Index line = lines.words[first].line;
    const bool turns = runs_of(lines.words[first].label) == against;
    for (behind = first + 1; turns && behind < lines.words.size() && lines.words[behind].line == line; ++behind) {
      const Runs runs = runs_of(lines.words[behind].label);
      if (runs == with) break;
      if (runs != Runs::nowhere) last = behind;
    }
    behind = last + 1;
    const auto &one = lines.words[first], &other = lines.words[last];
    const float both = std::min(one.x, other.x) + std::max(one.x + one.width, other.x + other.width);
    for (std::size_t at = first; at < behind; ++at)
      lines.words[at].x = both - lines.words[at].x - lines.words[at].width;
  }
}

}  // namespace

TextLines text_lines(const std::vector<Token>& tokens, std::string_view typed, float width, float em,
                     const TextWidth& measure) {
  TextLines lines{.words = {}, .begins = {}, .em = em, .pitch = std::round(4 * kTextPitch * em) / 4, .width = width};
  const float around = kAround * em, most = width - 2 * around;
  const auto width_of = [&](const std::string& text) { return measure(text, em); };
  lines.words.reserve(tokens.size());
  float x = around;
  std::size_t begin = 0, break_at = 0;  // the first word of the line, and the last one before which it may be broken
  const auto break_line = [&](std::size_t first) {
    lines.begins.push_back(static_cast<Index>(first));
    begin = break_at = first;
    const float shift = (first < lines.words.size() ? lines.words[first].x : x) - around;
    for (std::size_t moved = first; moved < lines.words.size(); ++moved)
      lines.words[moved].x -= shift, ++lines.words[moved].line;
    x -= shift;
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string label = cut_to(axis_label(tokens[i]), most, width_of);
    const float wide = width_of(label);
    const Parted apart = i > 0 ? parted(typed, tokens[i - 1], tokens[i]) : Parted::by_line;
    if (i > 0) x += 2 * around + (apart == Parted::by_space ? kSpace : kLeastGap) * em;
    if (apart == Parted::by_line) break_line(i);
    else if (may_part(lines.words.back().label, apart, label)) break_at = i;
    if (x + wide + around > width && begin < i) break_line(break_at > begin ? break_at : i);
    lines.words.push_back({std::move(label), x, wide, static_cast<Index>(lines.begins.size()) - 1});
    x += wide;
  }
  lines.begins.push_back(static_cast<Index>(tokens.size()));
  const bool from_right = begins_right_to_left(typed);
  for (TextLines::Word& word : lines.words)
    if (from_right) word.x = width - word.x - word.width;
  turn_phrases(lines, from_right ? Runs::right : Runs::left);
  return lines;
}

ShadedTexts shaded_texts(const Trace& trace, const FoldedStack* folded, Stack stack) {
  const Tokens &queries = trace.query_tokens(stack), &keys = trace.key_tokens(stack);
  const bool one = stack != Stack::cross && (!folded || folded->fold.queries.groups == folded->fold.keys.groups);
  return {{folded ? folded->fold.queries.tokens : queries.tokens, queries.text},
          {folded ? folded->fold.keys.tokens : keys.tokens, keys.text},
          one};
}

ColourScale shade_scale(const Vector& shades, const std::vector<Token>& words, ColourScale scale) {
  float largest = 0, of_special = 0;
  for (std::size_t at = 0; at < words.size() && static_cast<Index>(at) < shades.size(); ++at) {
    float& most = words[at].special ? of_special : largest;
    const float shade = shades(static_cast<Index>(at));
    if (std::isfinite(shade)) most = std::max(most, scale.diverging ? std::abs(shade) : shade);
  }
  if (scale.diverging) scale.top = nice_range(std::max(largest, of_special));
  else scale.top = top_of_weights(std::min(1.0f, largest > 0 ? largest : of_special));
  return scale;
}

std::string shades_in_words(Language language, const Trace& trace, const ShadeChoice& choice,
                            const std::vector<Token>& tokens, const std::vector<Index>& chosen) {
  if (chosen.empty()) return words(language, kTextWords.nothing);
  const bool several = chosen.size() > 1;
  const Words& line = choice.columns ? (several ? kTextWords.looked_at_several : kTextWords.looked_at)
                                     : (several ? kTextWords.looks_at_several : kTextWords.looks_at);
  const std::string of =
      several ? std::to_string(chosen.size()) : axis_label(tokens[static_cast<std::size_t>(chosen[0])]);
  std::string text = filled(words(language, line), {of});
  const std::size_t num_heads = shading_heads(trace, choice).size();
  if (num_heads == 1) return text;
  const std::string heads = std::to_string(num_heads), layer = std::to_string(choice.head.layer);
  if (choice.heads == ShadeHeads::all) return text + " · " + filled(words(language, kTextWords.mean_of_all), {heads});
  const bool chinese = language == Language::zh;
  return text + " · " +
         filled(words(language, kTextWords.mean_of_layer), {chinese ? layer : heads, chinese ? heads : layer});
}

void add_shaded_text(Drawing& scene, const TextLines& lines, const std::vector<Token>& tokens, const TextMarks& marks,
                     const InkColours& ink) {
  const auto line_at = [&](float y) {
    return std::clamp<Index>(static_cast<Index>((y - lines.corner.y) / lines.pitch), 0, lines.num_lines());
  };
  const auto begin_of = [&](Index line) { return lines.begins[static_cast<std::size_t>(line)]; };
  const Index first = begin_of(line_at(marks.from_y));
  const Index end = begin_of(std::min(lines.num_lines(), line_at(std::min(marks.to_y, 1e7f)) + 1));
  const Theme theme = marks.scale.theme;
  for (Index i = first; i < end; ++i) {
    const TextLines::Word& word = lines.words[static_cast<std::size_t>(i)];
    const Token& token = tokens[static_cast<std::size_t>(i)];
    const Box box = lines.box(i);
    const float corner = 0.2f * lines.em, y = box.y + box.h / 2;
    const float weight = marks.shades ? (*marks.shades)(i) : 0;
    const bool blocked = is_blocked(marks.scale, weight), pale = token.special;
    const Rgb shade = colour_of(marks.scale, weight);
    Rgb colour = blocked || token.pad || pale ? ink.dim : ink.text;
    if (blocked) {
      scene.add(Rectangle{.box = box, .fill = blocked_colours(theme).tint, .corner = corner, .opacity = marks.opacity});
    } else if (shade != colour_of(marks.scale, 0)) {
      scene.add(Rectangle{
          .box = box, .fill = shade, .corner = corner, .opacity = marks.opacity * (pale ? kSpecialOpacity : 1.0f)});
      if (!pale && position_on_map(marks.scale, weight) > kPlainText) colour = text_on(shade);
    }
    scene.add(Text{.at = {lines.corner.x + word.x, y},
                   .text = word.label,
                   .size = lines.em,
                   .width = word.width,
                   .role = Role::label,
                   .colour = colour});
    if (token.pad) scene.add(Stroke{{box.x, y}, {box.right(), y}, marks.outline / 2, ink.dim});
    if (!token.known && marks.unknown)
      scene.add(Stroke{{box.x, box.bottom()}, {box.right(), box.bottom()}, marks.outline, *marks.unknown});
    scene.hits.push_back({std::string(marks.hits) + std::to_string(i), box});
  }
  if (!marks.chosen) return;
  for (auto at = std::lower_bound(marks.chosen->begin(), marks.chosen->end(), first);
       at != marks.chosen->end() && *at < end; ++at) {
    Rectangle frame = cell_outline(lines.box(*at), 0, ink.accent, 2 * marks.outline);
    frame.corner = 0.2f * lines.em;
    scene.add(frame);
  }
}

}  // namespace headlight
