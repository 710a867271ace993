#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/utf8.h"
#include "figure/head_name.h"
#include "figure/labels.h"
#include "gui/actions/actions.h"
#include "gui/actions/look.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/kept_texts.h"
#include "gui/frame/looks.h"
#include "gui/frame/map_view.h"
#include "gui/frame/scene.h"
#include "gui/frame/texture_ids.h"
#include "session/shown.h"
#include "views/heads/panel/stage_parts.h"
#include "views/text/picture_scene.h"
#include "words/answer_words.h"
#include "words/text_words.h"

namespace headlight {
namespace {

constexpr float kBetweenTexts = 24;    // pixels of the design
constexpr std::size_t kFewWords = 80;  // are written large

/// What is read: the texts, the chosen words, and the shades of the others once they are known.
struct TextReading {
  const FoldedStack* folded;
  ShadedTexts texts;
  ShadeChoice choice;
  std::vector<Index> chosen = {};
  const Vector* shades = nullptr;
  bool of_now = false;  // the shades are those that are asked for
  ColourScale scale = {};

  const FoldedAxis* axis(bool queries) const { return folded_axis(folded, queries); }
  /// The first token of a word of a side.
  Index token(bool queries, Index word) const {
    const FoldedAxis* of = axis(queries);
    return of ? of->tokens_of(word).first : word;
  }
};

TextReading reading_of(const AppState& state) {
  const Stack stack = state.view.chosen.stack;
  const FoldedStack* folded = shown_fold(state, stack);
  TextReading reading{folded, shaded_texts(*state.trace, folded, stack), shade_choice(state)};
  const bool columns = reading.choice.columns;
  reading.chosen = words_of_tokens(reading.axis(!columns), reading.choice.words);
  reading.scale = {.theme = state.settings.theme,
                   .scale = state.view.scale,
                   .top = 1,
                   .diverging = state.trace->is_signed,
                   .colours = state.settings.colours};
  const auto question = shade_question(state);
  const auto& words = reading.texts.shaded(columns).words;
  if (!question || !state.shades || reading.chosen.empty()) return reading;
  // Those of other words stay until the new ones come.
  const ShadeQuestion& known = *state.shades.question();
  if (known.trace != question->trace || known.folded != question->folded || known.choice.columns != columns ||
      known.choice.head.stack != stack || state.shades->size() != static_cast<Index>(words.size()))
    return reading;
  reading.shades = state.shades.get();
  reading.of_now = known == *question;
  reading.scale = in_range(shade_scale(*state.shades, words, reading.scale), state.view.range);
  return reading;
}

/// How much of the picture the weights cover; a button, and its key, show it alone. At the right edge, or on a line of
/// their own where the other controls leave no room.
void cover_control(Gui& gui, float room) {
  const float width = 96 * gui.unit, cover = cover_of(gui.state);
  const FontScope small(gui, TextSize::small);
  const char* alone = gui.word(kTextWords.picture_alone);
  const float left = std::max(0.0f, room - width - button_width(alone) - 12 * gui.unit);
  const float end_of_others = ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x;
  if (end_of_others + 8 * gui.unit <= left) ImGui::SameLine(left);
  if (flat_button(gui, "picture alone", alone, cover == 0)) show_picture_alone(gui);
  explain_item(gui, with_keys(gui, kTextWords.tip_picture_alone, {Act::picture_alone}));
  ImGui::SameLine(0, 8 * gui.unit);
  ImGui::SetNextItemWidth(width);
  float share = 100 * cover;
  if (ImGui::SliderFloat("##cover", &share, 0, 100, "%.0f %%"))
    change_text_look(gui, [&](TextLook& look) { look.cover = share / 100; });
  gui.name_item("picture cover", BoxKind::slider);
  explain_item(gui, kTextWords.tip_cover);
}

/// Which weights shade the text, and the colours of their numbers.
void text_controls(Gui& gui, const TextReading& reading, float room) {
  const FontScope small(gui, TextSize::small);
  ImGui::SetCursorPosY(3 * gui.unit);
  const TextLook& look = gui.state.view.text;
  const std::string direction = with_keys(gui, kTextWords.tip_direction, {Act::text_direction});
  if (const auto chosen = segmented(gui, {{"text rows", gui.word(kTextWords.rows), !look.columns, direction},
                                          {"text columns", gui.word(kTextWords.columns), look.columns, direction}}))
    if ((*chosen == 1) != look.columns) turn_text(gui);
  std::vector<Segment> heads;
  for (const ShadeHeads one : {ShadeHeads::head, ShadeHeads::layer, ShadeHeads::all})
    heads.push_back({"text heads " + std::string(name(one)), gui.word(kTextWords.heads[static_cast<int>(one)]),
                     look.heads == one, with_keys(gui, kTextWords.tip_heads, {Act::text_heads})});
  same_line_if_room(segmented_width(heads), 8 * gui.unit);
  if (const auto chosen = segmented(gui, heads))
    change_text_look(gui, [&](TextLook& of) { of.heads = static_cast<ShadeHeads>(*chosen); });
  if (shows_picture(gui.state) && !is_bare(gui.state.trace->key_tokens().picture->grid)) cover_control(gui, room);
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + 3 * gui.unit);
  const Box ramp{ImGui::GetWindowPos().x + room - 132 * gui.unit, ImGui::GetCursorScreenPos().y, 104 * gui.unit,
                 8 * gui.unit};
  const std::string line = reading.chosen.empty()
                               ? gui.word(shows_picture(gui.state) ? kTextWords.choose_patches : kTextWords.choose)
                               : shades_in_words(gui.state.settings.language, *gui.state.trace, reading.choice,
                                                 reading.texts.chosen(reading.choice.columns).words, reading.chosen);
  cut_text(gui, line, gui.colours().dim, reading.shades ? room - 148 * gui.unit : room);
  gui.name_item("text shades", BoxKind::label);
  explain_item(gui, shows_picture(gui.state) ? kTextWords.choose_patches : kTextWords.choose);
  // Columns of a long text are added up over all its rows.
  constexpr std::size_t kLong = 1000;
  const bool adds_up = !reading.chosen.empty() && !reading.of_now && reading.choice.columns &&
                       reading.texts.shaded(true).words.size() > kLong;
  if (adds_up) {
    ImGui::SetCursorScreenPos({ramp.x, ramp.y});
    cut_text(gui, gui.word(kTextWords.adds_up), gui.colours().dim, ramp.w);
  } else if (reading.shades) {
    paint_ramp(gui, *ImGui::GetWindowDrawList(), {ramp, reading.scale});
  }
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + 6 * gui.unit);
}

std::shared_ptr<const TextLines> text_lines_of(Gui& gui, const TextReading& reading, bool queries, float width,
                                               float em) {
  const AppState& state = gui.state;
  const auto& side = queries ? reading.texts.queries : reading.texts.keys;
  const auto make = [&] { return text_lines(side.words, side.typed, width, em, window_measure(gui)); };
  if (!gui.texts) return std::make_shared<const TextLines>(make());
  return gui.texts->lines(queries,
                          {state.trace.answer(), reading.folded ? state.folded.answer() : nullptr,
                           state.view.chosen.stack, width, em, gui.fonts.atlases()},
                          make);
}

std::vector<Index> words_between(Index a, Index b) {
  std::vector<Index> words(static_cast<std::size_t>(std::abs(a - b) + 1));
  std::iota(words.begin(), words.end(), std::min(a, b));
  return words;
}

/// Chooses words of a side, as tokens; that of the pinned cell is among them.
void choose_words(Gui& gui, const TextReading& reading, bool queries, const std::vector<Index>& words) {
  change_text_look(gui, [&](TextLook& look) {
    look.words.clear();
    for (const Index word : words) look.words.push_back(reading.token(queries, word));
  });
}

/// A click chooses a word, with Shift all words up to it, with Ctrl it joins the chosen ones or leaves them; a drag
/// chooses all words from the first to the last.
void select_word(Gui& gui, const TextReading& reading, bool queries, Index word) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool is_chosen_side = reading.texts.one || queries != reading.choice.columns;
  const std::vector<Index>& chosen = reading.chosen;
  const auto& pinned = gui.state.view.pinned;
  std::optional<Index> anchor;
  if (pinned) {
    const auto of = words_of_tokens(reading.axis(queries), {reading.choice.columns ? pinned->key : pinned->query});
    if (!of.empty()) anchor = of.front();
  }
  if (!ImGui::IsItemActivated()) {  // a drag
    if (!is_chosen_side || io.KeyCtrl || !anchor) return;
    if (const auto words = words_between(*anchor, word); words != chosen) choose_words(gui, reading, queries, words);
  } else if (is_chosen_side && anchor && io.KeyShift) {
    choose_words(gui, reading, queries, words_between(*anchor, word));
  } else if (is_chosen_side && anchor && io.KeyCtrl) {
    std::vector<Index> words = chosen;
    const auto at = std::lower_bound(words.begin(), words.end(), word);
    if (at == words.end() || *at != word) words.insert(at, word);
    else if (words.size() > 1) words.erase(at);
    choose_words(gui, reading, queries, words);
  } else {
    if (!is_chosen_side) change_text_look(gui, [](TextLook& look) { look.columns = !look.columns; });
    gui.push(Pin{cell_of_word(gui.state, queries, reading.token(queries, word))});
  }
}

/// The weight under the pointer, in words; the cell is marked in every map.
void point_at_shaded(Gui& gui, const TextReading& reading, bool queries, Index word) {
  const AppState& state = gui.state;
  const bool columns = reading.choice.columns, is_shaded = reading.texts.one || queries == columns;
  if (!is_shaded || !reading.shades || reading.chosen.empty()) return;
  const Index token = reading.token(queries, word);
  const auto& pinned = state.view.pinned;
  std::optional<CellRef> cell;
  if (pinned) cell = columns ? CellRef{token, pinned->key} : CellRef{pinned->query, token};
  if (cell) gui.push(Hover{state.view.chosen, cell});
  const bool is_cell = cell && reading.chosen.size() == 1 && reading.choice.heads == ShadeHeads::head;
  if (ImGui::IsMouseDown(0) || !reading.of_now) return;
  if (is_cell) return show_tip(gui, cell_in_words(gui, state.view.chosen, *cell));
  const float weight = (*reading.shades)(word);
  const std::string label = axis_label(reading.texts.shaded(columns).words[static_cast<std::size_t>(word)]);
  show_tip(gui, label + ": " +
                    (is_blocked(reading.scale, weight) ? gui.word(kAnswerWords.blocked) : weight_text(weight)) + "\n" +
                    shades_in_words(state.settings.language, *state.trace, reading.choice,
                                    reading.texts.chosen(columns).words, reading.chosen));
}

/// Scrolls where another word was chosen that is out of sight.
void bring_into_sight(Gui& gui, const TextReading& reading, const TextLines& lines, float top) {
  if (!gui.texts || reading.chosen.empty()) return;
  const Index word = reading.chosen.front(), token = reading.token(!reading.choice.columns, word);
  if (gui.texts->seen == token) return;
  gui.texts->seen = token;
  const Box box = lines.box(word);
  const float y = top + box.y, height = ImGui::GetWindowHeight();
  if (y < ImGui::GetScrollY() || y + box.h > ImGui::GetScrollY() + height)
    ImGui::SetScrollY(std::max(0.0f, y - height / 3));
}

/// A text from the cursor on, and what the pointer does in it.
void text_column(Gui& gui, const TextReading& reading, bool queries, float width, const char* hits) {
  const AppState& state = gui.state;
  const auto& side = queries ? reading.texts.queries : reading.texts.keys;
  const TextSize size = side.words.size() <= kFewWords ? TextSize::title : TextSize::body;
  const float em = gui.fonts.pixels(size) / kLineOfEm;
  const std::shared_ptr<const TextLines> laid_out = text_lines_of(gui, reading, queries, width, em);
  const TextLines& lines = *laid_out;
  const bool columns = reading.choice.columns;
  const bool is_chosen = reading.texts.one || queries != columns, is_shaded = reading.texts.one || queries == columns;
  const ImVec2 origin = ImGui::GetCursorScreenPos(), window = ImGui::GetWindowPos();
  const float top = ImGui::GetCursorPosY();
  ImGui::InvisibleButton(hits, {width, std::max(1.0f, lines.height())});
  TextMarks marks{.shades = is_shaded ? reading.shades : nullptr,
                  .scale = reading.scale,
                  .chosen = is_chosen ? &reading.chosen : nullptr,
                  .hits = hits,
                  .from_y = window.y - origin.y,
                  .to_y = window.y - origin.y + ImGui::GetWindowHeight(),
                  .outline = gui.unit,
                  .opacity = answer_opacity(gui),
                  .unknown = to_rgb(gui.colours().caution)};
  Drawing scene;
  add_shaded_text(scene, lines, side.words, marks, ink_colours(state.settings.theme));
  pointed_hit(gui, scene, origin);  // names them
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto is_pointed = [&](const Hit& hit) { return hit.box.contains(mouse.x - origin.x, mouse.y - origin.y); };
  const auto hit = std::ranges::find_if(scene.hits, is_pointed);
  if (hit != scene.hits.end() && (ImGui::IsItemHovered() || ImGui::IsItemActive())) {
    const Box box = hit->box;
    const Index word = static_cast<Index>(std::stoll(hit->name.substr(std::string_view(hits).size())));
    if (ImGui::IsItemActivated() || (ImGui::IsItemActive() && ImGui::IsMouseDragging(0)))
      select_word(gui, reading, queries, word);
    point_at_shaded(gui, reading, queries, word);
    scene.add(Rectangle{.box = box, .fill = {}, .line = to_rgb(gui.colours().accent), .width = gui.unit});
  }
  paint_scene(gui, scene, {.origin = origin});
  if (is_chosen) bring_into_sight(gui, reading, lines, top);
}

/// Beside the picture: its file, what was done before the model saw it, where the weight is.
void picture_facts(Gui& gui, const TextReading& reading, const Box& room) {
  constexpr float kLeast = 130;
  if (room.w < kLeast * gui.unit) return;
  const AppState& state = gui.state;
  const Tokens& tokens = state.trace->key_tokens();
  const FontScope small(gui, TextSize::small);
  ImGui::SetCursorScreenPos({room.x, room.y});
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + room.w);
  const auto line = [&](const std::string& text) {
    ImGui::SetCursorScreenPos({room.x, ImGui::GetCursorScreenPos().y + 2 * gui.unit});
    ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().dim);
    ImGui::TextUnformatted(gui.fonts.shown(text).c_str());
    ImGui::PopStyleColor();
  };
  if (!is_bare(tokens.picture->grid)) line(tokens.text);
  if (!tokens.picture->done.empty()) line(tokens.picture->done.in(gui.state.settings.language));
  const PatchGrid& grid = tokens.picture->grid;
  if (reading.shades && grid.first() > 0 && !reading.choice.columns && !state.trace->is_signed) {
    const double before = reading.shades->head(grid.first()).cwiseMax(0).cast<double>().sum();
    const double patches = reading.shades->tail(reading.shades->size() - grid.first()).cwiseMax(0).cast<double>().sum();
    line(filled(gui.word(kTextWords.chosen_tokens),
                {share_text(before), joined_texts(grid.leading, ", "), share_text(patches)}));
  }
  ImGui::PopTextWrapPos();
}

/// The picture with the weights over it, and what the pointer does in it.
void picture_column(Gui& gui, const TextReading& reading, const Box& room) {
  const AppState& state = gui.state;
  const Tokens& tokens = state.trace->key_tokens();
  const bool all = is_all_of_picture(*state.trace);
  const float em = gui.fonts.pixels(TextSize::small) / kLineOfEm;
  const PictureLayout layout =
      picture_layout(tokens.picture->grid, room.w, room.h - 2 * gui.unit, em, 1, window_measure(gui));
  const ImVec2 origin{room.x, room.y};
  ImGui::SetCursorScreenPos(origin);
  ImGui::InvisibleButton("picture", {std::max(layout.image.w, room.w), std::max(1.0f, layout.height())});
  gui.name_box("stage picture", moved(layout.image, {origin.x, origin.y}), BoxKind::map, state.view.chosen);
  TextMarks marks{.shades = reading.shades,
                  .scale = reading.scale,
                  .chosen = all ? &reading.chosen : nullptr,
                  .hits = kPictureHits,
                  .outline = gui.unit,
                  .opacity = answer_opacity(gui)};
  Drawing scene;
  add_shaded_picture(scene, layout, tokens, marks, cover_of(state), ink_colours(state.settings.theme));
  pointed_hit(gui, scene, origin);  // names them
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto hit = std::ranges::find_if(
      scene.hits, [&](const Hit& one) { return one.box.contains(mouse.x - origin.x, mouse.y - origin.y); });
  if (hit != scene.hits.end() && (ImGui::IsItemHovered() || ImGui::IsItemActive())) {
    const Box box = hit->box;
    const auto token = static_cast<Index>(hit - scene.hits.begin());
    if (all && (ImGui::IsItemActivated() || (ImGui::IsItemActive() && ImGui::IsMouseDragging(0))))
      select_word(gui, reading, true, token);
    else if (!all && ImGui::IsItemActivated()) gui.push(Pin{CellRef{reading.choice.words.front(), token}});
    point_at_shaded(gui, reading, all, token);
    scene.add(Rectangle{.box = box, .fill = {}, .line = to_rgb(gui.colours().accent), .width = gui.unit});
  }
  const auto version = [&](std::size_t) { return shades_version(state); };
  paint_scene(gui, scene, {.origin = origin, .version = version});
  const float beside = layout.image.w + 16 * gui.unit;
  picture_facts(gui, reading, {room.x + beside, room.y + layout.image.y, room.w - beside, layout.image.h});
}

/// The name of a text of two, above it.
void text_name(Gui& gui, const Words& sentence, const Words& role) {
  const bool cross = gui.state.view.chosen.stack == Stack::cross;
  dim_text(gui, (cross ? std::string(gui.word(sentence)) : std::string()) + gui.word(role));
}

}  // namespace

void draw_text_stage(Gui& gui, const Box& room) {
  const SlotScope scope("stage text", room);
  const TextReading reading = reading_of(gui.state);
  text_controls(gui, reading, room.w);
  if (shows_picture(gui.state)) {
    const float top = ImGui::GetCursorScreenPos().y;
    return picture_column(gui, reading, {room.x, top, room.w, room.bottom() - top});
  }
  gui.name_box("stage text", room, BoxKind::none, gui.state.view.chosen);
  const float width = room.w - ImGui::GetStyle().ScrollbarSize - 4 * gui.unit;
  const float gap = kBetweenTexts * gui.unit, half = std::floor((width - gap) / 2);
  if (!reading.texts.one) {
    const float y = ImGui::GetCursorPosY();
    text_name(gui, kFlowWords.target, kFlowWords.looks);
    ImGui::SetCursorPos({half + gap, y});
    text_name(gui, kFlowWords.source, kFlowWords.is_looked_at);
  }
  ImGui::BeginChild("text lines", {room.w, room.bottom() - ImGui::GetCursorScreenPos().y});
  if (reading.texts.one) {
    text_column(gui, reading, true, width, "text word ");
  } else {
    const ImVec2 at = ImGui::GetCursorPos();
    text_column(gui, reading, true, half, "text query ");
    ImGui::SetCursorPos({at.x + half + gap, at.y});
    text_column(gui, reading, false, half, "text key ");
  }
  ImGui::EndChild();
}

std::vector<Segment> form_segments(const Gui& gui) {
  const AppState& state = gui.state;
  const StageForm form = stage_form(state);
  if (shows_picture(state)) {
    const std::string tip = with_keys(gui, kTextWords.tip_picture, {Act::text_or_map});
    return {{"stage form picture", gui.word(kTextWords.picture), form != StageForm::map, tip},
            {"stage form map", gui.word(kTextWords.map), form == StageForm::map, tip}};
  }
  const std::string tip = with_keys(gui, kTextWords.tip_form, {Act::text_or_map});
  const bool offers = offers_sentence(state);
  const std::string of_sentence =
      offers ? tip : filled(gui.word(kTextWords.too_long), {std::to_string(kMostWordsOfStage)});
  return {{"stage form sentence", gui.word(kTextWords.sentence), form == StageForm::sentence, of_sentence, !offers},
          {"stage form map", gui.word(kTextWords.map), form == StageForm::map, tip},
          {"stage form text", gui.word(kTextWords.text), form == StageForm::text, tip}};
}

}  // namespace headlight
