// Encoder-decoders: BART (Lewis et al. 2020), Marian (Junczys-Dowmunt et al. 2018), Pegasus (Zhang et al. 2020), M2M-100
// (Fan et al. 2021) and NLLB (NLLB Team 2022), T5 (Raffel et al. 2020).
#include <cmath>

#include "read/array/array.h"
#include "read/hub/families.h"

namespace headlight {
namespace {

/// decoder_start_token_id, else what transformers' configuration of the family has by default.
std::optional<std::int64_t> decoder_start(Keyed& keyed, Family family) {
  if (keyed.find({"decoder_start_token_id"})) return keyed.size({"decoder_start_token_id"}, kMaxVocabulary - 1, {}, 0);
  if (family == Family::bart || family == Family::m2m_100) return 2;
  if (keyed.find({"pad_token_id"})) return keyed.size({"pad_token_id"}, kMaxVocabulary - 1, {}, 0);
  if (family == Family::t5) return 0;
  return std::nullopt;
}

void read_bart_embeddings(Keyed& keyed, HubConfig& hub) {
  constexpr Index kUnusedRows = 2;  // before the row of the first position
  hub.positions += kUnusedRows;
  hub.first_position = kUnusedRows;
  keyed.only({"normalize_embedding"}, true);
  keyed.only({"static_position_embeddings"}, false);
}

void read_marian_embeddings(Keyed& keyed, HubConfig& hub) {
  hub.output_vocabulary = keyed.size({"decoder_vocab_size"}, kMaxVocabulary, hub.vocabulary);
  hub.shared_embeddings = keyed.flag({"share_encoder_decoder_embeddings"}, true);
  if (hub.shared_embeddings && hub.output_vocabulary != hub.vocabulary)
    keyed.fail({"decoder_vocab_size"}, std::to_string(hub.vocabulary) + ", as the embeddings are shared",
               std::to_string(hub.output_vocabulary));
  keyed.only({"normalize_embedding"}, false);
}

/// Sines and cosines of places that are counted from behind the padding's own, whose row is zero.
void read_m2m_embeddings(Keyed& keyed, HubConfig& hub) {
  const Index pad = keyed.size({"pad_token_id"}, kMaxVocabulary, 1, 0);
  if (pad != 1) return keyed.fail({"pad_token_id"}, "1", std::to_string(pad));
  hub.pad_id = pad;
  hub.first_position = pad + 1;
  hub.positions += hub.first_position;
}

}  // namespace

HubConfig bart_config(Keyed& keyed, Family family) {
  HubConfig hub;
  const bool bart = family == Family::bart, m2m = family == Family::m2m_100, pegasus = family == Family::pegasus;
  hub.vocabulary = keyed.size({"vocab_size"}, kMaxVocabulary);
  hub.positions = keyed.size({"max_position_embeddings"}, kMaxPositions, 1024);
  if (bart) read_bart_embeddings(keyed, hub);
  else if (m2m) read_m2m_embeddings(keyed, hub);
  else if (!pegasus) read_marian_embeddings(keyed, hub);
  hub.final_norms = m2m || pegasus;
  hub.encoder_heads = keyed.size({"encoder_attention_heads"}, kMaxHeads);
  hub.encoder_ffn = keyed.size({"encoder_ffn_dim"}, kMaxFfn);
  // Options of the training programs that transformers' models do not have.
  if (!hub.final_norms) {
    keyed.only({"normalize_before"}, false);
    keyed.only({"add_final_layer_norm"}, false);
  }
  hub.config = {.arch = Arch::encoder_decoder,
                .d_model = keyed.size({"d_model"}, kMaxDModel),
                .num_heads = keyed.size({"decoder_attention_heads"}, kMaxHeads),
                .num_layers = keyed.size({"decoder_layers"}, kMaxLayers),
                .encoder_layers = keyed.size({"encoder_layers"}, kMaxLayers),
                .ffn = keyed.size({"decoder_ffn_dim"}, kMaxFfn),
                .position = bart || m2m ? Position::learned : Position::sinusoidal_halves,
                .norm = hub.final_norms ? Norm::pre : Norm::post,
                .activation = keyed.activation({"activation_function"}, hub.final_norms ? "relu" : "gelu"),
                .tied = keyed.flag({"tie_word_embeddings"}, true)};
  check_heads(keyed, {"decoder_attention_heads"}, hub.config.num_heads, hub.config.d_model);
  check_heads(keyed, {"encoder_attention_heads"}, hub.encoder_heads, hub.config.d_model);
  if (keyed.flag({"scale_embedding"}, m2m))
    hub.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(hub.config.d_model)));
  hub.output = output_layer(keyed,
                            {"MarianMTModel", "BartForConditionalGeneration", "PegasusForConditionalGeneration",
                             "M2M100ForConditionalGeneration"},
                            OutputLayer::required);
  hub.decoder_start = decoder_start(keyed, family);
  return hub;
}

HubConfig t5_config(Keyed& keyed) {
  HubConfig hub = begin_config(keyed, {"layer_norm_epsilon"}, 1e-6);
  hub.relative_buckets = keyed.size({"relative_attention_num_buckets"}, 4096, 32, 4);
  hub.relative_distance = keyed.size({"relative_attention_max_distance"}, kMaxPositions, 128);
  if (hub.relative_distance <= hub.relative_buckets / 2)
    keyed.fail({"relative_attention_max_distance"}, "more than half of the buckets",
               std::to_string(hub.relative_distance));
  hub.attention_scale = 1.0f;  // taken into the weights at the start of their training
  const Index heads = keyed.size({"num_heads"}, kMaxHeads);
  hub.encoder_heads = heads;
  // "relu", "gated-gelu": version 1.1 gates with the approximation by tanh.
  std::string forward = keyed.word({"feed_forward_proj"}, "relu");
  const bool gated = forward.starts_with("gated-");
  if (gated) forward = forward.substr(6);
  if (gated && forward == "gelu") forward = "gelu_new";
  Activation activation = Activation::relu;
  if (forward == "relu") activation = Activation::relu;
  else if (forward == "gelu") activation = Activation::gelu;
  else if (forward == "gelu_new") activation = Activation::gelu_tanh;
  else if (forward == "silu") activation = Activation::silu;
  else
    keyed.fail({"feed_forward_proj"}, "relu, gelu, gelu_new, silu, or gated- with one of them",
               "'" + printable(forward) + "'");
  const Index layers = keyed.size({"num_layers"}, kMaxLayers);
  const bool said_tied = keyed.flag({"tie_word_embeddings"}, true);
  // Newer files say it of the scale alone, and the other key no longer says anything of the output layer.
  const bool scaled = keyed.flag({"scale_decoder_outputs"}, said_tied);
  hub.config = {.arch = Arch::encoder_decoder,
                .d_model = keyed.size({"d_model"}, kMaxDModel),
                .num_heads = heads,
                .head_dim = keyed.size({"d_kv"}, kMaxHeadDim),
                .num_layers = keyed.size({"num_decoder_layers"}, kMaxLayers, layers),
                .encoder_layers = layers,
                .ffn = keyed.size({"d_ff"}, kMaxFfn),
                .position = Position::none,
                .norm = Norm::pre,
                .norm_kind = NormKind::rms_norm,
                .activation = activation,
                .gated = gated,
                .bias = {.query = false, .key = false, .value = false, .output = false, .ffn = false},
                .tied = said_tied && scaled};
  if (scaled) hub.output_scale = 1.0f / std::sqrt(static_cast<float>(hub.config.d_model));
  hub.output = output_layer(keyed, {"T5ForConditionalGeneration", "T5WithLMHeadModel", "MT5ForConditionalGeneration"},
                            OutputLayer::required);
  hub.decoder_start = decoder_start(keyed, Family::t5);
  return hub;
}

}  // namespace headlight
