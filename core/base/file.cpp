#include "base/file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <tuple>

#include "base/folders.h"
#include "base/formatted.h"
#include "base/refusal.h"
#include "base/system.h"
#include "base/utf8.h"

namespace headlight {
namespace {

constexpr std::size_t kBuffer = 1 << 20;
constexpr int kLinks = 40;         // symbolic links followed, as Linux does
constexpr int kTemporaries = 100;  // names tried; a taken name is left over from a killed process with this number
/// Instead of a name, for an output whose file has no name yet.
constexpr const char* kNameless = "/";
constexpr int kInput = 0, kOutput = 1;  // the standard streams

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
    const std::ptrdiff_t got = read_some(descriptor, bytes.data() + size, bytes.size() - size);
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

/// Calls make(name) with names beside a file until one is free, and returns that name; an empty one, and errno, where
/// it fails otherwise. A name is short, so that it stays below the limit of the file system whatever the file is
/// called.
template <class Make>
std::filesystem::path free_name(const std::filesystem::path& folder, const Make& make) {
  const std::string begin = std::string(kTemporaryName) + std::to_string(process_number()) + "-";
  for (int i = 0; i < kTemporaries; ++i) {
    std::filesystem::path name = folder / (begin + std::to_string(i));
    if (make(name)) return name;
    if (errno != EEXIST) break;
  }
  return {};
}

/// A new file with a temporary name; −1, and an empty name, where that fails.
std::pair<int, std::filesystem::path> open_temporary(const std::filesystem::path& folder, Opening how) {
  int descriptor = -1;
  std::filesystem::path name =
      free_name(folder, [&](const std::filesystem::path& tried) { return (descriptor = open_file(tried, how)) >= 0; });
  return {descriptor, std::move(name)};
}

}  // namespace

bool is_outside(const std::filesystem::path& path, bool writes) {
  Confines* const set = confines.load(std::memory_order_relaxed);
  if (!set) return false;
  std::error_code unreadable;
  std::filesystem::path real = std::filesystem::absolute(path, unreadable);
  if (!unreadable) real = std::filesystem::weakly_canonical(real, unreadable);
  const auto holds = [&](const std::filesystem::path& root) {
    return std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
  };
  if (!unreadable && std::ranges::any_of(writes ? set->writable : set->readable, holds)) return false;
  const std::scoped_lock lock(set->mutex);
  set->refused.push_back(path);
  errno = EACCES;
  return true;
}

bool path_exists(const std::filesystem::path& path) {
  std::error_code unreadable;
  return !is_outside(path) && std::filesystem::exists(path, unreadable);
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code unreadable;
  return !is_outside(path) && std::filesystem::is_directory(path, unreadable);
}

bool is_regular(const std::filesystem::path& path) {
  std::error_code unreadable;
  return !is_outside(path) && std::filesystem::is_regular_file(path, unreadable);
}

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

Error cannot_open(const std::filesystem::path& path, int error) {
  return bad_input(path.string(), "open", "a readable file", system_error_text(error), read_fault(error));
}

namespace {

Result<std::string> read_regular(const std::filesystem::path& path, std::size_t limit) {
  const int descriptor = open_file(path, Opening::read);
  if (descriptor < 0 && is_folder(path)) return bad_input(path.string(), "open", "a regular file", "a folder");
  if (descriptor < 0) return cannot_open(path, errno);
  struct stat status {};
  Result<std::string> result = std::string{};
  if (::fstat(descriptor, &status) != 0) result = cannot_open(path, errno);
  else if (!S_ISREG(status.st_mode))
    result = bad_input(path.string(), "open", "a regular file",
                       S_ISDIR(status.st_mode) ? "a folder" : "something that is not a file");
  else if (static_cast<std::size_t>(status.st_size) > limit)
    result = bad_input(path.string(), "size", "at most " + std::to_string(limit) + " bytes",
                       std::to_string(status.st_size) + " bytes", ErrorCode::too_large);
  else result = read_all(descriptor, path.string(), limit, static_cast<std::size_t>(status.st_size));
  close_file(descriptor);
  return result;
}

/// What Git LFS leaves in the place of a file that it did not fetch
/// (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md); empty of any other bytes.
std::string as_lfs_pointer(std::string_view text) {
  if (!text.starts_with("version https://git-lfs")) return {};
  const auto at = text.find("\nsize ");
  const std::string_view size = at == text.npos ? "" : text.substr(at + 6, text.find('\n', at + 6) - at - 6);
  const double bytes = parse_number<double>(size).value_or(0);
  const std::string shown = bytes < 1e6 ? formatted("%.0f kB", bytes / 1e3) : formatted("%.0f MB", bytes / 1e6);
  return "a Git LFS pointer to a file of " + shown +
         ", not the file: run `git lfs pull` in its folder, or download it again";
}

/// Of a file of a model the same, and what a server answers in its place.
std::string stand_in_of(const std::filesystem::path& path, std::string_view text) {
  constexpr std::string_view kOfModels[] = {".safetensors", ".bin",  ".pt",  ".pth", ".ckpt",
                                            ".gguf",        ".json", ".npz", ".npy", ".model"};
  if (std::string pointer = as_lfs_pointer(text); !pointer.empty()) return pointer;
  if (std::find(std::begin(kOfModels), std::end(kOfModels), path.extension()) == std::end(kOfModels)) return {};
  text.remove_prefix(std::min(text.size(), text.find_first_not_of("\xEF\xBB\xBF \t\r\n")));
  for (const char* begin : {"<!doctype", "<html", "<?xml"}) {
    std::string word(text.substr(0, std::string_view(begin).size()));
    for (char& c : word) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (word == begin) return "a page of the web, not the file: download the file itself";
  }
  const auto is_binary = [](unsigned char c) { return c >= 0x7F || (c < ' ' && c != '\t' && c != '\r' && c != '\n'); };
  const bool may_be_text = path.extension() == ".json" || path.extension() == ".model";
  if (text.size() < sizeof(std::uint64_t) || may_be_text || std::any_of(text.begin(), text.end(), is_binary)) return {};
  return "a text, not the file: '" + printable(text.substr(0, std::min<std::size_t>(text.find('\n'), 60))) + "'";
}

/// Of a link that leads to no file where it leads.
std::string as_broken_link(const std::filesystem::path& path) {
  std::error_code error, unreadable;
  if (!std::filesystem::is_symlink(path, unreadable) || std::filesystem::exists(path, error)) return {};
  if (error == std::errc::too_many_symbolic_link_levels) return "a symbolic link that leads back to itself";
  return "a symbolic link to '" + printable(std::filesystem::read_symlink(path, unreadable).string()) +
         "', which is not there";
}

}  // namespace

std::string stand_in(const std::filesystem::path& path) {
  constexpr std::size_t kBegin = 1024;
  if (!is_regular(path)) return as_broken_link(path);
  const int descriptor = open_file(path, Opening::read);
  if (descriptor < 0) return {};
  char begin[kBegin];
  const std::ptrdiff_t got = read_some(descriptor, begin, kBegin);
  close_file(descriptor);
  return stand_in_of(path, {begin, static_cast<std::size_t>(std::max<std::ptrdiff_t>(got, 0))});
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit) {
  auto text = read_regular(path, limit);
  if (!text) return text;
  if (const std::string other = stand_in_of(path, *text); !other.empty())
    return bad_input(path.string(), "", "the file itself", other, ErrorCode::file_damaged);
  return text;
}

Result<std::string> read_standard_input(std::size_t limit) {
  if (confines.load()) return std::string();
  return read_all(kInput, "standard input", limit, 0);
}

Result<int> nameless_file(const std::filesystem::path& folder) {
  int descriptor = open_nameless(folder);
  if (descriptor < 0) descriptor = open_temporary(folder, Opening::pass).first;
  if (descriptor < 0)
    return bad_input(folder.string(), "write", "a writable folder", system_error_text(errno), write_fault(errno));
  return descriptor;
}

void sweep_temporaries(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(kTemporaryName)) continue;
    const long process = std::strtol(name.c_str() + kTemporaryName.size(), nullptr, 10);
    std::error_code ignored;
    if (process > 0 && !is_running(static_cast<int>(process))) std::filesystem::remove(at->path(), ignored);
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
  if (descriptor_ >= 0 && descriptor_ != kOutput) close_file(descriptor_);
  std::error_code ignored;
  if (!temporary_.empty() && temporary_ != kNameless) std::filesystem::remove(temporary_, ignored);
}

Result<Output> Output::to_file(const std::filesystem::path& path) {
  if (!path.has_filename() || is_folder(path))
    return bad_input(path.string(), "write", "a file name", path.empty() ? "nothing" : "a folder");
  // A rename cannot replace something other than a file (a pipe, /dev/full): write into it.
  if (is_device(path)) {
    const int descriptor = open_file(path, Opening::write);
    if (descriptor < 0)
      return bad_input(path.string(), "write", "a writable file", system_error_text(errno), write_fault(errno));
    return Output(descriptor, path, {});
  }
  // Through a symbolic link the target is replaced, not the link.
  const std::filesystem::path target = behind_links(path);
  const bool replaces = path_exists(target);
  if (replaces && !is_writable(target))
    return bad_input(path.string(), "write", "a writable file", system_error_text(errno), write_fault(errno));
  const std::filesystem::path folder = folder_of(target);
  int descriptor = open_nameless(folder);
  std::filesystem::path temporary = kNameless;
  if (descriptor < 0) {
    sweep_temporaries(folder);
    std::tie(descriptor, temporary) = open_temporary(folder, Opening::create);
    if (descriptor < 0)
      return bad_input(path.string(), "write", "a writable folder", system_error_text(errno), write_fault(errno));
  }
  if (replaces) copy_permissions(target, descriptor);
  return Output(descriptor, target, temporary);
}

Output Output::to_standard_output() { return Output(kOutput, "standard output", {}); }

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
  if (Confines* const set = confines.load(std::memory_order_relaxed); set && descriptor_ == kOutput) {
    if (set->output.size() + buffer_.size() > set->most_output) error_ = EFBIG;
    if (error_ == 0) set->output += buffer_;
    at = buffer_.size();
  }
  while (error_ == 0 && at < buffer_.size()) {
    const std::ptrdiff_t wrote =
        is_refused(SystemCall::write) ? -1 : write_some(descriptor_, buffer_.data() + at, buffer_.size() - at);
    if (wrote >= 0) at += static_cast<std::size_t>(wrote);
    else error_ = errno;
  }
  buffer_.clear();
}

Error Output::failure() const {
  return bad_input(path_.string(), "write", "room to write", system_error_text(error_), write_fault(error_));
}

Status Output::commit() {
  flush();
  if (temporary_.empty()) {
    if (descriptor_ != kOutput && descriptor_ >= 0 && !close_file(descriptor_) && error_ == 0) error_ = errno;
    descriptor_ = -1;
    if (error_ != 0) return failure();
    return Done{};
  }
  const bool synced = !is_refused(SystemCall::sync) && sync_file(descriptor_);
  if (error_ == 0 && !synced && errno != EINVAL && errno != EROFS) error_ = errno;
  if (error_ == 0 && temporary_ == kNameless) {
    auto name =
        free_name(folder_of(path_), [&](const std::filesystem::path& tried) { return give_name(descriptor_, tried); });
    if (name.empty()) error_ = errno;
    else temporary_ = std::move(name);
  }
  if (!close_file(std::exchange(descriptor_, -1)) && error_ == 0) error_ = errno;
  const bool renamed = error_ == 0 && !is_refused(SystemCall::rename) && rename_file(temporary_, path_);
  if (error_ == 0 && !renamed) error_ = errno;
  if (error_ != 0) return failure();
  temporary_.clear();
  return Done{};
}

Status write_file(const std::filesystem::path& path, std::string_view bytes) {
  auto output = TRY(Output::to_file(path));
  output.write(bytes);
  return output.commit();
}

Result<PassingFolder> PassingFolder::make() {
  auto folder = new_temporary_folder();
  if (folder) return PassingFolder(*std::move(folder));
  return bad_input("TMPDIR " + printable(temporary_folder().string()), "", "a writable folder",
                   system_error_text(errno), write_fault(errno));
}

PassingFolder::~PassingFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path config_folder() { return user_folder("XDG_CONFIG_HOME", ".config"); }

Result<std::optional<InputLines::Line>> InputLines::next() {
  Line line;
  for (;;) {
    const std::size_t end = buffer_.find('\n', at_);
    const std::size_t size = std::min(end, buffer_.size()) - at_;
    const std::size_t room = limit_ - std::min(limit_, line.text.size());
    line.is_too_long = line.is_too_long || size > room;
    line.text.append(buffer_, at_, std::min(size, room));
    if (end != std::string::npos) {
      at_ = end + 1;
      break;
    }
    const bool has_begun = !line.text.empty() || line.is_too_long || size > 0;
    at_ = 0;
    buffer_.resize(std::size_t{1} << 16);
    const std::ptrdiff_t got = ended_ ? 0 : read_some(descriptor_, buffer_.data(), buffer_.size());
    const int error = errno;
    buffer_.resize(static_cast<std::size_t>(std::max<std::ptrdiff_t>(got, 0)));
    if (got < 0)
      return bad_input("standard input", "read", "readable input", system_error_text(error), read_fault(error));
    ended_ = got == 0;
    if (!ended_) continue;
    if (!has_begun) return std::optional<Line>();
    break;
  }
  if (line.text.ends_with('\r')) line.text.pop_back();
  return std::optional(std::move(line));
}

}  // namespace headlight
