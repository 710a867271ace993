#include "base/system.h"

#include <windows.h>
// after windows.h
#include <fcntl.h>
#include <io.h>
#include <psapi.h>
#include <shellapi.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/folders.h"
#include "base/refusal.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr int kTries = 40;  // a scanner of viruses may hold a file for a second: two are waited
constexpr DWORD kBetweenTries = 50;
constexpr DWORD kShare = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// Sets errno from the system's last error; false, so that it can be returned.
bool failed(DWORD error = GetLastError()) {
  errno = std::error_code(static_cast<int>(error), std::system_category()).default_error_condition().value();
  return false;
}

HANDLE handle_of(int descriptor) { return reinterpret_cast<HANDLE>(_get_osfhandle(descriptor)); }
DWORD at_most(std::size_t bytes) { return static_cast<DWORD>(std::min(bytes, std::size_t{1} << 30)); }

/// What a console types, as UTF-8; ^Z at the beginning of a line is the end.
std::ptrdiff_t read_console(HANDLE console, char* to, std::size_t most) {
  std::wstring typed(std::clamp<std::size_t>(most / 4, 1, 8192), L'\0');
  DWORD got = 0;
  if (!ReadConsoleW(console, typed.data(), static_cast<DWORD>(typed.size()), &got, nullptr)) return failed() ? 0 : -1;
  if (got > 0 && typed.front() == 0x1A) return 0;
  return WideCharToMultiByte(CP_UTF8, 0, typed.data(), static_cast<int>(got), to, static_cast<int>(at_most(most)),
                             nullptr, nullptr);
}

/// ReadFile or WriteFile at an offset.
template <class Call, class Bytes>
std::ptrdiff_t at_offset(const Call& call, int descriptor, Bytes* bytes, std::size_t most, std::int64_t offset) {
  OVERLAPPED overlapped{};
  overlapped.Offset = static_cast<DWORD>(offset);
  overlapped.OffsetHigh = static_cast<DWORD>(offset >> 32);
  DWORD done = 0;
  if (call(handle_of(descriptor), bytes, at_most(most), &done, &overlapped) || GetLastError() == ERROR_HANDLE_EOF)
    return done;
  return failed() ? 0 : -1;
}

/// A file that is mapped cannot be replaced, but it can get another name; when nothing needs it any more, the next
/// sweep_temporaries() removes it.
bool move_aside(const fs::path& file, fs::path& aside) {
  for (int i = 0; i < kTries; ++i) {
    const std::string own = std::to_string(process_number()) + "-old" + std::to_string(i);
    aside = file.parent_path() / std::string(kTemporaryName).append(own);
    if (MoveFileExW(file.c_str(), aside.c_str(), 0)) return true;
    if (GetLastError() != ERROR_ALREADY_EXISTS && GetLastError() != ERROR_FILE_EXISTS) return false;
  }
  return false;
}

/// Of a program without a console: the file that standard error goes to.
fs::path told;

}  // namespace

const char* const kNowhere = "NUL";

int open_file(const fs::path& path, Opening how) {
  constexpr DWORD kBoth = GENERIC_READ | GENERIC_WRITE;
  if (is_outside(path, how != Opening::read)) return -1;
  const bool reads = how == Opening::read, passes = how == Opening::pass;
  const DWORD access = reads ? GENERIC_READ : how == Opening::write ? GENERIC_WRITE : passes ? kBoth | DELETE : kBoth;
  const DWORD begin = reads || how == Opening::write ? OPEN_EXISTING : how == Opening::lock ? OPEN_ALWAYS : CREATE_NEW;
  const DWORD flags = passes ? FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE : FILE_ATTRIBUTE_NORMAL;
  HANDLE file = INVALID_HANDLE_VALUE;
  for (int i = 0; i < kTries; ++i) {
    file = CreateFileW(path.c_str(), access, kShare, nullptr, begin, flags, nullptr);
    if (file != INVALID_HANDLE_VALUE || GetLastError() != ERROR_SHARING_VIOLATION) break;
    Sleep(kBetweenTries);
  }
  if (file == INVALID_HANDLE_VALUE) return failed() ? 0 : -1;
  return _open_osfhandle(reinterpret_cast<std::intptr_t>(file), _O_NOINHERIT | (reads ? _O_RDONLY : _O_RDWR));
}

bool close_file(int descriptor) { return _close(descriptor) == 0; }

std::ptrdiff_t read_some(int descriptor, char* to, std::size_t most) {
  DWORD mode = 0;
  if (GetConsoleMode(handle_of(descriptor), &mode)) return read_console(handle_of(descriptor), to, most);
  return _read(descriptor, to, at_most(most));
}

std::ptrdiff_t write_some(int descriptor, const char* from, std::size_t most) {
  return _write(descriptor, from, at_most(most));
}

std::ptrdiff_t read_at(int descriptor, char* to, std::size_t most, std::int64_t offset) {
  return at_offset(ReadFile, descriptor, to, most, offset);
}

std::ptrdiff_t write_at(int descriptor, const char* from, std::size_t most, std::int64_t offset) {
  return at_offset(WriteFile, descriptor, from, most, offset);
}

bool sync_file(int descriptor) { return _commit(descriptor) == 0; }

int open_nameless(const fs::path&) { return -1; }

bool give_name(int, const fs::path&) { return failed(ERROR_NOT_SUPPORTED); }

bool rename_file(const fs::path& from, const fs::path& to) {
  constexpr DWORD kReplace = MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH;
  for (int i = 0; i < kTries; ++i) {
    if (MoveFileExW(from.c_str(), to.c_str(), kReplace)) return true;
    const DWORD error = GetLastError();
    if (error != ERROR_SHARING_VIOLATION && error != ERROR_LOCK_VIOLATION && error != ERROR_ACCESS_DENIED &&
        error != ERROR_USER_MAPPED_FILE)
      return failed(error);
    fs::path aside;
    if (path_exists(to) && move_aside(to, aside)) {
      if (MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_WRITE_THROUGH)) {
        DeleteFileW(aside.c_str());
        return true;
      }
      MoveFileExW(aside.c_str(), to.c_str(), 0);
    }
    Sleep(kBetweenTries);
  }
  return failed(ERROR_ACCESS_DENIED);
}

bool is_writable(const fs::path& file) { return _waccess(file.c_str(), 2) == 0; }

bool is_device(const fs::path& path) {
  wchar_t full[MAX_PATH] = L"";
  GetFullPathNameW(path.c_str(), MAX_PATH, full, nullptr);  // empty for a longer path: no device has such a name
  return std::wstring_view(full).starts_with(L"\\\\.\\");
}

// New files have the rights of their folder.
void copy_permissions(const fs::path&, int) {}

bool lock_file(int descriptor, bool shared) {
  OVERLAPPED behind_all{};  // what is locked cannot be read
  behind_all.OffsetHigh = 1U << 30;
  const DWORD flags = LOCKFILE_FAIL_IMMEDIATELY | (shared ? 0 : LOCKFILE_EXCLUSIVE_LOCK);
  return LockFileEx(handle_of(descriptor), flags, 0, 1, 0, &behind_all) || failed();
}

bool is_named(int descriptor, const fs::path& path) {
  const int named = open_file(path, Opening::read);
  BY_HANDLE_FILE_INFORMATION one{}, other{};
  const bool known = named >= 0 && GetFileInformationByHandle(handle_of(descriptor), &one) &&
                     GetFileInformationByHandle(handle_of(named), &other);
  if (named >= 0) _close(named);
  return known && one.nFileIndexLow == other.nFileIndexLow && one.nFileIndexHigh == other.nFileIndexHigh &&
         one.dwVolumeSerialNumber == other.dwVolumeSerialNumber;
}

fs::path temporary_folder() {
  const char* asked = std::getenv("TMPDIR");
  if (asked && *asked) return asked;
  std::error_code unknown;
  return fs::temp_directory_path(unknown);
}

std::optional<fs::path> new_temporary_folder() {
  const std::string begin = "headlight-" + std::to_string(process_number()) + "-";
  for (int i = 0; i < 1000; ++i) {
    const fs::path folder = temporary_folder() / (begin + std::to_string(i));
    if (CreateDirectoryW(folder.c_str(), nullptr)) return folder;
    if (GetLastError() != ERROR_ALREADY_EXISTS) break;
  }
  failed();
  return std::nullopt;
}

fs::path program_file() {
  std::wstring path(32768, L'\0');
  path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return path;
}

fs::path code_file() { return program_file(); }

fs::path user_folder(const char* variable, const char*) {
  for (const char* name : {variable, "LOCALAPPDATA"})
    if (const char* set = std::getenv(name); set && fs::path(set).is_absolute()) return fs::path(set) / "headlight";
  return fs::path(environment("HOME") ? environment("HOME") : "") / "headlight";
}

int process_number() { return static_cast<int>(GetCurrentProcessId()); }

bool is_running(int process) {
  const HANDLE opened = OpenProcess(SYNCHRONIZE, FALSE, static_cast<DWORD>(process));
  if (!opened) return GetLastError() == ERROR_ACCESS_DENIED;
  const bool runs = WaitForSingleObject(opened, 0) == WAIT_TIMEOUT;
  CloseHandle(opened);
  return runs;
}

bool system_speaks_chinese() { return PRIMARYLANGID(GetUserDefaultUILanguage()) == LANG_CHINESE; }
bool system_prefers_dark() {
  DWORD light = 1, size = sizeof(light);
  RegGetValueW(HKEY_CURRENT_USER, L"Software\\Microsoft\\Windows\\CurrentVersion\\Themes\\Personalize",
               L"AppsUseLightTheme", RRF_RT_REG_DWORD, nullptr, &light, &size);
  return light == 0;
}

const char* environment(const char* name) {
  return std::getenv(std::string_view(name) == "HOME" ? "USERPROFILE" : name);
}

double machine_memory() {
  MEMORYSTATUSEX memory{};
  memory.dwLength = sizeof memory;
  return GlobalMemoryStatusEx(&memory) ? static_cast<double>(memory.ullTotalPhys) : 0;
}

double most_memory_held() {
  PROCESS_MEMORY_COUNTERS counters{};
  return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)
             ? static_cast<double>(counters.PeakWorkingSetSize)
             : 0;
}

void begin_program() {
  SetConsoleOutputCP(CP_UTF8);
  for (const int stream : {0, 1, 2}) _setmode(stream, _O_BINARY);
  if (GetStdHandle(STD_ERROR_HANDLE) || GetConsoleWindow()) return;
  told = temporary_folder() / ("headlight-" + std::to_string(process_number()) + ".txt");
  if (!_wfreopen(told.c_str(), L"wb", stderr)) told.clear();
}

void begin_thread() {}
void remove_temporaries() {}
void name_work(std::string_view) {}

int end_program(int status) {
  if (told.empty()) return status;
  std::fclose(stderr);
  const auto text = read_file(told);
  DeleteFileW(told.c_str());
  if (status != 0 && text && !text->empty())
    MessageBoxW(nullptr, fs::path(*text).c_str(), L"Headlight", MB_OK | MB_ICONERROR);
  return status;
}

}  // namespace headlight

// libstdc++ takes the narrow characters that a path is made of for those of the C library's locale, which knows no
// UTF-8 here. The linker replaces the conversion by this (--wrap, in CMakeLists.txt); its way back is UTF-8.
std::codecvt_base::result from_utf8(
    const void*, std::mbstate_t&, const char* from, const char* from_end, const char*& from_next, wchar_t* to,
    wchar_t* to_end, wchar_t*& to_next) __asm__("__wrap__ZNKSt7codecvtIwciE5do_inERiPKcS3_RS3_PwS5_RS5_");

[[gnu::used]] std::codecvt_base::result from_utf8(const void*, std::mbstate_t&, const char* from, const char* from_end,
                                                  const char*& from_next, wchar_t* to, wchar_t* to_end,
                                                  wchar_t*& to_next) {
  from_next = from;
  to_next = to;
  if (from == from_end) return std::codecvt_base::ok;
  const int size = static_cast<int>(from_end - from);
  if (MultiByteToWideChar(CP_UTF8, 0, from, size, nullptr, 0) > to_end - to) return std::codecvt_base::partial;
  to_next = to + MultiByteToWideChar(CP_UTF8, 0, from, size, to, static_cast<int>(to_end - to));
  from_next = from_end;
  return std::codecvt_base::ok;
}

// Nor does it take \\server for the beginning of a path, and cuts it to \server, a folder of the drive (--wrap, too).
using Path = std::filesystem::path;
#define NAME_OF_ABSOLUTE "_ZNSt10filesystem8absoluteERKNS_7__cxx114pathERSt10error_code"
#define NAME_OF_NORMAL "_ZNKSt10filesystem7__cxx114path16lexically_normalEv"
Path its_absolute(const Path&, std::error_code&) __asm__("__real_" NAME_OF_ABSOLUTE);
Path its_normal(const Path&) __asm__("__real_" NAME_OF_NORMAL);
Path absolute(const Path&, std::error_code&) __asm__("__wrap_" NAME_OF_ABSOLUTE);
Path normal(const Path&) __asm__("__wrap_" NAME_OF_NORMAL);

static bool is_of_server(const Path& path) { return path.native().find_first_not_of(L"/\\") == 2; }
[[gnu::used]] Path absolute(const Path& path, std::error_code& error) {
  return is_of_server(path) ? (error.clear(), path) : its_absolute(path, error);
}
[[gnu::used]] Path normal(const Path& path) {
  return is_of_server(path) ? Path(L"\\" + its_normal(path).native()) : its_normal(path);
}
