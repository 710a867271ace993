#include "write/npz.h"

#include <fcntl.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>

namespace headlight {
namespace {

/// 1 January 1980, 00:00, the first moment of zip's calendar.
constexpr zip_uint16_t kDosDate = (1 << 5) | 1, kDosTime = 0;

/// A folder that goes away with everything in it.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make(const std::filesystem::path& parent) {
    std::string pattern = (parent / ".export-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      return bad_input(parent.string(), "write", "a writable folder", std::generic_category().message(errno));
    return ScratchFolder(pattern);
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// One array as libzip pulls it: the header, then piece after piece.
struct Member {
  const ArrayStream* array;
  Work* work;
  std::optional<Error>* failure;  // the first of the whole archive
  zip_error_t zip_error{};
  std::optional<ArrayReader> reader{};
  std::string header{};
  Matrix piece{};
  std::string_view pending{};  // of header or piece

  zip_int64_t read(char* target, zip_uint64_t size) {
    zip_uint64_t filled = 0;
    while (filled < size) {
      if (pending.empty()) {
        if (reader->at_end()) break;
        auto next = reader->next();
        if (!next) {
          *failure = next.error();
          zip_error_set(&zip_error, ZIP_ER_CANCELLED, 0);
          return -1;
        }
        piece = std::move(*next);
        pending = bytes_of(piece);
      }
      const std::size_t count = std::min<std::size_t>(size - filled, pending.size());
      std::memcpy(target + filled, pending.data(), count);
      pending.remove_prefix(count);
      filled += count;
    }
    return static_cast<zip_int64_t>(filled);
  }
};

zip_int64_t member_command(void* state, void* data, zip_uint64_t size, zip_source_cmd_t command) {
  Member& member = *static_cast<Member*>(state);
  switch (command) {
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                            ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
    case ZIP_SOURCE_OPEN:
      member.reader.emplace(*member.array, *member.work);
      member.header = npy_header(member.array->shape);
      member.pending = member.header;
      return 0;
    case ZIP_SOURCE_READ: return member.read(static_cast<char*>(data), size);
    case ZIP_SOURCE_CLOSE:
      member.piece.resize(0, 0);
      member.pending = {};
      return 0;
    case ZIP_SOURCE_STAT: {
      auto* stat = static_cast<zip_stat_t*>(data);
      zip_stat_init(stat);
      stat->size = npy_header(member.array->shape).size() + member.array->num_elements() * sizeof(float);
      stat->valid = ZIP_STAT_SIZE;
      return sizeof *stat;
    }
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&member.zip_error, data, size);
    case ZIP_SOURCE_FREE: return 0;  // the members outlive the archive
    default: zip_error_set(&member.zip_error, ZIP_ER_OPNOTSUPP, 0); return -1;
  }
}

/// Adds one array; false where libzip refuses, the reason being in `archive`.
bool add_member(zip_t* archive, Member& member) {
  zip_source_t* source = zip_source_function(archive, member_command, &member);
  if (source == nullptr) return false;
  const std::string name = member.array->name + ".npy";
  const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    return false;
  }
  const auto at = static_cast<zip_uint64_t>(index);
  return zip_set_file_compression(archive, at, ZIP_CM_STORE, 0) == 0 &&
         zip_file_set_dostime(archive, at, kDosTime, kDosDate, 0) == 0;
}

Status build_archive(const std::vector<ArrayStream>& arrays, const std::filesystem::path& path, Work& work) {
  std::optional<Error> failure;
  std::vector<Member> members;
  for (const auto& array : arrays) members.push_back({.array = &array, .work = &work, .failure = &failure});
  const auto unwritable = [&](const char* reason) {
    return bad_input(path.parent_path().parent_path().string(), "write", "room to write", reason);
  };
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (archive == nullptr) {
    zip_error_t reason;
    zip_error_init_with_code(&reason, code);
    const Error error = unwritable(zip_error_strerror(&reason));
    zip_error_fini(&reason);
    return error;
  }
  bool written = true;
  for (auto& member : members) written = written && add_member(archive, member);
  if (written && zip_close(archive) == 0) return Done{};
  const Error error = failure ? *failure : unwritable(zip_strerror(archive));
  zip_discard(archive);
  return error;
}

Status copy_file(const std::filesystem::path& path, Output& output) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string chunk(1 << 20, '\0');
  ssize_t got = descriptor < 0 ? -1 : 1;
  while (got > 0 && !output.failed()) {
    do got = ::read(descriptor, chunk.data(), chunk.size());
    while (got < 0 && errno == EINTR);
    if (got > 0) output.write(std::string_view(chunk).substr(0, static_cast<std::size_t>(got)));
  }
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (got < 0) return bad_input(path.string(), "read", "a readable file", std::generic_category().message(reason));
  return Done{};
}

}  // namespace

std::string npy_header(const std::vector<Index>& shape) {
  constexpr std::size_t kPrefix = 10, kAlignment = 64;
  std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (const Index size : shape) dictionary += std::to_string(size) + ", ";
  // NumPy's own form: no space before the parenthesis, and a comma only after a single size.
  if (!shape.empty()) dictionary.resize(dictionary.size() - (shape.size() == 1 ? 1 : 2));
  dictionary += "), }";
  dictionary.append(kAlignment - (kPrefix + dictionary.size()) % kAlignment - 1, ' ');
  dictionary += '\n';
  std::string header = "\x93NUMPY";
  header += '\x01';
  header += '\0';
  header += static_cast<char>(dictionary.size() & 0xFF);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

Status write_npz(const std::vector<std::shared_ptr<const Trace>>& traces, const ExportOptions& options,
                 const std::filesystem::path& scratch, Output& output, Progress& progress) {
  return write_npz(all_arrays(traces, options), scratch, output, progress);
}

Status write_npz(const std::vector<ArrayStream>& arrays, const std::filesystem::path& scratch, Output& output,
                 Progress& progress) {
  Work work(progress, num_elements(arrays));
  const auto folder = ScratchFolder::make(scratch);
  if (!folder) return folder.error();
  const auto path = folder->path() / "arrays.npz";
  if (const auto built = build_archive(arrays, path, work); !built) return built;
  return copy_file(path, output);
}

}  // namespace headlight
