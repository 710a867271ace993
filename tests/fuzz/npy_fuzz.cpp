// NumPy arrays: any bytes give an array that fits its shape, or one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz/target.h"
#include "read/array/npy.h"

HEADLIGHT_FUZZ_TARGET(npy) {
  const auto array = headlight::parse_npy("fuzz", {reinterpret_cast<const char*>(data), size});
  if (array && headlight::num_elements(array->shape) != array->values.size()) std::abort();
  if (!array && array.error().message().find('\n') != std::string::npos) std::abort();
}
