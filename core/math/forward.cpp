#include "math/forward.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/formatted.h"
#include "base/mapped_file.h"
#include "math/block.h"
#include "math/common_rows.h"
#include "math/embedding.h"
#include "math/ops.h"
#include "math/output.h"
#include "model/head_text.h"
#include "model/request.h"
#include "model/weight_tree.h"

namespace headlight {
namespace {

/// The layers fill 99.9 % of the progress, so that the rounded sum of their shares stays below 1.
constexpr float kLayersShare = 0.999f;

std::shared_ptr<const Model> model_for(const Request& request, const Trace* previous, const std::atomic<bool>& stop) {
  if (request.model) return request.model;
  if (previous && !previous->request.model && previous->request.config == request.config &&
      previous->request.vocabulary == request.vocabulary)
    return previous->model;
  auto model = random_model(request.config, request.vocabulary, stop);
  pack(*model, stop);
  return model;
}

std::string found(float value) { return std::isnan(value) ? "nan" : shortest_text(value); }

Status check_scale(const std::string& where, const std::optional<float>& scale) {
  if (!scale || std::isfinite(*scale)) return Done{};
  return bad_input(where, "", "a finite number", found(*scale), ErrorCode::not_finite);
}

Status check_edits(const Edits& edits) {
  TRY(check_scale("scale", edits.scale));
  for (const LayerEdit& edit : edits.layers)
    TRY(check_scale("scale of layer " + std::to_string(edit.layer), edit.scale));
  if (!(edits.dropout >= 0.0f && edits.dropout < 1.0f))
    return bad_input("dropout", "", "0 or more and less than 1", found(edits.dropout));
  for (const WeightEdit& edit : edits.weights)
    if (!(edit.weight >= 0.0f && edit.weight <= 1.0f)) return bad_input("weight", "", "0 to 1", found(edit.weight));
  return Done{};
}

Status check_sides(const Request& request, const Model& model) {
  for (const Stack stack : kStacks) {
    if (!has_stack(request, stack)) continue;
    if (query_tokens(request, stack).size() > 0 && key_tokens(request, stack).size() > 0) continue;
    const bool of_target = request.config.arch == Arch::encoder_decoder && request.tokens.size() > 0;
    return bad_input(of_target ? "target" : "text", "tokens", "at least one", "none",
                     of_target ? ErrorCode::no_target : ErrorCode::no_tokens);
  }
  if (model.given) return Done{};
  if (!model.encoder) return check_tokens(model, model, request.tokens);
  const Status known = check_tokens(model, *model.encoder, request.tokens);
  return known ? check_tokens(model, model, request.target) : known;
}

/// Warns of queries that may attend to nothing, of the first such head where each has another mask.
void warn_of_empty_rows(const std::string& where, const AttentionTrace& attention, std::vector<Error>& warnings) {
  for (Index head = 0; head < std::max<Index>(1, attention.mask->heads()); ++head) {
    const Vector& sums = attention.heads[static_cast<std::size_t>(head)].row_sum;
    Index empty = 0, first = 0;
    for (Index query = sums.size() - 1; query >= 0; --query) {
      if (sums(query) != 0.0f || may_attend(attention.mask_of(head), query)) continue;
      ++empty;
      first = query;
    }
    if (empty == 0) continue;
    const std::string query = std::to_string(first);
    const std::string of_head = attention.mask->heads() > 0 ? "head " + std::to_string(head) + ": " : std::string();
    warnings.emplace_back(
        ErrorCode::empty_row, where,
        of_head + (empty == 1 ? "query " + query + " may attend to nothing: its row is zeros"
                              : std::to_string(empty) + " queries may attend to nothing (the first is " + query +
                                    "): their rows are zeros"));
    return;
  }
}

/// One warning for each mask of a stack or of a layer.
void warn_of_empty_rows(Trace& trace) {
  for (const Stack stack : kStacks) {
    if (!trace.has(stack)) continue;
    bool warned = false;  // of the mask that the layers share
    for (Index layer = 0; layer < trace.num_layers(stack); ++layer) {
      const LayerEdit* own = layer_edit(trace.request.edits, stack, layer);
      const bool has_own = own && own->mask;
      if (warned && !has_own) continue;
      if (!has_own) warned = true;
      warn_of_empty_rows(mask_name(stack, has_own ? std::optional(layer) : std::nullopt), trace.attention(stack, layer),
                         trace.warnings);
    }
  }
}

/// Warns of rows whose weights set by hand sum to more than 1: a head then passes on more than one value.
void warn_of_heavy_rows(Trace& trace) {
  const std::vector<WeightEdit>& weights = trace.request.edits.weights;
  for (auto first = weights.begin(); first != weights.end();) {
    const auto same_row = [&](const WeightEdit& w) {
      return w.head == first->head && w.cell.query == first->cell.query;
    };
    const auto end = std::find_if_not(first, weights.end(), same_row);
    double sum = 0;
    for (auto one = first; one != end; ++one) sum += static_cast<double>(one->weight);
    if (sum > 1 + 1e-6)
      trace.warnings.emplace_back(ErrorCode::weights_above_one, "weights by hand",
                                  "the row of query " + std::to_string(first->cell.query) + " in head " +
                                      head_text(first->head) + " sums to " + formatted("%g", sum) + ", more than 1");
    first = end;
  }
}

/// The part of a request that the encoder of an encoder-decoder depends on.
Request encoder_part(Request request) {
  request.target = {};
  request.mask = request.cross_mask = {};
  const auto elsewhere = [](const auto& edit) { return edit.head.stack != Stack::encoder; };
  std::erase_if(request.edits.weights, elsewhere);
  std::erase_if(request.edits.layers, [](const LayerEdit& edit) { return edit.stack != Stack::encoder; });
  std::erase_if(request.edits.off, [](const HeadRef& head) { return head.stack != Stack::encoder; });
  return request;
}

/// The lowest layer in which two lists of edits differ, at most `common`. `layer_of` gives an edit's stack and layer.
template <class Edit, class LayerOf>
Index first_difference(const std::vector<Edit>& a, const std::vector<Edit>& b, bool encoder, Index common,
                       const LayerOf& layer_of) {
  for (const auto& [here, there] : {std::pair{&a, &b}, {&b, &a}}) {
    for (const Edit& edit : *here) {
      const auto [stack, layer] = layer_of(edit);
      if ((stack == Stack::encoder) == encoder && layer < common &&
          std::find(there->begin(), there->end(), edit) == there->end())
        common = layer;
    }
  }
  return common;
}

/// How many of the first layers of a stack compute the same in two requests of one model. Of a decoder over an encoder
/// only where both read the same encoder's output.
Index common_layers(const Request& a, const Request& b, Stack stack, Index layers) {
  const bool encoder = stack == Stack::encoder;
  Request rest_a = encoder ? encoder_part(a) : a, rest_b = encoder ? encoder_part(b) : b;
  for (Request* rest : {&rest_a, &rest_b}) {
    rest->edits.off.clear();
    rest->edits.weights.clear();
    rest->edits.layers.clear();
  }
  if (!(rest_a == rest_b)) return 0;
  const auto of_head = [](const auto& edit) { return std::pair{edit.head.stack, edit.head.layer}; };
  const auto of_layer = [](const LayerEdit& edit) { return std::pair{edit.stack, edit.layer}; };
  layers = first_difference(a.edits.off, b.edits.off, encoder, layers, [](const HeadRef& head) {
    return std::pair{head.stack, head.layer};
  });
  layers = first_difference(a.edits.weights, b.edits.weights, encoder, layers, of_head);
  return first_difference(a.edits.layers, b.edits.layers, encoder, layers, of_layer);
}

/// The state of a forward pass.
struct Pass {
  Trace& trace;
  const Trace* previous;
  Progress& progress;
  int threads;
  float share;                   // of one attention
  std::vector<Patches> patches;  // of one text, or empty
};

/// The leading blocks of a stack that are the same in the earlier answer.
std::vector<BlockTrace> common_blocks(const Pass& pass, Stack stack) {
  const Trace* previous = pass.previous;
  if (!previous || previous->model != pass.trace.model) return {};
  if (stack == Stack::self && previous->encoder != pass.trace.encoder) return {};
  const auto& blocks = previous->blocks_of(stack);
  Index common = common_layers(previous->request, pass.trace.request, stack, static_cast<Index>(blocks.size()));
  if (const auto patched = lowest_patch(pass.patches, stack == Stack::encoder)) common = std::min(common, *patched);
  return {blocks.begin(), blocks.begin() + common};
}

/// Runs one stack over its tokens. False when stopped.
Result<bool> run_stack(const StackWeights& weights, Stack stack, const StackTrace* encoder, const Pass& pass,
                       StackTrace& result) {
  const Request& request = pass.trace.request;
  auto prepared = TRY(stack_run(request, *pass.trace.model, weights, stack, encoder, pass.progress,
                                {pass.threads, &pass.progress.stop}));
  StackRun& run = prepared;
  run.share = pass.share;
  run.variants = pass.patches.empty() ? nullptr : &pass.patches;
  result.embedding = embed(run.model, weights, query_tokens(request, stack));
  const std::string name = stack_name(run.model, stack);
  TRY(check_finite(name + "embeddings", result.embedding, Threads(pass.threads)));
  result.blocks = common_blocks(pass, stack);
  if (pass.previous && pass.patches.empty() && stack == Stack::self && result.blocks.empty()) {
    const auto rows = TRY(common_rows(*pass.previous, pass.trace, result.embedding, run));
    run.first = rows;
    if (rows > 0) run.earlier = pass.previous;
  }
  result.blocks.reserve(weights.blocks.size());
  const auto attentions = static_cast<float>(result.blocks.size() * (encoder ? 2 : 1));
  pass.progress.advance(pass.share * attentions);
  const auto reached = [&]() -> const Matrix& { return result.last_hidden_state(); };
  while (result.blocks.size() < weights.blocks.size()) {
    const std::size_t layer = result.blocks.size();
    auto block = TRY(run_block(weights.blocks[layer], stack, static_cast<Index>(layer), reached(), run));
    if (!block) return false;
    result.blocks.push_back(std::move(*block));
  }
  if (!weights.final_norm) return true;
  result.normed = norm(reached(), *weights.final_norm, Threads(pass.threads));
  TRY(check_finite(name + "last hidden state", result.normed, Threads(pass.threads)));
  return true;
}

Result<bool> run_model(Pass& pass) {
  Trace& trace = pass.trace;
  const Model& model = *trace.model;
  if (!model.encoder) {
    pass.share = kLayersShare * pass.progress.share / static_cast<float>(model.blocks.size());
    return run_stack(model, Stack::self, nullptr, pass, trace);
  }
  pass.share =
      kLayersShare * pass.progress.share / static_cast<float>(model.encoder->blocks.size() + 2 * model.blocks.size());
  const Trace* previous = pass.previous;
  if (previous && previous->encoder && previous->model == trace.model && !lowest_patch(pass.patches, true) &&
      encoder_part(previous->request) == encoder_part(trace.request)) {
    trace.encoder = previous->encoder;
    pass.progress.advance(pass.share * static_cast<float>(model.encoder->blocks.size()));
  } else {
    auto encoder = std::make_shared<StackTrace>();
    const auto ran = run_stack(*model.encoder, Stack::encoder, nullptr, pass, *encoder);
    if (!ran || !*ran) return ran;
    trace.encoder = std::move(encoder);
  }
  return run_stack(model, Stack::self, trace.encoder.get(), pass, trace);
}

/// Query, key and value from a tensors file: one attention without residual and norm.
Result<bool> run_given(Pass& pass) {
  Trace& trace = pass.trace;
  const ExternalStack& given = trace.model->given->stacks.at(Stack::self);
  auto mask = TRY(resolve_mask(trace.request, Stack::self));
  const StackRun run{.request = trace.request,
                     .model = *trace.model,
                     .stack = *trace.model,
                     .mask = std::move(mask),
                     .cross_mask = {},
                     .windows = {},
                     .progress = pass.progress,
                     .share = kLayersShare * pass.progress.share,
                     .threads = {pass.threads, &pass.progress.stop}};
  BlockTrace& block = trace.blocks.emplace_back();
  auto output = TRY(run_attention(trace.model->blocks.front().self, Stack::self, 0, given.query, given.key, given.value,
                                  run, block.self));
  if (!output) return false;
  block.output = std::move(*output);
  return true;
}

/// Patterns that another program computed: thumbnails only.
Result<bool> run_given_patterns(Pass& pass) {
  Trace& trace = pass.trace;
  std::size_t layers = 0;
  for (const auto& [stack, given] : trace.model->given->stacks) {
    layers += given.patterns.size();
    for (const auto& heads : given.patterns)
      for (const Matrix& numbers : heads)
        trace.is_signed = trace.is_signed || numbers.minCoeff<Eigen::PropagateNumbers>() < 0;
  }
  const StackRun run{.request = trace.request,
                     .model = *trace.model,
                     .stack = *trace.model,
                     .mask = {},
                     .cross_mask = {},
                     .windows = {},
                     .progress = pass.progress,
                     .share = kLayersShare * pass.progress.share / static_cast<float>(layers),
                     .threads = {pass.threads, &pass.progress.stop}};
  auto encoder = std::make_shared<StackTrace>();
  trace.blocks.resize(trace.model->given->stacks.at(Stack::self).patterns.size());
  for (const auto& [stack, given] : trace.model->given->stacks) {
    if (stack == Stack::encoder) encoder->blocks.resize(given.patterns.size());
    for (std::size_t layer = 0; layer < given.patterns.size(); ++layer) {
      AttentionTrace attention;
      attention.is_signed = trace.is_signed;
      const auto ran = run_patterns(given.patterns[layer], stack, static_cast<Index>(layer), run, attention);
      if (!ran || !*ran) return ran;
      if (stack == Stack::encoder) encoder->blocks[layer].self = std::move(attention);
      else if (stack == Stack::cross) trace.blocks[layer].cross = std::move(attention);
      else trace.blocks[layer].self = std::move(attention);
    }
  }
  if (!encoder->blocks.empty()) trace.encoder = std::move(encoder);
  return true;
}

/// Weights that stay in their file were read from a file that is whole.
Status check_files(const Model& model) {
  if (!any_was_shortened()) return Done{};
  const auto stays = [](const Linear& linear) { return linear.stored && was_shortened(linear.stored->file.get()); };
  bool any = false;
  const auto look = [&](const StackWeights& stack) {
    any = any || (stack.embeddings.tokens && stays(*stack.embeddings.tokens));
    for (const BlockWeights& block : stack.blocks)
      for_each_layer(block, [&](const LayerName&, const auto& weights) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(weights)>, Linear>) any = any || stays(weights);
      });
  };
  look(model);
  if (model.encoder) look(*model.encoder);
  any = any || (model.output && model.output->weight && stays(*model.output->weight));
  if (any) return shortened(model.name);
  return Done{};
}

float largest_weight(const Trace& trace) {
  float largest = 0;
  for (const Stack stack : kStacks) {
    if (!trace.has(stack)) continue;
    for (Index layer = 0; layer < trace.num_layers(stack); ++layer)
      for (const HeadTrace& head : trace.attention(stack, layer).heads) largest = std::max(largest, head.largest);
  }
  return largest;
}

}  // namespace

Result<std::shared_ptr<const Trace>> forward(const Request& request, Progress& progress, const Trace* previous,
                                             int threads, const Patches* patches) {
  if (!request.model) TRY(check(request.config));
  TRY(check_edits(request.edits));
  if (progress.stop) return std::shared_ptr<const Trace>{};
  if (progress.share > 0) progress.done = progress.begin;  // else the caller counts
  auto trace = std::make_shared<Trace>();
  trace->request = request;
  trace->model = model_for(request, previous, progress.stop);
  if (progress.stop) return std::shared_ptr<const Trace>{};
  TRY(check_sides(request, *trace->model));
  TRY(check_parts(*trace->model, request.edits));

  Pass pass{.trace = *trace, .previous = previous, .progress = progress, .threads = threads, .share = 0, .patches = {}};
  if (patches) pass.patches = {*patches};
  const bool given = trace->model->given.has_value();
  const bool patterns = given && !trace->model->given->stacks.at(Stack::self).patterns.empty();
  const auto finished = TRY(patterns ? run_given_patterns(pass) : given ? run_given(pass) : run_model(pass));
  if (!finished) return std::shared_ptr<const Trace>{};
  trace->answering = answering_query(request);
  if (trace->model->output) {
    const Matrix logits = logit_rows(*trace, trace->answering, 1, Threads{threads, &progress.stop});
    if (progress.stop) return std::shared_ptr<const Trace>{};
    TRY(check_finite("logits", logits, Threads(threads)));
    trace->logits = logits;
  }
  TRY(check_files(*trace->model));
  trace->largest_weight = largest_weight(*trace);
  warn_of_empty_rows(*trace);
  warn_of_heavy_rows(*trace);
  if (progress.share > 0) progress.done = progress.begin + progress.share;
  return std::shared_ptr<const Trace>(std::move(trace));
}

Result<std::shared_ptr<const Trace>> forward(const Request& request) {
  Progress progress;
  return forward(request, progress);
}

}  // namespace headlight
