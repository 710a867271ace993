#include "read/array/npy.h"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "base/file.h"

namespace headlight {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostDictionaryBytes = 1 << 16;
constexpr std::size_t kMostAxes = 32;  // NumPy's limit

/// A reader of the one dictionary that a header holds, in the part of Python that NumPy writes it in.
class DictionaryReader {
 public:
  explicit DictionaryReader(std::string_view text) : rest_(text) {}

  bool take(char wanted) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_word(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string_view> take_string() {
    skip_spaces();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::optional<bool> take_bool() {
    if (take_word("True")) return true;
    if (take_word("False")) return false;
    return std::nullopt;
  }

  std::optional<std::vector<Index>> take_tuple() {
    if (!take('(')) return std::nullopt;
    std::vector<Index> sizes;
    while (!take(')')) {
      skip_spaces();
      Index size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc{} || sizes.size() == kMostAxes) return std::nullopt;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      take('L');  // Python 2's long integers
      sizes.push_back(size);
      if (!take(',') && !next_is(')')) return std::nullopt;
    }
    return sizes;
  }

  bool at_end() {
    skip_spaces();
    return rest_.empty();
  }

 private:
  void skip_spaces() {
    const std::size_t text = rest_.find_first_not_of(" \t\n\r");
    rest_.remove_prefix(text == std::string_view::npos ? rest_.size() : text);
  }
  bool next_is(char wanted) {
    skip_spaces();
    return !rest_.empty() && rest_.front() == wanted;
  }

  std::string_view rest_;
};

/// `<f4` and the like; without an order sign that of the machine.
bool take_descr(std::string_view descr, NpyHeader& header) {
  if (!descr.empty() && std::string_view("<>|=").find(descr.front()) != std::string_view::npos) {
    header.big_endian = descr.front() == '>';
    descr.remove_prefix(1);
  }
  const auto dtype = dtype_named(DtypeNaming::npy, descr);
  if (dtype) header.dtype = *dtype;
  return dtype.has_value();
}

}  // namespace

Result<std::size_t> npy_data_offset(std::string_view where, std::string_view prefix) {
  if (prefix.size() < kNpyPrefix || !prefix.starts_with(kMagic))
    return bad_input(where, "start", "a NumPy array (.npy)", prefix.empty() ? "an empty file" : "something else",
                     prefix.empty() ? ErrorCode::file_empty : ErrorCode::file_damaged);
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(prefix[at])); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    return bad_input(where, "version", "1, 2 or 3", std::to_string(version), ErrorCode::file_damaged);
  const std::size_t length_at = 8, length_bytes = version == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= byte(length_at + i) << (8 * i);
  if (length > kMostDictionaryBytes)
    return bad_input(where, "header length", "at most " + std::to_string(kMostDictionaryBytes), std::to_string(length),
                     ErrorCode::file_damaged);
  return length_at + length_bytes + length;
}

Result<NpyHeader> parse_npy_header(std::string_view where, std::string_view header) {
  const std::size_t dictionary_at = header.size() > 6 && header[6] == 1 ? 10 : 12;
  const std::string_view text = header.substr(std::min(dictionary_at, header.size()));
  const auto malformed = [&] {
    return bad_input(where, "header", "a dictionary with descr, fortran_order and shape", "'" + printable(text) + "'",
                     ErrorCode::file_damaged);
  };
  NpyHeader result;
  bool has_descr = false, has_order = false, has_shape = false;
  DictionaryReader reader(text);
  if (!reader.take('{')) return malformed();
  while (!reader.take('}')) {
    const auto key = reader.take_string();
    if (!key || !reader.take(':')) return malformed();
    if (*key == "descr" && !has_descr) {
      const auto descr = reader.take_string();
      if (!descr || !take_descr(*descr, result)) {
        const bool objects = descr && descr->ends_with('O');
        return bad_input(where, "dtype",
                         std::string("bool, an integer or a float") + (objects ? ", or strings (U, S)" : ""),
                         objects ? "objects of Python, which are not read"
                         : descr ? "'" + printable(*descr) + "'"
                                 : "a structured one",
                         ErrorCode::bad_value);
      }
      has_descr = true;
    } else if (*key == "fortran_order" && !has_order) {
      const auto order = reader.take_bool();
      if (!order) return malformed();
      result.fortran_order = *order;
      has_order = true;
    } else if (*key == "shape" && !has_shape) {
      const auto shape = reader.take_tuple();
      if (!shape) return malformed();
      result.shape = *shape;
      has_shape = true;
    } else {
      return malformed();
    }
    if (!reader.take(',')) {
      if (!reader.take('}')) return malformed();
      break;
    }
  }
  if (!has_descr || !has_order || !has_shape || !reader.at_end()) return malformed();
  const auto count = num_elements(result.shape);
  if (!count) return bad_input(where, "shape", "sizes that fit memory", shape_text(result.shape), ErrorCode::too_large);
  result.count = *count;
  return result;
}

std::optional<NpyStrings> parse_npy_strings(std::string_view header) {
  constexpr std::string_view kWide = "'<U", kBytes = "'|S";
  constexpr std::size_t kMostLetters = std::size_t{1} << 24;
  const std::size_t at = std::min(header.find(kWide), header.find(kBytes));
  if (at == header.npos) return std::nullopt;
  NpyStrings strings{.width = header.substr(at).starts_with(kBytes) ? 1u : 4u};
  const char* const begin = header.data() + at + kWide.size();
  const auto [end, error] = std::from_chars(begin, header.data() + header.size(), strings.letters);
  if (error != std::errc{} || end == header.data() + header.size() || *end != '\'' || strings.letters > kMostLetters)
    return std::nullopt;
  // All else is as in a header of numbers.
  std::string numbers(header);
  numbers.replace(at, static_cast<std::size_t>(end - header.data()) - at, "'<u4");
  auto parsed = parse_npy_header("", numbers);
  if (parsed && parsed->shape.size() == 2 && parsed->shape[0] == 1) parsed->shape.erase(parsed->shape.begin());
  if (!parsed || parsed->shape.size() > 1 ||
      (strings.letters > 0 && parsed->count > kMostElements / (4 * strings.letters)))
    return std::nullopt;
  strings.shape = std::move(parsed->shape);
  strings.count = parsed->count;
  return strings;
}

Array make_array(const NpyHeader& header, std::vector<float> values) {
  assert(values.size() == header.count);
  Array array{.dtype = header.dtype, .shape = header.shape, .values = std::move(values)};
  const std::size_t axes = array.shape.size();
  if (!header.fortran_order || axes < 2 || array.values.empty()) return array;
  // In the file the first axis runs fastest. `index` counts through C order; `from` follows it through the file.
  std::vector<std::size_t> stride(axes, 1);
  for (std::size_t axis = 1; axis < axes; ++axis)
    stride[axis] = stride[axis - 1] * static_cast<std::size_t>(array.shape[axis - 1]);
  std::vector<Index> index(axes, 0);
  std::vector<float> ordered;
  ordered.reserve(header.count);
  for (std::size_t from = 0; ordered.size() < header.count;) {
    ordered.push_back(array.values[from]);
    for (std::size_t axis = axes; axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < array.shape[axis]) break;
      from -= stride[axis] * static_cast<std::size_t>(array.shape[axis]);
      index[axis] = 0;
    }
  }
  array.values = std::move(ordered);
  return array;
}

Result<Array> parse_npy(std::string_view where, std::string_view bytes) {
  const auto data_at = TRY(npy_data_offset(where, bytes.substr(0, kNpyPrefix)));
  if (bytes.size() < data_at)
    return bad_input(where, "size", "a header of " + std::to_string(data_at) + " bytes", std::to_string(bytes.size()),
                     ErrorCode::file_too_short);
  const auto header = TRY(parse_npy_header(where, bytes.substr(0, data_at)));
  const std::string_view data = bytes.substr(data_at);
  if (data.size() != header.count * width(header.dtype))
    return bad_input(
        where, "data",
        std::to_string(header.count * width(header.dtype)) + " bytes for " + std::string(name(header.dtype)) + " " +
            shape_text(header.shape),
        std::to_string(data.size()),
        data.size() < header.count * width(header.dtype) ? ErrorCode::file_too_short : ErrorCode::file_damaged);
  std::vector<float> values;
  values.reserve(header.count);
  append_widened(header.dtype, header.big_endian, data, values);
  return make_array(header, std::move(values));
}

Result<Array> read_npy(const std::filesystem::path& path) {
  const auto bytes = TRY(read_file(path));
  return parse_npy(path.string(), bytes);
}

}  // namespace headlight
