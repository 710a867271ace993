#include "text/wordpiece.h"

#include <algorithm>

#include "text/readable.h"

namespace headlight {
namespace {

Status put_unknown(const WordTable& words, const std::string& unknown, std::string_view piece,
                   std::vector<ModelToken>& tokens) {
  const auto id = words.id(unknown);
  if (!id) return bad_input("tokenizer", "unk_token", "a word of the vocabulary", quoted_word(unknown));
  tokens.push_back({.id = *id, .begin = 0, .end = static_cast<std::uint32_t>(piece.size()), .known = false});
  return Done{};
}

}  // namespace

Status tokenize(const WordPiece& model, std::string_view piece, std::vector<ModelToken>& tokens) {
  const auto characters = std::count_if(piece.begin(), piece.end(), [](char c) { return (c & 0xC0) != 0x80; });
  if (static_cast<std::size_t>(characters) > model.longest_piece)
    return put_unknown(model.words, model.unknown, piece, tokens);
  const std::size_t before = tokens.size();
  for (std::size_t begin = 0; begin < piece.size();) {
    ModelToken longest;
    std::size_t length = 0;
    const std::string_view head = begin > 0 ? std::string_view(model.prefix) : std::string_view{};
    model.words.each_prefix(head, piece.substr(begin), [&](std::size_t found, std::int32_t id) {
      length = found;
      longest.id = id;
    });
    if (length == 0) {
      tokens.resize(before);
      return put_unknown(model.words, model.unknown, piece, tokens);
    }
    longest.begin = static_cast<std::uint32_t>(begin);
    longest.end = static_cast<std::uint32_t>(begin += length);
    tokens.push_back(longest);
  }
  return Done{};
}

Status tokenize(const WordLevel& model, std::string_view piece, std::vector<ModelToken>& tokens) {
  const auto id = model.words.id(piece);
  if (!id) return put_unknown(model.words, model.unknown, piece, tokens);
  tokens.push_back({.id = *id, .begin = 0, .end = static_cast<std::uint32_t>(piece.size())});
  return Done{};
}

}  // namespace headlight
