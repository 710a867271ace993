// GGUF files for the tests, written from the description of the format; also broken ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace headlight {

class GgufBytes {
 public:
  template <class Number>
  static std::string raw(Number number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
  }
  static std::string text(std::string_view text) { return raw(std::uint64_t{text.size()}).append(text); }

  /// A value of any type by its number, as its bytes.
  GgufBytes& put(std::string_view key, std::uint32_t type, const std::string& value) {
    entries_ += text(key) + raw(type) + value;
    ++num_entries_;
    return *this;
  }
  GgufBytes& put(std::string_view key, std::string_view value) { return put(key, 8, text(value)); }
  GgufBytes& put(std::string_view key, const char* value) { return put(key, std::string_view(value)); }
  GgufBytes& put(std::string_view key, std::uint32_t value) { return put(key, 4, raw(value)); }
  GgufBytes& put(std::string_view key, float value) { return put(key, 6, raw(value)); }
  GgufBytes& put(std::string_view key, bool value) { return put(key, 7, raw(static_cast<std::uint8_t>(value))); }
  GgufBytes& put(std::string_view key, const std::vector<std::string>& texts) {
    std::string value = raw(std::uint32_t{8}) + raw(std::uint64_t{texts.size()});
    for (const std::string& one : texts) value += text(one);
    return put(key, 9, value);
  }
  /// Lists of i32 and f32.
  GgufBytes& put(std::string_view key, const std::vector<std::int32_t>& numbers) { return list(key, 5, numbers); }
  GgufBytes& put(std::string_view key, const std::vector<float>& numbers) { return list(key, 6, numbers); }

  /// Sizes in the order of the file: columns first.
  GgufBytes& tensor(std::string_view name, const std::vector<std::uint64_t>& sizes, std::uint32_t kind,
                    const std::string& bytes) {
    while (data_.size() % 32 != 0) data_ += '\0';
    return tensor_at(name, sizes, kind, data_.size(), bytes);
  }
  GgufBytes& tensor_at(std::string_view name, const std::vector<std::uint64_t>& sizes, std::uint32_t kind,
                       std::uint64_t offset, const std::string& bytes) {
    tensors_ += text(name) + raw(static_cast<std::uint32_t>(sizes.size()));
    for (const std::uint64_t size : sizes) tensors_ += raw(size);
    tensors_ += raw(kind) + raw(offset);
    data_ += bytes;
    ++num_tensors_;
    return *this;
  }

  std::string bytes(std::uint32_t version = 3) const {
    std::string file = "GGUF" + raw(version) + raw(num_tensors_) + raw(num_entries_) + entries_ + tensors_;
    while (file.size() % 32 != 0) file += '\0';
    return file + data_;
  }

 private:
  template <class Number>
  GgufBytes& list(std::string_view key, std::uint32_t type, const std::vector<Number>& numbers) {
    std::string value = raw(type) + raw(std::uint64_t{numbers.size()});
    for (const Number number : numbers) value += raw(number);
    return put(key, 9, value);
  }

  std::uint64_t num_entries_ = 0, num_tensors_ = 0;
  std::string entries_, tensors_, data_;
};

}  // namespace headlight
