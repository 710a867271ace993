#include "read/external/held_arrays.h"
#include "read/external/own_numbers.h"
#include "read/external/tidy_table.h"

#include <cmath>
#include <numeric>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "base/mapped_file.h"
#include "read/array/npy.h"
#include "read/array/npz.h"
#include "read/array/torch_file.h"

namespace headlight {

bool holds_attention(const std::filesystem::path& npy) {
  if (npy.extension() != ".npy" || !is_regular(npy)) return false;
  const auto file = MappedFile::open(npy);
  if (!file) return false;
  const std::string_view bytes = (*file)->bytes();
  const auto data_at = npy_data_offset("", bytes.substr(0, kNpyPrefix));
  if (!data_at || *data_at > bytes.size()) return false;
  const auto header = parse_npy_header("", bytes.substr(0, *data_at));
  if (!header || !is_floating(header->dtype) || header->shape.size() < 2 || header->count == 0) return false;
  if (header->shape.size() >= 4) return true;
  std::vector<float> row;
  const std::size_t size = static_cast<std::size_t>(header->shape.back()) * width(header->dtype);
  if (header->fortran_order || bytes.size() - *data_at < size) return !header->fortran_order;
  append_widened(header->dtype, header->big_endian, bytes.substr(*data_at, size), row);
  return std::abs(std::accumulate(row.begin(), row.end(), 0.0) - 1) < 0.1;
}

bool names_pickle(const std::filesystem::path& path) {
  return path.extension() == ".pkl" || path.extension() == ".pickle" || path.extension() == ".joblib";
}

bool names_table(const std::filesystem::path& path) {
  const auto ending = path.extension();
  return ending == ".csv" || ending == ".tsv" || ending == ".md" || ending == ".tex";
}

/// A weight a line, or one map.
Result<TensorsFile> read_table(const std::filesystem::path& path, std::optional<Index> num_heads,
                               const ArrayChoice& choice) {
  constexpr std::size_t kMostTidyBytes = std::size_t{1} << 29;
  const std::string where = path.string(), text = TRY(read_file(path, kMostTidyBytes));
  std::vector<Error> notes;
  if (const auto tidy = TRY(parse_tidy_table(where, text, &notes))) {
    auto made = TRY(tensors_from(where, *tidy, num_heads, choice));
    made.warnings.insert(made.warnings.begin(), notes.begin(), notes.end());
    return made;
  }
  TRY(check_choice(where, choice, {.grid = true}, "one map"));
  OwnNumbers table;
  table.weights = TRY(read_number_table(path));
  const NumberTable& of = *table.weights;
  std::string line = "taken for 1 layer, 1 head, " + std::to_string(of.numbers.rows()) +
                     (of.numbers.rows() == 1 ? " query, " : " queries, ") + counted(of.numbers.cols(), "key");
  if (!of.row_labels.empty()) line += "; the first column names the queries";
  if (!of.column_labels.empty()) line += "; the first row names the keys";
  auto made = TRY(model_of_numbers(where, table, choice.grid));
  made.warnings.emplace(made.warnings.begin(), ErrorCode::bad_value, where, line);
  return made;
}

Result<TensorsFile> read_tensors(const std::filesystem::path& path, std::optional<Index> num_heads,
                                 const ArrayChoice& choice) {
  const auto ending = path.extension();
  if (ending == ".json") return read_attention_json(path, choice);
  if (ending == ".npy") {
    ArrayFile file;
    file.arrays["array"] = TRY(read_npy(path));
    return tensors_from(path.string(), std::move(file), num_heads, choice);
  }
  if (names_table(path)) return read_table(path, num_heads, choice);
  if (names_pickle(path))
    return bad_input(path.string(), "name", "a file that is data: torch.save(…, 'x.pt') or numpy.savez writes one",
                     "a pickle, which is a program and is not run", ErrorCode::unknown_kind);
  if (ending != ".safetensors" && ending != ".npz" && !is_torch_name(path))
    return bad_input(path.string(), "name", "a file named .safetensors, .npz, .pt or .json",
                     "'" + printable(path.filename().string()) + "'", ErrorCode::unknown_kind);
  auto file = TRY(read_arrays(path));
  return tensors_from(path.string(), std::move(file), num_heads, choice);
}

Result<TensorsFile> tensors_from(std::string_view where, ArrayFile file, std::optional<Index> num_heads) {
  return tensors_from(where, std::move(file), num_heads, {});
}

Result<TensorsFile> read_tensors(const std::filesystem::path& path, std::optional<Index> num_heads) {
  return read_tensors(path, num_heads, {});
}

}  // namespace headlight
