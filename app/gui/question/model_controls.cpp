#include <algorithm>

#include "document/model_choice.h"
#include "gui/actions/question.h"
#include "gui/frame/controls.h"
#include "gui/question/question.h"
#include "words/any_sentence_words.h"
#include "words/model_words.h"

namespace headlight {
namespace {

/// Gives a function that sets one field of the model.
auto setter(Gui& gui, auto Config::*field) {
  return [&gui, field](auto value) {
    Config changed = gui.state.document.config;
    changed.*field = value;
    gui.say_once(SetConfig{changed});
  };
}

/// A slider over the divisors of `number`; gives the chosen one while it moves.
std::optional<Index> divisor_slider(Gui& gui, const char* name, Index number, Index now, Index most, const Words& tip) {
  const auto possible = divisors(number, most);
  int place = static_cast<int>(std::lower_bound(possible.begin(), possible.end(), now) - possible.begin());
  const int last = static_cast<int>(possible.size()) - 1;
  if (!slider(gui, name, place, 0, std::max(1, last), tip)) return std::nullopt;
  return possible[static_cast<std::size_t>(std::clamp(place, 0, last))];
}

std::optional<Index> number_slider(Gui& gui, const char* name, Index now, Index least, Index most, const Words& tip) {
  int value = static_cast<int>(now);
  if (!slider(gui, name, value, static_cast<int>(least), static_cast<int>(most), tip)) return std::nullopt;
  return value;
}

void shape_controls(Gui& gui) {
  const Config& config = gui.state.document.config;
  int d_model = static_cast<int>(config.d_model);
  control_label(gui, kModelWords.d_model, std::to_string(d_model));
  if (slider(gui, "d_model", d_model, kLeastSliderWidth, kMostSliderWidth, kModelWords.tip_d_model)) {
    const Index step = 4;  // a drag moves over multiples of 4; a typed number is taken as it is
    const Index snapped = ImGui::GetIO().MouseDown[0] ? (d_model + step / 2) / step * step : d_model;
    gui.say(SetConfig{with_d_model(config, snapped)});
  }
  control_label(gui, kModelWords.heads, std::to_string(config.num_heads) + " · d_k " + std::to_string(config.d_k()));
  // With a d_k of its own any number of heads will do.
  const auto heads =
      config.head_dim > 0
          ? number_slider(gui, "heads", config.num_heads, 1, kMostSliderHeads, kModelWords.tip_heads)
          : divisor_slider(gui, "heads", config.d_model, config.num_heads, kMostSliderHeads, kModelWords.tip_heads);
  if (heads) gui.say(SetConfig{with_heads(config, *heads)});

  const bool two_stacks = config.arch == Arch::encoder_decoder;
  if (two_stacks) {
    control_label(gui, kModelWords.encoder_layers, std::to_string(config.layers_of_encoder()));
    if (const auto layers = number_slider(gui, "encoder layers", config.layers_of_encoder(), 1, kMostSliderLayers,
                                          kModelWords.tip_layers)) {
      Config changed = config;
      changed.encoder_layers = *layers;
      gui.say(SetConfig{changed});
    }
  }
  control_label(gui, two_stacks ? kModelWords.decoder_layers : kModelWords.layers, std::to_string(config.num_layers));
  if (const auto layers =
          number_slider(gui, "layers", config.num_layers, 1, kMostSliderLayers, kModelWords.tip_layers)) {
    Config changed = config;
    if (two_stacks) changed.encoder_layers = config.layers_of_encoder();
    changed.num_layers = *layers;
    gui.say(SetConfig{changed});
  }
}

/// Starts a training of this shape, where one can be; else why not.
void train_shape_button(Gui& gui) {
  const AppState& state = gui.state;
  const Status possible = check_plan(default_plan(state.document.config));
  const bool busy = state.training && is_active(*state.training);
  ImGui::BeginDisabled(!possible || busy);
  if (flat_button(gui, "train this shape", gui.word(kModelWords.train_this_shape))) say_start(gui, true);
  ImGui::EndDisabled();
  explain_item(gui, kModelWords.tip_train_this_shape);
  if (!possible) wrapped_small(gui, possible.error().message, gui.colours().warning);
}

/// Trained or fresh weights, where the program came with trained ones.
void trained_control(Gui& gui) {
  const AppState& state = gui.state;
  if (!state.shipped || state.shipped->empty()) return;
  bool trained = state.document.trained;
  if (checkbox(gui, "trained", kModelWords.trained_weights, trained, kModelWords.tip_trained))
    gui.say_once(UseTrained{trained});
  if (is_any_sentence(state.document)) {
    wrapped_small(gui, gui.word(kAnySentenceWords.model), gui.colours().dim);
    explain_item(gui, kAnySentenceWords.tip_chosen);
  }
  if (!state.document.trained || state.document.model) return;
  const FontScope small(gui, TextSize::small);
  dim_text(gui, gui.word(kModelWords.no_trained_shape));
  if (flat_button(gui, "nearest trained", gui.word(kModelWords.nearest_trained))) gui.say_once(UseTrained{true});
  train_shape_button(gui);
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
  for (const Activation activation : {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu}) {
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
    gui.say(SetConfig{changed});
  }
  activation_choice(gui);
  bool gated = config.gated;
  if (checkbox(gui, "gated", kModelWords.gated, gated, kModelWords.tip_gated)) setter(gui, &Config::gated)(gated);
}

/// What most readers never change: below everything else.
void finer_controls(Gui& gui) {
  const Config& config = gui.state.document.config;
  control_label(gui, kModelWords.kv_heads, std::to_string(config.kv_heads()));
  if (const auto heads = divisor_slider(gui, "kv heads", config.num_heads, config.kv_heads(), kMostSliderHeads,
                                        kModelWords.tip_kv_heads)) {
    Config changed = config;
    changed.num_kv_heads = *heads == config.num_heads ? 0 : *heads;
    gui.say(SetConfig{changed});
  }
  bool own = config.head_dim > 0;
  if (checkbox(gui, "own d_k", kModelWords.own_d_k, own, kModelWords.tip_own_d_k))
    gui.say_once(SetConfig{with_own_d_k(config, own)});
  if (own) {
    control_label(gui, kModelWords.d_k, std::to_string(config.head_dim));
    if (const auto d_k = number_slider(gui, "d_k", config.head_dim, 1, kMostSliderHeadDim, kModelWords.tip_own_d_k)) {
      Config changed = config;
      changed.head_dim = config.position == Position::rotary ? std::max<Index>(2, *d_k / 2 * 2) : *d_k;
      gui.say(SetConfig{changed});
    }
  }
  bias_switches(gui);
  bool tied = config.tied;
  if (checkbox(gui, "tied", kModelWords.tied, tied, kModelWords.tip_tied)) setter(gui, &Config::tied)(tied);
}

}  // namespace

void model_controls(Gui& gui) {
  const Config& config = gui.state.document.config;
  section(gui, kModelWords.section_model);
  trained_control(gui);
  choices<Arch>(gui, kModelWords.arch, kModelWords.tip_arch, config.arch,
                {{Arch::encoder, kModelWords.encoder},
                 {Arch::decoder, kModelWords.decoder},
                 {Arch::encoder_decoder, kModelWords.encoder_decoder}},
                setter(gui, &Config::arch));
  shape_controls(gui);
  seed_control(gui);
  choices<Position>(gui, kModelWords.positions, kModelWords.tip_positions, config.position,
                    {{Position::none, kModelWords.position_none},
                     {Position::sinusoidal, kModelWords.position_sinusoidal},
                     {Position::learned, kModelWords.position_learned},
                     {Position::rotary, kModelWords.position_rotary}},
                    [&](Position position) { gui.say_once(SetConfig{with_position(config, position)}); });
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
