#include "view/settings.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/folders.h"
#include "base/names.h"
#include "base/system.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"
#include "view/view_json.h"

namespace headlight {
namespace {

using nlohmann::json;

json window_json(const WindowSize& window) {
  return {{"width", window.width}, {"height", window.height}, {"maximised", window.maximised}};
}

void read_window(const JsonField& object, WindowSize& window) {
  const auto side = [&](const char* key, int& length, int least, int most) {
    if (const auto& value = object.at(key).value(); is_whole(value, least, static_cast<std::uint64_t>(most)))
      length = value.get<int>();
  };
  side("width", window.width, kLeastWindow.width, kMostWindow.width);
  side("height", window.height, kLeastWindow.height, kMostWindow.height);
  object.read("maximised", window.maximised);
}

}  // namespace

std::string_view name(ColourMap map) { return name_in(kColourNames, map); }

void remember(Settings& settings, const std::string& path) {
  std::erase(settings.recent, path);
  settings.recent.insert(settings.recent.begin(), path);
  if (settings.recent.size() > kMostRecent) settings.recent.resize(kMostRecent);
}

WindowSize remembered(const WindowSize& before, const WindowSize& now) {
  if (now.maximised) return {before.width, before.height, true};
  return {std::clamp(now.width, kLeastWindow.width, kMostWindow.width),
          std::clamp(now.height, kLeastWindow.height, kMostWindow.height), false};
}

Settings default_settings() {
  Settings settings;
  if (system_speaks_chinese()) settings.language = Language::zh;
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  if (!error) settings.folder = here.string();
  settings.layout.fold = {.special = true, .words = true};
  return settings;
}

std::string to_json(const Settings& settings) {
  json object{{"schema", "headlight.settings/1"},
              {"language", name_in(kLanguageNames, settings.language)},
              {"theme", name_in(kThemeNames, settings.theme)},
              {"ui_scale", settings.ui_scale},
              {"colours", name(settings.colours)},
              {"greeted", settings.greeted},
              {"motion", settings.motion},
              {"recent", settings.recent},
              {"window", window_json(settings.window)},
              {"layout", json::object()}};
  write_layout(settings.layout, object["layout"]);
  if (!settings.lessons_done.empty()) object["lessons_done"] = settings.lessons_done;
  if (!settings.lesson.name.empty()) object["lesson"] = lesson_mark_json(settings.lesson);
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Settings settings_from_json(const std::string& text) {
  Settings settings = default_settings();
  const auto parsed = parse_json("settings", text);
  if (!parsed || !parsed->is_object()) return settings;
  JsonProblems ignored;
  const JsonField object(*parsed, "", ignored);
  object.read_choice("language", settings.language, kLanguageNames);
  object.read_choice("theme", settings.theme, kThemeNames);
  object.read_choice("colours", settings.colours, kColourNames);
  object.read("greeted", settings.greeted);
  object.read("motion", settings.motion);
  object.read_within("ui_scale", settings.ui_scale, kLeastUiScale, kMostUiScale);
  for (const JsonField& path : object.at("recent").items())
    if (path.value().is_string() && settings.recent.size() < kMostRecent) settings.recent.push_back(path.text());
  read_window(object.at("window"), settings.window);
  if (const JsonField layout = object.at("layout"); layout.value().is_object()) {
    settings.layout = {};
    settings.layout.fold.special = true;  // in files from before this was stored
    read_layout(layout, settings.layout);
  }
  for (const auto& [lesson, steps] : object.at("lessons_done").fields())
    if (steps.value().is_number_unsigned()) settings.lessons_done[lesson] = steps.value().get<std::uint64_t>();
  settings.lesson = lesson_mark_from(object.at("lesson"));
  return settings;
}

std::string with_changes(const std::string& stored, const Settings& before, const Settings& now) {
  Settings merged = settings_from_json(stored);
  Settings recent = now;
  for (const std::string& path : merged.recent)
    if (recent.recent.size() < kMostRecent && std::ranges::find(now.recent, path) == now.recent.end())
      recent.recent.push_back(path);
  json object = json::parse(to_json(merged));
  const json was = json::parse(to_json(before)), is = json::parse(to_json(now));
  for (const auto& [key, value] : is.items())
    if (!was.contains(key) || was[key] != value) object[key] = value;
  for (const auto& [key, value] : was.items())
    if (!is.contains(key)) object.erase(key);
  if (is["recent"] != was["recent"]) object["recent"] = json::parse(to_json(recent))["recent"];
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::filesystem::path settings_path() { return config_folder() / "settings.json"; }
std::filesystem::path data_folder() { return user_folder("XDG_DATA_HOME", ".local/share"); }
std::filesystem::path trained_folder() { return data_folder() / "trained"; }
std::filesystem::path state_folder() { return user_folder("XDG_STATE_HOME", ".local/state"); }

float fitting_ui_scale(float width, float height) {
  const float scale = std::min(width / 2200, height / 1250);
  return std::clamp(std::floor(100 * scale) / 100, kLeastUiScale, kMostUiScale);
}

}  // namespace headlight
