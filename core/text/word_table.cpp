#include "text/word_table.h"

#include <cassert>
#include <utility>

namespace headlight {

WordTable::WordTable(std::vector<Word> words) : words_(std::move(words)) {
  std::stable_sort(words_.begin(), words_.end(), [](const Word& a, const Word& b) { return a.text < b.text; });
  // Of equal ones the last is kept.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (i + 1 < words_.size() && words_[i].text == words_[i + 1].text) continue;
    if (kept != i) words_[kept] = std::move(words_[i]);
    ++kept;
  }
  words_.resize(kept);
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

}  // namespace headlight
