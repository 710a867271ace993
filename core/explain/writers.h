// What wrote the residual stream of one token: a sum of named parts, exact with every norm frozen.
//
// Embedding, position, each head and each feed-forward add a vector to the stream. A norm is not linear, but with the
// size σ of its row held fixed it is: layer norm is (x − mean(x)) / σ · scale + shift, the mean is linear in x, and
// σ is a number that this row gave. So each part p becomes (p − mean(p)) / σ · scale, the shift joins the biases, and
// the parts still sum to the normed row (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; of
// one layer Kobayashi et al. 2021); RMS norm is the same without the mean. In a pre-norm model the parts go through the
// norm of the sublayer that reads them. In a post-norm model the sum itself is normed, x ← norm(x + f(x)), and a part
// goes through every norm between its writer and its reader, each frozen at its row. A norm of f(x) before the sum
// is frozen over the parts of f(x).
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "model/trace.h"

namespace headlight {

/// head: z·W_Oᵀ over the head's columns of W_O, with the bias of its values. ffn: the feed-forward with its biases, or
/// the experts.
/// bias: what depends on no token: b_Q and b_K of a score, the bias of each W_O before it, shifts of norms, of a word
/// the bias of the output layer. input: the vector of a tensors file.
/// relative, mask: of a score alone, what the distance and the mask add.
enum class WriterKind { embedding, position, type, input, head, ffn, bias, relative, mask };

struct Writer {
  WriterKind kind = WriterKind::embedding;
  HeadRef head = {};  // of `head`; of others the layer and the stack where they have one, else zeros

  friend bool operator==(const Writer&, const Writer&) = default;
};

/// `embedding`, `L0·H3`, `L0·ffn`, `bias`; of another stack than the main one `encoder:L0·H3`, `cross:L0·H3`.
std::string writer_name(const Writer& writer);

struct WrittenPart {
  Writer writer;
  Eigen::RowVectorXd vector;
};
/// Each writer once, in the order of the computation; the biases are one part, at the index where the first of them was
/// added.
using WrittenParts = std::vector<WrittenPart>;

Eigen::RowVectorXd sum_of(const WrittenParts& parts);

/// Adds to the part of the biases, which is made where there is none.
void add_bias(WrittenParts& parts, const Eigen::RowVectorXd& vector);
/// The frozen norm of the sum, part by part. An identity changes nothing.
void norm_frozen(WrittenParts& parts, const NormWeights& weights);
/// Each part times the weight's transpose; the bias is added to the biases.
void project_parts(WrittenParts& parts, const Linear& weights);

/// The two sides of an attention: the parts of what it projects one query, or one key, from; (1, d_model) each. The
/// attention is not a pattern that another program computed.
WrittenParts parts_of_query(const Trace& trace, Stack stack, Index layer, Index token);
WrittenParts parts_of_key(const Trace& trace, Stack stack, Index layer, Index token);

/// The parts of the last hidden state of the main stack (Stack::self) or the encoder, after the final norm.
WrittenParts parts_of_last(const Trace& trace, Stack stack, Index token);

}  // namespace headlight
