// Any bytes: what is not UTF-8 is refused, and whatever is cut comes back whole. The first line doubles as a lexicon,
// its words between tabs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "fuzz/require.h"
#include "fuzz/target.h"
#include "text/words.h"

namespace {

using namespace headlight;

void check_cuts(const std::string& text, const std::vector<std::size_t>& cuts) {
  require(are_cuts(text, cuts));
  const Tokens tokens = tokens_between(text, cuts);
  std::string joined;
  for (const Token& token : tokens.tokens) {
    require(token.begin == joined.size() && token.begin < token.end);
    joined += token.raw;
    require(token.end == joined.size() && !token.text.empty() && token.raw.ends_with(token.text));
    require(!first_invalid_utf8(token.text));
  }
  require(joined == text && tokens.text == text);
  const auto marked = parse_marked_tokens("tokens", mark_tokens(text, cuts));
  require(text.empty() ? !marked : marked && *marked == MarkedText{text, cuts});
}

}  // namespace

HEADLIGHT_FUZZ_TARGET(text) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const bool valid = !first_invalid_utf8(bytes);
  require(static_cast<bool>(check_utf8("input", bytes)) == valid);

  // Decoding and encoding again keeps valid text, and makes valid text of anything.
  std::string again;
  for (const char32_t c : code_points(bytes)) append_utf8(again, c);
  require(!first_invalid_utf8(again) && (!valid || again == bytes));

  if (const auto parsed = parse_marked_tokens("tokens", bytes)) {
    require(valid && are_cuts(parsed->text, parsed->cuts));
    require(mark_tokens(parsed->text, parsed->cuts) == bytes);
    check_cuts(parsed->text, parsed->cuts);
  }

  const std::size_t line = std::min(bytes.find('\n'), bytes.size());
  std::string lines = bytes.substr(0, line);
  std::replace(lines.begin(), lines.end(), '\t', '\n');
  auto lexicon = parse_lexicon("lexicon", lines);
  if (!valid) {
    require(line < bytes.size() || !lexicon);
    return;
  }
  if (!lexicon) lexicon = Lexicon{};
  const std::vector<std::size_t> clusters = cut_points(bytes, Split::characters, *lexicon);
  check_cuts(bytes, clusters);
  for (const std::string& text : {bytes, bytes.substr(std::min(line + 1, bytes.size()))}) {
    const std::vector<std::size_t> cuts = cut_points(text, Split::words, *lexicon);
    check_cuts(text, cuts);
    if (text.size() == bytes.size()) require(std::includes(clusters.begin(), clusters.end(), cuts.begin(), cuts.end()));
  }
}
