#include "read/array/stored_array.h"

#include <utility>

namespace headlight {

ArrayFile in_memory(const StoredArrays& stored) {
  ArrayFile file;
  file.metadata = stored.metadata;
  for (const auto& [name, from] : stored.arrays) {
    Array array{.dtype = from.dtype, .shape = from.shape, .values = {}};
    array.values.reserve(from.bytes.size() / width(from.dtype));
    append_widened(from.dtype, false, from.bytes, array.values);
    file.arrays.emplace(name, std::move(array));
  }
  return file;
}

}  // namespace headlight
