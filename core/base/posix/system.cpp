#include "base/system.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#else
#include <sys/auxv.h>
#endif

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/folders.h"
#include "base/refusal.h"

namespace headlight {
namespace {

/// Whether a failed read or write should be tried again: at once after a signal, or when a non-blocking pipe (the other
/// end may have set it) is ready.
bool again(int descriptor, short event) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd ready{descriptor, event, 0};
  return ::poll(&ready, 1, -1) >= 0 || errno == EINTR;
}

template <class Call>
std::ptrdiff_t repeated(int descriptor, short event, const Call& call) {
  for (;;)
    if (const ssize_t got = call(); got >= 0 || !again(descriptor, event)) return got;
}

/// Names of files that were created and not renamed yet, the last ones, as the handler of a fault finds them: it may
/// neither lock nor take memory.
constexpr std::size_t kRecent = 16;
char created[kRecent][4096];
std::atomic<std::size_t> num_created = 0;

void note_created(const std::string& name) {
  char* const to = created[num_created++ % kRecent];
  *to = '\0';  // no name while it changes
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (name.empty() || name.size() >= sizeof created[0]) return;
  std::memcpy(to + 1, name.c_str() + 1, name.size());
  std::atomic_signal_fence(std::memory_order_seq_cst);
  *to = name[0];
}

/// The path by which a file that has no name can be given one.
std::string path_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

/// After a rename: makes the new name in the folder survive a power failure. Not every file system can do it.
void sync_folder(const std::filesystem::path& file) {
  const int descriptor =
      ::open(file.has_parent_path() ? file.parent_path().c_str() : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  static_cast<void>(::fsync(descriptor));
  ::close(descriptor);
}

/// The home that the environment names, else that of the account. Never a folder such as /tmp, in which another user
/// could have made ours: without a home nothing can be stored, and the first try to store something reports it.
std::filesystem::path home_folder() {
  if (const char* home = std::getenv("HOME"); home && *home == '/') return home;
  const passwd* account = getpwuid(getuid());
  return account && account->pw_dir && *account->pw_dir == '/' ? account->pw_dir : "/nonexistent";
}

}  // namespace

const char* const kNowhere = "/dev/null";

int open_file(const std::filesystem::path& path, Opening how) {
  constexpr int kNew = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
  if (is_outside(path, how != Opening::read)) return -1;
  switch (how) {
    case Opening::read: return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    // A pipe that nothing reads is an error, not a wait without end.
    case Opening::write: return ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    case Opening::create: {
      const int descriptor = ::open(path.c_str(), kNew, 0666);
      if (descriptor >= 0) note_created(path.native());
      return descriptor;
    }
    case Opening::lock: return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    case Opening::pass: break;
  }
  const int descriptor = ::open(path.c_str(), kNew, 0600);
  if (descriptor >= 0) ::unlink(path.c_str());
  return descriptor;
}

bool close_file(int descriptor) { return ::close(descriptor) == 0; }

std::ptrdiff_t read_some(int descriptor, char* to, std::size_t most) {
  return repeated(descriptor, POLLIN, [=] { return ::read(descriptor, to, most); });
}

std::ptrdiff_t write_some(int descriptor, const char* from, std::size_t most) {
  return repeated(descriptor, POLLOUT, [=] { return ::write(descriptor, from, most); });
}

std::ptrdiff_t read_at(int descriptor, char* to, std::size_t most, std::int64_t offset) {
  return repeated(descriptor, POLLIN, [=] { return ::pread(descriptor, to, most, static_cast<off_t>(offset)); });
}

std::ptrdiff_t write_at(int descriptor, const char* from, std::size_t most, std::int64_t offset) {
  return repeated(descriptor, POLLOUT, [=] { return ::pwrite(descriptor, from, most, static_cast<off_t>(offset)); });
}

bool sync_file(int descriptor) { return ::fsync(descriptor) == 0; }

int open_nameless([[maybe_unused]] const std::filesystem::path& folder) {
#ifdef O_TMPFILE
  if (is_outside(folder, true)) return -1;
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (descriptor < 0 || ::access(path_of(descriptor).c_str(), F_OK) == 0) return descriptor;
  ::close(descriptor);
#endif
  return -1;
}

bool give_name(int descriptor, const std::filesystem::path& name) {
  if (::linkat(AT_FDCWD, path_of(descriptor).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) return false;
  note_created(name.native());
  return true;
}

void remove_temporaries() {
  for (const auto& name : created)
    if (*name) ::unlink(name);
}

bool rename_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return false;
  for (auto& name : created)
    if (from.native() == name) *name = '\0';
  sync_folder(to);
  return true;
}

bool is_writable(const std::filesystem::path& file) {
  return ::faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) == 0;
}

bool is_device(const std::filesystem::path& path) { return path_exists(path) && !is_regular(path); }

void copy_permissions(const std::filesystem::path& from, int to) {
  struct stat old {};
  if (::stat(from.c_str(), &old) == 0) ::fchmod(to, old.st_mode & 0777);
}

bool lock_file(int descriptor, bool shared) { return ::flock(descriptor, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0; }

bool is_named(int descriptor, const std::filesystem::path& path) {
  struct stat held {
  }, named{};
  return ::fstat(descriptor, &held) == 0 && ::stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

std::filesystem::path temporary_folder() {
  const char* asked = std::getenv("TMPDIR");
  return asked && *asked ? asked : "/tmp";
}

std::optional<std::filesystem::path> new_temporary_folder() {
  std::string pattern = (temporary_folder() / "headlight-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) return std::nullopt;
  return pattern;
}

std::filesystem::path program_file() {
#if defined(__APPLE__)
  char path[4096];
  std::uint32_t size = sizeof path;
  return _NSGetExecutablePath(path, &size) == 0 ? path : "";
#else
  std::error_code unreadable;
  const auto file = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  if (!unreadable) return file;
  return std::filesystem::canonical(reinterpret_cast<const char*>(::getauxval(AT_EXECFN)), unreadable);  // no /proc
#endif
}

std::filesystem::path code_file() {
  Dl_info code{};
  std::error_code unreadable;
  if (::dladdr(reinterpret_cast<const void*>(&code_file), &code) != 0 && code.dli_fname) {
    const auto file = std::filesystem::canonical(code.dli_fname, unreadable);
    // Of a program the loader has the name that it was called by, which is no path.
    if (!unreadable && file.filename().string().starts_with("lib")) return file;
  }
  return program_file();
}

std::filesystem::path user_folder(const char* variable, const char* below_home) {
  const char* set = std::getenv(variable);
  return (set && *set == '/' ? std::filesystem::path(set) : home_folder() / below_home) / "headlight";
}

int process_number() { return ::getpid(); }
bool is_running(int process) { return ::kill(process, 0) == 0 || errno == EPERM; }

bool system_prefers_dark() { return false; }
bool system_speaks_chinese() {
  for (const char* variable : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value && *value) return std::string_view(value).starts_with("zh");
  }
  return false;
}

const char* environment(const char* name) { return std::getenv(name); }

double machine_memory() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double most_memory_held() {
  struct rusage usage {};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#if defined(__APPLE__)
  return static_cast<double>(usage.ru_maxrss);  // bytes there
#else
  return 1024 * static_cast<double>(usage.ru_maxrss);
#endif
}

}  // namespace headlight
