// Everything that can be done in the window, one row each: its name, its keys, when it is possible, and the commands
// that it pushes. Shortcuts, the palette, the key help and the tooltips read this table.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gui/frame/gui.h"
#include "gui/frame/imgui_compat.h"

namespace headlight {

// clang-format off
#define HEADLIGHT_ACTS \
  show_heads, next_grid, previous_grid, grid_maps, grid_all, grid_relations, next_maps, previous_maps, \
  weight_maps, norm_maps, rollout_maps, mean_maps, largest_maps, sum_maps, strongest_maps, \
  show_inside, next_tab, look_back, show_flow, \
  show_compare, show_code, next_dialect, previous_dialect, whole_block, next_code_line, previous_code_line, \
  copy_program, keep_answer, swap_answers, drop_answer, take_from_a, align_answers, open_palette, show_keys, \
  leave, next_head, previous_head, \
  next_layer, previous_layer, next_stack, previous_stack, head_off, head_on, pin_hovered, numbers, why, lens, \
  copy_weight, text_or_map, text_direction, text_heads, picture_alone, move_left, move_right, move_up, move_down, \
  next_order, \
  previous_order, find_heads, \
  next_difference_order, previous_difference_order, zoom_in, zoom_out, zoom_whole, zoom_in_compare, zoom_out_compare, \
  zoom_whole_compare, fewer_lines, more_lines, lines_of_heads, log_colours, linear_colours, own_range, \
  shared_range, fold_special, merge_words, \
  next_pair_part, previous_pair_part, next_sentence, previous_sentence, scope, type_sentence, undo, redo, \
  causal_on, causal_off, padding_on, padding_off, paint_mask, block_cell, clear_paint, more_padding, \
  less_padding, larger_scale, smaller_scale, own_scale_off, join_tokens, cut_token, split_text, next_kind, \
  wider_model, narrower_model, more_heads, fewer_heads, more_layers, fewer_layers, next_seed, previous_seed, \
  next_positions, norm_place, norm_kind, next_activation, gated, wider_ffn, narrower_ffn, bias, all_heads_on, \
  residual_off, norm_off, scale_off, ffn_off, all_parts_on, own_numbers, clear_edits, second_away, start_over, \
  choose_lesson, next_page, previous_page, \
  leave_lesson, open_file, save_session, save_session_as, export_numbers, make_figure, copy_command, \
  copy_export, copy_explanation, dark_theme, light_theme, other_language, larger, smaller, quit
// clang-format on

/// The viewer's rows by name, in the order of the table; those of tools are numbered behind them.
enum class Act { HEADLIGHT_ACTS, count };
/// The row that texts call by its name, "block_cell"; nothing: there is none.
std::optional<Act> parse_act(std::string_view name);
/// The row of a tool by its name.
Act act_of_tool(std::string_view name);

/// A key and the modifiers that must be down with it.
struct Chord {
  Key key{};
  bool ctrl = false, shift = false, alt = false;
  friend bool operator==(const Chord&, const Chord&) = default;
};

/// The headings of the key help.
enum class ActionGroup { views, head, question, model, training, lessons, files, window, count };
const Words& group_words(ActionGroup group);

struct Action {
  Act id;
  ActionGroup group;
  Words name;
  std::array<Chord, 2> keys{};       // none: Key{}
  bool (*possible)(const Gui& gui);  // null: always
  void (*run)(Gui& gui);             // null: the panel that draws it answers to the key
  bool repeats = false;              // while the key is held
};

/// The rows of the viewer.
std::span<const Action> viewer_actions();
/// The rows of the viewer and of the tools, in the order in which lists have them.
std::span<const Action> all_actions();
const Action& action(Act id);

inline bool is_possible(const Gui& gui, const Action& action) { return !action.possible || action.possible(gui); }
/// Pushes the commands of the row. Where they change the question, a notice describes the change and offers to undo it.
void perform(Gui& gui, const Action& action);
/// Whether the key went down, or repeats where it may, with exactly these modifiers.
bool is_pressed(const Chord& chord, bool repeats);

/// The keys of the first samples: Ctrl 1 … Ctrl 9.
inline constexpr std::size_t kSampleKeys = 9;
inline Chord sample_chord(std::size_t sample) { return {.key = Key{'1' + static_cast<int>(sample)}, .ctrl = true}; }

/// Every character of the keys.
std::string all_keys();

/// `Ctrl Shift Z`
std::string chord_text(const Chord& chord);
/// `“Undo” (Ctrl Z)`, as texts name a row.
std::string action_in_text(const Gui& gui, Act id);
/// The keys of a row, `Ctrl Shift Z / Ctrl Y`; empty where it has none.
std::string keys_of(Act id);
/// The words with each `%` replaced by the keys of the next of `acts`.
std::string with_keys(const Gui& gui, const Words& words, std::initializer_list<Act> acts);
/// A tooltip on the last item that names keys.
void explain_item(const Gui& gui, const Words& words, std::initializer_list<Act> acts);

}  // namespace headlight
