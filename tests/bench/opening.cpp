#include "bench/opening.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/folders.h"
#include "base/random.h"

extern char** environ;

namespace headlight {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using TensorShapes = std::map<std::string, std::vector<std::size_t>>;

/// A checkpoint of a well-known shape: its config.json and its tensors.
struct KnownShape {
  const char* name;
  bool halves;  // bfloat16, else float32
  json config;
  TensorShapes tensors;
};

/// BERT-base's (Devlin et al. 2019), or the same with other sizes.
KnownShape bert_shape(const char* name, std::size_t d, std::size_t layers, std::size_t heads, std::size_t words) {
  const std::size_t ffn = 4 * d;
  KnownShape shape{name,
                   false,
                   {{"model_type", "bert"},
                    {"vocab_size", words},
                    {"hidden_size", d},
                    {"num_hidden_layers", layers},
                    {"num_attention_heads", heads},
                    {"intermediate_size", ffn},
                    {"max_position_embeddings", 512},
                    {"type_vocab_size", 2}},
                   {{"embeddings.word_embeddings.weight", {words, d}},
                    {"embeddings.position_embeddings.weight", {512, d}},
                    {"embeddings.token_type_embeddings.weight", {2, d}},
                    {"embeddings.LayerNorm.weight", {d}},
                    {"embeddings.LayerNorm.bias", {d}}}};
  const TensorShapes layer{{"attention.self.query", {d, d}},    {"attention.self.key", {d, d}},
                           {"attention.self.value", {d, d}},    {"attention.output.dense", {d, d}},
                           {"attention.output.LayerNorm", {d}}, {"intermediate.dense", {ffn, d}},
                           {"output.dense", {d, ffn}},          {"output.LayerNorm", {d}}};
  for (std::size_t i = 0; i < layers; ++i)
    for (const auto& [part, size] : layer) {
      const std::string begin = "encoder.layer." + std::to_string(i) + "." + part;
      shape.tensors[begin + ".weight"] = size;
      shape.tensors[begin + ".bias"] = {size.front()};
    }
  return shape;
}

/// GPT-2's smallest (Radford et al. 2019).
KnownShape gpt2_shape() {
  constexpr std::size_t d = 768, layers = 12, words = 50257;
  KnownShape shape{"gpt2-small",
                   false,
                   {{"model_type", "gpt2"},
                    {"architectures", {"GPT2LMHeadModel"}},
                    {"vocab_size", words},
                    {"n_positions", 1024},
                    {"n_embd", d},
                    {"n_layer", layers},
                    {"n_head", 12}},
                   {{"transformer.wte.weight", {words, d}},
                    {"transformer.wpe.weight", {1024, d}},
                    {"transformer.ln_f.weight", {d}},
                    {"transformer.ln_f.bias", {d}}}};
  const TensorShapes layer{{"ln_1", {d}}, {"attn.c_attn", {d, 3 * d}}, {"attn.c_proj", {d, d}},
                           {"ln_2", {d}}, {"mlp.c_fc", {d, 4 * d}},    {"mlp.c_proj", {4 * d, d}}};
  for (std::size_t i = 0; i < layers; ++i)
    for (const auto& [part, size] : layer) {
      const std::string begin = "transformer.h." + std::to_string(i) + "." + part;
      shape.tensors[begin + ".weight"] = size;
      shape.tensors[begin + ".bias"] = {size.back()};
    }
  return shape;
}

/// A Llama of 1.1 billion parameters (Zhang et al. 2024, TinyLlama).
KnownShape llama_shape() {
  constexpr std::size_t d = 2048, layers = 22, ffn = 5632, keys = 256, words = 32000;
  KnownShape shape{
      "llama-1.1b",
      true,
      {{"model_type", "llama"},
       {"architectures", {"LlamaForCausalLM"}},
       {"vocab_size", words},
       {"hidden_size", d},
       {"num_hidden_layers", layers},
       {"num_attention_heads", 32},
       {"num_key_value_heads", 4},
       {"intermediate_size", ffn},
       {"max_position_embeddings", 2048},
       {"rms_norm_eps", 1e-5},
       {"hidden_act", "silu"},
       {"rope_theta", 10000.0},
       {"tie_word_embeddings", false}},
      {{"model.embed_tokens.weight", {words, d}}, {"model.norm.weight", {d}}, {"lm_head.weight", {words, d}}}};
  const TensorShapes layer{
      {"input_layernorm", {d}},        {"self_attn.q_proj", {d, d}}, {"self_attn.k_proj", {keys, d}},
      {"self_attn.v_proj", {keys, d}}, {"self_attn.o_proj", {d, d}}, {"post_attention_layernorm", {d}},
      {"mlp.gate_proj", {ffn, d}},     {"mlp.up_proj", {ffn, d}},    {"mlp.down_proj", {d, ffn}}};
  for (std::size_t i = 0; i < layers; ++i)
    for (const auto& [part, size] : layer)
      shape.tensors["model.layers." + std::to_string(i) + "." + part + ".weight"] = size;
  return shape;
}

std::size_t count_of(const std::vector<std::size_t>& axes) {
  std::size_t count = 1;
  for (const std::size_t axis : axes) count *= axis;
  return count;
}

/// Norms of 1, all else drawn evenly with variance 1 / inputs.
Status write_weights(const KnownShape& shape, const fs::path& file) {
  json header = json::object();
  const std::size_t width = shape.halves ? 2 : 4;
  std::size_t end = 0;
  for (const auto& [name, axes] : shape.tensors) {
    const std::size_t begin = end;
    end += width * count_of(axes);
    header[name] = {{"dtype", shape.halves ? "BF16" : "F32"}, {"shape", axes}, {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  auto output = Output::to_file(file);
  if (!output) return output.error();
  const std::uint64_t length = text.size();
  output->write({reinterpret_cast<const char*>(&length), sizeof length});
  output->write(text);
  std::string part;
  for (const auto& [name, axes] : shape.tensors) {
    Random random(derive_seed(1, name));
    const bool norm = axes.size() == 1 && name.ends_with("weight");
    const float limit = std::sqrt(3.0f / static_cast<float>(axes.back()));
    for (std::size_t left = count_of(axes); left > 0 && !output->failed();) {
      const std::size_t now = std::min(left, std::size_t{1} << 18);
      part.resize(now * width);
      for (std::size_t i = 0; i < now; ++i) {
        const float number = norm ? 1.0f : random.symmetric(limit);
        const auto bits = std::bit_cast<std::uint32_t>(number);
        const auto upper = static_cast<std::uint16_t>(bits >> 16);
        if (shape.halves) std::memcpy(part.data() + i * width, &upper, sizeof upper);
        else std::memcpy(part.data() + i * width, &bits, sizeof bits);
      }
      output->write(part);
      left -= now;
    }
  }
  return output->commit();
}

/// What a command took.
struct Spent {
  double seconds = 0, processor = 0, peak = 0;  // peak in bytes
  std::string printed = {};
};

/// Runs a command to its end; its standard output is kept, its messages are not. An Error where it fails.
Result<Spent> spend(const std::vector<std::string>& words, const fs::path& printed) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, 1, printed.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  Spent spent;
  const double begin = seconds_now();
  ::pid_t child = 0;
  const int refused = ::posix_spawnp(&child, words.front().c_str(), &files, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (refused != 0) return bad_input(words.front(), "", "a program that can be run", system_error_text(refused));
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0)
    if (errno != EINTR) return bad_input(words.front(), "", "a program that ends", system_error_text(errno));
  spent.seconds = seconds_now() - begin;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return bad_input(words.front() + " " + (words.size() > 1 ? words[1] : ""), "exit status", "0",
                     WIFEXITED(status) ? std::to_string(WEXITSTATUS(status)) : "a signal");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  constexpr double kKilobyte = 1024;
  spent.processor = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  spent.peak = static_cast<double>(usage.ru_maxrss) * kKilobyte;
  const auto text = read_file(printed);
  if (!text) return text.error();
  spent.printed = *text;
  return spent;
}

/// Loads the file of its argument until each of its pages was read, and prints the seconds of that without the imports.
constexpr const char* kPeer = R"(
import json, mmap, sys, time
import torch
torch.set_num_threads(int(sys.argv[2]))
try:
    from safetensors.torch import load_file
    name = "safetensors+torch"
except ImportError:
    name = "torch"
    def load_file(path):
        types = {"F32": torch.float32, "BF16": torch.bfloat16}
        with open(path, "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            begin = file.tell()
            bytes_ = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        tensors = {}
        for key, of in header.items():
            first, last = of["data_offsets"]
            dtype = types[of["dtype"]]
            count = (last - first) // (4 if dtype == torch.float32 else 2)
            flat = torch.frombuffer(bytes_, dtype=dtype, count=count, offset=begin + first)
            tensors[key] = flat.view(of["shape"]).clone()
        return tensors
start = time.perf_counter()
total = sum(int(t.view(torch.int16).view(-1)[::1024].sum()) for t in load_file(sys.argv[1]).values())
print(json.dumps({"name": name, "seconds": time.perf_counter() - start}))
)";

/// The runs of one row.
struct Runs {
  std::string name;
  int threads = 1;
  std::vector<double> seconds = {}, processor = {};
  double peak = 0;

  void add(const Spent& spent) {
    seconds.push_back(spent.seconds);
    processor.push_back(spent.processor);
    peak = std::max(peak, spent.peak);
  }
  BenchRow row() const {
    return {.name = name,
            .threads = threads,
            .time = timing_of(seconds),
            .peak = peak,
            .processor = timing_of(processor).median};
  }
};

/// The rows of one checkpoint: our command, and Python's loading where there is PyTorch.
Status add_rows(const KnownShape& shape, const BenchOptions& options, BenchReport& report) {
  const std::string name = std::string("open/") + shape.name;
  if (!options.wants(name)) return Done{};
  const Result<PassingFolder> passing = PassingFolder::make();
  if (!passing) return passing.error();
  const fs::path& folder = passing->path();
  const fs::path weights = folder / "model.safetensors", answer = folder / "answer.json";
  if (const Status written = write_file(folder / "config.json", shape.config.dump()); !written) return written;
  if (const Status written = write_weights(shape, weights); !written) return written;
  std::vector<Runs> ours, peers, loads;
  bool has_peer = true;
  for (const int threads : options.threads) {
    ours.push_back({name, threads});
    peers.push_back({name + "/python", threads});
    loads.push_back({name, threads});
  }
  for (int round = -1; round < options.rounds; ++round)  // the first brings the file into memory
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const std::string threads = std::to_string(ours[i].threads);
      const auto own = spend({options.program, "export", folder.string(), "--ids", "1,2,3,4,5,6,7,8,9,10", "--threads",
                              threads, "-o", answer.string()},
                             folder / "printed");
      if (!own) return own.error();
      if (round >= 0) ours[i].add(*own);
      if (!has_peer) continue;
      const auto peer = spend({"python3", "-c", kPeer, weights.string(), threads}, folder / "printed");
      const json said = peer ? json::parse(peer->printed, nullptr, false) : json();
      has_peer = said.is_object();
      if (!has_peer || round < 0) continue;
      peers[i].add(*peer);
      loads[i].name = name + "/" + said.value("name", "") + "-load";
      loads[i].add({.seconds = said.value("seconds", 0.0), .processor = 0, .peak = peer->peak});
    }
  for (const auto* rows : {&ours, &peers, &loads})
    for (const Runs& runs : *rows)
      if (!runs.seconds.empty()) report.rows.push_back(runs.row());
  return Done{};
}

}  // namespace

Result<BenchReport> opening_suite(const BenchOptions& options) {
  BenchReport report;
  for (const KnownShape& shape : {bert_shape("bert-small", 128, 2, 4, 1000),
                                  bert_shape("bert-base", 768, 12, 12, 30522), gpt2_shape(), llama_shape()})
    if (const Status added = add_rows(shape, options, report); !added) return added.error();
  return report;
}

}  // namespace headlight
