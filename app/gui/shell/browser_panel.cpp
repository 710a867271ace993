#include <imgui.h>
#include <imgui_stdlib.h>

#include <cmath>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>

#include "gui/actions/tool_window.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/looks.h"
#include "gui/shell/file_choices.h"
#include "gui/shell/shell.h"
#include "paper/figure_file.h"
#include "read/external/page_text.h"
#include "words/compare_words.h"
#include "words/figure_words.h"
#include "words/window_words.h"
#include "write/export.h"

namespace headlight {
namespace {

/// The file or folder that is named; a session is given its ending.
std::string target(const Browser& browser) {
  const auto path = std::filesystem::path(browser.folder) / browser.name;  // a whole path in the name wins
  std::error_code ignored;
  const bool ends = browser.purpose != Browser::Purpose::save || browser.name.ends_with(".headlight.json");
  return path.string() + (ends || std::filesystem::is_directory(path, ignored) ? "" : ".headlight.json");
}

/// The folder's path without `..` and without a slash at its end.
std::string plain_folder(const std::string& path) {
  const auto normal = std::filesystem::path(path).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).string();
}

/// Whether the name can be acted upon: an export's ending names its format.
bool is_possible(const Browser& browser) {
  if (browser.name.empty()) return false;
  std::error_code ignored;
  if (std::filesystem::is_directory(target(browser), ignored)) return true;
  if (browser.purpose == Browser::Purpose::figure) return names_page(browser.name) || figure_format(browser.name);
  return browser.purpose != Browser::Purpose::export_to || format_of(browser.name);
}

/// Opens, saves or exports what is named; a named folder is entered instead.
void act(Gui& gui, const Browser& browser) {
  if (!is_possible(browser)) return;
  const std::string path = target(browser);
  std::error_code ignored;
  const bool model = browser.purpose == Browser::Purpose::open &&
                     std::filesystem::is_regular_file(std::filesystem::path(path) / "config.json", ignored);
  if (!model && std::filesystem::is_directory(path, ignored)) {
    gui.push(Browse{browser.purpose, plain_folder(path)});
    gui.push(NameFile{});
    return;
  }
  switch (browser.purpose) {
    case Browser::Purpose::open: gui.push(OpenPath{path, browser.as_a}); break;
    case Browser::Purpose::save: gui.push(SaveSession{path}); break;
    case Browser::Purpose::export_to: gui.push(ExportTo{path}); break;
    case Browser::Purpose::figure: gui.push(FigureTo{path}); break;
    case Browser::Purpose::corpus:
      if (const auto train_on = of_tools(&ToolWindow::train_on)) gui.commands.push_back(train_on(path));
      break;
    case Browser::Purpose::none: break;
  }
}

void name_box(Gui& gui, float width) {
  std::string name = gui.fonts.edited(gui.state.browser.name);
  ImGui::SetNextItemWidth(width);
  // A folder that was entered, or a list that was clicked, leaves the keyboard here.
  if (ImGui::IsWindowAppearing() || (gui.state.view.focus.item == 0 && !ImGui::IsAnyItemActive()))
    ImGui::SetKeyboardFocusHere();
  const bool entered = ImGui::InputText("##name", &name, ImGuiInputTextFlags_EnterReturnsTrue);
  gui.name_item("file name", BoxKind::field);
  Browser named = gui.state.browser;
  named.name = gui.fonts.typed(name);
  if (named.name != gui.state.browser.name) gui.push(NameFile{named.name});
  if (entered) act(gui, named);  // with the last keys, which the state does not have yet
  // The field would swallow the key that closes the browser.
  if (ImGui::IsItemDeactivated() && key_pressed(Key::escape, false)) gui.push(Browse{});
}

/// The kind of an entry, in the window's language.
std::string kind_in_words(const Gui& gui, const std::string& what) {
  const std::pair<std::string_view, const Words*> kinds[] = {
      {"session", &kFileWords.session}, {"lesson", &kFileWords.lesson},   {"page", &kFileWords.page},
      {"tensors", &kFileWords.tensors}, {"picture", &kFileWords.picture}, {"mask", &kFileWords.mask},
      {"text", &kFileWords.text},       {"study", &kFileWords.study}};
  for (const auto& [kind, words] : kinds)
    if (what == kind) return gui.word(*words);
  return what;
}

/// A line of a list: what it is called, and at the right what it is.
bool list_line(Gui& gui, const std::string& label, const std::string& what, bool chosen, ImU32 ink) {
  ImGui::PushStyleColor(ImGuiCol_Text, ink);
  const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
  const bool pressed = plain_selectable(gui.fonts.shown(label), chosen, ImGuiSelectableFlags_AllowDoubleClick);
  ImGui::PopStyleColor();
  const ImVec2 at = ImGui::GetItemRectMin();
  const FontScope small(gui, TextSize::small);
  const float width = ImGui::CalcTextSize(what.c_str()).x;
  ImGui::GetWindowDrawList()->AddText({right - width - 4 * gui.unit, at.y + 2 * gui.unit}, gui.colours().dim,
                                      what.c_str());
  return pressed;
}

/// An entry of the folder, which opens or is named when it is chosen.
void entry_line(Gui& gui, std::size_t i) {
  const Browser& browser = gui.state.browser;
  const bool opening = browser.purpose == Browser::Purpose::open;
  const std::filesystem::path folder(browser.folder);
  const auto& entry = browser.entries[i];
  const bool model = opening && entry.folder && entry.opens;
  ImGui::PushID(static_cast<int>(i));
  const ImU32 ink = opening || entry.folder ? gui.colours().text : gui.colours().dim;
  const std::string what = entry.folder && !entry.opens ? gui.word(kFileWords.folder) : kind_in_words(gui, entry.what);
  if (list_line(gui, entry.name + (entry.folder && !model ? "/" : ""), what, entry.name == browser.name, ink)) {
    if (model) gui.push(OpenPath{(folder / entry.name).string(), browser.as_a});
    else if (entry.folder) gui.push(Browse{browser.purpose, (folder / entry.name).string()});
    else if (ImGui::IsMouseDoubleClicked(0)) act(gui, browser);
    else gui.push(NameFile{entry.name});
  }
  gui.name_item("entry " + entry.name);
  ImGui::PopID();
}

void entry_list(Gui& gui) {
  const Browser& browser = gui.state.browser;
  const bool opening = browser.purpose == Browser::Purpose::open;
  const std::filesystem::path folder(browser.folder);
  if (folder.has_parent_path() && folder.parent_path() != folder) {
    const std::string up = std::string(".. ") + gui.word(kFileWords.folder_up);
    if (ImGui::Selectable(up.c_str())) gui.push(Browse{browser.purpose, folder.parent_path().string()});
    gui.name_item("folder up");
  }
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < browser.entries.size(); ++i)
    if (!opening || browser.entries[i].folder || browser.entries[i].opens) shown.push_back(i);
  // Of a folder of a hundred thousand files only the lines are laid out that are seen.
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(shown.size()));
  while (clipper.Step())
    for (int line = clipper.DisplayStart; line < clipper.DisplayEnd; ++line)
      entry_line(gui, shown[static_cast<std::size_t>(line)]);
  if (opening && shown.empty()) wrapped_dim(gui, gui.word(kFileWords.nothing_opens));
}

const Words& kind_of_model(Arch arch) {
  return arch == Arch::encoder   ? kFileWords.encoder
         : arch == Arch::decoder ? kFileWords.decoder
                                 : kFileWords.translator;
}

/// A line that opens a path.
void path_line(Gui& gui, const std::string& name, const std::string& label, const std::string& what,
               const std::string& path) {
  ImGui::PushID(name.c_str());
  if (list_line(gui, label, what, gui.state.document.model_path == path, gui.colours().text))
    gui.push(OpenPath{path, gui.state.browser.as_a});
  ImGui::PopID();
  gui.name_item(name);
}

void shipped_list(Gui& gui) {
  if (!gui.state.shipped) return dim_text(gui, gui.word(kFileWords.none_here));
  for (const BundledModel& model : *gui.state.shipped) {
    const Config& config = model.model->config;
    const std::string size = std::to_string(config.num_layers) + "×" + std::to_string(config.num_heads) + ", d_model " +
                             std::to_string(config.d_model);
    path_line(gui, "shipped " + model.source, model.source.substr(kShipped.size()),
              std::string(gui.word(kind_of_model(config.arch))) + ", " + size, model.source);
  }
  const std::string shapes(kShapes);
  path_line(gui, "shipped " + shapes, shapes.substr(kShipped.size()), gui.word(kFigureWords.shapes_model), shapes);
}

void recent_list(Gui& gui) {
  if (gui.state.settings.recent.empty()) return dim_text(gui, gui.word(kFileWords.none_here));
  for (std::size_t i = 0; i < gui.state.settings.recent.size(); ++i)
    path_line(gui, "recent " + std::to_string(i), gui.state.settings.recent[i], "", gui.state.settings.recent[i]);
}

void kept_list(Gui& gui) {
  const auto kept = of_tools(&ToolWindow::kept);
  const std::vector<KeptPath> paths = kept ? kept(gui) : std::vector<KeptPath>{};
  if (paths.empty()) return dim_text(gui, gui.word(kFileWords.none_here));
  for (const KeptPath& one : paths) path_line(gui, "trained " + one.name, one.name, one.what, one.path);
}

void disk_list(Gui& gui) {
  const auto& models = gui.state.browser.models;
  if (!models || models->empty()) return dim_text(gui, gui.word(models ? kFileWords.none_here : kFileWords.looking));
  for (const Browser::Entry& model : *models) path_line(gui, "disk " + model.name, model.name, model.what, model.name);
}

/// The sources of things to open, such as shipped models or a folder: each source has a separate list.
void lists_column(Gui& gui) {
  using List = Browser::List;
  const std::tuple<List, const char*, const Words*> lists[] = {{List::shipped, "place shipped", &kFileWords.shipped},
                                                               {List::recent, "place recent", &kFileWords.recent},
                                                               {List::trained, "place trained", &kFileWords.trained},
                                                               {List::disk, "place disk", &kFileWords.on_disk},
                                                               {List::folders, "place folders", &kFileWords.folders}};
  for (const auto& [list, name, words] : lists) {
    if (list == List::trained && !of_tools(&ToolWindow::kept)) continue;
    if (plain_selectable(gui.word(*words), gui.state.browser.list == list)) gui.push(ChooseList{list});
    gui.name_item(name);
  }
}

void chosen_list(Gui& gui) {
  if (gui.state.browser.purpose != Browser::Purpose::open) return entry_list(gui);
  switch (gui.state.browser.list) {
    case Browser::List::shipped: return shipped_list(gui);
    case Browser::List::recent: return recent_list(gui);
    case Browser::List::trained: return kept_list(gui);
    case Browser::List::disk: return disk_list(gui);
    case Browser::List::folders: return entry_list(gui);
  }
}

void lists(Gui& gui, float height) {
  if (gui.state.browser.purpose == Browser::Purpose::open) {
    ImGui::BeginChild("places", {150 * gui.unit, height}, false);
    lists_column(gui);
    ImGui::EndChild();
    ImGui::SameLine(0, 12 * gui.unit);
  }
  ImGui::BeginChild("entries", {0, height}, false);
  chosen_list(gui);
  ImGui::EndChild();
}

const Words& action_word(const Browser& browser) {
  if (browser.purpose == Browser::Purpose::open) return kFileWords.do_open;
  if (browser.purpose == Browser::Purpose::corpus) return kFileWords.do_train_on;
  std::error_code ignored;
  if (!browser.name.empty() && std::filesystem::is_regular_file(target(browser), ignored)) return kFileWords.do_replace;
  return browser.purpose == Browser::Purpose::save ? kFileWords.do_save : kFileWords.do_export;
}

const Words& heading(const Browser& browser) {
  const Browser::Purpose purpose = browser.purpose;
  if (purpose == Browser::Purpose::open) return browser.as_a ? kCompareWords.open_as_a : kWindowWords.open;
  if (purpose == Browser::Purpose::figure) return kWindowWords.figure;
  if (purpose == Browser::Purpose::corpus) return kFileWords.corpus_text;
  return purpose == Browser::Purpose::save ? kWindowWords.save_as : kWindowWords.export_numbers;
}

}  // namespace

void browser_panel(Gui& gui) {
  const Browser& browser = gui.state.browser;
  if (browser.purpose == Browser::Purpose::none) return;
  const bool drawing = browser.purpose == Browser::Purpose::figure;
  begin_dialog(gui, "browser", heading(browser), drawing ? 1080 : 760, drawing ? 640 : 560);
  // On the colour of the panel the usual ground of a chosen line is not seen.
  ImGui::PushStyleColor(ImGuiCol_Header, gui.colours().selected);
  const ImVec2 room = ImGui::GetContentRegionAvail(), corner = ImGui::GetCursorScreenPos();
  // What is drawn stands beside its choices where there is room for both.
  const bool previews = drawing && room.x > 640 * gui.unit;
  const float left = previews ? std::round(0.52f * room.x) : room.x;
  if (previews) {
    const float x = corner.x + left + 20 * gui.unit;
    figure_preview(gui, {x, corner.y, corner.x + room.x - x, room.y});
    ImGui::SetCursorScreenPos(corner);
  }
  ImGui::BeginChild("write", {left, 0});
  dim_text(gui, gui.fonts.shown(browser.folder));
  const float line = ImGui::GetFrameHeightWithSpacing();
  const bool exporting = browser.purpose == Browser::Purpose::export_to || drawing;
  if (drawing) figure_choices(gui);
  else if (exporting) export_choices(gui);
  lists(gui, ImGui::GetContentRegionAvail().y - line * (exporting ? 2.9f : 2.1f));
  if (exporting) dim_text(gui, gui.word(drawing ? kFileWords.figure_format : kFileWords.unknown_format));
  name_box(gui, -1);
  ImGui::BeginDisabled(!is_possible(browser));
  if (primary_button(gui, "file action", gui.word(action_word(browser)))) act(gui, browser);
  ImGui::EndDisabled();
  ImGui::SameLine();
  if (flat_button(gui, "close browser", gui.word(kWindowWords.close))) gui.push(Browse{});
  ImGui::EndChild();
  ImGui::PopStyleColor();
  end_dialog();
}

}  // namespace headlight
