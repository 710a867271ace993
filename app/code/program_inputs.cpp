// The arrays that a program reads, and what it is compared with.
#include <algorithm>
#include <limits>

#include "code/program_writer.h"
#include "math/attention.h"
#include "math/block.h"
#include "math/position.h"
#include "model/batch_mask.h"

namespace headlight {
namespace {

using Q = Quantity;
using Traces = std::vector<std::shared_ptr<const Trace>>;

constexpr float kNever = -std::numeric_limits<float>::infinity();

const Trace& sentence(const Traces& all, Index b) { return *all[static_cast<std::size_t>(b)]; }

/// One sentence's matrix after another; with `tokens_first` one token's rows after another, (B, columns) each.
std::function<Matrix(Index)> pieces_of(std::shared_ptr<const Traces> all, const MatrixId& id, bool tokens_first) {
  if (!tokens_first) return [all, id](Index b) { return whole(sentence(*all, b), id); };
  return [all, id](Index token) {
    Matrix rows(static_cast<Index>(all->size()), shape(*all->front(), id).cols);
    for (Index b = 0; b < rows.rows(); ++b) rows.row(b) = rows_of(sentence(*all, b), id, token, 1);
    return rows;
  };
}

/// The addends of the mask, or with `as_boolean` 1 where a query may attend and 0 where not: (count, S).
Matrix mask_rows(const Mask& mask, Index first, Index count, bool as_boolean) {
  Matrix rows(count, mask.keys());
  for (Index r = 0; r < count; ++r)
    for (Index key = 0; key < mask.keys(); ++key) {
      const float added = mask.added(first + r, key);
      rows(r, key) = !as_boolean ? added : added == kNever ? 0.0f : 1.0f;
    }
  return rows;
}

/// Rows as the columns of one matrix: (S, rows).
Matrix side_by_side(const std::vector<Matrix>& rows) {
  const Index count = static_cast<Index>(rows.size()), keys = rows.front().cols();
  Matrix all(keys, count);
  for (Index b = 0; b < count; ++b) all.col(b) = rows[static_cast<std::size_t>(b)].row(0).transpose();
  return all;
}

}  // namespace

Index ProgramWriter::masks() const { return std::max<Index>(1, trace_.mask(head_.stack, head_.layer).heads()); }

const Mask& ProgramWriter::mask_of(const Trace& trace, Index head) const {
  return trace.mask_of({head_.layer, head, head_.stack});
}

bool ProgramWriter::mask_is_open() const {
  return std::all_of(sentences_.begin(), sentences_.end(),
                     [&](const auto& trace) { return trace->mask(head_.stack, head_.layer).is_open(); });
}

/// A mask from a file may have fewer rows, columns or sentences than what it masks.
void ProgramWriter::say_given_mask() {
  const auto given = stretched_mask(trace_.request, head_.stack, head_.layer, mask_of(trace_, 0));
  if (given) say("# The mask was given as " + stretched_text(*given) + ".");
}

bool ProgramWriter::mask_is_boolean() const {
  for (const auto& trace : sentences_)
    for (Index head = 0; head < masks(); ++head) {
      const Mask& mask = mask_of(*trace, head);
      for (Index query = 0; query < mask.queries(); ++query)
        for (Index key = 0; key < mask.keys(); ++key)
          if (const float added = mask.added(query, key); added != 0.0f && added != kNever) return false;
    }
  return true;
}

bool ProgramWriter::mask_differs() const {
  for (const auto& trace : sentences_)
    for (Index head = 0; head < masks(); ++head) {
      const Mask &mask = mask_of(*trace, head), &first = mask_of(trace_, head);
      for (Index query = 0; &mask != &first && query < mask.queries(); ++query)
        for (Index key = 0; key < mask.keys(); ++key)
          if (mask.added(query, key) != first.added(query, key)) return true;
    }
  return false;
}

std::optional<EmptyRow> ProgramWriter::empty_row() const {
  for (Index b = 0; b < batch(); ++b) {
    const Trace& trace = sentence(*all_, b);
    if (trace.mask(head_.stack, head_.layer).is_open()) continue;
    for (Index query = 0; query < queries(); ++query)
      for (Index head = 0; head < masks(); ++head)
        if (!may_attend(mask_of(trace, head), query)) return EmptyRow{b, query, head};
  }
  return std::nullopt;
}

/// The line that reads an array of the .npz, and the array.
void ProgramWriter::add_array(const Tensor& tensor, std::optional<MatrixId> shows, std::vector<std::string_view> axes,
                              Index pieces, std::function<Matrix(Index)> piece, bool minus_infinity) {
  input_lines_.push_back({.text = tensor.name + " = data[\"" + tensor.name + "\"]",
                          .makes = tensor.name,
                          .shape = tensor.shape,
                          .axes = tensor.axes,
                          .shows = shows,
                          .kind = shows ? LineKind::reads_input : LineKind::computes});
  inputs_.push_back({.name = tensor.name,
                     .shape = tensor.shape,
                     .axes = std::move(axes),
                     .pieces = pieces,
                     .piece = std::move(piece),
                     .minus_infinity = minus_infinity});
}

const Tensor& ProgramWriter::add_input(const MatrixId& id, Tensor tensor, std::vector<std::string_view> axes,
                                       Index pieces, std::function<Matrix(Index)> piece, bool minus_infinity) {
  add_array(tensor, id, std::move(axes), pieces, std::move(piece), minus_infinity);
  return tensors_[id] = std::move(tensor);
}

const Tensor& ProgramWriter::tensor(const MatrixId& id) {
  if (const auto at = tensors_.find(id); at != tensors_.end()) return at->second;
  if (is_mask(id.quantity)) return mask_input();
  const bool learned = is_learned(id.quantity) && id.quantity != Q::given_query && id.quantity != Q::given_key &&
                       id.quantity != Q::given_value;
  return learned ? learned_input(id) : stream_input(id);
}

const Tensor& ProgramWriter::stream_input(const MatrixId& id) {
  // One x where queries, keys and values of a file are the same.
  const ExternalStack* given = MatrixSource(trace_, id).given;
  const auto is_x = [&](const Matrix& side) { return same(side, given->query); };
  if (given &&
      ((id.quantity == Q::given_key && is_x(given->key)) || (id.quantity == Q::given_value && is_x(given->value))))
    return tensors_[id] = tensor(at(Q::given_query));
  const bool x_alone = given && id.quantity == Q::given_query && is_x(given->key) && is_x(given->value);
  const Shape size = shape(trace_, id);
  const bool of_keys = id.quantity == Q::given_key || id.quantity == Q::given_value || base_name(id) == "memory";
  // The input of an attention alone is its x, normed or not; that of a block what an earlier one made last.
  const bool earlier = !of_keys && id.layer < options_.head.layer;
  const std::string name = id.quantity == Q::attention_input || earlier || x_alone ? "x" : base_name(id);
  Tensor tensor{name, tokens_shape(size.rows, size.cols), tokens_axes(of_keys ? "j" : "i", "d_model")};
  const char *outer = tokens_first() ? "token" : "sentence", *inner = tokens_first() ? "sentence" : "token";
  return add_input(id, std::move(tensor), {outer, inner, "column"}, tokens_first() ? size.rows : batch(),
                   pieces_of(all_, id, tokens_first()));
}

const Tensor& ProgramWriter::learned_input(const MatrixId& id) {
  const MatrixSource source(trace_, id);
  if (const Linear* linear = linear_of(source, id.quantity)) {
    if (axes(trace_, id).rows != Axis::one)
      return add_input(id, {base_name(id), {linear->outputs(), linear->inputs()}, "out in"}, {"output", "input"}, 1,
                       [linear, all = all_](Index) { return weight_rows(*linear, 0, linear->outputs()); });
    return add_input(id, {base_name(id), {linear->bias.size()}, "out"}, {"output"}, 1,
                     [linear, all = all_](Index) { return Matrix(linear->bias); });
  }
  // A norm over all heads together has a number for each of their columns.
  const NormWeights* norm = is_per_head(id.quantity) ? norm_of(source, id.quantity) : nullptr;
  if (norm && source.is_wide(*norm)) {
    const bool shifts = id.quantity == Q::query_norm_shift || id.quantity == Q::key_norm_shift;
    const Vector* all_heads = shifts ? &norm->shift : &norm->scale;
    return add_input(id, {base_name(id), {all_heads->size()}, "hd"}, {"column"}, 1,
                     [all_heads, all = all_](Index) { return Matrix(*all_heads); });
  }
  return add_input(id, {base_name(id), {shape(trace_, id).cols}, "d"}, {"column"}, 1,
                   [all = all_, id](Index) { return whole(*all->front(), id); });
}

const Tensor& ProgramWriter::mask_input() {
  const MatrixId id = mask_id();
  const bool boolean = mask_is_boolean(), of_heads = id.quantity == Q::head_mask;
  const Index sentences = mask_differs() ? batch() : 1, heads = masks(), all_masks = sentences * heads;
  const Index rows = queries(), columns = keys();
  Tensor tensor{
      base_name(id),
      tokens_first() ? std::vector<Index>{rows, columns, sentences} : std::vector<Index>{sentences, rows, columns},
      tokens_first() ? "i j b" : "b i j"};
  std::vector<std::string_view> axes{"sentence", "query", "key"};
  if (tokens_first()) axes = {"query", "key", "sentence"};
  if (of_heads) {  // behind the sentences
    const auto behind = tokens_first() ? 3 : 1;
    tensor.shape.insert(tensor.shape.begin() + behind, heads);
    tensor.axes = tokens_first() ? "i j b h" : "b h i j";
    axes.insert(axes.begin() + behind, "head");
  }
  // Of the heads of a sentence one after another, a sentence after another.
  const auto mask = [all = all_, head = head_, heads](Index at) -> const Mask& {
    return sentence(*all, at / heads).mask_of({head.layer, at % heads, head.stack});
  };
  if (!tokens_first())
    return add_input(
        id, std::move(tensor), std::move(axes), all_masks,
        [mask, rows, boolean](Index at) { return mask_rows(mask(at), 0, rows, boolean); }, true);
  return add_input(
      id, std::move(tensor), std::move(axes), rows,
      [mask, all_masks, boolean](Index query) {
        std::vector<Matrix> each;
        for (Index at = 0; at < all_masks; ++at) each.push_back(mask_rows(mask(at), query, 1, boolean));
        return side_by_side(each);
      },
      true);
}

/// Something of each head that is the same for every sentence: (1, H, rows, cols), or (rows, cols, 1, H).
const Tensor& ProgramWriter::per_head_input(const std::string& name, const std::function<Matrix(Index)>& of_head,
                                            Index rows, Index cols, const MatrixId& shows) {
  const Index heads = trace_.attention(head_.stack, head_.layer).num_heads();
  const bool first = tokens_first();
  const std::string full_name = (options_.block && head_.stack == Stack::cross ? "cross_" : "") + name;
  Tensor tensor{full_name, first ? std::vector<Index>{rows, cols, 1, heads} : std::vector<Index>{1, heads, rows, cols},
                pattern_axes()};
  const auto all_heads = [of_head, heads, rows, cols](Index) {
    Matrix all(rows * cols, heads);
    for (Index head = 0; head < heads; ++head) {
      const Matrix one = of_head(head);
      all.col(head) = Eigen::Map<const Vector>(one.data(), one.size()).transpose();
    }
    return all;
  };
  const std::vector<std::string_view> axes(tensor.shape.size(), "axis");
  if (first) add_array(tensor, shows, axes, 1, all_heads);
  else add_array(tensor, shows, axes, heads, of_head);
  return named_[full_name] = std::move(tensor);
}

const Tensor& ProgramWriter::per_head_input(const std::string& name, Quantity quantity, Index rows, Index cols) {
  const auto of_head = [all = all_, of = head_, quantity](Index head) {
    return whole(*all->front(), matrix_id(quantity, {of.layer, head, of.stack}));
  };
  return per_head_input(name, of_head, rows, cols, at(quantity));
}

const Tensor& ProgramWriter::rotary_input(const char* name, bool sine) {
  if (const auto at = named_.find(name); at != named_.end()) return at->second;
  const MatrixSource source(trace_, at(Q::query));
  const Rotary* rotary = source.rotary();
  const Index tokens = queries(), pairs = rotary->frequencies.size();
  Tensor tensor{name, {tokens, pairs}, "i pair"};
  add_array(tensor, std::nullopt, {"token", "pair"}, 1, [rotary, all = all_, tokens, pairs, sine](Index) {
    // Turning (1, 0) gives the cosine and the sine of each pair, as the model computes them.
    const Index width = 2 * pairs;
    Matrix ones = Matrix::Zero(tokens, width);
    for (Index pair = 0; pair < pairs; ++pair) ones.col(rotary->interleaved ? 2 * pair : pair).setOnes();
    const Matrix turned = rotated(ones, *rotary, 1);
    Matrix table(tokens, pairs);
    for (Index pair = 0; pair < pairs; ++pair)
      table.col(pair) = turned.col(rotary->interleaved ? 2 * pair + (sine ? 1 : 0) : pair + (sine ? pairs : 0));
    return table;
  });
  return named_[name] = std::move(tensor);
}

void ProgramWriter::add_expected(const MatrixId& id) {
  const std::vector<Index>& size = tensors_.at(id).shape;
  inputs_.push_back({.name = "expected_output",
                     .shape = size,
                     .axes = std::vector<std::string_view>(size.size(), "axis"),
                     .pieces = tokens_first() ? shape(trace_, id).rows : batch(),
                     .piece = pieces_of(all_, id, tokens_first())});
}

void ProgramWriter::add_expected_weights() {
  const std::vector<Index> size = pattern_shape();
  const Index heads = trace_.attention(head_.stack, head_.layer).num_heads(), patterns = batch() * heads;
  // Rows of the patterns: those of the heads of a sentence one after another, a sentence after another.
  const auto rows = [all = all_, of = head_, heads](Index pattern, Index first, Index count) {
    return attention_rows(sentence(*all, pattern / heads), {of.layer, pattern % heads, of.stack}, first, count);
  };
  const auto of_pattern = [rows, count = queries()](Index pattern) { return rows(pattern, 0, count); };
  const auto of_query = [rows, patterns](Index query) {
    std::vector<Matrix> each;
    for (Index pattern = 0; pattern < patterns; ++pattern) each.push_back(rows(pattern, query, 1));
    return side_by_side(each);
  };
  inputs_.push_back({.name = "expected_weights",
                     .shape = size,
                     .axes = std::vector<std::string_view>(size.size(), "axis"),
                     .pieces = tokens_first() ? queries() : patterns,
                     .piece = {}});
  if (tokens_first()) inputs_.back().piece = of_query;
  else inputs_.back().piece = of_pattern;
}

}  // namespace headlight
