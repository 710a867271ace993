// Where tooltips stand: near what they are about, off what is read beside them.
#include <algorithm>
#include <cmath>

#include "gui/frame/controls.h"
#include "gui/frame/draw.h"

namespace headlight {
namespace {

constexpr float kTipGap = 4;

bool lies_on(const Box& a, const Box& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

float apart(const Box& a, const Box& b) {
  return std::hypot(std::max({0.0f, b.x - a.right(), a.x - b.right()}),
                    std::max({0.0f, b.y - a.bottom(), a.y - b.bottom()}));
}

}  // namespace

std::optional<Box> tip_box(ImVec2 size, const Box& item, const std::vector<Box>& kept, ImVec2 window) {
  const float most_x = std::max(0.0f, window.x - size.x), most_y = std::max(0.0f, window.y - size.y);
  const Box around{item.x - kTipGap / 2, item.y - kTipGap / 2, item.w + kTipGap, item.h + kTipGap};
  std::vector<float> xs{item.x}, ys;
  const auto add_edges = [&](const Box& box) {
    xs.insert(xs.end(), {box.right() + kTipGap, box.x - size.x - kTipGap});
    ys.insert(ys.end(), {box.bottom() + kTipGap, box.y - size.y - kTipGap});
  };
  add_edges(item);
  for (const Box& box : kept) add_edges(box);
  ys.push_back(item.y);  // of places that are as near the one below comes first, then the one above
  std::optional<Box> best;
  for (const float y : ys)
    for (const float x : xs) {
      const Box box{std::clamp(std::round(x), 0.0f, most_x), std::clamp(std::round(y), 0.0f, most_y), size.x, size.y};
      const auto on = [&](const Box& other) { return lies_on(box, other); };
      if (on(around) || std::ranges::any_of(kept, on)) continue;
      if (!best || apart(box, item) < apart(*best, item)) best = box;
    }
  return best;
}

void show_tip(const Gui& gui, const std::string& text) {
  constexpr float kWidths[] = {420, 640, 900, 1300}, kLarge = 200, kPointer = 20, kMargin = 32;
  const std::string shown = gui.fonts.shown(text);
  const float unit = gui.unit;
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax(), mouse = ImGui::GetIO().MousePos,
               padding = ImGui::GetStyle().WindowPadding, window = ImGui::GetIO().DisplaySize;
  Box item{min.x, min.y, max.x - min.x, max.y - min.y};
  if (std::min(item.w, item.h) > kLarge * unit)
    item = {mouse.x - kPointer * unit / 2, mouse.y - kPointer * unit / 2, kPointer * unit, kPointer * unit};
  // Where a text has no room at its usual width it is wider, then in smaller letters; without such places it stands
  // beside the pointer.
  std::optional<Box> box;
  float wrap = kWidths[0] * unit;
  TextSize size = TextSize::body;
  for (const TextSize letters : {TextSize::body, TextSize::small})
    for (const float width : kWidths) {
      if (box || gui.kept_clear.empty()) break;
      const FontScope font(gui, letters);
      const float room = std::min(width * unit, window.x - kMargin * unit);
      const ImVec2 words = ImGui::CalcTextSize(shown.c_str(), nullptr, false, room);
      box = tip_box({words.x + 2 * padding.x, words.y + 2 * padding.y}, item, gui.kept_clear, window);
      if (box) wrap = room, size = letters;
    }
  if (box) ImGui::SetNextWindowPos(top_left(*box));
  const FontScope font(gui, size);
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(wrap + padding.x);  // from the left edge of the tooltip
  ImGui::TextUnformatted(shown.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

}  // namespace headlight
