#include "gui/shell/file_choices.h"

#include <cmath>
#include <filesystem>

#include "base/formatted.h"
#include "derived/answer_comparison.h"
#include "figure/labels.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/no_answer.h"
#include "session/shown.h"
#include "session/tool_state.h"
#include "words/compare_words.h"
#include "words/inside_words.h"
#include "words/text_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

/// A small word before a line of choices.
void dim_label(const Gui& gui, const Words& label) {
  ImGui::AlignTextToFramePadding();
  dim_text(gui, gui.word(label));
}

/// The format, which is the ending of the file's name.
void format_choices(Gui& gui, std::initializer_list<const char*> endings) {
  const std::filesystem::path name(gui.state.browser.name);
  dim_label(gui, kFileWords.format);
  for (const char* ending : endings) {
    same_line_if_room(button_width(ending + 1), ending == *endings.begin() ? 12 * gui.unit : 0);
    if (flat_button(gui, (std::string("format ") + ending).c_str(), ending + 1, name.extension() == ending))
      gui.push(NameFile{std::filesystem::path(name).replace_extension(ending).string()});
  }
}

/// Any width: taken when the field is left or Enter is pressed.
void width_box(Gui& gui) {
  const Browser& browser = gui.state.browser;
  int mm = static_cast<int>(std::lround(browser.width));
  const float wide = 56 * gui.unit;
  same_line_if_room(wide + 30 * gui.unit, 8 * gui.unit);
  ImGui::SetNextItemWidth(wide);
  ImGui::InputInt("##width", &mm, 0, 0);
  gui.name_item("figure width", BoxKind::field);
  if (ImGui::IsItemDeactivatedAfterEdit()) gui.push(ChooseFigure{browser.figure, static_cast<float>(mm), browser.dark});
  ImGui::SameLine(0, 4 * gui.unit);
  ImGui::AlignTextToFramePadding();
  dim_text(gui, gui.word(kFileWords.millimetres));
}

/// What of the answer the figure shows.
void kind_choices(Gui& gui) {
  const Browser& browser = gui.state.browser;
  bool first = true;
  const auto kind = [&](const char* name, const char* label, FigureKind one) {
    if (!first) same_line_if_room(button_width(label), 0);
    first = false;
    if (flat_button(gui, name, label, browser.figure == one)) gui.push(ChooseFigure{one, browser.width, browser.dark});
  };
  kind("figure grid", gui.word(kFileWords.figure_grid), FigureKind::grid);
  if (offers_sentence(gui.state)) kind("figure sentence", gui.word(kTextWords.sentence), FigureKind::sentence);
  kind("figure head", gui.word(kFileWords.figure_head), FigureKind::head);
  kind("figure text", gui.word(kTextWords.text), FigureKind::text);
  kind("figure flow", gui.word(kWindowWords.view_flow), FigureKind::flow);
  kind("figure layers", gui.word(kFileWords.figure_layers), FigureKind::layers);
  kind("figure steps", gui.word(kInsideWords.numbers), FigureKind::steps);
  kind("figure writers", gui.word(kInsideWords.why), FigureKind::writers);
  if (can_say_words(gui.state)) kind("figure lens", gui.word(kInsideWords.lens), FigureKind::lens);
  kind("figure diagram", gui.word(kInsideWords.way_of_data), FigureKind::diagram);
  if (gui.state.trace && exists(*gui.state.trace, gui.state.view.look.matrix)) {
    const std::string label =
        std::string(gui.word(kFileWords.figure_matrix)) + " " + gui.fonts.shown(symbol(gui.state.view.look.matrix));
    kind("figure matrix", label.c_str(), FigureKind::matrix);
  }
  if (compared_trace(gui.state)) {
    kind("figure compare", "A | B", FigureKind::compare);
    explain_item(gui, kCompareWords.tip_figure_compare);
    kind("figure changes", gui.word(kCompareWords.changes), FigureKind::changes);
    kind("figure patch", gui.word(kCompareWords.take_from_a), FigureKind::patch);
  }
}

}  // namespace

void figure_choices(Gui& gui) {
  const Browser& browser = gui.state.browser;
  const bool of_answer = !picture_of_tool(gui.state);
  if (of_answer) kind_choices(gui);
  const auto width = [&](const char* name, const Words& label, float mm) {
    same_line_if_room(button_width(gui.word(label)), mm == kColumnMm ? 12 * gui.unit : 0);
    if (flat_button(gui, name, gui.word(label), browser.width == mm))
      gui.push(ChooseFigure{browser.figure, mm, browser.dark});
  };
  dim_label(gui, kFileWords.width);
  width("figure column", kFileWords.column, kColumnMm);
  width("figure slide", kFileWords.slide, kSlideMm);
  width_box(gui);
  dim_label(gui, kFileWords.theme);
  const auto theme = [&](const char* name, const Words& label, std::optional<bool> dark) {
    same_line_if_room(button_width(gui.word(label)), dark ? 0 : 12 * gui.unit);
    if (flat_button(gui, name, gui.word(label), browser.dark == dark))
      gui.push(ChooseFigure{browser.figure, browser.width, dark});
  };
  theme("figure theme window", kFileWords.theme_of_window, std::nullopt);
  theme("figure theme light", kFileWords.light, false);
  theme("figure theme dark", kFileWords.dark, true);
  if (of_answer) format_choices(gui, {".pdf", ".svg", ".png", ".html"});
  else format_choices(gui, {".pdf", ".svg", ".png"});
}

void export_choices(Gui& gui) {
  const ExportPart part = gui.state.browser.part;
  if (flat_button(gui, "export all", gui.word(kFileWords.export_all), part == ExportPart::all))
    gui.push(ChooseExport{ExportPart::all});
  ImGui::SameLine(0, 0);
  const HeadRef& chosen = gui.state.view.chosen;
  const auto summed = reduced_by(shown_kind(gui.state, chosen.stack));  // then the map on the stage is a layer's
  const std::string head =
      std::string(gui.word(kFileWords.export_head)) + " · " +
      (summed ? layer_title(gui.state.settings.language, chosen.layer) + " · " + reduction_text({*summed, true})
              : head_words(gui, chosen));
  if (flat_button(gui, "export head", head.c_str(), part == ExportPart::head)) gui.push(ChooseExport{ExportPart::head});
  format_choices(gui, {".json", ".npz", ".safetensors", ".csv", ".py"});
  if (!gui.state.trace) return;
  std::string size = std::to_string(numbers_of_attention(gui.state)) + " " + gui.word(kFileWords.numbers_in_all);
  if (const FilePreview* known = known_preview(gui.state))
    size += " · " + (known->problem ? plain_line(gui, *known->problem) : bytes_in_words(known->picture.bytes));
  ImGui::AlignTextToFramePadding();
  dim_text(gui, gui.fonts.shown(size));
  gui.name_item("export size", BoxKind::label);
}

const FilePreview* known_preview(const AppState& state) {
  const auto question = file_question(state);
  return question && state.preview && state.preview->question == *question ? state.preview.get() : nullptr;
}

std::string bytes_in_words(std::size_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB"};
  double size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 999.5 && unit < 3; ++unit) size /= 1000;
  return formatted(unit > 0 && size < 9.95 ? "%.1f %s" : "%.0f %s", size, kUnits[unit]);
}

}  // namespace headlight
