#include "gui/actions/question.h"

#include <algorithm>

#include "figure/head_name.h"
#include "gui/frame/stacks.h"
#include "model/head_text.h"
#include "model/request.h"
#include "question/question_fields.h"
#include "words/mask_words.h"
#include "words/model_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

/// The token of the pinned row, where its boundaries can be moved.
struct PinnedToken {
  const Tokens& tokens;
  std::size_t row;
  TextSide side;

  const Token& token() const { return tokens.tokens[row]; }
};

std::optional<PinnedToken> pinned_token(const AppState& state) {
  if (!takes_shape(state.document) || !state.view.pinned || !state.lexicon) return std::nullopt;
  const bool target = state.trace && state.trace->encoder && state.view.chosen.stack != Stack::encoder;
  const TextSide side = target ? TextSide::target : TextSide::source;
  const Tokens* tokens = shown_tokens(state, side);
  const auto row = static_cast<std::size_t>(state.view.pinned->query);
  if (!tokens || row >= tokens->size() || tokens->tokens[row].special) return std::nullopt;
  return PinnedToken{*tokens, row, side};
}

std::vector<std::size_t> inner_cuts(const AppState& state, const PinnedToken& pinned) {
  return cut_points(pinned.token().raw, Split::characters, *state.lexicon);
}

/// A cross-attention has a separate scale; its other parts are those of the decoder's block.
Stack stack_of_part(const Gui& gui, BlockPart part) {
  const Stack stack = gui.state.view.chosen.stack;
  return stack == Stack::cross && part != BlockPart::scale ? Stack::self : stack;
}

/// A head that is off in the one and on in the other.
std::optional<HeadRef> switched_head(const Edits& a, const Edits& b) {
  for (const HeadRef& head : a.off)
    if (!is_off(b, head)) return head;
  return std::nullopt;
}

/// The weight that was set last, with its new value; empty: none was, but some are no longer set.
std::string changed_weight(Language language, const Edits& before, const Edits& now) {
  for (const WeightEdit& edit : now.weights)
    if (const WeightEdit* was = edited_weight(before, edit.head, edit.cell); !was || was->weight != edit.weight)
      return std::string(words(language, kChangeWords.weight)) + ": " + share_text(static_cast<double>(edit.weight));
  return {};
}

/// `norms, layer 1: off`: the first part that was switched; empty where the change is another.
std::string changed_part(Language language, const Edits& before, const Edits& now) {
  for (const Edits* edits : {&now, &before})
    for (const LayerEdit& edit : edits->layers)
      for (const BlockPart part : kBlockParts) {
        const bool off = is_off(now, edit.stack, edit.layer, part);
        if (off == is_off(before, edit.stack, edit.layer, part)) continue;
        return filled(words(language, off ? kChangeWords.part_off : kChangeWords.part_on),
                      {words(language, kMaskWords.parts[static_cast<std::size_t>(part)]), std::to_string(edit.layer)});
      }
  return {};
}

std::string changed_head(Language language, const Edits& before, const Edits& now) {
  if (now.off.empty() && before.off.size() > 1) return words(language, kChangeWords.all_on);
  if (const auto off = switched_head(now, before))
    return filled(words(language, kChangeWords.head_off), {head_label(*off)});
  const auto on = switched_head(before, now);
  return on ? filled(words(language, kChangeWords.head_on), {head_label(*on)}) : std::string();
}

/// What describes a change better than the name of its field; empty: nothing.
std::string detail(Language language, const QuestionField& field, const Document& before, const Document& now) {
  const std::string_view name = field.name;
  if (field.part == FieldPart::model && field.text) return changed_shape(language, before.config, now.config);
  if (name == "random") return words(language, now.model ? kChangeWords.trained : kChangeWords.random);
  if (name == "off") return changed_head(language, before.edits, now.edits);
  if (name == "weights") return changed_weight(language, before.edits, now.edits);
  if (name == "layer_edits") return changed_part(language, before.edits, now.edits);
  return {};
}

}  // namespace

std::vector<Index> divisors(Index number, Index most) {
  std::vector<Index> all;
  for (Index divisor = 1; divisor <= std::min(most, number); ++divisor)
    if (number % divisor == 0) all.push_back(divisor);
  return all;
}

Config with_d_model(Config config, Index d_model) {
  config.d_model = std::clamp(d_model, kLeastSliderWidth, kMostSliderWidth);
  if (config.head_dim > 0) return config;
  return with_heads(config, nearest_divisor(config.d_model, config.num_heads, kMostSliderHeads));
}

Config with_heads(Config config, Index heads) {
  const Index sharing = config.num_heads / config.kv_heads();
  config.num_heads = heads;
  if (config.num_kv_heads > 0) config.num_kv_heads = heads % sharing == 0 ? heads / sharing : 1;
  // Rotary positions turn pairs: an odd d_k cannot have them.
  if (config.position == Position::rotary && config.d_k() % 2 != 0) config.position = Position::sinusoidal;
  return config;
}

Config with_heads_moved(Config config, int steps) {
  if (config.head_dim > 0) return with_heads(config, std::clamp<Index>(config.num_heads + steps, 1, kMostSliderHeads));
  const auto possible = divisors(config.d_model, kMostSliderHeads);
  const auto at = std::lower_bound(possible.begin(), possible.end(), config.num_heads) - possible.begin();
  const auto last = static_cast<std::ptrdiff_t>(possible.size()) - 1;
  return with_heads(config, possible[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at + steps, 0, last))]);
}

Config with_own_d_k(Config config, bool own) {
  if (own) {
    config.head_dim = config.d_k();
    return config;
  }
  config.head_dim = 0;
  return with_d_model(config, config.d_model);
}

Config with_position(Config config, Position position) {
  config.position = position;
  if (position != Position::rotary || config.d_k() % 2 == 0) return config;
  config.head_dim = config.d_k() + 1;  // the nearest that has pairs
  return config;
}

void change_config(Gui& gui, Config (*change)(Config)) {
  const Config changed = change(gui.state.document.config);
  if (!(changed == gui.state.document.config)) gui.push_once(SetConfig{changed});
}

Config next_kind(Config config) {
  config.arch = config.arch == Arch::encoder   ? Arch::decoder
                : config.arch == Arch::decoder ? Arch::encoder_decoder
                                               : Arch::encoder;
  return config;
}

Config other_norm_place(Config config) {
  config.norm = config.norm == Norm::post ? Norm::pre : Norm::post;
  return config;
}

Config other_norm_kind(Config config) {
  config.norm_kind = config.norm_kind == NormKind::layer_norm ? NormKind::rms_norm : NormKind::layer_norm;
  return config;
}

Config next_activation(Config config) {
  config.activation = static_cast<Activation>((static_cast<int>(config.activation) + 1) % 4);
  return config;
}

Config other_gate(Config config) {
  config.gated = !config.gated;
  return config;
}

Config other_biases(Config config) {
  const bool on = !config.bias.any();
  config.bias = {on, on, on, on, on};
  return config;
}

Config next_positions(Config config) {
  const auto next = [](Position position) {
    switch (position) {
      case Position::none: return Position::sinusoidal;
      case Position::sinusoidal:
      case Position::sinusoidal_halves: return Position::learned;
      case Position::learned: return Position::rotary;
      case Position::rotary: break;
    }
    return Position::none;
  };
  return with_position(config, next(config.position));
}

bool has_part_here(const Gui& gui, BlockPart part) {
  const auto& trace = gui.state.trace;
  return trace && has_part(*trace->model, stack_of_part(gui, part), gui.state.view.chosen.layer, part);
}

bool is_part_off_here(const Gui& gui, BlockPart part) {
  return is_off(gui.state.document.edits, stack_of_part(gui, part), gui.state.view.chosen.layer, part);
}

void switch_part_here(Gui& gui, BlockPart part) {
  gui.push_once(SwitchPart{stack_of_part(gui, part), gui.state.view.chosen.layer, part, !is_part_off_here(gui, part)});
}

bool any_parts_off(const Gui& gui) {
  const auto& layers = gui.state.document.edits.layers;
  return std::ranges::any_of(layers, [](const LayerEdit& edit) { return edit.parts.any(); });
}

void multiply_scale(Gui& gui, float factor) {
  const float now = scoped_scale(gui.state).value_or(shown_scale(gui.state));
  push_scale(gui, std::clamp(now * factor, 0.001f, 1000.0f));
  gui.push(EndGesture{});
}

void block_pinned(Gui& gui) {
  const AppState& state = gui.state;
  const CellRef& cell = *state.view.pinned;
  gui.push_once(PaintCell{cell, !mask_of_chosen(state).allowed(cell.query, cell.key), state.view.chosen.stack,
                          scoped_layer(state)});
}

bool can_join(const Gui& gui) {
  const auto pinned = pinned_token(gui.state);
  return pinned && pinned->row + 1 < pinned->tokens.size() && !pinned->tokens.tokens[pinned->row + 1].special;
}

bool can_cut(const Gui& gui) {
  const auto pinned = pinned_token(gui.state);
  return pinned && !inner_cuts(gui.state, *pinned).empty();
}

void join_pinned(Gui& gui) {
  const auto pinned = pinned_token(gui.state);
  gui.push_once(ToggleCut{sentence_begin(gui.state, pinned->side) + pinned->token().end, pinned->side});
}

void cut_pinned(Gui& gui) {
  const auto pinned = pinned_token(gui.state);
  const auto cuts = inner_cuts(gui.state, *pinned);
  gui.push_once(
      ToggleCut{sentence_begin(gui.state, pinned->side) + pinned->token().begin + cuts[cuts.size() / 2], pinned->side});
}

void take_sentence(Gui& gui, const std::string& text) {
  gui.push_once(SetText{text});
  gui.push(Changed{gui.word(question_fields().front().change)});
  gui.push(ChooseStart{});
}

void take_changed_sentence(Gui& gui, const std::string& text, const CellRef& cell) {
  gui.push(Pin{cell});  // pinned by the user from now on: the program chooses no other cell
  gui.push_once(SetText{text});
  gui.push(Changed{gui.word(question_fields().front().change)});
}

void take_sample(Gui& gui, const Sample& sample) {
  if (!sample.file.empty()) gui.push(OpenPath{sample.file});
  else take_sentence(gui, sample.text);
}

std::string changed_shape(Language language, const Config& before, const Config& now) {
  std::string text;
  const auto add = [&](const Words& name, auto Config::*field) {
    if (before.*field != now.*field)
      text += (text.empty() ? "" : ", ") + std::string(words(language, name)) + " " + std::to_string(before.*field) +
              " → " + std::to_string(now.*field);
  };
  add(kModelWords.heads, &Config::num_heads);
  add(kModelWords.d_model, &Config::d_model);
  add(kModelWords.layers, &Config::num_layers);
  add(kModelWords.feed_forward, &Config::ffn);
  add(kModelWords.seed, &Config::seed);
  return text;
}

std::string change_in_words(Language language, const Document& before, const Document& now,
                            const QuestionFields& fields) {
  const bool shape = !(before.config == now.config);  // describes more than that the model is another one
  for (const FieldPart part : {FieldPart::model, FieldPart::text, FieldPart::edits, FieldPart::mask})
    for (const QuestionField& field : fields) {
      if (field.part != part || field.is_same(before, now) || (shape && std::string_view(field.name) == "random"))
        continue;
      const std::string more = detail(language, field, before, now);
      return more.empty() ? words(language, field.change) : more;
    }
  return words(language, kChangeWords.anything);
}

}  // namespace headlight
