#include "view/settings.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <nlohmann/json.hpp>

#include "base/names.h"
#include "document/user_folders.h"
#include "view/layout.h"

namespace headlight {
namespace {

using nlohmann::json;

/// Of ColourMap, in its order.
constexpr std::string_view kColourNames[kColourMaps] = {"teal", "viridis", "cividis", "grey"};

bool system_speaks_chinese() {
  for (const char* variable : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value && *value) return std::string_view(value).starts_with("zh");
  }
  return false;
}

json window_json(const WindowSize& window) {
  return {{"width", window.width}, {"height", window.height}, {"maximised", window.maximised}};
}

WindowSize window_from_json(const json& object) {
  WindowSize window;
  if (!object.is_object()) return window;
  const auto side = [&](const char* key, int& length, int least, int most) {
    const json value = object.value(key, json());
    if (value.is_number_integer() && value >= least && value <= most) length = value.get<int>();
  };
  side("width", window.width, kLeastWindow.width, kMostWindow.width);
  side("height", window.height, kLeastWindow.height, kMostWindow.height);
  window.maximised = object.value("maximised", json()) == true;
  return window;
}

}  // namespace

std::string_view name(ColourMap map) { return kColourNames[static_cast<std::size_t>(map)]; }

std::optional<ColourMap> parse_colour_map(std::string_view wanted) {
  return value_named<ColourMap>(kColourNames, wanted);
}

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
  settings.layout.fold.words = true;
  return settings;
}

std::string to_json(const Settings& settings) {
  json object{{"schema", "headlight.settings/1"},
              {"language", settings.language == Language::zh ? "zh" : "en"},
              {"theme", settings.theme == Theme::dark ? "dark" : "light"},
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
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return settings;
  const auto string_of = [&](const char* key) {
    const auto at = object.find(key);
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string{};
  };
  if (const auto language = string_of("language"); language == "zh") settings.language = Language::zh;
  else if (language == "en") settings.language = Language::en;
  if (string_of("theme") == "dark") settings.theme = Theme::dark;
  settings.colours = parse_colour_map(string_of("colours")).value_or(ColourMap::teal);
  settings.greeted = object.value("greeted", json()) == true;
  settings.motion = object.value("motion", json()) != false;
  if (const auto at = object.find("ui_scale"); at != object.end() && at->is_number())
    settings.ui_scale = std::clamp(at->get<float>(), kLeastUiScale, kMostUiScale);
  if (const auto at = object.find("recent"); at != object.end() && at->is_array())
    for (const auto& path : *at)
      if (path.is_string() && settings.recent.size() < kMostRecent) settings.recent.push_back(path.get<std::string>());
  settings.window = window_from_json(object.value("window", json()));
  if (const json layout = object.value("layout", json()); layout.is_object())
    settings.layout = layout_from_json(layout);
  if (const auto at = object.find("lessons_done"); at != object.end() && at->is_object())
    for (const auto& [lesson, steps] : at->items())
      if (steps.is_number_unsigned()) settings.lessons_done[lesson] = steps.get<std::uint64_t>();
  settings.lesson = lesson_mark_from_json(object.value("lesson", json()));
  return settings;
}

std::string with_changes(const std::string& stored, const Settings& before, const Settings& now) {
  Settings merged = settings_from_json(stored);
  Settings recent = now;
  for (const std::string& path : merged.recent)
    if (recent.recent.size() < kMostRecent && std::find(now.recent.begin(), now.recent.end(), path) == now.recent.end())
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

}  // namespace headlight
