#include "text/charsmap.h"

#include <unicode/ubrk.h>

#include <cassert>
#include <memory>

#include "base/utf8.h"

namespace headlight {
namespace {

// The fields of a unit, as Darts-clone packs them.
bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
std::uint32_t value(std::uint32_t unit) { return unit & 0x7FFFFFFF; }
std::uint32_t label(std::uint32_t unit) { return unit & 0x800000FF; }
std::size_t offset(std::uint32_t unit) { return static_cast<std::size_t>(unit >> 10) << ((unit & 1u << 9) >> 6); }

constexpr std::size_t kLongCluster = 6;  // bytes
constexpr std::size_t kLongReplacement = 128;

/// The letters at which grapheme clusters begin (UAX #29), and the end.
std::vector<std::uint32_t> cluster_starts(LetterSpan letters) {
  Utf16 utf16;
  to_utf16(letters, utf16);
  UErrorCode error = U_ZERO_ERROR;
  const std::unique_ptr<UBreakIterator, decltype(&ubrk_close)> clusters(
      ubrk_open(UBRK_CHARACTER, "", utf16.text.data(), static_cast<std::int32_t>(utf16.text.size()), &error),
      &ubrk_close);
  assert(U_SUCCESS(error));
  std::vector<std::uint32_t> starts;
  for (std::int32_t at = ubrk_first(clusters.get()); at != UBRK_DONE; at = ubrk_next(clusters.get()))
    starts.push_back(utf16.letter_of_unit[static_cast<std::size_t>(at)]);
  return starts;
}

}  // namespace

Result<Charsmap> Charsmap::parse(std::string_view where, std::string_view bytes) {
  const auto number = [&bytes](std::size_t at) {
    std::uint32_t result = 0;
    for (std::size_t i = 4; i-- > 0;) result = result << 8 | static_cast<std::uint8_t>(bytes[at + i]);
    return result;
  };
  const std::size_t size = bytes.size() < 4 ? 0 : number(0);
  if (size < 4 || size % 4 != 0 || size > bytes.size() - 4)
    return bad_input(where, "precompiled_charsmap", "a trie and its replacements",
                     "a trie of " + std::to_string(size) + " bytes in " + std::to_string(bytes.size()));
  Charsmap map;
  map.units_.resize(size / 4);
  for (std::size_t i = 0; i < map.units_.size(); ++i) map.units_[i] = number(4 + 4 * i);
  map.replacements_ = bytes.substr(4 + size);
  if (const Status status = check_utf8(std::string(where) + ": precompiled_charsmap", map.replacements_); !status)
    return status.error();
  if (const Status status = map.check(where); !status) return status.error();
  return map;
}

Status Charsmap::check(std::string_view where) const {
  const auto outside = [where](std::string_view what, std::size_t found) {
    return bad_input(where, "precompiled_charsmap", what, "offset " + std::to_string(found));
  };
  std::vector<bool> seen(units_.size());
  std::vector<std::size_t> nodes{offset(units_[0])};  // a node is the place that its children are counted from
  while (!nodes.empty()) {
    const std::size_t node = nodes.back();
    nodes.pop_back();
    if (node >= units_.size()) return outside("a trie that stays inside itself", node);
    if (seen[node]) continue;
    seen[node] = true;
    for (std::uint32_t byte = 1; byte < 256; ++byte) {
      const std::size_t child = node ^ byte;
      if (child >= units_.size()) return outside("a trie that stays inside itself", child);
      const std::uint32_t unit = units_[child];
      if (label(unit) != byte) continue;
      const std::size_t next = child ^ offset(unit);
      nodes.push_back(next);
      if (!has_leaf(unit)) continue;
      if (next >= units_.size()) return outside("a trie that stays inside itself", next);
      const std::size_t at = value(units_[next]);
      if (at > replacements_.size() || (at < replacements_.size() && (replacements_[at] & 0xC0) == 0x80))
        return outside("replacements inside their " + std::to_string(replacements_.size()) + " bytes", at);
      if (std::string_view(replacements_).substr(at, kLongReplacement).find('\0') == std::string_view::npos &&
          replacements_.size() - at >= kLongReplacement)
        return outside("replacements of less than " + std::to_string(kLongReplacement) + " bytes", at);
    }
  }
  return Done{};
}

std::optional<std::string_view> Charsmap::replacement(std::string_view key) const {
  std::size_t node = offset(units_[0]);
  for (const char c : key) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte == 0) break;
    node ^= byte;
    const std::uint32_t unit = units_[node];
    if (label(unit) != byte) break;
    node ^= offset(unit);
    if (!has_leaf(unit)) continue;
    const std::string_view rest = std::string_view(replacements_).substr(value(units_[node]));
    return rest.substr(0, rest.find('\0'));
  }
  return std::nullopt;
}

void Charsmap::normalize(Letters& letters) const {
  if (letters.empty()) return;
  Letters result;
  result.reserve(letters.size());
  const std::vector<std::uint32_t> starts = cluster_starts(letters);
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    const LetterSpan cluster = LetterSpan(letters).subspan(starts[i], starts[i + 1] - starts[i]);
    const std::string key = utf8_of(cluster);
    const auto put = [&result](std::string_view text, LetterSpan from) {
      const std::vector<char32_t> codes = code_points(text);
      append_letters(result, {codes.data(), codes.size()}, from.front().begin, from.back().end);
    };
    if (const auto found = key.size() < kLongCluster ? replacement(key) : std::nullopt) {
      put(*found, cluster);
      continue;
    }
    for (std::size_t k = 0; k < cluster.size(); ++k) {
      const LetterSpan one = cluster.subspan(k, 1);
      if (const auto found = replacement(utf8_of(one))) put(*found, one);
      else result.push_back(one.front());
    }
  }
  letters = std::move(result);
}

}  // namespace headlight
