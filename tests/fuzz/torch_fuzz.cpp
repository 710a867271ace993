// Files of torch.save, zip and legacy, and the pickles in them: any bytes give tensors that fit their shapes, or one
// line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz/target.h"
#include "read/array/pickle.h"
#include "read/array/torch_file.h"

HEADLIGHT_FUZZ_TARGET(torch) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto file = headlight::locate_torch("fuzz", bytes);
  if (!file && file.error().message().find('\n') != std::string::npos) std::abort();
  if (file)
    for (const auto& [name, array] : file->arrays)
      if (*headlight::num_elements(array.shape) * headlight::width(array.dtype) != array.bytes.size()) std::abort();
  const auto pickle = headlight::parse_pickle("fuzz", bytes, [](std::string_view) { return true; });
  if (!pickle && pickle.error().message().find('\n') != std::string::npos) std::abort();
  if (pickle && (pickle->size > size || pickle->root == nullptr)) std::abort();
}
