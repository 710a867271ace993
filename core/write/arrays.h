// The arrays of an export, under the names and in the shapes that Hugging Face gives them, made piece by piece: an
// array of gigabytes is never whole in memory. Every format is a way of writing these.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"
#include "heads/reduce.h"
#include "math/forward.h"
#include "model/trace.h"

namespace headlight {

/// Special tokens, which the tokenizer adds: shown; left out of every array and list; or left out and the rest of each
/// row of weights scaled to sum to 1 (a row of nothing else stays zeros).
enum class SpecialTokens { show, hide, renormalize };
std::string_view name(SpecialTokens special);

/// How numbers are stored: float16 rounds to the nearest, and holds none beyond 65504 (IEEE 754 binary16).
enum class TensorType { float32, float16 };
inline std::size_t bytes_in(TensorType type) { return type == TensorType::float16 ? 2 : sizeof(float); }

/// The arrays to write beside the attention, and for which tokens.
struct ExportOptions {
  bool queries_keys_values = false;
  bool scores = false;                     // before the softmax, the mask added: −inf where blocked
  std::vector<std::string> matrices = {};  // further ones by their names (see matrix_arrays)
  SpecialTokens special = SpecialTokens::show;
  std::vector<HeadRef> only = {};  // heads of one stack: its arrays have one layer of these; nothing that is no head's
  std::optional<Reduction> reduce = {};   // of `only`: maps that sum them up, in place of all other arrays (reduced.h)
  TensorType type = TensorType::float32;  // of npz and safetensors
  int threads = 0;  // that make numbers and their text; 0: one for each processor. The bytes are the same.

  friend bool operator==(const ExportOptions&, const ExportOptions&) = default;
};

struct ArrayStream {
  std::string name;
  std::vector<Index> shape;            // no axis is empty
  std::vector<std::string_view> axes;  // what each axis counts: layer, head, query, …
  Index pieces = 0;
  std::function<Matrix(Index)> piece;  // rows of the last axis, in order; the pieces one after another are the array
  const Matrix* held = nullptr;        // the whole array as the answer holds it; null: it is made piece by piece
  bool is_text = false;  // the numbers' bits are code points, the last axis those of a text (NumPy's '<U'); npz alone
  bool minus_infinity = false;  // blocked scores are −inf; in every other array all numbers are finite …
  bool has_gaps = false;        // … but for NaN, where there is no number

  std::size_t num_elements() const;
};

/// An array of these numbers in C order.
ArrayStream array_of(std::string name, std::vector<Index> shape, std::vector<float> numbers);
/// Texts, which NumPy reads as an array of strings.
ArrayStream array_of_texts(std::string name, const std::vector<std::string>& texts);

/// An attention of an answer, under the names of exports.
struct StackNames {
  Stack stack = Stack::self;
  std::string_view label;       // Self | Encoder | Decoder | Cross
  std::string_view attentions;  // attentions | encoder_attentions | decoder_attentions | cross_attentions
  std::string_view prefix;      // of queries, keys, values and scores: nothing, or encoder_ | decoder_ | cross_
};

/// The indices of the tokens that are exported, ascending.
std::vector<Index> exported_indices(const Tokens& tokens, SpecialTokens special);
/// Those tokens.
Tokens exported_tokens(const Tokens& tokens, SpecialTokens special);
/// An Error where no token would be left, or where the answer lacks the one head that is wanted.
Status check_options(const Trace& trace, const ExportOptions& options);

/// The attentions of the answer that are wanted: one, or those of encoder, decoder and cross-attention.
std::vector<StackNames> stacks_of(const Trace& trace, const ExportOptions& options = {});

/// An array of all layers and heads, of the wanted heads alone where there are any: the first axis is 1, the second
/// counts them in their order.
ArrayStream only_heads(ArrayStream array, const std::vector<HeadRef>& only);
/// The rows of the tokens that are kept, and where `columns` are tokens too, theirs. An array whose last axis but one
/// counts `rows` comes in pieces of kRowBlock of these, or in pieces that are whole.
ArrayStream without_special(ArrayStream array, const Tokens& rows, const Tokens* columns, SpecialTokens special);

/// For each attention its weights (layers, heads, queries, keys), then with options `queries`, `keys`, `values`
/// (layers, heads, tokens, d_k; of keys and values as many heads as the model has) and `scores`, and matrix_arrays().
/// Attention that another program computed has only weights. The trace must outlive the streams.
std::vector<ArrayStream> attention_arrays(const Trace& trace, const ExportOptions& options);

/// The weights of one attention alone, (layers, heads, queries, keys).
ArrayStream attentions_of(const Trace& trace, const StackNames& names, const ExportOptions& options = {});

/// attention_arrays, then of a tensors file `output` (queries, d_model); else `hidden_states` (layers + 1, tokens,
/// d_model): the embeddings, then each block's output, not yet normed by a final norm; `last_hidden_state` (tokens,
/// d_model), after it; and `logits` (tokens, vocabulary) where there is an output layer. Of an encoder-decoder
/// `encoder_hidden_states`, `encoder_last_hidden_state`, `decoder_hidden_states`, and the decoder's
/// `last_hidden_state`.
std::vector<ArrayStream> all_arrays(const Trace& trace, const ExportOptions& options);

/// The same for several traces, their names numbered `0.attentions`, `1.attentions`, … where there is more than one.
std::vector<ArrayStream> all_arrays(const std::vector<std::shared_ptr<const Trace>>& traces,
                                    const ExportOptions& options);

/// Elements of all of them.
std::size_t num_elements(const std::vector<ArrayStream>& arrays);
/// What npz or safetensors of these answers take on a disk, headers aside.
std::size_t bytes_of_export(const std::vector<std::shared_ptr<const Trace>>& traces, const ExportOptions& options);

/// `attentions: layer 0 head 1 query 3 key 2: expected a finite number, found inf`, for element `at` in C order.
Error not_finite(const ArrayStream& array, std::size_t at, float found, std::string_view expected = "a finite number");

/// How much of an export is done, and whether it is still wanted.
class Work {
 public:
  Work(Progress& progress, std::size_t num_elements, int threads = 1)
      : progress_(progress), total_(num_elements), threads_(threads) {}

  int threads() const { return threads_; }

  bool stopped() const { return progress_.stop; }
  void did(std::size_t num_elements) {
    done_ += num_elements;
    if (total_ > 0) progress_.done = static_cast<float>(static_cast<double>(done_) / static_cast<double>(total_));
  }

 private:
  Progress& progress_;
  std::size_t total_, done_ = 0;
  int threads_;
};

/// Goes through an array once.
class ArrayReader {
 public:
  ArrayReader(const ArrayStream& array, Work& work) : array_(array), work_(work) {}

  bool at_end() const { return next_ == array_.pieces; }
  /// The next piece. Errors: a number that is not finite where it should be; the work was stopped.
  Result<Matrix> next();
  /// The next pieces, at most `most` of them, made on the work's threads. Errors as above, of the first that has one.
  Result<std::vector<Matrix>> next(Index most);
  /// The offset of the next piece's first element.
  std::size_t offset() const { return offset_; }

 private:
  const ArrayStream& array_;
  Work& work_;
  Index next_ = 0;
  std::size_t offset_ = 0;
};

/// The bytes of a piece, little-endian float32.
std::string_view bytes_of(const Matrix& piece);
/// The same as float16. Errors: a number that it does not hold, with its index; `offset` is that of the first element.
Result<std::string> halves_of(const ArrayStream& array, std::size_t offset, const Matrix& piece);

/// An Error about `--with` where a name stands for nothing in any model. Names: those of matrix_name()
/// (`embedding.positions`, `ffn.hidden`); a part of a model (`embedding`, `attention`, `head`, `ffn`, `block`, `end`,
/// `output`) for all its matrices that every layer has; `norms`, `rollout` and `gradient`.
Status check_matrix_names(const std::vector<std::string>& names);

/// The arrays that `options.matrices` names, under these names with the stack's prefix. Of heads (layers, heads, rows,
/// columns), in the order of the queries' heads; of layers (layers, rows, columns); of all others (rows, columns).
/// `norms` (layers, heads, queries, keys; 0 where blocked) as norm_maps(), `rollout` (layers, tokens, tokens) as
/// rollout_maps(), `gradient` (layers, heads, queries, 2) as scale_effect(): with the scale, and with the other; of
/// patterns from another program the first alone. Special tokens are left out as of other arrays; only attentions are
/// scaled. Errors: a matrix that not every layer of this answer has; one that is no head's where one head is wanted;
/// maps that cannot be computed. The trace must outlive the streams.
Result<std::vector<ArrayStream>> matrix_arrays(const Trace& trace, const ExportOptions& options);

}  // namespace headlight
