#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include "base/file.h"

namespace headlight {
namespace {

Error unreadable(const std::filesystem::path& path, const std::string& found) {
  return bad_input(path.string(), "open", "a readable file", found);
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return unreadable(path, system_error_text(errno));
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  const int stat_error = errno;
  void* begin = nullptr;
  int map_error = 0;
  const auto size = static_cast<std::size_t>(known ? status.st_size : 0);
  if (known && S_ISREG(status.st_mode) && size > 0) {
    begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (begin == MAP_FAILED) map_error = errno;
  }
  ::close(descriptor);
  if (!known) return unreadable(path, system_error_text(stat_error));
  if (!S_ISREG(status.st_mode))
    return bad_input(path.string(), "open", "a regular file", S_ISDIR(status.st_mode) ? "a folder" : "something else");
  if (map_error != 0) return unreadable(path, system_error_text(map_error));
  return std::shared_ptr<const MappedFile>(new MappedFile({static_cast<const char*>(begin), size}));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

void MappedFile::release(std::string_view part) const {
  if (part.empty()) return;
  assert(part.data() >= bytes_.data() && part.data() + part.size() <= bytes_.data() + bytes_.size());
  // Whole pages within the part; neighbours keep theirs.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
  if (end > begin) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace headlight
