#include "text/pre_tokenizer.h"

#include <algorithm>
#include <cassert>
#include <type_traits>

#include "text/characters.h"
#include "text/words.h"

namespace headlight {
namespace {

using Stretches = std::vector<Stretch>;

/// Stretches of one letter where `found` holds, of as many as there are in between.
template <class Found>
Stretches stretches_of(LetterSpan letters, Found found) {
  Stretches stretches;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (found(letters[i].code)) stretches.push_back({i, i + 1, true});
    else if (!stretches.empty() && !stretches.back().found) stretches.back().end = i + 1;
    else stretches.push_back({i, i + 1, false});
  }
  return stretches;
}

/// Joins stretches by the rule; afterwards the stretches marked as found are dropped.
Stretches joined(Stretches stretches, Delimiters delimiters) {
  if (delimiters == Delimiters::removed) return stretches;
  const bool backwards = delimiters == Delimiters::merged_with_next;
  if (backwards) std::reverse(stretches.begin(), stretches.end());
  Stretches result;
  bool previous = false;  // whether the stretch before was found; nothing before counts as not found
  for (const Stretch& stretch : stretches) {
    const bool joins = delimiters == Delimiters::isolated     ? false
                       : delimiters == Delimiters::contiguous ? stretch.found == previous
                                                              : stretch.found && !previous;
    previous = stretch.found;
    if (!joins || result.empty()) result.push_back({stretch.begin, stretch.end, false});
    else if (backwards) result.back().begin = stretch.begin;
    else result.back().end = stretch.end;
  }
  if (backwards) std::reverse(result.begin(), result.end());
  return result;
}

/// Rewrites all pieces but added tokens: `rule` puts what becomes of a piece.
template <class Rule>
Status rewrite(Pieces& pieces, Rule rule) {
  Pieces result;
  result.letters.reserve(pieces.letters.size());
  for (const Pieces::Piece& piece : pieces.pieces) {
    if (piece.added >= 0) {
      result.add(pieces.span(piece), piece.added);
      continue;
    }
    TRY(rule(pieces.span(piece), result));
  }
  pieces = std::move(result);
  return Done{};
}

void put(LetterSpan letters, const Stretches& stretches, Delimiters delimiters, Pieces& result) {
  for (const Stretch& stretch : joined(stretches, delimiters))
    if (!stretch.found) result.add(letters.subspan(stretch.begin, stretch.end - stretch.begin));
}

bool is_of(CharacterKind kind, char32_t c) {
  switch (kind) {
    case CharacterKind::white_space: return is_white_space(c);
    case CharacterKind::punctuation: return is_punctuation(c);
    case CharacterKind::numeric: return is_numeric(c);
  }
  return false;
}

Status apply(const SplitAtKind& split, Pieces& pieces) {
  return rewrite(pieces, [&split](LetterSpan letters, Pieces& result) -> Status {
    put(letters, stretches_of(letters, [&split](char32_t c) { return is_of(split.kind, c); }), split.delimiters,
        result);
    return Done{};
  });
}

Status apply(const SplitAtPattern& split, Pieces& pieces) {
  Finder finder(split.pattern);
  return rewrite(pieces, [&](LetterSpan letters, Pieces& result) -> Status {
    auto stretches = TRY(finder.find(letters));
    if (split.invert)
      for (Stretch& stretch : stretches) stretch.found = !stretch.found;
    put(letters, stretches, split.delimiters, result);
    return Done{};
  });
}

Status apply(SplitWords, Pieces& pieces) {
  enum class Kind { space, word, other };
  const auto kind = [](char32_t c) {
    return is_white_space(c) ? Kind::space : is_word_character(c) ? Kind::word : Kind::other;
  };
  return rewrite(pieces, [&kind](LetterSpan letters, Pieces& result) -> Status {
    for (std::size_t begin = 0, end = 0; begin < letters.size(); begin = end) {
      const Kind first = kind(letters[begin].code);
      for (end = begin + 1; end < letters.size() && kind(letters[end].code) == first;) ++end;
      if (first != Kind::space) result.add(letters.subspan(begin, end - begin));
    }
    return Done{};
  });
}

Status apply(SplitEvenly split, Pieces& pieces) {
  return rewrite(pieces, [&split](LetterSpan letters, Pieces& result) -> Status {
    for (std::size_t begin = 0; begin < letters.size(); begin += split.length)
      result.add(letters.subspan(begin, std::min(split.length, letters.size() - begin)));
    return Done{};
  });
}

Letters with_prefix(char32_t prefix, LetterSpan letters) {
  Letters result{{prefix, letters.front().begin, letters.front().begin}};
  result.insert(result.end(), letters.begin(), letters.end());
  return result;
}

Status apply(PrefixSpace, Pieces& pieces) {
  return rewrite(pieces, [](LetterSpan letters, Pieces& result) -> Status {
    if (letters.front().code == U' ') result.add(letters);
    else result.add(with_prefix(U' ', letters));
    return Done{};
  });
}

Status apply(PiecesToBytes, Pieces& pieces) {
  return rewrite(pieces, [](LetterSpan letters, Pieces& result) -> Status {
    Letters bytes(letters.begin(), letters.end());
    spell_bytes(bytes);
    result.add(bytes);
    return Done{};
  });
}

Status apply(const Metaspace& metaspace, Pieces& pieces) {
  return rewrite(pieces, [&metaspace](LetterSpan letters, Pieces& result) -> Status {
    const char32_t mark = metaspace.replacement;
    Letters marked(letters.begin(), letters.end());
    for (Letter& letter : marked)
      if (letter.code == U' ') letter.code = mark;
    const bool prepends = metaspace.prepend == Metaspace::Prepend::always ||
                          (metaspace.prepend == Metaspace::Prepend::first && marked.front().begin == 0);
    if (prepends && marked.front().code != mark) marked = with_prefix(mark, marked);
    if (metaspace.split)
      put(marked, stretches_of(marked, [mark](char32_t c) { return c == mark; }), Delimiters::merged_with_next, result);
    else result.add(marked);
    return Done{};
  });
}

/// Adds a word without the white space around it; that before it goes to the bytes of its first letter.
void add_word(LetterSpan letters, Pieces& result) {
  const auto is_space = [](const Letter& letter) { return is_white_space(letter.code); };
  const auto begin = std::find_if_not(letters.begin(), letters.end(), is_space);
  if (begin == letters.end()) return;
  auto end = letters.end();
  while (is_space(*(end - 1))) --end;
  Letters word(begin, end);
  word.front().begin = letters.front().begin;
  result.add(word);
}

Status cut_words(const SplitLexiconWords& rule, Pieces& pieces, bool cut_by_hand) {
  assert(rule.lexicon);
  Spelling spelling;
  return rewrite(pieces, [&](LetterSpan letters, Pieces& result) -> Status {
    std::size_t begin = 0;
    if (!cut_by_hand) {
      spell(letters, spelling);
      for (const std::size_t cut : cut_points(spelling.text, Split::words, *rule.lexicon)) {
        const std::size_t end = spelling.letter_of_byte[cut];
        add_word(letters.subspan(begin, end - begin), result);
        begin = end;
      }
    }
    add_word(letters.subspan(begin), result);
    return Done{};
  });
}

}  // namespace

const char* const kGpt2Split = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

void Pieces::add(LetterSpan piece, std::int32_t added) {
  if (piece.empty()) return;
  const std::size_t begin = letters.size();
  letters.insert(letters.end(), piece.begin(), piece.end());
  pieces.push_back({begin, letters.size(), added});
}

Status pre_tokenize(const std::vector<PreTokenizer>& rules, Pieces& pieces, bool cut_by_hand) {
  const std::size_t most = most_letters(pieces.letters.size());
  for (const PreTokenizer& rule : rules) {
    TRY(std::visit(
        [&](const auto& known) -> Status {
          if constexpr (std::is_same_v<std::decay_t<decltype(known)>, SplitLexiconWords>)
            return cut_words(known, pieces, cut_by_hand);
          else return apply(known, pieces);
        },
        rule));
    TRY(check_growth(pieces.letters.size(), most));
  }
  return Done{};
}

Result<AddedTokens> AddedTokens::make(std::vector<AddedToken> tokens, const std::vector<Normalizer>& rules) {
  std::vector<WordTable::Word> contents, normalized_contents;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const AddedToken& token = tokens[i];
    assert(!token.content.empty());
    if (!token.normalized) {
      contents.push_back({token.content, static_cast<std::int32_t>(i)});
      continue;
    }
    Letters letters = letters_of(token.content);
    TRY(normalize(rules, letters));
    normalized_contents.push_back({utf8_of(letters), static_cast<std::int32_t>(i)});
  }
  AddedTokens added;
  added.tokens_ = std::move(tokens);
  added.contents_ = WordTable(std::move(contents));
  added.normalized_contents_ = WordTable(std::move(normalized_contents));
  return added;
}

void AddedTokens::split(LetterSpan letters, bool normalized, Pieces& pieces) const {
  const WordTable& contents = normalized ? normalized_contents_ : contents_;
  if (contents.size() == 0) return pieces.add(letters);
  Spelling spelling;
  spell(letters, spelling);
  const std::string_view text = spelling.text;
  const auto letter_at = [&](std::size_t byte) {
    return byte < text.size() ? std::size_t{spelling.letter_of_byte[byte]} : letters.size();
  };
  std::size_t done = 0;  // letters that are in a piece already
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 0;
    std::int32_t which = -1;
    contents.each_prefix({}, text.substr(at), [&](std::size_t found, std::int32_t number) {
      length = found;
      which = number;
    });
    if (length == 0) {
      ++at;
      continue;
    }
    std::size_t begin = letter_at(at), end = letter_at(at + length);
    at += length;
    const AddedToken& token = tokens_[static_cast<std::size_t>(which)];
    if (token.single_word && ((begin > 0 && is_word_character(letters[begin - 1].code)) ||
                              (end < letters.size() && is_word_character(letters[end].code))))
      continue;
    if (token.strip_left) {
      while (begin > 0 && is_white_space(letters[begin - 1].code)) --begin;
      begin = std::max(begin, done);
    }
    if (token.strip_right)
      while (end < letters.size() && is_white_space(letters[end].code)) ++end;
    if (done < begin) pieces.add(letters.subspan(done, begin - done));
    pieces.add(letters.subspan(begin, end - begin), which);
    done = end;
  }
  if (done < letters.size()) pieces.add(letters.subspan(done));
}

}  // namespace headlight
