#include "diagnose/capture/capture_masks.h"

#include <algorithm>
#include <array>

#include "base/formatted.h"

namespace headlight {
namespace {

using namespace mistakes;
using Blocked = std::vector<std::vector<Allowed>>;  // of each sentence and head: true is blocked

bool leaves_each_row_a_key(const Allowed& blocked) { return !blocked.rowwise().all().any(); }

/// Whether all sentences together show that masks of keys are inverted.
bool are_inverted(const Blocked& blocked) {
  bool padded = false, hidden = false;
  for (const auto& heads : blocked) {
    const Allowed row = !heads[0].row(0);
    if (!has_equal_rows(heads[0]) || is_prefix(row) || !is_prefix(!row)) return false;
    padded = padded || row.any();
    hidden = hidden || !row.any();
  }
  return padded && hidden;
}

/// Masks that were repeated in the order (heads, sentences): the first of them are meant. Empty: none were repeated.
std::vector<Allowed> of_other_sentences(const Blocked& blocked) {
  std::vector<Allowed> flat;
  for (const auto& heads : blocked) flat.insert(flat.end(), heads.begin(), heads.end());
  for (std::size_t i = blocked.size(); i < flat.size(); ++i)
    if (!are_same(flat[i], flat[i % blocked.size()])) return {};
  flat.resize(blocked.size());
  return flat;
}

/// The cells that are 0, or those that are not, of each sentence and head.
Blocked cells_where(const CapturedCall& call, const Array& array, bool zero) {
  Blocked found(static_cast<std::size_t>(call.count));
  for (Index b = 0; b < call.count; ++b)
    for (Index h = 0; h < call.heads; ++h)
      found[static_cast<std::size_t>(b)].push_back((cells_of(array, b, h).array() == 0) == zero);
  return found;
}

bool block(Blocked& blocked, const Blocked& more) {
  bool news = false;
  for (std::size_t b = 0; b < blocked.size(); ++b)
    for (std::size_t h = 0; h < blocked[b].size(); ++h) {
      news = news || (more[b][h] && !blocked[b][h]).any();
      blocked[b][h] = blocked[b][h] || more[b][h];
    }
  return news;
}

/// What the steps before the softmax block.
Blocked blocked_before(const CapturedCall& call) {
  const Index queries = call.array("query")->shape[1], keys = call.array("key")->shape[1];
  const std::vector<Allowed> open(static_cast<std::size_t>(call.heads), Allowed::Constant(queries, keys, false));
  Blocked blocked(static_cast<std::size_t>(call.count), open);
  if (const Array* cells = call.array("blocked")) block(blocked, cells_where(call, *cells, false));
  if (const Array* numbers = call.array("numbers")) {
    const auto possible = [](const Allowed& cells) { return leaves_each_row_a_key(cells) && !meant_by(!cells); };
    const Allowed zeros = cells_of(*numbers, 0, 0).array() == 0;
    const bool of_ones = !possible(zeros) && possible(!zeros);
    block(blocked, cells_where(call, *numbers, !of_ones));
  }
  return blocked;
}

/// The cells of one sentence that a mask argument blocks, in the ways it may be meant, the likeliest first; none where
/// it blocks nothing or is a bias.
std::vector<Allowed> options_of(const Array& mask, Index sentence) {
  const Grid cells = cells_of(mask, sentence, 0);
  if (is_floating(mask.dtype) && (cells.array() <= kBlocking).any()) return {cells.array() <= kBlocking};
  const bool binary = ((cells.array() == 0) || (cells.array() == 1)).all();
  if (!binary || (cells.array() == cells(0, 0)).all()) return {};
  std::vector<Allowed> options{cells.array() == 0, cells.array() != 0};
  const auto rest = std::stable_partition(options.begin(), options.end(), leaves_each_row_a_key);
  if (rest != options.begin()) options.erase(rest, options.end());
  std::stable_partition(options.begin(), options.end(), [](const Allowed& one) { return !meant_by(!one); });
  return options;
}

/// A mask argument as (B or 1, 1, T, S), in every way that its shape allows; none where none fits or it is not there.
std::vector<Array> forms_of(const CapturedCall& call, std::size_t argument) {
  using Axes = std::vector<std::array<std::size_t, 3>>;  // of sentences, queries, keys; 4: none
  static const Axes kOrders[] = {
      {}, {{4, 4, 0}}, {{4, 0, 1}, {0, 4, 1}}, {{0, 1, 2}, {2, 0, 1}}, {{0, 2, 3}, {2, 0, 1}}};
  const Array* mask = call.array("argument." + std::to_string(argument));
  std::vector<Array> forms;
  if (!mask || mask->shape.size() > 4 || !call.array("query")) return forms;
  const Index queries = call.array("query")->shape[1], keys = call.array("key")->shape[1];
  Index sizes[] = {1, 1, 1, 1, 1}, steps[] = {0, 0, 0, 0, 0}, step = 1;
  for (std::size_t axis = mask->shape.size(); axis-- > 0; step *= sizes[axis])
    sizes[axis] = mask->shape[axis], steps[axis] = sizes[axis] > 1 ? step : 0;
  const auto fits = [&](std::size_t axis, Index most) { return sizes[axis] == 1 || sizes[axis] == most; };
  for (const auto& [sentence, query, key] : kOrders[mask->shape.size()]) {
    if (!fits(sentence, call.count) || !fits(query, queries) || sizes[key] != keys) continue;
    Array& form = forms.emplace_back(Array{mask->dtype, {sizes[sentence], 1, queries, keys}, {}});
    for (Index b = 0; b < sizes[sentence]; ++b)
      for (Index i = 0; i < queries; ++i)
        for (Index j = 0; j < keys; ++j)
          form.values.push_back(
              mask->values[static_cast<std::size_t>(b * steps[sentence] + i * steps[query] + j * steps[key])]);
  }
  return forms;
}

/// Whether some call blocks all that a mask argument blocks, meant in one way or the other; or it is used elsewhere.
bool is_applied(const std::vector<CapturedCall>& calls, const std::string& number) {
  for (const CapturedCall& call : calls)
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      if (call.arguments[i][1] != number) continue;
      if (call.arguments[i].back() == "used") return true;
      const std::vector<Array> forms = forms_of(call, i);
      if (forms.empty() || call.partial || call.changed || call.array("after")) return true;
      const Blocked blocked = blocked_before(call);
      const auto blocks = [&](const Array& mask) {
        bool any = false, every = true;
        for (std::size_t b = 0; b < blocked.size(); ++b) {
          Allowed together = blocked[b][0];
          for (const Allowed& head : blocked[b]) together = together || head;
          const auto options = options_of(mask, static_cast<Index>(b));
          any = any || !options.empty();
          every = every && (options.empty() || std::any_of(options.begin(), options.end(), [&](const Allowed& cells) {
                              return (!cells || together).all();
                            }));
        }
        return !any || every;
      };
      if (std::any_of(forms.begin(), forms.end(), blocks)) return true;
    }
  return false;
}

/// Adds to `blocked` what masks block that were given but not applied: it is meant to be blocked.
void add_arguments(const std::vector<CapturedCall>& calls, const CapturedCall& call, Blocked& blocked,
                   MeantMask& meant) {
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (is_applied(calls, call.arguments[i][1])) continue;
    const Array mask = forms_of(call, i).front();
    for (std::size_t b = 0; b < blocked.size(); ++b) {
      const auto options = options_of(mask, static_cast<Index>(b));
      const Allowed before = blocked[b][0];
      if (options.empty() || (!options[0] || before).all()) continue;
      const MistakeCode code = before.any() ? mask_not_applied : mask_missing;
      meant.mistakes[b] = mistake_of(code, words(code, call.arguments[i][0]));
      for (Allowed& head : blocked[b]) head = head || options[0];
    }
  }
}

/// Masks given in one of the arguments, applied to other sentences: the given one of each sentence, and in which order
/// they were repeated. Nothing where they are where they belong, or in no such order.
struct OtherSentences {
  std::vector<Allowed> meant;
  MistakeCode order;
};
std::optional<OtherSentences> given_to_others(const CapturedCall& call, const Blocked& blocked) {
  const std::size_t count = blocked.size(), heads = blocked[0].size();
  for (std::size_t argument = 0; argument < call.arguments.size(); ++argument)
    for (const Array& form : forms_of(call, argument)) {
      if (static_cast<std::size_t>(form.shape[0]) != count) continue;
      std::vector<Allowed> first, second;  // what each sentence's mask blocks, meant in one way or the other
      for (std::size_t b = 0; b < count; ++b) {
        const Grid cells = cells_of(form, static_cast<Index>(b), 0);
        const bool numbers = is_floating(form.dtype) && (cells.array() <= kBlocking).any();
        first.emplace_back(numbers ? Allowed(cells.array() <= kBlocking) : Allowed(cells.array() == 0));
        second.emplace_back(numbers ? first.back() : Allowed(cells.array() != 0));
      }
      for (const auto& given : {first, second}) {
        const auto follows = [&](const auto& sentence) {
          for (std::size_t b = 0; b < count; ++b)
            for (std::size_t h = 0; h < heads; ++h)
              if (!are_same(blocked[b][h], given[sentence(b, h)])) return false;
          return true;
        };
        if (follows([](std::size_t b, std::size_t) { return b; })) return std::nullopt;
        if (!call.heads_first && follows([&](std::size_t b, std::size_t h) { return (b * heads + h) % count; }))
          return OtherSentences{given, phrases::of_batch_heads};
        if (follows([&](std::size_t b, std::size_t h) { return (h * count + b) / heads; }))
          return OtherSentences{given, phrases::of_heads_batch};
      }
    }
  return std::nullopt;
}

}  // namespace

Bilingual number_words(const CapturedCall& call) {
  const bool half = call.dtype == "float16" || call.dtype == "bfloat16";
  const Bilingual number = formatted(half ? "%.2g" : "%.4g", call.filled.value_or(0));
  return words(blocked_scores_weak, call.lowered ? words(phrases::lower_number, number) : number);
}

Grid cells_of(const Array& array, Index sentence, Index head) {
  const Index heads = array.shape[1], rows = array.shape[2], cols = array.shape[3];
  const Index at = std::min(sentence, array.shape[0] - 1) * heads + std::min(head, heads - 1);
  return Eigen::Map<const Matrix>(array.values.data() + at * rows * cols, rows, cols).cast<double>();
}

Grid rows_of(const Array& array, Index sentence) {
  const Index rows = array.shape[1], cols = array.shape[2];
  return Eigen::Map<const Matrix>(array.values.data() + sentence * rows * cols, rows, cols).cast<double>();
}

MeantMask meant_mask(const std::vector<CapturedCall>& calls, const CapturedCall& call) {
  MeantMask meant;
  Blocked blocked = blocked_before(call);
  std::optional<Mistake> seen;
  if (call.filled && *call.filled > kBlocking) seen = mistake_of(blocked_scores_weak, number_words(call));
  if (call.array("numbers")) seen = mistake_of(mask_added_as_numbers);
  if (const Array* after = call.array("after"))
    if (block(blocked, cells_where(call, *after, false))) seen = mistake_of(mask_after_softmax);
  meant.mistakes.assign(blocked.size(), seen);
  if (const Array* intended = call.array("intended")) {
    blocked = cells_where(call, *intended, true);
  } else if (!seen && !call.partial) {
    const auto agree = [](const auto& heads) {
      return std::all_of(heads.begin(), heads.end(), [&](const Allowed& head) { return are_same(head, heads[0]); });
    };
    const bool heads_agree = std::all_of(blocked.begin(), blocked.end(), agree), inverted = are_inverted(blocked);
    auto others = given_to_others(call, blocked);
    if (!others && !heads_agree)
      if (auto first = of_other_sentences(blocked); !first.empty())
        others = OtherSentences{std::move(first), phrases::of_batch_heads};
    bool named = false;
    for (std::size_t b = 0; b < blocked.size(); ++b) {
      std::optional<Meant> one;
      if (others)
        one = Meant{!others->meant[b],
                    mistake_of(mask_of_other_sentences, words(mask_of_other_sentences, words(others->order)))};
      else if (inverted) one = Meant{blocked[b][0], mistake_of(mask_inverted)};
      else if (heads_agree) one = meant_by(!blocked[b][0]);
      if (!one) continue;
      named = true;
      meant.mistakes[b] = std::move(one->mistake);
      blocked[b].assign(blocked[b].size(), !one->allowed);
    }
    if (!named) add_arguments(calls, call, blocked, meant);
  }
  for (auto& heads : blocked)
    for (Allowed& head : heads) head = !head;
  meant.allowed = std::move(blocked);
  if (const Array* bias = call.array("bias"))
    for (Index b = 0; b < call.count; ++b) {
      meant.bias.emplace_back();
      for (Index h = 0; h < call.heads; ++h) meant.bias.back().push_back(cells_of(*bias, b, h));
    }
  return meant;
}

}  // namespace headlight
