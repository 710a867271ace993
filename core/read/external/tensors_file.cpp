#include "read/external/held_arrays.h"
#include "read/external/held_names.h"
#include "read/external/held_words.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/formatted.h"
#include "base/result.h"
#include "read/external/mask_file.h"
#include "read/external/patterns.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

/// The arrays of an export beside attention, which a file of inputs may hold as the expected answer.
constexpr std::string_view kAnswers[] = {"attentions",
                                         "encoder_attentions",
                                         "decoder_attentions",
                                         "cross_attentions",
                                         "hidden_states",
                                         "last_hidden_state",
                                         "encoder_last_hidden_state",
                                         "logits",
                                         "output",
                                         "queries",
                                         "keys",
                                         "values",
                                         "scores"};

/// The arrays of one file, taken by name; what was not taken in the end is surplus.
class Arrays {
 public:
  Arrays(std::string_view where, const ArrayFile& file) : where_(where), file_(file) {}

  const Array* find(const std::string& name) {
    const Array* array = find_array(file_.arrays, name);
    if (array) taken_.insert(name);
    return array;
  }

  /// An array of `axes` axes, none of them empty, every number finite; an empty optional where the file has none.
  Result<std::optional<Matrix>> find_finite(const std::string& name, std::size_t axes) {
    const Array* array = find(name);
    if (array == nullptr) return std::optional<Matrix>{};
    if (array->shape.size() != axes || array->values.empty())
      return bad_input(where_, name, axes == 2 ? "two axes, none empty" : "one axis, not empty",
                       shape_text(array->shape));
    const Index columns = array->shape.back();
    for (std::size_t i = 0; i < array->values.size(); ++i) {
      if (std::isfinite(array->values[i])) continue;
      const Index at = static_cast<Index>(i);
      const std::string row = axes == 2 ? std::to_string(at / columns) + ", " : std::string();
      return not_finite(where_, name + "[" + row + std::to_string(at % columns) + "]", array->values[i]);
    }
    return std::optional<Matrix>{
        Eigen::Map<const Matrix>(array->values.data(), axes == 2 ? array->shape[0] : 1, columns)};
  }

  /// Warns of arrays that were not taken: answers that an export holds beside its inputs, and unknown ones.
  void warn_of_surplus(std::vector<Error>& warnings) const {
    std::vector<std::string> answers;
    for (const auto& [name, array] : file_.arrays) {
      if (taken_.contains(name)) continue;
      if (std::find(std::begin(kAnswers), std::end(kAnswers), name) != std::end(kAnswers)) answers.push_back(name);
      else
        warnings.emplace_back(ErrorCode::foreign_tensor, where_,
                              printable(name) + ": no part of a tensors file, not used");
    }
    if (!answers.empty())
      warnings.emplace_back(ErrorCode::bad_value, where_,
                            joined_texts(answers, ", ") + ": answers to compare with (headlight diagnose), not inputs");
  }

 private:
  std::string_view where_;
  const ArrayFile& file_;
  std::set<std::string> taken_;
};

/// One projection for inputs of `columns` columns; `columns` becomes the width of what it gives.
Status take_projection(std::string_view where, Arrays& arrays, const std::string& name, std::string_view input,
                       Index& columns, Linear& linear) {
  auto weight = TRY(arrays.find_finite(name + ".weight", 2));
  if (weight) {
    if (weight->cols() != columns)
      return bad_input(where, name + ".weight",
                       "(out, " + std::to_string(columns) + ") for " + std::string(input) + " of " +
                           std::to_string(columns) + " columns",
                       shape_text({weight->rows(), weight->cols()}), ErrorCode::wrong_shape);
    linear.weight = std::move(*weight);
    columns = linear.weight.rows();
  }
  auto bias = TRY(arrays.find_finite(name + ".bias", 1));
  if (bias) {
    if (bias->cols() != columns)
      return bad_input(where, name + ".bias", shape_text({columns}), shape_text({bias->cols()}),
                       ErrorCode::wrong_shape);
    linear.bias = bias->row(0);
  }
  return Done{};
}

Result<Index> heads_of(std::string_view where, Arrays& arrays, const ArrayFile& file, std::optional<Index> asked) {
  const Array* array = arrays.find("num_heads");
  Index heads = 0;
  std::string found;
  if (asked) {
    heads = *asked;
    found = std::to_string(heads);
  } else if (const auto at = file.metadata.find("num_heads"); at != file.metadata.end()) {
    heads = parse_number<Index>(at->second).value_or(0);
    found = "'" + printable(at->second) + "'";
  } else if (array != nullptr) {
    const float value = array->values.size() == 1 ? array->values[0] : 0.0f;
    heads = value >= 1 && value <= static_cast<float>(kMaxHeads) && value == std::floor(value)
                ? static_cast<Index>(value)
                : 0;
    found = "an array " + shape_text(array->shape);
    if (array->values.size() == 1 && std::isfinite(value)) found = printable(nlohmann::json(value).dump());
  } else {
    return bad_input(where, "num_heads", "a number in the metadata or --num-heads", "neither",
                     ErrorCode::heads_unknown);
  }
  if (heads < 1 || heads > kMaxHeads) return bad_input(where, "num_heads", "1 to " + std::to_string(kMaxHeads), found);
  return heads;
}

/// Query, key and value, with the defaults filled in and the rows compared.
Status take_inputs(std::string_view where, Arrays& arrays, const ArrayFile& file, ExternalStack& given) {
  for (const auto& [name, matrix] : {std::pair{"query", &given.query}, {"key", &given.key}, {"value", &given.value}}) {
    auto taken = TRY(arrays.find_finite(name, 2));
    if (taken) *matrix = std::move(*taken);
    else if (matrix != &given.query) *matrix = given.query;
    else
      return bad_input(where, "query", "an array (queries, d_model), or attentions (layers, heads, queries, keys)",
                       "neither (weights of a model are opened beside their config.json)");
  }
  for (const auto& [name, matrix] : {std::pair{"query", &given.query}, {"key", &given.key}})
    if (matrix->rows() > static_cast<Index>(kMaxTokens))
      return bad_input(where, name, "at most " + std::to_string(kMaxTokens) + " tokens", std::to_string(matrix->rows()),
                       ErrorCode::too_large);
  if (given.value.rows() != given.key.rows())
    return bad_input(where, "value", "(" + std::to_string(given.key.rows()) + ", …), as many rows as key",
                     shape_text({given.value.rows(), given.value.cols()}) +
                         (file.arrays.contains("value") ? "" : ", the query it defaults to"),
                     ErrorCode::wrong_rows);
  const auto tokens = metadata_text(file, "tokens");
  given.query_tokens = TRY(parse_tokens(where, "tokens", tokens, given.query.rows()));
  // Where the keys are as many as the queries, they are the same tokens unless the file states others.
  const auto key_list = metadata_text(file, "key_tokens");
  const bool same_tokens = !key_list && given.key.rows() == given.query.rows();
  given.key_tokens = TRY(parse_tokens(where, "key_tokens", same_tokens ? tokens : key_list, given.key.rows()));
  return Done{};
}

Status take_projections(std::string_view where, Arrays& arrays, const ExternalStack& given, Index num_heads,
                        AttentionWeights& weights) {
  Index query = given.query.cols(), key = given.key.cols(), value = given.value.cols();
  TRY(take_projection(where, arrays, "q_proj", "query", query, weights.query));
  TRY(take_projection(where, arrays, "k_proj", "key", key, weights.key));
  TRY(take_projection(where, arrays, "v_proj", "value", value, weights.value));
  const Index d_k = query / num_heads, groups = d_k > 0 && key < query && key % d_k == 0 ? key / d_k : num_heads;
  const bool shared = groups < num_heads && num_heads % groups == 0 && value % groups == 0;
  weights.num_heads = num_heads, weights.num_kv_heads = shared ? groups : num_heads;
  Index output = shared ? value / groups * num_heads : value;
  TRY(take_projection(where, arrays, "out_proj", "the heads", output, weights.output));
  if (key != query && !shared)
    return bad_input(where, "key", std::to_string(query) + " columns after projection, as query", std::to_string(key),
                     ErrorCode::wrong_columns);
  for (const auto& [name, columns] : {std::pair{"query", query}, {"value", value}})
    if (columns % (shared && columns == value ? groups : num_heads) != 0)
      return bad_input(where, "num_heads",
                       "a divisor of the " + std::to_string(columns) + " columns of the projected " + name,
                       std::to_string(num_heads), ErrorCode::heads_divide);
  return Done{};
}

Result<MaskSpec> take_mask(std::string_view where, Arrays& arrays, const ExternalStack& given, Index heads,
                           std::vector<Error>& notes) {
  const Array* array = arrays.find("mask");
  if (array == nullptr) return MaskSpec{};
  return mask_beside(where, *array, given.query.rows(), given.key.rows(), heads, notes);
}

/// (layers, heads, T, S) as matrices; a batch of one in front of the layers or the heads is dropped.
Result<FoundPatterns> patterns_of(std::string_view where, const std::string& name, const Array& array) {
  std::vector<Index> shape = array.shape;
  if (shape.size() == 5 && (shape[0] == 1 || shape[1] == 1)) shape.erase(shape.begin() + (shape[0] == 1 ? 0 : 1));
  if (shape.size() != 4 || array.values.empty())
    return bad_input(where, name, "(layers, heads, queries, keys), none empty", shape_text(array.shape),
                     ErrorCode::wrong_shape);
  if (shape[0] > kMaxLayers || shape[1] > kMaxHeads)
    return bad_input(where, name,
                     "at most " + std::to_string(kMaxLayers) + " layers of " + std::to_string(kMaxHeads) + " heads",
                     shape_text(array.shape), ErrorCode::too_large);
  // Half precision has 11 digits, bfloat16 8; programs compute the softmax in them too.
  FoundPatterns found{.name = name,
                      .stack = {},
                      .tolerance = array.dtype == Dtype::bf16  ? 3e-2
                                   : array.dtype == Dtype::f16 ? 4e-3
                                                               : 1e-3};
  found.stack.patterns = matrices_of(shape, array.values);
  return found;
}

/// An empty map where the file has no patterns.
Result<std::map<Stack, FoundPatterns>> take_patterns(std::string_view where, Arrays& arrays, const ArrayFile& file) {
  std::map<Stack, FoundPatterns> found;
  const bool one = file.arrays.contains("attentions");
  const auto sentence = metadata_text(file, "sentence");
  for (const auto& [name, stack] : {std::pair{"attentions", Stack::self},
                                    {"encoder_attentions", Stack::encoder},
                                    {"decoder_attentions", Stack::self},
                                    {"cross_attentions", Stack::cross}}) {
    const bool wanted = one == (name == std::string_view("attentions"));
    const Array* array = wanted ? arrays.find(name) : nullptr;
    if (array == nullptr) continue;
    auto patterns = TRY(patterns_of(where, sentence ? name + (" sentence " + *sentence) : name, *array));
    const Matrix& first = patterns.stack.patterns[0][0];
    TRY(name_sides(where, file, stack, one, patterns.stack, first.rows(), first.cols()));
    found.emplace(stack, std::move(patterns));
  }
  return found;
}

/// One file of a numbered batch, `0.attentions` and its like, without the number.
ArrayFile one_of_batch(const ArrayFile& file, Index sentence) {
  const std::string before = std::to_string(sentence) + ".";
  ArrayFile one;
  for (const auto& [name, array] : file.arrays)
    if (name.starts_with(before)) one.arrays.emplace(name.substr(before.size()), array);
  for (const auto& [name, text] : file.metadata)
    if (name.starts_with(before)) one.metadata.emplace(name.substr(before.size()), text);
  return one;
}

template <class File>
bool has_patterns(const File& file, const std::string& before = "") {
  for (const char* name : {"attentions", "encoder_attentions", "decoder_attentions", "cross_attentions"})
    if (file.arrays.contains(before + name)) return true;
  return false;
}

/// The numbers of a batch that have patterns, in their order.
template <class File>
std::set<Index> sentences_in(const File& file) {
  std::set<Index> numbers;
  for (const auto& [name, array] : file.arrays)
    if (const auto at = parse_number<Index>(name.substr(0, name.find('.')));
        at && *at >= 0 && has_patterns(file, std::to_string(*at) + "."))
      numbers.insert(*at);
  return numbers;
}

/// Whether every stack has the axes of a tensors file, and none is a list.
bool has_axes_of_file(const ArrayFile& file) {
  for (const auto& [name, array] : file.arrays)
    if (name.find("attentions.") != name.npos) return false;  // a list beside a single array
  for (const char* name : {"attentions", "encoder_attentions", "decoder_attentions", "cross_attentions"})
    if (const Array* array = find_array(file.arrays, name)) {
      const auto& shape = array->shape;
      const bool one = shape.size() == 5 && (shape[0] == 1 || shape[1] == 1);
      if (shape.size() != 4 && !one && !array->values.empty()) return false;
    }
  return true;
}

Result<TensorsFile> patterns_from(std::string_view where, const ArrayFile& file, const ArrayChoice& choice) {
  Arrays arrays(where, file);
  auto found = TRY(take_patterns(where, arrays, file));
  TensorsFile result;
  result.model = TRY(pattern_model(where, std::move(found), result.warnings, choice.grid));
  arrays.warn_of_surplus(result.warnings);
  return result;
}

/// Of arrays as other programs hold them; no model where none can be attention.
Result<TensorsFile> held_from(std::string_view where, ArrayFile& file, const ArrayChoice& choice) {
  std::vector<Error> notes;
  const auto held = TRY(held_attention(where, std::move(file), choice, notes));
  const Array* array = find_array(file.arrays, "array");
  if (held.arrays.empty() && array && file.arrays.size() == 1)
    return bad_input(where, "array", "(T, S), (heads, T, S), (layers, heads, T, S) or (layers, batch, heads, T, S)",
                     shape_text(array->shape), ErrorCode::wrong_shape);
  if (held.arrays.empty()) return TensorsFile{};
  auto result = TRY(patterns_from(where, held, choice));
  result.warnings.insert(result.warnings.begin(), notes.begin(), notes.end());
  return result;
}

/// Of sentences that were exported together, one.
Result<TensorsFile> batch_from(std::string_view where, const ArrayFile& file, const ArrayChoice& choice) {
  TRY(check_choice(where, choice, {.sentence = true, .grid = true}, "a batch of exports"));
  const std::set<Index> numbers = sentences_in(file);
  const auto count = static_cast<Index>(numbers.size());
  const Index sentence = choice.sentence.value_or(0);
  TRY(check_within(where, "--sentence", sentence, count));
  auto one = TRY(patterns_from(where, one_of_batch(file, *std::next(numbers.begin(), sentence)), choice));
  if (!choice.sentence && count > 1)
    one.warnings.emplace_back(ErrorCode::bad_value, where,
                              "a batch of " + std::to_string(count) + " sentences: the first is shown (--sentence)");
  if (const auto anew = counted_anew("sentence", numbers); !anew.empty())
    one.warnings.emplace_back(ErrorCode::bad_value, where, anew);
  return one;
}

Result<TensorsFile> inputs_from(std::string_view where, const ArrayFile& file, std::optional<Index> num_heads) {
  Arrays arrays(where, file);
  ExternalStack given;
  TRY(take_inputs(where, arrays, file, given));
  const auto heads = TRY(heads_of(where, arrays, file, num_heads));
  BlockWeights block;
  TRY(take_projections(where, arrays, given, heads, block.self));
  std::vector<Error> warnings;
  auto mask = TRY(take_mask(where, arrays, given, heads, warnings));
  auto model = std::make_shared<Model>();
  model->name = std::filesystem::path(where).filename().string();
  const AttentionWeights& self = block.self;
  model->config = {.d_model = given.query.cols(),
                   .num_heads = heads,
                   .num_kv_heads = self.num_kv_heads == heads ? 0 : self.num_kv_heads,
                   .num_layers = 1,
                   .ffn = 0,
                   .position = Position::none,
                   .bias = {.query = self.query.bias.size() > 0,
                            .key = self.key.bias.size() > 0,
                            .value = self.value.bias.size() > 0,
                            .output = self.output.bias.size() > 0,
                            .ffn = false}};
  model->blocks.push_back(std::move(block));
  model->given.emplace().stacks.emplace(Stack::self, std::move(given));
  arrays.warn_of_surplus(warnings);
  return TensorsFile{.model = std::move(model), .mask = std::move(mask), .warnings = std::move(warnings)};
}

Result<TensorsFile> part_from(std::string_view where, ArrayFile file, std::optional<Index> num_heads,
                              const ArrayChoice& choice) {
  if (file.arrays.contains("query")) {
    TRY(check_choice(where, choice, {}, "query, which is no weights"));
    return inputs_from(where, file, num_heads);
  }
  if (choice.empty() && has_patterns(file) && has_axes_of_file(file)) return patterns_from(where, file, choice);
  if (!sentences_in(file).empty()) return batch_from(where, file, choice);
  auto held = held_from(where, file, choice);
  if (held && !held->model) return inputs_from(where, file, num_heads);
  return held;
}

}  // namespace

Result<TensorsFile> tensors_from(std::string_view where, ArrayFile file, std::optional<Index> num_heads,
                                 const ArrayChoice& choice) {
  take_words(file);
  const auto words = words_of_no_side(where, file);
  auto taken = part_from(where, std::move(file), num_heads, choice);
  if (taken) taken->warnings.insert(taken->warnings.end(), words.begin(), words.end());
  return taken;
}

bool holds_attention(const StoredArrays& stored) {
  return stored.arrays.contains("query") || stored.arrays.contains("0.query") || has_patterns(stored) ||
         !sentences_in(stored).empty();
}

}  // namespace headlight
