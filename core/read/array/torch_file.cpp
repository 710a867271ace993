#include "read/array/torch_file.h"

#include <zip.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "base/shortened_file.h"
#include "read/array/pickle.h"
#include "read/array/zip_handles.h"

namespace headlight {
namespace {

using Kind = PickleValue::Kind;

// The zip format (APPNOTE.TXT 6.3.10): signatures, and the bytes of each record before what varies.
constexpr std::string_view kLocal = "PK\3\4", kCentral = "PK\1\2", kEnd = "PK\5\6", kEnd64 = "PK\6\6",
                           kEnd64Locator = "PK\6\7";
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kEnd64LocatorBytes = 20;
constexpr std::size_t kMostMembers = std::size_t{1} << 20;
constexpr std::uint64_t kIn64 = 0xFFFFFFFF;  // the value stands in the 64-bit extra field

/// The magic number with which files before PyTorch 1.6 begin, as a pickle writes it.
constexpr std::string_view kLegacyMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

struct Number {
  std::string_view bytes;
  std::uint64_t at(std::size_t offset, std::size_t count) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count && offset + i < bytes.size(); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes[offset + i])} << (8 * i);
    return value;
  }
};

struct ZipEntry {
  std::uint16_t method = 0;            // 0 stored, 8 deflated
  std::uint64_t packed = 0, size = 0;  // bytes in the file, bytes of the content
  std::uint64_t header = 0;            // where its local header begins
};

/// libzip does not say where the bytes of a member lie, which is what makes weights of many gigabytes open at once; so
/// the directory is read here, and libzip inflates the few members that are deflated.
class ZipDirectory {
 public:
  static Result<ZipDirectory> read(std::string_view where, std::string_view bytes) {
    ZipDirectory directory;
    directory.where_ = where;
    directory.bytes_ = bytes;
    if (const Status done = directory.read_all(); !done) return done.error();
    return directory;
  }

  /// Null where there is no such member.
  const ZipEntry* find(const std::string& name) const {
    const auto at = members_.find(name);
    return at == members_.end() ? nullptr : &at->second;
  }

  /// The folder that holds data.pkl: the first part of every name.
  std::optional<std::string> folder() const {
    for (const auto& [name, member] : members_)
      if (name.ends_with("/data.pkl") && std::count(name.begin(), name.end(), '/') == 1)
        return name.substr(0, name.size() - std::string_view("data.pkl").size());
    return std::nullopt;
  }

  /// The bytes of a member that is stored as it is.
  Result<std::string_view> stored(const std::string& name, const ZipEntry& member) const {
    if (member.header > bytes_.size() || bytes_.size() - member.header < kLocalBytes ||
        bytes_.substr(member.header, 4) != kLocal)
      return bad_input(where_, printable(name), "a local header in the file", "other bytes");
    const Number header{bytes_.substr(member.header, kLocalBytes)};
    const std::uint64_t begin = member.header + kLocalBytes + header.at(26, 2) + header.at(28, 2);
    if (begin > bytes_.size() || bytes_.size() - begin < member.packed)
      return bad_input(where_, printable(name), std::to_string(member.packed) + " bytes in the file",
                       std::to_string(begin > bytes_.size() ? 0 : bytes_.size() - begin));
    return bytes_.substr(begin, member.packed);
  }

 private:
  Error broken(std::string_view what) const {
    return bad_input(where_, "archive", "a zip file as torch.save writes it", std::string(what));
  }

  Status read_all() {
    // The end record is the last thing in the file but for a comment of at most 64 KiB.
    const std::size_t tail = std::min(bytes_.size(), std::size_t{0xFFFF} + kEndBytes);
    const std::size_t found = bytes_.substr(bytes_.size() - tail).rfind(kEnd);
    if (found == bytes_.npos || tail - found < kEndBytes) return broken("no end record: the file is cut off");
    const std::size_t end_at = bytes_.size() - tail + found;
    const Number end{bytes_.substr(end_at, kEndBytes)};
    std::uint64_t count = end.at(10, 2), begin = end.at(16, 4);
    if (end_at >= kEnd64LocatorBytes && bytes_.substr(end_at - kEnd64LocatorBytes, 4) == kEnd64Locator) {
      const std::uint64_t at = Number{bytes_.substr(end_at - kEnd64LocatorBytes, kEnd64LocatorBytes)}.at(8, 8);
      if (at > bytes_.size() || bytes_.size() - at < kEnd64Bytes || bytes_.substr(at, 4) != kEnd64)
        return broken("a wrong 64-bit end record");
      const Number end64{bytes_.substr(at, kEnd64Bytes)};
      count = end64.at(32, 8);
      begin = end64.at(48, 8);
    }
    if (count > kMostMembers)
      return bad_input(where_, "archive", "at most " + std::to_string(kMostMembers) + " members",
                       std::to_string(count));
    for (; count > 0; --count) {
      if (begin > bytes_.size() || bytes_.size() - begin < kCentralBytes || bytes_.substr(begin, 4) != kCentral)
        return broken("a directory that ends too early");
      const Number entry{bytes_.substr(begin, kCentralBytes)};
      const std::uint64_t name_size = entry.at(28, 2), extra_size = entry.at(30, 2), comment_size = entry.at(32, 2);
      const std::uint64_t varies = name_size + extra_size + comment_size;
      if (bytes_.size() - begin - kCentralBytes < varies) return broken("a directory that ends too early");
      ZipEntry member{.method = static_cast<std::uint16_t>(entry.at(10, 2)),
                      .packed = entry.at(20, 4),
                      .size = entry.at(24, 4),
                      .header = entry.at(42, 4)};
      read_extra(bytes_.substr(begin + kCentralBytes + name_size, extra_size), member);
      std::string name{bytes_.substr(begin + kCentralBytes, name_size)};
      if (!members_.emplace(std::move(name), member).second) return broken("one name twice");
      begin += kCentralBytes + varies;
    }
    return Done{};
  }

  /// The 64-bit extra field (4.5.3): those of the three numbers that did not fit, in this order.
  static void read_extra(std::string_view extra, ZipEntry& member) {
    while (extra.size() >= 4) {
      const Number head{extra};
      const std::size_t size = std::min<std::size_t>(head.at(2, 2), extra.size() - 4);
      if (head.at(0, 2) == 1) {
        const Number field{extra.substr(4, size)};
        std::size_t at = 0;
        for (std::uint64_t* number : {&member.size, &member.packed, &member.header})
          if (*number == kIn64) {
            *number = field.at(at, 8);
            at += 8;
          }
        return;
      }
      extra.remove_prefix(4 + size);
    }
  }

  std::string where_;
  std::string_view bytes_;
  std::map<std::string, ZipEntry> members_;
};

struct StorageType {
  std::string_view name;  // in the pickle
  Dtype dtype;
};
constexpr StorageType kStorageTypes[] = {{"torch FloatStorage", Dtype::f32},     {"torch HalfStorage", Dtype::f16},
                                         {"torch BFloat16Storage", Dtype::bf16}, {"torch DoubleStorage", Dtype::f64},
                                         {"torch LongStorage", Dtype::i64},      {"torch IntStorage", Dtype::i32},
                                         {"torch ShortStorage", Dtype::i16},     {"torch CharStorage", Dtype::i8},
                                         {"torch ByteStorage", Dtype::u8},       {"torch BoolStorage", Dtype::boolean}};

constexpr std::string_view kTensor = "torch._utils _rebuild_tensor_v2", kOldTensor = "torch._utils _rebuild_tensor",
                           kParameter = "torch._utils _rebuild_parameter";
/// Plain values that stand beside the tensors of a training's state.
constexpr std::string_view kPlain[] = {"collections OrderedDict", "torch Size", "torch device"};

std::optional<Dtype> storage_dtype(std::string_view storage) {
  for (const StorageType& type : kStorageTypes)
    if (type.name == storage) return type.dtype;
  return std::nullopt;
}

bool is_known(std::string_view name) {
  return storage_dtype(name) || name == kTensor || name == kOldTensor || name == kParameter ||
         std::find(std::begin(kPlain), std::end(kPlain), name) != std::end(kPlain);
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
  if (holds_tensors(root)) return &root;
  for (const char* name : {"state_dict", "model_state_dict", "model", "module", "net"})
    if (const PickleValue* inner = root.find(name); inner && holds_tensors(*inner)) return inner;
  return nullptr;
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

/// What a tensor is a view of.
struct Storage {
  Dtype dtype = Dtype::f32;
  std::string key;
  std::uint64_t count = 0;
};

std::optional<Storage> storage_of(const PickleValue& value) {
  if (value.kind != Kind::persistent || value.items[0]->kind != Kind::tuple) return std::nullopt;
  const std::vector<const PickleValue*>& id = value.items[0]->items;
  if (id.size() < 5 || id[0]->text != "storage" || id[1]->kind != Kind::global || id[4]->kind != Kind::integer ||
      (id[2]->kind != Kind::text && id[2]->kind != Kind::bytes) || id[4]->integer < 0)
    return std::nullopt;
  // Before PyTorch 0.4 a storage could itself be a view of another; no file of the transformer's time has one.
  if (id.size() > 5 && id[5]->kind != Kind::none) return std::nullopt;
  const auto dtype = storage_dtype(id[1]->text);
  if (!dtype) return std::nullopt;
  return Storage{.dtype = *dtype, .key = std::string(id[2]->text), .count = static_cast<std::uint64_t>(id[4]->integer)};
}

/// Whether the elements lie one after another in C order; strides of axes of size 1 say nothing.
bool is_contiguous(const std::vector<Index>& shape, const std::vector<Index>& strides) {
  Index expected = 1;
  for (std::size_t axis = shape.size(); axis > 0; --axis) {
    if (shape[axis - 1] != 1 && strides[axis - 1] != expected) return false;
    expected *= shape[axis - 1];
  }
  return true;
}

class Locator {
 public:
  /// `storages` gives the bytes of a storage by its key, and the owner of those bytes (null: the file).
  struct Bytes {
    std::string_view bytes;
    std::shared_ptr<const void> owner = {};
  };
  using Storages = std::function<Result<Bytes>(const Storage&)>;

  Locator(std::string_view where, Storages storages) : where_(where), storages_(std::move(storages)) {}

  Result<StoredArrays> locate(const PickleValue& root) {
    const PickleValue* dict = state_dict_of(root);
    if (!dict) return bad_input(where_, "", "a state dict: names and tensors", "none");
    StoredArrays arrays;
    for (std::size_t i = 0; i + 1 < dict->items.size(); i += 2) {
      const PickleValue& name = *dict->items[i];
      const PickleValue* tensor = tensor_of(*dict->items[i + 1]);
      if (name.kind != Kind::text || !tensor) continue;
      auto array = locate_tensor(printable(name.text), *tensor);
      if (!array) return array.error();
      arrays.arrays.insert_or_assign(std::string(name.text), std::move(*array));
    }
    for (const std::string_view prefix : {"_orig_mod.", "module.", "_orig_mod."}) drop_prefix(arrays, prefix);
    return arrays;
  }

 private:
  Result<StoredArray> locate_tensor(const std::string& name, const PickleValue& tensor) {
    const auto storage = storage_of(*tensor.items[1]);
    if (!storage) return bad_input(where_, name, "a storage of numbers", "another thing");
    const PickleValue& offset = *tensor.items[2];
    const auto shape = sizes_of(*tensor.items[3]), strides = sizes_of(*tensor.items[4]);
    if (offset.kind != Kind::integer || offset.integer < 0 || !shape || !strides || shape->size() != strides->size())
      return bad_input(where_, name, "an offset, a shape and as many strides", "something else");
    const auto count = num_elements(*shape);
    if (!count) return bad_input(where_, name, "a shape of fewer elements", shape_text(*shape));

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
                       shape_text(*shape) + " from " + std::to_string(offset.integer));

    const auto bytes = storages_(*storage);
    if (!bytes) return bytes.error();
    const std::size_t element = width(storage->dtype);
    if (storage->count > bytes->bytes.size() / element)
      return bad_input(where_, name, std::to_string(storage->count) + " elements in its storage",
                       std::to_string(bytes->bytes.size() / element));
    StoredArray array{.dtype = storage->dtype, .shape = *shape, .bytes = {}, .where = where_, .owner = bytes->owner};
    if (*count == 0) return array;
    const std::size_t begin = static_cast<std::size_t>(offset.integer) * element;
    if (is_contiguous(*shape, *strides)) {
      array.bytes = bytes->bytes.substr(begin, *count * element);
      return array;
    }
    copied_ += *count * element;
    if (copied_ > kMostCopiedBytes)
      return bad_input(where_, name, "at most " + std::to_string(kMostCopiedBytes) + " bytes of strided tensors",
                       "more");
    const auto copy = std::make_shared<std::string>(gathered(bytes->bytes.substr(begin), *shape, *strides, element));
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
  Storages storages_;
  std::size_t copied_ = 0;
};

/// A deflated member; `size` is what the directory says it holds.
Result<std::shared_ptr<const std::string>> inflated(std::string_view where, std::string_view bytes,
                                                    const std::string& name, std::uint64_t size) {
  const auto failed = [&] { return bad_input(where, printable(name), "a deflated member", "one that cannot be read"); };
  zip_error_t reason;
  zip_error_init(&reason);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &reason);
  if (source == nullptr) return failed();
  const ZipArchive archive(zip_open_from_source(source, ZIP_RDONLY, &reason));
  if (!archive) {
    zip_source_free(source);
    return failed();
  }
  const ZipMember member(zip_fopen(archive.get(), name.c_str(), 0));
  if (!member) return failed();
  auto content = std::make_shared<std::string>();
  std::array<char, 1 << 16> chunk;
  for (zip_int64_t got = 0; (got = zip_fread(member.get(), chunk.data(), chunk.size())) != 0;) {
    if (got < 0 || content->size() + static_cast<std::size_t>(got) > size) return failed();
    content->append(chunk.data(), static_cast<std::size_t>(got));
  }
  if (content->size() != size) return failed();
  return std::shared_ptr<const std::string>(std::move(content));
}

Result<StoredArrays> locate_zip(std::string_view where, std::string_view bytes) {
  const auto directory = ZipDirectory::read(where, bytes);
  if (!directory) return directory.error();
  const auto folder = directory->folder();
  if (!folder) return bad_input(where, "archive", "a member data.pkl, as torch.save writes it", "none");

  std::map<std::string, Locator::Bytes> opened;  // each deflated storage is inflated once
  std::size_t inflated_bytes = 0;
  const auto member = [&](const std::string& name) -> Result<Locator::Bytes> {
    if (const auto known = opened.find(name); known != opened.end()) return known->second;
    const ZipEntry* found = directory->find(name);
    if (!found) return bad_input(where, "archive", "a member " + printable(name), "none");
    if (found->method == 0) {
      const auto stored = directory->stored(name, *found);
      if (!stored) return stored.error();
      return opened[name] = Locator::Bytes{.bytes = *stored};
    }
    inflated_bytes += found->size;
    if (found->method != 8 || inflated_bytes > kMostCopiedBytes)
      return bad_input(where, printable(name),
                       "a stored member, or deflated ones of at most " + std::to_string(kMostCopiedBytes) + " bytes",
                       found->method == 8 ? "more" : "another method");
    const auto content = inflated(where, bytes, name, found->size);
    if (!content) return content.error();
    return opened[name] = Locator::Bytes{.bytes = **content, .owner = *content};
  };

  const auto data = member(*folder + "data.pkl");
  if (!data) return data.error();
  if (const ZipEntry* order = directory->find(*folder + "byteorder"); order) {
    const auto text = member(*folder + "byteorder");
    if (!text) return text.error();
    if (text->bytes != "little") return bad_input(where, "byteorder", "little", printable(text->bytes));
  }
  const auto pickle = parse_pickle(where, data->bytes, is_known);
  if (!pickle) return pickle.error();
  return Locator(where, [&](const Storage& storage) { return member(*folder + "data/" + storage.key); })
      .locate(*pickle->root);
}

/// Magic number, protocol, system, the object, the keys of its storages; then of each storage its number of elements
/// and their bytes.
Result<StoredArrays> locate_legacy(std::string_view where, std::string_view bytes) {
  std::string_view rest = bytes;
  std::vector<Pickle> pickles;
  for (int part = 0; part < 5; ++part) {
    auto pickle = parse_pickle(where, rest, is_known);
    if (!pickle) return pickle.error();
    rest.remove_prefix(pickle->size);
    pickles.push_back(std::move(*pickle));
  }
  const PickleValue& system = *pickles[2].root;
  if (const PickleValue* little = system.find("little_endian"); little && little->integer == 0)
    return bad_input(where, "system", "little-endian numbers", "big-endian ones");

  // The bytes of a storage follow its count; how wide an element is stands in the object.
  std::map<std::string, Dtype> dtypes;
  for (const PickleValue& value : pickles[3].values)
    if (const auto storage = storage_of(value)) dtypes.emplace(storage->key, storage->dtype);
  std::map<std::string, std::string_view> storages;
  for (const PickleValue* key : pickles[4].root->items) {
    const auto dtype = dtypes.find(std::string(key->text));
    if (dtype == dtypes.end() || rest.size() < 8)
      return bad_input(where, "storages", "the bytes of each storage", "a file that is cut off");
    const std::uint64_t count = Number{rest}.at(0, 8);
    rest.remove_prefix(8);
    if (count > rest.size() / width(dtype->second))
      return bad_input(where, "storages", std::to_string(count) + " elements", "a file that is cut off");
    const std::size_t size = count * width(dtype->second);
    storages.emplace(std::string(key->text), rest.substr(0, size));
    rest.remove_prefix(size);
  }
  return Locator(where,
                 [&](const Storage& storage) -> Result<Locator::Bytes> {
                   const auto found = storages.find(storage.key);
                   if (found == storages.end())
                     return bad_input(where, "storages", "storage " + printable(storage.key), "none");
                   return Locator::Bytes{.bytes = found->second};
                 })
      .locate(*pickles[3].root);
}

}  // namespace

bool is_torch_file(std::string_view bytes) { return bytes.starts_with(kLocal) || bytes.starts_with(kLegacyMagic); }

Result<StoredArrays> locate_torch(std::string_view where, std::string_view bytes) {
  if (bytes.starts_with(kLocal)) return locate_zip(where, bytes);
  if (bytes.starts_with(kLegacyMagic)) return locate_legacy(where, bytes);
  return bad_input(where, "", "a file that torch.save wrote", "other bytes");
}

Result<StoredArrays> map_torch(const std::filesystem::path& path) {
  const auto mapped = MappedFile::open(path);
  if (!mapped) return mapped.error();
  auto file = locate_torch(path.string(), (*mapped)->bytes());
  if (was_shortened(mapped->get())) return shortened(path.string());
  if (!file) return file;
  for (auto& [name, array] : file->arrays)
    if (!array.owner) {
      array.owner = *mapped;
      array.mapped = mapped->get();
    }
  return file;
}

}  // namespace headlight
