#include "text/subwords.h"

#include <algorithm>
#include <cassert>
#include <queue>

#include "base/formatted.h"
#include "base/utf8.h"
#include "text/characters.h"

namespace headlight {

WordTable::WordTable(std::vector<Word> words) : words_(std::move(words)) {
  const auto before = [](const Word& a, const Word& b) { return a.text < b.text; };
  const auto not_before = [&](const Word& a, const Word& b) { return !before(a, b); };
  if (std::adjacent_find(words_.begin(), words_.end(), not_before) != words_.end()) {
    std::stable_sort(words_.begin(), words_.end(), before);
    // Of equal ones the last is kept.
    const auto repeated =
        std::unique(words_.rbegin(), words_.rend(), [](const Word& a, const Word& b) { return a.text == b.text; });
    words_.erase(words_.begin(), repeated.base());
  }
  for (std::size_t i = 0; i < words_.size(); ++i) {
    assert(words_[i].id >= 0 && words_[i].id < kMostTokenIds);
    const auto id = static_cast<std::size_t>(words_[i].id);
    if (id >= word_of_id_.size()) word_of_id_.resize(id + 1, -1);
    word_of_id_[id] = static_cast<std::int32_t>(i);
  }
  std::size_t at = 0;
  for (std::size_t byte = 0; byte < first_.size(); ++byte) {
    while (at < words_.size() &&
           (words_[at].text.empty() || static_cast<unsigned char>(words_[at].text.front()) < byte))
      ++at;
    first_[byte] = at;
  }
}

std::optional<std::int32_t> WordTable::id(std::string_view text) const {
  const auto found = std::lower_bound(words_.begin(), words_.end(), text,
                                      [](const Word& word, std::string_view wanted) { return word.text < wanted; });
  if (found == words_.end() || found->text != text) return std::nullopt;
  return found->id;
}

std::string_view WordTable::text(std::int32_t id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= word_of_id_.size()) return {};
  const std::int32_t at = word_of_id_[static_cast<std::size_t>(id)];
  return at < 0 ? std::string_view{} : std::string_view(words_[static_cast<std::size_t>(at)].text);
}

namespace {

constexpr std::int32_t kNone = -1;

std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
}

std::string byte_word(unsigned byte) { return formatted("<0x%02X>", byte); }

/// The ids of <0x00> … <0xFF>, −1 where the vocabulary lacks one.
std::vector<std::int32_t> byte_word_ids(const WordTable& words) {
  std::vector<std::int32_t> ids(256, kNone);
  for (unsigned byte = 0; byte < 256; ++byte) ids[byte] = words.id(byte_word(byte)).value_or(kNone);
  return ids;
}

/// The token of what the vocabulary lacks.
Result<ModelToken> unknown_token(const WordTable& words, const std::string& unknown, std::size_t begin,
                                 std::size_t end) {
  if (const auto id = words.id(unknown))
    return ModelToken{*id, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), false};
  return bad_input("tokenizer", "unk_token", "a word of the vocabulary", quoted_word(unknown),
                   ErrorCode::no_unknown_token);
}

}  // namespace

/// A part of the piece that is one token so far, linked to its neighbours.
struct Bpe::Symbol {
  std::int32_t id = 0;
  std::uint32_t begin = 0, end = 0;
  bool known = true;
  std::int32_t previous = kNone, next = kNone;
  bool gone = false;  // merged into the one before it
};

Result<Bpe> Bpe::make(std::string_view where, WordTable words, BpeOptions options,
                      const std::vector<std::pair<std::string_view, std::string_view>>& merges) {
  std::vector<Merge> found;
  found.reserve(merges.size());
  const auto missing = [&](std::size_t rank, std::string_view word) {
    return bad_input(where, "merge " + std::to_string(rank), "words of the vocabulary", quoted_word(word));
  };
  const std::size_t prefix = options.continuing_prefix.size();
  std::string merged;
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const auto [left, right] = merges[rank];
    const auto left_id = words.id(left), right_id = words.id(right);
    if (!left_id) return missing(rank, left);
    if (!right_id || right.size() < prefix) return missing(rank, right);
    merged.assign(left).append(right.substr(prefix));
    const auto id = words.id(merged);
    if (!id) return missing(rank, merged);
    found.push_back({pair_of(*left_id, *right_id), static_cast<std::int32_t>(rank), *id});
  }
  std::sort(found.begin(), found.end(),
            [](const Merge& a, const Merge& b) { return a.pair != b.pair ? a.pair < b.pair : a.rank > b.rank; });
  found.erase(std::unique(found.begin(), found.end(), [](const Merge& a, const Merge& b) { return a.pair == b.pair; }),
              found.end());
  return of_merges(std::move(words), std::move(options), std::move(found));
}

Bpe Bpe::of_merges(WordTable words, BpeOptions options, std::vector<Merge> merges) {
  Bpe bpe;
  bpe.merges_ = std::move(merges);
  bpe.words_ = std::move(words);
  bpe.options_ = std::move(options);
  if (bpe.options_.byte_fallback) bpe.byte_ids_ = byte_word_ids(bpe.words_);
  return bpe;
}

const Bpe::Merge* Bpe::merge_of(std::int32_t left, std::int32_t right) const {
  const std::uint64_t pair = pair_of(left, right);
  const auto found = std::lower_bound(merges_.begin(), merges_.end(), pair,
                                      [](const Merge& merge, std::uint64_t wanted) { return merge.pair < wanted; });
  return found != merges_.end() && found->pair == pair ? &*found : nullptr;
}

Status Bpe::symbols_of(std::string_view piece, std::vector<Symbol>& symbols) const {
  std::optional<Symbol> unknown;  // not yet among the symbols, for the next may be fused with it
  const auto put_unknown = [&] {
    if (unknown) symbols.push_back(*unknown);
    unknown.reset();
  };
  std::string word;
  for (std::size_t begin = 0, end = 0; begin < piece.size(); begin = end) {
    end = character_end(piece, begin);
    word.clear();
    if (begin > 0) word += options_.continuing_prefix;
    word += piece.substr(begin, end - begin);
    if (end == piece.size()) word += options_.end_suffix;
    const auto from = static_cast<std::uint32_t>(begin), to = static_cast<std::uint32_t>(end);
    if (const auto id = words_.id(word)) {
      put_unknown();
      symbols.push_back({.id = *id, .begin = from, .end = to});
      continue;
    }
    const auto is_byte = [this](char c) { return byte_ids_[static_cast<unsigned char>(c)] != kNone; };
    if (options_.byte_fallback && std::all_of(word.begin(), word.end(), is_byte)) {
      // The bytes come before an unknown character that still waits, as they do in Hugging Face's tokenizers; so that
      // ranges do not run backwards, they begin at its first byte.
      const std::uint32_t first = unknown ? unknown->begin : from;
      for (std::size_t i = 0; i < word.size(); ++i) {
        const auto at = first + static_cast<std::uint32_t>(std::min(i, end - begin - 1));
        symbols.push_back({.id = byte_ids_[static_cast<unsigned char>(word[i])], .begin = at, .end = at + 1});
      }
      if (unknown) {
        unknown->begin += to - from;
        unknown->end = to;
      }
      continue;
    }
    if (!options_.unknown) continue;
    const auto token = TRY(unknown_token(words_, *options_.unknown, begin, end));
    if (unknown && options_.fuse_unknown) {
      unknown->end = to;
    } else {
      put_unknown();
      unknown = Symbol{.id = token.id, .begin = from, .end = to, .known = false};
    }
  }
  put_unknown();
  return Done{};
}

void Bpe::merge_all(std::vector<Symbol>& symbols) const {
  struct Candidate {
    std::int32_t rank, at, id;
    /// Whether it comes after another: the lowest rank is merged first, of equal ones the leftmost.
    bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
  };
  std::vector<Candidate> first;
  const auto count = static_cast<std::int32_t>(symbols.size());
  const auto at = [&symbols](std::int32_t i) -> Symbol& { return symbols[static_cast<std::size_t>(i)]; };
  for (std::int32_t i = 0; i < count; ++i) {
    at(i).previous = i - 1;
    at(i).next = i + 1 < count ? i + 1 : kNone;
    if (i + 1 == count) break;
    if (const Merge* merge = merge_of(at(i).id, at(i + 1).id)) first.push_back({merge->rank, i, merge->id});
  }
  std::priority_queue<Candidate> queue(std::less<Candidate>{}, std::move(first));
  while (!queue.empty()) {
    const Candidate top = queue.top();
    queue.pop();
    Symbol& left = at(top.at);
    if (left.gone || left.next == kNone) continue;
    Symbol& right = at(left.next);
    // The neighbours may have been merged since.
    const Merge* merge = merge_of(left.id, right.id);
    if (!merge || merge->id != top.id) continue;
    left.id = top.id;
    left.end = std::max(left.end, right.end);
    left.known = left.known && right.known;
    left.next = right.next;
    right.gone = true;
    if (left.next != kNone) at(left.next).previous = top.at;
    if (left.previous != kNone)
      if (const Merge* before = merge_of(at(left.previous).id, left.id))
        queue.push({before->rank, left.previous, before->id});
    if (left.next != kNone)
      if (const Merge* after = merge_of(left.id, at(left.next).id)) queue.push({after->rank, top.at, after->id});
  }
}

Status Bpe::tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const {
  if (options_.ignore_merges) {
    if (const auto id = words_.id(piece)) {
      tokens.push_back({.id = *id, .begin = 0, .end = static_cast<std::uint32_t>(piece.size())});
      return Done{};
    }
  }
  std::vector<Symbol> symbols;
  TRY(symbols_of(piece, symbols));
  merge_all(symbols);
  for (const Symbol& symbol : symbols)
    if (!symbol.gone)
      tokens.push_back({.id = symbol.id, .begin = symbol.begin, .end = symbol.end, .known = symbol.known});
  return Done{};
}

namespace {

constexpr double kUnknownPenalty = 10;  // below the lowest score, as SentencePiece has it

/// The best way that ends at a byte: its last token, and where that began.
struct Best {
  double score = 0;
  std::int64_t begin = -1;  // none: nothing ends here
  std::int32_t id = 0;
};

}  // namespace

Unigram::Unigram(std::vector<Entry> vocabulary, std::optional<std::int32_t> unknown, bool byte_fallback)
    : unknown_(unknown) {
  assert(!unknown || (*unknown >= 0 && static_cast<std::size_t>(*unknown) < vocabulary.size()));
  std::vector<WordTable::Word> words;
  words.reserve(vocabulary.size());
  for (Entry& entry : vocabulary) {
    scores_.push_back(entry.score);
    words.push_back({std::move(entry.text), static_cast<std::int32_t>(words.size())});
  }
  words_ = WordTable(std::move(words));
  if (!scores_.empty()) unknown_score_ = *std::min_element(scores_.begin(), scores_.end()) - kUnknownPenalty;
  if (byte_fallback) byte_ids_ = byte_word_ids(words_);
}

void Unigram::put(std::string_view piece, std::uint32_t begin, std::uint32_t end,
                  std::vector<ModelToken>& tokens) const {
  const std::string_view text = piece.substr(begin, end - begin);
  if (const auto id = words_.id(text)) {
    tokens.push_back({.id = *id, .begin = begin, .end = end, .as_written = true});
    return;
  }
  const auto is_byte = [this](char c) { return byte_ids_[static_cast<unsigned char>(c)] >= 0; };
  if (!byte_ids_.empty() && std::all_of(text.begin(), text.end(), is_byte)) {
    for (std::uint32_t at = begin; at < end; ++at)
      tokens.push_back({.id = byte_ids_[static_cast<unsigned char>(piece[at])], .begin = at, .end = at + 1});
    return;
  }
  tokens.push_back({.id = *unknown_, .begin = begin, .end = end, .known = false, .as_written = true});
}

Status Unigram::tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const {
  std::vector<Best> best(piece.size() + 1);
  const auto offer = [&best](std::size_t begin, std::size_t end, double score, std::int32_t id) {
    Best& target = best[end];
    const double sum = score + best[begin].score;
    if (target.begin < 0 || sum > target.score) target = {sum, static_cast<std::int64_t>(begin), id};
  };
  for (std::size_t begin = 0; begin < piece.size();) {
    const std::size_t next = character_end(piece, begin);
    bool spelt = false;  // whether the character is a word by itself
    words_.each_prefix({}, piece.substr(begin), [&](std::size_t length, std::int32_t id) {
      offer(begin, begin + length, scores_[static_cast<std::size_t>(id)], id);
      spelt = spelt || begin + length == next;
    });
    if (!spelt) {
      if (!unknown_)
        return bad_input("tokenizer", "unk_id", "an id for what no word spells", "none", ErrorCode::no_unknown_token);
      offer(begin, next, unknown_score_, *unknown_);
    }
    begin = next;
  }
  // From the end; unknown stretches that touch become one token.
  struct Range {
    std::uint32_t begin, end;
    bool unknown;
  };
  std::vector<Range> ranges;
  for (std::size_t end = piece.size(); end > 0;) {
    const auto begin = static_cast<std::size_t>(best[end].begin);
    const bool unknown = unknown_ && best[end].id == *unknown_;
    if (unknown && !ranges.empty() && ranges.back().unknown) ranges.back().begin = static_cast<std::uint32_t>(begin);
    else ranges.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), unknown});
    end = begin;
  }
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) put(piece, range->begin, range->end, tokens);
  return Done{};
}

namespace {

/// The tokens of the character that begins at `begin`; its length.
Result<std::size_t> put_character(const WordPiece& model, std::string_view piece, std::size_t begin,
                                  std::size_t first_token, std::vector<ModelToken>& tokens) {
  const std::size_t end = character_end(piece, begin);
  const std::string_view character = piece.substr(begin, end - begin);
  const auto offset = [](std::size_t at) { return static_cast<std::uint32_t>(at); };
  if (const auto id = model.words.id(character)) {
    tokens.push_back({.id = *id, .begin = offset(begin), .end = offset(end)});
    return character.size();
  }
  if (is_chinese_character(code_points(character).front())) {
    const std::size_t before = tokens.size();
    for (std::size_t at = begin; at < end; ++at)
      if (const auto id = model.words.id(byte_word(static_cast<unsigned char>(piece[at]))))
        tokens.push_back({.id = *id, .begin = offset(at), .end = offset(at + 1)});
    if (tokens.size() == before + character.size()) return character.size();
    tokens.resize(before);
  }
  if (tokens.size() > first_token && !tokens.back().known) {
    tokens.back().end = offset(end);
    return character.size();
  }
  tokens.push_back(TRY(unknown_token(model.words, model.unknown, begin, end)));
  return character.size();
}

}  // namespace

Status WordPiece::tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const {
  const std::size_t before = tokens.size();
  const auto put_unknown = [&]() -> Status {
    tokens.resize(before);
    tokens.push_back(TRY(unknown_token(words, unknown, 0, piece.size())));
    return Done{};
  };
  if (!character_fallback && count_characters(piece) > longest_piece) return put_unknown();
  for (std::size_t begin = 0; begin < piece.size();) {
    ModelToken longest;
    std::size_t length = 0;
    const std::string_view head = begin > 0 ? std::string_view(prefix) : std::string_view{};
    words.each_prefix(head, piece.substr(begin), [&](std::size_t found, std::int32_t id) {
      length = found;
      longest.id = id;
    });
    if (length == 0 && character_fallback) {
      begin += TRY(put_character(*this, piece, begin, before, tokens));
      continue;
    }
    if (length == 0) return put_unknown();
    longest.begin = static_cast<std::uint32_t>(begin);
    longest.end = static_cast<std::uint32_t>(begin += length);
    tokens.push_back(longest);
  }
  return Done{};
}

Status WordLevel::tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const {
  if (const auto id = words.id(piece))
    tokens.push_back({.id = *id, .begin = 0, .end = static_cast<std::uint32_t>(piece.size())});
  else tokens.push_back(TRY(unknown_token(words, unknown, 0, piece.size())));
  return Done{};
}

}  // namespace headlight
