// Tensors that PyTorch's torch.save wrote: the zip format of PyTorch 1.6 and later, and the older one of pickles one
// after another (torch/serialization.py). Nothing of the pickle is executed (read/array/pickle.h): what is no tensor,
// storage, number, text or plain container is refused by its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "read/array/array.h"

namespace headlight {

/// Whether a file is named as PyTorch's are: .bin, .pt, .pth or .ckpt.
bool is_torch_name(const std::filesystem::path& path);

/// The tensors of the state dict in `bytes`, which must stay, where they lie; those whose elements are strided or
/// deflated are copies. The state dict is the entry state_dict, model_state_dict, model, module or net of the dict,
/// as the loops of training write it, whatever tensors stand beside it, or the dict itself. A prefix `module.` or
/// `_orig_mod.` that all names share (DataParallel, torch.compile) is dropped. Errors name `where` and the tensor: a
/// shape that its storage does not hold, elements outside the file, more bytes of copies than 16 times the file's,
/// 64 MiB, and at most kMostCopiedBytes.
Result<StoredArrays> locate_torch(std::string_view where, std::string_view bytes);

/// The same of a file that is mapped while one of its tensors is there.
Result<StoredArrays> map_torch(const std::filesystem::path& path);

inline constexpr std::size_t kMostCopiedBytes = within_memory(std::uint64_t{4} << 30);

/// Whether a state dict may name this "module name": tensors, storages and plain containers.
bool is_torch_global(std::string_view name);

}  // namespace headlight
