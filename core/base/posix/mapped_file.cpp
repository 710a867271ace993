#include "base/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

#include "base/file.h"
#include "base/refusal.h"
#include "base/system.h"

namespace headlight {
namespace {

constexpr std::size_t kMostMappedFiles = 4096;

/// A mapping as the handler of SIGBUS finds it, which may neither lock nor take memory.
struct Mapping {
  std::atomic<std::uintptr_t> begin = 0, end = 0;  // end 0: free
  std::atomic<bool> shortened = false;
  const void* owner = nullptr;  // the MappedFile; guarded by mappings_mutex
};
std::array<Mapping, kMostMappedFiles> mappings;
std::atomic<std::size_t> shortened_files = 0;
std::mutex mappings_mutex;  // locked while an entry is taken or given back

std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

struct sigaction other_action = {};  // what else was done about the signal

/// A page was read that its file no longer has. It and all pages behind it become zeros; the reader goes on, and
/// was_shortened() reports it.
void on_bus_error(int signal, siginfo_t* info, void*) {
  const int error = errno;
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Mapping& mapping : mappings) {
    const std::uintptr_t begin = mapping.begin, end = mapping.end;
    if (end == 0 || at < begin || at >= end) continue;
    const std::uintptr_t page = at / page_size() * page_size();
    void* const zeros =
        ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros == MAP_FAILED) break;
    if (!mapping.shortened.exchange(true)) ++shortened_files;
    errno = error;
    return;
  }
  // Not a mapped file: reading there again, or the signal again that was sent, does what was done before about it.
  ::sigaction(signal, &other_action, nullptr);
  if (info->si_code <= 0) ::raise(signal);
}

void handle_bus_errors() {
  static std::once_flag once;
  std::call_once(once, [] {
    static_cast<void>(page_size());
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    ::sigaction(SIGBUS, &action, &other_action);
  });
}

/// Whole pages within the part; neighbours keep theirs.
void give_back_pages(std::string_view part) {
  const std::uintptr_t page = page_size();
  const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
  if (end > begin) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

/// The entry of a MappedFile; null where it has none. With mappings_mutex held.
Mapping* mapping_of(const void* owner) {
  const auto is_it = [owner](const Mapping& mapping) { return mapping.owner == owner; };
  const auto found = std::find_if(mappings.begin(), mappings.end(), is_it);
  return found == mappings.end() ? nullptr : &*found;
}

/// False where all entries are taken.
bool take_mapping(const void* owner, std::string_view bytes) {
  const std::lock_guard lock(mappings_mutex);
  Mapping* const mapping = mapping_of(nullptr);
  if (!mapping) return false;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  mapping->owner = owner;
  mapping->begin = begin;
  mapping->end = begin + bytes.size();
  return true;
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  const int descriptor = open_file(path, Opening::read);
  if (descriptor < 0) return cannot_open(path, errno);
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  const int stat_error = errno;
  void* begin = nullptr;
  int map_error = 0;
  const auto size = static_cast<std::size_t>(known ? status.st_size : 0);
  if (known && S_ISREG(status.st_mode) && size > 0) {
    begin = is_refused(SystemCall::map) ? MAP_FAILED : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (begin == MAP_FAILED) map_error = errno;
  }
  ::close(descriptor);
  if (!known) return cannot_open(path, stat_error);
  if (!S_ISREG(status.st_mode))
    return bad_input(path.string(), "open", "a regular file", S_ISDIR(status.st_mode) ? "a folder" : "something else");
  if (map_error != 0) return cannot_open(path, map_error);
  const std::string_view bytes{static_cast<const char*>(begin), size};
  const std::shared_ptr<const MappedFile> file(new MappedFile(bytes));
  if (size == 0) return file;
  handle_bus_errors();
  if (!take_mapping(file.get(), bytes))
    return bad_input(path.string(), "open", "at most " + std::to_string(kMostMappedFiles) + " mapped files", "more",
                     ErrorCode::too_large);
  return file;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  {
    const std::lock_guard lock(mappings_mutex);
    if (Mapping* const mapping = mapping_of(this)) {
      if (mapping->shortened.exchange(false)) --shortened_files;
      mapping->end = 0;
      mapping->owner = nullptr;
    }
  }
  ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

bool any_was_shortened() { return shortened_files > 0; }

bool was_shortened(const void* mapped_file) {
  if (!any_was_shortened()) return false;
  const std::lock_guard lock(mappings_mutex);
  const Mapping* const mapping = mapped_file ? mapping_of(mapped_file) : nullptr;
  return mapping && mapping->shortened;
}

void release_pages(std::string_view part) {
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
  const std::lock_guard lock(mappings_mutex);  // the file stays mapped meanwhile
  const auto holds = [&](const Mapping& mapping) {
    return begin >= mapping.begin && begin + part.size() <= mapping.end;
  };
  if (!part.empty() && std::any_of(mappings.begin(), mappings.end(), holds)) give_back_pages(part);
}

}  // namespace headlight
