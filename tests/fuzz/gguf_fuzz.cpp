// GGUF files: any bytes give tensors that fit their shapes and metadata within the file, or one line.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "fuzz/target.h"
#include "read/gguf/gguf_file.h"

HEADLIGHT_FUZZ_TARGET(gguf) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto file = headlight::locate_gguf("fuzz", bytes);
  if (!file) return headlight::require_line(file.error().message());
  for (const auto& [name, array] : file->stored.arrays) {
    const std::size_t count = *headlight::num_elements(array.shape);
    headlight::require(headlight::bytes_of(array.dtype, count) == array.bytes.size());
    headlight::require(headlight::count_of(array) == count);
  }
  for (const auto& [name, array] : headlight::in_memory(file->stored).arrays)
    headlight::require(headlight::num_elements(array.shape) == array.values.size());
  for (const auto& [key, value] : file->metadata)
    if (const auto* list = std::get_if<headlight::GgufList>(&value))
      headlight::require((list->dtype ? list->numbers().size() : list->texts.size()) == list->count);
}
