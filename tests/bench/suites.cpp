#include "bench/suites.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <thread>

#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/folders.h"
#include "base/random.h"
#include "bench/inputs.h"
#include "bench/opening.h"
#include "bench/peak.h"
#include "explain/patch/patch_estimate.h"
#include "heads/head_effects.h"
#include "math/attention.h"
#include "math/forward.h"
#include "model/weight_tree.h"
#include "train/network/training.h"
#include "write/export.h"

namespace headlight {
namespace {

/// Sentences of at least this many tokens are also stopped, at these moments of a round.
constexpr Index kWorthStopping = 2048;
constexpr int kMomentsARound = 4;

/// Whether a row of so many tokens is measured.
bool is_asked(const BenchOptions& options, const std::string& name, Index tokens) {
  return options.wants(name) && (options.longest <= 0 || tokens <= options.longest);
}

/// Rows and the runs that they time; the first Error of a run is kept.
struct MeasuredRows {
  BenchReport report;
  std::vector<std::function<void()>> runs;
  std::optional<Error> error;

  void add(BenchRow row, std::function<Status()> run) {
    report.rows.push_back(std::move(row));
    runs.emplace_back([this, run = std::move(run)] {
      if (const Status done = run(); !done && !error) error = done.error();
    });
  }
  Result<BenchReport> finished(int rounds) {
    const auto timings = measure(runs, rounds);
    for (std::size_t i = 0; i < timings.size(); ++i) report.rows[i].time = timings[i];
    if (error) return *error;
    return std::move(report);
  }
};

/// The rows of which others have a share, in the same rounds as these.
void add_peaks(const BenchOptions& options, MeasuredRows& measured) {
  if (measured.runs.empty()) return;
  for (const int threads : options.threads)
    for (const auto& [name, work] : {std::pair{"peak/fma", &multiply_add}, std::pair{"peak/read", &read_memory}}) {
      const PeakWork size = work(threads);  // also the run before those that are timed
      measured.add({.name = name, .threads = threads, .flop = size.flop, .read = size.read}, [work, threads] {
        work(threads);
        return Status(Done{});
      });
    }
}

Status answer(const Request& request, int threads) {
  Progress progress;
  const auto trace = forward(request, progress, nullptr, threads);
  if (!trace) return trace.error();
  return Done{};
}

struct SizeOfAttention {
  Index tokens = 0, d_model = 0, heads = 0;
};

/// A query, key and value with four projections and their biases.
Request bare_attention(const SizeOfAttention& size) {
  const Index d = size.d_model;
  auto model = std::make_shared<Model>();
  model->config = {.d_model = d, .num_heads = size.heads, .num_layers = 1, .ffn = 0};
  const float limit = 1.0f / std::sqrt(static_cast<float>(d));
  const auto linear = [&](std::uint64_t seed) {
    return Linear{.weight = drawn_matrix(d, d, seed, 2 * limit), .bias = drawn_matrix(1, d, seed + 10, limit)};
  };
  model->blocks.emplace_back().self = {.query = linear(1),
                                       .key = linear(2),
                                       .value = linear(3),
                                       .output = linear(4),
                                       .num_heads = size.heads,
                                       .num_kv_heads = size.heads};
  ExternalStack given{.query = drawn_matrix(size.tokens, d, 5),
                      .key = {},
                      .value = {},
                      .query_tokens = bench_tokens(size.tokens),
                      .key_tokens = bench_tokens(size.tokens),
                      .patterns = {}};
  pack(*model);
  given.key = given.value = given.query;
  model->given = ExternalInputs{.stacks = {{Stack::self, std::move(given)}}};
  Request request{.model = model, .config = model->config};
  request.tokens = bench_tokens(size.tokens);
  return request;
}

double attention_flop(double tokens, double d_model) {
  return 8 * tokens * d_model * d_model + 4 * tokens * tokens * d_model;
}

Result<BenchReport> attention_suite(const BenchOptions& options) {
  MeasuredRows measured;
  const std::vector<SizeOfAttention> sizes{{10, 64, 4},    {10, 512, 8},     {128, 768, 12},
                                           {512, 768, 12}, {1024, 1024, 16}, {2048, 1024, 16}};
  for (const SizeOfAttention& size : sizes) {
    const std::string name = "attention/T=" + std::to_string(size.tokens) + "/d=" + std::to_string(size.d_model) +
                             "/h=" + std::to_string(size.heads);
    if (!is_asked(options, name, size.tokens)) continue;
    const auto request = std::make_shared<Request>(bare_attention(size));
    for (const int threads : options.threads)
      measured.add({.name = name,
                    .threads = threads,
                    .flop = attention_flop(static_cast<double>(size.tokens), static_cast<double>(size.d_model))},
                   [request, threads] { return answer(*request, threads); });
  }
  add_peaks(options, measured);
  return measured.finished(options.rounds);
}

Request asked(const std::shared_ptr<const Model>& model, Index tokens) {
  Request request{.model = model, .config = model->config};
  request.tokens = bench_tokens(tokens);
  request.mask.causal = model->config.arch == Arch::decoder;
  return request;
}

/// Of the layers' products, a causal pattern counted whole, and the scores of one word.
double model_flop(const Model& model, double tokens) {
  const auto d = static_cast<double>(model.config.d_model), ffn = static_cast<double>(model.config.ffn);
  const double layer = attention_flop(tokens, d) + 4 * tokens * d * ffn;
  const double words = model.output ? static_cast<double>(model.output->weight->outputs()) : 0;
  return layer * static_cast<double>(model.config.num_layers) + 2 * words * d;
}

/// Answers to so few tokens take as long as reading the weights does.
constexpr Index kWaitForWeights = 16;

/// Of the matrices of the layers, and of the output's where it scores words.
double bytes_of_weights(const Model& model) {
  double bytes = 0;
  const auto add = [&](const Linear& linear) {
    const bool halves = linear.panels ? linear.panels->halves != nullptr : linear.stored != nullptr;
    bytes += static_cast<double>(linear.outputs() * linear.inputs()) * (halves ? 2 : 4);
  };
  for (const BlockWeights& block : model.blocks)
    for_each_layer(block, [&](const LayerName&, const auto& layer) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(layer)>, Linear>)
        if (!layer.is_identity()) add(layer);
    });
  if (model.output) add(*model.output->weight);
  return bytes;
}

using MakeModel = std::function<std::shared_ptr<const Model>()>;

void add_model(const std::string& of, const MakeModel& make, const BenchOptions& options, MeasuredRows& measured) {
  std::shared_ptr<const Model> model;
  for (const Index tokens : {10, 128, 512}) {
    const std::string name = "model/" + of + "/T=" + std::to_string(tokens);
    if (!is_asked(options, name, tokens)) continue;
    if (!model) model = make();
    const auto request = std::make_shared<Request>(asked(model, tokens));
    for (const int threads : options.threads)
      measured.add({.name = name,
                    .threads = threads,
                    .flop = model_flop(*model, static_cast<double>(tokens)),
                    .read = tokens <= kWaitForWeights ? bytes_of_weights(*model) : 0},
                   [request, threads] { return answer(*request, threads); });
  }
}

Result<BenchReport> model_suite(const BenchOptions& options) {
  MeasuredRows measured;
  add_model(
      "bert-base", [] { return packed_model(bert_base()); }, options, measured);
  add_model("gpt2-small", random_gpt2_small, options, measured);
  add_model("gpt2-small-bf16", random_half_gpt2_small, options, measured);
  add_peaks(options, measured);
  return measured.finished(options.rounds);
}

/// Seconds from a wish to stop until the answer is given up: at so many moments of one that takes `whole` seconds.
BenchRow stopping(const std::string& name, const Request& request, int threads, double whole, int moments) {
  std::vector<double> seconds;
  for (int i = 0; i < moments; ++i) {
    Progress progress;
    double ended = 0;
    std::thread work([&] {
      static_cast<void>(forward(request, progress, nullptr, threads));
      ended = seconds_now();
    });
    std::this_thread::sleep_for(std::chrono::duration<double>(whole * (i + 0.5) / moments));
    const double wished = seconds_now();
    progress.stop = true;
    work.join();
    seconds.push_back(std::max(0.0, ended - wished));
  }
  return {.name = name, .threads = threads, .time = timing_of(seconds)};
}

Result<BenchReport> growth_suite(const BenchOptions& options) {
  BenchReport report;
  std::shared_ptr<const Model> model;
  for (const int threads : options.threads) {
    std::vector<double> tokens, seconds, bytes;
    for (const Index length : {256, 512, 1024, 2048, 4096, 8192}) {
      const std::string name = "growth/gpt2-small/T=" + std::to_string(length);
      if (!is_asked(options, name, length)) continue;
      if (!model) model = packed_model(gpt2_small());
      const Request request = asked(model, length);
      reset_peak_memory();
      const std::size_t before = resident_memory();
      std::optional<Error> error;
      const auto timing = measure({[&] {
                                    if (const Status done = answer(request, threads); !done) error = done.error();
                                  }},
                                  std::max(1, options.rounds / 2));
      if (error) return *error;
      BenchRow row{.name = name,
                   .threads = threads,
                   .time = timing.front(),
                   .flop = model_flop(*model, static_cast<double>(length)),
                   .peak = static_cast<double>(peak_memory()) - static_cast<double>(before)};
      tokens.push_back(static_cast<double>(length));
      seconds.push_back(row.time.median);
      bytes.push_back(std::max(row.peak, 1.0));
      const double whole = row.time.median;
      report.rows.push_back(std::move(row));
      if (length >= kWorthStopping)
        report.rows.push_back(stopping("stop/gpt2-small/T=" + std::to_string(length), request, threads, whole,
                                       kMomentsARound * options.rounds));
    }
    if (tokens.size() < 2) continue;
    const std::string suffix = "/threads=" + std::to_string(threads);
    report.exponents.push_back({"growth/time" + suffix, fitted_exponent(tokens, seconds)});
    report.exponents.push_back({"growth/memory" + suffix, fitted_exponent(tokens, bytes)});
  }
  return report;
}

Result<BenchReport> train_suite(const BenchOptions& options) {
  constexpr Index kSentences = 64, kLength = 16, kWords = 400;
  const std::string name = "train/d=64/h=4/layers=2/batch=64x16";
  MeasuredRows measured;
  if (!options.wants(name)) return measured.finished(options.rounds);
  const Config config{
      .d_model = 64, .num_heads = 4, .num_layers = 2, .ffn = 256, .norm = Norm::pre, .activation = Activation::gelu};
  const auto batch = std::make_shared<Batch>();
  batch->input = {.count = kSentences, .length = kLength, .ids = {}, .lengths = {}};
  batch->input.lengths.assign(kSentences, kLength);
  Random random(1);
  for (Index i = 0; i < kSentences * kLength; ++i) {
    batch->input.ids.push_back(static_cast<std::int32_t>(random.next() % kWords));
    batch->targets.push_back(static_cast<std::int32_t>(random.next() % kWords));
  }
  for (const int threads : options.threads) {
    const auto training = std::make_shared<Training>(Training{.network = fresh_network(config, kWords)});
    const auto workspace = std::make_shared<Workspace>(threads);
    measured.add({.name = name, .threads = threads, .tokens = static_cast<double>(kSentences * kLength)},
                 [batch, training, workspace]() -> Status {
                   train_step(*training, *batch, {}, *workspace);
                   return Done{};
                 });
  }
  return measured.finished(options.rounds);
}

/// Every head of a model, its z put in place of another sentence's, or off: the scores of one word each.
void add_sweeps(const BenchOptions& options, const std::string& of, std::shared_ptr<const Model> (*make)(),
                MeasuredRows& measured) {
  constexpr Index kTokens = 64;
  std::shared_ptr<const Trace> clean, corrupt;
  for (const std::string kind : {"patch", "effect", "estimate", "pass"}) {
    const std::string name = "sweep/" + of + "/" + kind + "/T=64";
    if (!is_asked(options, name, kTokens)) continue;
    if (!clean) {
      Request request = asked(make(), kTokens);
      const auto first = forward(request);
      std::rotate(request.tokens.tokens.begin(), request.tokens.tokens.begin() + 1, request.tokens.tokens.end());
      const auto second = forward(request);
      if (!first || !second) {
        measured.error = (first ? second : first).error();
        return;
      }
      clean = *first, corrupt = *second;
    }
    PatchWanted wanted{.at = PatchAt::heads};
    for (Index token = 0; token < kTokens; ++token) wanted.queries.emplace_back(token, token);
    wanted.keys = wanted.queries;
    for (const int threads : options.threads)
      measured.add({.name = name, .threads = threads}, [=]() -> Status {
        Progress progress;
        if (kind == "pass") return answer(clean->request, threads);
        if (kind == "estimate") {  // with the passes of both questions
          const auto first = forward(clean->request, progress, nullptr, threads);
          const auto second = forward(corrupt->request, progress, nullptr, threads);
          const auto estimate = estimate_patches(**first, **second, wanted, 0, threads);
          return estimate ? Status(Done{}) : estimate.error();
        }
        if (kind == "effect") {
          const auto effects = head_effects(*clean, progress, threads);
          return effects ? Status(Done{}) : effects.error();
        }
        const auto patched = patch_answers(*clean, *corrupt, wanted, threads);
        return patched ? Status(Done{}) : patched.error();
      });
  }
}

Result<BenchReport> sweep_suite(const BenchOptions& options) {
  MeasuredRows measured;
  add_sweeps(options, "gpt2-small", random_gpt2_small, measured);
  // Takes minutes and 8 GB: only where it is named.
  if (options.only.find("llama") != std::string::npos) add_sweeps(options, "llama-1.1b", random_llama, measured);
  return measured.finished(options.rounds);
}

Status dump_with_nlohmann(const Trace& trace, const std::filesystem::path& file) {
  nlohmann::json layers = nlohmann::json::array();
  for (Index layer = 0; layer < trace.num_layers(); ++layer) {
    nlohmann::json heads = nlohmann::json::array();
    for (Index head = 0; head < trace.num_heads(); ++head) {
      const Matrix weights = attention_rows(trace, {layer, head}, 0, trace.queries());
      nlohmann::json rows = nlohmann::json::array();
      for (Index row = 0; row < weights.rows(); ++row)
        rows.push_back(std::vector<float>(weights.row(row).begin(), weights.row(row).end()));
      heads.push_back(std::move(rows));
    }
    layers.push_back(std::move(heads));
  }
  return write_file(file, layers.dump());
}

Result<BenchReport> export_suite(const BenchOptions& options) {
  const Index tokens = options.longest > 0 ? std::min<Index>(options.longest, 256) : 256;
  std::optional<Result<std::shared_ptr<const Trace>>> trace;
  Progress progress;
  const Result<PassingFolder> folder = PassingFolder::make();
  if (!folder) return folder.error();
  const std::filesystem::path file = folder->path() / "export";
  MeasuredRows measured;
  const auto add = [&](std::string_view of, int threads, std::function<Status()> write) -> Status {
    const std::string name = "export/" + std::string(of) + "/heads=144/T=" + std::to_string(tokens);
    if (!options.wants(name)) return Done{};
    if (!trace) trace = forward(asked(computed_patterns(12, 12, tokens), tokens), progress);
    if (!*trace) return trace->error();
    if (const Status written = write(); !written) return written;
    measured.add({.name = name, .threads = threads, .bytes = static_cast<double>(std::filesystem::file_size(file))},
                 std::move(write));
    return Done{};
  };
  for (const Format format : {Format::json, Format::npz, Format::safetensors, Format::csv})
    for (const int threads : options.threads) {
      const auto write = [&, format, threads] {
        return write_export({**trace}, {""}, format, {.threads = threads}, file, progress);
      };
      if (const Status added = add(name(format), threads, write); !added) return added.error();
    }
  const auto dump = [&] { return dump_with_nlohmann(***trace, file); };
  if (const Status added = add("nlohmann-dump", 1, dump); !added) return added.error();
  return measured.finished(options.rounds);
}

}  // namespace

const std::vector<BenchSuite>& bench_suites() {
  static const std::vector<BenchSuite> suites{
      {"attention", attention_suite}, {"model", model_suite},  {"train", train_suite}, {"growth", growth_suite},
      {"export", export_suite},       {"open", opening_suite}, {"sweep", sweep_suite}};
  return suites;
}

}  // namespace headlight
