// Safetensors files and the tensors files among them: any bytes give arrays that fit their shapes, or one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz/target.h"
#include "read/array/safetensors.h"
#include "read/external/tensors_file.h"

HEADLIGHT_FUZZ_TARGET(safetensors) {
  const auto file = headlight::parse_safetensors("fuzz", {reinterpret_cast<const char*>(data), size});
  if (!file) {
    if (file.error().message().find('\n') != std::string::npos) std::abort();
    return;
  }
  for (const auto& [name, array] : file->arrays)
    if (headlight::num_elements(array.shape) != array.values.size()) std::abort();
  const auto tensors = headlight::tensors_from("fuzz", *file, std::nullopt);
  if (!tensors && tensors.error().message().find('\n') != std::string::npos) std::abort();
}
