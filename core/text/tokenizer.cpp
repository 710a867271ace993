#include "text/tokenizer.h"

#include <algorithm>
#include <cassert>
#include <type_traits>

#include "base/utf8.h"
#include "text/words.h"

namespace headlight {
namespace {

struct Range {
  std::size_t begin = 0, end = 0;
};

/// The bytes of the original behind the bytes [begin, end) of a piece, end > begin. In a letter whose length is
/// unchanged, each byte stands for the byte at the same offset.
Range original_range(LetterSpan letters, const Spelling& spelling, std::size_t begin, std::size_t end) {
  const auto& letter_of_byte = spelling.letter_of_byte;
  const auto exact = [&](std::size_t byte, bool past) -> std::size_t {
    const std::uint32_t index = letter_of_byte[byte];
    std::size_t first = byte, last = byte + 1;
    while (first > 0 && letter_of_byte[first - 1] == index) --first;
    while (last < letter_of_byte.size() && letter_of_byte[last] == index) ++last;
    const Letter& letter = letters[index];
    if (last - first != letter.end - letter.begin) return past ? letter.end : letter.begin;
    return letter.begin + (byte - first) + (past ? 1 : 0);
  };
  const Range range{exact(begin, false), exact(end - 1, true)};
  return {range.begin, std::max(range.begin, range.end)};
}

const WordTable& words_of_model(const TokenModel& model) {
  const auto words = [](const auto& one) -> const WordTable& {
    if constexpr (requires { one.words(); }) return one.words();
    else return one.words;
  };
  return std::visit(words, model);
}

/// The text as pieces, added tokens among them, normalised and cut.
Result<Pieces> pieces_of(const Tokenizer& tokenizer, std::string_view text, bool cut_by_hand) {
  const SearchBudget budget(text.size());
  Pieces raw, pieces;
  tokenizer.added.split(letters_of(text), false, raw);
  Letters letters;
  for (const Pieces::Piece& piece : raw.pieces) {
    const LetterSpan span = raw.span(piece);
    if (piece.added >= 0) {
      pieces.add(span, piece.added);
      continue;
    }
    letters.assign(span.begin(), span.end());
    TRY(normalize(tokenizer.normalizers, letters));
    tokenizer.added.split(letters, true, pieces);
  }
  TRY(pre_tokenize(tokenizer.pre_tokenizers, pieces, cut_by_hand));
  return pieces;
}

Token added_token(const AddedToken& added, LetterSpan letters) {
  Token token;
  token.id = added.id;
  token.raw = utf8_of(letters);
  token.text = visible(added.content);
  token.begin = letters.front().begin;
  token.end = std::max(letters.front().begin, letters.back().end);
  return token;
}

Token token_of(const Tokenizer& tokenizer, std::string_view text, const ModelToken& found, LetterSpan letters,
               const Spelling& spelling) {
  const Range range = original_range(letters, spelling, found.begin, found.end);
  Token token;
  token.id = found.id;
  token.begin = range.begin;
  token.end = range.end;
  token.known = found.known;
  token.raw = found.as_written ? std::string_view(spelling.text).substr(found.begin, found.end - found.begin)
                               : words_of_model(tokenizer.model).text(found.id);
  if (tokenizer.foreign) {
    const auto id = tokenizer.foreign->words.id(token.raw);
    token.id = id.value_or(tokenizer.foreign->unknown);
    token.known = found.known && id;
  }
  const bool hidden = !token.known && range.begin < range.end;
  const std::string bytes = hidden ? std::string(text.substr(range.begin, range.end - range.begin))
                                   : bytes_of_word(tokenizer.spelling, token.raw);
  token.text = without_leading_space(visible(bytes));
  return token;
}

/// Adds the special tokens of the templates around the tokens of a text, or of two.
std::vector<Token> surrounded(const std::vector<Template::Part>& parts, const std::vector<Token>& tokens,
                              const std::vector<Token>& second, bool add_special_tokens) {
  std::vector<Token> result;
  std::size_t here = 0;
  for (const Template::Part& part : parts) {
    if (part.is_text) {
      for (Token token : part.second ? second : tokens) {
        token.type = part.type;
        here = token.end;
        result.push_back(std::move(token));
      }
      continue;
    }
    if (!add_special_tokens) continue;
    for (const auto& [id, word] : part.specials) {
      Token token;
      token.id = id;
      token.text = token.raw = word;
      token.begin = token.end = here;
      token.special = true;
      token.type = part.type;
      result.push_back(std::move(token));
    }
  }
  return result;
}

}  // namespace

const WordTable& words_of(const Tokenizer& tokenizer) {
  return tokenizer.foreign ? tokenizer.foreign->words : words_of_model(tokenizer.model);
}

WordSpelling spelling_of(const Tokenizer& tokenizer) {
  const auto is_bytes = [](const auto& rule) {
    using Rule = std::decay_t<decltype(rule)>;
    if constexpr (std::is_same_v<Rule, Normalizer>) return std::holds_alternative<SpellBytes>(rule);
    else return std::holds_alternative<PiecesToBytes>(rule);
  };
  WordSpelling spelling;
  spelling.byte_level = std::any_of(tokenizer.normalizers.begin(), tokenizer.normalizers.end(), is_bytes) ||
                        std::any_of(tokenizer.pre_tokenizers.begin(), tokenizer.pre_tokenizers.end(), is_bytes);
  if (const auto* bpe = std::get_if<Bpe>(&tokenizer.model)) {
    spelling.metaspace = !spelling.byte_level;
    spelling.byte_words = bpe->has_byte_fallback();
    spelling.prefix = bpe->continuing_prefix();
    spelling.suffix = bpe->end_suffix();
  } else if (const auto* unigram = std::get_if<Unigram>(&tokenizer.model)) {
    spelling.metaspace = !spelling.byte_level;
    spelling.byte_words = unigram->has_byte_fallback();
  } else if (const auto* words = std::get_if<WordPiece>(&tokenizer.model)) {
    spelling.prefix = words->prefix;
    spelling.byte_words = words->character_fallback;
  }
  return spelling;
}

namespace {

/// Whether it cuts text into words before it spells them, so that what it makes of a piece are pieces of a word.
bool knows_words(const Tokenizer& tokenizer) {
  const Lexicon* lexicon = lexicon_of(tokenizer);
  return lexicon && lexicon->likely && lexicon->words.empty();
}

/// Tokens::word_rows.
std::int64_t word_rows(const Tokenizer& tokenizer) {
  const auto* pieces = std::get_if<WordPiece>(&tokenizer.model);
  return pieces && knows_words(tokenizer) && !tokenizer.foreign ? pieces->word_rows : 0;
}

Status check_length(std::string_view text) {
  if (text.size() > kLongestText)
    return bad_input("text", "size", "at most " + std::to_string(kLongestText) + " bytes", std::to_string(text.size()),
                     ErrorCode::too_large);
  return check_utf8("text", text);
}

/// The tokens of a text, or of a piece that was cut out of one, without special tokens.
Result<std::vector<Token>> tokens_of(const Tokenizer& tokenizer, std::string_view text, bool cut_by_hand) {
  const auto pieces = TRY(pieces_of(tokenizer, text, cut_by_hand));
  std::vector<Token> result;
  std::vector<ModelToken> found;
  Spelling spelling;
  const bool words = knows_words(tokenizer);
  for (const Pieces::Piece& piece : pieces.pieces) {
    const LetterSpan letters = pieces.span(piece);
    if (piece.added >= 0) {
      result.push_back(added_token(tokenizer.added.tokens()[static_cast<std::size_t>(piece.added)], letters));
      continue;
    }
    spell(letters, spelling);
    found.clear();
    TRY(std::visit([&](const auto& model) { return model.tokenize(spelling.text, found); }, tokenizer.model));
    for (std::size_t i = 0; i < found.size(); ++i) {
      Token& token = result.emplace_back(token_of(tokenizer, text, found[i], letters, spelling));
      if (!words) continue;
      token.continues = i > 0;
      // A word is shown as it was typed, whatever the case of its row.
      if (token.begin < token.end)
        token.text = without_leading_space(visible(text.substr(token.begin, token.end - token.begin)));
    }
  }
  return result;
}

Tokens whole(const Tokenizer& tokenizer, std::string_view text, std::vector<Token> tokens, bool add_special_tokens) {
  Tokens result{.text = std::string(text),
                .tokens = std::move(tokens),
                .has_words = knows_words(tokenizer),
                .word_rows = word_rows(tokenizer)};
  for (const Template& around : tokenizer.templates)
    result.tokens = surrounded(around.parts, result.tokens, {}, add_special_tokens);
  return result;
}

}  // namespace

Result<Tokens> encode(const Tokenizer& tokenizer, std::string_view text, bool add_special_tokens) {
  TRY(check_length(text));
  auto tokens = TRY(tokens_of(tokenizer, text, false));
  return whole(tokenizer, text, std::move(tokens), add_special_tokens);
}

Result<Tokens> encode_pieces(const Tokenizer& tokenizer, std::string_view text, const std::vector<std::size_t>& cuts,
                             bool add_special_tokens) {
  TRY(check_length(text));
  assert(are_cuts(text, cuts));
  const SearchBudget budget(text.size());
  std::vector<Token> tokens;
  for (std::size_t i = 0, begin = 0; i <= cuts.size(); ++i) {
    const std::size_t end = i < cuts.size() ? cuts[i] : text.size();
    auto piece = TRY(tokens_of(tokenizer, text.substr(begin, end - begin), true));
    for (Token& token : piece) {
      token.begin += begin;
      token.end += begin;
      tokens.push_back(std::move(token));
    }
    begin = end;
  }
  return whole(tokenizer, text, std::move(tokens), add_special_tokens);
}

bool takes_pairs(const Tokenizer& tokenizer) {
  return tokenizer.templates.size() == 1 && !tokenizer.templates.front().pair.empty();
}

Result<Tokens> encode_pair(const Tokenizer& tokenizer, std::string_view first, std::string_view second) {
  assert(takes_pairs(tokenizer));
  for (const std::string_view text : {first, second}) TRY(check_length(text));
  const auto before = TRY(tokens_of(tokenizer, first, false));
  auto after = TRY(tokens_of(tokenizer, second, false));
  for (Token& token : after) {
    token.begin += first.size() + 1;
    token.end += first.size() + 1;
  }
  Tokens result{.text = std::string(first) + '\n' + std::string(second),
                .tokens = {},
                .has_words = knows_words(tokenizer),
                .word_rows = word_rows(tokenizer)};
  const std::vector<Template::Part>& parts = tokenizer.templates.front().pair;
  result.tokens = surrounded(parts, before, after, true);
  for (const Template::Part& part : parts) {
    if (part.is_text && part.second) break;
    result.second += part.is_text ? before.size() : part.specials.size();
  }
  return result;
}

bool finds_words(const Tokenizer& tokenizer) { return lexicon_of(tokenizer) != nullptr; }

const Lexicon* lexicon_of(const Tokenizer& tokenizer) {
  for (const PreTokenizer& rule : tokenizer.pre_tokenizers)
    if (const auto* words = std::get_if<SplitLexiconWords>(&rule)) return words->lexicon.get();
  return nullptr;
}

void cut_by(Tokenizer& tokenizer, const Lexicon& lexicon) {
  if (!std::holds_alternative<WordLevel>(tokenizer.model)) return;
  for (PreTokenizer& rule : tokenizer.pre_tokenizers) {
    auto* words = std::get_if<SplitLexiconWords>(&rule);
    if (!words || !words->lexicon || words->lexicon->words.empty()) continue;
    const auto& own = words->lexicon->words;
    words->lexicon = std::make_shared<const Lexicon>(with_words(lexicon, {own.begin(), own.end()}));
  }
}

std::string bytes_of_id(const Tokenizer& tokenizer, std::int64_t id) {
  for (const AddedToken& added : tokenizer.added.tokens())
    if (added.id == id) return added.content;
  const bool possible = id >= 0 && id < kMostTokenIds;
  return possible ? bytes_of_word(tokenizer.spelling, words_of(tokenizer).text(static_cast<std::int32_t>(id))) : "";
}

std::shared_ptr<const Vocabulary> vocabulary_of(const Tokenizer& tokenizer) {
  const WordTable& words = words_of(tokenizer);
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->words.resize(words.ids());
  for (std::size_t id = 0; id < words.ids(); ++id)
    vocabulary->words[id] = visible(bytes_of_word(tokenizer.spelling, words.text(static_cast<std::int32_t>(id))));
  for (const AddedToken& added : tokenizer.added.tokens()) {
    const auto id = static_cast<std::size_t>(added.id);
    if (id >= vocabulary->words.size()) vocabulary->words.resize(id + 1);
    vocabulary->words[id] = visible(added.content);
  }
  return vocabulary;
}

std::vector<std::size_t> word_numbers(const Tokens& tokens) {
  if (tokens.has_words) {
    std::vector<std::size_t> numbers;
    for (const Token& token : tokens.tokens)
      numbers.push_back(numbers.empty() ? 0 : numbers.back() + (token.continues ? 0 : 1));
    return numbers;
  }
  const std::vector<std::size_t> cuts = cut_points(tokens.text, Split::words, Lexicon{});
  std::vector<std::size_t> numbers;
  numbers.reserve(tokens.size());
  std::size_t previous = 0;  // cuts before the token before
  for (const Token& token : tokens.tokens) {
    const auto before =
        static_cast<std::size_t>(std::upper_bound(cuts.begin(), cuts.end(), token.begin) - cuts.begin());
    const bool alone = numbers.empty() || token.special || token.pad || tokens.tokens[numbers.size() - 1].special ||
                       tokens.tokens[numbers.size() - 1].pad;
    numbers.push_back(numbers.empty() ? 0 : numbers.back() + (alone || before != previous ? 1 : 0));
    previous = before;
  }
  return numbers;
}

std::vector<bool> later_parts(const Tokens& tokens) {
  const auto is_part = [&](std::size_t i) {
    const Token& token = tokens.tokens[i];
    return !token.special && !token.pad && token.begin < token.end && token.end <= tokens.text.size();
  };
  const auto numbers = word_numbers(tokens);
  std::vector<bool> later(tokens.size(), false);
  for (std::size_t i = 1; i < tokens.size(); ++i)
    later[i] = numbers[i] == numbers[i - 1] && is_part(i) && is_part(i - 1);
  return later;
}

}  // namespace headlight
