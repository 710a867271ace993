#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "gui/draw.h"
#include "gui/panels.h"

namespace headlight {
namespace {

void section(Gui& gui, Str title) {
  ImGui::Dummy({0, 6 * gui.unit});
  ImGui::TextUnformatted(gui.word(title));
}

/// A label on its own line, its value at the right, the control below as wide as the panel.
void label(Gui& gui, Str string, const std::string& right = {}) {
  dim_text(gui, gui.word(string));
  if (right.empty()) return;
  const FontScope small(gui, TextSize::small);
  ImGui::SameLine(ImGui::GetContentRegionMax().x - ImGui::CalcTextSize(right.c_str()).x);
  ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().dim);
  ImGui::TextUnformatted(right.c_str());
  ImGui::PopStyleColor();
}

/// Sliders are low bars: their value stands beside the label.
class SlimScope {
 public:
  explicit SlimScope(const Gui& gui) {
    gui.fonts.push(TextSize::small);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2{4 * gui.unit, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_GrabMinSize, 14 * gui.unit);
    ImGui::SetNextItemWidth(-1);
  }
  ~SlimScope() {
    ImGui::PopStyleVar(2);
    ImGui::PopFont();
  }
  SlimScope(const SlimScope&) = delete;
};

/// True while the value moves; the step of undo ends when the slider is let go.
bool slider(Gui& gui, const char* name, int& value, int least, int most, Str tip) {
  const SlimScope slim(gui);
  ImGui::PushID(name);
  const bool moved = ImGui::SliderInt("##slider", &value, least, most, "", ImGuiSliderFlags_AlwaysClamp);
  ImGui::PopID();
  gui.name_item(name);
  if (ImGui::IsItemDeactivatedAfterEdit()) gui.say(EndGesture{});
  explain_item(gui, tip);
  return moved;
}

template <class Choice>
void choices(Gui& gui, Str title, Str tip, Choice now, std::initializer_list<std::pair<Choice, Str>> all,
             const std::function<void(Choice)>& choose) {
  label(gui, title);
  bool first = true;
  for (const auto& [choice, string] : all) {
    if (!first) ImGui::SameLine(0, 0);
    first = false;
    const std::string name = std::string(words(Language::en, title)) + " " + words(Language::en, string);
    if (flat_button(gui, name.c_str(), gui.word(string), now == choice)) choose(choice);
    explain_item(gui, tip);
  }
}

bool checkbox(Gui& gui, const char* name, Str string, bool& value, Str tip) {
  ImGui::PushID(name);
  const bool changed = ImGui::Checkbox(gui.word(string), &value);
  ImGui::PopID();
  gui.name_item(name);
  explain_item(gui, tip);
  return changed;
}

std::vector<Index> divisors(Index d_model) {
  std::vector<Index> all;
  for (Index heads = 1; heads <= std::min(kMostSliderHeads, d_model); ++heads)
    if (d_model % heads == 0) all.push_back(heads);
  return all;
}

void mask_controls(Gui& gui) {
  const MaskSpec& mask = gui.state.document.mask;
  section(gui, Str::section_mask);
  SetMask wanted{mask.causal, mask.padding};
  bool changed = checkbox(gui, "causal", Str::mask_causal, wanted.causal, Str::tip_causal);
  changed = checkbox(gui, "padding", Str::mask_padding, wanted.padding, Str::tip_padding) || changed;
  if (changed) gui.say_once(wanted);

  if (const Request* request = headlight::wanted(gui.state); request && !request->model) {
    int pad = static_cast<int>(gui.state.document.pad);
    const int most = std::max(1, static_cast<int>(request->tokens.size()));
    label(gui, Str::pad_last, std::to_string(pad));
    if (slider(gui, "pad", pad, 0, most, Str::tip_pad_here)) gui.say(SetPad{static_cast<std::size_t>(pad)});
  }
  ImGui::PushStyleColor(ImGuiCol_Text, gui.state.view.painting ? gui.colours().accent : gui.colours().text);
  if (ImGui::Button(gui.word(Str::paint), {-1, 0})) gui.say(SetPainting{!gui.state.view.painting});
  ImGui::PopStyleColor();
  gui.name_item("paint");
  explain_item(gui, Str::paint_hint);
  if (!mask.painted.empty()) {
    if (ImGui::Button(gui.word(Str::clear_paint), {-1, 0})) gui.say_once(ClearPaint{});
    gui.name_item("clear paint");
  }
  if (mask.given) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(gui.word(Str::mask_from_file));
    ImGui::SameLine();
    if (flat_button(gui, "remove mask", gui.word(Str::remove))) gui.say_once(GiveMask{});
  }
}

void model_controls(Gui& gui) {
  const Config& config = gui.state.document.config;
  section(gui, Str::section_model);

  int d_model = static_cast<int>(config.d_model);
  label(gui, Str::d_model, std::to_string(d_model));
  if (slider(gui, "d_model", d_model, kLeastSliderWidth, kMostSliderWidth, Str::tip_d_model)) {
    const Index step = 4;  // a drag moves over multiples of 4; a typed number is taken as it is
    const Index snapped = ImGui::GetIO().MouseDown[0] ? (d_model + step / 2) / step * step : d_model;
    gui.say(SetConfig{with_d_model(config, snapped)});
  }

  const auto possible = divisors(config.d_model);
  const auto at = std::lower_bound(possible.begin(), possible.end(), config.num_heads);
  int place = static_cast<int>(at - possible.begin());
  label(gui, Str::heads, std::to_string(config.num_heads) + " · d_k " + std::to_string(config.d_k()));
  if (slider(gui, "heads", place, 0, std::max(1, static_cast<int>(possible.size()) - 1), Str::tip_heads)) {
    Config moved = config;
    moved.num_heads = possible[static_cast<std::size_t>(std::clamp(place, 0, static_cast<int>(possible.size()) - 1))];
    gui.say(SetConfig{moved});
  }

  int layers = static_cast<int>(config.num_layers);
  label(gui, Str::layers, std::to_string(layers));
  if (slider(gui, "layers", layers, 1, kMostSliderLayers, Str::tip_layers)) {
    Config moved = config;
    moved.num_layers = layers;
    gui.say(SetConfig{moved});
  }

  int seed = static_cast<int>(std::min<std::uint64_t>(config.seed, 1000000000));
  label(gui, Str::seed);
  ImGui::SetNextItemWidth(-1);
  if (ImGui::InputInt("##seed", &seed)) {
    Config moved = config;
    moved.seed = static_cast<std::uint64_t>(std::max(0, seed));
    gui.say_once(SetConfig{moved});
  }
  gui.name_item("seed");
  explain_item(gui, Str::tip_seed);

  choices<Position>(gui, Str::positions, Str::tip_positions, config.position,
                    {{Position::none, Str::position_none}, {Position::sinusoidal, Str::position_sinusoidal}},
                    [&](Position position) {
                      Config moved = config;
                      moved.position = position;
                      gui.say_once(SetConfig{moved});
                    });
}

void score_controls(Gui& gui) {
  section(gui, Str::section_scores);
  const auto& scale = gui.state.document.edits.scale;
  const float automatic = 1.0f / std::sqrt(static_cast<float>(gui.state.document.config.d_k()));
  const float now = gui.state.trace && !scale ? gui.state.trace->scale : scale.value_or(automatic);
  bool by_d_k = !scale;
  if (checkbox(gui, "scale automatic", Str::scale_automatic, by_d_k, Str::tip_scale))
    gui.say_once(SetScale{by_d_k ? std::nullopt : std::optional(now)});
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", static_cast<double>(now));
  label(gui, Str::scale, text);
  const SlimScope slim(gui);
  float value = now;
  if (ImGui::SliderFloat("##scale", &value, 0.0f, 2.0f, "") && std::isfinite(value)) gui.say(SetScale{value});
  gui.name_item("scale");
  if (ImGui::IsItemDeactivatedAfterEdit()) gui.say(EndGesture{});
  explain_item(gui, Str::tip_scale);
}

void block_controls(Gui& gui) {
  const Config& config = gui.state.document.config;
  section(gui, Str::section_block);
  const auto set = [&](auto Config::*field) {
    return [&gui, config, field](auto value) {
      Config changed = config;
      changed.*field = value;
      gui.say_once(SetConfig{changed});
    };
  };
  choices<Arch>(gui, Str::arch, Str::tip_arch, config.arch, {{Arch::encoder, Str::encoder}, {Arch::decoder, Str::decoder}},
                set(&Config::arch));
  choices<Norm>(gui, Str::norm, Str::tip_norm, config.norm, {{Norm::post, Str::norm_post}, {Norm::pre, Str::norm_pre}},
                set(&Config::norm));
  label(gui, Str::activation);
  for (const Activation activation : {Activation::relu, Activation::gelu}) {
    if (activation != Activation::relu) ImGui::SameLine(0, 0);
    const std::string text(name(activation));
    if (flat_button(gui, text.c_str(), text.c_str(), config.activation == activation)) set(&Config::activation)(activation);
    explain_item(gui, Str::tip_activation);
  }
  int ffn = static_cast<int>(config.ffn);
  label(gui, Str::feed_forward, std::to_string(ffn));
  if (slider(gui, "ffn", ffn, 0, kMostSliderFfn, Str::tip_feed_forward)) {
    Config changed = config;
    changed.ffn = ffn;
    gui.say(SetConfig{changed});
  }
  bool bias = config.bias;
  if (checkbox(gui, "bias", Str::bias, bias, Str::tip_bias)) set(&Config::bias)(bias);
}

}  // namespace

Config with_d_model(Config config, Index d_model) {
  config.d_model = std::clamp(d_model, kLeastSliderWidth, kMostSliderWidth);
  if (config.d_model % config.num_heads != 0)
    config.num_heads = nearest_divisor(config.d_model, config.num_heads, kMostSliderHeads);
  return config;
}

Config with_heads_moved(Config config, int steps) {
  const auto possible = divisors(config.d_model);
  const auto at = std::lower_bound(possible.begin(), possible.end(), config.num_heads) - possible.begin();
  const auto last = static_cast<std::ptrdiff_t>(possible.size()) - 1;
  config.num_heads = possible[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at + steps, 0, last))];
  return config;
}

void controls_panel(Gui& gui) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2{8 * gui.unit, 3 * gui.unit});
  mask_controls(gui);
  if (!gui.state.document.model) model_controls(gui);
  score_controls(gui);
  if (!gui.state.document.model) block_controls(gui);
  ImGui::PopStyleVar();
}

}  // namespace headlight
