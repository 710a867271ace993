#include "read/array/torch_file.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "base/utf8.h"
#include "read/array/pickle.h"
#include "read/array/zip_directory.h"

namespace headlight {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view kTensor = "torch._utils _rebuild_tensor_v2", kOldTensor = "torch._utils _rebuild_tensor",
                           kParameter = "torch._utils _rebuild_parameter";
/// Plain values that stand beside the tensors of a training's state.
constexpr std::string_view kPlain[] = {
    "collections OrderedDict", "collections defaultdict", "torch Size",       "torch device",  "argparse Namespace",
    "pathlib PosixPath",       "pathlib WindowsPath",     "__builtin__ list", "builtins list", "__builtin__ dict",
    "builtins dict",           "__builtin__ int",         "builtins int"};
/// The end of names of classes that hold options (Lightning's in several modules, OmegaConf's nodes).
constexpr std::string_view kOptionClasses[] = {" AttributeDict", " DictConfig", " ListConfig"};

/// Of "torch FloatStorage".
std::optional<Dtype> storage_dtype(std::string_view storage) {
  constexpr std::string_view kModule = "torch ", kStorage = "Storage";
  if (!storage.starts_with(kModule) || !storage.ends_with(kStorage)) return std::nullopt;
  storage.remove_prefix(kModule.size());
  storage.remove_suffix(kStorage.size());
  return dtype_named(DtypeNaming::torch, storage);
}

/// The tensor behind a parameter; null for what is neither.
const PickleValue* tensor_of(const PickleValue& value) {
  const PickleValue* at = &value;
  for (int wrapped = 0; wrapped < 2; ++wrapped) {
    if (at->kind != Kind::call || at->items.empty()) return nullptr;
    const std::string_view function = at->items[0]->text;
    if (function == kTensor || function == kOldTensor) return at->items.size() >= 5 ? at : nullptr;
    if (function != kParameter || at->items.size() < 2) return nullptr;
    at = at->items[1];
  }
  return nullptr;
}

bool holds_tensors(const PickleValue& value) {
  if (value.kind != Kind::dict) return false;
  for (std::size_t i = 0; i + 1 < value.items.size(); i += 2)
    if (value.items[i]->kind == Kind::text && tensor_of(*value.items[i + 1])) return true;
  return false;
}

const PickleValue* state_dict_of(const PickleValue& root) {
  // What stands beside a named state dict (a loss, the state of the random numbers) is a tensor too.
  for (const char* name : {"state_dict", "model_state_dict", "model", "module", "net"})
    if (const PickleValue* inner = root.find(name); inner && holds_tensors(*inner)) return inner;
  return holds_tensors(root) ? &root : nullptr;
}

/// A list of sizes of a pickle; nothing where it is another thing.
std::optional<std::vector<Index>> sizes_of(const PickleValue& value) {
  const PickleValue* at = &value;
  if (at->kind == Kind::call && at->items.size() == 2 && at->items[0]->text == "torch Size") at = at->items[1];
  if (at->kind != Kind::tuple && at->kind != Kind::list) return std::nullopt;
  std::vector<Index> sizes;
  for (const PickleValue* item : at->items) {
    if (item->kind != Kind::integer || item->integer < 0) return std::nullopt;
    sizes.push_back(item->integer);
  }
  return sizes;
}

/// Whether the elements lie one after another in C order; strides of axes of size 1 are ignored.
bool is_contiguous(const std::vector<Index>& shape, const std::vector<Index>& strides) {
  Index expected = 1;
  for (std::size_t axis = shape.size(); axis > 0; --axis) {
    if (shape[axis - 1] != 1 && strides[axis - 1] != expected) return false;
    expected *= shape[axis - 1];
  }
  return true;
}

/// The storage that a tensor views.
struct TorchStorage {
  Dtype dtype = Dtype::f32;
  std::string key;
  std::uint64_t count = 0;
};

/// The tensors of a list, a tuple or a dict of them, by names that say where each lies: `attentions.0`, `0.3`. Lists of
/// texts beside them are metadata.
struct HeldTensors {
  std::vector<std::pair<std::string, const PickleValue*>> tensors = {};
  std::map<std::string, std::string> texts = {};
  bool more = false;

  void find_in(const PickleValue& value, const std::string& name, int depth) {
    constexpr std::size_t kMostTensors = 65536;
    constexpr int kMostDepth = 6;  // values may refer to each other in circles
    more = more || tensors.size() >= kMostTensors || visited_ > 16 * kMostTensors;
    if (more || depth > kMostDepth) return;
    ++visited_;
    if (tensor_of(value)) tensors.emplace_back(name.empty() ? "array" : name, tensor_of(value));
    const bool list = value.kind == Kind::list || value.kind == Kind::tuple;
    const std::string before = name.empty() ? name : name + ".";
    if (value.kind == Kind::text && name.ends_with("tokens")) texts[name] = std::string(value.text);
    const Kind first = list && !value.items.empty() ? value.items[0]->kind : Kind::none;
    if (first == Kind::text || (first == Kind::integer && name.ends_with("tokens"))) take_texts(value, name);
    for (std::size_t i = 0; list && i < value.items.size(); ++i)
      find_in(*value.items[i], before + std::to_string(i), depth + 1);
    for (std::size_t i = 0; value.kind == Kind::dict && i + 1 < value.items.size(); i += 2) {
      const PickleValue& key = *value.items[i];
      if (key.kind == Kind::text) find_in(*value.items[i + 1], before + std::string(key.text), depth + 1);
      if (key.kind == Kind::integer) find_in(*value.items[i + 1], before + std::to_string(key.integer), depth + 1);
    }
  }

 private:
  void take_texts(const PickleValue& list, const std::string& name) {
    nlohmann::json words;
    for (const PickleValue* word : list.items)
      words.push_back(word->kind == Kind::integer ? std::to_string(word->integer) : std::string(word->text));
    texts[name] = words.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  std::size_t visited_ = 0;
};

/// The bytes of a storage and their owner (null: the file).
struct StorageBytes {
  std::string_view bytes;
  std::shared_ptr<const void> owner = {};
};
using TorchStorages = std::function<Result<StorageBytes>(const TorchStorage&)>;

/// The storage that a persistent id names; nothing where it is another thing.
std::optional<TorchStorage> torch_storage(const PickleValue& value) {
  if (value.kind != Kind::persistent || value.items[0]->kind != Kind::tuple) return std::nullopt;
  const std::vector<const PickleValue*>& id = value.items[0]->items;
  if (id.size() < 5 || id[0]->text != "storage" || id[1]->kind != Kind::global || id[4]->kind != Kind::integer ||
      (id[2]->kind != Kind::text && id[2]->kind != Kind::bytes) || id[4]->integer < 0)
    return std::nullopt;
  // Before PyTorch 0.4 a storage could itself be a view of another; no file of the transformer's time has one.
  if (id.size() > 5 && id[5]->kind != Kind::none) return std::nullopt;
  const auto dtype = storage_dtype(id[1]->text);
  if (!dtype) return std::nullopt;
  return TorchStorage{
      .dtype = *dtype, .key = std::string(id[2]->text), .count = static_cast<std::uint64_t>(id[4]->integer)};
}

/// The tensors of the state dict in a pickle. Those whose elements are strided are copies, of at most `most_copied`
/// bytes together.
class Locator {
 public:
  Locator(std::string_view where, const TorchStorages& storages, std::size_t most_copied)
      : where_(where), storages_(storages), most_copied_(most_copied) {}

  Result<StoredArrays> locate(const PickleValue& root) {
    const PickleValue* dict = state_dict_of(root);
    if (!dict || holds_lists(*dict)) return locate_lists(dict ? *dict : root);
    StoredArrays arrays;
    for (std::size_t i = 0; i + 1 < dict->items.size(); i += 2) {
      const PickleValue& name = *dict->items[i];
      const PickleValue* tensor = tensor_of(*dict->items[i + 1]);
      if (name.kind != Kind::text || !tensor) continue;
      auto array = TRY(locate_tensor(printable(name.text), *tensor));
      arrays.arrays.insert_or_assign(std::string(name.text), std::move(array));
    }
    for (const std::string_view prefix : {"_orig_mod.", "module.", "_orig_mod."}) drop_prefix(arrays, prefix);
    return arrays;
  }

 private:
  Result<StoredArray> locate_tensor(const std::string& name, const PickleValue& tensor) {
    const auto storage = torch_storage(*tensor.items[1]);
    if (!storage) return bad_input(where_, name, "a storage of numbers", "another thing", ErrorCode::file_damaged);
    const PickleValue& offset = *tensor.items[2];
    const auto shape = sizes_of(*tensor.items[3]), strides = sizes_of(*tensor.items[4]);
    if (offset.kind != Kind::integer || offset.integer < 0 || !shape || !strides || shape->size() != strides->size())
      return bad_input(where_, name, "an offset, a shape and as many strides", "something else",
                       ErrorCode::file_damaged);
    const auto count = num_elements(*shape);
    if (!count)
      return bad_input(where_, name, "a shape of fewer elements", shape_text(*shape), ErrorCode::file_damaged);

    // The last element of the view, in elements of the storage; each product is checked against it.
    std::uint64_t last = static_cast<std::uint64_t>(offset.integer);
    for (std::size_t axis = 0; axis < shape->size() && *count > 0; ++axis) {
      const auto steps = static_cast<std::uint64_t>((*shape)[axis] - 1);
      const auto stride = static_cast<std::uint64_t>((*strides)[axis]);
      if (steps > 0 && stride > storage->count / steps) last = storage->count;
      else last += std::min(steps * stride, storage->count);
    }
    if (*count > 0 && last >= storage->count)
      return bad_input(where_, name, "elements within the " + std::to_string(storage->count) + " of its storage",
                       shape_text(*shape) + " from " + std::to_string(offset.integer), ErrorCode::file_damaged);

    const auto bytes = TRY(storages_(*storage));
    const std::size_t element = width(storage->dtype);
    if (storage->count > bytes.bytes.size() / element)
      return bad_input(where_, name, std::to_string(storage->count) + " elements in its storage",
                       std::to_string(bytes.bytes.size() / element), ErrorCode::file_damaged);
    StoredArray array{.dtype = storage->dtype, .shape = *shape, .bytes = {}, .where = where_, .owner = bytes.owner};
    if (*count == 0) return array;
    const std::size_t begin = static_cast<std::size_t>(offset.integer) * element;
    if (is_contiguous(*shape, *strides)) {
      array.bytes = bytes.bytes.substr(begin, *count * element);
      return array;
    }
    copied_ += *count * element;
    if (copied_ > most_copied_)
      return bad_input(where_, name, "at most " + std::to_string(most_copied_) + " bytes of strided tensors", "more",
                       ErrorCode::too_large);
    const auto copy = std::make_shared<std::string>(gathered(bytes.bytes.substr(begin), *shape, *strides, element));
    array.bytes = *copy;
    array.owner = copy;
    return array;
  }

  /// The elements of a strided view in C order.
  static std::string gathered(std::string_view bytes, const std::vector<Index>& shape,
                              const std::vector<Index>& strides, std::size_t element) {
    std::string result;
    std::vector<Index> at(shape.size(), 0);
    std::size_t offset = 0;
    while (true) {
      result.append(bytes.substr(offset * element, element));
      std::size_t axis = shape.size();
      while (axis > 0 && ++at[axis - 1] == shape[axis - 1]) {
        offset -= static_cast<std::size_t>((shape[axis - 1] - 1) * strides[axis - 1]);
        at[axis - 1] = 0;
        --axis;
      }
      if (axis == 0) return result;
      offset += static_cast<std::size_t>(strides[axis - 1]);
    }
  }

  /// Whether lists of tensors, as transformers give layers, or words stand beside the tensors of a dict.
  static bool holds_lists(const PickleValue& dict) {
    for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
      HeldTensors held;
      const PickleValue& value = *dict.items[i + 1];
      const bool list = value.kind == Kind::tuple || value.kind == Kind::list;
      if (list || value.kind == Kind::text) held.find_in(value, std::string(dict.items[i]->text), 0);
      if (!held.tensors.empty() || !held.texts.empty()) return true;
    }
    return false;
  }

  Result<StoredArrays> locate_lists(const PickleValue& root) {
    HeldTensors held;
    held.find_in(root, "", 0);
    if (held.more) return bad_input(where_, "", "fewer tensors", "more", ErrorCode::too_large);
    if (held.tensors.empty())
      return bad_input(where_, "", "a state dict: names and tensors, or a list of tensors",
                       root.kind != Kind::dict || root.find("attentions")
                           ? "none: was output_attentions=True asked for, and attn_implementation='eager'?"
                           : "none",
                       ErrorCode::file_damaged);
    StoredArrays arrays{.arrays = {}, .metadata = std::move(held.texts)};
    for (const auto& [name, tensor] : held.tensors) {
      auto array = TRY(locate_tensor(printable(name), *tensor));
      arrays.arrays.insert_or_assign(name, std::move(array));
    }
    return arrays;
  }

  static void drop_prefix(StoredArrays& arrays, std::string_view prefix) {
    const bool shared =
        !arrays.arrays.empty() && std::all_of(arrays.arrays.begin(), arrays.arrays.end(),
                                              [&](const auto& one) { return one.first.starts_with(prefix); });
    if (!shared) return;
    std::map<std::string, StoredArray> shorter;
    for (auto& [name, array] : arrays.arrays) shorter.emplace(name.substr(prefix.size()), std::move(array));
    arrays.arrays = std::move(shorter);
  }

  std::string where_;
  const TorchStorages& storages_;
  std::size_t copied_ = 0, most_copied_ = 0;
};

constexpr std::string_view kZipStart = "PK\3\4";
/// The magic number with which files before PyTorch 1.6 begin, as a pickle writes it.
constexpr std::string_view kLegacyMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

/// How many bytes may be copied of a file: real weights are hardly deflated, and few of their tensors strided.
std::size_t most_copied(std::string_view file) {
  constexpr std::size_t kLeast = std::size_t{64} << 20, kTimes = 16;
  return std::min(kMostCopiedBytes, kLeast + kTimes * std::min(file.size(), kMostCopiedBytes));
}

Result<StoredArrays> locate_zip(std::string_view where, std::string_view bytes) {
  auto directory = TRY(ZipDirectory::read(where, bytes));
  const auto folder = directory.folder();
  if (!folder)
    return bad_input(where, "archive", "a member data.pkl, as torch.save writes it", "none", ErrorCode::file_damaged);

  std::map<std::string, StorageBytes> opened;  // each deflated storage is inflated once
  const std::size_t most = most_copied(bytes);
  std::uint64_t inflated_bytes = 0;
  const auto member = [&](const std::string& name) -> Result<StorageBytes> {
    if (const auto known = opened.find(name); known != opened.end()) return known->second;
    const ZipEntry* found = directory.find(name);
    if (!found) return bad_input(where, "archive", "a member " + printable(name), "none", ErrorCode::file_damaged);
    if (found->method == 0) {
      const auto stored = TRY(directory.stored(name, *found));
      return opened[name] = StorageBytes{.bytes = stored};
    }
    inflated_bytes += found->size;
    if (found->method != 8 || found->size > most || inflated_bytes > most)
      return bad_input(where, printable(name),
                       "a stored member, or deflated ones of at most " + std::to_string(most) + " bytes",
                       found->method == 8 ? "more" : "another method", ErrorCode::bad_value);
    const auto content = TRY(directory.inflated(name, *found));
    return opened[name] = StorageBytes{.bytes = *content, .owner = content};
  };

  const auto data = TRY(member(*folder + "data.pkl"));
  if (const ZipEntry* order = directory.find(*folder + "byteorder"); order) {
    const auto text = TRY(member(*folder + "byteorder"));
    if (text.bytes != "little")
      return bad_input(where, "byteorder", "little", printable(text.bytes), ErrorCode::bad_value);
  }
  const auto pickle = TRY(parse_pickle(where, data.bytes, is_torch_global));
  const auto storage_bytes = [&](const TorchStorage& storage) { return member(*folder + "data/" + storage.key); };
  return Locator(where, storage_bytes, most).locate(*pickle.root);
}

/// Magic number, protocol, system, the object, the keys of its storages; then of each storage its number of elements
/// and their bytes.
Result<StoredArrays> locate_legacy(std::string_view where, std::string_view bytes) {
  std::string_view rest = bytes;
  std::vector<Pickle> pickles;
  for (int part = 0; part < 5; ++part) {
    auto pickle = TRY(parse_pickle(where, rest, is_torch_global));
    rest.remove_prefix(pickle.size);
    pickles.push_back(std::move(pickle));
  }
  const PickleValue& system = *pickles[2].root;
  if (const PickleValue* little = system.find("little_endian"); little && little->integer == 0)
    return bad_input(where, "system", "little-endian numbers", "big-endian ones", ErrorCode::bad_value);

  // The bytes of a storage follow its count; how wide an element is stands in the object.
  std::map<std::string, Dtype> dtypes;
  for (const PickleValue& value : pickles[3].values)
    if (const auto storage = torch_storage(value)) dtypes.emplace(storage->key, storage->dtype);
  std::map<std::string, std::string_view> storages;
  for (const PickleValue* key : pickles[4].root->items) {
    const auto dtype = dtypes.find(std::string(key->text));
    if (dtype == dtypes.end() || rest.size() < 8)
      return bad_input(where, "storages", "the bytes of each storage", "a file that is cut off",
                       ErrorCode::file_too_short);
    const std::uint64_t count = little_endian(rest, 0, 8);
    rest.remove_prefix(8);
    if (count > rest.size() / width(dtype->second))
      return bad_input(where, "storages", std::to_string(count) + " elements", "a file that is cut off",
                       ErrorCode::file_too_short);
    const std::size_t size = count * width(dtype->second);
    storages.emplace(std::string(key->text), rest.substr(0, size));
    rest.remove_prefix(size);
  }
  const auto storage_bytes = [&](const TorchStorage& storage) -> Result<StorageBytes> {
    const auto found = storages.find(storage.key);
    if (found == storages.end())
      return bad_input(where, "storages", "storage " + printable(storage.key), "none", ErrorCode::file_damaged);
    return StorageBytes{.bytes = found->second};
  };
  return Locator(where, storage_bytes, most_copied(bytes)).locate(*pickles[3].root);
}

}  // namespace

bool is_torch_global(std::string_view name) {
  return storage_dtype(name) || is_plain_record(name) || name == kTensor || name == kOldTensor || name == kParameter ||
         std::find(std::begin(kPlain), std::end(kPlain), name) != std::end(kPlain) ||
         std::any_of(std::begin(kOptionClasses), std::end(kOptionClasses),
                     [name](std::string_view end) { return name.ends_with(end); });
}

bool is_torch_name(const std::filesystem::path& path) {
  const auto ending = path.extension();
  return ending == ".bin" || ending == ".pt" || ending == ".pth" || ending == ".ckpt";
}

Result<StoredArrays> locate_torch(std::string_view where, std::string_view bytes) {
  if (bytes.starts_with(kZipStart)) return locate_zip(where, bytes);
  if (bytes.starts_with(kLegacyMagic)) return locate_legacy(where, bytes);
  return bad_input(where, "", "a file that torch.save wrote", "other bytes", ErrorCode::file_damaged);
}

Result<StoredArrays> map_torch(const std::filesystem::path& path) { return mapped_arrays(path, locate_torch); }

}  // namespace headlight
