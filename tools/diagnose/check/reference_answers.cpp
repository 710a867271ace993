#include "diagnose/check/checkpoint_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/formatted.h"
#include "diagnose/diagnosis.h"
#include "math/attention.h"
#include "math/output.h"

namespace headlight {
namespace {

constexpr float kFarthest = std::numeric_limits<float>::infinity();

std::string decimal(float value) { return formatted("%.3g", static_cast<double>(value)); }

/// An array's ids; none where it is not there and need not be.
Result<std::vector<std::int64_t>> ids_of(std::string_view where, const ArrayFile& reference, const std::string& name,
                                         bool required) {
  std::vector<std::int64_t> ids;
  const Array* stored = find_array(reference.arrays, name);
  if (!stored && required) return bad_input(where, name, "an array of ids", "none");
  if (!stored) return ids;
  constexpr std::size_t kMostIds = 4096;
  if (stored->values.size() > kMostIds)
    return bad_input(where, name, "at most " + std::to_string(kMostIds) + " ids",
                     std::to_string(stored->values.size()));
  constexpr float kMost = 1 << 24;  // up to which float32 holds every whole number
  for (const float value : stored->values) {
    if (!(value >= 0 && value < kMost) || value != std::floor(value))
      return bad_input(where, name, "ids from 0 on", decimal(value));
    ids.push_back(static_cast<std::int64_t>(value));
  }
  return ids;
}

Tokens tokens_of(const std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& types) {
  Tokens tokens;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string word = std::to_string(ids[i]);
    const std::size_t begin = tokens.text.size() + (i > 0 ? 1 : 0);
    if (i > 0) tokens.text += ' ';
    tokens.text += word;
    tokens.tokens.push_back({.id = ids[i],
                             .text = word,
                             .raw = word,
                             .begin = begin,
                             .end = tokens.text.size(),
                             .type = i < types.size() ? static_cast<int>(types[i]) : 0});
  }
  return tokens;
}

constexpr const char* kPixels = "pixel_values";

Index height_of(const PatchGrid& grid) { return grid.rows * grid.patch; }
Index width_of(const PatchGrid& grid) { return grid.cols * grid.patch; }

std::vector<Index> without_ones(std::vector<Index> shape) {
  std::erase(shape, 1);
  return shape;
}

/// The picture of which a reference has the pixels (3, H, W), as the model reads them.
Result<Tokens> tokens_of_pixels(std::string_view where, const ArrayFile& reference, const PatchGrid& grid) {
  const Array* stored = find_array(reference.arrays, kPixels);
  const std::vector<Index> shape{3, height_of(grid), width_of(grid)};
  if (!stored || without_ones(stored->shape) != without_ones(shape))
    return bad_input(where, kPixels, shape_text(shape), stored ? shape_text(stored->shape) : "none");
  std::vector<float> pixels;  // (H, W, 3)
  const std::size_t all = stored->values.size() / 3;
  for (std::size_t at = 0; at < all; ++at)
    for (std::size_t channel = 0; channel < 3; ++channel) pixels.push_back(stored->values[channel * all + at]);
  return picture_tokens(std::make_shared<const PatchedPicture>(
      PatchedPicture{.name = kPixels, .done = {}, .grid = grid, .seen = {}, .patches = patches_of(grid, pixels)}));
}

/// An answer of Headlight's, in pieces one after the other.
struct CheckAnswer {
  std::vector<Index> shape;
  std::function<Matrix(Index piece)> piece;
  Index pieces = 0;
};

CheckAnswer weights_of(const Trace& trace, Stack stack) {
  const Index heads = trace.num_heads(stack), layers = trace.num_layers(stack), queries = trace.queries(stack);
  return {{layers, heads, queries, trace.keys(stack)},
          [&trace, stack, heads, queries](Index i) {
            return attention_rows(trace, {.layer = i / heads, .head = i % heads, .stack = stack}, 0, queries);
          },
          layers * heads};
}

CheckAnswer states_of(const StackTrace& stack, bool last_is_normed) {
  const auto layers = static_cast<Index>(stack.blocks.size());
  return {{layers + 1, stack.embedding.rows(), stack.embedding.cols()},
          [&stack, layers, last_is_normed](Index i) {
            if (i == layers && last_is_normed) return stack.last_hidden_state();
            return i == 0 ? stack.embedding : stack.blocks[static_cast<std::size_t>(i - 1)].output;
          },
          layers + 1};
}

/// The pixels that the model was given, (3, H, W).
CheckAnswer pixels_of(const PatchedPicture& picture) {
  const PatchGrid& grid = picture.grid;
  const Index side = grid.patch, area = side * side;
  return {{3, height_of(grid), width_of(grid)},
          [&picture, &grid, side, area](Index channel) {
            return Matrix(Matrix::NullaryExpr(height_of(grid), width_of(grid), [&](Index row, Index col) {
              const Index patch = row / side * grid.cols + col / side;
              return picture.patches(patch, channel * area + row % side * side + col % side);
            }));
          },
          3};
}

CheckAnswer one(const Matrix& matrix) {
  return {{matrix.rows(), matrix.cols()}, [&matrix](Index) { return matrix; }, 1};
}

/// Every answer of this name; transformers' last hidden state may come after the final norm or before.
std::vector<CheckAnswer> answers_named(const Trace& trace, std::string_view name) {
  const bool two = trace.encoder != nullptr;
  if (const auto& picture = trace.query_tokens().picture; picture && name == kPixels) return {pixels_of(*picture)};
  if (name == (two ? "decoder_attentions" : "attentions")) return {weights_of(trace, Stack::self)};
  if (two && name == "encoder_attentions") return {weights_of(trace, Stack::encoder)};
  if (two && name == "cross_attentions") return {weights_of(trace, Stack::cross)};
  if (name == "hidden_states" || (two && name == "decoder_hidden_states"))
    return {states_of(trace, true), states_of(trace, false)};
  if (two && name == "encoder_hidden_states")
    return {states_of(*trace.encoder, true), states_of(*trace.encoder, false)};
  if (name == "last_hidden_state") return {one(trace.last_hidden_state())};
  if (two && name == "encoder_last_hidden_state") return {one(trace.encoder->last_hidden_state())};
  if (name == "logits" && trace.model->output)
    return {{{answered_rows(trace), trace.model->output->weight->outputs()},
             [&trace](Index row) { return logit_rows(trace, row, 1); },
             answered_rows(trace)}};
  return {};
}

struct Difference {
  float largest = 0;  // infinite where a number is NaN
  float shown = 0;    // the same as it is
  std::size_t at = 0;
  std::size_t first = 0;  // that is larger than what is allowed: of layers the first one that is wrong
};

Difference difference(const CheckAnswer& answer, const Array& expected, float most) {
  Difference result;
  std::size_t at = 0;
  for (Index i = 0; i < answer.pieces; ++i) {
    const Matrix piece = answer.piece(i);
    for (Index k = 0; k < piece.size(); ++k, ++at) {
      const float apart = std::abs(piece.data()[k] - expected.values[at]);
      const float known = std::isnan(apart) ? kFarthest : apart;
      if (!(known > result.largest)) continue;
      result = {known, apart, at, result.largest > most ? result.first : at};
    }
  }
  return result;
}

std::string cell_text(std::size_t at, const std::vector<Index>& shape) {
  std::vector<Index> indices(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; at /= static_cast<std::size_t>(shape[axis]))
    indices[axis] = static_cast<Index>(at % static_cast<std::size_t>(shape[axis]));
  return shape_text(indices);
}

Finding compare_one(std::string_view where, const std::string& name, const Array& expected, const Trace& trace) {
  const std::vector<CheckAnswer> answers = answers_named(trace, name);
  const std::string what = std::string(where) + ": " + printable(name);
  if (answers.empty())
    return {Severity::note, what + ": no answer of this model, not compared", ErrorCode::not_compared};
  const CheckAnswer& first = answers.front();
  if (without_ones(expected.shape) != without_ones(first.shape))
    return {Severity::error, bad_input(where, printable(name), shape_text(first.shape), shape_text(expected.shape),
                                       ErrorCode::differs_from_reference)};
  float magnitude = 1;
  const bool weights = name.find("attentions") != std::string::npos;
  for (const float value : expected.values)
    if (!weights && std::isfinite(value)) magnitude = std::max(magnitude, std::abs(value));
  const float most = weights ? kWeightTolerance : kStateTolerance;
  Difference least = difference(first, expected, most * magnitude);
  for (std::size_t i = 1; i < answers.size(); ++i)
    if (const Difference other = difference(answers[i], expected, most * magnitude); other.largest < least.largest)
      least = other;
  const float shown = least.shown / magnitude;
  const std::string kind = weights ? "" : " relative";
  if (shown <= most)
    return {Severity::good, what + ": as the reference, to within " + decimal(shown) + kind, ErrorCode::as_reference};
  return {Severity::error,
          bad_input(where, printable(name), "differences of at most " + decimal(most) + kind,
                    decimal(shown) + " at " + cell_text(least.at, first.shape) +
                        (least.first == least.at ? "" : ", the first at " + cell_text(least.first, first.shape)),
                    ErrorCode::differs_from_reference)};
}

}  // namespace

std::optional<Finding> diagnose_answers(std::string_view where, const ArrayFile& reference, const Trace& trace) {
  const bool two = trace.encoder != nullptr;
  for (const auto& [stack, before] :
       {std::pair{Stack::encoder, "encoder_"}, {Stack::self, two ? "decoder_" : ""}, {Stack::cross, "cross_"}}) {
    const std::string prefix = before, name = prefix + "attentions";
    const Array* stored = find_array(reference.arrays, name);
    if (!trace.has(stack) || !stored) continue;
    const CheckAnswer weights = weights_of(trace, stack);
    Index cells = 1;
    for (const Index size : weights.shape) cells *= size;
    if (without_ones(stored->shape) != without_ones(weights.shape) || cells > kMostDiagnosed) continue;
    ExportFile expected, found;
    expected.arrays[name] = Array{.shape = weights.shape, .values = stored->values};
    Array& ours = found.arrays[name];
    ours.shape = weights.shape;
    for (Index i = 0; i < weights.pieces; ++i) {
      const Matrix piece = weights.piece(i);
      ours.values.insert(ours.values.end(), piece.data(), piece.data() + piece.size());
    }
    found.arrays[prefix + "queries"] = array_of_heads(trace, stack, &AttentionTrace::query, true);
    found.arrays[prefix + "keys"] = array_of_heads(trace, stack, &AttentionTrace::key, false);
    found.arrays[prefix + "values"] = array_of_heads(trace, stack, &AttentionTrace::value, false);
    const FileComparison comparison = compare(expected, found, kWeightTolerance);
    if (comparison.equal()) continue;
    const Diagnosis diagnosis = diagnose(expected, found, comparison);
    if (diagnosis.verdicts.empty()) return std::nullopt;
    const Mistake& mistake = diagnosis.verdicts.front().mistakes.front();
    return Finding{Severity::note,
                   std::string(where) + ": " + name + ": layer " + std::to_string(diagnosis.layer) +
                       " here is as with this mistake: " + diagnosis.line().en + " (to within " +
                       decimal(static_cast<float>(*mistake.after)) + " of " +
                       decimal(static_cast<float>(*mistake.before)) + ")",
                   ErrorCode::as_with_mistake};
  }
  return std::nullopt;
}

Request request_of_ids(const std::shared_ptr<const Model>& model, const std::vector<std::int64_t>& ids,
                       const std::vector<std::int64_t>& decoder_ids, const std::vector<std::int64_t>& types) {
  return {.model = model,
          .config = model->config,
          .tokens = tokens_of(ids, types),
          .target = tokens_of(decoder_ids, {}),
          .mask = {.causal = model->config.arch != Arch::encoder}};
}

Request request_of_picture(const std::shared_ptr<const Model>& model, const Tokens& picture) {
  return {.model = model, .config = model->config, .tokens = picture};
}

Result<Request> request_of(std::string_view where, const ArrayFile& reference,
                           const std::shared_ptr<const Model>& model, const Tokens* picture) {
  if (picture) return request_of_picture(model, *picture);
  if (model->patches) return request_of_picture(model, TRY(tokens_of_pixels(where, reference, *model->patches)));
  const auto ids = TRY(ids_of(where, reference, "ids", true));
  const auto decoder_ids = TRY(ids_of(where, reference, "decoder_ids", model->encoder.has_value()));
  const auto types = TRY(ids_of(where, reference, "token_type_ids", false));
  return request_of_ids(model, ids, decoder_ids, types);
}

std::vector<Finding> compare_answers(std::string_view where, const ArrayFile& reference, const Trace& trace) {
  std::vector<Finding> findings;
  for (const auto& [name, array] : reference.arrays) {
    if (name == "ids" || name == "decoder_ids" || name == "token_type_ids") continue;
    if (name == kPixels && trace.request.tokens.text == kPixels) continue;  // which were what was asked
    findings.push_back(compare_one(where, name, array, trace));
  }
  if (findings.empty())
    findings.emplace_back(Severity::warning, std::string(where) + ": expected answers beside the ids, found none",
                          ErrorCode::reference_without_answers);
  return findings;
}

}  // namespace headlight
