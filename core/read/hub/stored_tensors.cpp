#include "read/hub/stored_tensors.h"

#include <algorithm>
#include <cmath>

#include "base/result.h"
#include "base/system.h"
#include "math/stored_weight.h"

namespace headlight {
namespace {

constexpr std::string_view kLayer = "{layer}";
constexpr Index kRows = 64;                    // widened at a time
constexpr std::size_t kMostSurplusNamed = 16;  // further ones are only counted

/// The array's numbers in float32, one after the other.
template <class Visit>
void for_each_part(const StoredArray& array, const Visit& visit) {
  constexpr std::size_t kPart = std::size_t{1} << 16;  // elements
  const std::size_t count = count_of(array);
  std::vector<float> values;
  for (std::size_t first = 0; first < count; first += kPart) {
    values.clear();
    append_widened(array.dtype, false, array.bytes.substr(bytes_of(array.dtype, first), bytes_of(array.dtype, kPart)),
                   values);
    if (!visit(values, first)) return;
  }
}

bool same_numbers(const StoredArray& a, const StoredArray& b) {
  if (a.shape != b.shape) return false;
  if (a.dtype == b.dtype) return a.bytes == b.bytes;
  bool same = true;
  for_each_part(a, [&](const std::vector<float>& values, std::size_t first) {
    std::vector<float> others;
    append_widened(b.dtype, false, b.bytes.substr(bytes_of(b.dtype, first), bytes_of(b.dtype, values.size())), others);
    return same = values == others;
  });
  return same;
}

/// Rows [first, first + count) of a matrix with so many columns, in float32.
Matrix rows_of(const StoredArray& array, Index columns, Index first, Index count) {
  if (const auto kind = weight_kind(array.dtype))
    return widened({.kind = *kind, .rows = first + count, .cols = columns, .bytes = array.bytes.data()}, first, count);
  const auto row = static_cast<std::size_t>(columns) * width(array.dtype);
  const std::string_view bytes =
      array.bytes.substr(static_cast<std::size_t>(first) * row, static_cast<std::size_t>(count) * row);
  Matrix rows(count, columns);
  std::vector<float> values;
  append_widened(array.dtype, false, bytes, values);
  std::copy(values.begin(), values.end(), rows.data());
  return rows;
}

}  // namespace

StoredTensors::StoredTensors(std::string_view where, StoredArrays stored, std::string_view prefix,
                             std::size_t most_widened, Reading reading, Progress& progress)
    : where_(where), stored_(std::move(stored)), reading_(reading), progress_(progress) {
  if (any_begins(prefix)) prefix_ = prefix;
  std::size_t added = 0;  // bytes, if all were widened
  for (const auto& [name, array] : stored_.arrays) {
    bytes_ += static_cast<double>(array.bytes.size());
    if (is_narrow(array)) added += 4 * count_of(array) - array.bytes.size();
  }
  narrow_stay_ = added > most_widened;
}

bool StoredTensors::any_begins(std::string_view text) const {
  const auto at = stored_.arrays.lower_bound(std::string(text));
  return at != stored_.arrays.end() && at->first.starts_with(text);
}

std::string StoredTensors::full_name(std::string_view pattern, std::size_t layer, std::string_view ending) const {
  std::string name = pattern.front() == '/' ? std::string(pattern.substr(1)) : prefix_ + std::string(pattern);
  if (const auto at = name.find(kLayer); at != std::string::npos)
    name.replace(at, kLayer.size(), std::to_string(layer));
  return name.append(ending);
}

Result<const StoredArray*> StoredTensors::find(const std::vector<std::string>& names, const std::vector<Index>& shape,
                                               Need need) {
  const std::string* chosen = nullptr;
  const StoredArray* array = nullptr;
  for (const std::string& candidate : names) {
    const auto at = stored_.arrays.find(candidate);
    if (at == stored_.arrays.end()) continue;
    taken_.insert(candidate);
    if (array == nullptr) {
      chosen = &candidate;
      array = &at->second;
    } else if (!same_numbers(at->second, *array)) {
      warn(candidate, "differs from " + *chosen + ", which the model has in its place; not used",
           ErrorCode::tensor_stored_twice);
    }
    if (&at->second != array) taken(at->second);
  }
  if (array == nullptr) {
    if (need == Need::required)
      return bad_input(where_, names.front(), "a tensor " + shape_text(shape), "none", ErrorCode::missing_tensor);
    if (need == Need::expected) warn(names.front(), "missing, taken as zero", ErrorCode::tensor_as_zero);
    return array;
  }
  TRY(check_kind(*array, *chosen, shape));
  return array;
}

Status StoredTensors::check_kind(const StoredArray& array, const std::string& stored_name,
                                 const std::vector<Index>& shape) {
  const std::string shown = printable(stored_name);
  if (!is_floating(array.dtype))
    return bad_input(array.where, shown, "floating-point numbers", name(array.dtype), ErrorCode::whole_numbers);
  std::vector<Index> stored = array.shape;
  while (stored.size() > shape.size() && stored.front() == 1) stored.erase(stored.begin());
  if (shape.size() == 2 && stored.size() == 4 && stored[0] == shape[0] && stored[1] * stored[2] * stored[3] == shape[1])
    return Done{};  // a convolution, as the product that it is where its steps are as wide as it
  if (shape.size() == 2 && shape[0] == 1 && stored.size() == 1) stored.insert(stored.begin(), 1);
  if (stored != shape)
    return bad_input(array.where, shown, shape_text(shape), shape_text(array.shape), ErrorCode::wrong_shape);
  return Done{};
}

Status StoredTensors::check(const std::vector<std::string>& names, const std::vector<Index>& shape, Need need) const {
  for (const std::string& candidate : names)
    if (const auto at = stored_.arrays.find(candidate); at != stored_.arrays.end())
      return check_kind(at->second, candidate, shape);
  if (need == Need::required)
    return bad_input(where_, names.front(), "a tensor " + shape_text(shape), "none", ErrorCode::missing_tensor);
  return Done{};
}

bool StoredTensors::has(const std::vector<std::string>& names, const std::vector<Index>& shape) const {
  for (const std::string& candidate : names)
    if (const auto at = stored_.arrays.find(candidate); at != stored_.arrays.end()) return at->second.shape == shape;
  return false;
}

std::string StoredTensors::name_of(const StoredArray& array, const std::vector<std::string>& names) const {
  const auto is_it = [&](const std::string& name) {
    const auto at = stored_.arrays.find(name);
    return at != stored_.arrays.end() && &at->second == &array;
  };
  return printable(*std::find_if(names.begin(), names.end(), is_it));
}

Error StoredTensors::not_finite(const StoredArray& array, const std::vector<std::string>& names, Index at,
                                float value) const {
  const Index columns = array.shape.back();
  const std::string row = array.shape.size() == 2 ? std::to_string(at / columns) + ", " : std::string();
  return headlight::not_finite(array.where, name_of(array, names) + "[" + row + std::to_string(at % columns) + "]",
                               value);
}

Error StoredTensors::first_not_finite(const StoredArray& array, const std::vector<std::string>& names) const {
  std::optional<Error> error;
  for_each_part(array, [&](const std::vector<float>& values, std::size_t first) {
    const auto bad = std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
    if (bad != values.end()) error = not_finite(array, names, static_cast<Index>(first) + (bad - values.begin()), *bad);
    return !error;
  });
  assert(error);
  return *error;
}

void StoredTensors::taken(const StoredArray& array) {
  release_pages(array.bytes);
  count(array);
}

void StoredTensors::count(const StoredArray& array) {
  bytes_taken_ += static_cast<double>(array.bytes.size());
  if (bytes_ > 0) progress_.done = static_cast<float>(std::min(bytes_taken_ / bytes_, 1.0));
}

Result<Matrix> StoredTensors::widen(const StoredArray& array, Index rows, Index columns,
                                    const std::vector<std::string>& names) {
  Matrix values(rows, columns);
  for (Index first = 0; first < rows; first += kRows) {
    const Index count = std::min(kRows, rows - first);
    values.middleRows(first, count) = rows_of(array, columns, first, count);
  }
  if (!values.allFinite()) return first_not_finite(array, names);
  taken(array);
  return values;
}

Result<Matrix> StoredTensors::take_matrix(const std::vector<std::string>& names, TensorShape size, Need need) {
  const auto array = TRY(find(names, {size.rows, size.cols}, need));
  return array ? widen(*array, size.rows, size.cols, names) : Matrix{};
}

Result<Vector> StoredTensors::take_vector(const std::vector<std::string>& names, Index size, Need need) {
  const auto array = TRY(find(names, {size}, need));
  if (!array) return Vector{};
  const auto row = TRY(widen(*array, 1, size, names));
  return Vector{row.row(0)};
}

Result<Linear> StoredTensors::take_weight(const std::vector<std::string>& names, TensorShape size, Need need,
                                          bool transposed) {
  const TensorShape shape = transposed ? TensorShape{size.cols, size.rows} : size;
  const auto found = TRY(find(names, {shape.rows, shape.cols}, need));
  Linear linear;
  if (!found) return linear;
  const StoredArray& array = *found;
  const auto kind = weight_kind(array.dtype);
  if (!kind) {
    auto weight = TRY(widen(array, shape.rows, shape.cols, names));
    linear.weight = transposed ? Matrix(weight.transpose()) : std::move(weight);
    return linear;
  }
  if (!all_finite(*kind, array.bytes.data(), count_of(array), Threads(0))) return first_not_finite(array, names);
  linear.stored = std::make_shared<const StoredMatrix>(StoredMatrix{.kind = *kind,
                                                                    .rows = size.rows,
                                                                    .cols = size.cols,
                                                                    .bytes = array.bytes.data(),
                                                                    .transposed = transposed,
                                                                    .file = array.owner});
  weight_ = &array;
  count(array);
  return linear;
}

Linear StoredTensors::kept(Linear weight) const {
  if (!weight.stored || stays(weight.stored->kind)) return weight;
  if (reading_ == Reading::as_used) {
    StoredMatrix used = *weight.stored;
    used.panels = std::make_shared<PanelsOfStored>();
    weight.stored = std::make_shared<const StoredMatrix>(std::move(used));
  } else {
    weight.panels = packed(*weight.stored, Threads(0));
    weight.stored = nullptr;
  }
  return weight;
}

void StoredTensors::weight_is_kept() {
  if (weight_ && reading_ == Reading::whole && !stays(*weight_kind(weight_->dtype))) release_pages(weight_->bytes);
  weight_ = nullptr;
}

Status StoredTensors::check_memory() const {
  const double memory = machine_memory();
  double needed = 0;
  for (const auto& [name, array] : stored_.arrays) {
    const bool stays = narrow_stay_ && is_narrow(array) && array.shape.size() == 2;
    if (is_floating(array.dtype) && !stays) needed += 4.0 * static_cast<double>(count_of(array));
  }
  constexpr double kGigabyte = 1e9;
  if (memory <= 0 || needed <= memory) return Done{};
  return bad_input(
      where_, "size",
      "weights that fit this machine's memory of " + std::to_string(static_cast<long>(memory / kGigabyte)) + " GB",
      std::to_string(static_cast<long>(needed / kGigabyte)) + " GB in float32", ErrorCode::no_memory);
}

void StoredTensors::warn(std::string_view what, std::string_view remark, ErrorCode code) {
  warnings_.emplace_back(code, where_, printable(what) + ": " + std::string(remark));
}

bool StoredTensors::matches(std::string_view pattern, std::string_view name) const {
  const bool open = pattern.back() == '*';
  if (open) pattern.remove_suffix(1);
  const auto at = pattern.find(kLayer);
  const std::string begin = full_name(pattern.substr(0, at), 0);
  if (!name.starts_with(begin)) return false;
  name.remove_prefix(begin.size());
  if (at != std::string_view::npos) {
    const auto digits = std::min(name.find_first_not_of("0123456789"), name.size());
    const std::string_view after = pattern.substr(at + kLayer.size());
    if (digits == 0 || !name.substr(digits).starts_with(after)) return false;
    name.remove_prefix(digits + after.size());
  }
  return open || name.empty();
}

void StoredTensors::warn_of_surplus(const std::vector<Row>& rows, std::string_view model) {
  std::size_t surplus = 0;
  std::set<std::string> unused;
  for (const auto& [stored_name, array] : stored_.arrays) {
    if (taken_.contains(stored_name)) continue;
    const auto row = std::find_if(rows.begin(), rows.end(), [this, &stored = stored_name](const Row& known) {
      return kind(known.field) == FieldKind::none && matches(known.name, stored);
    });
    if (row == rows.end()) {
      if (++surplus <= kMostSurplusNamed)
        warn(stored_name, "no part of " + std::string(model) + ", not used", ErrorCode::foreign_tensor);
    } else if (row->field == Field::unused) {
      unused.insert(full_name(row->name, 0));
    }
  }
  if (surplus > kMostSurplusNamed)
    warnings_.emplace_back(ErrorCode::foreign_tensor, where_,
                           std::to_string(surplus - kMostSurplusNamed) + " more tensors are no part of " +
                               std::string(model) + ", not used");
  for (const std::string& known : unused)
    warn(known, "needed neither for attention nor for the next word, not used", ErrorCode::tensor_not_needed);
}

}  // namespace headlight
