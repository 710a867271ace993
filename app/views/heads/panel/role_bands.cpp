#include "views/heads/panel/stage_parts.h"

#include "gui/frame/draw.h"
#include "gui/frame/scene.h"

namespace headlight {
namespace {

float band_width(const Gui& gui) { return ImGui::GetFontSize() + 4 * gui.unit; }

std::vector<RoleRun> runs_of_rows(const AppState& state, const MapContent& content) {
  return role_runs(row_tokens(state, content), content.region.first_query, content.region.num_queries);
}

std::vector<RoleRun> runs_of_columns(const AppState& state, const MapContent& content) {
  return role_runs(column_tokens(state, content), content.region.first_key, content.region.num_keys);
}

}  // namespace

float band_room(const Gui& gui, const MapContent& content) {
  const bool none = runs_of_rows(gui.state, content).empty() && runs_of_columns(gui.state, content).empty();
  return none ? 0 : band_width(gui) + 4 * gui.unit;
}

void draw_role_bands(Gui& gui, const MapContent& content, const MapLayout& layout, const Box& area) {
  const TextWidth measure = window_measure(gui);
  const float out = band_width(gui) + 4 * gui.unit;
  Drawing scene;
  add_role_bands(scene, runs_of_rows(gui.state, content), runs_of_columns(gui.state, content), layout,
                 {area.x + out, area.y + out},
                 {.language = gui.state.settings.language,
                  .theme = gui.state.settings.theme,
                  .width = band_width(gui),
                  .out = out,
                  .size = map_style(gui, measure).em,
                  .pad = 2 * gui.unit,
                  .gap = gui.unit,
                  .corner = 2 * gui.unit},
                 measure);
  paint_scene(gui, scene, {});
  for (const Hit& hit : scene.hits) gui.name_box(hit.name, hit.box, BoxKind::label);
}

}  // namespace headlight
