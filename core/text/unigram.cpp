#include "text/unigram.h"

#include <algorithm>
#include <cassert>

#include "text/bpe.h"

namespace headlight {
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
    std::size_t next = begin + 1;
    while (next < piece.size() && (piece[next] & 0xC0) == 0x80) ++next;
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

}  // namespace headlight
