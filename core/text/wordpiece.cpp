#include "text/wordpiece.h"

#include <algorithm>

#include "base/formatted.h"
#include "base/utf8.h"
#include "text/characters.h"
#include "text/readable.h"

namespace headlight {
namespace {

Status put_unknown(const WordTable& words, const std::string& unknown, std::string_view piece,
                   std::vector<ModelToken>& tokens) {
  const auto id = words.id(unknown);
  if (!id)
    return bad_input("tokenizer", "unk_token", "a word of the vocabulary", quoted_word(unknown),
                     ErrorCode::no_unknown_token);
  tokens.push_back({.id = *id, .begin = 0, .end = static_cast<std::uint32_t>(piece.size()), .known = false});
  return Done{};
}

std::string byte_word(char byte) { return formatted("<0x%02X>", static_cast<unsigned char>(byte)); }

/// The tokens of the character that begins at `begin`; its length.
Result<std::size_t> put_character(const WordPiece& model, std::string_view piece, std::size_t begin,
                                  std::size_t first_token, std::vector<ModelToken>& tokens) {
  std::size_t end = begin + 1;
  while (end < piece.size() && (piece[end] & 0xC0) == 0x80) ++end;
  const std::string_view character = piece.substr(begin, end - begin);
  const auto place = [](std::size_t at) { return static_cast<std::uint32_t>(at); };
  if (const auto id = model.words.id(character)) {
    tokens.push_back({.id = *id, .begin = place(begin), .end = place(end)});
    return character.size();
  }
  if (is_chinese_character(code_points(character).front())) {
    const std::size_t before = tokens.size();
    for (std::size_t at = begin; at < end; ++at)
      if (const auto id = model.words.id(byte_word(piece[at])))
        tokens.push_back({.id = *id, .begin = place(at), .end = place(at + 1)});
    if (tokens.size() == before + character.size()) return character.size();
    tokens.resize(before);
  }
  if (tokens.size() > first_token && !tokens.back().known) {
    tokens.back().end = place(end);
    return character.size();
  }
  const auto id = model.words.id(model.unknown);
  if (!id)
    return bad_input("tokenizer", "unk_token", "a word of the vocabulary", quoted_word(model.unknown),
                     ErrorCode::no_unknown_token);
  tokens.push_back({.id = *id, .begin = place(begin), .end = place(end), .known = false});
  return character.size();
}

}  // namespace

Status tokenize(const WordPiece& model, std::string_view piece, std::vector<ModelToken>& tokens) {
  const auto characters = std::count_if(piece.begin(), piece.end(), [](char c) { return (c & 0xC0) != 0x80; });
  if (!model.character_fallback && static_cast<std::size_t>(characters) > model.longest_piece)
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
    if (length == 0 && model.character_fallback) {
      const auto passed = put_character(model, piece, begin, before, tokens);
      if (!passed) return passed.error();
      begin += *passed;
      continue;
    }
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
