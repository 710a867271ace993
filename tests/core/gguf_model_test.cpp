// Models in GGUF files: each architecture, written from a golden checkpoint as llama.cpp's converter does, must answer
// as that does; the stores of other programs.
#include "read/gguf/gguf_model.h"

#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "core/checkpoints.h"
#include "core/written_gguf.h"
#include "math/forward.h"
#include "read/hub/kept_models.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

using namespace checkpoints;

float largest_difference(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() ? (a - b).cwiseAbs().maxCoeff() : INFINITY;
}

struct ArchitectureCase {
  const char *golden, *architecture;
};

class GgufModels : public testing::TestWithParam<ArchitectureCase> {};

TEST_P(GgufModels, AnswerAsTheCheckpointThatTheyWereMadeOf) {
  const auto& [golden, architecture] = GetParam();
  Parts parts(golden);
  if (parts.config.contains("query_pre_attn_scalar"))  // which llama.cpp does not store
    parts.config["query_pre_attn_scalar"] = parts.config.value("head_dim", 256);
  parts.config.erase("no_rope_layers"), parts.config.erase("no_rope_layer_interval");  // nor this: every fourth layer
  const auto own = parts.load();
  ASSERT_TRUE(own) << parts.refusal();
  const TemporaryFolder folder;
  const std::string path = folder.with("tiny.gguf", WrittenGguf(parts, architecture).bytes());
  if (const char* kept = std::getenv("HEADLIGHT_KEEP_GGUF"))  // for llama.cpp, to be compared with
    std::filesystem::copy_file(path, std::filesystem::path(kept) / (std::string(golden) + ".gguf"));
  Progress progress;
  const auto read = read_any_checkpoint(path, progress);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_TRUE(read->warnings.empty()) << read->warnings.front().message();
  EXPECT_EQ(read->model->name, "tiny");
  EXPECT_EQ(read->model->output.has_value(), own->model->output.has_value());
  const std::vector<std::int64_t> ids{3, 9, 27, 1, 44, 9, 12};
  const auto one = forward(request_for(own->model, tokens_of_ids(ids)));
  const auto other = forward(request_for(read->model, tokens_of_ids(ids)));
  ASSERT_TRUE(one && other);
  EXPECT_LT(largest_difference((*one)->last_hidden_state(), (*other)->last_hidden_state()), 1e-5f);
  const ListedModel listed = listed_folder_or_file({.name = "tiny", .folder = path});
  EXPECT_TRUE(listed.opens()) << listed.reason;
  EXPECT_EQ(listed.layers, own->model->config.num_layers);
  EXPECT_EQ(listed.heads, own->model->config.num_heads);
  EXPECT_EQ(listed.dtype, "float32");
}

INSTANTIATE_TEST_SUITE_P(
    Each, GgufModels,
    testing::Values(ArchitectureCase{"llama-gqa", "llama"}, ArchitectureCase{"family-mistral", "llama"},
                    ArchitectureCase{"family-qwen2", "qwen2"}, ArchitectureCase{"family-qwen3", "qwen3"},
                    ArchitectureCase{"family-gemma", "gemma"}, ArchitectureCase{"family-gemma2", "gemma2"},
                    ArchitectureCase{"family-gemma3", "gemma3"}, ArchitectureCase{"family-phi3", "phi3"},
                    ArchitectureCase{"gpt2", "gpt2"}, ArchitectureCase{"family-mixtral", "llama"},
                    ArchitectureCase{"family-qwen2_moe", "qwen2moe"}, ArchitectureCase{"family-qwen3_moe", "qwen3moe"},
                    ArchitectureCase{"family-olmo2", "olmo2"}, ArchitectureCase{"family-smollm3", "smollm3"},
                    ArchitectureCase{"bert", "bert"}),
    [](const auto& one) {
      std::string name = one.param.golden;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

/// A small Llama whose weights are in blocks; `kind` by ggml's number.
std::string blocks_model(std::uint32_t number, WeightKind kind, bool floats) {
  constexpr std::uint32_t d = 256, words = 40;
  GgufBytes made;
  made.put("general.architecture", "llama").put("llama.embedding_length", d).put("llama.block_count", 1u);
  made.put("llama.attention.head_count", 4u).put("llama.feed_forward_length", d).put("llama.context_length", 64u);
  made.put("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  std::uint64_t state = 7;
  const auto weight = [&](const std::string& name, std::uint32_t rows) {
    const WeightBlocks& blocks = blocks_of(kind);
    const auto count = static_cast<Index>(rows * d) / blocks.numbers;
    std::string bytes(static_cast<std::size_t>(count * blocks.bytes), '\0');
    for (char& byte : bytes)
      byte = static_cast<char>((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
    for (Index block = 0; block < count; ++block)
      for (const Index scale : blocks.scales)
        if (scale >= 0) bytes[static_cast<std::size_t>(block * blocks.bytes + scale + 1)] &= '\x8F';
    std::vector<float> numbers(static_cast<std::size_t>(rows * d));
    blocks.widen(bytes.data(), count, numbers.data());
    made.tensor(name, {d, rows}, floats ? 0 : number, floats ? bytes_of_values(numbers) : bytes);
  };
  const std::string ones = bytes_of_values(std::vector<float>(d, 1.0f));
  weight("token_embd.weight", words);
  for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
    weight(std::string("blk.0.") + name + ".weight", d);
  for (const char* name : {"blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"})
    made.tensor(std::string(name) + ".weight", {d}, 0, ones);
  return made.bytes();
}

// In blocks or as float32, in the file or packed: the same bits, which are those of exact arithmetic on the numbers.
TEST(GgufBlocks, AnswerAsTheirNumbersDoToTheBit) {
  const TemporaryFolder folder;
  for (const auto& [number, kind] : {std::pair{12u, WeightKind::q4_k},
                                     {14u, WeightKind::q6_k},
                                     {8u, WeightKind::q8_0},
                                     {2u, WeightKind::q4_0},
                                     {23u, WeightKind::iq4_xs}}) {
    SCOPED_TRACE(blocks_of(kind).name);
    const std::string blocks = folder.with("blocks.gguf", blocks_model(number, kind, false));
    const std::string floats = folder.with("floats.gguf", blocks_model(number, kind, true));
    const auto answer = [&](const std::string& path, std::size_t most_widened, Reading reading) {
      Progress progress;
      const auto read = read_any_checkpoint(path, progress, most_widened, reading);
      EXPECT_TRUE(read) << read.error().message();
      const bool in_file = read->model->blocks[0].up.stored != nullptr;
      EXPECT_EQ(in_file, (path == blocks && most_widened == 0) || reading == Reading::as_used);
      return (*forward(request_for(read->model, tokens_of_ids({1, 5, 9, 2}))))->last_hidden_state();
    };
    const Matrix expected = answer(floats, kMostWidenedBytes, Reading::whole);
    ASSERT_TRUE(expected.allFinite());
    EXPECT_TRUE(same(answer(blocks, kMostWidenedBytes, Reading::whole), expected)) << "packed";
    EXPECT_TRUE(same(answer(blocks, 0, Reading::whole), expected)) << "in the file";
    EXPECT_TRUE(same(answer(blocks, kMostWidenedBytes, Reading::as_used), expected)) << "packed when used";
    const ListedModel listed = listed_folder_or_file({.name = "m", .folder = blocks});
    EXPECT_EQ(listed.dtype, blocks_of(kind).name);
    EXPECT_EQ(listed.parameters, 256 * 40 + 7 * 256 * 256 + 3 * 256);
  }
  std::string broken = blocks_model(12, WeightKind::q4_k, false);
  const auto file = locate_gguf("m", broken);
  const auto at = static_cast<std::size_t>(file->stored.arrays.at("blk.0.ffn_up.weight").bytes.data() - broken.data());
  broken[at + 144 * 3 + 1] = '\x7C';
  Progress progress;
  const auto refused = read_any_checkpoint(folder.with("broken.gguf", broken), progress);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("mlp.up_proj.weight[3, 0]: expected a finite number"), std::string::npos)
      << refused.error().message();
}

TEST(GgufModel, IsRefusedByTheKeyThatIsWrong) {
  const TemporaryFolder folder;
  const auto refusal = [&](const GgufBytes& made) {
    Progress progress;
    const auto read = read_any_checkpoint(folder.with("m.gguf", made.bytes()), progress);
    return read ? std::string() : read.error().message();
  };
  const auto expect = [&](const GgufBytes& made, const std::string& line) {
    EXPECT_NE(refusal(made).find(line), std::string::npos) << refusal(made);
  };
  expect(GgufBytes(), "general.architecture: expected bert, gemma, ");
  expect(GgufBytes().put("general.architecture", "mamba"), "found 'mamba'");
  expect(GgufBytes().put("general.type", "adapter"), "general.type: expected model, found 'adapter'");
  GgufBytes llama;
  llama.put("general.architecture", "llama");
  expect(llama, "llama.embedding_length: expected a number, found none");
  llama.put("llama.embedding_length", 4u).put("llama.feed_forward_length", 4u).put("llama.context_length", 8u);
  GgufBytes other = llama, layers = llama;
  expect(other.put("llama.attention.head_count", "two"),
         "llama.attention.head_count: expected a number, found another value");
  expect(layers.put("llama.attention.head_count", std::vector<std::int32_t>{2, 4}),
         "llama.attention.head_count: expected one number for all layers, found several");
  llama.put("llama.attention.head_count", 2u).put("llama.block_count", 1u);
  llama.put("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  expect(llama, "token_embd.weight: expected a tensor, found none");
  llama.tensor("token_embd.weight", {4, 2}, 0, std::string(32, '\0'));
  expect(llama, "norm.weight: expected a tensor (");
  GgufBytes wide = llama;
  expect(wide.put("llama.attention.value_length", 3u), "llama.attention.value_length: expected as key_length");
}

/// The metadata of a small model with heads of 4 columns, and its table of tokens.
GgufBytes small_gguf(const std::string& architecture) {
  GgufBytes made;
  made.put("general.architecture", architecture);
  for (const auto& [key, value] : {std::pair{"embedding_length", 8u},
                                   {"feed_forward_length", 4u},
                                   {"context_length", 64u},
                                   {"attention.head_count", 2u},
                                   {"block_count", 1u}})
    made.put(architecture + "." + key, value);
  made.put(architecture + ".attention.layer_norm_rms_epsilon", 1e-5f);
  made.tensor("token_embd.weight", {8, 2}, 0, std::string(64, '\0'));
  return made;
}

Result<HubConfig> hub_of(const GgufBytes& made) {
  const std::string bytes = made.bytes();
  auto model = gguf_model(TRY(locate_gguf("m.gguf", bytes)));
  if (!model) return model.error();
  return model->hub;
}

// Of a head's two pairs the second turns by 0.01 where nothing is scaled.
TEST(GgufRotation, IsScaledAsLlamaCppScalesIt) {
  struct Case {
    const char *type, *key;
    float value, frequency;
  };
  for (const auto& [type, key, value, frequency] :
       {Case{nullptr, "rope.scaling.factor", 4, 0.0025f}, Case{nullptr, "rope.scale_linear", 4, 0.0025f},
        Case{"linear", "rope.scale_linear", 4, 0.0025f}, Case{"longrope", "rope.scaling.factor", 4, 0.0025f},
        Case{"none", "rope.scaling.factor", 4, 0.01f}, Case{nullptr, "rope.scaling.factor", 1, 0.01f},
        Case{nullptr, "rope.scale_linear", 0, 0.01f}}) {
    GgufBytes made = small_gguf("llama");
    if (type) made.put("llama.rope.scaling.type", type);
    const auto hub = hub_of(made.put(std::string("llama.") + key, value));
    ASSERT_TRUE(hub) << key << " " << hub.error().message();
    EXPECT_FLOAT_EQ(hub->rotary->frequencies(1), frequency) << key << " " << value;
  }
  const auto yarn = [](float factor) {
    return hub_of(small_gguf("llama")
                      .put("llama.rope.scaling.type", "yarn")
                      .put("llama.rope.scaling.factor", 4.0f)
                      .put("llama.rope.scaling.attn_factor", factor));
  };
  const auto usual = yarn(1), twice = yarn(2), none = yarn(0);
  ASSERT_TRUE(usual && twice);
  EXPECT_GT(usual->rotary->factor, 1);
  EXPECT_FLOAT_EQ(twice->rotary->factor, 2 * usual->rotary->factor);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message(),
            "m.gguf: llama.rope.scaling.attn_factor: expected a number above 0, below 1000, found 0");
}

TEST(GgufRotation, OfGemma3HasOllamasKeysToo) {
  const auto thetas = [](const GgufBytes& made) {
    const auto hub = hub_of(made);
    EXPECT_TRUE(hub) << hub.error().message();
    const auto theta = [](const Rotary& rotary) { return 1 / (rotary.frequencies(1) * rotary.frequencies(1)); };
    return hub ? std::pair{theta(*hub->rotary), theta(*hub->window_rotary)} : std::pair{0.0f, 0.0f};
  };
  const auto expect = [&](const GgufBytes& made, float global, float local) {
    const auto [first, second] = thetas(made);
    EXPECT_NEAR(first, global, global * 1e-4f);
    EXPECT_NEAR(second, local, local * 1e-4f);
  };
  const auto made = small_gguf("gemma3");
  expect(made, 1e6f, 1e4f);
  expect(GgufBytes(made).put("gemma3.rope.freq_base", 2e6f).put("gemma3.rope.freq_base_swa", 5e3f), 2e6f, 5e3f);
  expect(GgufBytes(made).put("gemma3.rope.global.freq_base", 2e6f).put("gemma3.rope.local.freq_base", 5e3f), 2e6f,
         5e3f);
}

TEST(GgufStores, HaveNamesForTheirModels) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string bytes = WrittenGguf(Parts("llama-gqa"), "llama").bytes();
  const auto write = [&](const fs::path& path, const std::string& text) {
    fs::create_directories((folder / "x").parent_path() / path.parent_path());
    std::ofstream((folder / path.string()).string(), std::ios::binary) << text;
    return folder / path.string();
  };
  const std::string digest(64, 'a'), gone(64, 'b');
  const auto manifest = [](const std::string& of) {
    return R"({"layers":[{"mediaType":"application/vnd.ollama.image.template","digest":"sha256:00"},)"
           R"({"mediaType":"application/vnd.ollama.image.model","digest":"sha256:)" +
           of + R"("}]})";
  };
  const fs::path blob = write("ollama/blobs/sha256-" + digest, bytes);
  write("ollama/manifests/registry.ollama.ai/library/tiny/8b", manifest(digest));
  write("ollama/manifests/registry.ollama.ai/library/tiny/latest", manifest(digest));
  write("ollama/manifests/registry.ollama.ai/me/own/1", manifest(gone));
  write("ollama/manifests/hf.co/org/repo/Q4_K_M", manifest("../../etc/passwd"));
  write("ollama/manifests/registry.ollama.ai/me/tuned/1",
        replaced_all(manifest(digest), {{"image.template", "image.adapter"}}));
  const fs::path studio = write("studio/org/repo/tiny-Q8_0.gguf", bytes);
  write("studio/org/repo/mmproj-f16.gguf", bytes);
  const fs::path shard = write("studio/two-00001-of-00002.gguf", bytes);
  write("studio/two-00002-of-00002.gguf", bytes);
  const ModelRoots roots{.hugging_face = {},
                         .model_scope = {},
                         .folders = {},
                         .ollama = {folder / "ollama", folder / "absent"},
                         .gguf = {folder / "studio"}};
  std::vector<std::string> names;
  for (const KeptModel& model : kept_models(roots)) names.push_back(model.name);
  EXPECT_EQ(names, (std::vector<std::string>{"hf.co/org/repo:Q4_K_M", "tiny:8b", "tiny:latest", "me/own:1",
                                             "me/tuned:1", "tiny-Q8_0", "two"}));
  EXPECT_EQ(find_kept_model(roots, "tiny:8b")->folder, blob);
  EXPECT_EQ(find_kept_model(roots, "tiny")->folder, blob) << "the tag latest";
  EXPECT_EQ(find_kept_model(roots, "tiny-Q8_0")->folder, studio);
  EXPECT_EQ(find_kept_model(roots, "two")->folder, shard);
  const auto gone_blob = find_kept_model(roots, "me/own:1");
  ASSERT_FALSE(gone_blob);
  EXPECT_NE(gone_blob.error().message().find("expected the file of weights, found none"), std::string::npos);
  EXPECT_FALSE(find_kept_model(roots, "hf.co/org/repo:Q4_K_M"));
  const auto tuned = find_kept_model(roots, "me/tuned:1");
  ASSERT_FALSE(tuned);
  EXPECT_NE(tuned.error().message().find("a model without an adapter"), std::string::npos);
  const auto absent = find_kept_model(roots, "tiny:9b");
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.error().message().find("(the nearest: tiny:8b"), std::string::npos) << absent.error().message();
  EXPECT_NE(absent.error().message().find("`ollama pull tiny:9b` would fetch it"), std::string::npos);
  Progress progress;
  EXPECT_TRUE(read_any_checkpoint(blob, progress)) << "a file without an ending";
  const auto listed = listed_models(kept_models(roots), 1, listed_folder_or_file);
  EXPECT_TRUE(listed[1].opens()) << listed[1].reason;
  EXPECT_EQ(listed[1].family, "llama");
  for (const char* good : {"qwen3:8b", "a/b:c", "hf.co/a/b:Q4_K_M", "q:latest@main"})
    EXPECT_TRUE(is_model_name(good)) << good;
  for (const char* bad : {"a:", ":b", "a:b:c", "a:b/c", "a/b/c/d:e", "a:.b", "m.gguf"})
    EXPECT_FALSE(is_model_name(bad)) << bad;
}

}  // namespace
}  // namespace headlight
