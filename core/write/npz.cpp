#include "write/npz.h"

#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/folders.h"
#include "base/refusal.h"
#include "base/system.h"
#include "write/reduced.h"

namespace headlight {
namespace {

/// 1 January 1980, 00:00, the first moment of zip's calendar.
constexpr zip_uint16_t kDosDate = (1 << 5) | 1, kDosTime = 0;

/// The archive while libzip builds it: a file without a name, of which nothing is left however the program ends.
struct Scratch {
  int descriptor = -1;
  std::int64_t read_at = 0, write_at = 0, size = 0;
  zip_error_t zip_error{};

  Scratch() = default;
  Scratch(const Scratch&) = delete;
  ~Scratch() {
    if (descriptor >= 0) close_file(descriptor);
  }

  zip_int64_t failed(int error) {
    zip_error_set(&zip_error, ZIP_ER_WRITE, error);
    return -1;
  }

  zip_int64_t write(const char* data, zip_uint64_t count) {
    for (zip_uint64_t done = 0; done < count;) {
      const std::ptrdiff_t wrote =
          is_refused(SystemCall::write) ? -1 : headlight::write_at(descriptor, data + done, count - done, write_at);
      if (wrote < 0) return failed(errno);
      done += static_cast<zip_uint64_t>(wrote);
      write_at += wrote;
    }
    size = std::max(size, write_at);
    return static_cast<zip_int64_t>(count);
  }

  zip_int64_t read(char* to, zip_uint64_t count) {
    const std::ptrdiff_t got = headlight::read_at(descriptor, to, count, read_at);
    if (got < 0) return failed(errno);
    read_at += got;
    return got;
  }

  /// Moves the offset at which it is read or written, as libzip asks for it.
  zip_int64_t seek(std::int64_t& at, void* data, zip_uint64_t length) {
    const zip_int64_t to = zip_source_seek_compute_offset(static_cast<zip_uint64_t>(at),
                                                          static_cast<zip_uint64_t>(size), data, length, &zip_error);
    if (to < 0) return -1;
    at = static_cast<std::int64_t>(to);
    return 0;
  }
};

zip_int64_t scratch_command(void* state, void* data, zip_uint64_t size, zip_source_cmd_t command) {
  Scratch& scratch = *static_cast<Scratch*>(state);
  switch (command) {
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(
          ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
          ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_BEGIN_WRITE, ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE,
          ZIP_SOURCE_WRITE, ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_REMOVE, -1);
    case ZIP_SOURCE_OPEN: scratch.read_at = 0; return 0;
    case ZIP_SOURCE_READ: return scratch.read(static_cast<char*>(data), size);
    case ZIP_SOURCE_SEEK: return scratch.seek(scratch.read_at, data, size);
    case ZIP_SOURCE_TELL: return scratch.read_at;
    case ZIP_SOURCE_BEGIN_WRITE: scratch.write_at = scratch.size = 0; return 0;
    case ZIP_SOURCE_WRITE: return scratch.write(static_cast<const char*>(data), size);
    case ZIP_SOURCE_SEEK_WRITE: return scratch.seek(scratch.write_at, data, size);
    case ZIP_SOURCE_TELL_WRITE: return scratch.write_at;
    case ZIP_SOURCE_STAT: {
      auto* stat = static_cast<zip_stat_t*>(data);
      zip_stat_init(stat);
      stat->size = static_cast<zip_uint64_t>(scratch.size);
      stat->valid = ZIP_STAT_SIZE;
      return sizeof *stat;
    }
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&scratch.zip_error, data, size);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_COMMIT_WRITE:
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_REMOVE:
    case ZIP_SOURCE_FREE: return 0;  // it outlives the archive
    default: zip_error_set(&scratch.zip_error, ZIP_ER_OPNOTSUPP, 0); return -1;
  }
}

/// One array as libzip pulls it: the header, then piece after piece.
struct Member {
  const ArrayStream* array;
  Work* work;
  std::optional<Error>* failure;  // the first of the whole archive
  TensorType type = TensorType::float32;
  zip_error_t zip_error{};
  std::optional<ArrayReader> reader{};
  std::string header{};
  Matrix piece{};
  std::string halves{};        // of a piece as float16
  std::string_view pending{};  // of header or piece

  zip_int64_t failed(Error error) {
    *failure = std::move(error);
    zip_error_set(&zip_error, ZIP_ER_CANCELLED, 0);
    return -1;
  }

  zip_int64_t read(char* target, zip_uint64_t size) {
    zip_uint64_t filled = 0;
    while (filled < size) {
      if (pending.empty()) {
        if (reader->at_end()) break;
        const std::size_t offset = reader->offset();
        auto next = reader->next();
        if (!next) return failed(next.error());
        piece = std::move(*next);
        pending = bytes_of(piece);
        if (type == TensorType::float16 && !array->is_text) {  // the characters of a text have four bytes each
          auto rounded = halves_of(*array, offset, piece);
          if (!rounded) return failed(rounded.error());
          halves = std::move(*rounded);
          pending = halves;
        }
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
      member.header = npy_header(member.array->shape, member.type, member.array->is_text);
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
      stat->size = npy_header(member.array->shape, member.type, member.array->is_text).size() +
                   member.array->num_elements() * bytes_in(member.array->is_text ? TensorType::float32 : member.type);
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

/// `folder` is named where there is no room.
Status build_archive(const std::vector<ArrayStream>& arrays, const std::filesystem::path& folder, Scratch& scratch,
                     Work& work, TensorType type) {
  std::optional<Error> failure;
  std::vector<Member> members;
  for (const auto& array : arrays)
    members.push_back({.array = &array, .work = &work, .failure = &failure, .type = type});
  const auto unwritable = [&](zip_error_t* reason) {
    return bad_input(folder.string(), "write", "room to write", zip_error_strerror(reason),
                     write_fault(zip_error_code_system(reason)));
  };
  zip_error_t reason;
  zip_error_init(&reason);
  zip_source_t* source = zip_source_function_create(scratch_command, &scratch, &reason);
  zip_t* archive = source ? zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &reason) : nullptr;
  if (archive == nullptr) {
    if (source) zip_source_free(source);
    const Error error = unwritable(&reason);
    zip_error_fini(&reason);
    return error;
  }
  zip_error_fini(&reason);
  bool written = true;
  for (auto& member : members) written = written && add_member(archive, member);
  if (written && zip_close(archive) == 0) return Done{};
  const Error error = failure ? *failure : unwritable(zip_get_error(archive));
  zip_discard(archive);
  return error;
}

Status copy_out(const Scratch& scratch, const std::filesystem::path& folder, Output& output) {
  std::string chunk(1 << 20, '\0');
  for (std::int64_t at = 0; at < scratch.size && !output.failed();) {
    const std::ptrdiff_t got = read_at(scratch.descriptor, chunk.data(), chunk.size(), at);
    if (got <= 0)
      return bad_input(folder.string(), "read", "what was written", got < 0 ? system_error_text(errno) : "its end",
                       got < 0 ? read_fault(errno) : ErrorCode::file_too_short);
    output.write(std::string_view(chunk).substr(0, static_cast<std::size_t>(got)));
    at += got;
  }
  return Done{};
}

}  // namespace

std::string npy_header(std::vector<Index> shape, TensorType type, bool is_text) {
  constexpr std::size_t kPrefix = 10, kAlignment = 64;
  std::string kind = type == TensorType::float16 ? "<f2" : "<f4";
  if (is_text) kind = "<U" + std::to_string(shape.back()), shape.pop_back();
  std::string dictionary = "{'descr': '" + kind + "', 'fortran_order': False, 'shape': (";
  for (const Index size : shape) dictionary += std::to_string(size) + ", ";
  // the form that NumPy writes: no space before the parenthesis, and a comma only after a single size.
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

std::filesystem::path scratch_for(const std::optional<std::filesystem::path>& file) {
  std::error_code failure;
  const bool beside = file && (!path_exists(*file) || is_regular(*file));
  const auto folder = beside ? std::filesystem::absolute(*file, failure).parent_path() : temporary_folder();
  return failure ? std::filesystem::path(".") : folder;
}

Status write_npz(const std::vector<std::shared_ptr<const Trace>>& traces, const ExportOptions& options,
                 const std::filesystem::path& scratch, Output& output, Progress& progress) {
  if (!options.reduce) return write_npz(all_arrays(traces, options), scratch, output, progress, options.type);
  std::vector<ArrayStream> arrays;
  for (const auto& [prefix, reduced] : TRY(reduced_sentences(traces, options)))
    for (ArrayStream& array : named_arrays(prefix, reduced)) arrays.push_back(std::move(array));
  return write_npz(arrays, scratch, output, progress, options.type);
}

Status write_npz(const std::vector<ArrayStream>& arrays, const std::filesystem::path& scratch, Output& output,
                 Progress& progress, TensorType type) {
  Work work(progress, num_elements(arrays));
  Scratch archive;
  archive.descriptor = TRY(nameless_file(scratch));
  TRY(build_archive(arrays, scratch, archive, work, type));
  return copy_out(archive, scratch, output);
}

}  // namespace headlight
