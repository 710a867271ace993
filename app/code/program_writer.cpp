#include "code/program_writer.h"

#include <algorithm>

#include "base/formatted.h"
#include "write/json.h"

namespace headlight {
namespace {

using Q = Quantity;

/// The names of tensors in programs: their symbols (explain/matrix_kinds.cpp), where those are words of Python.
std::string plain_name(Q quantity) {
  switch (quantity) {
    case Q::attention_norm_scale: return "gamma";
    case Q::attention_norm_shift: return "beta";
    case Q::attention_input: return "normed";
    case Q::query_norm_scale: return "gamma_Q";
    case Q::query_norm_shift: return "beta_Q";
    case Q::query_projected: return "q_projected";
    case Q::query_normed: return "q_normed";
    case Q::key_norm_scale: return "gamma_K";
    case Q::key_norm_shift: return "beta_K";
    case Q::key_projected: return "k_projected";
    case Q::key_normed: return "k_normed";
    case Q::dot: return "dot";
    case Q::scaled: return "scaled";
    case Q::capped: return "capped";
    case Q::relative_bias: return "relative";
    case Q::sink: return "sinks";
    case Q::exponentials: return "exponentials";
    case Q::softmax:
    case Q::dropped:
    case Q::weights: return "weights";
    case Q::head_output:
    case Q::z: return "z";
    case Q::concat: return "concat";
    case Q::attention_output: return "attention_output";
    case Q::attention_after_norm_scale: return "gamma_after";
    case Q::attention_after_norm_shift: return "beta_after";
    case Q::attention_after_normed: return "attention_normed";
    case Q::ffn_after_norm_scale: return "gamma_ffn_after";
    case Q::ffn_after_norm_shift: return "beta_ffn_after";
    case Q::ffn_after_normed: return "ffn_normed";
    case Q::attention_sum: return "attention_sum";
    case Q::ffn_norm_scale: return "gamma_ffn";
    case Q::ffn_norm_shift: return "beta_ffn";
    case Q::ffn_input: return "normed";
    case Q::activated_gate: return "activated_gate";
    case Q::ffn_output: return "ffn_output";
    case Q::ffn_sum: return "ffn_sum";
    default: return symbol(MatrixId{quantity});
  }
}

}  // namespace

std::string joined_sizes(const std::vector<Index>& shape) {
  return joined_texts(shape, ", ", [](Index size) { return std::to_string(size); });
}

ProgramWriter::ProgramWriter(Sentences sentences, const ProgramOptions& options)
    : all_(std::make_shared<const Sentences>(std::move(sentences))),
      sentences_(*all_),
      trace_(*all_->front()),
      options_(options),
      head_(options.head) {}

Index ProgramWriter::queries() const { return static_cast<Index>(trace_.query_tokens(head_.stack).size()); }
Index ProgramWriter::keys() const { return static_cast<Index>(trace_.key_tokens(head_.stack).size()); }

std::string ProgramWriter::base_name(const MatrixId& id) const {
  // Every matrix of the encoder that the decoder reads.
  if (id.stack == Stack::encoder && head_.stack != Stack::encoder) return "memory";
  // Beside the attention, the feed-forward reads x as it was.
  if (id.quantity == Q::after_attention && MatrixSource(trace_, id).block->parallel) return "after_attention";
  // The tensors of a block's second attention have other names.
  const bool second = options_.block && id.stack == Stack::cross && id.quantity != Q::after_attention;
  return (second ? "cross_" : "") + plain_name(id.quantity);
}

void ProgramWriter::say(std::string text) { lines_.push_back({.text = std::move(text)}); }

Tensor& ProgramWriter::make(const MatrixId& id, const std::string& name, const std::string& expression,
                            std::vector<Index> shape, std::string axes) {
  Tensor& tensor = tensors_[id] = {name, std::move(shape), std::move(axes)};
  again(tensor, expression, id);
  return tensor;
}

void ProgramWriter::again(const Tensor& tensor, const std::string& expression, const MatrixId& shows) {
  change(tensor.name + " = " + expression, tensor, shows);
}

void ProgramWriter::change(const std::string& text, const Tensor& tensor, const MatrixId& shows) {
  lines_.push_back({.text = text, .makes = tensor.name, .shape = tensor.shape, .axes = tensor.axes, .shows = shows});
}

std::vector<Index> ProgramWriter::tokens_shape(Index tokens, Index width) const {
  return tokens_first() ? std::vector<Index>{tokens, batch(), width} : std::vector<Index>{batch(), tokens, width};
}

std::vector<Index> ProgramWriter::heads_shape(Index heads, Index tokens, Index width) const {
  if (tokens_first()) return {tokens, batch(), heads, width};
  return {batch(), heads, tokens, width};
}

std::vector<Index> ProgramWriter::pattern_shape() const {
  const Index heads = trace_.attention(head_.stack, head_.layer).num_heads();
  if (tokens_first()) return {queries(), keys(), batch(), heads};
  return {batch(), heads, queries(), keys()};
}

std::string ProgramWriter::tokens_axes(const char* tokens, const char* width) const {
  return tokens_first() ? std::string(tokens) + " b " + width : std::string("b ") + tokens + " " + width;
}

std::string ProgramWriter::heads_axes(const char* tokens) const {
  return tokens_first() ? std::string(tokens) + " b h d" : std::string("b h ") + tokens + " d";
}

std::string ProgramWriter::pattern_axes() const { return tokens_first() ? "i j b h" : "b h i j"; }

Program ProgramWriter::write() {
  const Stack own = options_.head.stack == Stack::cross && options_.block ? Stack::self : options_.head.stack;
  head_.stack = own;
  emit_attention({options_.head.layer, own == options_.head.stack ? options_.head.head : 0, own});
  const MatrixSource source(trace_, at(Q::attention_input));
  if (options_.block) {
    if (own == Stack::self && source.block->cross)
      emit_attention({options_.head.layer, options_.head.stack == Stack::cross ? options_.head.head : 0, Stack::cross});
    emit_ffn();
  }
  emit_comparison();
  emit_header(std::move(lines_));
  return {.dialect = options_.dialect, .lines = std::move(lines_), .inputs = std::move(inputs_)};
}

void ProgramWriter::emit_header(std::vector<ProgramLine> body) {
  lines_.clear();
  const AttentionTrace& attention = trace_.attention(options_.head.stack, options_.head.layer);
  head_ = options_.head;
  const std::string kind = head_.stack == Stack::cross || queries() != keys() ? "cross-attention" : "self-attention";
  const std::string whose = head_.stack == Stack::encoder ? " of the encoder" : "";
  say("# " + kind + " of layer " + std::to_string(head_.layer) + whose +
      (options_.block ? ", with the whole block" : "") + ": " + counted(attention.num_heads(), "head") + ", " +
      counted(batch(), "sentence") + ", " + counted(queries(), "query", "queries") + ", " + counted(keys(), "key") +
      ".");
  say("# Axes: b sentences, i queries, j keys, h heads, d columns of a head.");
  constexpr std::size_t kTokensShown = 24;
  for (std::size_t b = 0; b < sentences_.size() && b < 8; ++b) {
    const Tokens& tokens = sentences_[b]->query_tokens(head_.stack);
    std::string text = "# Sentence " + std::to_string(b) + ":";
    for (std::size_t i = 0; i < tokens.size() && i < kTokensShown; ++i)
      text += " " + json_string(tokens.tokens[i].text) + (tokens.tokens[i].pad ? " (padding)" : "");
    say(text + (tokens.size() > kTokensShown ? " …" : ""));
  }
  const bool needs_erf = std::any_of(
      body.begin(), body.end(), [](const ProgramLine& line) { return line.text.find("(erf)") != std::string::npos; });
  if (needs_erf) say("from math import erf");
  say("from pathlib import Path");
  say("");
  say("import numpy as np");
  if (torch()) say("import torch");
  if (!keeps_heads()) say("from torch import nn");
  if (torch()) say("from torch.nn import functional as F");
  say("");
  const std::string load = "np.load(Path(__file__).with_name(" + json_string(options_.inputs_file) + "))";
  if (torch()) {
    say("torch.set_grad_enabled(False)");
    say("arrays = " + load);
    say("data = {name: torch.from_numpy(arrays[name]) for name in arrays.files}");
  } else {
    say("data = " + load);
  }
  say("");
  for (ProgramLine& line : input_lines_) lines_.push_back(std::move(line));
  say("");
  for (ProgramLine& line : body) lines_.push_back(std::move(line));
}

}  // namespace headlight
