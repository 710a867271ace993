#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "gui/actions/question.h"
#include "gui/frame/controls.h"
#include "gui/frame/no_answer.h"
#include "gui/question/question.h"
#include "models/bundled_models.h"
#include "words/model_words.h"

namespace headlight {
namespace {

/// Gives a function that sets one field of the model.
auto setter(Gui& gui, auto Config::*field) {
  return [&gui, field](auto value) {
    Config changed = gui.state.document.config;
    changed.*field = value;
    gui.push_once(SetConfig{changed});
  };
}

/// A slider over the divisors of `number`; gives the chosen one while it moves.
std::optional<Index> divisor_slider(Gui& gui, const char* name, Index number, Index now, Index most, const Words& tip,
                                    float width = -1) {
  const auto possible = divisors(number, most);
  int index = static_cast<int>(std::lower_bound(possible.begin(), possible.end(), now) - possible.begin());
  const int last = static_cast<int>(possible.size()) - 1;
  if (!slider(gui, name, index, 0, std::max(1, last), tip, width)) return std::nullopt;
  return possible[static_cast<std::size_t>(std::clamp(index, 0, last))];
}

std::optional<Index> number_slider(Gui& gui, const char* name, Index now, Index least, Index most, const Words& tip,
                                   float width = -1) {
  int value = static_cast<int>(now);
  if (!slider(gui, name, value, static_cast<int>(least), static_cast<int>(most), tip, width)) return std::nullopt;
  return value;
}

/// The values of this field in the shipped models that differ from the shape only in it and in the fields below it,
/// ascending. None where weights are to be random.
std::vector<Index> trained_values(const AppState& state, Index Config::*field) {
  const Config& config = state.document.config;
  std::vector<Index> values;
  if (!state.shipped || !state.document.trained) return values;
  for (const BundledModel& shipped : *state.shipped) {
    const Config& own = shipped.model->config;
    const bool same_width = field == &Config::d_model || own.d_model == config.d_model;
    if (own.arch == config.arch && own.num_layers == config.num_layers && same_width) values.push_back(own.*field);
  }
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// A drag over the trained widths stops at each of them; beyond the last it moves over multiples of 4.
Index snapped_width(Index width, const std::vector<Index>& trained) {
  constexpr Index kStep = 4;
  if (trained.empty() || width > trained.back() + trained.back() / 8) return (width + kStep / 2) / kStep * kStep;
  return *std::ranges::min_element(trained,
                                   [&](Index a, Index b) { return std::abs(a - width) < std::abs(b - width); });
}

/// Where values stand on a slider, as shares of its way.
std::vector<float> shares_of(const std::vector<Index>& values, Index least, Index most) {
  std::vector<float> shares;
  for (const Index value : values)
    shares.push_back(most > least ? static_cast<float>(value - least) / static_cast<float>(most - least) : 0);
  return shares;
}

/// Notches on the last slider where trained models stand; the track beyond the last of them is marked as random.
void mark_trained(Gui& gui, const std::vector<float>& shares) {
  if (shares.empty()) return;
  const ImVec2 least = ImGui::GetItemRectMin(), most = ImGui::GetItemRectMax();
  const float edge = 2 + ImGui::GetFontSize() / 2, way = most.x - least.x - 2 * edge;
  const auto x_of = [&](float share) { return std::round(least.x + edge + share * way); };
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (const float share : shares)
    list.AddLine({x_of(share), most.y - 4 * gui.unit}, {x_of(share), most.y}, gui.colours().text, gui.unit);
  const float begin = x_of(shares.back()) + edge;
  if (begin + 8 * gui.unit > most.x) return;
  const FontScope small(gui, TextSize::small);
  const char* random = gui.word(kModelWords.random_here);
  const float width = ImGui::CalcTextSize(random).x + 8 * gui.unit;
  const float end = begin + width + 8 * gui.unit <= most.x ? most.x - width : most.x;  // the word stands behind it
  list.PushClipRect({begin, most.y - 4 * gui.unit}, {end, most.y}, true);
  for (float x = begin; x < end + 4 * gui.unit; x += 4 * gui.unit)
    list.AddLine({x, most.y}, {x + 4 * gui.unit, most.y - 4 * gui.unit}, gui.colours().caution, gui.unit);
  list.PopClipRect();
  if (end < most.x)
    list.AddText({end + 4 * gui.unit, least.y + (most.y - least.y - ImGui::GetFontSize()) / 2}, gui.colours().dim,
                 random);
}

/// The name of a number and its value, before its slider. Gives the slider's width.
float number_label(Gui& gui, const RowNumber& number, const std::string& value, const ControlsRow& row) {
  const FontScope small(gui, TextSize::small);
  ImGui::SameLine(0, 14 * gui.unit);
  const float x = ImGui::GetCursorPosX(), frame = gui.fonts.pixels(TextSize::body) + 8 * gui.unit;
  const float y = std::round(row.top + (frame - ImGui::GetFontSize()) / 2);
  ImGui::SetCursorPos({x, y});
  const std::string name = gui.word(number.label) + std::string(" ");
  ImGui::GetWindowDrawList()->AddText(ImGui::GetCursorScreenPos(), gui.colours().dim, (name + value).c_str());
  // The slider stays where it is while its number grows.
  ImGui::SetCursorPos({x + ImGui::CalcTextSize((name + number.longest).c_str()).x + 6 * gui.unit, y});
  return row.slider;
}

/// The shape before a drag: while the width is dragged, the number of heads may have become smaller.
const Config& dragged_from(const AppState& state) {
  const bool drags = state.gesture && state.gesture_kind == command_kind<SetConfig>;
  return drags ? state.gesture->config : state.document.config;
}

/// `row`: where it stands in the row of controls; null: in the menu.
void layers_slider(Gui& gui, bool of_encoder, const ControlsRow* row) {
  const Config& config = gui.state.document.config;
  const bool two_stacks = config.arch == Arch::encoder_decoder;
  const Index now = of_encoder ? config.layers_of_encoder() : config.num_layers;
  // In the row the label is the same for every model, so that nothing moves.
  const RowNumber number{of_encoder           ? kModelWords.encoder_layers
                         : row || !two_stacks ? kModelWords.layers
                                              : kModelWords.decoder_layers,
                         "88"};
  if (!row) control_label(gui, number.label, std::to_string(now));
  const float width = row ? number_label(gui, number, std::to_string(now), *row) : -1;
  const auto layers = number_slider(gui, of_encoder ? "encoder layers" : "layers", now, 1, kMostSliderLayers,
                                    kModelWords.tip_layers, width);
  if (!layers) return;
  Config changed = config;
  if (two_stacks) changed.encoder_layers = config.layers_of_encoder();
  (of_encoder ? changed.encoder_layers : changed.num_layers) = *layers;
  gui.push(SetConfig{changed});
}

/// Trained or fresh weights, where the program came with trained ones.
void trained_control(Gui& gui) {
  const AppState& state = gui.state;
  if (!state.shipped || state.shipped->empty()) return;
  bool trained = state.document.trained && state.document.model;
  if (checkbox(gui, "trained", kModelWords.trained_weights, trained, kModelWords.tip_trained))
    gui.push_once(UseTrained{trained});
}

void seed_control(Gui& gui) {
  const Config& config = gui.state.document.config;
  int seed = static_cast<int>(std::min<std::uint64_t>(config.seed, 1000000000));
  control_label(gui, kModelWords.seed);
  ImGui::SetNextItemWidth(-1);
  if (ImGui::InputInt("##seed", &seed)) setter(gui, &Config::seed)(static_cast<std::uint64_t>(std::max(0, seed)));
  gui.name_item("seed");
  explain_item(gui, kModelWords.tip_seed);
}

/// Small switches, one for each projection that may have a bias.
void bias_switches(Gui& gui) {
  const Biases& bias = gui.state.document.config.bias;
  control_label(gui, kModelWords.bias);
  const std::pair<const char*, bool Biases::*> all[] = {
      {"Q", &Biases::query}, {"K", &Biases::key}, {"V", &Biases::value}, {"O", &Biases::output}, {"FFN", &Biases::ffn}};
  for (const auto& [label, field] : all) {
    if (field != &Biases::query) ImGui::SameLine(0, 0);
    if (flat_button(gui, (std::string("bias ") + label).c_str(), label, bias.*field)) {
      Biases changed = bias;
      changed.*field = !(bias.*field);
      setter(gui, &Config::bias)(changed);
    }
    explain_item(gui, kModelWords.tip_bias);
  }
}

void activation_choice(Gui& gui) {
  control_label(gui, kModelWords.activation);
  const float right = ImGui::GetWindowPos().x + ImGui::GetContentRegionMax().x;
  for (const Activation activation :
       {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu, Activation::quick_gelu}) {
    const std::string text(name(activation));
    const float width = ImGui::CalcTextSize(text.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
    if (activation != Activation::relu && ImGui::GetItemRectMax().x + width <= right) ImGui::SameLine(0, 0);
    if (flat_button(gui, text.c_str(), text.c_str(), gui.state.document.config.activation == activation))
      setter(gui, &Config::activation)(activation);
    explain_item(gui, kModelWords.tip_activation);
  }
}

void feed_forward_controls(Gui& gui) {
  const Config& config = gui.state.document.config;
  control_label(gui, kModelWords.feed_forward, std::to_string(config.ffn));
  if (const auto ffn = number_slider(gui, "ffn", config.ffn, 0, kMostSliderFfn, kModelWords.tip_feed_forward)) {
    Config changed = config;
    changed.ffn = *ffn;
    gui.push(SetConfig{changed});
  }
  activation_choice(gui);
  bool gated = config.gated;
  if (checkbox(gui, "gated", kModelWords.gated, gated, kModelWords.tip_gated)) setter(gui, &Config::gated)(gated);
}

/// Settings that are rarely changed: below all others.
void finer_controls(Gui& gui) {
  const Config& config = gui.state.document.config;
  control_label(gui, kModelWords.kv_heads, std::to_string(config.kv_heads()));
  if (const auto heads = divisor_slider(gui, "kv heads", config.num_heads, config.kv_heads(), kMostSliderHeads,
                                        kModelWords.tip_kv_heads)) {
    Config changed = config;
    changed.num_kv_heads = *heads == config.num_heads ? 0 : *heads;
    gui.push(SetConfig{changed});
  }
  bool own = config.head_dim > 0;
  if (checkbox(gui, "own d_k", kModelWords.own_d_k, own, kModelWords.tip_own_d_k))
    gui.push_once(SetConfig{with_own_d_k(config, own)});
  if (own) {
    control_label(gui, kModelWords.d_k, std::to_string(config.head_dim));
    if (const auto d_k = number_slider(gui, "d_k", config.head_dim, 1, kMostSliderHeadDim, kModelWords.tip_own_d_k)) {
      Config changed = config;
      changed.head_dim = config.position == Position::rotary ? std::max<Index>(2, *d_k / 2 * 2) : *d_k;
      gui.push(SetConfig{changed});
    }
  }
  bias_switches(gui);
  bool tied = config.tied;
  if (checkbox(gui, "tied", kModelWords.tied, tied, kModelWords.tip_tied)) setter(gui, &Config::tied)(tied);
}

}  // namespace

const RowNumber kWidthInRow{kModelWords.d_model, "8888"}, kHeadsInRow{kModelWords.heads, "88"},
    kHeadsInWideRow{kModelWords.heads, "88 · d_k 888"};

void shape_controls(Gui& gui, const ControlsRow& row) {
  const Config& config = gui.state.document.config;
  int d_model = static_cast<int>(config.d_model);
  const std::vector<Index> widths = trained_values(gui.state, &Config::d_model);
  float width = number_label(gui, kWidthInRow, std::to_string(d_model), row);
  if (slider(gui, "d_model", d_model, kLeastSliderWidth, kMostSliderWidth, kModelWords.tip_d_model, width)) {
    // A typed number is taken as it is.
    const Index wanted = ImGui::GetIO().MouseDown[0] ? snapped_width(d_model, widths) : d_model;
    gui.push(SetConfig{with_d_model(dragged_from(gui.state), wanted)});
  }
  mark_trained(gui, shares_of(widths, kLeastSliderWidth, kMostSliderWidth));
  constexpr float kWide = 1200;
  const bool wide = ImGui::GetIO().DisplaySize.x >= kWide * gui.unit;
  const std::string d_k = wide ? " · d_k " + std::to_string(config.d_k()) : "";
  width = number_label(gui, wide ? kHeadsInWideRow : kHeadsInRow, std::to_string(config.num_heads) + d_k, row);
  // With a d_k that is set separately any number of heads will do.
  const auto heads = config.head_dim > 0 ? number_slider(gui, "heads", config.num_heads, 1, kMostSliderHeads,
                                                         kModelWords.tip_heads, width)
                                         : divisor_slider(gui, "heads", config.d_model, config.num_heads,
                                                          kMostSliderHeads, kModelWords.tip_heads, width);
  if (config.head_dim == 0) {
    std::vector<Index> positions;
    const auto possible = divisors(config.d_model, kMostSliderHeads);
    for (const Index number : trained_values(gui.state, &Config::num_heads))
      positions.push_back(std::lower_bound(possible.begin(), possible.end(), number) - possible.begin());
    mark_trained(gui, shares_of(positions, 0, static_cast<Index>(possible.size()) - 1));
  }
  if (heads) gui.push(SetConfig{with_heads(config, *heads)});
  layers_slider(gui, false, &row);
}

void model_controls(Gui& gui) {
  const Config& config = gui.state.document.config;
  section(gui, kModelWords.section_model);
  trained_control(gui);
  choices<Arch>(gui, kModelWords.arch, kModelWords.tip_arch, config.arch,
                {{Arch::encoder, kModelWords.encoder},
                 {Arch::decoder, kModelWords.decoder},
                 {Arch::encoder_decoder, kModelWords.encoder_decoder}},
                setter(gui, &Config::arch));
  if (config.arch == Arch::encoder_decoder) layers_slider(gui, true, nullptr);
}

void finer_model_controls(Gui& gui) {
  const Config& config = gui.state.document.config;
  seed_control(gui);
  choices<Position>(gui, kModelWords.positions, kModelWords.tip_positions, config.position,
                    {{Position::none, kModelWords.position_none},
                     {Position::sinusoidal, kModelWords.position_sinusoidal},
                     {Position::learned, kModelWords.position_learned},
                     {Position::rotary, kModelWords.position_rotary}},
                    [&](Position position) { gui.push_once(SetConfig{with_position(config, position)}); });
}

void block_controls(Gui& gui) {
  const Config& config = gui.state.document.config;
  section(gui, kModelWords.section_block);
  choices<Norm>(gui, kModelWords.norm, kModelWords.tip_norm, config.norm,
                {{Norm::post, kModelWords.norm_post}, {Norm::pre, kModelWords.norm_pre}}, setter(gui, &Config::norm));
  choices<NormKind>(gui, kModelWords.norm_kind, kModelWords.tip_norm_kind, config.norm_kind,
                    {{NormKind::layer_norm, kModelWords.norm_layer}, {NormKind::rms_norm, kModelWords.norm_rms}},
                    setter(gui, &Config::norm_kind));
  feed_forward_controls(gui);
  finer_controls(gui);
}

}  // namespace headlight
