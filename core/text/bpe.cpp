#include "text/bpe.h"

#include <algorithm>
#include <queue>

#include "base/formatted.h"
#include "text/readable.h"

namespace headlight {
namespace {

constexpr std::int32_t kNone = -1;

std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
}

/// The end of the character that begins at `at`, in valid UTF-8.
std::size_t character_end(std::string_view text, std::size_t at) {
  do ++at;
  while (at < text.size() && (text[at] & 0xC0) == 0x80);
  return at;
}

}  // namespace

std::vector<std::int32_t> byte_word_ids(const WordTable& words) {
  std::vector<std::int32_t> ids(256, kNone);
  for (unsigned byte = 0; byte < 256; ++byte) ids[byte] = words.id(formatted("<0x%02X>", byte)).value_or(kNone);
  return ids;
}

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
  Bpe bpe;
  bpe.merges_.reserve(merges.size());
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
    bpe.merges_.push_back({pair_of(*left_id, *right_id), static_cast<std::int32_t>(rank), *id});
  }
  std::sort(bpe.merges_.begin(), bpe.merges_.end(),
            [](const Merge& a, const Merge& b) { return a.pair != b.pair ? a.pair < b.pair : a.rank > b.rank; });
  bpe.merges_.erase(std::unique(bpe.merges_.begin(), bpe.merges_.end(),
                                [](const Merge& a, const Merge& b) { return a.pair == b.pair; }),
                    bpe.merges_.end());
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
      // ranges do not run backwards, they take its place.
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
    const auto id = words_.id(*options_.unknown);
    if (!id)
      return bad_input("tokenizer", "unk_token", "a word of the vocabulary", quoted_word(*options_.unknown),
                       ErrorCode::no_unknown_token);
    if (unknown && options_.fuse_unknown) {
      unknown->end = to;
    } else {
      put_unknown();
      unknown = Symbol{.id = *id, .begin = from, .end = to, .known = false};
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
  if (const Status status = symbols_of(piece, symbols); !status) return status;
  merge_all(symbols);
  for (const Symbol& symbol : symbols)
    if (!symbol.gone)
      tokens.push_back({.id = symbol.id, .begin = symbol.begin, .end = symbol.end, .known = symbol.known});
  return Done{};
}

}  // namespace headlight
