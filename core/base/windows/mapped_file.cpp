#include "base/mapped_file.h"

#include <windows.h>
// after windows.h
#include <io.h>

#include <cerrno>

#include "base/file.h"
#include "base/folders.h"
#include "base/refusal.h"
#include "base/system.h"

namespace headlight {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  if (is_folder(path)) return bad_input(path.string(), "open", "a regular file", "a folder");
  const int descriptor = open_file(path, Opening::read);
  if (descriptor < 0) return cannot_open(path, errno);
  const auto file = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
  LARGE_INTEGER size{};
  const bool regular = GetFileType(file) == FILE_TYPE_DISK && GetFileSizeEx(file, &size);
  const void* begin = nullptr;
  if (regular && size.QuadPart > 0) {
    const HANDLE mapping =
        is_refused(SystemCall::map) ? nullptr : CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
    if (mapping) begin = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
    if (mapping) CloseHandle(mapping);
  }
  close_file(descriptor);
  if (!regular) return bad_input(path.string(), "open", "a regular file", "something else");
  if (!begin && size.QuadPart > 0) return cannot_open(path, ENOMEM);
  const std::string_view bytes{static_cast<const char*>(begin), static_cast<std::size_t>(size.QuadPart)};
  return std::shared_ptr<const MappedFile>(new MappedFile(bytes));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) UnmapViewOfFile(bytes_.data());
}

// A file that is mapped cannot be shortened.
bool any_was_shortened() { return false; }
bool was_shortened(const void*) { return false; }

void release_pages(std::string_view part) {
  MEMORY_BASIC_INFORMATION about{};
  const bool is_mapped = VirtualQuery(part.data(), &about, sizeof about) != 0 && about.Type == MEM_MAPPED;
  if (!part.empty() && is_mapped)
    VirtualUnlock(const_cast<char*>(part.data()), part.size());  // unlocked pages leave the working set by it
}

}  // namespace headlight
