// The learned numbers of a model. Every weight is (out, in), applied as x·Wᵀ + b, as torch.nn.Linear stores it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "base/progress.h"
#include "model/config.h"
#include "model/head.h"
#include "model/tokens.h"
#include "model/weight_blocks.h"

namespace headlight {

struct PanelsOfStored;
struct Preprocessing;

/// A weight that stays in its file and is converted to float32, where it is stored otherwise, when it is used.
struct StoredMatrix {
  using Kind = WeightKind;

  Kind kind = Kind::float16;
  Index rows = 0, cols = 0;
  const char* bytes = nullptr;                  // little-endian, on any address
  bool transposed = false;                      // stored (cols, rows); never in blocks
  Index line = 0;                               // numbers from one stored row to the next; 0: as many as it has
  std::shared_ptr<const void> file = {};        // keeps them readable
  std::shared_ptr<PanelsOfStored> panels = {};  // where a weight that is used often is packed; null: it stays as it is

  const WeightBlocks& blocks() const { return blocks_of(kind); }
  Index step() const { return line > 0 ? line : transposed ? rows : cols; }
  /// The number's bytes, or those of the block that it is in. Each row begins with a block.
  const char* at(Index row, Index col) const {
    const Index number = transposed ? col * step() + row : row * step() + col;
    return bytes + number / blocks().numbers * blocks().bytes;
  }
  /// All its bytes, where they are beside those of nothing else; else none.
  std::string_view lines() const {
    const bool whole = step() == (transposed ? rows : cols);
    return {bytes, whole ? static_cast<std::size_t>(rows * cols / blocks().numbers * blocks().bytes) : 0};
  }
};

/// Numbers [column, column + count) of a stored row, which is not transposed, as float32.
void widen_row(const StoredMatrix& stored, Index row, Index column, Index count, float* to);

/// Rows [first, first + count), exactly as they are stored; of them all columns, or [column, column + columns).
Matrix widened(const StoredMatrix& stored, Index first, Index count);
Matrix widened(const StoredMatrix& stored, Index first, Index count, Index column, Index columns);

/// A weight (rows, cols) in the layout that products read: panels of kPanel rows one after another, each transposed to
/// (cols, kPanel), the last one padded with zeros.
struct PanelMatrix {
  static constexpr Index kPanel = 64;

  Index rows = 0, cols = 0;
  std::shared_ptr<const float> numbers = {};
  /// Instead of `numbers` where all of them are exact in bfloat16: their upper 16 bits.
  std::shared_ptr<const std::uint16_t> halves = {};

  /// The index of a panel's first number, in `numbers` or `halves`.
  Index panel(Index number) const { return number * kPanel * cols; }
};

/// The panels of a weight that stays in its file, once they pay: products count their uses (math/stored_weight.h).
struct PanelsOfStored {
  std::atomic<int> uses = 0;
  std::mutex packing = {};
  std::shared_ptr<const PanelMatrix> packed = {};  // guarded by `packing`
};

struct Linear {
  Matrix weight;                                    // (out, in); empty, and neither of those below: the identity
  Vector bias;                                      // (out); empty: zero
  std::shared_ptr<const StoredMatrix> stored = {};  // instead of `weight`
  std::shared_ptr<const PanelMatrix> panels = {};   // instead of `weight`; see pack()

  bool is_identity() const { return weight.size() == 0 && !stored && !panels; }
  Index outputs() const { return stored ? stored->rows : panels ? panels->rows : weight.rows(); }
  Index inputs() const { return stored ? stored->cols : panels ? panels->cols : weight.cols(); }
};

/// Rows [first, first + count) of the weight, in whichever form it is stored.
Matrix weight_rows(const Linear& linear, Index first, Index count);

/// Whether two weights are the same numbers, in whichever form each is stored.
bool same_weights(const Linear& a, const Linear& b);

/// A table of vectors, one a row, that several parts of a model may share.
std::shared_ptr<const Linear> table_of(Matrix vectors);

struct NormWeights {
  Vector scale, shift;  // (d); an empty shift is zero
  float epsilon = 1e-5f;
  NormKind kind = NormKind::layer_norm;

  /// Without numbers: other models have a norm here.
  bool is_identity() const { return scale.size() == 0; }
};

/// A number for each head and distance between query and key, added to the scores (Raffel et al. 2020, section 2.1):
/// near distances have a bucket each, farther ones share buckets that widen as logarithms do.
struct RelativeBias {
  Matrix table;               // (buckets, H)
  bool bidirectional = true;  // half of the buckets are for keys after the query; else those share bucket 0
  Index max_distance = 128;   // all that are as far or farther share the last bucket
  bool of_keys = false;       // instead: row j of the table is for the key at position j, whatever the query
  bool of_pairs = false;      // instead: row i·T + j is for query i and key j of T tokens
};

/// Rotary positions: pair i of a head's columns is rotated by position·frequencies(i).
struct Rotary {
  Vector frequencies;        // (pairs); columns beyond 2·pairs are left as they are
  bool interleaved = false;  // pairs are (2i, 2i + 1); else (i, i + pairs), as Llama stores them
  float factor = 1;          // multiplies sines and cosines, as YaRN does (Peng et al. 2023, section 3.4)
  /// (T, pairs): what stands for the position in each pair of each token, as of the rows and columns of a picture
  /// (Heo et al. 2024); empty: the position itself.
  Matrix places = {};
};

/// Vectors of distances that queries and keys are multiplied with besides each other (He et al. 2021, section 3.1). Row
/// R/2 is distance 0, rows above it are keys before the query.
struct DistanceVectors {
  Matrix keys,
      queries;      // (R, H·d_k): content to position is q·keys, position to content k·queries; empty: no such term
  Index exact = 0;  // distances below it have a row each, farther ones share rows; 0: all have one
  Index max_distance = 0;  // those beyond share the last row

  Index rows() const { return keys.rows() > 0 ? keys.rows() : queries.rows(); }
};

struct AttentionWeights {
  Linear query, key, value;  // (H·d_k, d_model), (H_kv·d_k, d_model), (H_kv·d_v, d_model): head h owns d_k rows
  Linear output;             // W_O (d_model, H·d_v)
  Index num_heads = 1;
  Index num_kv_heads = 1;  // query head h reads key and value head h·H_kv / H
  /// Before the rotation: (d_k), of each head's q and k; or (H·d_k), (H_kv·d_k), of all heads together.
  std::optional<NormWeights> query_norm = {}, key_norm = {};
  std::optional<float> scale = {};            // multiplies q·k; none: 1/sqrt(d_k)
  float softcap = 0;                          // scores become softcap·tanh(score / softcap); 0: they stay
  Vector sinks = {};                          // (H) a logit of each head that joins its softmax; empty: none
  Index window = 0;                           // keys so far from the query or farther are blocked; 0: none
  std::shared_ptr<const Rotary> rotary = {};  // instead of the stack's
  std::shared_ptr<const RelativeBias> relative_bias = {};  // layers of a stack may share it
  std::shared_ptr<const DistanceVectors> distances = {};
};

/// Feed-forwards of which each token goes through a few (Shazeer et al. 2017): a softmax over router·x, of which the
/// largest `chosen` count.
struct Experts {
  struct Expert {
    Linear gate, up, down;
  };
  Linear router;            // (E, d_model)
  std::vector<Expert> all;  // (E)
  Index chosen = 1;
  bool to_one = true;                   // the weights of the chosen are divided by their sum
  std::optional<Expert> shared = {};    // every token goes through it as well,
  std::optional<Linear> shared_gate{};  // (1, d_model), with the weight 1 / (1 + exp(-gate·x)); none: 1
};

struct BlockWeights {
  AttentionWeights self;
  NormWeights attention_norm;
  std::optional<AttentionWeights> cross;  // of a decoder that reads an encoder's output
  NormWeights cross_norm;
  Linear gate;      // (ffn, d_model); empty: the feed-forward is not gated
  Linear up, down;  // feed-forward: (ffn, d_model), (d_model, ffn); empty: none
  NormWeights ffn_norm;
  std::optional<Experts> experts = {};  // instead of gate, up and down
  /// Of what a sublayer gives, before the residual sum.
  std::optional<NormWeights> attention_after_norm = {}, ffn_after_norm = {};
  bool parallel = false;  // of a pre-norm block: the feed-forward reads what the attention reads, not what it made

  bool ungated() const { return gate.is_identity(); }
  bool has_ffn() const { return !up.is_identity() || experts; }
};

/// The patches of a picture → vectors, behind those of the model's tokens before them.
struct PatchEmbedding {
  Linear projection;  // (d_model, 3·patch²): a convolution whose steps are as wide as it (Dosovitskiy et al. 2021)
  Matrix leading;     // (L, d_model)
};

/// Token ids and positions → vectors.
struct Embeddings {
  std::shared_ptr<const Linear> tokens = {};   // (V, e) by id; null: fresh, a word's vector is drawn from its text
  std::optional<PatchEmbedding> patches = {};  // instead, of a model that reads pictures
  float scale = 1;                             // multiplies the token vectors
  Matrix positions = {};     // (P, e) learned; empty and Position::learned: random, seeded by the position
  Index first_position = 0;  // the row of the first token
  std::optional<std::int64_t> pad_id = {};  // tokens of this id are not counted: all have the row of that number
  Matrix token_types = {};                  // (types, e)
  std::optional<NormWeights> norm = {};     // of the sum
  Linear projection = {};                   // (d_model, e) after it; empty where e, the tables' width, is d_model
};

/// Longer sentences are refused: the model computes them by another rule than this program does.
struct LongestText {
  Index tokens = 0;
  std::string why;  // the limit in words: "the sliding window of this model"
};

struct StackWeights {
  Embeddings embeddings = {};
  std::optional<Rotary> rotary = {};
  std::vector<BlockWeights> blocks = {};
  std::optional<NormWeights> final_norm = {};  // pre-norm stacks end with one
  std::optional<LongestText> longest = {};
};

/// From hidden states to a score for each word.
struct OutputWeights {
  std::shared_ptr<const Linear> weight;  // (V, e), no bias: the token vectors themselves where the two are tied
  Vector bias = {};                      // (V); empty: zero
  float scale = 1;                       // of the hidden states
  Linear transform = {};                 // (e, d_model), before all that, with the activation; empty: none
  std::optional<NormWeights> transform_norm = {};  // after it, as masked language models have it (Devlin et al. 2019)
  std::optional<Activation> activation = {};       // of the transform; none: the model's
  float softcap = 0;                               // as in AttentionWeights, of the scores of the words
  /// (k, T): of a classifier, whose words are classes. It reads no token by itself but k mixtures of the last hidden
  /// states of all T, one beside the other, each with these shares; e and d_model above are then k times as wide.
  Matrix mixtures = {};
};

/// The rotation of a layer's queries and keys; null where there is none: rotary positions compare tokens of one
/// sentence, so a cross-attention rotates nothing.
const Rotary* rotary_of(const StackWeights& stack, const AttentionWeights& attention, Stack which);

/// The words of an output layer, by their ids. `ids` is empty where a word's id is its row.
struct Vocabulary {
  std::vector<std::string> words;
  std::vector<std::int64_t> ids;
};

/// One attention from a file, instead of a sentence.
struct ExternalStack {
  Matrix query;       // (T, d_model)
  Matrix key, value;  // (S, d_model)
  Tokens query_tokens, key_tokens;
  /// [layer][head] (T, S): weights that another program computed; then there are no query, key and value.
  std::vector<std::vector<Matrix>> patterns;
};

/// That given weights sum up others, so that a map is no single head's: as `mean:heads` (heads/reduce.h), and in words.
struct SummedUp {
  std::string by;
  std::string english, chinese;
};

/// The contents of a tensors file: query, key and value under Stack::self, or computed patterns.
struct ExternalInputs {
  std::map<Stack, ExternalStack> stacks;  // `self` is always there
  std::optional<SummedUp> summed_up = {};
};

/// The main stack is the one whose output is the answer: the encoder of an encoder, else the decoder.
struct Model : StackWeights {
  std::string name;
  Config config;
  std::optional<StackWeights> encoder = {};  // of an encoder-decoder
  std::optional<OutputWeights> output = {};
  std::shared_ptr<const Vocabulary> vocabulary = {};        // of the output layer; null: ids only
  std::optional<PatchGrid> patches = {};                    // of a model that reads pictures: all are cut alike
  std::shared_ptr<const Preprocessing> preprocessing = {};  // … and what is done before that (read/picture)
  std::optional<ExternalInputs> given = {};  // a tensors file: one bare attention layer, no residual, no norm
};

/// Whether one row of logits, of classes, is the answer to all tokens (OutputWeights::mixtures).
inline bool classifies(const Model& model) { return model.output && model.output->mixtures.size() > 0; }

/// Packs the weights of the blocks and the tables of words in the layout that products read. No bit of any result
/// changes, and a shared table stays shared. A model that is packed while `stop` is set is of no use.
void pack(Model& model, const std::atomic<bool>& stop = kNeverStops);

/// A model with fresh weights: projections Xavier-uniform (Glorot & Bengio 2010) as torch.nn.MultiheadAttention draws
/// them, biases uniform in ±1/sqrt(fan in), norms 1 and 0. Each matrix is drawn from a separate stream, so that
/// changing the number of layers leaves the layers below as they were. With a vocabulary it has an output layer: the
/// vectors of the words where `config.tied`, else vectors drawn the same way; both divided by sqrt(d_model), so that
/// the scores stay within a few units. Once `stop` is set nothing more is drawn.
std::shared_ptr<Model> random_model(const Config& config, std::shared_ptr<const Vocabulary> vocabulary = nullptr,
                                    const std::atomic<bool>& stop = kNeverStops);

/// The vector of a word in a model with fresh weights: uniform with unit variance, seeded by the word alone, so that
/// the same word has the same vector whatever else is in the sentence.
Vector random_embedding(const Config& config, std::string_view token_text);

/// The vector of a position in a model with fresh learned positions: uniform with half the variance of a word's, the
/// variance of sines and cosines.
Vector random_position(const Config& config, Index position);

/// Gives rows [first, first + count) of a weight; called more than once, with the same result.
using RowsOf = std::function<Matrix(Index first, Index count)>;

/// The bytes that a weight (rows, cols) takes at most.
std::size_t packed_bytes(Index rows, Index cols);

/// Packs a weight into `pages` (zeros) from byte `begin` on, and moves `begin` behind it. `rows_of` is called for a few
/// rows at a time.
std::shared_ptr<const PanelMatrix> packed(Index rows, Index cols, const RowsOf& rows_of,
                                          const std::shared_ptr<std::byte>& pages, std::size_t& begin);

}  // namespace headlight
