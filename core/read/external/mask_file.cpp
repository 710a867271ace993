#include "read/external/mask_file.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/within.h"
#include "model/batch_mask.h"
#include "read/array/npy.h"
#include "read/json/json_document.h"
#include "read/json/json_rows.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr float kBlocked = -std::numeric_limits<float>::infinity();
/// A JSON mask of 5,000 tokens takes 50 to 75 MB. Parsed, JSON takes up to 33 times the memory of its text ("{},{},…").
constexpr std::size_t kMostJsonBytes = std::size_t{80} << 20;

std::string cell_name(std::string_view what, Index query, Index key) {
  return (what.empty() ? std::string() : std::string(what) + ": ") + "query " + std::to_string(query) + " key " +
         std::to_string(key);
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
/// axis; another array as it is. An Error where heads differ.
Result<Array> without_heads(std::string_view where, std::string_view what, Array array) {
  if (array.shape.size() != 4 || array.values.empty()) return array;
  const auto heads = static_cast<std::size_t>(array.shape[1]);
  const std::size_t one = array.values.size() / static_cast<std::size_t>(array.shape[0]) / heads;
  std::vector<float> values;
  for (auto at = array.values.begin(); at != array.values.end(); at += static_cast<std::ptrdiff_t>(heads * one)) {
    const auto end = at + static_cast<std::ptrdiff_t>(one);
    for (std::size_t head = 1; head < heads; ++head)
      if (!std::equal(at, end, at + static_cast<std::ptrdiff_t>(head * one)))
        return bad_input(where, what, "one mask for all heads: (sentences, 1, queries, keys)",
                         shape_text(array.shape) + ", of which head " + std::to_string(head) + " differs from head 0",
                         ErrorCode::mask_of_several);
    values.insert(values.end(), at, end);
  }
  array.values = std::move(values);
  array.shape.erase(array.shape.begin() + 1);
  return array;
}

/// The place of an element: "query 0 key 1", or of three axes "[0, 1, 2]".
std::string place_name(const std::vector<Index>& shape, std::size_t element) {
  std::vector<Index> place(shape.size());
  auto rest = static_cast<Index>(element);
  for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) place[axis] = rest % shape[axis];
  if (shape.size() == 1) return cell_name({}, 0, place[0]);
  if (shape.size() == 2) return cell_name({}, place[0], place[1]);
  const std::string text = axes_text(place);
  return "[" + text.substr(1, text.size() - 2) + "]";
}

/// The lengths of a list of rows of cells, or of a list of such lists; an Error where it is ragged.
Result<std::vector<Index>> shape_of(std::string_view where, const json& list) {
  const auto begins_with_list = [](const json& rows) {
    return rows.is_array() && !rows.empty() && rows.front().is_array() && !rows.front().empty();
  };
  if (!begins_with_list(list) || (list.front().front().is_array() && !begins_with_list(list.front())))
    return bad_input(where, "mask", "a list of rows [query][key], or of three axes",
                     list.is_array() ? "a list without rows" : list.type_name(), ErrorCode::not_a_mask);
  std::vector<Index> shape{static_cast<Index>(list.size()), static_cast<Index>(list.front().size())};
  const auto ragged = [&](const std::string& row, std::string_view of, std::size_t expected, const json& found) {
    return bad_input(where, "mask: " + row, "a list of " + std::to_string(expected) + std::string(of),
                     found.is_array() ? std::to_string(found.size()) : found.type_name(), ErrorCode::not_a_mask);
  };
  const bool three = list.front().front().is_array();
  if (const auto odd = odd_row(list))
    return three ? ragged("[" + std::to_string(*odd) + "]", " rows", list.front().size(), list[*odd])
                 : ragged("query " + std::to_string(*odd), " keys", list.front().size(), list[*odd]);
  if (!three) return shape;
  const std::size_t cells = list.front().front().size();
  for (std::size_t i = 0; i < list.size(); ++i)
    for (std::size_t j = 0; j < list[i].size(); ++j)
      if (!list[i][j].is_array() || list[i][j].size() != cells)
        return ragged("[" + std::to_string(i) + ", " + std::to_string(j) + "]", " cells", cells, list[i][j]);
  shape.push_back(static_cast<Index>(cells));
  return shape;
}

/// Appends what each cell of a row of such a list adds to a score.
Status append_row(std::string_view where, const std::vector<Index>& shape, const json& row,
                  std::vector<float>& addends) {
  for (const json& cell : row) {
    const bool zero_or_one = cell.is_number_unsigned() && cell.get<std::uint64_t>() <= 1;
    if (!cell.is_boolean() && !zero_or_one)
      return bad_input(where, "mask: " + place_name(shape, addends.size()), "true, false, 1 or 0",
                       cell.is_number() ? printable(cell.dump()) : cell.type_name(), ErrorCode::mask_not_boolean);
    const bool allowed = cell.is_boolean() ? cell.get<bool>() : cell.get<std::uint64_t>() == 1;
    addends.push_back(allowed ? 0.0f : kBlocked);
  }
  return Done{};
}

/// What each element adds to a score (additive_mask).
Result<std::vector<float>> addends_of(std::string_view where, std::string_view what, const Array& array,
                                      std::vector<Error>& notes) {
  const bool stored_as_floats = is_floating(array.dtype) && is_zeros_and_ones(array.values);
  if (stored_as_floats)
    notes.emplace_back(
        ErrorCode::bad_value, where,
        std::string(what) + ": floats of nothing but 0 and 1 are read as a boolean mask, 1 = may attend");
  std::vector<float> addends = array.values;
  const auto cell_name = [&](std::size_t element) {
    return std::string(what) + ": " + place_name(array.shape, element);
  };
  for (std::size_t i = 0; i < addends.size(); ++i) {
    float& cell = addends[i];
    if (is_floating(array.dtype) && !stored_as_floats) {
      if (std::isnan(cell) || cell > std::numeric_limits<float>::max())
        return not_finite(where, cell_name(i), cell, "a finite number or -inf", ErrorCode::mask_not_finite);
    } else {
      if (cell != 0.0f && cell != 1.0f)
        return bad_input(where, cell_name(i), "0 or 1", json(static_cast<double>(cell)).dump(),
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
  const auto one = without_heads(where, what, array);
  if (!one) return one.error();
  const bool four = array.shape.size() == 4;
  const auto size = !four                ? size_of_mask(one->shape)
                    : one->shape[0] == 1 ? std::optional(std::pair{one->shape[1], one->shape[2]})
                                         : std::nullopt;
  if (!size)
    return bad_input(where, what, "a batch axis of 1, one mask for all sentences: " + std::string(kForms),
                     shape_text(array.shape), ErrorCode::mask_of_several);
  auto addends = addends_of(where, what, *one, notes);
  if (!addends) return addends.error();
  return Matrix(Eigen::Map<const Matrix>(addends->data(), size->first, size->second));
}

Result<MaskSpec> parse_json_mask(std::string_view where, std::string_view text) {
  const auto document = parse_json(where, text);
  if (!document) return document.error();
  const json* list = &*document;
  if (list->is_object() && list->contains("mask")) list = &(*list)["mask"];
  if (list->is_object() && list->contains("allowed")) list = &(*list)["allowed"];
  const auto shape = shape_of(where, *list);
  if (!shape) return shape.error();
  std::vector<float> addends;
  for (const json& first : *list) {
    if (shape->size() == 2) {
      if (const auto row = append_row(where, *shape, first, addends); !row) return row.error();
      continue;
    }
    for (const json& cells : first)
      if (const auto row = append_row(where, *shape, cells, addends); !row) return row.error();
  }
  MaskSpec spec;
  const std::vector<Index>& axes = *shape;
  if (axes.size() == 3)
    spec.batch = std::make_shared<const BatchMask>(BatchMask{{axes[0], axes[1], axes[2]}, std::move(addends)});
  else spec.given = std::make_shared<const Matrix>(Eigen::Map<const Matrix>(addends.data(), axes[0], axes[1]));
  return spec;
}

Result<MaskSpec> read_mask(const std::filesystem::path& path, std::vector<Error>& notes) {
  const std::string where = path.string();
  MaskSpec spec;
  const auto take = [&](Result<Matrix> mask) -> Result<MaskSpec> {
    if (!mask) return mask.error();
    spec.given = std::make_shared<const Matrix>(*std::move(mask));
    return spec;
  };
  if (path.extension() == ".npy") {
    auto stored = read_npy(path);
    if (!stored) return stored.error();
    const bool four = stored->shape.size() == 4;
    const auto array = without_heads(where, "mask", *std::move(stored));
    if (!array) return array.error();
    const std::vector<Index>& shape = array->shape;
    if (shape.size() != 3 || array->values.empty()) return take(additive_mask(where, "mask", *array, notes));
    auto addends = addends_of(where, "mask", *array, notes);
    if (!addends) return addends.error();
    spec.batch =
        std::make_shared<const BatchMask>(BatchMask{{shape[0], shape[1], shape[2]}, *std::move(addends), four});
    return spec;
  }
  if (path.extension() == ".json") {
    const auto text = read_file(path, kMostJsonBytes);
    if (!text) return text.error();
    return parse_json_mask(where, *text);
  }
  return bad_input(where, "mask", "a file named .npy or .json", "'" + printable(path.filename().string()) + "'",
                   ErrorCode::unknown_kind);
}

}  // namespace headlight
