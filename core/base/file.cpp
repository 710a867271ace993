#include "base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace headlight {
namespace {

constexpr std::size_t kBuffer = 1 << 20;
constexpr int kLinks = 40;         // symbolic links followed, as Linux does
constexpr int kTemporaries = 100;  // names tried; a taken name is left over from a killed process with this number

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
    if (got < 0) return bad_input(where, "read", "a readable file", system_error_text(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (size > limit) return bad_input(where, "size", "at most " + std::to_string(limit) + " bytes", "more");
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

std::string system_error_text(int error) { return std::generic_category().message(error); }

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return bad_input(path.string(), "open", "a readable file", system_error_text(errno));
  struct stat status {};
  Result<std::string> result = std::string{};
  if (::fstat(descriptor, &status) != 0)
    result = bad_input(path.string(), "open", "a readable file", system_error_text(errno));
  else if (!S_ISREG(status.st_mode))
    result = bad_input(path.string(), "open", "a regular file",
                       S_ISDIR(status.st_mode) ? "a folder" : "something that is not a file");
  else if (static_cast<std::size_t>(status.st_size) > limit)
    result = bad_input(path.string(), "size", "at most " + std::to_string(limit) + " bytes",
                       std::to_string(status.st_size) + " bytes");
  else result = read_all(descriptor, path.string(), limit, static_cast<std::size_t>(status.st_size));
  ::close(descriptor);
  return result;
}

Result<std::string> read_standard_input(std::size_t limit) {
  return read_all(STDIN_FILENO, "standard input", limit, 0);
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
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<Output> Output::to_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!path.has_filename() || std::filesystem::is_directory(path, ignored))
    return bad_input(path.string(), "write", "a file name", path.empty() ? "nothing" : "a folder");
  // A rename cannot replace something other than a file (a pipe, /dev/full): write into it.
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) return bad_input(path.string(), "write", "a writable file", system_error_text(errno));
    return Output(descriptor, path, {});
  }
  // Through a symbolic link the target is replaced, not the link.
  const std::filesystem::path target = behind_links(path);
  struct stat old {};
  const bool replaces = ::stat(target.c_str(), &old) == 0;
  if (replaces && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0)
    return bad_input(path.string(), "write", "a writable file", system_error_text(errno));
  // The temporary name is short, so that it stays below the limit of the file system whatever the name of the file is.
  const std::string beside = (target.parent_path() / (".headlight-" + std::to_string(::getpid()) + "-")).string();
  std::string temporary;
  int descriptor = -1;
  for (int i = 0; i < kTemporaries && descriptor < 0; ++i) {
    temporary = beside + std::to_string(i);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  if (descriptor < 0) return bad_input(path.string(), "write", "a writable folder", system_error_text(errno));
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
    const ssize_t wrote = ::write(descriptor_, buffer_.data() + at, buffer_.size() - at);
    if (wrote >= 0) at += static_cast<std::size_t>(wrote);
    else if (!again(descriptor_, POLLOUT)) error_ = errno;
  }
  buffer_.clear();
}

Error Output::failure() const { return bad_input(path_.string(), "write", "room to write", system_error_text(error_)); }

Status Output::commit() {
  flush();
  if (temporary_.empty()) {
    if (descriptor_ != STDOUT_FILENO && descriptor_ >= 0 && ::close(descriptor_) != 0 && error_ == 0) error_ = errno;
    descriptor_ = -1;
    if (error_ != 0) return failure();
    return Done{};
  }
  if (error_ == 0 && ::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) error_ = errno;
  if (::close(std::exchange(descriptor_, -1)) != 0 && error_ == 0) error_ = errno;
  if (error_ == 0 && ::rename(temporary_.c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ != 0) return failure();
  temporary_.clear();
  return Done{};
}

Status write_file(const std::filesystem::path& path, std::string_view bytes) {
  auto output = Output::to_file(path);
  if (!output) return output.error();
  output->write(bytes);
  return output->commit();
}

}  // namespace headlight
