// Reading files whole and writing them whole: an output appears complete under its name, or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/index.h"
#include "base/result.h"

namespace headlight {

/// The system's text for an error number (errno).
std::string system_error_text(int error);
/// The codes of an error number of a call that reads, or writes.
ErrorCode read_fault(int error);
ErrorCode write_fault(int error);
/// The Error of a file that cannot be opened to be read, by its error number.
Error cannot_open(const std::filesystem::path& path, int error);

/// Reads a regular file of at most `limit` bytes.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t limit = within_memory(std::uint64_t{1} << 32));

/// What is in the place of a file: a pointer of Git LFS or, of a file of a model, a page of the web, both of which
/// read_file refuses, or a link that leads nowhere. Empty of any other.
std::string stand_in(const std::filesystem::path& path);

/// Reads standard input to its end, at most `limit` bytes.
Result<std::string> read_standard_input(std::size_t limit = std::size_t{1} << 30);

/// Where an export goes: a file, written beside its name and renamed by `commit`, or standard output.
/// The first failure (a full disk, a closed pipe) is stored and returned by `commit`; writes after it do nothing.
class Output {
 public:
  static Result<Output> to_file(const std::filesystem::path& path);
  static Output to_standard_output();

  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();  // an output that was not committed leaves no file behind

  void write(std::string_view bytes);
  /// Writes what is buffered and, for a file, gives it its name.
  Status commit();
  /// Whether something already failed, so that a long export can stop early.
  bool failed() const { return error_ != 0; }

 private:
  Output(int descriptor, std::filesystem::path path, std::filesystem::path temporary);
  void flush();
  Error failure() const;

  int descriptor_ = -1;
  int error_ = 0;  // errno of the first failure
  std::filesystem::path path_, temporary_;
  std::string buffer_;
};

/// Writes `bytes` to `path`, whole or not at all.
Status write_file(const std::filesystem::path& path, std::string_view bytes);

/// Standard input line by line, each as soon as it is there, with memory for one line.
class InputLines {
 public:
  /// `limit`: the bytes of the longest line that is taken whole.
  explicit InputLines(std::size_t limit, int descriptor = 0) : limit_(limit), descriptor_(descriptor) {}

  struct Line {
    std::string text;  // without its line break; of a line that is too long its beginning
    bool is_too_long = false;
  };
  /// The next line; nothing at the end, where a last line without a line break counts. Errors: input cannot be read.
  Result<std::optional<Line>> next();

 private:
  std::size_t limit_;
  int descriptor_;
  std::string buffer_;  // read and not taken, from at_ on
  std::size_t at_ = 0;
  bool ended_ = false;
};

}  // namespace headlight
