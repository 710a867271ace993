// config.json of a folder in the Hugging Face layout: each family of models has other keys for the same few sizes. Read
// here into Config and the little that the tensors' shapes need beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/config.h"
#include "model/weights.h"
#include "read/array/quantization.h"
#include "read/hub/adapter_choice.h"

namespace headlight {

struct Family;  // families.h
std::string_view name(const Family& family);

/// Whether the checkpoint ends in scores over the vocabulary, by the class named in `architectures`.
enum class OutputLayer { none, if_stored, required };

/// How a family reads pictures, and the grid that its table of positions is for.
struct HubPicture {
  enum class Table { fixed, bicubic, smoothed, none };  // what is done with it for another grid; none: there is none

  Index patch = 0;                        // pixels along a side
  Index rows = 0, cols = 0;               // patches
  std::vector<std::string> leading = {};  // PatchGrid
  Index registers = 0;                    // of those the last, which have no position
  Table table = Table::fixed;
  std::vector<std::string> classified_by = {};  // names of tokens, or "patches": the mean of all of them
  bool two_classifiers = false;                 // of CLS and of DIST, whose mean counts (Touvron et al. 2021)
  std::vector<std::string> classes = {};        // their names; none: no classifier
  std::optional<PatchGrid> grid = {};           // that the model is asked to read; none: that of the table

  Index placed() const { return static_cast<Index>(leading.size()) - registers; }  // with a row of the table
  PatchGrid used() const {
    return grid ? *grid : PatchGrid{.patch = patch, .rows = rows, .cols = cols, .leading = leading};
  }
};

struct HubConfig {
  const Family* family = nullptr;
  Quantization quantization = {};
  Config config = {};
  Index embedding_size = 0;  // width of the tables of embeddings; 0: d_model
  Index token_width = 0;     // of token vectors that are projected before anything is added (OPT); 0: as those tables
  Index vocabulary = 0;      // V, of the encoder where the two differ
  Index output_vocabulary = 0;              // V of the decoder and of the output layer
  Index positions = 0;                      // rows of the position table, of families that have one
  Index first_position = 0;                 // the row of the first token
  bool falling_sinusoids = false;           // the table is not stored: falling_sinusoids() of checkpoint_layout.h
  std::optional<std::int64_t> pad_id = {};  // of families whose padding has a separate position (Embeddings)
  Index token_types = 0;
  Index task_types = 0;     // rows of a table of which the first is added to every token (ERNIE); 0: none
  Index layer_groups = 0;   // sets of weights that the layers share, in order (ALBERT); 0: none are shared
  Index encoder_heads = 0;  // of an encoder-decoder
  Index encoder_ffn = 0;
  bool shared_embeddings = true;  // encoder and decoder have one table of token vectors
  float embedding_scale = 1;
  float residual_scale = 1;  // of what a sublayer gives, before the residual sum (Granite)
  float norm_epsilon = 1e-5f;
  std::optional<Rotary> rotary = {};
  std::optional<Rotary> window_rotary = {};      // of layers with a window, where theirs is another
  std::vector<Index> unrotated = {};             // layers whose queries and keys are not rotated (SmolLM3)
  std::map<Index, std::set<Index>> pruned = {};  // heads whose weights are not stored, by layer (Michel et al. 2019)
  std::vector<Index> windows = {};               // of each layer (AttentionWeights::window); empty: none has one
  bool head_norms = false;                       // of each head's q and k
  bool wide_head_norms = false;                  // of the q and k of all heads together
  bool plain_norms = false;                      // without numbers: scale 1, no shift (OLMo)
  bool norms_store_rest = false;                 // a norm's scale is 1 and what is stored (Gemma)
  bool stored_outputs_first = false;             // weights that the family stores (in, out) are (out, in) here (GGUF)
  bool final_norms = false;                      // both stacks of a BART-like model, and OPT's one, end with a norm
  bool linear_biases = false;                    // a bias of the scores that falls with the distance (ALiBi)
  bool linear_key_biases = false;                // one that grows with the key's position, rounded to bfloat16 (Falcon)
  std::optional<float> attention_scale = {};     // instead of 1/sqrt(d_k)
  Index relative_buckets = 0;                    // of a bias for distances; 0: none
  Index relative_distance = 0;                   // RelativeBias::max_distance
  bool parallel = false;                         // BlockWeights
  bool one_norm = false;                         // the norm of the attention serves the feed-forward as well
  bool two_norms = false;                        // of a parallel block of Falcon: one each
  Index experts = 0;                             // E; 0: none
  Index chosen_experts = 0;
  Index expert_ffn = 0, shared_ffn = 0;  // widths; 0: no shared expert
  bool experts_to_one = true;
  Index distance_rows = 0;  // R of DistanceVectors; 0: none
  Index distance_exact = 0, distance_most = 0;
  bool content_to_position = false, position_to_content = false;
  bool shared_distances = true;  // their vectors are projected as keys and queries are
  bool distance_norm = false;
  std::optional<HubPicture> picture = {};  // of families that read pictures
  bool layer_scales = true;                // of those: what a sublayer gives is multiplied column by column
  bool mean_pooling = false;               // … and no norm is behind the last block
  bool shared_pair_bias = false;           // RelativeBias of all layers, of which relative_buckets is the rows
  float output_scale = 1;                  // OutputWeights
  bool tied_where_absent = false;          // config.tied is meant where no weight of an output layer is stored
  float output_softcap = 0;
  std::optional<Activation> output_activation = {};
  std::optional<LongestText> longest = {};
  OutputLayer output = OutputLayer::if_stored;
  std::optional<std::int64_t> decoder_start = {};  // what the decoder of an encoder-decoder reads before anything else

  Index table_width() const { return embedding_size > 0 ? embedding_size : config.d_model; }
};

/// The largest vocabulary and the longest table of positions that are accepted.
inline constexpr Index kMaxVocabulary = Index{1} << 21, kMaxPositions = Index{1} << 20;

/// Errors name the key: a family, an activation or an option that is not known, a size that is missing or absurd.
/// Keys for which a family has a default (transformers' configuration classes) may be missing or null.
Result<HubConfig> parse_hub_config(std::string_view where, std::string_view text, ModelPart part = ModelPart::picture);

Result<HubConfig> read_hub_config(const std::filesystem::path& path, ModelPart part = ModelPart::picture);

}  // namespace headlight
