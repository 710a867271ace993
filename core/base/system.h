// What the system does with files and programs: each function once for POSIX (posix/system.cpp) and once for Windows
// (windows/system.cpp). One that fails sets errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace headlight {

enum class Opening {
  read,    // a file that is there
  write,   // the same, to write into it
  create,  // a new file to read and write; EEXIST where there is one of this name
  pass,    // the same; it is removed at the latest when it is closed
  lock     // to write; made where there is none
};
/// A descriptor that no child process inherits, of bytes as they are; −1 where it fails.
int open_file(const std::filesystem::path& path, Opening how);
bool close_file(int descriptor);

/// At most so many bytes, as soon as there are some: 0 at the end, −1 where it fails.
std::ptrdiff_t read_some(int descriptor, char* to, std::size_t most);
std::ptrdiff_t write_some(int descriptor, const char* from, std::size_t most);
/// The same at an offset of a file.
std::ptrdiff_t read_at(int descriptor, char* to, std::size_t most, std::int64_t offset);
std::ptrdiff_t write_at(int descriptor, const char* from, std::size_t most, std::int64_t offset);
/// Until the disk has all of it.
bool sync_file(int descriptor);

/// A file of a folder without a name; −1 where the file system has none.
int open_nameless(const std::filesystem::path& folder);
bool give_name(int descriptor, const std::filesystem::path& name);
/// In one step, also over a file `to`, which is unchanged where that fails.
bool rename_file(const std::filesystem::path& from, const std::filesystem::path& to);
bool is_writable(const std::filesystem::path& file);
/// Whether the path names a device or a pipe (/dev/full, NUL), not a file.
bool is_device(const std::filesystem::path& path);
/// The device that discards all bytes.
extern const char* const kNowhere;
/// Gives a new file the permissions of another.
void copy_permissions(const std::filesystem::path& from, int to);
/// Removes the last files that were created and not renamed; what the handler of a signal may do.
void remove_temporaries();

/// Until it is closed, also against other programs; false at once where another holds the lock. A shared lock excludes
/// only exclusive ones.
bool lock_file(int descriptor, bool shared);
/// Whether the path names the open file, and not another one by now.
bool is_named(int descriptor, const std::filesystem::path& path);

/// The folder for temporary files.
std::filesystem::path temporary_folder();
/// A new folder there that only this user sees; none where it fails.
std::optional<std::filesystem::path> new_temporary_folder();
/// The file of the program; empty where it is not known.
std::filesystem::path program_file();
/// The file that this code was loaded from: a shared library's, else the program's.
std::filesystem::path code_file();

int process_number();
bool is_running(int process);
/// Whether the user's desktop or terminal is Chinese.
bool system_speaks_chinese();
/// Whether the user set programs to dark; false where only the desktop's own libraries know it (Linux, macOS).
bool system_prefers_dark();
/// A variable of the environment; null where it is not set. HOME is the user's folder on every system.
const char* environment(const char* name);
/// The machine's memory in bytes; 0 where it is not known.
double machine_memory();

/// The most memory in bytes that this process held; 0 where it is not known.
double most_memory_held();

/// First in main: a closed pipe is a failed write, standard output takes bytes as they are, a console shows UTF-8. A
/// fault of the program (a signal such as SIGSEGV) ends it with a line on standard error, where the system has signals.
void begin_program();
/// First in a thread of the program: there is the line too where its stack is what overflowed.
void begin_thread();
/// What that line says of the work: the command and the names of its options.
void name_work(std::string_view asked);
/// Last in main: shows what was written to standard error where there is no console; returns `status`.
int end_program(int status);

}  // namespace headlight
