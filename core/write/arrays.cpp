#include "write/arrays.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/formatted.h"
#include "base/names.h"
#include "base/parallel.h"
#include "base/result.h"
#include "base/utf8.h"
#include "math/attention.h"
#include "math/output.h"
#include "model/head_text.h"
#include "write/reduced.h"

namespace headlight {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

using RowsOf = Matrix (*)(const Trace&, const HeadRef&, Index first, Index count);

/// (layers, heads, queries, keys), a piece for every block of rows.
ArrayStream pattern(const Trace& trace, Stack stack, std::string name, RowsOf rows_of) {
  const Index heads = trace.num_heads(stack), queries = trace.queries(stack);
  const Index blocks = (queries + kRowBlock - 1) / kRowBlock;
  ArrayStream array;
  array.name = std::move(name);
  array.shape = {trace.num_layers(stack), heads, queries, trace.keys(stack)};
  array.axes = {"layer", "head", "query", "key"};
  array.pieces = trace.num_layers(stack) * heads * blocks;
  array.piece = [&trace, stack, heads, queries, blocks, rows_of](Index piece) {
    const HeadRef head{piece / blocks / heads, piece / blocks % heads, stack};
    const Index first = piece % blocks * kRowBlock;
    return rows_of(trace, head, first, std::min(kRowBlock, queries - first));
  };
  return array;
}

/// (layers, heads, tokens, d_k), a piece for every head.
ArrayStream projected(const Trace& trace, Stack stack, std::string name, Matrix AttentionTrace::*field, Index heads) {
  const Matrix& first = trace.attention(stack, 0).*field;
  ArrayStream array;
  array.name = std::move(name);
  array.shape = {trace.num_layers(stack), heads, first.rows(), first.cols() / heads};
  array.axes = {"layer", "head", "token", "dimension"};
  array.pieces = trace.num_layers(stack) * heads;
  array.piece = [&trace, stack, field, heads](Index piece) {
    return Matrix{head_columns(trace.attention(stack, piece / heads).*field, piece % heads, heads)};
  };
  return array;
}

/// A matrix that the trace holds.
ArrayStream whole(std::string name, std::string_view rows, const Matrix& matrix) {
  ArrayStream array;
  array.name = std::move(name);
  array.shape = {matrix.rows(), matrix.cols()};
  array.axes = {rows, "dimension"};
  array.pieces = 1;
  array.piece = [&matrix](Index) { return matrix; };
  array.held = &matrix;
  return array;
}

ArrayStream hidden_states(std::string name, const StackTrace& stack) {
  ArrayStream array;
  array.name = std::move(name);
  const auto layers = static_cast<Index>(stack.blocks.size());
  array.shape = {layers + 1, stack.embedding.rows(), stack.embedding.cols()};
  array.axes = {"layer", "token", "dimension"};
  array.pieces = layers + 1;
  array.piece = [&stack](Index piece) {
    return piece == 0 ? stack.embedding : stack.blocks[static_cast<std::size_t>(piece - 1)].output;
  };
  return array;
}

/// (tokens, vocabulary), a piece for every block of rows; of a classifier (1, classes).
ArrayStream logits(const Trace& trace) {
  const Index rows = answered_rows(trace);
  ArrayStream array;
  array.name = "logits";
  array.shape = {rows, trace.model->output->weight->outputs()};
  array.axes = {classifies(*trace.model) ? "answer" : "token", "word"};
  array.pieces = (rows + kRowBlock - 1) / kRowBlock;
  array.piece = [&trace, rows](Index piece) {
    return logit_rows(trace, piece * kRowBlock, std::min(kRowBlock, rows - piece * kRowBlock));
  };
  return array;
}

constexpr std::string_view kSpecialTokensNames[] = {"show", "hide", "renormalize"};

}  // namespace

std::string_view name(SpecialTokens special) { return name_in(kSpecialTokensNames, special); }

std::vector<Index> exported_indices(const Tokens& tokens, SpecialTokens special) {
  std::vector<Index> indices;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (special == SpecialTokens::show || !tokens.tokens[i].special) indices.push_back(static_cast<Index>(i));
  return indices;
}

Tokens exported_tokens(const Tokens& tokens, SpecialTokens special) {
  Tokens result{.text = tokens.text, .tokens = {}};
  for (const Index index : exported_indices(tokens, special))
    result.tokens.push_back(tokens.tokens[static_cast<std::size_t>(index)]);
  return result;
}

ArrayStream only_heads(ArrayStream array, const std::vector<HeadRef>& only) {
  if (only.empty()) return array;
  const Index heads = array.shape[1], pieces = array.pieces / (array.shape[0] * heads);
  std::vector<Index> first;  // pieces of the wanted heads
  for (const HeadRef& head : only) first.push_back((head.layer * heads + head.head) * pieces);
  array.shape[0] = 1;
  array.shape[1] = static_cast<Index>(only.size());
  array.pieces = pieces * array.shape[1];
  array.piece = [all = std::move(array.piece), first = std::move(first), pieces](Index piece) {
    return all(first[static_cast<std::size_t>(piece / pieces)] + piece % pieces);
  };
  return array;
}

ArrayStream without_special(ArrayStream array, const Tokens& rows, const Tokens* columns, SpecialTokens special) {
  const auto indices = exported_indices(rows, special);
  const auto keys = columns ? exported_indices(*columns, special) : std::vector<Index>{};
  if (indices.size() == rows.size() && (!columns || keys.size() == columns->size())) return array;
  const std::size_t axis = array.shape.size() - 2;
  Index matrices = 1;
  for (std::size_t i = 0; i < axis; ++i) matrices *= array.shape[i];
  const Index blocks = array.pieces / matrices;
  array.shape[axis] = static_cast<Index>(indices.size());
  if (columns) array.shape[axis + 1] = static_cast<Index>(keys.size());
  array.held = nullptr;
  const bool scaled = columns && special == SpecialTokens::renormalize && !array.minus_infinity;
  array.piece = [piece_of = std::move(array.piece), indices, keys, blocks, scaled,
                 cut = columns != nullptr](Index piece) {
    const Matrix all = piece_of(piece);
    const Index first = piece % blocks * kRowBlock;
    const auto begin = std::lower_bound(indices.begin(), indices.end(), first);
    const auto end = std::lower_bound(begin, indices.end(), first + all.rows());
    Matrix rows_of_tokens(end - begin, cut ? static_cast<Index>(keys.size()) : all.cols());
    for (auto index = begin; index != end; ++index) {
      auto row = rows_of_tokens.row(index - begin);
      if (!cut) row = all.row(*index - first);
      for (std::size_t key = 0; key < keys.size(); ++key) row(static_cast<Index>(key)) = all(*index - first, keys[key]);
      const double sum = scaled ? row.cast<double>().sum() : 0;
      if (sum > 0) row = (row.cast<double>() / sum).cast<float>();
    }
    return rows_of_tokens;
  };
  return array;
}

Status check_options(const Trace& trace, const ExportOptions& options) {
  for (const HeadRef& only : options.only) {
    const bool there =
        trace.has(only.stack) && only.layer < trace.num_layers(only.stack) && only.head < trace.num_heads(only.stack);
    if (!there) return bad_input("export", "head", "one that the model has", head_text(only));
    if (only.stack != options.only.front().stack)
      return bad_input("--only", "", "heads of one attention",
                       head_text(options.only.front()) + " and " + head_text(only));
  }
  const SpecialTokens special = options.special;
  for (const StackNames& names : stacks_of(trace, options))
    for (const Tokens* tokens : {&trace.query_tokens(names.stack), &trace.key_tokens(names.stack)})
      if (exported_indices(*tokens, special).empty())
        return bad_input("--special", "", "a token that is not special", "none");
  TRY(matrix_arrays(trace, options));
  if (!options.reduce) return Done{};
  if (options.queries_keys_values || options.scores || !options.matrices.empty())
    return bad_input("--reduce", "", "the attention alone", "--with");
  TRY(reduced_attentions({&trace}, options));
  return Done{};
}

std::size_t ArrayStream::num_elements() const {
  std::size_t product = 1;
  for (const Index size : shape) product *= static_cast<std::size_t>(size);
  return product;
}

std::vector<StackNames> stacks_of(const Trace& trace, const ExportOptions& options) {
  if (!trace.has(Stack::encoder) && !trace.has(Stack::cross)) return {{Stack::self, "Self", "attentions", ""}};
  std::vector<StackNames> stacks;
  for (const StackNames& names : {StackNames{Stack::encoder, "Encoder", "encoder_attentions", "encoder_"},
                                  StackNames{Stack::self, "Decoder", "decoder_attentions", "decoder_"},
                                  StackNames{Stack::cross, "Cross", "cross_attentions", "cross_"}})
    if (trace.has(names.stack) && (options.only.empty() || options.only.front().stack == names.stack))
      stacks.push_back(names);
  return stacks;
}

ArrayStream attentions_of(const Trace& trace, const StackNames& names, const ExportOptions& options) {
  return without_special(
      only_heads(pattern(trace, names.stack, std::string(names.attentions), attention_rows), options.only),
      trace.query_tokens(names.stack), &trace.key_tokens(names.stack), options.special);
}

std::vector<ArrayStream> attention_arrays(const Trace& trace, const ExportOptions& options) {
  assert(!trace.blocks.empty());
  std::vector<ArrayStream> arrays;
  if (options.reduce) {
    const auto reduced = reduced_attentions({&trace}, options);
    return reduced ? reduced_arrays(*reduced) : arrays;
  }
  const std::vector<StackNames> stacks = stacks_of(trace, options);
  for (const StackNames& names : stacks) arrays.push_back(attentions_of(trace, names, options));
  for (const StackNames& names : stacks) {
    const Stack stack = names.stack;
    const AttentionTrace& first = trace.attention(stack, 0);
    if (first.patterns) continue;
    const std::string before(names.prefix);
    const Tokens &queries = trace.query_tokens(stack), &keys = trace.key_tokens(stack);
    const auto add = [&](ArrayStream array, const Tokens& rows, const Tokens* columns = nullptr) {
      arrays.push_back(without_special(std::move(array), rows, columns, options.special));
    };
    if (options.queries_keys_values) {
      std::vector<HeadRef> shared = options.only;  // the heads of keys and values that the wanted ones read
      for (HeadRef& head : shared) head.head = first.kv_head(head.head);
      const auto of_head = [&](const char* name, Matrix AttentionTrace::*field, Index heads,
                               const std::vector<HeadRef>& only) {
        return only_heads(projected(trace, stack, before + name, field, heads), only);
      };
      add(of_head("queries", &AttentionTrace::query, first.num_heads(), options.only), queries);
      add(of_head("keys", &AttentionTrace::key, first.num_kv_heads, shared), keys);
      add(of_head("values", &AttentionTrace::value, first.num_kv_heads, shared), keys);
    }
    if (options.scores) {
      ArrayStream scores = only_heads(pattern(trace, stack, before + "scores", score_rows), options.only);
      scores.minus_infinity = true;
      add(std::move(scores), queries, &keys);
    }
  }
  if (auto further = matrix_arrays(trace, options))
    arrays.insert(arrays.end(), std::move_iterator(further->begin()), std::move_iterator(further->end()));
  return arrays;
}

std::vector<ArrayStream> all_arrays(const Trace& trace, const ExportOptions& options) {
  auto arrays = attention_arrays(trace, options);
  if (!options.only.empty()) return arrays;
  if (trace.model->given) {
    const AttentionTrace& self = trace.attention(Stack::self, 0);
    if (!self.patterns) arrays.push_back(whole("output", "query", trace.last_hidden_state()));
    return arrays;
  }
  const auto add = [&](ArrayStream array, Stack stack) {
    arrays.push_back(without_special(std::move(array), trace.query_tokens(stack), nullptr, options.special));
  };
  if (trace.encoder) {
    add(hidden_states("encoder_hidden_states", *trace.encoder), Stack::encoder);
    add(whole("encoder_last_hidden_state", "token", trace.encoder->last_hidden_state()), Stack::encoder);
  }
  add(hidden_states(trace.encoder ? "decoder_hidden_states" : "hidden_states", trace), Stack::self);
  add(whole("last_hidden_state", "token", trace.last_hidden_state()), Stack::self);
  if (trace.logits.size() > 0) add(logits(trace), Stack::self);
  return arrays;
}

std::vector<ArrayStream> all_arrays(const std::vector<std::shared_ptr<const Trace>>& traces,
                                    const ExportOptions& options) {
  std::vector<ArrayStream> arrays;
  if (options.reduce) {
    if (const auto sentences = reduced_sentences(traces, options))
      for (const auto& [prefix, reduced] : *sentences)
        for (ArrayStream& array : reduced_arrays(reduced)) {
          array.name.insert(0, prefix);
          arrays.push_back(std::move(array));
        }
    return arrays;
  }
  for (std::size_t i = 0; i < traces.size(); ++i) {
    for (auto& array : all_arrays(*traces[i], options)) {
      if (traces.size() > 1) array.name.insert(0, std::to_string(i) + ".");
      arrays.push_back(std::move(array));
    }
  }
  return arrays;
}

ArrayStream array_of(std::string name, std::vector<Index> shape, std::vector<float> numbers) {
  const Index columns = shape.back(), rows = static_cast<Index>(numbers.size()) / columns;
  const auto kept = std::make_shared<const std::vector<float>>(std::move(numbers));
  ArrayStream array{.name = std::move(name), .shape = std::move(shape), .axes = {}, .pieces = 1, .piece = {}};
  array.piece = [kept, rows, columns](Index) -> Matrix {
    return Eigen::Map<const Matrix>(kept->data(), rows, columns);
  };
  return array;
}

ArrayStream array_of_texts(std::string name, const std::vector<std::string>& texts) {
  std::size_t longest = 1;
  for (const std::string& text : texts) longest = std::max(longest, code_points(text).size());
  std::vector<float> bits;
  for (const std::string& text : texts) {
    for (const char32_t point : code_points(text)) bits.push_back(std::bit_cast<float>(std::uint32_t{point}));
    bits.resize((bits.size() + longest - 1) / longest * longest);
    if (text.empty()) bits.resize(bits.size() + longest);
  }
  const auto count = static_cast<Index>(texts.size());
  ArrayStream array = array_of(std::move(name), {count, static_cast<Index>(longest)}, std::move(bits));
  array.is_text = true;
  return array;
}

std::size_t num_elements(const std::vector<ArrayStream>& arrays) {
  std::size_t sum = 0;
  for (const auto& array : arrays) sum += array.num_elements();
  return sum;
}

std::size_t bytes_of_export(const std::vector<std::shared_ptr<const Trace>>& traces, const ExportOptions& options) {
  return num_elements(all_arrays(traces, options)) * bytes_in(options.type);
}

namespace {

/// `layer 0 head 1 query 3 key 2` of element `at` in C order.
std::string element_name(const ArrayStream& array, std::size_t at) {
  std::string name;
  for (std::size_t axis = array.shape.size(); axis-- > 0;) {
    const auto size = static_cast<std::size_t>(array.shape[axis]);
    const std::string_view counts = axis < array.axes.size() ? array.axes[axis] : "axis";
    name = std::string(counts) + " " + std::to_string(at % size) + (name.empty() ? "" : " ") + name;
    at /= size;
  }
  return name;
}

}  // namespace

Error not_finite(const ArrayStream& array, std::size_t at, float found, std::string_view expected) {
  return headlight::not_finite(array.name, element_name(array, at), found, expected);
}

Result<Matrix> ArrayReader::next() {
  auto pieces = TRY(next(1));
  return std::move(pieces.front());
}

Result<std::vector<Matrix>> ArrayReader::next(Index most) {
  assert(!at_end());
  if (work_.stopped()) return cancelled("export");
  std::vector<Matrix> pieces(static_cast<std::size_t>(std::min(most, array_.pieces - next_)));
  parallel_for(static_cast<Index>(pieces.size()), work_.threads(),
               [&](Index i) { pieces[static_cast<std::size_t>(i)] = array_.piece(next_ + i); });
  next_ += static_cast<Index>(pieces.size());
  for (const Matrix& piece : pieces) {
    for (Index i = 0; i < piece.size(); ++i) {
      const float value = piece.data()[i];
      if (std::isfinite(value)) continue;
      if (array_.has_gaps && std::isnan(value)) continue;
      if (array_.minus_infinity && value == -std::numeric_limits<float>::infinity()) continue;
      return not_finite(array_, offset_ + static_cast<std::size_t>(i), value);
    }
    offset_ += static_cast<std::size_t>(piece.size());
    work_.did(static_cast<std::size_t>(piece.size()));
  }
  return pieces;
}

std::string_view bytes_of(const Matrix& piece) {
  return {reinterpret_cast<const char*>(piece.data()), static_cast<std::size_t>(piece.size()) * sizeof(float)};
}

Result<std::string> halves_of(const ArrayStream& array, std::size_t offset, const Matrix& piece) {
  constexpr float kMost = 65504;
  std::string bytes(static_cast<std::size_t>(piece.size()) * sizeof(Eigen::half), '\0');
  for (Index i = 0; i < piece.size(); ++i) {
    const float value = piece.data()[i];
    if (std::isfinite(value) && std::abs(value) > kMost)
      return bad_input(array.name, element_name(array, offset + static_cast<std::size_t>(i)),
                       "a number that float16 holds, at most 65504", shortest_text(value));
    const Eigen::half half(value);
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof half, &half, sizeof half);
  }
  return bytes;
}

}  // namespace headlight
