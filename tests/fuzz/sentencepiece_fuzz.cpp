// A SentencePiece model of any bytes gives pieces or one line; and whatever pieces they are, every family's tokenizer
// is made of them, or one line.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "fuzz/target.h"
#include "read/tokenizer/sentencepiece_tokenizer.h"

namespace {

using namespace headlight;

void try_text(const Tokenizer& tokenizer) {
  const std::string_view text = " the  thé</s>我\t▁";
  const auto tokens = encode(tokenizer, text, true);
  if (!tokens) return require_line(tokens.error().message());
  for (const Token& token : tokens->tokens) require(token.begin <= token.end && token.end <= text.size());
}

}  // namespace

HEADLIGHT_FUZZ_TARGET(sentencepiece) {
  const auto model = parse_sentencepiece_model("fuzz", {reinterpret_cast<const char*>(data), size});
  if (!model) {
    require_line(model.error().message());
    return;
  }
  for (const auto family : {SentencePieceFamily::llama, SentencePieceFamily::t5, SentencePieceFamily::xlm_roberta})
    if (const auto made = sentencepiece_tokenizer("fuzz", *model, family, {})) try_text(made->tokenizer);
    else require_line(made.error().message());
  WordTable words({{"</s>", 0}, {"<unk>", 1}, {"▁", 2}, {"t", 3}});
  if (const auto made = marian_tokenizer("fuzz", *model, words)) try_text(*made);
  else require_line(made.error().message());
}
