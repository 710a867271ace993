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

StoredArrays stored_in_memory(std::string_view where, ArrayFile file) {
  const auto kept = std::make_shared<const ArrayFile>(std::move(file));
  StoredArrays stored{.arrays = {}, .metadata = kept->metadata};
  for (const auto& [name, array] : kept->arrays) {
    const std::string_view bytes(reinterpret_cast<const char*>(array.values.data()),
                                 array.values.size() * sizeof(float));
    stored.arrays.emplace(name, StoredArray{.dtype = is_floating(array.dtype) ? Dtype::f32 : array.dtype,
                                            .shape = array.shape,
                                            .bytes = bytes,
                                            .where = std::string(where),
                                            .owner = kept});
  }
  return stored;
}

}  // namespace headlight
