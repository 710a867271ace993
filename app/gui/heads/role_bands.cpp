#include "gui/heads/role_bands.h"

#include <algorithm>

#include "base/names.h"
#include "base/utf8.h"
#include "gui/frame/draw.h"
#include "words/sentence_words.h"

namespace headlight {
namespace {

float band_width(const Gui& gui) { return ImGui::GetFontSize() + 4 * gui.unit; }

std::vector<RoleRun> runs_of_rows(const AppState& state, const MapContent& content) {
  return role_runs(row_tokens(state, content), content.region.first_query, content.region.num_queries);
}

std::vector<RoleRun> runs_of_columns(const AppState& state, const MapContent& content) {
  return role_runs(column_tokens(state, content), content.region.first_key, content.region.num_keys);
}

/// The role's name, or its first letter, whichever has room; empty where neither has.
std::string fitting_name(const Gui& gui, ChatRole role, float room, bool upright) {
  const auto length = [&](const char* name) {
    return upright && gui.chinese() ? ImGui::GetFontSize() * static_cast<float>(code_points(name).size())
                                    : ImGui::CalcTextSize(name).x;
  };
  for (const Words* words : {&role_words(role), &short_role_words(role)})
    if (length(gui.word(*words)) + 2 * gui.unit <= room) return gui.word(*words);
  return {};
}

void band(Gui& gui, ImDrawList& list, const char* axis, const RoleRun& run, const Box& box, bool upright) {
  const Rgb colour = role_colour(gui.state.settings.theme, run.role);
  list.AddRectFilled(top_left(box), bottom_right(box), to_imgui(colour), 2 * gui.unit);
  gui.name_box(std::string(axis) + " " + std::string(name_in(kChatRoles, run.role)) + " " + std::to_string(run.first),
               box, BoxKind::label);
  const std::string name = fitting_name(gui, run.role, upright ? box.h : box.w, upright);
  if (name.empty()) return;
  const ImU32 ink = to_imgui(text_on(colour));
  const float text = ImGui::GetFontSize(), width = ImGui::CalcTextSize(name.c_str()).x;
  const float x = box.x + box.w / 2, y = box.y + box.h / 2;
  if (!upright) list.AddText({std::round(x - width / 2), std::round(y - text / 2)}, ink, name.c_str());
  else if (gui.chinese())
    draw_stacked(list, x, std::round(y + text * static_cast<float>(code_points(name).size()) / 2), ink, name);
  else draw_rotated(list, x, std::round(y + width / 2), ink, name);
}

}  // namespace

float band_room(const Gui& gui, const MapContent& content) {
  const bool none = runs_of_rows(gui.state, content).empty() && runs_of_columns(gui.state, content).empty();
  return none ? 0 : band_width(gui) + 4 * gui.unit;
}

void draw_role_bands(Gui& gui, ImDrawList& list, const MapContent& content, const MapLayout& layout, const Box& area) {
  const float width = band_width(gui), gap = std::min(gui.unit, layout.cell / 4);
  const auto offset = [&](const RoleRun& run) { return static_cast<float>(run.first) * layout.cell + gap / 2; };
  const auto length = [&](const RoleRun& run) { return static_cast<float>(run.count) * layout.cell - gap; };
  for (const RoleRun& run : runs_of_rows(gui.state, content))
    band(gui, list, "rows", run, {area.x, layout.plot.y + offset(run), width, length(run)}, true);
  for (const RoleRun& run : runs_of_columns(gui.state, content))
    band(gui, list, "columns", run, {layout.plot.x + offset(run), area.y, length(run), width}, false);
}

}  // namespace headlight
