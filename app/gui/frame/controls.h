// The controls that the panels at the left are made of: low, as wide as the panel, each with its name and its tooltip.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "gui/frame/draw.h"
#include "gui/frame/gui.h"

namespace headlight {

/// The heading of a group.
void section(Gui& gui, const Words& title);

/// A label on a line without its control, its value at the right; the control below is as wide as the panel.
void control_label(Gui& gui, const Words& string, const std::string& right = {});

/// The value of a slider: four digits.
std::string short_number(float value);

/// Sliders are low bars: their value stands beside the label.
class SlimScope {
 public:
  explicit SlimScope(const Gui& gui, float width = -1);
  ~SlimScope();
  SlimScope(const SlimScope&) = delete;
};

/// True while the value moves; the step of undo ends when the slider is let go.
bool slider(Gui& gui, const char* name, int& value, int least, int most, const Words& tip, float width = -1);
bool slider(Gui& gui, const char* name, float& value, float least, float most, const Words& tip, float width = -1);

bool checkbox(Gui& gui, const char* name, const Words& string, bool& value, const Words& tip);

/// A button as wide as the panel, or `less` narrower; true when pressed.
bool wide_button(Gui& gui, const char* name, const Words& string, const std::string& tip, bool on = false,
                 float less = 0);

/// A box of several lines, with `hint` in it while it is empty; true when it was edited.
bool lines_box(const Gui& gui, const char* label, const char* hint, std::string& text, ImVec2 size,
               ImGuiInputTextFlags flags, ImGuiInputTextCallback callback = nullptr, void* data = nullptr);

/// A box for a word of the answer; true when it changed. Escape leaves the box; what was typed stays.
bool word_box(Gui& gui, const char* name, const Words& hint, std::string& text, float width);

/// A choice among words of the interface, side by side; in a new line where they do not fit.
template <class Choice>
void choices(Gui& gui, const Words& title, const Words& tip, Choice now,
             std::initializer_list<std::pair<Choice, Words>> all, const std::function<void(Choice)>& choose) {
  control_label(gui, title);
  const float right = ImGui::GetWindowPos().x + ImGui::GetContentRegionMax().x;
  bool first = true;
  for (const auto& [choice, string] : all) {
    const float width = ImGui::CalcTextSize(gui.word(string)).x + 2 * ImGui::GetStyle().FramePadding.x;
    if (!first && ImGui::GetItemRectMax().x + width <= right) ImGui::SameLine(0, 0);
    first = false;
    const std::string name = std::string(words(Language::en, title)) + " " + words(Language::en, string);
    if (flat_button(gui, name.c_str(), gui.word(string), now == choice)) choose(choice);
    explain_item(gui, tip);
  }
}

/// The nearest place to an item for a box of this size inside the window that lies neither on the item nor on any of
/// `kept`; nothing where there is none.
std::optional<Box> tip_box(ImVec2 size, const Box& item, const std::vector<Box>& kept, ImVec2 window);
/// A tooltip about the last item, wrapped; of an item as large as a map, about the place under the pointer.
void show_tip(const Gui& gui, const std::string& text);

}  // namespace headlight
