#include "gui/actions/actions.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "gui/actions/look.h"
#include "gui/actions/possible.h"
#include "gui/actions/question.h"
#include "gui/actions/window.h"
#include "gui/frame/scope.h"
#include "session/number_commands.h"

namespace headlight {
namespace {

using namespace possible;
using Group = ActionGroup;

// What a row says.

template <auto command>
void says(Gui& gui) {
  gui.say(command);
}
template <GridShow way>
void show_grid(Gui& gui) {
  gui.say(ShowView{View::heads});
  gui.say(ShowGrid{way});
}
template <MapKind maps>
void show_maps_of(Gui& gui) {
  gui.say(ShowView{View::heads});
  gui.say(ShowMaps{maps});
}
template <class Command>
void say(Gui& gui) {
  gui.say(Command{});
}
template <class Command>
void say_once(Gui& gui) {
  gui.say_once(Command{});
}
template <Browser::Purpose purpose>
void browse(Gui& gui) {
  gui.say(Browse{purpose, {}});
}
template <bool off>
void switch_head(Gui& gui) {
  gui.say_once(SwitchHead{gui.state.view.chosen, off});
}
template <bool SetMask::*part, bool on>
void set_mask(Gui& gui) {
  const MaskSpec& mask = scoped_mask(gui.state);
  SetMask set{mask.causal, mask.padding, gui.state.view.chosen.stack, scoped_layer(gui.state)};
  set.*part = on;
  gui.say_once(set);
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
  gui.say_once(SetPad{gui.state.document.pad + static_cast<std::size_t>(steps)});
}

// A key, alone or with its modifiers.
constexpr Chord bare(Key key) { return {key}; }
constexpr Chord shift(Key key) { return {.key = key, .shift = true}; }
constexpr Chord ctrl(Key key) { return {.key = key, .ctrl = true}; }
constexpr Chord ctrl_shift(Key key) { return {.key = key, .ctrl = true, .shift = true}; }
constexpr Chord alt(Key key) { return {.key = key, .alt = true}; }
constexpr Chord alt_shift(Key key) { return {.key = key, .shift = true, .alt = true}; }

// Keys without Ctrl and Alt only look: a letter typed anywhere goes into the sentence, and nothing that changes the
// model, the mask or the words is a slip of the finger away. The switch of a head, Space, is the one edit among them.
// clang-format off
constexpr Action kActions[] = {
    {Act::show_heads, Group::views, {"Show all heads", "显示所有头"}, {bare(Key::digit_1)},
     [](const Gui& gui) { return !in_view(gui, View::heads); }, says<ShowView{View::heads}>},
    {Act::next_grid, Group::views, {"Next way to show all heads", "下一种显示所有头的方式"}, {bare(Key::digit_1)}, in_heads,
     [](Gui& gui) { step_grid(gui, false); }},
    {Act::previous_grid, Group::views, {"Previous way to show all heads", "上一种显示所有头的方式"},
     {shift(Key::digit_1)}, in_heads,
     [](Gui& gui) { step_grid(gui, true); }},
    {Act::grid_maps, Group::views, {"All heads as maps", "所有头：大图"}, {}, nullptr, show_grid<GridShow::maps>},
    {Act::grid_glance, Group::views, {"All heads at a glance", "所有头：一览"},
     {}, has_many_heads, show_grid<GridShow::glance>},
    {Act::grid_relations, Group::views, {"Relations, layer by layer", "各种关系，逐层"},
     {}, nullptr, show_grid<GridShow::relations>},
    {Act::next_maps, Group::views, {"Maps: the next kind of number", "图：下一种数值"}, {bare(Key::backslash)}, has_maps,
     [](Gui& gui) { step_map_kind(gui, false); }},
    {Act::previous_maps, Group::views, {"Maps: the kind of number before", "图：上一种数值"},
     {shift(Key::backslash)}, has_maps,
     [](Gui& gui) { step_map_kind(gui, true); }},
    {Act::weight_maps, Group::views, {"Maps of weights", "权重图"}, {}, nullptr, show_maps_of<MapKind::weights>},
    {Act::norm_maps, Group::views, {"Maps of what each head brings (norms)", "带来多少的图（范数）"},
     {}, nullptr, show_maps_of<MapKind::norms>},
    {Act::rollout_maps, Group::views, {"Maps through all layers (rollout)", "贯穿各层的图（累积）"},
     {}, nullptr, show_maps_of<MapKind::rollout>},
    {Act::show_inside, Group::views, {"Look inside a block", "查看模块内部"}, {bare(Key::digit_2)}, nullptr,
     says<ShowView{View::inside}>},
    {Act::steps_or_diagram, Group::views, {"Inside: steps or diagram", "内部：逐步或结构图"}, {alt(Key::y)}, isnt<in_code>,
     [](Gui& gui) { gui.say(ShowSteps{!gui.state.view.steps}); }},
    {Act::look_back, Group::views, {"Inside: back to what was looked at", "内部：返回之前查看的"}, {bare(Key::backspace)},
     [](const Gui& gui) { return !gui.state.view.looked.empty(); }, say<LookBack>},
    {Act::show_flow, Group::views, {"Lines between the words", "词之间的连线"}, {bare(Key::digit_3)}, nullptr,
     says<ShowView{View::flow}>},
    {Act::show_train, Group::views, {"Train a model", "训练模型"},
     {bare(Key::digit_4)}, nullptr, says<ShowView{View::train}>},
    {Act::show_compare, Group::views, {"Compare two answers", "对比两个结果"}, {bare(Key::digit_5)}, nullptr,
     says<ShowView{View::compare}>},
    {Act::show_code, Group::views, {"The layer as a program", "把这一层写成程序"}, {bare(Key::digit_7)}, nullptr, 
     says<ShowView{View::code}>},
    {Act::next_dialect, Group::views, {"Code: next dialect", "代码：下一种写法"}, {bare(Key::semicolon)}, in_code,
     [](Gui& gui) { step_dialect(gui, false); }},
    {Act::previous_dialect, Group::views, {"Code: previous dialect", "代码：上一种写法"}, {shift(Key::semicolon)}, in_code,
     [](Gui& gui) { step_dialect(gui, true); }},
    {Act::whole_block, Group::views, {"Code: the attention or the whole block", "代码：只写注意力或整个模块"},
     {alt(Key::y)}, in_code,
     [](Gui& gui) { gui.say(SetCode{{gui.state.view.code.dialect, !gui.state.view.code.block}}); }},
    {Act::next_code_line, Group::views, {"Code: the next line's matrix", "代码：下一行的矩阵"}, {bare(Key::page_down)}, in_code,
     [](Gui& gui) { step_code_line(gui, false); }, true},
    {Act::previous_code_line, Group::views, {"Code: the line before", "代码：上一行的矩阵"}, {bare(Key::page_up)}, in_code,
     [](Gui& gui) { step_code_line(gui, true); }, true},
    {Act::copy_program, Group::views, {"Code: copy the program", "代码：复制程序"}, {alt(Key::u)}, in_code, copy_program},
    {Act::keep_answer, Group::views, {"Compare with this: keep the answer as A", "与此对比：把这个结果作为 A"},
     {shift(Key::digit_5)},
     answered, say<KeepAnswer>},
    {Act::swap_answers, Group::views, {"Swap A and B", "交换 A 与 B"}, {alt(Key::home)}, has_kept, say<SwapKept>},
    {Act::drop_answer, Group::views, {"Let A go", "放下 A"}, {bare(Key::del)}, has_kept, say<DropKept>},
    {Act::open_palette, Group::views, {"Everything that can be done, by name", "按名称查找所有操作"}, {ctrl(Key::p)}, nullptr,
     [](Gui& gui) { gui.say(ShowPalette{CommandPalette{}}); }},
    {Act::show_keys, Group::views, {"All keys", "所有按键"}, {bare(Key::f1), shift(Key::slash)}, nullptr,
     [](Gui& gui) { gui.say(ShowHelp{!gui.state.view.help}); }},
    {Act::leave, Group::views, {"Leave the box, close, let a cell go", "离开输入框，关闭，取消固定"},
     {bare(Key::escape)}, nullptr, leave},

    {Act::next_head, Group::head, {"Next head", "下一个头"}, {bare(Key::right_bracket)}, answered,
     [](Gui& gui) { choose_head(gui, 0, 1); }, true},
    {Act::previous_head, Group::head, {"Previous head", "上一个头"}, {bare(Key::left_bracket)}, answered,
     [](Gui& gui) { choose_head(gui, 0, -1); }, true},
    {Act::next_layer, Group::head, {"Next layer", "下一层"}, {shift(Key::right_bracket)}, answered,
     [](Gui& gui) { choose_head(gui, 1, 0); }, true},
    {Act::previous_layer, Group::head, {"Previous layer", "上一层"}, {shift(Key::left_bracket)}, answered,
     [](Gui& gui) { choose_head(gui, -1, 0); }, true},
    {Act::next_stack, Group::head, {"Encoder, decoder, cross-attention", "编码器、解码器、交叉注意力"}, {ctrl(Key::tab)}, answered,
     [](Gui& gui) { step_stack(gui, false); }},
    {Act::previous_stack, Group::head, {"Cross-attention, decoder, encoder", "交叉注意力、解码器、编码器"},
     {ctrl_shift(Key::tab)}, answered,
     [](Gui& gui) { step_stack(gui, true); }},
    {Act::head_off, Group::head, {"Switch the chosen head off", "关闭所选的头"}, {bare(Key::space)},
     [](const Gui& gui) { return has_head(gui) && !head_off(gui); }, switch_head<true>},
    {Act::head_on, Group::head, {"Switch the chosen head on", "打开所选的头"}, {bare(Key::space)},
     [](const Gui& gui) { return has_head(gui) && head_off(gui); }, switch_head<false>},
    {Act::pin_hovered, Group::head, {"Pin the cell under the pointer", "固定指针下的单元格"}, {bare(Key::enter)},
     [](const Gui& gui) { return answered(gui) && (gui.state.view.hovered || gui.state.view.hovered_kept); },
     [](Gui& gui) { gui.say(Pin{gui.state.view.hovered, gui.state.view.hovered_kept}); }},
    {Act::move_left, Group::head, {"Move the pinned cell left", "固定的单元格左移"}, {bare(Key::left)}, answered,
     [](Gui& gui) { move_cell(gui, 0, -1); }, true},
    {Act::move_right, Group::head, {"Move the pinned cell right", "固定的单元格右移"}, {bare(Key::right)}, answered,
     [](Gui& gui) { move_cell(gui, 0, 1); }, true},
    {Act::move_up, Group::head, {"Move the pinned cell up", "固定的单元格上移"}, {bare(Key::up)}, answered,
     [](Gui& gui) { move_cell(gui, -1, 0); }, true},
    {Act::move_down, Group::head, {"Move the pinned cell down", "固定的单元格下移"}, {bare(Key::down)}, answered,
     [](Gui& gui) { move_cell(gui, 1, 0); }, true},
    {Act::next_order, Group::head, {"Next order of the heads", "头的下一种顺序"}, {bare(Key::semicolon)}, in_heads,
     [](Gui& gui) { step_order(gui, false); }, true},
    {Act::previous_order, Group::head, {"Previous order of the heads", "头的上一种顺序"}, {shift(Key::semicolon)}, in_heads,
     [](Gui& gui) { step_order(gui, true); }, true},
    {Act::find_heads, Group::head, {"Find heads by the words they look from and at", "按看与被看的词查找头"}, {bare(Key::slash)},
     in_heads, begin_search},
    {Act::next_difference_order, Group::head, {"Compare: next order of the heads", "对比：头的下一种顺序"},
     {bare(Key::semicolon)},
     has_joint, [](Gui& gui) { step_differences(gui, false); }, true},
    {Act::previous_difference_order, Group::head, {"Compare: previous order of the heads", "对比：头的上一种顺序"},
     {shift(Key::semicolon)}, has_joint, [](Gui& gui) { step_differences(gui, true); }, true},
    {Act::zoom_in, Group::head, {"Zoom the large head in", "放大大图"}, {bare(Key::equal)}, zooms,
     [](Gui& gui) { zoom(gui, 1.5f); }, true},
    {Act::zoom_out, Group::head, {"Zoom the large head out", "缩小大图"}, {bare(Key::minus)}, zooms,
     [](Gui& gui) { zoom(gui, 1 / 1.5f); }, true},
    {Act::zoom_whole, Group::head, {"Show all of the large head", "显示整个大图"},
     {bare(Key::home)}, has_weights, say<SetViewport>},
    {Act::zoom_in_compare, Group::head, {"Compare: zoom the three maps in", "对比：放大三幅图"}, {bare(Key::equal)}, has_joint,
     [](Gui& gui) { zoom_compared(gui, 1.5f); }, true},
    {Act::zoom_out_compare, Group::head, {"Compare: zoom the three maps out", "对比：缩小三幅图"},
     {bare(Key::minus)}, has_joint,
     [](Gui& gui) { zoom_compared(gui, 1 / 1.5f); }, true},
    {Act::zoom_whole_compare, Group::head, {"Compare: show all of the three maps", "对比：显示三幅图的全部"},
     {bare(Key::home)}, has_joint,
     say<SetComparedPart>},
    {Act::fewer_lines, Group::head, {"Flow: fewer lines", "连线：更少"}, {bare(Key::equal)}, in_flow,
     [](Gui& gui) { change_threshold(gui, 1.25f); }, true},
    {Act::more_lines, Group::head, {"Flow: more lines", "连线：更多"}, {bare(Key::minus)}, in_flow,
     [](Gui& gui) { change_threshold(gui, 1 / 1.25f); }, true},
    {Act::lines_of_heads, Group::head, {"Flow: all heads or the chosen one", "连线：所有头或所选的头"}, {bare(Key::home)}, in_flow,
     [](Gui& gui) {
       FlowLook flow = gui.state.view.flow;
       flow.heads = flow.heads ? std::nullopt : std::optional(all_heads_of_layer(gui.state));
       gui.say(SetFlow{flow});
     }},
    {Act::log_colours, Group::head, {"Logarithmic colours", "对数颜色"}, {alt(Key::g)}, isnt<is_log>,
     says<SetColourScale{Scale::log}>},
    {Act::linear_colours, Group::head, {"Linear colours", "线性颜色"},
     {alt(Key::g)}, is_log, says<SetColourScale{Scale::linear}>},
    {Act::own_range, Group::head, {"Each map its own scale", "每张图自己的色标"}, {alt_shift(Key::g)}, isnt<is_own>,
     says<SetOwnRange{true}>},
    {Act::shared_range, Group::head, {"One scale for all maps", "所有图共用一个色标"}, {alt_shift(Key::g)}, is_own,
     says<SetOwnRange{false}>},
    {Act::fold_special, Group::head, {"Fold special tokens, or show them", "折叠特殊词元，或显示"}, {alt(Key::z)},
     [](const Gui& gui) { return can_fold(gui.state, &FoldChoice::special); },
     [](Gui& gui) { toggle_fold(gui, &FoldChoice::special); }},
    {Act::merge_words, Group::head, {"Merge subwords into words, or split them", "子词合并成词，或分开"}, {alt_shift(Key::z)},
     [](const Gui& gui) { return can_fold(gui.state, &FoldChoice::words); },
     [](Gui& gui) { toggle_fold(gui, &FoldChoice::words); }},
    {Act::next_pair_part, Group::head, {"Pair of sentences: all, A→A, A→B, B→A, B→B", "句对：全部、A→A、A→B、B→A、B→B"},
     {bare(Key::digit_6)}, [](const Gui& gui) { return can_choose_pair_part(gui.state); },
     [](Gui& gui) { step_pair_part(gui, false); }, true},
    {Act::previous_pair_part, Group::head, {"Pair of sentences: B→B, B→A, A→B, A→A, all", "句对：B→B、B→A、A→B、A→A、全部"},
     {shift(Key::digit_6)}, [](const Gui& gui) { return can_choose_pair_part(gui.state); },
     [](Gui& gui) { step_pair_part(gui, true); }, true},
    {Act::next_sentence, Group::head, {"Next sentence of the batch", "批次中的下一句"}, {alt(Key::n)},
     [](const Gui& gui) { return gui.state.requests.size() > 1; }, [](Gui& gui) { step_sentence(gui, false); }, true},
    {Act::previous_sentence, Group::head, {"Previous sentence of the batch", "批次中的上一句"}, {alt_shift(Key::n)},
     [](const Gui& gui) { return gui.state.requests.size() > 1; }, [](Gui& gui) { step_sentence(gui, true); }, true},
    {Act::scope, Group::head, {"Mask and scale: all layers or this one", "掩码与缩放：所有层或本层"}, {alt(Key::c)}, answered,
     [](Gui& gui) { gui.say(SetScope{!gui.state.view.one_layer}); }},

    {Act::type_sentence, Group::question, {"Type a sentence", "输入句子"}, {ctrl(Key::l)}, nullptr,
     [](Gui& gui) { gui.say(FocusText{true}); }},
    {Act::undo, Group::question, {"Undo", "撤销"}, {ctrl(Key::z)},
     [](const Gui& gui) { return !gui.state.undo.empty() || gui.state.gesture; }, say<Undo>, true},
    {Act::redo, Group::question, {"Redo", "重做"}, {ctrl_shift(Key::z), ctrl(Key::y)},
     [](const Gui& gui) { return !gui.state.redo.empty(); }, say<Redo>, true},
    {Act::causal_on, Group::question, {"Hide later words: causal mask on", "遮住后面的词：打开因果掩码"},
     {alt(Key::m)}, isnt<is_causal>,
     set_mask<&SetMask::causal, true>},
    {Act::causal_off, Group::question, {"Show later words: causal mask off", "看到后面的词：关闭因果掩码"}, {alt(Key::m)}, is_causal,
     set_mask<&SetMask::causal, false>},
    {Act::padding_on, Group::question, {"Hide padding: padding mask on", "遮住填充：打开填充掩码"}, {alt_shift(Key::m)},
     isnt<is_padded>, set_mask<&SetMask::padding, true>},
    {Act::padding_off, Group::question, {"Show padding: padding mask off", "看到填充：关闭填充掩码"},
     {alt_shift(Key::m)}, is_padded,
     set_mask<&SetMask::padding, false>},
    {Act::paint_mask, Group::question, {"Paint the mask, or stop painting", "开始或停止绘制掩码"}, {alt(Key::p)},
     [](const Gui& gui) { return answered(gui) && !is_folded(gui); },
     [](Gui& gui) { gui.say(SetPainting{!gui.state.view.painting}); }},
    {Act::block_cell, Group::question, {"Block or allow the pinned cell", "屏蔽或允许固定的单元格"}, {alt(Key::x)},
     [](const Gui& gui) { return pins_tokens(gui) && !nothing_asked(gui.state); }, block_pinned},
    {Act::clear_paint, Group::question, {"Clear what was painted", "清除绘制的掩码"}, {alt(Key::backspace)},
     [](const Gui& gui) { return !scoped_mask(gui.state).painted.empty(); },
     [](Gui& gui) { gui.say_once(ClearPaint{gui.state.view.chosen.stack, scoped_layer(gui.state)}); }},
    {Act::more_padding, Group::question, {"One padding token more", "填充词元增加一个"},
     {alt(Key::period)}, can_pad, pad<1>, true},
    {Act::less_padding, Group::question, {"One padding token less", "填充词元减少一个"},
     {alt(Key::comma)}, has_padding, pad<-1>, true},
    {Act::larger_scale, Group::question, {"Larger scale: sharper attention", "缩放增大：注意力更集中"}, {alt(Key::v)}, answered,
     [](Gui& gui) { multiply_scale(gui, 1.25f); }, true},
    {Act::smaller_scale, Group::question, {"Smaller scale: flatter attention", "缩放减小：注意力更平"},
     {alt_shift(Key::v)}, answered,
     [](Gui& gui) { multiply_scale(gui, 1 / 1.25f); }, true},
    {Act::own_scale_off, Group::question, {"Scale 1/√d_k again", "恢复缩放 1/√d_k"}, {alt(Key::digit_0)},
     [](const Gui& gui) { return scoped_scale(gui.state).has_value(); },
     [](Gui& gui) {
       say_scale(gui, std::nullopt);
       gui.say(EndGesture{});
     }},
    {Act::join_tokens, Group::question, {"Join the pinned row's token with the next", "固定行的词元与下一个合并"},
     {alt(Key::j)}, can_join,
     join_pinned},
    {Act::cut_token, Group::question, {"Cut the pinned row's token in two", "把固定行的词元切成两个"},
     {alt(Key::i)}, can_cut, cut_pinned},
    {Act::split_text, Group::question, {"Tokens: words or characters", "词元：按词或按字"}, {alt(Key::w)}, takes_model,
     [](Gui& gui) {
       gui.say_once(SetSplit{gui.state.document.source.split == Split::words ? Split::characters : Split::words});
     }},
    {Act::next_kind, Group::model, {"Encoder, decoder, encoder-decoder", "编码器、解码器、编码器-解码器"}, {alt(Key::k)}, takes_model,
     config<next_kind>},
    {Act::wider_model, Group::model, {"Larger d_model", "d_model 增大"},
     {alt(Key::d)}, takes_model, config<d_model_moved<1>>, true},
    {Act::narrower_model, Group::model, {"Smaller d_model", "d_model 减小"}, {alt_shift(Key::d)}, takes_model,
     config<d_model_moved<-1>>, true},
    {Act::more_heads, Group::model, {"More heads", "增加头数"}, {alt(Key::h)}, takes_model, config<heads_moved<1>>, true},
    {Act::fewer_heads, Group::model, {"Fewer heads", "减少头数"},
     {alt_shift(Key::h)}, takes_model, config<heads_moved<-1>>, true},
    {Act::more_layers, Group::model, {"One layer more", "增加一层"}, {alt(Key::l)}, takes_model,
     config<moved<&Config::num_layers, 1, 1, kMostSliderLayers>>, true},
    {Act::fewer_layers, Group::model, {"One layer less", "减少一层"}, {alt_shift(Key::l)}, takes_model,
     config<moved<&Config::num_layers, -1, 1, kMostSliderLayers>>, true},
    {Act::next_seed, Group::model, {"Next seed", "下一个种子"}, {alt(Key::s)}, takes_model, config<seed_moved<1>>, true},
    {Act::previous_seed, Group::model, {"Previous seed", "上一个种子"}, {alt_shift(Key::s)}, has_seed_before,
     config<seed_moved<-1>>, true},
    {Act::next_positions, Group::model, {"Positions: none, sinusoidal, learned, rotary", "位置编码：无、正弦、可学习、旋转"},
     {alt(Key::o)},
     takes_model, config<next_positions>},
    {Act::norm_place, Group::model, {"Norm before or after the sublayers", "归一化在子层之前或之后"}, {alt(Key::r)}, takes_model,
     config<other_norm_place>},
    {Act::norm_kind, Group::model, {"LayerNorm or RMSNorm", "层归一化或均方根归一化"}, {alt(Key::q)}, takes_model,
     config<other_norm_kind>},
    {Act::next_activation, Group::model, {"Next activation function", "下一个激活函数"}, {alt(Key::a)}, takes_model,
     config<next_activation>},
    {Act::gated, Group::model, {"Gated feed-forward on or off", "门控前馈 开 / 关"},
     {alt(Key::e)}, takes_model, config<other_gate>},
    {Act::wider_ffn, Group::model, {"Wider feed-forward layer", "前馈层加宽"}, {alt(Key::f)}, takes_model,
     config<moved<&Config::ffn, 32, 0, kMostSliderFfn>>, true},
    {Act::narrower_ffn, Group::model, {"Narrower feed-forward layer", "前馈层变窄"}, {alt_shift(Key::f)}, takes_model,
     config<moved<&Config::ffn, -32, 0, kMostSliderFfn>>, true},
    {Act::bias, Group::model, {"Biases on or off", "偏置 开 / 关"}, {alt(Key::b)}, takes_model, config<other_biases>},
    {Act::all_heads_on, Group::question, {"Switch all heads on again", "重新打开所有头"}, {},
     [](const Gui& gui) { return !gui.state.document.edits.off.empty(); }, say_once<SwitchAllOn>},
    {Act::residual_off, Group::question, {"Residual connections of this layer off or on", "这一层的残差连接 开 / 关"},
     {}, can_switch<BlockPart::residual>,
     switch_part<BlockPart::residual>},
    {Act::norm_off, Group::question, {"Norms of this layer off or on", "这一层的归一化 开 / 关"},
     {}, can_switch<BlockPart::norm>,
     switch_part<BlockPart::norm>},
    {Act::scale_off, Group::question, {"Scaling by 1/√d_k of this layer off or on", "这一层按 1/√d_k 缩放 开 / 关"},
     {}, can_switch<BlockPart::scale>,
     switch_part<BlockPart::scale>},
    {Act::ffn_off, Group::question, {"Feed-forward of this layer off or on", "这一层的前馈网络 开 / 关"},
     {}, can_switch<BlockPart::ffn>,
     switch_part<BlockPart::ffn>},
    {Act::all_parts_on, Group::question, {"All parts of all layers on again", "所有层的各部分恢复"}, {}, any_parts_off,
     say_once<SwitchPartsOn>},
    {Act::own_numbers, Group::question, {"Numbers of your own: paste, change, check", "自己的数值：粘贴、修改、检查"},
     {ctrl_shift(Key::n)}, nullptr, [](Gui& gui) { gui.say(ShowNumbers{dialog_on_first(gui.state)}); }},
    {Act::clear_edits, Group::question, {"Take back every change inside the model", "取消模型内部的所有改动"}, {},
     [](const Gui& gui) { return !(gui.state.document.edits == Edits{}); }, say_once<ClearEdits>},
    {Act::second_away, Group::question, {"Take the second sentence away", "去掉第二句"}, {},
     [](const Gui& gui) { return !gui.state.document.text_pair.empty(); }, say_once<SetTextPair>},
    {Act::start_over, Group::question, {"Reset", "重置"}, {},
     [](const Gui& gui) { return !(gui.state.document == default_document(gui.state.shipped.get())); },
     say_once<Reset>},

    {Act::run_training, Group::training, {"Start, pause or continue a training", "开始、暂停或继续训练"},
     {ctrl(Key::enter)}, nullptr,
     run_training},
    {Act::stop_training, Group::training, {"Stop a training and keep it", "停止并保留训练"}, {ctrl_shift(Key::enter)},
     [](const Gui& gui) { return gui.state.training && is_active(*gui.state.training); }, say<StopTraining>},
    {Act::earlier_step, Group::training, {"Earlier step of a training", "训练中更早的一步"}, {bare(Key::page_up)}, has_shots,
     [](Gui& gui) { step_shot(gui, true); }, true},
    {Act::later_step, Group::training, {"Later step of a training", "训练中更晚的一步"}, {bare(Key::page_down)}, has_shots,
     [](Gui& gui) { step_shot(gui, false); }, true},
    {Act::newest_step, Group::training, {"Newest step of a training", "训练中最新的一步"},
     {bare(Key::end)}, has_shots, say<ChooseShot>},

    {Act::choose_lesson, Group::lessons, {"Choose a lesson", "选择课程"}, {bare(Key::f2)}, nullptr, nullptr},
    {Act::next_page, Group::lessons, {"Next step of the lesson", "课程的下一步"}, {ctrl(Key::page_down)}, in_lesson,
     [](Gui& gui) { turn_page(gui, false); }},
    {Act::previous_page, Group::lessons, {"Previous step of the lesson", "课程的上一步"}, {ctrl(Key::page_up)}, in_lesson,
     [](Gui& gui) { turn_page(gui, true); }},
    {Act::leave_lesson, Group::lessons, {"Leave the lesson", "离开课程"}, {}, in_lesson, say<OpenLesson>},

    {Act::open_file, Group::files, {"Open a file or a model folder", "打开文件或模型文件夹"}, {ctrl(Key::o)}, nullptr,
     browse<Browser::Purpose::open>},
    {Act::save_session, Group::files, {"Save the session", "保存会话"}, {ctrl(Key::s)}, nullptr, save_session},
    {Act::save_session_as, Group::files, {"Save the session under another name", "会话另存为"},
     {ctrl_shift(Key::s)}, nullptr,
     browse<Browser::Purpose::save>},
    {Act::export_numbers, Group::files, {"Export the numbers: JSON, npz, safetensors, CSV",
     "导出数值：JSON、npz、safetensors、CSV"},
     {ctrl(Key::e)}, nullptr, browse<Browser::Purpose::export_to>},
    {Act::make_figure, Group::files, {"Make a figure: SVG, PDF, PNG", "出图：SVG、PDF、PNG"}, {ctrl_shift(Key::e)}, nullptr,
     browse<Browser::Purpose::figure>},
    {Act::make_page, Group::files, {"Share as a page that still computes: HTML", "分享为仍能计算的网页：HTML"}, {}, nullptr,
     [](Gui& gui) {
       gui.say(Browse{Browser::Purpose::figure, {}});
       gui.say(NameFile{"page.html"});
     }},
    {Act::copy_command, Group::files, {"Copy the picture as a command line", "把所见的图复制为命令行"},
     {ctrl_shift(Key::c)}, nullptr,
     [](Gui& gui) { copy_as_command(gui); }},
    {Act::copy_export, Group::files, {"Copy the export of the numbers as a command line", "把数值导出复制为命令行"}, {}, nullptr,
     [](Gui& gui) { copy_as_command(gui, CommandGives::numbers); }},
    {Act::copy_explanation, Group::files, {"Copy the explanation of the pinned weight as a command line",
     "把所固定权重的解释复制为命令行"},
     {}, has_pinned, [](Gui& gui) { copy_as_command(gui, CommandGives::explanation); }},

    {Act::dark_theme, Group::window, {"Dark theme", "深色主题"}, {alt(Key::t)}, isnt<is_dark>, switch_theme},
    {Act::light_theme, Group::window, {"Light theme", "浅色主题"}, {alt(Key::t)}, is_dark, switch_theme},
    {Act::other_language, Group::window, {"中文 / Chinese", "English / 英文"}, {ctrl(Key::t)}, nullptr, switch_language},
    {Act::larger, Group::window, {"Everything larger", "整体放大"}, {ctrl(Key::equal)}, nullptr,
     [](Gui& gui) { resize_window(gui, true); }, true},
    {Act::smaller, Group::window, {"Everything smaller", "整体缩小"}, {ctrl(Key::minus)}, nullptr,
     [](Gui& gui) { resize_window(gui, false); }, true},
    {Act::quit, Group::window, {"Quit", "退出"}, {ctrl(Key::q)}, nullptr, say<Quit>},
};
// clang-format on

consteval bool in_order() {
  for (std::size_t i = 0; i < std::size(kActions); ++i)
    if (static_cast<std::size_t>(kActions[i].id) != i) return false;
  return std::size(kActions) == static_cast<std::size_t>(Act::count);
}
static_assert(in_order(), "one row for each Act, in its order");

}  // namespace

std::span<const Action> all_actions() { return kActions; }

const Action& action(Act id) { return kActions[static_cast<std::size_t>(id)]; }

}  // namespace headlight
