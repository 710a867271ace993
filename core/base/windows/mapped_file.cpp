#include "base/mapped_file.h"

#include <windows.h>
// after windows.h
#include <io.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/folders.h"
#include "base/refusal.h"
#include "base/system.h"

namespace headlight {
namespace {

std::mutex mapped_mutex;
std::vector<std::string_view> mapped;  // guarded by mapped_mutex

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  if (is_folder(path)) return bad_input(path.string(), "open", "a regular file", "a folder");
  const int descriptor = open_file(path, Opening::read);
  if (descriptor < 0) return cannot_open(path, errno);
  const auto file = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
  LARGE_INTEGER size{};
  const bool regular = GetFileType(file) == FILE_TYPE_DISK && GetFileSizeEx(file, &size);
  const void* begin = nullptr;
  int error = 0;
  if (regular && size.QuadPart > 0) {
    const HANDLE mapping =
        is_refused(SystemCall::map) ? nullptr : CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
    if (mapping) begin = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
    if (mapping) CloseHandle(mapping);
    if (!begin) error = ENOMEM;
  }
  close_file(descriptor);
  if (!regular) return bad_input(path.string(), "open", "a regular file", "something else");
  if (error != 0) return cannot_open(path, error);
  const std::string_view bytes{static_cast<const char*>(begin), static_cast<std::size_t>(size.QuadPart)};
  const std::lock_guard lock(mapped_mutex);
  if (!bytes.empty()) mapped.push_back(bytes);
  return std::shared_ptr<const MappedFile>(new MappedFile(bytes));
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  const std::lock_guard lock(mapped_mutex);
  std::erase_if(mapped, [this](std::string_view one) { return one.data() == bytes_.data(); });
  UnmapViewOfFile(bytes_.data());
}

// A file that is mapped cannot be shortened.
bool any_was_shortened() { return false; }
bool was_shortened(const void*) { return false; }

void release_pages(std::string_view part) {
  const std::lock_guard lock(mapped_mutex);  // the file stays mapped meanwhile
  const auto holds = [&](std::string_view one) {
    return part.data() >= one.data() && part.data() + part.size() <= one.data() + one.size();
  };
  if (!part.empty() && std::any_of(mapped.begin(), mapped.end(), holds))
    VirtualUnlock(const_cast<char*>(part.data()), part.size());  // unlocked pages leave the working set by it
}

}  // namespace headlight
