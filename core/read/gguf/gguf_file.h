// GGUF, the one file of a model of llama.cpp and what is built on it (Ollama, LM Studio): metadata, a table of tensors,
// and their bytes, most of them in blocks. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "read/array/array.h"

namespace headlight {

/// A list in the metadata: texts, or numbers and booleans as they are stored. Both lie in the file.
struct GgufList {
  std::uint64_t count = 0;
  std::vector<std::string_view> texts = {};
  std::optional<Dtype> dtype = {};  // of numbers; none: texts
  std::string_view bytes = {};

  /// As float32; none where they are texts.
  std::vector<float> numbers() const;
};

/// Whole numbers above 2⁶³ − 1 are doubles.
using GgufValue = std::variant<bool, std::int64_t, double, std::string_view, GgufList>;

struct GgufFile {
  std::string where;
  std::map<std::string, GgufValue, std::less<>> metadata;
  StoredArrays stored;                                  // the tensors' names and shapes as in PyTorch: rows first
  std::vector<std::shared_ptr<const void>> files = {};  // keep the texts of the metadata readable

  const GgufValue* find(std::string_view key) const;
  /// Of another type, or not there: nothing.
  template <class T>
  std::optional<T> value(std::string_view key) const {
    const GgufValue* found = find(key);
    const T* value = found ? std::get_if<T>(found) : nullptr;
    return value ? std::optional<T>(*value) : std::nullopt;
  }
  const GgufList* list(std::string_view key) const;
  /// A whole number too.
  std::optional<double> number(std::string_view key) const;
};

/// What the bytes say, which must stay. No number of a tensor is read. Errors name the key or the tensor: a version or
/// a kind of numbers that is not read, lengths and offsets beyond the end, tensors that overlap, names twice.
Result<GgufFile> locate_gguf(std::string_view where, std::string_view bytes);

/// The same of a file that is mapped while the result or one of its arrays is there; with the other shards of a model
/// that is in several (-00001-of-00003.gguf), of which each tensor is in one.
Result<GgufFile> map_gguf(const std::filesystem::path& path);

/// Whether a file begins as these do, whatever its name.
bool is_gguf(const std::filesystem::path& path);

}  // namespace headlight
