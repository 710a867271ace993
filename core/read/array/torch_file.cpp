#include "read/array/torch_file.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "base/printable.h"
#include "read/array/little_endian.h"
#include "read/array/pickle.h"
#include "read/array/torch_tensors.h"
#include "read/array/zip_directory.h"

namespace headlight {
namespace {

constexpr std::string_view kZipStart = "PK\3\4";
/// The magic number with which files before PyTorch 1.6 begin, as a pickle writes it.
constexpr std::string_view kLegacyMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

/// How many bytes may be copied of a file: real weights are hardly deflated, and few of their tensors strided.
std::size_t most_copied(std::string_view file) {
  constexpr std::size_t kLeast = std::size_t{64} << 20, kTimes = 16;
  return std::min(kMostCopiedBytes, kLeast + kTimes * std::min(file.size(), kMostCopiedBytes));
}

Result<StoredArrays> locate_zip(std::string_view where, std::string_view bytes) {
  auto directory = ZipDirectory::read(where, bytes);
  if (!directory) return directory.error();
  const auto folder = directory->folder();
  if (!folder)
    return bad_input(where, "archive", "a member data.pkl, as torch.save writes it", "none", ErrorCode::file_damaged);

  std::map<std::string, StorageBytes> opened;  // each deflated storage is inflated once
  const std::size_t most = most_copied(bytes);
  std::uint64_t inflated_bytes = 0;
  const auto member = [&](const std::string& name) -> Result<StorageBytes> {
    if (const auto known = opened.find(name); known != opened.end()) return known->second;
    const ZipEntry* found = directory->find(name);
    if (!found) return bad_input(where, "archive", "a member " + printable(name), "none", ErrorCode::file_damaged);
    if (found->method == 0) {
      const auto stored = directory->stored(name, *found);
      if (!stored) return stored.error();
      return opened[name] = StorageBytes{.bytes = *stored};
    }
    inflated_bytes += found->size;
    if (found->method != 8 || found->size > most || inflated_bytes > most)
      return bad_input(where, printable(name),
                       "a stored member, or deflated ones of at most " + std::to_string(most) + " bytes",
                       found->method == 8 ? "more" : "another method", ErrorCode::bad_value);
    const auto content = directory->inflated(name, *found);
    if (!content) return content.error();
    return opened[name] = StorageBytes{.bytes = **content, .owner = *content};
  };

  const auto data = member(*folder + "data.pkl");
  if (!data) return data.error();
  if (const ZipEntry* order = directory->find(*folder + "byteorder"); order) {
    const auto text = member(*folder + "byteorder");
    if (!text) return text.error();
    if (text->bytes != "little")
      return bad_input(where, "byteorder", "little", printable(text->bytes), ErrorCode::bad_value);
  }
  const auto pickle = parse_pickle(where, data->bytes, is_torch_global);
  if (!pickle) return pickle.error();
  return torch_tensors(
      where, *pickle->root, [&](const TorchStorage& storage) { return member(*folder + "data/" + storage.key); }, most);
}

/// Magic number, protocol, system, the object, the keys of its storages; then of each storage its number of elements
/// and their bytes.
Result<StoredArrays> locate_legacy(std::string_view where, std::string_view bytes) {
  std::string_view rest = bytes;
  std::vector<Pickle> pickles;
  for (int part = 0; part < 5; ++part) {
    auto pickle = parse_pickle(where, rest, is_torch_global);
    if (!pickle) return pickle.error();
    rest.remove_prefix(pickle->size);
    pickles.push_back(std::move(*pickle));
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
  return torch_tensors(
      where, *pickles[3].root,
      [&](const TorchStorage& storage) -> Result<StorageBytes> {
        const auto found = storages.find(storage.key);
        if (found == storages.end())
          return bad_input(where, "storages", "storage " + printable(storage.key), "none", ErrorCode::file_damaged);
        return StorageBytes{.bytes = found->second};
      },
      most_copied(bytes));
}

}  // namespace

bool is_torch_name(const std::filesystem::path& path) {
  const auto ending = path.extension();
  return ending == ".bin" || ending == ".pt" || ending == ".pth" || ending == ".ckpt";
}

Result<StoredArrays> locate_torch(std::string_view where, std::string_view bytes) {
  if (bytes.starts_with(kZipStart)) return locate_zip(where, bytes);
  if (bytes.starts_with(kLegacyMagic)) return locate_legacy(where, bytes);
  return bad_input(where, "", "a file that torch.save wrote", "other bytes", ErrorCode::file_damaged);
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
