// Arrays in their file: their bytes are read on first access.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "read/array/array.h"

namespace headlight {

struct StoredArray {
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape;
  std::string_view bytes;                  // little-endian, on any address
  std::string where;                       // the file's name in messages
  std::shared_ptr<const void> owner = {};  // owns the bytes; null: the caller does
  const MappedFile* mapped = nullptr;      // the owner where it is a file
};

struct StoredArrays {
  std::map<std::string, StoredArray> arrays;
  std::map<std::string, std::string> metadata;  // safetensors' own
};

/// Whether weights are packed as they are read, or stay in their file and are packed once they are used often: the
/// answer to one question then comes sooner. Until then the file must stay as it is.
enum class Reading { whole, as_used };

/// All of them as float32 in memory.
ArrayFile in_memory(const StoredArrays& stored);
/// Arrays in memory as if they lay in a file.
StoredArrays stored_in_memory(std::string_view where, ArrayFile file);

/// f16 or bf16.
inline bool is_half(const StoredArray& array) { return array.dtype == Dtype::f16 || array.dtype == Dtype::bf16; }

}  // namespace headlight
