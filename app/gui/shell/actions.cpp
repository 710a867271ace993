#include "gui/shell/actions.h"

#include <algorithm>
#include <sstream>

#include "gui/frame/scope.h"
#include "gui/heads/heads.h"
#include "gui/lesson/lesson_panel.h"
#include "gui/question/question.h"
#include "lesson/lesson.h"
#include "session/head_grid.h"
#include "words/action_words.h"
#include "words/compare_words.h"
#include "words/grid_words.h"
#include "words/head_words.h"
#include "words/lesson_words.h"
#include "words/map_words.h"
#include "words/pair_words.h"

namespace headlight {
namespace {

class List {
 public:
  explicit List(const Gui& gui) : gui_(gui) {}

  void add(const Words& words, const char* keys, std::function<void(Gui&)> run) {
    const Language other = gui_.chinese() ? Language::en : Language::zh;
    actions_.push_back({gui_.word(words), headlight::words(other, words), keys, std::move(run)});
  }
  /// With what it acts on behind its name.
  void add(const Words& words, const std::string& object, const std::string& other, const char* keys,
           std::function<void(Gui&)> run) {
    add(words, keys, std::move(run));
    actions_.back().title += (gui_.chinese() ? "：" : ": ") + object;
    actions_.back().other += " " + other;
  }
  template <class T>
  void say(const Words& words, const char* keys, T command) {
    add(words, keys, [command](Gui& gui) { gui.say_once(command); });
  }

  std::vector<Action> take() { return std::move(actions_); }

 private:
  const Gui& gui_;
  std::vector<Action> actions_;
};

void change_settings(Gui& gui, const std::function<void(Settings&)>& change) {
  Settings settings = gui.state.settings;
  change(settings);
  if (!(settings == gui.state.settings)) gui.say(SetSettings{std::move(settings)});
}

void add_views(List& list, bool has_kept) {
  list.say(kShowHeads, "1", ShowView{View::heads});
  for (const auto& [words, show] :
       {std::pair(&kGridWords.grid_maps, GridShow::maps), std::pair(&kGridWords.grid_glance, GridShow::glance),
        std::pair(&kGridWords.grid_query, GridShow::query), std::pair(&kGridWords.grid_key, GridShow::key)})
    list.add(*words, "1", [show = show](Gui& gui) {
      gui.say(ShowView{View::heads});
      gui.say(ShowGrid{show});
    });
  for (const auto& [words, kind] :
       {std::pair(&kMapWords.weight_maps, MapKind::weights), std::pair(&kMapWords.norm_maps, MapKind::norms),
        std::pair(&kMapWords.rollout_maps, MapKind::rollout)})
    list.add(*words, "\\", [kind = kind](Gui& gui) {
      gui.say(ShowView{View::heads});
      gui.say(ShowMaps{kind});
    });
  list.say(kShowInside, "2", ShowView{View::inside});
  list.say(kShowFlow, "3", ShowView{View::flow});
  list.say(kShowTrain, "4", ShowView{View::train});
  list.say(kCompareWords.show_compare, "5", ShowView{View::compare});
  list.say(kCompareWords.keep_this_as_a, "Shift 5", KeepAnswer{});
  if (!has_kept) return;
  list.say(kCompareWords.swap_both, "Home", SwapKept{});
  list.say(kCompareWords.let_a_go, "Del", DropKept{});
}

void add_files(List& list, const Gui& gui) {
  list.say(kOpenFile, "Ctrl O", Browse{Browser::Purpose::open, {}});
  list.add(kSaveSession, "Ctrl S", save_session);
  list.say(kSaveSessionAs, "Ctrl Shift S", Browse{Browser::Purpose::save, {}});
  list.say(kExportNumbers, "Ctrl E", Browse{Browser::Purpose::export_to, {}});
  list.say(kMakeFigure, "Ctrl Shift E", Browse{Browser::Purpose::figure, {}});
  list.add(kCopyAsCommand, "Ctrl Shift C", [](Gui& g) { copy_as_command(g); });
  list.add(kCopyExport, "", [](Gui& g) { copy_as_command(g, CommandGives::numbers); });
  if (gui.state.view.pinned) list.add(kCopyExplain, "", [](Gui& g) { copy_as_command(g, CommandGives::explanation); });
  for (const std::string& path : gui.state.settings.recent)
    list.add(kOpenRecent, path, "", "", [path](Gui& g) { g.say(OpenPath{path}); });
  for (const Sample& sample : gui.samples) {
    std::string text = sample.text;
    std::replace(text.begin(), text.end(), '\n', '/');
    list.add(kTakeSample, text, sample.note_en + " " + sample.note_zh, "",
             [sample](Gui& g) { take_sample(g, sample); });
  }
  if (!gui.state.shipped) return;
  for (const BundledModel& model : *gui.state.shipped)
    list.add(kTakeModel, model.source.substr(kShipped.size()), model.source, "",
             [source = model.source](Gui& g) { g.say(OpenPath{source}); });
}

void add_lessons(List& list, const Gui& gui) {
  if (gui.state.view.lesson) {
    list.add(kLessonWords.next_of_lesson, "Ctrl Page Down", [](Gui& g) { turn_page(g, false); });
    list.add(kLessonWords.previous_of_lesson, "Ctrl Page Up", [](Gui& g) { turn_page(g, true); });
    list.say(kLessonWords.leave_lesson, "", OpenLesson{});
  }
  if (!gui.state.lessons) return;
  const Language language = gui.state.settings.language;
  for (std::size_t i = 0; i < gui.state.lessons->size(); ++i) {
    const Said& title = (*gui.state.lessons)[i].title;
    list.add(kLessonWords.begin_lesson, title.in(language), title.en + " " + title.zh, "F2",
             [i](Gui& g) { g.say(OpenLesson{i}); });
  }
}

void add_question(List& list, const Gui& gui) {
  const AppState& state = gui.state;
  if (!state.undo.empty() || state.gesture) list.say(kUndo, "Ctrl Z", Undo{});
  if (!state.redo.empty()) list.say(kRedo, "Ctrl Shift Z", Redo{});
  const std::optional<Index> layer = scoped_layer(state);
  const Stack stack = state.view.chosen.stack;
  const MaskSpec& mask = scoped_mask(state);
  list.say(mask.causal ? kCausalOff : kCausalOn, "M", SetMask{!mask.causal, mask.padding, stack, layer});
  list.say(mask.padding ? kPaddingOff : kPaddingOn, "Shift M", SetMask{mask.causal, !mask.padding, stack, layer});
  list.say(kPaintMask, "P", SetPainting{!state.view.painting});
  if (!mask.painted.empty()) list.say(kClearPaint, "Backspace", ClearPaint{stack, layer});
  const bool off = is_off(state.document.edits, state.view.chosen);
  list.add(off ? kSwitchOn : kSwitchOff, head_words(gui, state.view.chosen), "", "Space",
           [head = state.view.chosen, off](Gui& g) {
             g.say_once(SwitchHead{head, !off});
           });
  if (!state.document.edits.off.empty()) list.say(kAllOn, "", SwitchAllOn{});
  if (!(state.document.edits == Edits{})) list.say(kClearEdits, "", ClearEdits{});
  list.say(kStartOver, "", Reset{});
  list.say(kTypeSentence, "Ctrl L", FocusText{true});
  if (!state.document.text_pair.empty()) list.say(kPairWords.take_second_away, "", SetTextPair{});
}

void add_look(List& list, const Gui& gui) {
  const AppState& state = gui.state;
  for (const HeadOrder& order : head_orders()) {
    const Words name = order_words(order).name, tip = order_words(order).tip;
    list.add(kOrderHeads, gui.word(name), std::string(name.en) + " " + name.zh + " " + tip.en + " " + tip.zh, ";",
             [order](Gui& g) { g.say(OrderHeads{order}); });
  }
  list.add(kFindHeadsByWords, "/", begin_search);
  if (const Tokens* tokens = shown_tokens(state); tokens && second_sentence(*tokens) > 0)
    for (int i = 0; i < kPairParts; ++i) {
      FoldChoice fold = state.view.fold;
      fold.pair = static_cast<PairPart>(i);
      const Words& part = pair_words(fold.pair).name;
      list.add(kPairWords.show_pair_part, gui.word(part), std::string(part.en) + " " + part.zh, "6",
               [fold](Gui& g) { g.say(SetFold{fold}); });
    }
  list.say(state.view.scale == Scale::log ? kLinearColours : kLogColours, "G",
           SetColourScale{state.view.scale == Scale::log ? Scale::linear : Scale::log});
  list.say(state.view.own_range ? kSharedRange : kOwnRangeOn, "Shift G", SetOwnRange{!state.view.own_range});
  for (int map = 0; map < kColourMaps; ++map) {
    const Words& name = kGridWords.colour_words[map];
    list.add(kChooseColours, gui.word(name), std::string(name.en) + " " + name.zh, "", [map](Gui& g) {
      change_settings(g, [map](Settings& settings) { settings.colours = static_cast<ColourMap>(map); });
    });
  }
}

void add_person(List& list, const Gui& gui) {
  list.add(gui.state.settings.theme == Theme::dark ? kLightTheme : kDarkTheme, "T", switch_theme);
  list.add(kOtherLanguage, "Ctrl T", switch_language);
  list.add(kLarger, "Ctrl =", [](Gui& g) { resize_window(g, true); });
  list.add(kSmaller, "Ctrl -", [](Gui& g) { resize_window(g, false); });
  list.say(kAllKeys, "F1", ShowHelp{true});
  list.say(kQuit, "Ctrl Q", Quit{});
}

/// Letters of the Latin alphabet in one case; others have none that matters.
std::string in_one_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

std::vector<Action> actions(const Gui& gui) {
  List list(gui);
  add_views(list, gui.state.kept.has_value());
  add_question(list, gui);
  add_files(list, gui);
  add_lessons(list, gui);
  add_look(list, gui);
  add_person(list, gui);
  return list.take();
}

std::vector<Action> found_actions(const Gui& gui, const std::string& query) {
  const auto has_all = [words = in_one_case(query)](const std::string& where) {
    const std::string text = in_one_case(where);
    std::istringstream stream(words);
    for (std::string word; stream >> word;)
      if (text.find(word) == std::string::npos) return false;
    return true;
  };
  std::vector<Action> found = actions(gui);
  std::erase_if(found, [&](const Action& one) { return !has_all(one.title + " " + one.other + " " + one.keys); });
  std::stable_partition(found.begin(), found.end(), [&](const Action& one) { return has_all(one.title); });
  return found;
}

void switch_theme(Gui& gui) {
  change_settings(
      gui, [](Settings& settings) { settings.theme = settings.theme == Theme::dark ? Theme::light : Theme::dark; });
}

void switch_language(Gui& gui) {
  change_settings(gui, [](Settings& settings) {
    settings.language = settings.language == Language::zh ? Language::en : Language::zh;
  });
}

void resize_window(Gui& gui, bool larger) {
  change_settings(gui, [larger](Settings& settings) {
    settings.ui_scale = std::clamp(settings.ui_scale + (larger ? 0.1f : -0.1f), kLeastUiScale, kMostUiScale);
  });
}

void copy_as_command(Gui& gui, CommandGives gives) {
  auto words = command_words(gui.state, gives);
  if (!words) return gui.say(FileFailed{words.error().message});
  const std::string line = shell_line(*words);
  ImGui::SetClipboardText(line.c_str());
  gui.say(Copied{line});
}

void save_session(Gui& gui) {
  if (gui.state.session_path.empty()) gui.say(Browse{Browser::Purpose::save, {}});
  else gui.say(SaveSession{gui.state.session_path});
}

}  // namespace headlight
