#include "session/document.h"

#include <algorithm>

#include "base/utf8.h"

namespace headlight {
namespace {

/// The cuts inside one sentence, counted from its beginning.
std::vector<std::size_t> cuts_within(const std::vector<std::size_t>& cuts, Line line) {
  std::vector<std::size_t> inside;
  for (const std::size_t cut : cuts)
    if (cut > line.begin && cut < line.end) inside.push_back(cut - line.begin);
  return inside;
}

std::vector<std::size_t> automatic_cuts(std::string_view text, Split split, const Lexicon& lexicon) {
  std::vector<std::size_t> cuts;
  for (const Line line : sentences(text))
    for (const std::size_t cut : cut_points(text.substr(line.begin, line.end - line.begin), split, lexicon))
      cuts.push_back(line.begin + cut);
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
  if (const auto valid = check_utf8("text", document.text); !valid) return valid.error();
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
  for (Request& request : requests) request.tokens = padded(std::move(request.tokens), longest);
  return requests;
}

void set_text(Document& document, std::string text, const Lexicon& lexicon) {
  if (document.hand_cuts) {
    const std::string& old = document.text;
    const auto forward = std::mismatch(old.begin(), old.end(), text.begin(), text.end());
    const std::size_t prefix = static_cast<std::size_t>(forward.first - old.begin());
    const auto backward = std::mismatch(old.rbegin(), old.rend() - static_cast<std::ptrdiff_t>(prefix), text.rbegin(),
                                        text.rend() - static_cast<std::ptrdiff_t>(prefix));
    const std::size_t suffix = static_cast<std::size_t>(backward.first - old.rbegin());
    std::vector<std::size_t> cuts;
    for (const std::size_t cut : *document.hand_cuts)
      if (cut <= prefix && cut < text.size()) cuts.push_back(cut);
    for (const std::size_t cut : automatic_cuts(text, document.split, lexicon))
      if (cut > prefix && cut < text.size() - suffix) cuts.push_back(cut);
    for (const std::size_t cut : *document.hand_cuts) {
      if (cut <= prefix || cut < old.size() - suffix) continue;
      const std::size_t moved = cut + text.size() - old.size();
      if (moved > 0 && moved < text.size() && (cuts.empty() || cuts.back() < moved)) cuts.push_back(moved);
    }
    // A common prefix or suffix of bytes may end inside a character.
    std::erase_if(cuts, [&](std::size_t cut) { return !is_boundary(text, cut); });
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
