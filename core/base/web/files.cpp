// The files of a page: what the page put into memory, read only. Second half of base/file.h, mapped_file.h, pages.h.
#include "base/memory_files.h"

#include <cstdlib>
#include <cstring>
#include <map>

#include "base/file.h"
#include "base/folders.h"
#include "base/mapped_file.h"
#include "base/pages.h"
#include "base/system.h"

namespace headlight {
namespace {

struct Bytes {
  std::unique_ptr<char, decltype(&std::free)> memory{nullptr, &std::free};
  std::size_t size = 0;
};

std::map<std::string, Bytes, std::less<>>& files() {
  static std::map<std::string, Bytes, std::less<>> all;
  return all;
}

Error absent(const std::filesystem::path& path) {
  return bad_input(path.string(), "open", "a file of this page", "none of that name", ErrorCode::file_absent);
}

}  // namespace

void put_memory_file(std::string name, char* bytes, std::size_t size) {
  files()[std::move(name)] = Bytes{{bytes, &std::free}, size};
}

void drop_memory_file(std::string_view name) {
  if (const auto at = files().find(name); at != files().end()) files().erase(at);
}

std::optional<std::string_view> memory_file(std::string_view name) {
  const auto at = files().find(name);
  if (at == files().end()) return std::nullopt;
  return std::string_view(at->second.memory.get(), at->second.size);
}

int process_number() { return 0; }

bool is_regular(const std::filesystem::path& path) { return memory_file(path.native()).has_value(); }
bool path_exists(const std::filesystem::path& path) { return is_regular(path) || is_folder(path); }

bool is_folder(const std::filesystem::path& path) {
  const std::string begin = path.native() + "/";
  const auto at = files().lower_bound(begin);
  return at != files().end() && at->first.starts_with(begin);
}

std::string system_error_text(int) { return "not possible in a page"; }
ErrorCode read_fault(int) { return ErrorCode::file_absent; }
ErrorCode write_fault(int) { return ErrorCode::not_writable; }

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit) {
  const auto bytes = memory_file(path.native());
  if (!bytes) return absent(path);
  if (bytes->size() > limit)
    return bad_input(path.string(), "size", "at most " + std::to_string(limit) + " bytes",
                     std::to_string(bytes->size()) + " bytes", ErrorCode::too_large);
  return std::string(*bytes);
}

// What a page writes is a file of its memory.
Output::Output(int, std::filesystem::path path, std::filesystem::path) : path_(std::move(path)) {}
Output::Output(Output&& other) noexcept = default;
Output::~Output() = default;
Result<Output> Output::to_file(const std::filesystem::path& path) { return Output(0, path, {}); }
void Output::write(std::string_view bytes) { buffer_ += bytes; }

Status Output::commit() {
  auto* const bytes = static_cast<char*>(std::malloc(buffer_.size() + 1));
  if (!bytes) throw std::bad_alloc();
  put_memory_file(path_.string(), static_cast<char*>(std::memcpy(bytes, buffer_.data(), buffer_.size())),
                  buffer_.size());
  return Done{};
}

std::string stand_in(const std::filesystem::path&) { return {}; }

Result<std::string> read_standard_input(std::size_t) { return absent("standard input"); }

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  const auto bytes = memory_file(path.native());
  if (!bytes) return absent(path);
  return std::shared_ptr<const MappedFile>(new MappedFile(*bytes));
}

MappedFile::~MappedFile() = default;
void release_pages(std::string_view) {}
bool was_shortened(const void*) { return false; }
bool any_was_shortened() { return false; }

std::shared_ptr<std::byte> fresh_pages(std::size_t bytes) {
  auto* const memory = static_cast<std::byte*>(std::calloc(bytes, 1));
  if (!memory) throw std::bad_alloc();
  return {memory, &std::free};
}

void give_back_memory() {}

const char* environment(const char*) { return nullptr; }
double machine_memory() { return 0; }
double most_memory_held() { return 0; }

}  // namespace headlight
