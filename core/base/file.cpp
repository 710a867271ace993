#include "base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/folders.h"
#include "base/printable.h"
#include "base/refusal.h"

namespace headlight {
namespace {

constexpr std::size_t kBuffer = 1 << 20;
constexpr int kLinks = 40;         // symbolic links followed, as Linux does
constexpr int kTemporaries = 100;  // names tried; a taken name is left over from a killed process with this number
/// How a file is called until it is complete, before the number of the process.
constexpr std::string_view kTemporaryName = ".headlight-";

/// Whether a failed read or write should be tried again: at once after a signal, or when a non-blocking pipe (the other
/// end may have set it) is ready.
bool again(int descriptor, short event) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd ready{descriptor, event, 0};
  return ::poll(&ready, 1, -1) >= 0 || errno == EINTR;
}

/// The file a name stands for: symbolic links followed, to a file that need not exist.
std::filesystem::path behind_links(std::filesystem::path path) {
  std::error_code error;
  for (int i = 0; i < kLinks && std::filesystem::is_symlink(path, error); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  return path;
}

Result<std::string> read_all(int descriptor, std::string_view where, std::size_t limit, std::size_t expected) {
  std::string bytes;
  bytes.resize(std::min(expected, limit) + 1);
  std::size_t size = 0;
  for (;;) {
    if (size == bytes.size()) bytes.resize(bytes.size() * 2);
    const ssize_t got = ::read(descriptor, bytes.data() + size, bytes.size() - size);
    if (got < 0 && again(descriptor, POLLIN)) continue;
    if (got < 0) return bad_input(where, "read", "a readable file", system_error_text(errno), read_fault(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (size > limit)
      return bad_input(where, "size", "at most " + std::to_string(limit) + " bytes", "more", ErrorCode::too_large);
  }
  bytes.resize(size);
  return bytes;
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// The path by which a file that has no name can be given one.
std::string path_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

/// A file without a name; −1 where the file system has none.
int open_nameless(const std::filesystem::path& folder) {
#ifdef O_TMPFILE
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (descriptor < 0 || ::access(path_of(descriptor).c_str(), F_OK) == 0) return descriptor;
  ::close(descriptor);
#else
  static_cast<void>(folder);
#endif
  return -1;
}

/// Calls make(name) with names beside a file until one is free, and returns that name; an empty one, and errno, where
/// it fails otherwise. A name is short, so that it stays below the limit of the file system whatever the file is
/// called.
template <class Make>
std::string free_name(const std::filesystem::path& folder, const Make& make) {
  const std::string begin = (folder / (std::string(kTemporaryName) + std::to_string(::getpid()) + "-")).string();
  for (int i = 0; i < kTemporaries; ++i) {
    const std::string name = begin + std::to_string(i);
    if (make(name.c_str()) >= 0) return name;
    if (errno != EEXIST) break;
  }
  return {};
}

/// Whether a path is one of path_of().
bool is_nameless(const std::filesystem::path& path) { return path.parent_path() == "/proc/self/fd"; }

/// Gives a file without a name, by its path_of(), a temporary one: an empty one, and errno, where that fails.
std::string named(const std::filesystem::path& nameless, const std::filesystem::path& folder) {
  return free_name(folder, [&](const char* tried) {
    return ::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, tried, AT_SYMLINK_FOLLOW);
  });
}

/// After a rename: that the folder knows the new name, also when the power fails. Not every file system can do it.
void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  static_cast<void>(::fsync(descriptor));
  ::close(descriptor);
}

/// The home that the environment names, else that of the account. Never a folder such as /tmp, in which another user
/// could have made ours: without a home nothing can be kept, and the first try to keep something reports it.
std::filesystem::path home_folder() {
  if (const char* home = std::getenv("HOME"); home && *home == '/') return home;
  const passwd* account = getpwuid(getuid());
  return account && account->pw_dir && *account->pw_dir == '/' ? account->pw_dir : "/nonexistent";
}

}  // namespace

std::string system_error_text(int error) { return std::generic_category().message(error); }

ErrorCode read_fault(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::file_absent;
    case EACCES:
    case EPERM: return ErrorCode::permission_denied;
    case ENOMEM: return ErrorCode::no_memory;
    case ENOSPC: return ErrorCode::no_space;
    default: return ErrorCode::bad_value;
  }
}

ErrorCode write_fault(int error) {
  const bool refuses = error == EACCES || error == EPERM || error == EROFS;
  return refuses ? ErrorCode::not_writable : read_fault(error);
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return bad_input(path.string(), "open", "a readable file", system_error_text(errno), read_fault(errno));
  struct stat status {};
  Result<std::string> result = std::string{};
  if (::fstat(descriptor, &status) != 0)
    result = bad_input(path.string(), "open", "a readable file", system_error_text(errno), read_fault(errno));
  else if (!S_ISREG(status.st_mode))
    result = bad_input(path.string(), "open", "a regular file",
                       S_ISDIR(status.st_mode) ? "a folder" : "something that is not a file");
  else if (static_cast<std::size_t>(status.st_size) > limit)
    result = bad_input(path.string(), "size", "at most " + std::to_string(limit) + " bytes",
                       std::to_string(status.st_size) + " bytes", ErrorCode::too_large);
  else result = read_all(descriptor, path.string(), limit, static_cast<std::size_t>(status.st_size));
  ::close(descriptor);
  return result;
}

Result<std::string> read_standard_input(std::size_t limit) {
  return read_all(STDIN_FILENO, "standard input", limit, 0);
}

Result<int> nameless_file(const std::filesystem::path& folder) {
  int descriptor = open_nameless(folder);
  if (descriptor >= 0) return descriptor;
  const std::string name = free_name(folder, [&](const char* tried) {
    return descriptor = ::open(tried, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  });
  if (name.empty())
    return bad_input(folder.string(), "write", "a writable folder", system_error_text(errno), write_fault(errno));
  ::unlink(name.c_str());
  return descriptor;
}

void sweep_temporaries(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(kTemporaryName)) continue;
    const long process = std::strtol(name.c_str() + kTemporaryName.size(), nullptr, 10);
    const bool is_running = process > 0 && (::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM);
    std::error_code ignored;
    if (process > 0 && !is_running) std::filesystem::remove(at->path(), ignored);
  }
}

Output::Output(int descriptor, std::filesystem::path path, std::filesystem::path temporary)
    : descriptor_(descriptor), path_(std::move(path)), temporary_(std::move(temporary)) {
  buffer_.reserve(kBuffer);
}

Output::Output(Output&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      error_(other.error_),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      buffer_(std::move(other.buffer_)) {}

Output::~Output() {
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
  if (!temporary_.empty() && !is_nameless(temporary_)) ::unlink(temporary_.c_str());
}

Result<Output> Output::to_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!path.has_filename() || std::filesystem::is_directory(path, ignored))
    return bad_input(path.string(), "write", "a file name", path.empty() ? "nothing" : "a folder");
  // A rename cannot replace something other than a file (a pipe, /dev/full): write into it.
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
      return bad_input(path.string(), "write", "a writable file", system_error_text(errno), write_fault(errno));
    return Output(descriptor, path, {});
  }
  // Through a symbolic link the target is replaced, not the link.
  const std::filesystem::path target = behind_links(path);
  struct stat old {};
  const bool replaces = ::stat(target.c_str(), &old) == 0;
  if (replaces && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0)
    return bad_input(path.string(), "write", "a writable file", system_error_text(errno), write_fault(errno));
  const std::filesystem::path folder = folder_of(target);
  int descriptor = open_nameless(folder);
  std::string temporary = descriptor < 0 ? std::string() : path_of(descriptor);
  if (descriptor < 0) {
    sweep_temporaries(folder);
    temporary = free_name(folder, [&](const char* tried) {
      return descriptor = ::open(tried, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    });
    if (temporary.empty())
      return bad_input(path.string(), "write", "a writable folder", system_error_text(errno), write_fault(errno));
  }
  if (replaces) ::fchmod(descriptor, old.st_mode & 0777);
  return Output(descriptor, target, temporary);
}

Output Output::to_standard_output() { return Output(STDOUT_FILENO, "standard output", {}); }

void Output::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBuffer) flush();
  if (bytes.size() < kBuffer) {
    buffer_.append(bytes);
    return;
  }
  buffer_.assign(bytes);
  flush();
}

void Output::flush() {
  std::size_t at = 0;
  while (error_ == 0 && at < buffer_.size()) {
    const ssize_t wrote =
        is_refused(SystemCall::write) ? -1 : ::write(descriptor_, buffer_.data() + at, buffer_.size() - at);
    if (wrote >= 0) at += static_cast<std::size_t>(wrote);
    else if (!again(descriptor_, POLLOUT)) error_ = errno;
  }
  buffer_.clear();
}

Error Output::failure() const {
  return bad_input(path_.string(), "write", "room to write", system_error_text(error_), write_fault(error_));
}

Status Output::commit() {
  flush();
  if (temporary_.empty()) {
    if (descriptor_ != STDOUT_FILENO && descriptor_ >= 0 && ::close(descriptor_) != 0 && error_ == 0) error_ = errno;
    descriptor_ = -1;
    if (error_ != 0) return failure();
    return Done{};
  }
  const bool synced = !is_refused(SystemCall::sync) && ::fsync(descriptor_) == 0;
  if (error_ == 0 && !synced && errno != EINVAL && errno != EROFS) error_ = errno;
  if (error_ == 0 && is_nameless(temporary_)) {
    std::string name = named(temporary_, folder_of(path_));
    if (name.empty()) error_ = errno;
    else temporary_ = std::move(name);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0 && error_ == 0) error_ = errno;
  const bool renamed =
      error_ == 0 && !is_refused(SystemCall::rename) && ::rename(temporary_.c_str(), path_.c_str()) == 0;
  if (error_ == 0 && !renamed) error_ = errno;
  if (error_ != 0) return failure();
  temporary_.clear();
  sync_folder(folder_of(path_));
  return Done{};
}

Status write_file(const std::filesystem::path& path, std::string_view bytes) {
  auto output = Output::to_file(path);
  if (!output) return output.error();
  output->write(bytes);
  return output->commit();
}

Result<PassingFolder> PassingFolder::make() {
  const char* asked = ::getenv("TMPDIR");
  const std::filesystem::path folder = asked && *asked ? asked : "/tmp";
  std::string pattern = (folder / "headlight-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    return bad_input("TMPDIR " + printable(folder.string()), "", "a writable folder", system_error_text(errno),
                     write_fault(errno));
  return PassingFolder(std::filesystem::path(pattern));
}

PassingFolder::~PassingFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path user_folder(const char* variable, const char* below_home) {
  const char* set = std::getenv(variable);
  if (set && *set == '/') return std::filesystem::path(set) / "headlight";
  return home_folder() / below_home / "headlight";
}

std::filesystem::path config_folder() { return user_folder("XDG_CONFIG_HOME", ".config"); }

}  // namespace headlight
