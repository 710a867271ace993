// What every panel is given: the state to read, the commands to add to, and what to draw with. Panels keep nothing.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "figure/drawing/map_layout.h"
#include "gui/frame/maps.h"
#include "gui/theme/font.h"
#include "gui/theme/theme.h"
#include "question/samples.h"
#include "session/state.h"
#include "words/words.h"

namespace headlight {

/// The work that goes on behind the window.
struct WorkStatus {
  bool computing = false, writing = false;
  float computing_progress = 0, writing_progress = 0;  // 0 … 1
  bool sweeping = false;                               // every head is being switched off in turn
  float sweep_progress = 0;
  bool reading = false;  // maps of another kind than weights are being made, or relations measured
  float reading_progress = 0;
};

/// Where each named control was drawn last, so that a test can point at it.
using Probe = std::map<std::string, Box>;

/// The kind of a control in the file of `screenshot --boxes`; none: the control is not listed.
enum class BoxKind { none, map, thumbnail, button, segment, menu, link, field, slider, label, stage, atlas, arc };
/// Of BoxKind, as files write it; empty for none.
std::string_view box_kind_name(BoxKind kind);

/// A control that was drawn in a frame; of a clipped one the visible part.
struct DrawnBox {
  std::string name;
  BoxKind kind = BoxKind::none;
  std::optional<HeadRef> head = {};  // of maps, thumbnails and arcs
  Box box;
  std::optional<CellRef> cell = {};  // of arcs
};
using DrawnBoxes = std::vector<DrawnBox>;

class Motion;      // gui/frame/motion.h
class KeptTexts;   // gui/frame/kept_texts.h
struct FocusStop;  // gui/frame/focus.h

/// The keyboard's cursor in a text, in bytes; 0: it is in none.
struct Cursor {
  std::size_t at = 0;
  TextSide side = TextSide::source;
};

struct Gui {
  const AppState& state;
  Commands& commands;
  Fonts& fonts;
  MapPainter& maps;
  const std::vector<Sample>& samples;
  WorkStatus work;
  float unit = 1;  // pixels for each pixel of the design: the display's scale times the user's
  Probe* probe = nullptr;
  DrawnBoxes* boxes = nullptr;              // null: they are not asked for
  Motion* motion = nullptr;                 // null: everything is drawn settled
  KeptTexts* texts = nullptr;               // null: texts are laid out in every frame
  std::vector<FocusStop>* stops = nullptr;  // where the Tab key goes; draw_window fills it
  Cursor cursor = {};                       // as sentence_panel found it
  std::vector<HeadRef> shown_heads = {};    // of the atlas, where it shows some of the heads; else empty
  std::vector<Box> kept_clear = {};         // where headline and maps stand: no tooltip lies there

  const Palette& colours() const { return palette(state.settings.theme); }
  const char* word(const Words& words) const { return headlight::words(state.settings.language, words); }
  bool chinese() const { return state.settings.language == Language::zh; }

  template <class T>
  void push(T command) {
    commands.emplace_back(std::move(command));
  }
  /// A whole edit at once: one step of undo.
  template <class T>
  void push_once(T command) {
    commands.emplace_back(std::move(command));
    commands.emplace_back(EndGesture{});
  }
  /// Names the item just drawn, or the box that represents it. `item`: the id of the item, where Dear ImGui does not
  /// keep it as that of the last one.
  void name_item(const std::string& name, BoxKind kind = BoxKind::button, std::uint32_t item = 0);
  void name_box(const std::string& name, const Box& box, BoxKind kind = BoxKind::none, std::optional<HeadRef> head = {},
                std::uint32_t item = 0, std::optional<CellRef> cell = {});
};

/// Text in one of the three sizes for the rest of the scope.
class FontScope {
 public:
  FontScope(const Gui& gui, TextSize size);
  ~FontScope();
  FontScope(const FontScope&) = delete;
};

/// The colour scale of everything on the screen: from 0 to the largest weight of any head, or the largest number of the
/// kind that its maps show (derived/derived_maps.h).
ColourScale colour_scale(const AppState& state);

/// The token of a query or a key as the window shows it.
std::string query_label(Gui& gui, Index query, Stack stack);
std::string key_label(Gui& gui, Index key, Stack stack);
/// The same of a group of folded tokens.
std::string group_label(Gui& gui, const FoldedAxis& axis, Index group);

/// `Layer 2 · Head 1`, of an answer with several stacks with the stack's name before it.
std::string head_words(const Gui& gui, const HeadRef& head);

/// A weight as the window prints it in a line of text.
std::string weight_text(float weight);

/// A probability as the window prints it: 34 %, 0.5 %, <0.1 %.
std::string percent(float probability);

/// `机票 looks at 订了: 0.0934`, for a cell of a head of the answer on the screen; where tokens are folded, of the cell
/// that this one went into; of maps that are no weights `机票 takes from 订了: norm 0.4213`.
std::string cell_in_words(Gui& gui, HeadRef head, const CellRef& cell);
/// `y of trophy`: a piece with its word; any other token as axes show it.
std::string piece_label(Gui& gui, const Tokens& tokens, Index token);

/// A tooltip of the last item (controls.h).
void explain_item(const Gui& gui, const Words& words);
void explain_item(const Gui& gui, const std::string& text);

}  // namespace headlight
