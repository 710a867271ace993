#include "read/external/held_names.h"

#include <algorithm>
#include <cctype>

#include "base/formatted.h"
#include "model/config.h"

namespace headlight {
namespace {

using NameWords = std::vector<std::string>;

bool is_name_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_name_digit(char c) { return c >= '0' && c <= '9'; }

/// The words of a name in small letters: SelfAttention is self, attention.
NameWords name_words(std::string_view name) {
  NameWords words;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_name_letter(name[i])) continue;
    const bool begins = i == 0 || !is_name_letter(name[i - 1]) ||
                        (std::isupper(static_cast<unsigned char>(name[i])) != 0 &&
                         std::islower(static_cast<unsigned char>(name[i - 1])) != 0);
    if (begins) words.emplace_back();
    words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return words;
}

template <std::size_t Count>
bool has_any(const NameWords& words, const std::string_view (&known)[Count]) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return std::find(known, known + Count, word) != known + Count; });
}

constexpr std::string_view kPlainWords[] = {"arr",   "layer",  "layers", "array", "step",
                                            "block", "blocks", "l",      "map",   "maps"};
constexpr std::string_view kPatternsWords[] = {"pattern", "patterns", "probs", "probabilities", "attentions", "alphas"};
constexpr std::string_view kWeightsWords[] = {"attention", "attn",    "attns", "att",           "atts",
                                              "weights",   "softmax", "alpha", "selfattention", "attn_weights"};
constexpr std::string_view kScoresWords[] = {"scores", "score", "logit"};
/// Last words of names of other arrays.
constexpr std::string_view kOthersWords[] = {
    "q",    "k",    "v",   "z",   "query", "key",        "value",  "queries", "keys",   "values", "result", "out",
    "proj", "bias", "mlp", "pre", "post",  "normalized", "embed",  "states",  "state",  "logits", "loss",   "ids",
    "mask", "id",   "mid", "ln",  "scale", "output",     "labels", "hidden",  "weight", "masks",  "outputs"};

/// How good a name is for attention; below 0: it is that of another array.
int rank_of(const NameWords& words) {
  if (words.empty()) return 3;
  const NameWords last{words.back()};
  if (has_any(last, kOthersWords)) return -1;
  if (has_any(last, kPatternsWords)) return 5;
  if (has_any(last, kScoresWords)) return 1;
  if (has_any(words, kWeightsWords)) return 4;
  return std::all_of(words.begin(), words.end(), [](const std::string& word) { return has_any({word}, kPlainWords); })
             ? 2
             : 0;
}

std::optional<Stack> stack_in(const NameWords& words) {
  constexpr std::string_view kCross[] = {"cross", "crossattention", "xattn", "encdec", "multihead", "memory"};
  constexpr std::string_view kEncoder[] = {"encoder", "enc"}, kDecoder[] = {"decoder", "dec"};
  const bool encoder = has_any(words, kEncoder), decoder = has_any(words, kDecoder);
  if (has_any(words, kCross) || (encoder && decoder)) return Stack::cross;
  if (encoder) return Stack::encoder;
  if (decoder) return Stack::self;
  return std::nullopt;
}

bool has_axes_of_maps(const HeldGroup& group) {
  return std::all_of(group.items.begin(), group.items.end(), [](const auto& item) {
    return item.second->shape.size() >= 2 && item.second->shape.size() <= 6 && !item.second->values.empty();
  });
}

}  // namespace

HeldName held_name(std::string_view name) {
  HeldName held;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool first = is_name_digit(name[i]) && (i == 0 || !is_name_digit(name[i - 1]));
    const std::size_t end = std::min(name.find_first_not_of("0123456789", i), name.size());
    std::size_t word = i;
    while (first && word > 0 && is_name_letter(name[word - 1])) --word;
    const NameWords before = name_words(name.substr(word, i - word));
    const bool counts = before.empty() || has_any(before, kPlainWords) || has_any(before, kWeightsWords) ||
                        has_any(before, kPatternsWords);
    const auto number = parse_number<Index>(name.substr(i, end - i));
    if (first && counts && number && *number < kMaxLayers * kMaxHeads &&
        (end == name.size() || !is_name_letter(name[end]))) {
      held.stem += '#';
      held.at.push_back(*number);
      i = end - 1;
    } else {
      held.stem += name[i];
    }
  }
  return held;
}

Result<std::vector<HeldGroup>> held_groups(std::string_view where, const std::map<std::string, Array>& arrays,
                                           const std::string& part) {
  std::map<std::string, HeldGroup> groups;
  for (const auto& [name, array] : arrays) {
    if (name.find(part) == name.npos) continue;
    const HeldName held = held_name(name);
    groups[held.stem].stem = held.stem;
    groups[held.stem].items[held.at] = &array;
  }
  std::map<std::optional<Stack>, std::vector<HeldGroup>> best;
  std::map<std::optional<Stack>, int> ranks;
  for (auto& [stem, group] : groups) {
    const NameWords words = name_words(stem);
    const int rank = part.empty() ? rank_of(words) : std::max(rank_of(words), 0);
    if (rank < 0 || !has_axes_of_maps(group)) continue;
    group.stack = stack_in(words);
    auto& there = best[group.stack];
    if (!there.empty() && rank < ranks[group.stack]) continue;
    if (!there.empty() && rank > ranks[group.stack]) there.clear();
    ranks[group.stack] = rank;
    there.push_back(group);
  }
  const bool known = std::any_of(ranks.begin(), ranks.end(), [](const auto& one) { return one.second > 0; });
  std::vector<HeldGroup> found;
  for (auto& [stack, there] : best) {
    if (known && ranks[stack] == 0) continue;
    if (there.size() > 1)
      return bad_input(where, "arrays", "one attention, or --array with a part of its name",
                       joined_texts(there, ", ", [](const HeldGroup& group) { return printable(group.stem); }));
    found.push_back(std::move(there.front()));
  }
  return found;
}

std::optional<std::vector<HeldGroup>> three_stacks(const std::vector<HeldGroup>& found) {
  if (found.size() != 1 || found[0].items.begin()->first.size() != 2 || found[0].stem != "#.#") return std::nullopt;
  std::map<Index, HeldGroup> lists;
  for (const auto& [at, array] : found[0].items) lists[at[0]].items[{at[1]}] = array;
  if (lists.size() != 3) return std::nullopt;
  std::vector<HeldGroup> stacks;
  std::vector<std::pair<Index, Index>> sizes;
  for (const auto& [at, list] : lists) {
    constexpr std::pair<Stack, const char*> kOrder[] = {
        {Stack::encoder, "encoder"}, {Stack::self, "decoder"}, {Stack::cross, "cross"}};
    const auto& shape = list.items.begin()->second->shape;
    sizes.emplace_back(shape[shape.size() - 2], shape.back());
    stacks.push_back({kOrder[stacks.size()].second, list.items, kOrder[stacks.size()].first});
  }
  const bool fit = sizes[0].first == sizes[0].second && sizes[1].first == sizes[1].second &&
                   sizes[2] == std::pair(sizes[1].first, sizes[0].first);
  return fit ? std::optional(stacks) : std::nullopt;
}

}  // namespace headlight
