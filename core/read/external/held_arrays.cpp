#include "read/external/held_arrays.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/formatted.h"
#include "base/names.h"
#include "model/config.h"
#include "model/tokens.h"
#include "read/external/held_names.h"
#include "read/external/held_numbers.h"
#include "read/external/held_words.h"

namespace headlight {
namespace {

using HeldAxes = std::vector<HeldAxis>;
constexpr Index kMostHeldCells = Index{1} << 30;

/// What one array is taken for, and what else it could be.
struct AxesRead {
  HeldAxes axes;
  std::string otherwise = {};

  Index size_in(const Array& array, HeldAxis axis) const {
    const auto at = std::find(axes.begin(), axes.end(), axis);
    return at == axes.end() ? 1 : array.shape[static_cast<std::size_t>(at - axes.begin())];
  }
  bool has(HeldAxis axis) const { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }
};

/// What is asked of one attention.
struct HeldReader {
  std::string_view where;
  const ArrayChoice& choice;
  bool lists_sentences;  // the words do
  std::string name = {};
  std::set<std::string> said = {};  // parts of the line
  std::optional<Index> shown = {};  // the sentence, where there are several
  bool of_heads = false;            // each array of a list is of a head
  bool has_steps = false;

  Error wrong(std::string_view expected, std::string_view found, ErrorCode code = ErrorCode::wrong_shape) const {
    return bad_input(where, name, expected, found, code);
  }

  bool chooses_sentence() const { return choice.sentence.has_value() || lists_sentences; }

  void say_sentence(Index sentence, Index count) {
    shown = sentence;
    said.insert("0 " + counted(count, "sentence") + ", showing sentence " + std::to_string(sentence) +
                " (--sentence 0 to " + std::to_string(count - 1) + ")");
  }

  /// `in_list`: the array is a layer.
  Result<AxesRead> reading_of(const Array& array, bool in_list) const {
    using enum HeldAxis;
    const std::vector<Index>& shape = array.shape;
    if (!choice.axes.empty()) {
      AxesRead given{choice.axes};
      if (in_list && given.axes.size() == shape.size() + 1) std::erase(given.axes, layers);
      if (given.axes.size() == shape.size()) return given;
      return bad_input(where, "--axes",
                       std::to_string(shape.size()) + " names, one for each axis of " + shape_text(shape),
                       axes_names(choice.axes), ErrorCode::wrong_shape);
    }
    if (in_list && of_heads && shape.size() == 3) return AxesRead{{sentences, queries, keys}};
    const bool batch = chooses_sentence();
    // As the size has it where nothing more is known, and the other reading of the same size.
    static const HeldAxes kForms[2][5][2] = {
        {{{queries, keys}, {}},
         {{heads, queries, keys}, {sentences, queries, keys}},
         {{layers, heads, queries, keys}, {sentences, heads, queries, keys}},
         {{layers, sentences, heads, queries, keys}, {sentences, layers, heads, queries, keys}},
         {{}, {}}},
        {{{queries, keys}, {}},
         {{heads, queries, keys}, {sentences, queries, keys}},
         {{sentences, heads, queries, keys}, {}},
         {{}, {}},
         {{}, {}}}};
    const auto& forms = kForms[in_list ? 1 : 0][std::min<std::size_t>(shape.size(), 6) - 2];
    if (forms[0].empty())
      return wrong(in_list ? "layers (T, S), (heads, T, S) or (batch, heads, T, S), or --axes"
                           : "(T, S), (heads, T, S), (layers, heads, T, S), (layers, batch, heads, T, S), or --axes",
                   shape_text(shape));
    bool other = !forms[1].empty() && batch && shape.size() < 5;
    if (shape.size() == 5 && shape[0] == 1 && shape[1] > 1) other = true;
    AxesRead reading{forms[other ? 1 : 0]};
    const bool either = !forms[1].empty() && shape[shape.size() < 5 ? 0 : 1] > 1;
    if (either) reading.otherwise = shape_text(shape) + " can also be --axes " + axes_names(forms[other ? 0 : 1]);
    return reading;
  }

  /// (layers, heads, T, S) of the chosen sentence. Numbers that lie so are moved out of `held`.
  Result<Array> take(Array& held, bool in_list) {
    const AxesRead reading = TRY(reading_of(held, in_list));
    std::optional<Array> read = numbers_of_bits(held);
    Array& array = read ? *read : held;
    if (read) said.insert("3 bits of " + std::string(headlight::name(read->dtype)));
    const Index sentences = reading.size_in(array, HeldAxis::sentences), sentence = choice.sentence.value_or(0);
    TRY(check_within(where, "--sentence", sentence, sentences));
    if (!reading.has(HeldAxis::heads) && !of_heads) said.insert("2 averaged over the heads or of one head");
    if (!reading.otherwise.empty()) said.insert("5 " + reading.otherwise);
    const auto at = std::find(reading.axes.begin(), reading.axes.end(), HeldAxis::keys) - reading.axes.begin();
    if (const auto keys = axis_of_keys(array, static_cast<std::size_t>(at)); !keys.empty()) said.insert("6 " + keys);
    if (sentences > 1) say_sentence(sentence, sentences);
    std::array<Index, 5> strides{}, sizes{1, 1, 1, 1, 1};
    Index stride = 1;
    for (std::size_t axis = array.shape.size(); axis-- > 0; stride *= array.shape[axis]) {
      const auto of = static_cast<std::size_t>(reading.axes[axis]);
      strides[of] = stride, sizes[of] = array.shape[axis];
    }
    Array taken{.dtype = array.dtype, .shape = {sizes[0], sizes[2], sizes[3], sizes[4]}, .values = {}};
    auto order = reading.axes;
    std::erase(order, HeldAxis::sentences);
    if (sentences == 1 && std::is_sorted(order.begin(), order.end())) {
      taken.values = std::move(array.values);
      return taken;
    }
    taken.values.reserve(static_cast<std::size_t>(sizes[0] * sizes[2] * sizes[3] * sizes[4]));
    for (Index layer = 0; layer < sizes[0]; ++layer)
      for (Index head = 0; head < sizes[2]; ++head)
        for (Index query = 0; query < sizes[3]; ++query) {
          const auto* const row =
              array.values.data() + layer * strides[0] + sentence * strides[1] + head * strides[2] + query * strides[3];
          if (strides[4] == 1) taken.values.insert(taken.values.end(), row, row + sizes[4]);
          else
            for (Index key = 0; key < sizes[4]; ++key) taken.values.push_back(row[key * strides[4]]);
        }
    return taken;
  }

  /// Arrays of one shape, one behind the other along the axis of layers or heads.
  Result<Array> joined(std::vector<Array> parts, HeldAxis along) const {
    if (parts.size() == 1) return std::move(parts[0]);
    Array all{.dtype = parts[0].dtype, .shape = parts[0].shape, .values = {}};
    const bool heads = along == HeldAxis::heads;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].shape != parts[0].shape)
        return bad_input(
            where, name + (heads ? " head " : " layer ") + std::to_string(i),
            "layers of one shape, (heads, T, S) = " + tail_text(parts[0]) + ", or --sentence of a list of sentences",
            tail_text(parts[i]), ErrorCode::wrong_shape);
      all.values.insert(all.values.end(), parts[i].values.begin(), parts[i].values.end());
    }
    all.shape[heads ? 1 : 0] *= static_cast<Index>(parts.size());
    return all;
  }
  static std::string tail_text(const Array& array) { return shape_text({array.shape.begin() + 1, array.shape.end()}); }

  /// A list of layers, or where the shapes grow, of steps of one layer, or where a sentence is meant, of sentences.
  Result<Array> of_list(const std::vector<Array*>& items) {
    const bool ragged = std::ranges::any_of(items, [&](const Array* item) { return item->shape != items[0]->shape; });
    if (ragged && chooses_sentence() && are_single(items)) {
      const Index sentence = choice.sentence.value_or(0), count = static_cast<Index>(items.size());
      TRY(check_within(where, "--sentence", sentence, count));
      say_sentence(sentence, count);
      return of_sentence({items[static_cast<std::size_t>(sentence)]});
    }
    std::vector<Array> parts;
    for (Array* item : items) parts.push_back(TRY(take(*item, true)));
    const bool layers = name.find("layer") != name.npos || name.find("block") != name.npos;
    if (parts.size() > 1 && !layers && grow(parts)) {
      if (are_single(items)) say_sentences(items.size(), parts);
      return of_steps(std::move(parts));
    }
    return joined(std::move(parts), of_heads ? HeldAxis::heads : HeldAxis::layers);
  }

  /// The layers of one sentence, by themselves.
  Result<Array> of_sentence(const std::vector<Array*>& layers) {
    const ArrayChoice within{.axes = choice.axes};
    HeldReader one{where, within, false, name};
    auto taken = one.of_list(layers);
    said.merge(one.said);
    return taken;
  }

  /// Whether none has a batch.
  static bool are_single(const std::vector<Array*>& items) {
    return std::ranges::all_of(items, [](const Array* item) {
      return item->shape.size() < 4 || (item->shape.size() == 4 && item->shape[0] == 1);
    });
  }

  /// That steps can also be sentences: all are of as many queries as keys.
  void say_sentences(std::size_t count, const std::vector<Array>& steps) {
    if (std::ranges::all_of(steps, [](const Array& step) { return step.shape[2] == step.shape[3]; }))
      said.insert("7 can also be " + counted(static_cast<Index>(count), "sentence") + " (--sentence 0 to " +
                  std::to_string(count - 1) + ")");
  }

  /// Whether they are steps of generate(): each behind the first has more keys, or one query that asks the same keys.
  static bool grow(const std::vector<Array>& steps) {
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const auto &one = steps[i].shape, &before = steps[i - 1].shape;
      if (one[3] > before[3] && (one[2] == 1 || one[2] == one[3] || one[2] == one[3] - before[3])) continue;
      if (one[3] == before[3] && one[2] == 1 && steps[0].shape[2] != one[3]) continue;
      return false;
    }
    return true;
  }

  /// The rows of all steps as one map, or of one.
  Result<Array> of_steps(std::vector<Array> steps) {
    has_steps = true;
    const auto count = static_cast<Index>(steps.size());
    Index rows = 0, keys = 0;
    std::vector<Index> begins;
    for (const Array& step : steps) {
      const std::string at = " step " + std::to_string(begins.size());
      if (step.shape[0] != steps[0].shape[0] || step.shape[1] != steps[0].shape[1])
        return bad_input(where, name + at, "layers and heads as step 0", shape_text(step.shape),
                         ErrorCode::wrong_shape);
      if (step.shape[3] < keys)
        return bad_input(where, name + at, "at least " + std::to_string(keys) + " keys, as the step before it",
                         std::to_string(step.shape[3]), ErrorCode::wrong_shape);
      const bool cross = steps.back().shape[3] == steps[0].shape[3];
      begins.push_back(cross ? (step.shape[2] > 1 && rows > 0 ? 0 : rows)
                             : std::max<Index>(step.shape[3] - step.shape[2], 0));
      rows = std::max(rows, begins.back() + step.shape[2]);
      keys = step.shape[3];
    }
    if (choice.step) {
      TRY(check_within(where, "--step", *choice.step, count));
      said.insert("1 " + counted(count, "step") + " of generate(), showing step " + std::to_string(*choice.step));
      return std::move(steps[static_cast<std::size_t>(*choice.step)]);
    }
    said.insert("1 " + counted(count, "step") + " of generate() as one map (--step 0 to " + std::to_string(count - 1) +
                " shows one)");
    const Index maps = steps[0].shape[0] * steps[0].shape[1];
    if (rows > static_cast<Index>(kMaxTokens) || keys > static_cast<Index>(kMaxTokens) ||
        rows * keys > kMostHeldCells / maps)
      return wrong(
          "at most " + std::to_string(kMaxTokens) + " tokens and " + std::to_string(kMostHeldCells) + " weights",
          shape_text({steps[0].shape[0], steps[0].shape[1], rows, keys}), ErrorCode::too_large);
    Array all{.dtype = steps[0].dtype, .shape = {steps[0].shape[0], steps[0].shape[1], rows, keys}, .values = {}};
    all.values.resize(static_cast<std::size_t>(maps * rows * keys));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Index queries = steps[i].shape[2], of_step = steps[i].shape[3];
      for (Index row = 0; row < maps * queries; ++row)
        std::copy_n(steps[i].values.begin() + row * of_step, of_step,
                    all.values.begin() + (row / queries * rows + begins[i] + row % queries) * keys);
    }
    return all;
  }

  /// HeldLists in a list: heads of layers, steps of layers, or sentences of layers.
  Result<Array> of_lists(const std::vector<std::vector<Array*>>& lists) {
    std::vector<Array> parts;
    bool heads = choice.axes.empty(), single = true;
    for (const auto& list : lists) {
      for (const Array* item : list) heads = heads && item->shape == lists[0][0]->shape && item->shape.size() == 2;
      single = single && are_single(list);
    }
    heads = heads || of_heads;
    if (!heads && lists.size() > 1 && (!is_grown(lists) || (single && chooses_sentence()))) {
      const Index sentence = choice.sentence.value_or(0), count = static_cast<Index>(lists.size());
      TRY(check_within(where, "--sentence", sentence, count));
      say_sentence(sentence, count);
      return of_sentence(lists[static_cast<std::size_t>(sentence)]);
    }
    for (const auto& list : lists) {
      std::vector<Array> layers;
      for (Array* item : list) layers.push_back(TRY(take(*item, true)));
      parts.push_back(TRY(joined(std::move(layers), heads ? HeldAxis::heads : HeldAxis::layers)));
    }
    if (heads) said.erase("2 averaged over the heads or of one head");
    if (!heads && single && parts.size() > 1) say_sentences(parts.size(), parts);
    return heads ? joined(std::move(parts), HeldAxis::layers) : of_steps(std::move(parts));
  }

  /// Whether the lists are steps: keys that grow, or of cross-attention one query each.
  static bool is_grown(const std::vector<std::vector<Array*>>& lists) {
    bool all = true;
    for (std::size_t i = 1; i < lists.size(); ++i) {
      const auto &one = lists[i][0]->shape, &before = lists[i - 1][0]->shape;
      const Index queries = one[one.size() - 2], keys = one.back();
      const Index added = keys - before.back(), rows = before[before.size() - 2];
      all =
          all && (queries == 1 || added == 1 || (added > 0 && queries == added) || (added == 0 && queries == rows + 1));
    }
    return all;
  }
};

using HeldLists = std::map<Index, std::vector<Array*>>;

/// The first number of each index, without numbers that are the same in all.
Result<Array> take_group(HeldReader& reader, const HeldGroup& group) {
  const std::size_t depth = group.items.begin()->first.size();
  std::vector<std::size_t> varies;
  for (std::size_t i = 0; i < depth; ++i)
    if (std::any_of(group.items.begin(), group.items.end(),
                    [&](const auto& item) { return item.first[i] != group.items.begin()->first[i]; }))
      varies.push_back(i);
  reader.name = std::any_of(group.stem.begin(), group.stem.end(), [](char c) { return c != '#' && c != '.'; })
                    ? printable(group.stem)
                    : "attentions";
  const bool in_list = depth > 0 && !(group.items.size() == 1 && group.stem == "arr_#");  // of numpy.savez
  reader.of_heads = group.of_heads && !varies.empty() && varies.back() == depth - 1;
  if (varies.size() > 2)
    return reader.wrong("lists of layers, or steps of them",
                        std::to_string(varies.size()) + " lists within one another");
  if (varies.size() == 2) {
    HeldLists lists;
    for (const auto& [at, array] : group.items) lists[at[varies[0]]].push_back(array);
    std::vector<std::vector<Array*>> found;
    for (auto& [at, list] : lists) found.push_back(std::move(list));
    for (std::size_t i = 1; i < found.size(); ++i)
      if (found[i].size() != found[0].size())
        return bad_input(reader.where, reader.name + " list " + std::to_string(i),
                         counted(static_cast<Index>(found[0].size()), "array") + ", as the first has",
                         std::to_string(found[i].size()), ErrorCode::wrong_shape);
    return reader.of_lists(found);
  }
  std::vector<Array*> items;
  std::set<Index> numbers;
  for (const auto& [at, array] : group.items) {
    if (!varies.empty()) numbers.insert(at[varies[0]]);
    items.push_back(array);
  }
  if (const auto anew = counted_anew("layer", numbers); !anew.empty()) reader.said.insert("4 " + anew);
  return in_list ? reader.of_list(items) : reader.take(*items[0], false);
}

}  // namespace

Result<ArrayFile> held_attention(std::string_view where, ArrayFile&& held, const ArrayChoice& choice,
                                 std::vector<Error>& notes) {
  auto groups = TRY(held_groups(where, held.arrays, choice.array));
  ArrayFile result{.arrays = {}, .metadata = held.metadata};
  if (groups.empty()) return result;
  bool either = false;
  auto three = three_stacks(groups, either);
  if (three && !(either && (choice.sentence || lists_sentences(held)))) groups = std::move(*three);
  else either = false;
  const bool one = groups.size() == 1;
  std::string line;
  std::set<const Array*> used;
  std::set<std::string> said;
  if (either) said.insert("7 can also be 3 sentences (--sentence 0 to 2)");
  bool has_steps = false;
  for (const HeldGroup& group : groups) {
    HeldReader reader{where, choice, lists_sentences(held)};
    auto taken = TRY(take_group(reader, group));
    constexpr const char* kNames[] = {"decoder_attentions", "encoder_attentions", "cross_attentions"};  // of Stack
    const std::vector<Index>& shape = taken.shape;
    const char* name = one ? "attentions" : kNames[static_cast<std::size_t>(group.stack.value_or(Stack::self))];
    line += (line.empty() ? "" : "; ") + (one ? std::string() : std::string(name) + ": ") + counted(shape[0], "layer") +
            ", " + counted(shape[1], "head") + ", " + std::to_string(shape[2]) +
            (shape[2] == 1 ? " query" : " queries") + ", " + counted(shape[3], "key");
    for (const auto& [at, array] : group.items) used.insert(array);
    said.merge(reader.said);
    has_steps = has_steps || reader.has_steps;
    if (reader.shown) result.metadata["sentence"] = std::to_string(*reader.shown);
    if (!result.arrays.emplace(name, std::move(taken)).second)
      return bad_input(where, "arrays", "one attention of a decoder", printable(group.stem) + " and another");
  }
  if (choice.step && !has_steps)
    return bad_input(where, "--step", "steps of generate(), lists of layers whose keys grow", line);
  for (const std::string& part : said) line += "; " + part.substr(2);
  notes.emplace_back(ErrorCode::bad_value, where, "taken for " + line);
  std::vector<std::string> others;
  for (const auto& [name, array] : held.arrays)
    if (!used.contains(&array)) others.push_back(printable(name));
  if (!others.empty())
    notes.emplace_back(ErrorCode::foreign_tensor, where, first_texts(others, 3) + ": no attention, not used");
  TRY(choose_words(where, choice, result.arrays, result.metadata, notes));
  return result;
}

}  // namespace headlight
