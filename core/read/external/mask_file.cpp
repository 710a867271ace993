#include "read/external/mask_file.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/file.h"
#include "base/result.h"
#include "model/batch_mask.h"
#include "read/array/npy.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr const char* kJsonMinusInfinity = "-inf";
constexpr float kBlocked = -std::numeric_limits<float>::infinity();
/// A JSON mask of 5,000 tokens takes 50 to 75 MB. Parsed, JSON takes up to 33 times the memory of its text ("{},{},…").
constexpr std::size_t kMostJsonBytes = std::size_t{80} << 20;

/// "[0, 1, 2]".
std::string list_name(const std::vector<Index>& index) {
  const std::string text = axes_text(index);
  return "[" + text.substr(1, text.size() - 2) + "]";
}

bool is_zeros_and_ones(const std::vector<float>& values) {
  const auto ones = std::count(values.begin(), values.end(), 1.0f);
  const auto zeros = std::count(values.begin(), values.end(), 0.0f);
  return ones > 0 && zeros > 0 && static_cast<std::size_t>(ones + zeros) == values.size();
}

/// Rows and columns of a mask of one, two or three axes; nothing where it is none.
std::optional<std::pair<Index, Index>> size_of_mask(const std::vector<Index>& shape) {
  switch (shape.size()) {
    case 1: return std::pair{Index{1}, shape[0]};
    case 2: return std::pair{shape[0], shape[1]};
    case 3:
      if (shape[2] == 1) return std::pair{shape[0], shape[1]};
      if (shape[0] == 1) return std::pair{shape[1], shape[2]};
      return std::nullopt;
    default: return std::nullopt;
  }
}

/// (sentences, 1, queries, keys), as PyTorch programs hold it, or with equal masks of all heads, without its second
/// axis; another array as it is.
Array without_heads(Array array) {
  if (array.shape.size() != 4 || array.values.empty()) return array;
  const auto heads = static_cast<std::size_t>(array.shape[1]);
  const std::size_t one = array.values.size() / static_cast<std::size_t>(array.shape[0]) / heads;
  std::vector<float> values;
  for (auto at = array.values.begin(); at != array.values.end(); at += static_cast<std::ptrdiff_t>(heads * one)) {
    const auto end = at + static_cast<std::ptrdiff_t>(one);
    for (std::size_t head = 1; head < heads; ++head)
      if (!std::equal(at, end, at + static_cast<std::ptrdiff_t>(head * one))) return array;
    values.insert(values.end(), at, end);
  }
  array.values = std::move(values);
  array.shape.erase(array.shape.begin() + 1);
  return array;
}

/// The index of an element: "query 0 key 1", or of three axes "[0, 1, 2]".
std::string element_name(const std::vector<Index>& shape, std::size_t element) {
  std::vector<Index> index(shape.size());
  auto rest = static_cast<Index>(element);
  for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) index[axis] = rest % shape[axis];
  if (shape.size() > 2) return list_name(index);
  const Index query = shape.size() == 1 ? 0 : index[0];
  return "query " + std::to_string(query) + " key " + std::to_string(index.back());
}

/// A JSON list of rows of cells, of two axes or more, while it is read.
struct JsonCells {
  std::string_view where;
  Array array = {.dtype = Dtype::boolean, .shape = {}, .values = {}};
  std::vector<Index> at = {};       // which list is read
  std::optional<Error> whole = {};  // of the first whole number above 1, right among floats alone

  Status read(const json& list) {
    const json* inner = &list;
    for (; inner->is_array() && !inner->empty() && array.shape.size() < 4; inner = &inner->front())
      array.shape.push_back(static_cast<Index>(inner->size()));
    if (array.shape.size() < 2 || (inner->is_array() && inner->empty()))
      return bad_input(where, "mask", "a list of rows [query][key], or of three or four axes",
                       list.is_array() ? "a list without rows" : list.type_name(), ErrorCode::not_a_mask);
    return take(list);
  }

  Status take(const json& value) {
    const std::vector<Index>& shape = array.shape;
    if (at.size() == shape.size()) return take_cell(value);
    const Index size = shape[at.size()];
    if (!value.is_array() || static_cast<Index>(value.size()) != size) {
      constexpr const char* kParts[] = {" cells", " rows", " heads"};
      const bool table = shape.size() == 2;
      const std::string name = table ? "query " + std::to_string(at[0]) : list_name(at);
      return bad_input(where, "mask: " + name,
                       "a list of " + std::to_string(size) + (table ? " keys" : kParts[shape.size() - at.size() - 1]),
                       value.is_array() ? std::to_string(value.size()) : value.type_name(), ErrorCode::not_a_mask);
    }
    at.push_back(0);
    for (const json& inner : value) {
      TRY(take(inner));
      ++at.back();
    }
    at.pop_back();
    return Done{};
  }

  Status take_cell(const json& cell) {
    const auto wrong = [&](const std::string& found) {
      return bad_input(where, "mask: " + element_name(array.shape, array.values.size()), "true, false, 1 or 0", found,
                       ErrorCode::mask_not_boolean);
    };
    if (!cell.is_boolean() && !cell.is_number() && cell != kJsonMinusInfinity) return wrong(cell.type_name());
    const bool zero_or_one = cell.is_boolean() || cell == 0 || cell == 1;
    if (!zero_or_one && !cell.is_number_integer()) array.dtype = Dtype::f32;
    else if (!zero_or_one && array.dtype == Dtype::boolean) array.dtype = Dtype::i64;
    if (cell.is_number_integer() && cell > 1 && !whole) whole = wrong(printable(cell.dump()));
    array.values.push_back(cell.is_boolean()  ? static_cast<float>(cell.get<bool>())
                           : cell.is_number() ? cell.get<float>()
                                              : kBlocked);
    return Done{};
  }
};

/// Whether the numbers of a mask are added: floats, and whole numbers below 0 with none above.
bool is_added(const Array& array) {
  if (is_floating(array.dtype)) return !is_zeros_and_ones(array.values);
  const auto [least, most] = std::minmax_element(array.values.begin(), array.values.end());
  return *least < 0 && *most <= 0;
}

/// What each element adds to a score (additive_mask).
Result<std::vector<float>> addends_of(std::string_view where, std::string_view what, const Array& array,
                                      std::vector<Error>& notes) {
  const bool stored_as_floats = is_floating(array.dtype) && is_zeros_and_ones(array.values);
  if (stored_as_floats)
    notes.emplace_back(
        ErrorCode::bad_value, where,
        std::string(what) + ": floats of nothing but 0 and 1 are read as a boolean mask, 1 = may attend");
  const bool added = is_added(array);
  std::vector<float> addends = array.values;
  const auto name_of = [&](std::size_t element) {
    return std::string(what) + ": " + element_name(array.shape, element);
  };
  for (std::size_t i = 0; i < addends.size(); ++i) {
    float& cell = addends[i];
    if (added) {
      if (std::isnan(cell) || cell > std::numeric_limits<float>::max())
        return not_finite(where, name_of(i), cell, "a finite number or -inf", ErrorCode::mask_not_finite);
    } else {
      if (cell != 0.0f && cell != 1.0f)
        return bad_input(where, name_of(i), "0 or 1", json(static_cast<double>(cell)).dump(),
                         ErrorCode::mask_not_boolean);
      cell = cell == 1.0f ? 0.0f : kBlocked;
    }
  }
  return addends;
}

}  // namespace

Result<Matrix> additive_mask(std::string_view where, std::string_view what, const Array& array,
                             std::vector<Error>& notes) {
  constexpr std::string_view kForms =
      "(keys), (queries, keys), (queries, keys, 1), (1, queries, keys) or (1, 1, queries, keys)";
  if (array.shape.empty() || array.shape.size() > 4 || array.values.empty())
    return bad_input(where, what, kForms, shape_text(array.shape), ErrorCode::not_a_mask);
  const Array one = without_heads(array);
  if (one.shape.size() == 4)
    return bad_input(where, what, "one mask for all heads: (sentences, 1, queries, keys)",
                     shape_text(array.shape) + ", whose heads differ", ErrorCode::mask_of_several);
  const bool four = array.shape.size() == 4;
  const auto size = !four               ? size_of_mask(one.shape)
                    : one.shape[0] == 1 ? std::optional(std::pair{one.shape[1], one.shape[2]})
                                        : std::nullopt;
  if (!size)
    return bad_input(where, what, "a batch axis of 1, one mask for all sentences: " + std::string(kForms),
                     shape_text(array.shape), ErrorCode::mask_of_several);
  auto addends = TRY(addends_of(where, what, one, notes));
  return Matrix(Eigen::Map<const Matrix>(addends.data(), size->first, size->second));
}

Result<MaskSpec> mask_of_array(std::string_view where, Array stored, std::vector<Error>& notes, bool* boolean) {
  MaskSpec spec;
  if (boolean) *boolean = stored.values.empty() || !is_added(stored);
  const bool four = stored.shape.size() == 4;
  const Array array = without_heads(std::move(stored));
  std::vector<Index> shape = array.shape;
  if (shape.size() < 3 || shape.size() > 4 || array.values.empty()) {
    auto mask = TRY(additive_mask(where, "mask", array, notes));
    spec.given = std::make_shared<const Matrix>(std::move(mask));
    return spec;
  }
  auto addends = TRY(addends_of(where, "mask", array, notes));
  const Index heads = shape.size() == 4 ? shape[1] : 1;
  if (heads > 1) shape.erase(shape.begin() + 1);
  spec.batch =
      std::make_shared<const BatchMask>(BatchMask{{shape[0], shape[1], shape[2]}, std::move(addends), four, heads});
  return spec;
}

Result<MaskSpec> mask_beside(std::string_view where, const Array& array, Index queries, Index keys, Index heads,
                             std::vector<Error>& notes) {
  if (array.shape.size() > 2) {
    std::vector<Error> own;
    auto of_heads = TRY(mask_of_array(where, array, own));
    const bool fits = bool(give_own_mask(where, of_heads, queries, keys, 1, 0, heads)) && heads > 1;
    if (fits && (of_heads.heads == heads || !of_heads.batch)) {  // equal masks became one
      notes.insert(notes.end(), own.begin(), own.end());
      return MaskSpec{.given = of_heads.given, .heads = of_heads.heads};
    }
  }
  auto mask = TRY(additive_mask(where, "mask", array, notes));
  const bool fits = (mask.rows() == queries || mask.rows() == 1) && (mask.cols() == keys || mask.cols() == 1);
  if (!fits)
    return bad_input(where, "mask", shape_text({queries, keys}) + " (queries, keys)", shape_text(array.shape),
                     ErrorCode::mask_shape);
  return MaskSpec{.given = std::make_shared<const Matrix>(std::move(mask))};
}

MaskSpec with_true_blocking(MaskSpec mask) {
  const auto turned = [](float addend) { return addend == 0.0f ? kBlocked : 0.0f; };
  if (mask.given) mask.given = std::make_shared<const Matrix>(mask.given->unaryExpr(turned));
  if (!mask.batch) return mask;
  BatchMask batch = *mask.batch;
  std::transform(batch.addends.begin(), batch.addends.end(), batch.addends.begin(), turned);
  mask.batch = std::make_shared<const BatchMask>(std::move(batch));
  return mask;
}

bool blocks_only_zeros(const std::vector<std::vector<Matrix>>& patterns, const MaskSpec& mask) {
  for (const auto& layer : patterns)
    for (std::size_t head = 0; head < layer.size(); ++head) {
      const Matrix& weights = layer[head];
      const auto heads = static_cast<Index>(layer.size());
      MaskSpec own = mask;
      if (!give_own_mask("", own, weights.rows(), weights.cols(), 1, 0, heads) || !own.given) return false;
      if (own.heads > 1 && own.heads != heads) return false;
      const Matrix added = given_of_head(own, static_cast<Index>(head));
      if ((added.rows() != 1 && added.rows() != weights.rows()) ||
          (added.cols() != 1 && added.cols() != weights.cols()))
        return false;
      for (Index i = 0; i < weights.size(); ++i) {
        const Index row = i / weights.cols(), column = i % weights.cols();
        if (added(added.rows() == 1 ? 0 : row, added.cols() == 1 ? 0 : column) != 0 &&
            !(std::abs(weights.data()[i]) < 1e-6f))
          return false;
      }
    }
  return true;
}

Result<MaskSpec> parse_json_mask(std::string_view where, std::string_view given, bool* boolean) {
  constexpr std::string_view kInfinity = "-Infinity";  // as Python's json writes the mask of a torch program
  std::string text;
  for (std::size_t at = 0; at < given.size();) {
    const std::size_t next = std::min(given.find(kInfinity, at), given.size());
    text.append(given.substr(at, next - at));
    if (next < given.size()) text.append("\"").append(kJsonMinusInfinity).append("\"");
    at = next + kInfinity.size();
  }
  const auto document = parse_json(where, text);
  if (!document) return document.error();
  const json* list = &*document;
  if (list->is_object() && list->contains("mask")) list = &(*list)["mask"];
  if (list->is_object() && list->contains("allowed")) list = &(*list)["allowed"];
  JsonCells cells{.where = where};
  TRY(cells.read(*list));
  if (cells.whole && !is_floating(cells.array.dtype)) return *cells.whole;
  std::vector<Error> notes;  // of floats alone
  return mask_of_array(where, std::move(cells.array), notes, boolean);
}

Result<MaskSpec> read_mask(const std::filesystem::path& path, std::vector<Error>& notes, bool* boolean) {
  const std::string where = path.string();
  if (path.extension() == ".npy") {
    auto stored = TRY(read_npy(path));
    return mask_of_array(where, std::move(stored), notes, boolean);
  }
  if (path.extension() == ".json") {
    const auto text = TRY(read_file(path, kMostJsonBytes));
    return parse_json_mask(where, text, boolean);
  }
  return bad_input(where, "mask", "a file named .npy or .json", "'" + printable(path.filename().string()) + "'",
                   ErrorCode::unknown_kind);
}

}  // namespace headlight
