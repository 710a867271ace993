#include "question/text_input.h"

#include <algorithm>
#include <cctype>

#include "base/formatted.h"
#include "base/utf8.h"

namespace headlight {
namespace {

/// The cuts inside one sentence, counted from its beginning.
std::vector<std::size_t> cuts_within(const std::vector<std::size_t>& cuts, Line line) {
  std::vector<std::size_t> inside;
  for (auto at = std::upper_bound(cuts.begin(), cuts.end(), line.begin); at != cuts.end() && *at < line.end; ++at)
    inside.push_back(*at - line.begin);
  return inside;
}

/// None in a text that will be refused.
std::vector<std::size_t> automatic_cuts(std::string_view text, Split split, const Lexicon& lexicon) {
  std::vector<std::size_t> cuts;
  if (!check_text("", text)) return cuts;
  for (const Line line : sentences(text))
    for (const std::size_t cut : cut_points(text.substr(line.begin, line.end - line.begin), split, lexicon))
      cuts.push_back(line.begin + cut);
  return cuts;
}

/// The change from one text to another, in whole characters: the bytes [begin, old_end) became [begin, end).
struct Change {
  std::size_t begin, old_end, end;
};

Change change_between(std::string_view old, std::string_view text) {
  std::size_t begin =
      static_cast<std::size_t>(std::mismatch(old.begin(), old.end(), text.begin(), text.end()).first - old.begin());
  // Different characters may begin with the same bytes, and end with them.
  while (begin > 0 && !(is_boundary(old, begin) && is_boundary(text, begin))) --begin;
  old.remove_prefix(begin);
  text.remove_prefix(begin);
  std::size_t shared = static_cast<std::size_t>(
      std::mismatch(old.rbegin(), old.rend(), text.rbegin(), text.rend()).first - old.rbegin());
  while (shared > 0 && !is_boundary(text, text.size() - shared)) --shared;
  return {begin, begin + old.size() - shared, begin + text.size() - shared};
}

/// The cuts in the changed part and at its two ends, ascending; `automatic` are those of the whole new text.
std::vector<std::size_t> cuts_of_change(const TextInput& before, const Change& change,
                                        const std::vector<std::size_t>& automatic) {
  const auto was_cut = [&](std::size_t at) {
    return std::binary_search(before.hand_cuts->begin(), before.hand_cuts->end(), at);
  };
  const bool cut_before = was_cut(change.begin), cut_after = was_cut(change.old_end);
  if (change.begin == change.end)  // nothing new
    return cut_before || cut_after ? std::vector{change.begin} : std::vector<std::size_t>{};
  std::vector<std::size_t> cuts;
  for (const std::size_t cut : automatic)
    if (cut >= change.begin && cut <= change.end) cuts.push_back(cut);
  const auto at_end = [&](std::size_t cut) { return cut == change.begin || cut == change.end; };
  const bool between_tokens = cut_before || change.begin == 0 || change.begin == before.text.size();
  if (change.begin == change.old_end && between_tokens) {
    // Typed between two tokens: no cut by hand decides which of them it belongs to, if any.
    if (cut_before && std::none_of(cuts.begin(), cuts.end(), at_end)) cuts.insert(cuts.begin(), change.begin);
    return cuts;
  }
  std::erase_if(cuts, at_end);
  if (cut_before) cuts.insert(cuts.begin(), change.begin);
  if (cut_after) cuts.push_back(change.end);
  return cuts;
}

bool is_latin(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::vector<Line> sentences(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t newline = std::min(text.find('\n', begin), text.size());
    std::size_t end = newline;
    if (end > begin && text[end - 1] == '\r') --end;
    if (end > begin) lines.push_back({begin, end});
    begin = newline + 1;
  }
  return lines;
}

std::vector<Line> id_sentences(const TextInput& input) {
  std::vector<Line> lines;
  for (std::size_t i = 0, begin = 0; begin < input.ids.size(); ++i) {
    lines.push_back({begin, i < input.id_cuts.size() ? input.id_cuts[i] : input.ids.size()});
    begin = lines.back().end;
  }
  return lines;
}

std::string ids_text(const TextInput& input, std::string_view between) {
  std::string text;
  for (const Line& line : id_sentences(input)) {
    if (line.begin > 0) text += between;
    for (std::size_t i = line.begin; i < line.end; ++i)
      text.append(i > line.begin ? "," : "").append(std::to_string(input.ids[i]));
  }
  return text;
}

Result<std::vector<std::int64_t>> parse_ids(std::string_view where, std::string_view text) {
  std::vector<std::int64_t> ids;
  if (text.ends_with('\r')) text.remove_suffix(1);
  for (const std::string_view word : split_at(',', text)) {
    const auto id = parse_number<std::int64_t>(word);
    if (!id) return bad_input(where, "", "whole numbers with a comma between them", "'" + std::string(text) + "'");
    if (*id < 0) return bad_input(where, "", "whole numbers, 0 or more", word);
    ids.push_back(*id);
  }
  return ids;
}

TextInput text_input_of(const TextInput& input, Line line) {
  TextInput one{.text = input.text.substr(line.begin, line.end - line.begin), .split = input.split};
  if (input.hand_cuts) one.hand_cuts = cuts_within(*input.hand_cuts, line);
  return one;
}

Status check_text(std::string_view where, std::string_view text) {
  if (text.size() > kMaxTextBytes)
    return bad_input(where, "size", "at most " + std::to_string(kMaxTextBytes) + " bytes", std::to_string(text.size()),
                     ErrorCode::too_large);
  if (const auto valid = check_utf8(where, text); !valid) return valid;
  if (const std::size_t count = sentences(text).size(); count > kMaxSentences)
    return bad_input(where, "sentences", "at most " + std::to_string(kMaxSentences), std::to_string(count),
                     ErrorCode::too_many_sentences);
  return Done{};
}

std::vector<std::size_t> current_cuts(const TextInput& input, const Lexicon& lexicon) {
  return input.hand_cuts ? *input.hand_cuts : automatic_cuts(input.text, input.split, lexicon);
}

Result<std::vector<Tokens>> tokens_of_lines(std::string_view where, const TextInput& input, const Lexicon& lexicon,
                                            std::size_t most) {
  TRY(check_text(where, input.text));
  const auto cuts = current_cuts(input, lexicon);
  std::vector<Tokens> lines;
  for (const Line line : sentences(input.text)) {
    const auto inside = cuts_within(cuts, line);
    if (inside.size() + 1 > most)
      return bad_input(where, "tokens", "at most " + std::to_string(most), std::to_string(inside.size() + 1),
                       ErrorCode::too_many_tokens);
    lines.push_back(tokens_between(input.text.substr(line.begin, line.end - line.begin), inside));
  }
  return lines;
}

void set_text(TextInput& input, std::string text, const Lexicon& lexicon) {
  if (input.hand_cuts) {
    const std::vector<std::size_t>& old_cuts = *input.hand_cuts;
    const Change change = change_between(input.text, text);
    std::vector<std::size_t> cuts;
    for (const std::size_t cut : old_cuts)
      if (cut < change.begin) cuts.push_back(cut);
    const auto inside = cuts_of_change(input, change, automatic_cuts(text, input.split, lexicon));
    cuts.insert(cuts.end(), inside.begin(), inside.end());
    for (const std::size_t cut : old_cuts)
      if (cut > change.old_end) cuts.push_back(cut - change.old_end + change.end);
    std::erase_if(cuts, [&](std::size_t cut) { return cut == 0 || cut >= text.size(); });
    input.hand_cuts = std::move(cuts);
  }
  input.text = std::move(text);
}

void toggle_cut(TextInput& input, std::size_t offset, const Lexicon& lexicon) {
  if (offset == 0 || offset >= input.text.size() || !is_boundary(input.text, offset)) return;
  auto cuts = current_cuts(input, lexicon);
  const auto at = std::lower_bound(cuts.begin(), cuts.end(), offset);
  if (at != cuts.end() && *at == offset) cuts.erase(at);
  else cuts.insert(at, offset);
  input.hand_cuts = std::move(cuts);
}

void insert_word(TextInput& input, std::size_t sentence, std::size_t from_end, std::string_view word,
                 const Lexicon& lexicon) {
  auto cuts = current_cuts(input, lexicon);
  const Line line = sentences(input.text)[sentence];
  const auto inside = cuts_within(cuts, line);
  // Where each token begins, and at last where the line ends: `from_end` counts from there.
  std::vector<std::size_t> begins{line.begin};
  for (const std::size_t cut : inside) begins.push_back(line.begin + cut);
  begins.push_back(line.end);
  const std::size_t at = begins[begins.size() - 1 - std::min(from_end, begins.size() - 1)];

  std::string inserted(word);
  if (at > line.begin && !word.empty() && (is_latin(word.front()) || is_latin(input.text[at - 1])))
    inserted.insert(0, " ");
  input.text.insert(at, inserted);
  for (std::size_t& cut : cuts)
    if (cut > at) cut += inserted.size();
  std::erase(cuts, at);
  if (at < line.end) cuts.insert(std::upper_bound(cuts.begin(), cuts.end(), at), at + inserted.size());
  if (at > line.begin) cuts.insert(std::lower_bound(cuts.begin(), cuts.end(), at), at);
  input.hand_cuts = std::move(cuts);
}

Tokens tokens_of_ids(const std::vector<std::int64_t>& ids) {
  Tokens tokens;
  for (const std::int64_t id : ids) {
    const std::size_t begin = tokens.text.size();
    const std::string text = std::to_string(id);
    if (begin > 0) tokens.text += ' ';
    tokens.text += text;
    tokens.tokens.push_back(
        {.id = id, .text = text, .raw = tokens.text.substr(begin), .begin = begin, .end = tokens.text.size()});
  }
  return tokens;
}

}  // namespace headlight
