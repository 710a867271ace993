#include "train/network/gradients.h"

#include <algorithm>
#include <cassert>

#include "base/pool.h"
#include "base/random.h"
#include "math/position.h"
#include "train/network/stack_pass.h"

namespace headlight {
namespace {

/// Sentences [first, first + count).
struct Range {
  Index first = 0, count = 0;
};

/// Cuts a range into `parts` of about as many tokens each; none is empty unless there are too few sentences.
std::vector<Range> cut(const Sentences& sentences, const Range& whole, Index parts) {
  Index tokens = 0;
  for (Index i = 0; i < whole.count; ++i) tokens += sentences.lengths[static_cast<std::size_t>(whole.first + i)];
  std::vector<Range> result;
  Index passed = 0, first = whole.first;
  for (Index i = 0; i < whole.count; ++i) {
    passed += sentences.lengths[static_cast<std::size_t>(whole.first + i)];
    const Index next = whole.first + i + 1;
    if (passed * parts < tokens * (static_cast<Index>(result.size()) + 1) && i + 1 < whole.count) continue;
    result.push_back({first, next - first});
    first = next;
  }
  return result;
}

Index tokens_of(const Sentences& sentences, const Range& range) {
  Index tokens = 0;
  for (Index i = 0; i < range.count; ++i) tokens += sentences.lengths[static_cast<std::size_t>(range.first + i)];
  return tokens;
}

/// As many shards as the batch is worth: each has its gradients, and may have its thread.
constexpr Index kTokensOfShard = 160, kMostShards = 8;
/// The rows computed at a time stay in a core's cache.
constexpr Index kTokensAtOnce = 144;

/// A shard of a large network is longer: its gradients, all of them, must be cleared and added up.
Index number_of_shards(const Network& network, Index tokens) {
  constexpr Index kNumbersPerToken = 8192;
  const Index least = std::max(kTokensOfShard, network.size() / kNumbersPerToken);
  Index shards = 1;
  while (2 * shards <= kMostShards && tokens / (2 * shards) >= least) shards *= 2;
  return shards;
}

/// A large vocabulary does not fit the cache: it is read, and its gradients written, for more tokens at a time.
Index tokens_at_once(const Network& network) {
  constexpr Index kManyWords = 4096, kTimes = 4;
  return network.words > kManyWords ? kTimes * kTokensAtOnce : kTokensAtOnce;
}

}  // namespace

struct Workspace::Memory {
  explicit Memory(int threads) : pool(threads), arenas(static_cast<std::size_t>(pool.threads())) {}

  Pool pool;
  std::vector<Arena> arenas;            // one a worker
  std::vector<Floats> shard_gradients;  // of shards 1, 2, …; the first writes where the sum goes
  Floats transposed;
  Matrix sinusoids;
  Floats gradients;
};

Workspace::Workspace(int threads) : memory_(std::make_unique<Memory>(threads)) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
Floats& Workspace::gradients() { return memory_->gradients; }

void Workspace::split(Index size, const std::function<void(Index, Index)>& part) {
  constexpr Index kStretch = Index{1} << 15;
  constexpr Index kWorthThreads = Index{1} << 20;  // below, a thread would take longer to wake than to help
  if (size < kWorthThreads) return part(0, size);
  memory_->pool.run((size + kStretch - 1) / kStretch,
                    [&](Index i, int) { part(i * kStretch, std::min(size, (i + 1) * kStretch)); });
}

namespace {

/// The input of every shard of a step.
struct Step {
  const Network& network;
  const Batch& batch;
  const Objective& objective;
  std::uint64_t seed;
  float per_weight;     // 1 / the weight of all targets
  float per_attention;  // the same of those of heads, times their share of the objective
  const float* transposed;
  const Matrix& sinusoids;
};

float weight_of(const Batch& batch, Index at) {
  return batch.weights.empty() ? 1.0f : batch.weights[static_cast<std::size_t>(at)];
}

void transpose_weights(const Network& network, Floats& transposed) {
  transposed.resize(network.values.size());
  const auto turn = [&](const LinearOffsets& layer) {
    if (layer.weight < 0) return;
    math_kernels().transpose(network.values.data() + layer.weight, layer.in, layer.out, layer.in,
                             transposed.data() + layer.weight, layer.out);
  };
  turn({.out = network.words, .in = network.config.d_model, .weight = network.output_weight});
  for (const StackOffsets* stack : {&network.encoder, &network.main})
    for (const BlockOffsets& block : stack->blocks)
      for (const LinearOffsets& layer : {block.self.projections, block.self.output, block.cross.projections,
                                         block.cross.memory, block.cross.output, block.up, block.down})
        turn(layer);
}

/// The output layer over those hidden states that have a target. `dhidden`, if not null, is set to their gradients.
void run_output(const PassContext& context, const Step& step, const Packed& rows, const Range& range,
                const float* hidden, float* dhidden, Loss& loss) {
  const Network& network = step.network;
  const Index d = network.config.d_model, words = network.words;
  std::vector<Index> asked;  // rows
  std::vector<Index> cells;  // in the batch
  for (Index sentence = 0; sentence < rows.count(); ++sentence) {
    const Index from = (range.first + sentence) * step.batch.input.length;
    for (Index t = 0; t < rows.length(sentence); ++t) {
      const bool wanted = step.batch.targets[static_cast<std::size_t>(from + t)] >= 0;
      if (!wanted || weight_of(step.batch, from + t) <= 0.0f) continue;
      asked.push_back(rows.start(sentence) + t);
      cells.push_back(from + t);
    }
  }
  const Index count = static_cast<Index>(asked.size());
  float* chosen = context.arena.take(count * d);
  float* scores = context.arena.take(count * words);
  for (Index i = 0; i < count; ++i) {
    const float* from = hidden + asked[static_cast<std::size_t>(i)] * d;
    std::copy(from, from + d, chosen + i * d);
  }
  const LinearOffsets output{.out = words, .in = d, .weight = network.output_weight, .bias = network.output_bias};
  linear_forward(context, output, chosen, d, count, scores, false);
  for (Index i = 0; i < count; ++i) {
    const Index at = cells[static_cast<std::size_t>(i)];
    const Index target = step.batch.targets[static_cast<std::size_t>(at)];
    assert(target < words);
    const float weight = weight_of(step.batch, at);
    bool right = false;
    const double nats = math_kernels().cross_entropy(scores + i * words, words, target, weight * step.per_weight,
                                                     step.objective.label_smoothing, right);
    loss.mean += static_cast<double>(weight) * nats;
    ++loss.targets;
    if (right) ++loss.right;
  }
  if (!dhidden) return;
  linear_backward(context, output, chosen, scores, count, chosen, false);
  std::fill(dhidden, dhidden + rows.rows() * d, 0.0f);
  for (Index i = 0; i < count; ++i)
    std::copy(chosen + i * d, chosen + (i + 1) * d, dhidden + asked[static_cast<std::size_t>(i)] * d);
}

/// The targets of taught heads in some sentences.
std::span<const AttentionTarget> attention_of(const Batch& batch, const Range& range) {
  const auto before = [](Index sentence) {
    return [sentence](const AttentionTarget& target) { return target.sentence < sentence; };
  };
  const auto& all = batch.attention;
  const auto begin = std::partition_point(all.begin(), all.end(), before(range.first));
  const auto end = std::partition_point(begin, all.end(), before(range.first + range.count));
  return std::span(all).subspan(static_cast<std::size_t>(begin - all.begin()), static_cast<std::size_t>(end - begin));
}

/// Forward pass of some sentences of a shard, and backward if gradients are wanted.
void run_part(const PassContext& context, const Step& step, const Range& range, Loss& loss) {
  const Network& network = step.network;
  const Index d = network.config.d_model;
  const bool two_stacks = network.config.arch == Arch::encoder_decoder;
  const Packed target = packed(step.batch.input, range.first, range.count);
  const Packed source = two_stacks ? packed(step.batch.source, range.first, range.count) : Packed{};
  std::optional<StackPass> encoder;
  const float* memory = nullptr;
  if (two_stacks) {
    encoder.emplace(context, network.encoder, source, nullptr, false);
    memory = encoder->forward();
  }
  PassContext main_context = context;
  main_context.seed = Random(context.seed).next();
  StackPass main(main_context, network.main, target, two_stacks ? &source : nullptr,
                 network.config.arch != Arch::encoder);
  const float* hidden = main.forward(memory);
  main.ask_attention(attention_of(step.batch, range), range.first, step.per_attention, loss);
  float* dhidden = context.gradients ? context.arena.take(target.rows() * d) : nullptr;
  run_output(context, step, target, range, hidden, dhidden, loss);
  if (!dhidden) return;
  float* dmemory = nullptr;
  if (two_stacks) {
    dmemory = context.arena.take(source.rows() * d);
    std::fill(dmemory, dmemory + source.rows() * d, 0.0f);
  }
  main.backward(dhidden, dmemory);
  if (encoder) encoder->backward(dmemory);
}

Loss run_shard(const Step& step, const Range& shard, float* gradients, Arena& arena) {
  Loss loss;
  if (gradients) clear_added(step.network, gradients);
  bool first = true;
  const Sentences& sentences = step.batch.input;
  const Index at_once = tokens_at_once(step.network);
  const Index parts = (tokens_of(sentences, shard) + at_once - 1) / at_once;
  for (const Range& range : cut(sentences, shard, parts)) {
    arena.reset();
    const PassContext context{.network = step.network,
                              .transposed = step.transposed,
                              .sinusoids = step.sinusoids,
                              .arena = arena,
                              .gradients = gradients,
                              .first = first,
                              .dropout = step.objective.dropout,
                              .seed = derive_seed(step.seed, "sentence " + std::to_string(range.first))};
    run_part(context, step, range, loss);
    first = false;
  }
  return loss;
}

/// Adds the gradients of the other shards to those of the first, in their order.
void add_up(const std::vector<Floats>& others, std::size_t count, Floats& gradients, Workspace& workspace) {
  constexpr Index kAtOnce = 1 << 12;  // stays in the cache while all shards are added to it
  if (count == 0) return;
  workspace.split(static_cast<Index>(gradients.size()), [&](Index begin, Index end) {
    for (Index at = begin; at < end; at += kAtOnce)
      for (std::size_t other = 0; other < count; ++other)
        math_kernels().add(gradients.data() + at, others[other].data() + at, 1.0f, std::min(kAtOnce, end - at));
  });
}

/// The input of every shard besides the network itself.
void prepare(const Network& network, const Batch& batch, Workspace::Memory& memory) {
  transpose_weights(network, memory.transposed);
  const Index longest = std::max(batch.input.length, batch.source.length), d = network.config.d_model;
  if (network.config.position == Position::sinusoidal &&
      (memory.sinusoids.rows() < longest || memory.sinusoids.cols() != d))
    memory.sinusoids = sinusoidal_positions(longest, d);
}

Loss run_batch(const Network& network, const Batch& batch, const Objective& objective, std::uint64_t seed,
               Floats* gradients, Workspace& workspace) {
  Workspace::Memory& memory = workspace.memory();
  const Sentences& input = batch.input;
  assert(batch.targets.size() == static_cast<std::size_t>(input.count * input.length));
  double weight = 0;
  for (Index sentence = 0; sentence < input.count; ++sentence)
    for (Index t = 0; t < input.lengths[static_cast<std::size_t>(sentence)]; ++t) {
      const Index at = sentence * input.length + t;
      if (batch.targets[static_cast<std::size_t>(at)] >= 0) weight += std::max(0.0f, weight_of(batch, at));
    }
  double attention_weight = 0;
  for (const AttentionTarget& target : batch.attention) attention_weight += static_cast<double>(target.weight);
  if (gradients) gradients->resize(network.values.size());
  if ((weight <= 0.0 && attention_weight <= 0.0) || input.count == 0) {
    if (gradients) std::fill(gradients->begin(), gradients->end(), 0.0f);
    return {};
  }

  prepare(network, batch, memory);
  const std::vector<Range> shards = cut(input, {0, input.count}, number_of_shards(network, input.tokens()));
  memory.shard_gradients.resize(std::max(memory.shard_gradients.size(), shards.size() - 1));
  if (gradients)
    for (Floats& shard : memory.shard_gradients) shard.resize(network.values.size());
  std::vector<Loss> losses(shards.size());
  const Step step{
      .network = network,
      .batch = batch,
      .objective = objective,
      .seed = seed,
      .per_weight = weight > 0.0 ? static_cast<float>(1.0 / weight) : 0,
      .per_attention = attention_weight > 0.0 ? objective.attention / static_cast<float>(attention_weight) : 0,
      .transposed = memory.transposed.data(),
      .sinusoids = memory.sinusoids};
  memory.pool.run(static_cast<Index>(shards.size()), [&](Index shard, int worker) {
    const auto at = static_cast<std::size_t>(shard);
    float* of_shard = !gradients ? nullptr : shard == 0 ? gradients->data() : memory.shard_gradients[at - 1].data();
    losses[at] = run_shard(step, shards[at], of_shard, memory.arenas[static_cast<std::size_t>(worker)]);
  });
  if (gradients) add_up(memory.shard_gradients, shards.size() - 1, *gradients, workspace);
  Loss result{.weight = weight, .attention_weight = attention_weight};
  for (const Loss& shard : losses) {
    result.mean += shard.mean;
    result.attention += shard.attention;
    result.looked += shard.looked;
    result.looks += shard.looks;
    result.targets += shard.targets;
    result.right += shard.right;
  }
  if (weight > 0.0) result.mean /= weight;
  if (attention_weight > 0.0) result.attention /= attention_weight;
  if (result.looks > 0) result.looked /= static_cast<double>(result.looks);
  return result;
}

}  // namespace

Loss loss_and_gradients(const Network& network, const Batch& batch, const Objective& objective, std::uint64_t seed,
                        Floats& gradients, Workspace& workspace) {
  return run_batch(network, batch, objective, seed, &gradients, workspace);
}

Loss loss(const Network& network, const Batch& batch, Workspace& workspace) {
  return run_batch(network, batch, {}, 0, nullptr, workspace);
}

}  // namespace headlight
