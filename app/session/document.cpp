#include "session/document.h"

#include <algorithm>

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

/// Whether the text can be cut at all; what it is cut into may still be too much.
Status check_text(std::string_view text) {
  if (text.size() > kMaxTextBytes)
    return bad_input("text", "size", "at most " + std::to_string(kMaxTextBytes) + " bytes",
                     std::to_string(text.size()));
  if (const auto valid = check_utf8("text", text); !valid) return valid;
  if (const std::size_t count = sentences(text).size(); count > kMaxSentences)
    return bad_input("text", "sentences", "at most " + std::to_string(kMaxSentences), std::to_string(count));
  return Done{};
}

/// None in a text that will be refused.
std::vector<std::size_t> automatic_cuts(std::string_view text, Split split, const Lexicon& lexicon) {
  std::vector<std::size_t> cuts;
  if (!check_text(text)) return cuts;
  for (const Line line : sentences(text))
    for (const std::size_t cut : cut_points(text.substr(line.begin, line.end - line.begin), split, lexicon))
      cuts.push_back(line.begin + cut);
  return cuts;
}

/// What changed from one text to another, in whole characters: the bytes [begin, old_end) became [begin, end).
struct Change {
  std::size_t begin, old_end, end;
};

Change change_between(std::string_view old, std::string_view text) {
  std::size_t begin = static_cast<std::size_t>(
      std::mismatch(old.begin(), old.end(), text.begin(), text.end()).first - old.begin());
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
std::vector<std::size_t> cuts_of_change(const Document& before, const Change& change,
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
    // Typed between two tokens: which of them it belongs to, if any, is not said by hand.
    if (cut_before && std::none_of(cuts.begin(), cuts.end(), at_end)) cuts.insert(cuts.begin(), change.begin);
    return cuts;
  }
  std::erase_if(cuts, at_end);
  if (cut_before) cuts.insert(cuts.begin(), change.begin);
  if (cut_after) cuts.push_back(change.end);
  return cuts;
}

Error too_many_tokens(std::size_t found) {
  return bad_input("text", "tokens", "at most " + std::to_string(kMaxTokens), std::to_string(found));
}

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

std::vector<std::size_t> current_cuts(const Document& document, const Lexicon& lexicon) {
  return document.hand_cuts ? *document.hand_cuts : automatic_cuts(document.text, document.split, lexicon);
}

Result<std::vector<Request>> requests_of(const Document& document, const Lexicon& lexicon) {
  Request common{.model = document.model,
                 .config = document.model ? document.model->config : document.config,
                 .tokens = {},
                 .mask = document.mask,
                 .edits = document.edits};
  if (document.model) return std::vector<Request>{common};
  if (const auto valid = check_text(document.text); !valid) return valid.error();
  if (const auto valid = check(document.config); !valid) return valid.error();

  const auto cuts = current_cuts(document, lexicon);
  std::vector<Request> requests;
  std::size_t longest = 0;
  for (const Line line : sentences(document.text)) {
    const auto inside = cuts_within(cuts, line);
    if (inside.size() + 1 > kMaxTokens) return too_many_tokens(inside.size() + 1);
    common.tokens = with_padding_marked(
        tokens_between(document.text.substr(line.begin, line.end - line.begin), inside), document.pad);
    longest = std::max(longest, common.tokens.size());
    requests.push_back(common);
  }
  if (requests.empty()) return bad_input("text", "tokens", "at least one", "none");
  if (requests.size() > 1 && requests.size() * longest > kMaxBatchTokens)
    return bad_input("text", "tokens of the batch, every sentence as long as the longest",
                     "at most " + std::to_string(kMaxBatchTokens), std::to_string(requests.size() * longest));
  for (Request& request : requests) request.tokens = padded(std::move(request.tokens), longest);
  return requests;
}

void set_text(Document& document, std::string text, const Lexicon& lexicon) {
  if (document.hand_cuts) {
    const std::vector<std::size_t>& old_cuts = *document.hand_cuts;
    const Change change = change_between(document.text, text);
    std::vector<std::size_t> cuts;
    for (const std::size_t cut : old_cuts)
      if (cut < change.begin) cuts.push_back(cut);
    const auto inside = cuts_of_change(document, change, automatic_cuts(text, document.split, lexicon));
    cuts.insert(cuts.end(), inside.begin(), inside.end());
    for (const std::size_t cut : old_cuts)
      if (cut > change.old_end) cuts.push_back(cut - change.old_end + change.end);
    std::erase_if(cuts, [&](std::size_t cut) { return cut == 0 || cut >= text.size(); });
    document.hand_cuts = std::move(cuts);
  }
  document.text = std::move(text);
}

void toggle_cut(Document& document, std::size_t offset, const Lexicon& lexicon) {
  if (offset == 0 || offset >= document.text.size() || !is_boundary(document.text, offset)) return;
  auto cuts = current_cuts(document, lexicon);
  const auto at = std::lower_bound(cuts.begin(), cuts.end(), offset);
  if (at != cuts.end() && *at == offset) cuts.erase(at);
  else cuts.insert(at, offset);
  document.hand_cuts = std::move(cuts);
}

}  // namespace headlight
