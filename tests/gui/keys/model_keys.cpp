// What the keys of the model, its text, mask and edits do.
#include "gui/keys/key_help.h"

namespace headlight {

std::vector<KeyHelpTest::Promise> KeyHelpTest::model_promises() {
  Harness& h = *harness;
  return {
      {{Act::head_off, Act::head_on},
       [&] {
         key({Key::space});
         EXPECT_EQ(document().edits.off, (std::vector<HeadRef>{{0, 0}}));
         key({Key::space});
         EXPECT_TRUE(document().edits.off.empty());
       }},
      {{Act::next_stack, Act::previous_stack},
       [&] {
         ctrl(Key::tab);
         EXPECT_EQ(state().view.chosen.stack, Stack::self) << "there is no other";
         Config config = document().config;
         config.arch = Arch::encoder_decoder;
         h.push(SetConfig{config}, EndGesture{});
         h.settle();
         for (const Stack stack : {Stack::cross, Stack::encoder, Stack::self}) {
           ctrl(Key::tab);
           EXPECT_EQ(state().view.chosen.stack, stack);
         }
         for (const Stack stack : {Stack::encoder, Stack::cross, Stack::self}) {
           ctrl_shift(Key::tab);
           EXPECT_EQ(state().view.chosen.stack, stack);
         }
         ctrl(Key{'Z'});
       }},
      {{Act::scope},
       [&] {
         alt(Key{'C'});
         EXPECT_TRUE(state().view.one_layer);
         alt(Key{'M'});
         alt(Key{'V'});
         EXPECT_FALSE(document().mask.causal);
         EXPECT_FALSE(document().edits.scale);
         const LayerEdit* edit = layer_edit(document().edits, Stack::self, 0);
         if (!edit || !edit->mask || !edit->scale) {
           ADD_FAILURE() << "nothing was changed in the layer alone";
         } else {
           EXPECT_TRUE(edit->mask->causal);
           EXPECT_FLOAT_EQ(*edit->scale, 0.25f * 1.25f);
         }
         ctrl(Key{'Z'});
         ctrl(Key{'Z'});
         alt(Key{'C'});
         EXPECT_FALSE(state().view.one_layer);
       }},
      {{Act::causal_on, Act::causal_off, Act::padding_on, Act::padding_off},
       [&] {
         alt(Key{'M'});
         EXPECT_TRUE(document().mask.causal);
         alt_shift(Key{'M'});
         EXPECT_FALSE(document().mask.padding);
         alt_shift(Key{'M'});
         alt(Key{'M'});
         EXPECT_EQ(document().mask, MaskSpec{});
       }},
      {{Act::paint_mask},
       [&] {
         alt(Key{'P'});
         EXPECT_TRUE(state().view.painting);
         alt(Key{'P'});
         EXPECT_FALSE(state().view.painting);
       }},
      {{Act::block_cell},
       [&] {
         h.push(Pin{CellRef{4, 2}});
         alt(Key{'X'});
         h.settle();
         EXPECT_FALSE(state().trace->mask().allowed(4, 2));
         alt(Key{'X'});
         h.settle();
         EXPECT_TRUE(state().trace->mask().allowed(4, 2));
         h.push(Pin{});
       }},
      {{Act::clear_paint},
       [&] {
         h.push(PaintCell{{1, 1}, false}, EndGesture{});
         alt(Key::backspace);
         EXPECT_TRUE(document().mask.painted.empty());
       }},
      {{Act::wider_model, Act::narrower_model},
       [&] {
         alt(Key{'D'});
         EXPECT_EQ(document().config.d_model, 68);
         alt_shift(Key{'D'});
         EXPECT_EQ(document().config.d_model, 64);
       }},
      {{Act::more_heads, Act::fewer_heads},
       [&] {
         alt(Key{'H'});
         EXPECT_EQ(document().config.num_heads, 8);
         alt_shift(Key{'H'});
         EXPECT_EQ(document().config.num_heads, 4);
       }},
      {{Act::more_layers, Act::fewer_layers},
       [&] {
         alt(Key{'L'});
         EXPECT_EQ(document().config.num_layers, 3);
         alt_shift(Key{'L'});
         EXPECT_EQ(document().config.num_layers, 2);
       }},
      {{Act::next_seed, Act::previous_seed},
       [&] {
         alt(Key{'S'});
         EXPECT_EQ(document().config.seed, 1u);
         alt_shift(Key{'S'});
         alt_shift(Key{'S'});
         EXPECT_EQ(document().config.seed, 0u);
       }},
      {{Act::next_positions, Act::split_text},
       [&] {
         for (const Position position : {Position::learned, Position::rotary, Position::none, Position::sinusoidal}) {
           alt(Key{'O'});
           EXPECT_EQ(document().config.position, position);
         }
         alt(Key{'W'});
         EXPECT_EQ(document().source.split, Split::characters);
         EXPECT_EQ(h.tokens().substr(0, 11), "我|请|李");
         alt(Key{'W'});
         EXPECT_EQ(document().source.split, Split::words);
       }},
      {{Act::next_sentence, Act::previous_sentence},
       [&] {
         h.push(SetText{"我爱\n我"}, EndGesture{});
         alt(Key{'N'});
         EXPECT_EQ(state().view.sentence, 1u);
         alt_shift(Key{'N'});
         EXPECT_EQ(state().view.sentence, 0u);
         h.push(Undo{});
         h.settle();
       }},
      {{Act::next_kind, Act::norm_place, Act::norm_kind},
       [&] {
         alt(Key{'K'});
         EXPECT_EQ(document().config.arch, Arch::decoder);
         EXPECT_TRUE(document().mask.causal) << "a decoder begins with the causal mask";
         alt(Key{'K'});
         EXPECT_EQ(document().config.arch, Arch::encoder_decoder);
         EXPECT_TRUE(document().mask.causal);
         alt(Key{'K'});
         EXPECT_EQ(document().config.arch, Arch::encoder);
         EXPECT_FALSE(document().mask.causal);
         alt(Key{'R'});
         EXPECT_EQ(document().config.norm, Norm::pre);
         alt(Key{'Q'});
         EXPECT_EQ(document().config.norm_kind, NormKind::rms_norm);
         for (int i = 0; i < 5; ++i) ctrl(Key{'Z'});
         EXPECT_FALSE(document().mask.causal);
       }},
      {{Act::next_activation, Act::gated},
       [&] {
         for (const Activation activation :
              {Activation::gelu, Activation::gelu_tanh, Activation::silu, Activation::relu}) {
           alt(Key{'A'});
           EXPECT_EQ(document().config.activation, activation);
         }
         alt(Key{'E'});
         EXPECT_TRUE(document().config.gated);
         alt(Key{'E'});
         EXPECT_FALSE(document().config.gated);
       }},
      {{Act::wider_ffn, Act::narrower_ffn},
       [&] {
         alt(Key{'F'});
         EXPECT_EQ(document().config.ffn, 288);
         alt_shift(Key{'F'});
         EXPECT_EQ(document().config.ffn, 256);
       }},
      {{Act::bias},
       [&] {
         alt(Key{'B'});
         EXPECT_FALSE(document().config.bias.any());
         alt(Key{'B'});
       }},
      {{Act::larger_scale, Act::smaller_scale, Act::own_scale_off},
       [&] {
         alt(Key{'V'});
         EXPECT_FLOAT_EQ(document().edits.scale.value_or(0), 0.25f * 1.25f);
         alt_shift(Key{'V'});
         EXPECT_FLOAT_EQ(document().edits.scale.value_or(0), 0.25f);
         alt(Key{'0'});
         EXPECT_FALSE(document().edits.scale);
       }},
      {{Act::more_padding, Act::less_padding},
       [&] {
         alt(Key::period);
         alt(Key::period);
         EXPECT_EQ(document().pad, 2u);
         alt(Key::comma);
         EXPECT_EQ(document().pad, 1u);
         alt(Key::comma);
         alt(Key::comma);
         EXPECT_EQ(document().pad, 0u);
       }},
      {{Act::join_tokens, Act::cut_token},
       [&] {
         h.push(Pin{CellRef{2, 0}});
         alt(Key{'J'});
         EXPECT_EQ(shown_tokens(state())->tokens[2].raw, "李雷帮");
         ctrl(Key{'Z'});
         alt(Key{'I'});
         EXPECT_EQ(shown_tokens(state())->tokens[2].raw, "李");
         EXPECT_EQ(shown_tokens(state())->tokens[3].raw, "雷");
         ctrl(Key{'Z'});
         h.push(Pin{});
       }},
  };
}

}  // namespace headlight
