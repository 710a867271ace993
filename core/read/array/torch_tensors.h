// The tensors of an object that torch.save pickled: names, shapes and strides of storages (torch/_utils.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "read/array/pickle.h"
#include "read/array/stored_array.h"

namespace headlight {

/// The storage that a tensor views.
struct TorchStorage {
  Dtype dtype = Dtype::f32;
  std::string key;
  std::uint64_t count = 0;
};

/// The bytes of a storage, and their owner (null: the file).
struct StorageBytes {
  std::string_view bytes;
  std::shared_ptr<const void> owner = {};
};
using TorchStorages = std::function<Result<StorageBytes>(const TorchStorage&)>;

/// Whether a state dict may name this "module name": tensors, storages and plain containers.
bool is_torch_global(std::string_view name);

/// The storage that a persistent id names; nothing where it is another thing.
std::optional<TorchStorage> torch_storage(const PickleValue& value);

/// The tensors of the state dict in a pickle (torch_file.h). Those whose elements are strided are copies, of at most
/// `most_copied` bytes together.
Result<StoredArrays> torch_tensors(std::string_view where, const PickleValue& root, const TorchStorages& storages,
                                   std::size_t most_copied);

}  // namespace headlight
