// Settings of the user: language, theme, size, recent files. Stored between starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "base/result.h"
#include "view/view_state.h"

namespace headlight {

enum class Theme { light, dark };
/// The colours of weights (figure/drawing/colour.h).
/// `heads` is chosen by no setting: its colours are those of heads, in shades
/// (figure/drawing/colour.h).
enum class ColourMap { teal, viridis, cividis, grey, heads };
/// In the order of the enumerations, for files and options.
inline constexpr std::string_view kLanguageNames[] = {"en", "zh"}, kThemeNames[] = {"light", "dark"};
inline constexpr std::string_view kColourNames[] = {"teal", "viridis", "cividis", "grey"};
inline constexpr int kColourMaps = std::size(kColourNames), kAllColourMaps = kColourMaps + 1;
std::string_view name(ColourMap map);

/// How large the window is, at a scale of 100 %; while it is maximised, how large it was before.
struct WindowSize {
  int width = 1400, height = 900;
  bool maximised = false;
  friend bool operator==(const WindowSize&, const WindowSize&) = default;
};
inline constexpr WindowSize kLeastWindow{960, 600}, kMostWindow{16384, 16384};

struct Settings {
  Language language = Language::en;
  Theme theme = Theme::light;
  float ui_scale = 1;                   // 1 … 2, multiplies the display's scale
  std::vector<std::string> recent;      // sessions and files, newest first
  std::string folder = "/";             // where the file browser begins
  bool greeted = false;                 // the first words about the window were read
  ColourMap colours = ColourMap::teal;  // of the weights
  bool motion = true;                   // maps fade from the old answer to the new one
  WindowSize window;
  Layout layout;                                      // of the window before; what is looked at now is in ViewState
  LessonMark lesson;                                  // … and the lesson that was read in it
  std::map<std::string, std::uint64_t> lessons_done;  // by the lesson's name: bit i is step i, whose attempt was done

  friend bool operator==(const Settings&, const Settings&) = default;
};

inline constexpr float kLeastUiScale = 1, kMostUiScale = 2;
inline constexpr std::size_t kMostRecent = 8;

/// Puts `path` first among the recent files.
void remember(Settings& settings, const std::string& path);

/// The size to store of a window that is `now` so large: a maximised window keeps the size that it goes back to. Each
/// size stays within its limits.
WindowSize remembered(const WindowSize& before, const WindowSize& now);

/// The settings of the first start: the system's language.
Settings default_settings();

std::string to_json(const Settings& settings);
/// Unknown fields are ignored and bad ones take their default: settings never keep the program from starting.
Settings settings_from_json(const std::string& text);

/// The text of `stored` with what changed from `before` to `now`, so that neither of two windows reverts a
/// setting of the other. Recent files are those of `now`, then those of `stored`.
std::string with_changes(const std::string& stored, const Settings& before, const Settings& now);

/// $XDG_CONFIG_HOME/headlight/settings.json, $XDG_STATE_HOME/headlight, $XDG_DATA_HOME/headlight and its `trained`, or
/// their usual folders under $HOME.
std::filesystem::path settings_path();
std::filesystem::path state_folder();
std::filesystem::path data_folder();
std::filesystem::path trained_folder();

/// The scale of a window: 100 % at 2200 × 1250 pixels, in a larger window larger, from kLeastUiScale to kMostUiScale in
/// steps of 1 %: larger steps would make the maps smaller in a window that is a pixel larger. In a window of that shape
/// the maps' room is as wide as it is high, so that neither side loses by the other's growth. Pixels are those at the
/// display's scale.
float fitting_ui_scale(float width, float height);

}  // namespace headlight
