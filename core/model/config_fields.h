// Every field of a Config once: its names, its help and its limits. Checking, sessions, options of the command line,
// the command that is copied, config.json of trained models and the goals of lessons visit it with for_each_field(). A
// new field is added to Config and here.
#pragma once

#include <string_view>

#include "base/names.h"
#include "model/config.h"

namespace headlight {

/// In the order of the enumerations; name() reads them.
inline constexpr std::string_view kArchNames[] = {"encoder", "decoder", "encoder-decoder"};
inline constexpr std::string_view kPositionNames[] = {"none", "sinusoidal", "sinusoidal-halves", "learned", "rotary"};
inline constexpr std::string_view kNormNames[] = {"post", "pre"};
inline constexpr std::string_view kNormKindNames[] = {"layer", "rms"};
inline constexpr std::string_view kActivationNames[] = {"relu", "gelu", "gelu-tanh", "silu", "quick-gelu"};

struct FieldNames {
  const char* name;    // in sessions, lessons and messages
  const char* option;  // on the command line
  const char* key;     // in config.json of models trained here; null: no trained model has anything but the default
  const char* help;    // of the option
};

/// A whole number.
struct SizeField : FieldNames {
  Index Config::*value;
  Index least, most;
  /// The value in effect where the field is 0, which follows from other fields; null: the value itself.
  Index (*used)(const Config&) = nullptr;

  bool is_derived() const { return used != nullptr; }
  Index used_by(const Config& config) const { return used ? used(config) : config.*value; }
};

/// A number of which 0 means none.
struct NumberField : FieldNames {
  float Config::*value;
  float most;
};

/// One value of an enumeration.
template <class Enum>
struct ChoiceField : FieldNames {
  Enum Config::*value;
  Names names;
};

/// The option is given where the flag is not as it is by default.
struct FlagField : FieldNames {
  bool Config::*value;
  const char *yes, *no;  // in messages
};

struct BiasField : FieldNames {
  Biases Config::*value;
};
struct BiasName {
  const char* name;
  bool Biases::*value;
};
inline constexpr BiasName kBiasNames[] = {{"query", &Biases::query},
                                          {"key", &Biases::key},
                                          {"value", &Biases::value},
                                          {"output", &Biases::output},
                                          {"ffn", &Biases::ffn}};

struct SeedField : FieldNames {
  std::uint64_t Config::*value;
};

/// Calls visit(field) for each, in the order of Config.
// Longer than 60 lines: each field is a row of data.
template <class Visit>
void for_each_field(const Visit& visit) {
  visit(ChoiceField<Arch>{
      {"arch", "--arch", "arch", "encoder (default), decoder or encoder-decoder"}, &Config::arch, kArchNames});
  visit(SizeField{{"d_model", "--d-model", "hidden_size", "Width of the residual stream, 64 by default"},
                  &Config::d_model,
                  1,
                  kMaxDModel});
  visit(SizeField{{"num_heads", "--num-heads", "num_attention_heads",
                   "Heads, 4 by default; a divisor of d_model unless --head-dim is given"},
                  &Config::num_heads,
                  1,
                  kMaxHeads});
  visit(SizeField{{"num_kv_heads", "--num-kv-heads", nullptr,
                   "Heads of keys and values, each shared by some of the queries' heads"},
                  &Config::num_kv_heads,
                  0,
                  kMaxHeads,
                  [](const Config& config) { return config.kv_heads(); }});
  visit(SizeField{{"head_dim", "--head-dim", "head_dim", "d_k, by default d_model / num_heads"},
                  &Config::head_dim,
                  0,
                  kMaxHeadDim,
                  [](const Config& config) { return config.d_k(); }});
  visit(SizeField{
      {"layers", "--layers", "num_hidden_layers", "Layers, 2 by default; of an encoder-decoder the decoder's"},
      &Config::num_layers,
      1,
      kMaxLayers});
  visit(SizeField{{"encoder_layers", "--encoder-layers", "encoder_layers",
                   "Layers of an encoder-decoder's encoder, by default as many"},
                  &Config::encoder_layers,
                  0,
                  kMaxLayers,
                  [](const Config& config) { return config.layers_of_encoder(); }});
  visit(SizeField{
      {"ffn", "--ffn", "intermediate_size", "Width of the feed-forward layer, 256 by default; 0 leaves it out"},
      &Config::ffn,
      0,
      kMaxFfn});
  visit(ChoiceField<Position>{
      {"position", "--position", "position", "sinusoidal (default), sinusoidal-halves, learned, rotary or none"},
      &Config::position,
      kPositionNames});
  visit(SizeField{{"rotary_columns", "--rotary-columns", nullptr,
                   "Of each head's d_k columns the first so many are rotated by rotary positions, by default all"},
                  &Config::rotary_columns,
                  0,
                  kMaxHeadDim,
                  [](const Config& config) { return config.rotated_columns(); }});
  visit(NumberField{
      {"softcap", "--softcap", nullptr, "Soft cap of the scores: each becomes X·tanh(score / X); 0, the default: none"},
      &Config::softcap,
      kMaxSoftcap});
  visit(
      FlagField{{"sinks", "--sinks", nullptr, "Each head has a logit that joins its softmax: rows sum to less than 1"},
                &Config::sinks,
                "sinks",
                "no sinks"});
  visit(ChoiceField<Norm>{
      {"norm", "--norm", "norm", "post (default) or pre: after the residual sum, or before the sublayer"},
      &Config::norm,
      kNormNames});
  visit(ChoiceField<NormKind>{
      {"norm_type", "--norm-type", "norm_type", "layer (default) or rms"}, &Config::norm_kind, kNormKindNames});
  visit(ChoiceField<Activation>{
      {"activation", "--activation", "hidden_act", "relu (default), gelu, gelu-tanh, silu or quick-gelu"},
      &Config::activation,
      kActivationNames});
  visit(FlagField{{"gated", "--gated", nullptr, "A gated feed-forward layer: down(activation(gate) · up)"},
                  &Config::gated,
                  "gated",
                  "not gated"});
  visit(
      BiasField{{"bias", "--bias", "bias", "The layers that have a bias, of query,key,value,output,ffn; default: all"},
                &Config::bias});
  visit(
      FlagField{{"tied", "--untied", "tie_word_embeddings", "The output layer has vectors of its own, not the words'"},
                &Config::tied,
                "tied",
                "untied"});
  visit(SeedField{{"seed", "--seed", "seed", "Seed of the fresh weights, 0 by default"}, &Config::seed});
}

}  // namespace headlight
