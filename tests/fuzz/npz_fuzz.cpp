// NumPy archives: any bytes give arrays that fit their shapes and the limit, or one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz/target.h"
#include "read/array/npz.h"

HEADLIGHT_FUZZ_TARGET(npz) {
  constexpr std::size_t kLimit = 1 << 22;
  const auto file = headlight::parse_npz("fuzz", {reinterpret_cast<const char*>(data), size}, kLimit);
  if (!file) {
    if (file.error().message().find('\n') != std::string::npos) std::abort();
    return;
  }
  std::size_t bytes = 0;
  for (const auto& [name, array] : file->arrays) {
    if (headlight::num_elements(array.shape) != array.values.size()) std::abort();
    bytes += array.values.size() * sizeof(float);
  }
  if (bytes > kLimit) std::abort();
}
