// The commands that rows of the table of actions push, where several rows differ in a value alone.
#pragma once

#include <algorithm>

#include "gui/actions/question.h"
#include "gui/frame/gui.h"
#include "gui/frame/stacks.h"

namespace headlight::pushes {

template <auto command>
void push_value(Gui& gui) {
  gui.push(command);
}
template <GridShow way>
void show_grid(Gui& gui) {
  gui.push(ShowView{View::heads});
  gui.push(ShowGrid{way});
}
template <MapKind maps>
void show_maps_of(Gui& gui) {
  gui.push(ShowView{View::heads});
  gui.push(ShowMaps{maps});
}
template <class Command>
void push_new(Gui& gui) {
  gui.push(Command{});
}
template <class Command>
void push_new_once(Gui& gui) {
  gui.push_once(Command{});
}
template <Browser::Purpose purpose>
void browse(Gui& gui) {
  gui.push(Browse{purpose, {}});
}
template <bool off>
void switch_head(Gui& gui) {
  gui.push_once(SwitchHead{gui.state.view.chosen, off});
}
template <bool SetMask::*part, bool on>
void set_mask(Gui& gui) {
  const MaskSpec& mask = scoped_mask(gui.state);
  SetMask set{mask.causal, mask.padding, gui.state.view.chosen.stack, scoped_layer(gui.state)};
  set.*part = on;
  gui.push_once(set);
}
template <Config (*change)(Config)>
void config(Gui& gui) {
  change_config(gui, change);
}
template <auto Config::*field, auto step, auto least, auto most>
Config moved(Config config) {
  config.*field = std::clamp<Index>(config.*field + step, least, most);
  return config;
}
template <int steps>
Config d_model_moved(Config config) {
  return with_d_model(config, config.d_model + 4 * steps);
}
template <int steps>
Config heads_moved(Config config) {
  return with_heads_moved(config, steps);
}
template <int steps>
Config seed_moved(Config config) {
  config.seed += static_cast<std::uint64_t>(steps);
  return config;
}
template <BlockPart part>
bool can_switch(const Gui& gui) {
  return has_part_here(gui, part);
}
template <BlockPart part>
void switch_part(Gui& gui) {
  switch_part_here(gui, part);
}
template <int steps>
void pad(Gui& gui) {
  gui.push_once(SetPad{gui.state.document.pad + static_cast<std::size_t>(steps)});
}

}  // namespace headlight::pushes
