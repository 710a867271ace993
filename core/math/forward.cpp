#include "math/forward.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "math/attention.h"
#include "math/block.h"
#include "math/ops.h"
#include "math/position.h"

namespace headlight {
namespace {

/// What the layers share of the progress: all but a rest, so that their rounded sum stays below 1.
constexpr float kLayersShare = 0.999f;

/// Token vectors and positions, (T, d_model).
Matrix embed(const Config& config, const Tokens& tokens) {
  const Index count = static_cast<Index>(tokens.size());
  Matrix embedding(count, config.d_model);
  for (Index t = 0; t < count; ++t)
    embedding.row(t) = random_embedding(config, tokens.tokens[static_cast<std::size_t>(t)].text);
  if (config.position == Position::sinusoidal) embedding += sinusoidal_positions(count, config.d_model);
  return embedding;
}

std::shared_ptr<const Model> model_for(const Request& request, const Trace* previous) {
  if (request.model) return request.model;
  if (previous && !previous->request.model && previous->request.config == request.config) return previous->model;
  return random_model(request.config);
}

bool may_attend(const Mask& mask, Index query) {
  for (Index key = 0; key < mask.keys(); ++key)
    if (mask.allowed(query, key)) return true;
  return false;
}

/// Overflow is refused here rather than drawn. In the scores it shows in the sums of the rows: NaN, or 0 in a row
/// that the mask did not empty.
Status check_finite(const Trace& trace) {
  std::vector<bool> masked(static_cast<std::size_t>(trace.queries()), false);  // queries seen to attend to nothing
  for (std::size_t layer = 0; layer < trace.blocks.size(); ++layer) {
    const BlockTrace& block = trace.blocks[layer];
    const std::string where = "layer " + std::to_string(layer);
    for (const auto& [name, matrix] : {std::pair{" queries", &block.self.query}, {" keys", &block.self.key},
                                       {" values", &block.self.value}})
      if (!matrix->allFinite()) return bad_input("attention", where + name, "finite numbers", "an overflow");
    for (std::size_t head = 0; head < block.self.heads.size(); ++head) {
      const Vector& sums = block.self.heads[head].row_sum;
      for (Index query = 0; query < sums.size(); ++query) {
        const auto row = static_cast<std::size_t>(query);
        if (sums(query) == 0.0f && !masked[row]) masked[row] = !may_attend(trace.mask, query);
        if (std::isfinite(sums(query)) && (sums(query) != 0.0f || masked[row])) continue;
        return bad_input("attention", where + " head " + std::to_string(head) + " query " + std::to_string(query),
                         "finite scores", "an overflow");
      }
    }
    for (const auto& [name, matrix] : {std::pair{" attention output", &block.self.output}, {" output", &block.output}})
      if (!matrix->allFinite()) return bad_input("attention", where + name, "finite numbers", "an overflow");
  }
  if (!trace.last_hidden_state.allFinite())
    return bad_input("attention", "last hidden state", "finite numbers", "an overflow");
  return Done{};
}

/// Queries that may attend to nothing. The mask is the same for every head and layer, so the first tells.
void warn_of_empty_rows(Trace& trace) {
  const Vector& sums = trace.blocks.front().self.heads.front().row_sum;
  Index empty = 0, first = 0;
  for (Index query = sums.size() - 1; query >= 0; --query) {
    if (sums(query) != 0.0f) continue;
    ++empty;
    first = query;
  }
  if (empty == 0) return;
  trace.warnings.push_back("mask: " + std::to_string(empty) + (empty == 1 ? " query" : " queries") +
                           " may attend to nothing (the first is " + std::to_string(first) +
                           "): their rows are zeros");
}

/// Somebody's own query, key and value: one bare attention layer.
bool run_given(Trace& trace, const Matrix& blocked, int threads, Progress& progress) {
  const GivenInputs& given = *trace.model->given;
  trace.embedding = given.query;
  BlockTrace block;
  block.attention_input = given.query;
  if (!run_attention(trace.model->blocks.front().self, trace, given.query, given.key, given.value, blocked, threads,
                     block.self, progress, kLayersShare))
    return false;
  block.after_attention = block.output = block.self.output;
  trace.last_hidden_state = block.output;
  trace.blocks.push_back(std::move(block));
  return true;
}

bool run_stack(Trace& trace, const Matrix& blocked, int threads, Progress& progress) {
  trace.embedding = embed(trace.model->config, trace.request.tokens);
  const Matrix* x = &trace.embedding;
  trace.blocks.reserve(trace.model->blocks.size());
  const float share = kLayersShare / static_cast<float>(trace.model->blocks.size());
  for (const auto& weights : trace.model->blocks) {
    if (!run_block(weights, trace, *x, blocked, threads, trace.blocks.emplace_back(), progress, share)) return false;
    x = &trace.blocks.back().output;
  }
  trace.last_hidden_state = trace.model->final_norm ? layer_norm(*x, *trace.model->final_norm) : *x;
  return true;
}

}  // namespace

Result<std::shared_ptr<const Trace>> forward(const Request& request, Progress& progress, const Trace* previous,
                                             int threads) {
  if (!request.model)
    if (const auto valid = check(request.config); !valid) return valid.error();
  if (const float scale = request.edits.scale.value_or(1.0f); !std::isfinite(scale))
    return bad_input("scale", "", "a finite number", std::isnan(scale) ? "nan" : scale > 0 ? "inf" : "-inf");
  if (progress.stop) return std::shared_ptr<const Trace>{};
  progress.done = 0;
  auto trace = std::make_shared<Trace>();
  trace->request = request;
  trace->model = model_for(request, previous);
  if (trace->query_tokens().size() == 0 || trace->key_tokens().size() == 0)
    return bad_input("text", "tokens", "at least one", "none");
  auto mask = resolve(request.mask, trace->query_tokens(), trace->key_tokens());
  if (!mask) return mask.error();
  trace->mask = std::move(*mask);

  const Region whole{.num_queries = trace->queries(), .num_keys = trace->keys()};
  const Matrix blocked = blocked_cells(trace->mask, whole, kThumbnail);
  const Index heads = trace->num_heads();
  const Linear& query = trace->model->blocks.front().self.query;
  const Index d_k = (query.weight.size() > 0 ? query.weight.rows() : trace->model->config.d_model) / heads;
  trace->scale = request.edits.scale.value_or(1.0f / std::sqrt(static_cast<float>(d_k)));

  const bool finished = trace->model->given ? run_given(*trace, blocked, threads, progress)
                                            : run_stack(*trace, blocked, threads, progress);
  if (!finished) return std::shared_ptr<const Trace>{};
  if (const auto finite = check_finite(*trace); !finite) return finite.error();
  for (const BlockTrace& block : trace->blocks)
    for (const HeadTrace& head : block.self.heads)
      trace->largest_weight = std::max(trace->largest_weight, head.thumbnail.maxCoeff());
  warn_of_empty_rows(*trace);
  progress.done = 1;
  return std::shared_ptr<const Trace>(std::move(trace));
}

Result<std::shared_ptr<const Trace>> forward(const Request& request) {
  Progress progress;
  return forward(request, progress);
}

}  // namespace headlight
