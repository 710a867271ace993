// GGUF files: any bytes give tensors that fit their shapes, metadata within the file, a model and a tokenizer, or one
// line.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "fuzz/target.h"
#include "read/gguf/gguf_model.h"
#include "read/gguf/gguf_tokenizer.h"

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
  if (const auto tokenizer = headlight::gguf_tokenizer(*file); !tokenizer)
    headlight::require_line(tokenizer.error().message());
  else (void)headlight::encode(*tokenizer->tokenizer, "a b1 é好 <s>", true);
  auto model = headlight::gguf_model(*file);
  if (!model) return headlight::require_line(model.error().message());
  const auto fits = headlight::check_tensors("fuzz", model->hub, std::move(model->stored));
  if (!fits) headlight::require_line(fits.error().message());
}
