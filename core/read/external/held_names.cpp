#include "read/external/held_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/formatted.h"
#include "base/names.h"
#include "model/config.h"

namespace headlight {
namespace {

constexpr std::string_view kAxisNames[] = {"layers", "batch", "heads", "T", "S"};  // in the order of HeldAxis

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

std::string last_word(std::string_view name) {
  const NameWords words = name_words(name);
  return words.empty() ? std::string() : words.back();
}

constexpr std::string_view kPlainWords[] = {"arr",   "layer",  "layers", "array", "step",
                                            "block", "blocks", "l",      "map",   "maps"};
constexpr std::string_view kHeadWords[] = {"head", "heads", "h"};
constexpr std::string_view kPatternsWords[] = {"pattern", "patterns", "probs", "probabilities", "attentions", "alphas"};
constexpr std::string_view kWeightsWords[] = {"attention", "attn",    "attns", "att",           "atts",
                                              "weights",   "softmax", "alpha", "selfattention", "attn_weights"};
constexpr std::string_view kScoresWords[] = {"scores", "score", "logit"};
/// Last words of names of other arrays.
constexpr std::string_view kOthersWords[] = {
    "q",    "k",    "v",   "z",     "query", "key",        "value",  "queries", "keys",   "values", "result",  "out",
    "proj", "bias", "mlp", "pre",   "post",  "normalized", "embed",  "states",  "state",  "logits", "loss",    "ids",
    "mask", "id",   "mid", "ln",    "scale", "output",     "labels", "hidden",  "weight", "masks",  "outputs", "o",
    "u",    "w",    "e",   "table", "index", "kernel",     "token",  "gamma",   "beta",   "param"};

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

/// Whether a name is this part, or lies below it.
bool is_below(std::string_view name, std::string_view part) {
  return name.starts_with(part) && (name.size() == part.size() || name[part.size()] == '.');
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
    std::size_t word = i, behind = end;
    while (first && word > 0 && is_name_letter(name[word - 1])) --word;
    while (behind < name.size() && is_name_letter(name[behind])) ++behind;
    const NameWords before = name_words(name.substr(word, i - word));
    const std::size_t gap = name.find_last_not_of("_.- ", i - std::min<std::size_t>(i, 1));
    const bool is_head = has_any(before, kHeadWords)
                             ? !held.at.empty() || before[0] != "h"
                             : before.empty() && gap != name.npos && gap < i && !is_name_digit(name[gap]) &&
                                   last_word(name.substr(0, gap + 1)).starts_with("head");
    const bool counts = before.empty() || is_head || has_any(before, kPlainWords) || has_any(before, kWeightsWords) ||
                        has_any(before, kPatternsWords);
    const auto number = parse_number<Index>(name.substr(i, end - i));
    if (first && counts && number && *number < kMaxLayers * kMaxHeads &&
        (behind == end || has_any(name_words(name.substr(end, behind - end)), kHeadWords))) {
      held.stem += '#';
      held.at.insert(held.at.end() - static_cast<std::ptrdiff_t>(is_head ? 0 : held.heads), *number);
      held.heads += is_head ? 1 : 0;
      i = end - 1;
    } else {
      held.stem += name[i];
    }
  }
  return held;
}

Result<std::vector<HeldGroup>> held_groups(std::string_view where, std::map<std::string, Array>& arrays,
                                           const std::string& part) {
  std::map<std::string, HeldGroup> groups;
  const bool begins = std::ranges::any_of(arrays, [&](const auto& one) { return is_below(one.first, part); });
  for (auto& [name, array] : arrays) {
    if (begins ? !is_below(name, part) : name.find(part) == name.npos) continue;
    const HeldName held = held_name(name);
    groups[held.stem].stem = held.stem;
    groups[held.stem].of_heads = held.heads > 0;
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
  // Beside parameters an array of another name is one too.
  const auto of_model = [](const auto& one) { return one.first.ends_with(".weight") || one.first.ends_with(".bias"); };
  if (!known && part.empty() && std::ranges::any_of(arrays, of_model)) return std::vector<HeldGroup>();
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

std::optional<std::vector<HeldGroup>> three_stacks(const std::vector<HeldGroup>& found, bool& either) {
  if (found.size() != 1 || found[0].items.begin()->first.size() != 2 || found[0].stem != "#.#") return std::nullopt;
  std::map<Index, HeldGroup> lists;
  for (const auto& [at, array] : found[0].items) lists[at[0]].items[{at[1]}] = array;
  if (lists.size() != 3) return std::nullopt;
  std::vector<HeldGroup> stacks;
  std::vector<std::pair<Index, Index>> sizes;
  for (const auto& [at, list] : lists) {
    const auto& shape = list.items.begin()->second->shape;
    sizes.emplace_back(shape[shape.size() - 2], shape.back());
    stacks.push_back(list);
  }
  std::array<std::size_t, 3> order{0, 1, 2};  // where the encoder, the decoder and its cross-attention are
  do {
    const auto &encoder = sizes[order[0]], &decoder = sizes[order[1]], &cross = sizes[order[2]];
    if (encoder.first != encoder.second || decoder.first != decoder.second ||
        cross != std::pair(decoder.first, encoder.first))
      continue;
    either = encoder == decoder;
    constexpr std::pair<Stack, const char*> kOrder[] = {
        {Stack::encoder, "encoder"}, {Stack::self, "decoder"}, {Stack::cross, "cross"}};
    for (std::size_t i = 0; i < 3; ++i)
      stacks[order[i]].stack = kOrder[i].first, stacks[order[i]].stem = kOrder[i].second;
    return stacks;
  } while (std::next_permutation(order.begin(), order.end()));
  return std::nullopt;
}

std::string counted_anew(std::string_view of, const std::set<Index>& numbers) {
  if (numbers.empty() || *numbers.rbegin() + 1 == static_cast<Index>(numbers.size())) return {};
  return std::string(of) + (numbers.size() == 1 ? " " : "s ") +
         joined_texts(numbers, ", ", [](Index at) { return std::to_string(at); }) + " of the file, counted from 0 here";
}

std::string axes_names(const std::vector<HeldAxis>& axes) {
  return joined_texts(axes, ",", [](HeldAxis axis) { return name_in(kAxisNames, axis); });
}

Status check_choice(std::string_view where, const ArrayChoice& choice, ChoiceRead taken, std::string_view what) {
  const auto text = [](const std::optional<Index>& number) { return number ? std::to_string(*number) : std::string(); };
  std::string grid;
  if (choice.grid) grid = std::to_string(choice.grid->rows) + "x" + std::to_string(choice.grid->cols);
  const std::pair<const char*, std::string> surplus[] = {{"--sentence", taken.sentence ? "" : text(choice.sentence)},
                                                         {"--step", text(choice.step)},
                                                         {"--array", choice.array},
                                                         {"--axes", axes_names(choice.axes)},
                                                         {"--grid", taken.grid ? "" : grid}};
  for (const auto& [option, found] : surplus)
    if (!found.empty()) return bad_input(where, option, "no such option beside " + std::string(what), printable(found));
  return Done{};
}

Result<std::vector<HeldAxis>> parse_axes(std::string_view text) {
  std::vector<HeldAxis> axes;
  for (const std::string_view part : split_at(',', text)) {
    const auto first = part.find_first_not_of(" ()"), last = part.find_last_not_of(" ()");
    const std::string_view word = first == part.npos ? part : part.substr(first, last - first + 1);
    const auto axis = value_named<HeldAxis>(kAxisNames, word == "sentences" ? "batch" : word);
    if (!axis || std::find(axes.begin(), axes.end(), *axis) != axes.end())
      return bad_input("--axes", "", "layers, batch, heads, T and S, each at most once, with commas",
                       std::string(text));
    axes.push_back(*axis);
  }
  for (const HeldAxis needed : {HeldAxis::queries, HeldAxis::keys})
    if (std::find(axes.begin(), axes.end(), needed) == axes.end())
      return bad_input("--axes", "", "T (queries) and S (keys) among them", std::string(text));
  return axes;
}

}  // namespace headlight
