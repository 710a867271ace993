#include "session/loop/recovery.h"

#include <algorithm>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "base/system.h"
#include "models/bundled_models.h"
#include "read/json/json_document.h"
#include "view/settings.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "autosave-", kSuffix = ".headlight.json";
constexpr const char* kLockEnding = ".lock";
/// How an autosave that cannot be read is called from then on.
constexpr std::string_view kUnreadable = "unreadable-";

/// The process that wrote an autosave, from its name; 0 for other files.
int owner(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return 0;
  return static_cast<int>(std::strtol(name.c_str() + kPrefix.size(), nullptr, 10));
}

fs::path lock_of(const fs::path& autosave) { return autosave.string() + kLockEnding; }

/// Whether the window of an autosave runs. Process numbers come again, so the lock decides where there is one; this
/// process has written nothing yet.
bool has_window(const fs::path& autosave, int process) {
  if (path_exists(lock_of(autosave))) return is_locked(lock_of(autosave));
  return process != process_number() && is_running(process);
}

/// Removes what programs that are gone had begun to write, and their locks that guard nothing.
void sweep(const fs::path& folder) {
  sweep_temporaries(folder);
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    fs::path guarded = path;
    guarded.replace_extension();
    std::error_code ignored;
    const bool is_lock = path.extension() == kLockEnding && owner(guarded) > 0;
    if (is_lock && !path_exists(guarded) && !is_locked(path)) fs::remove(path, ignored);
  }
}

/// The typed text of a session that cannot be opened (its model is gone), with the usual model.
std::optional<Session> text_of_session(const fs::path& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 28;
  const auto text = read_file(path, kMostBytes);
  const auto object = text ? parse_json(path.string(), *text) : ParsedJson(Result<nlohmann::json>(nlohmann::json()));
  const auto request = object && object->is_object() ? object->value("request", nlohmann::json()) : nlohmann::json();
  nlohmann::json kept = nlohmann::json::object();
  if (request.is_object())
    for (const char* key : {"text", "target"})
      if (const auto at = request.find(key); at != request.end() && at->is_string()) kept[key] = *at;
  if (kept.value("text", std::string()).empty()) return std::nullopt;
  kept["source"] = kDefaultModel;
  auto session = session_of_json(path.string(), {{"schema", "headlight.session/1"}, {"request", kept}}, unwatched());
  return session ? std::optional(*std::move(session)) : std::nullopt;
}

}  // namespace

fs::path autosave_path() {
  std::error_code error;
  fs::create_directories(state_folder(), error);
  fs::create_directories(settings_path().parent_path(), error);
  if (!is_folder(state_folder())) return {};
  for (const fs::path& folder : {state_folder(), settings_path().parent_path()}) sweep(folder);
  const std::string name = std::string(kPrefix) + std::to_string(process_number());
  fs::path path = state_folder() / (name + std::string(kSuffix));
  for (int used = 1; path_exists(path); ++used)  // by an earlier process of this number
    path = state_folder() / (name + "-" + std::to_string(used) + std::string(kSuffix));
  return path;
}

std::optional<FileLock> lock_autosave(const fs::path& path) {
  if (path.empty()) return std::nullopt;
  auto lock = FileLock::take(lock_of(path));
  return lock ? *std::move(lock) : std::nullopt;
}

std::vector<fs::path> left_sessions() {
  std::vector<std::pair<fs::file_time_type, fs::path>> left;
  std::error_code error;
  for (fs::directory_iterator at(state_folder(), error), end; !error && at != end; at.increment(error)) {
    const int process = owner(at->path());
    if (process <= 0 || has_window(at->path(), process)) continue;
    std::error_code gone;
    const auto time = at->last_write_time(gone);
    if (!gone) left.emplace_back(time, at->path());
  }
  std::ranges::sort(left, std::greater<>());
  std::vector<fs::path> paths;
  for (auto& [time, path] : left) paths.push_back(std::move(path));
  return paths;
}

Recovered recover_session(const fs::path& autosave) {
  Recovered recovered;
  for (const fs::path& left : left_sessions()) {
    if (is_of_newer_version(left, "headlight.session", 1)) {
      recovered.problems.push_back(bad_input(left.string(), "", "a session of this version",
                                             "one of a newer version, which is left there", ErrorCode::newer_session));
      continue;
    }
    auto session = read_session(left);
    std::error_code error;
    if (session) {
      fs::rename(left, autosave, error);
      if (left != autosave) fs::remove(lock_of(left), error);
      recovered.session = *std::move(session);
      return recovered;
    }
    const fs::path aside = left.parent_path() / (std::string(kUnreadable) + left.filename().string());
    fs::rename(left, aside, error);
    fs::remove(lock_of(left), error);
    recovered.problems.emplace_back(session.error().code, session.error().message() + "; it is now " + aside.string());
    recovered.session = text_of_session(aside);
    if (recovered.session) return recovered;
  }
  return recovered;
}

void forget_autosave(const fs::path& path) {
  if (path.empty()) return;
  std::error_code error;
  fs::remove(path, error);
  fs::remove(lock_of(path), error);
}

bool is_of_newer_version(const std::filesystem::path& path, std::string_view name, int version) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 28;
  const auto text = read_file(path, kMostBytes);
  const nlohmann::json object = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  const auto schema = object.is_object() ? object.find("schema") : object.end();
  if (!object.is_object() || schema == object.end() || !schema->is_string()) return false;
  const std::string& found = schema->get_ref<const std::string&>();
  if (!found.starts_with(name) || found.size() <= name.size() || found[name.size()] != '/') return false;
  return parse_number<int>(std::string_view(found).substr(name.size() + 1)).value_or(0) > version;
}

}  // namespace headlight
