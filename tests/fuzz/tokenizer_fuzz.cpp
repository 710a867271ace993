// A tokenizer.json of any bytes gives a tokenizer or one line; and whatever tokenizer it is, a text gives tokens whose
// ranges stay in order inside the text, or one line.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "fuzz/require.h"
#include "fuzz/target.h"
#include "read/tokenizer/tokenizer_json.h"

using namespace headlight;

HEADLIGHT_FUZZ_TARGET(tokenizer) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto parsed = parse_tokenizer_json("fuzz", bytes);
  if (!parsed) {
    require_line(parsed.error().message());
    return;
  }
  for (const Error& warning : parsed->warnings) require_line(warning.message());
  vocabulary_of(parsed->tokenizer);
  // The file itself is a text, too, with its own added tokens and words in it.
  for (const std::string_view text : {std::string_view("  Aé我👍🏽 12 <s>\n"), bytes.substr(0, 2000)}) {
    const auto tokens = encode(parsed->tokenizer, text, true);
    if (!tokens) {
      require_line(tokens.error().message());
      continue;
    }
    for (const Token& token : tokens->tokens) {
      require(token.begin <= token.end && token.end <= text.size());
      require(!first_invalid_utf8(token.text));
    }
    require(word_numbers(*tokens).size() == tokens->size());
    const auto again = encode(parsed->tokenizer, text, true);
    require(again && *again == *tokens);
  }
}
