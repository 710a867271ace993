#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <sstream>

#include "gui/actions/actions.h"
#include "gui/actions/question.h"
#include "gui/actions/window.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/looks.h"
#include "gui/shell/shell.h"
#include "lesson/lesson.h"
#include "models/model_choice.h"
#include "words/enum_words.h"
#include "words/grid_words.h"
#include "words/sentence_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

/// The box that finds; true where Enter was pressed in it.
bool query_box(Gui& gui, CommandPalette& palette) {
  std::string shown = gui.fonts.edited(palette.query);
  ImGui::SetNextItemWidth(-1);
  if (!ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();  // an entry that is pressed keeps the pointer
  const bool entered =
      ImGui::InputTextWithHint("##query", gui.word(kPaletteWords.hint), &shown, ImGuiInputTextFlags_EnterReturnsTrue);
  gui.name_item("palette query", BoxKind::field);
  if (std::string typed = gui.fonts.typed(shown); typed != palette.query) palette = {std::move(typed), 0};
  return entered;
}

/// One entry: its name, and its keys at the right.
bool entry(Gui& gui, const PaletteEntry& action, std::size_t number, bool chosen) {
  ImGui::PushID(static_cast<int>(number));
  const bool pressed = plain_selectable(gui.fonts.shown(action.title), chosen);
  ImGui::PopID();
  gui.name_item("action " + std::to_string(number));
  const float width = ImGui::CalcTextSize(action.keys.c_str()).x;
  if (width > 0) {
    ImGui::SameLine(ImGui::GetWindowContentRegionMax().x - width);
    coloured_text(gui.colours().dim, action.keys);
  }
  return pressed;
}

class List {
 public:
  explicit List(const Gui& gui) : gui_(gui) {}

  void add(const Action& action) {
    entries_.push_back({gui_.word(action.name), words(other_language(), action.name), keys_of(action.id),
                        [&action](Gui& gui) { perform(gui, action); }});
  }
  /// An action on `object`, which is found by `other` as well.
  void add(const Words& name, const std::string& object, const std::string& other, std::function<void(Gui&)> run,
           const std::string& keys = {}) {
    entries_.push_back({filled(gui_.word(kPaletteWords.named), {gui_.word(name), object}),
                        words(other_language(), name) + std::string(" ") + other, keys, std::move(run)});
  }
  void add(const Words& name, const Words& object, std::function<void(Gui&)> run, const std::string& keys = {}) {
    add(name, gui_.word(object), std::string(object.en) + " " + object.zh, std::move(run), keys);
  }

  std::vector<PaletteEntry> take() { return std::move(entries_); }

 private:
  Language other_language() const { return gui_.chinese() ? Language::en : Language::zh; }

  const Gui& gui_;
  std::vector<PaletteEntry> entries_;
};

/// False for actions that make sense only as keys: they act on what is under the pointer or in front.
bool is_listed(const Action& action) {
  return action.run && action.id != Act::leave && action.id != Act::pin_hovered && action.id != Act::open_palette;
}

void add_files(List& list, const Gui& gui) {
  for (const std::string& path : gui.state.settings.recent)
    list.add(kPaletteWords.open_recent, path, "", [path](Gui& g) { g.push(OpenPath{path}); });
  for (std::size_t i = 0; i < gui.samples.size(); ++i) {
    const Sample& sample = gui.samples[i];
    std::string text = sample.text;
    std::replace(text.begin(), text.end(), '\n', '/');
    list.add(
        kPaletteWords.take_sample, text, sample.note_en + " " + sample.note_zh,
        [sample](Gui& g) { take_sample(g, sample); }, i < kSampleKeys ? chord_text(sample_chord(i)) : "");
  }
  if (!gui.state.shipped) return;
  const auto add_model = [&](const std::string& source) {
    list.add(kPaletteWords.take_model, source.substr(kShipped.size()), source,
             [source](Gui& g) { g.push(OpenPath{source}); });
  };
  for (const BundledModel& model : *gui.state.shipped) add_model(model.source);
  if (gui.state.shipped->empty()) return;
  add_model(std::string(kAnySentence));
  add_model(std::string(kShapes));
}

void add_lessons(List& list, const Gui& gui) {
  if (!gui.state.lessons) return;
  for (std::size_t i = 0; i < gui.state.lessons->size(); ++i) {
    const Said& title = (*gui.state.lessons)[i].title;
    list.add(
        kPaletteWords.begin_lesson, title.in(gui.state.settings.language), title.en + " " + title.zh,
        [i](Gui& g) { g.push(OpenLesson{i}); }, keys_of(Act::choose_lesson));
  }
}

void add_looks(List& list, const Gui& gui) {
  for (const HeadOrder& order : head_orders()) {
    list.add(
        kPaletteWords.order_heads, order_words(order).name, [order](Gui& g) { g.push(OrderHeads{order}); },
        keys_of(Act::next_order));
  }
  if (const Tokens* tokens = shown_tokens(gui.state); tokens && second_sentence(*tokens) > 0)
    for (int i = 0; i < kPairParts; ++i) {
      FoldChoice fold = gui.state.view.fold;
      fold.pair = static_cast<PairPart>(i);
      list.add(
          kPairWords.show_pair_part, pair_words(fold.pair).name, [fold](Gui& g) { g.push(SetFold{fold}); },
          keys_of(Act::next_pair_part));
    }
  for (int map = 0; map < kColourMaps; ++map)
    list.add(kPaletteWords.choose_colours, kGridWords.colour_words[map],
             [map](Gui& g) { choose_colours(g, static_cast<ColourMap>(map)); });
}

/// Letters of the Latin alphabet in one case; others have none that matters.
std::string in_one_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

void palette_panel(Gui& gui) {
  if (!gui.state.view.palette) return;
  CommandPalette palette = *gui.state.view.palette;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const ImVec2 size{std::min(620 * gui.unit, display.x * 0.9f), std::min(460 * gui.unit, display.y * 0.8f)};
  ImGui::SetNextWindowPos({(display.x - size.x) / 2, std::min(72 * gui.unit, (display.y - size.y) / 2)});
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, gui.colours().panel);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2{16 * gui.unit, 14 * gui.unit});
  ImGui::Begin("palette", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
  const bool closes = key_pressed(Key::escape, false);
  const bool entered = query_box(gui, palette);

  const std::vector<PaletteEntry> found = found_entries(gui, palette.query);
  const std::size_t before = palette.chosen;
  if (key_pressed(Key::down) && palette.chosen + 1 < found.size()) ++palette.chosen;
  if (key_pressed(Key::up) && palette.chosen > 0) --palette.chosen;
  palette.chosen = found.empty() ? 0 : std::min(palette.chosen, found.size() - 1);

  ImGui::BeginChild("actions");
  if (found.empty()) dim_text(gui, gui.word(kPaletteWords.nothing_found));
  std::optional<std::size_t> run;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (entry(gui, found[i], i, i == palette.chosen)) run = i;
    if (i == palette.chosen && palette.chosen != before) ImGui::SetScrollHereY();
  }
  ImGui::EndChild();
  const bool outside =
      ImGui::IsMouseClicked(0) &&
      !ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows | ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  end_dialog();
  if (entered && !found.empty()) run = palette.chosen;
  if (run || closes || (outside && !ImGui::IsWindowAppearing())) gui.push(ShowPalette{});
  else if (!(palette == *gui.state.view.palette)) gui.push(ShowPalette{std::move(palette)});
  if (run) found[*run].run(gui);
}

std::vector<PaletteEntry> palette_entries(const Gui& gui) {
  List list(gui);
  for (const Action& action : all_actions())
    if (is_listed(action) && is_possible(gui, action)) list.add(action);
  add_files(list, gui);
  add_lessons(list, gui);
  add_looks(list, gui);
  return list.take();
}

std::vector<PaletteEntry> found_entries(const Gui& gui, const std::string& query) {
  const auto has_all = [words = in_one_case(query)](const std::string& where) {
    const std::string text = in_one_case(where);
    std::istringstream stream(words);
    for (std::string word; stream >> word;)
      if (text.find(word) == std::string::npos) return false;
    return true;
  };
  std::vector<PaletteEntry> found = palette_entries(gui);
  std::erase_if(found, [&](const PaletteEntry& one) { return !has_all(one.title + " " + one.other + " " + one.keys); });
  std::stable_partition(found.begin(), found.end(), [&](const PaletteEntry& one) { return has_all(one.title); });
  return found;
}

}  // namespace headlight
