// Tokens per second of training, on random words.
//   train_bench [threads] [seconds] [torch|grammar]
// torch: the shape of train_torch.py beside it: d_model 64, 4 heads, 2 layers, feed-forward 256, 400 words, 64
// sentences of 16 tokens, every place a target. grammar: sentences as a grammar gives them: 5 to 17 tokens, 4 targets
// in 10, 640 words, 6 heads of 16, feed-forward 128.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "base/random.h"
#include "train/network/training.h"

int main(int count, char** arguments) {
  using namespace headlight;
  using Clock = std::chrono::steady_clock;
  const int threads = count > 1 ? std::atoi(arguments[1]) : 1;
  const double wanted = count > 2 ? std::atof(arguments[2]) : 5;
  const bool grammar = count > 3 && std::string_view(arguments[3]) == "grammar";
  const Index words = grammar ? 640 : 400, longest = grammar ? 17 : 16, shortest = grammar ? 5 : 16;
  constexpr Index kSentences = 64;

  Config config{
      .d_model = 64, .num_heads = 4, .num_layers = 2, .ffn = 256, .norm = Norm::pre, .activation = Activation::gelu};
  if (grammar) {
    config.num_heads = 6;
    config.head_dim = 16;
    config.ffn = 128;
  }
  Training training{.network = fresh_network(config, words)};
  Workspace workspace(threads);
  Random random(1);
  const auto below = [&](Index bound) {
    return static_cast<std::int32_t>(random.next() % static_cast<std::uint64_t>(bound));
  };
  const auto seconds_since = [](Clock::time_point from) {
    return std::chrono::duration<double>(Clock::now() - from).count();
  };
  Batch batch;
  batch.input = {.count = kSentences, .length = longest, .ids = {}, .lengths = {}};
  batch.input.lengths.resize(kSentences);
  batch.input.ids.resize(static_cast<std::size_t>(kSentences * longest));
  batch.targets.resize(batch.input.ids.size());
  const auto run = [&](double seconds) {
    const auto from = Clock::now();
    const std::clock_t used = std::clock();
    double tokens = 0, loss = 0;
    while (seconds_since(from) < seconds) {
      for (auto& length : batch.input.lengths)
        length = static_cast<std::int32_t>(shortest) + below(longest - shortest + 1);
      for (auto& id : batch.input.ids) id = below(words);
      for (auto& target : batch.targets) target = grammar && below(10) >= 4 ? -1 : below(words);
      loss = train_step(training, batch, {}, workspace).loss.mean;
      tokens += static_cast<double>(batch.input.tokens());
    }
    const double cpu_seconds = static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC;
    std::printf("%.0f tokens/s with %d threads, %.0f tokens/CPU-s, loss %.3f\n", tokens / seconds_since(from), threads,
                tokens / cpu_seconds, loss);
  };
  run(0.5);  // to warm up
  run(wanted);
}
