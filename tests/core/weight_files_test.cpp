// Where a checkpoint's weights lie: one file or shards, mapped, in half precision or not.
#include "read/hub/weight_files.h"

#include <cstring>

#include <gtest/gtest.h>

#include "core/checkpoints.h"
#include "math/forward.h"
#include "math/ops.h"
#include "math/stored_weight.h"
#include "read/array/safetensors.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

using namespace checkpoints;

/// A copy of a golden folder, to be damaged.
class CopiedFolder : public TemporaryFolder {
 public:
  explicit CopiedFolder(const std::string& golden) { std::filesystem::copy(kGolden / golden, path()); }

  std::filesystem::path at(const std::string& name) const { return *this / name; }
  void write(const std::string& name, const std::string& text) const { with(name, text); }
  nlohmann::json index() const { return *parse_json("index", *read_file(at("model.safetensors.index.json"))); }
  void write_index(const nlohmann::json& index) const { write("model.safetensors.index.json", index.dump()); }
  std::string refusal() const {
    const auto checkpoint = read_checkpoint(path());
    return checkpoint ? std::string{} : checkpoint.error().message();
  }
};

const std::string kFirst = "model-00001-of-00002.safetensors", kSecond = "model-00002-of-00002.safetensors";

// What torch.save wrote is the same model to the bit, whole and as shards.
TEST(WeightFiles, PyTorchsOwnFilesAreTheSameModel) {
  const std::filesystem::path torch = kGolden / "torch-files" / "gpt2.bin";
  const auto expected = open_weights(kGolden / "gpt2");
  ASSERT_TRUE(expected) << expected.error().message();
  const auto same_weights = [&](const std::filesystem::path& folder) {
    const auto found = open_weights(folder);
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_EQ(found->stored.arrays.size(), expected->stored.arrays.size());
    for (const auto& [name, array] : expected->stored.arrays) {
      ASSERT_TRUE(found->stored.arrays.contains(name)) << name;
      EXPECT_EQ(found->stored.arrays.at(name).bytes, array.bytes) << name;
    }
    EXPECT_TRUE(read_checkpoint(folder)) << read_checkpoint(folder).error().message();
  };
  TemporaryFolder whole;
  std::filesystem::copy_file(kGolden / "gpt2" / "config.json", whole / "config.json");
  std::filesystem::copy_file(torch, whole / "pytorch_model.bin");
  same_weights(whole.path());

  TemporaryFolder shards;
  std::filesystem::copy_file(kGolden / "gpt2" / "config.json", shards / "config.json");
  std::filesystem::copy_file(torch, shards / "pytorch_model-00001-of-00001.bin");
  nlohmann::json index;
  for (const auto& [name, array] : expected->stored.arrays)
    index["weight_map"][name] = "pytorch_model-00001-of-00001.bin";
  shards.with("pytorch_model.bin.index.json", index.dump());
  same_weights(shards.path());
}

// Lightning, DataParallel and torch.compile wrap the model: the wrapper's name is a prefix of the names of all tensors.
TEST(WeightFiles, WhatATrainingPutsBeforeTheNamesIsDropped) {
  for (const char* golden :
       {"bert", "bert-prefixed-f16", "gpt2", "llama-gqa", "family-mistral-base", "family-bart", "family-t5"})
    for (const std::string wrapper : {"model.", "module.", "_orig_mod.", "model._orig_mod.", "module.model."}) {
      Parts parts(golden);
      const auto plain = parts.load();
      ASSERT_TRUE(plain) << plain.error().message();
      std::map<std::string, Array> wrapped;
      for (auto& [name, array] : parts.file.arrays) wrapped.emplace(wrapper + name, std::move(array));
      parts.file.arrays = std::move(wrapped);
      parts.file.arrays["criterion.weight"] = {.dtype = Dtype::f32, .shape = {1}, .values = {1}};
      const auto checkpoint = parts.load();
      ASSERT_TRUE(checkpoint) << golden << " " << wrapper << ": " << checkpoint.error().message();
      EXPECT_EQ(checkpoint->warnings.size(), plain->warnings.size() + 1) << "criterion.weight is surplus";
      const auto& blocks = checkpoint->model->blocks;
      for (std::size_t layer = 0; layer < blocks.size(); ++layer)
        EXPECT_TRUE(same_weights(blocks[layer].self.query, plain->model->blocks[layer].self.query)) << golden;
    }
}

TEST(WeightFiles, ShardsAreOneModel) {
  const auto files = open_weights(kGolden / "family-llama3-sharded");
  ASSERT_TRUE(files) << files.error().message();
  const auto& arrays = files->stored.arrays;
  EXPECT_EQ(arrays.size(), 21u);
  EXPECT_TRUE(arrays.at("lm_head.weight").where.ends_with(kFirst));
  EXPECT_TRUE(arrays.at("model.embed_tokens.weight").where.ends_with(kSecond));
  const auto checkpoint = read_checkpoint(kGolden / "family-llama3-sharded");
  ASSERT_TRUE(checkpoint) << checkpoint.error().message();
  EXPECT_TRUE(checkpoint->warnings.empty());
}

TEST(WeightFiles, ShardsStayInTheirFolder) {
  const CopiedFolder folder("family-llama3-sharded");
  const auto first = folder.index()["weight_map"].begin().key();
  for (const char* name : {"../model.safetensors", "/etc/passwd", "..", ".", "", "a\\b", "sub/a.safetensors"}) {
    auto index = folder.index();
    index["weight_map"][first] = name;
    folder.write_index(index);
    EXPECT_NE(folder.refusal().find(first + ": expected the name of a shard in this folder, found '"),
              std::string::npos)
        << folder.refusal();
    folder.write_index(*parse_json("", *read_file(kGolden / "family-llama3-sharded" / "model.safetensors.index.json")));
  }
  for (const auto& [text, says] : {std::pair{"[]", "weight_map: expected an object"},
                                   {"{}", "weight_map"},
                                   {"{\"weight_map\": {}}", "weight_map"},
                                   {"{\"weight_map\": {\"a\": 3}}", "number"},
                                   {"{\"weight_map\": {\"a\": \"b\"}}", "/b: open: expected a readable file"},
                                   {"{\"weight_map\": {\"a\": \"b\", \"a\": \"c\"}}", "each key once"}}) {
    folder.write("model.safetensors.index.json", text);
    EXPECT_NE(folder.refusal().find(says), std::string::npos) << folder.refusal();
  }
}

TEST(WeightFiles, EachTensorIsInTheShardThatTheIndexNames) {
  const CopiedFolder folder("family-llama3-sharded");
  auto index = folder.index();
  index["weight_map"]["lm_head.weight"] = kSecond;
  folder.write_index(index);
  EXPECT_EQ(folder.refusal(), folder.at(kSecond).string() +
                                  ": lm_head.weight: expected the tensor that model.safetensors.index.json says is "
                                  "here, found it in " +
                                  kFirst);
  index["weight_map"]["lm_head.weight"] = kFirst;
  index["weight_map"]["more"] = kFirst;
  folder.write_index(index);
  EXPECT_NE(folder.refusal().find("more: expected the tensor that"), std::string::npos) << folder.refusal();
  index["weight_map"].erase("more");
  index["weight_map"].erase("lm_head.weight");  // stored all the same, and used
  folder.write_index(index);
  EXPECT_EQ(folder.refusal(), "");
  std::filesystem::copy_file(folder.at(kFirst), folder.at("third.safetensors"));
  index["weight_map"]["model.norm.weight"] = "third.safetensors";
  folder.write_index(index);
  EXPECT_NE(folder.refusal().find("expected each tensor in one shard, found it in " + kFirst + " too"),
            std::string::npos)
      << folder.refusal();
  std::filesystem::remove(folder.at(kSecond));
  EXPECT_NE(folder.refusal().find(kSecond + ": open: expected a readable file"), std::string::npos);
}

TEST(WeightFiles, DamagedFilesGetOneLine) {
  const CopiedFolder folder("gpt2");
  const std::string bytes = *read_file(folder.at("model.safetensors"));
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{8}, std::size_t{900}, bytes.size() - 1}) {
    folder.write("model.safetensors", bytes.substr(0, size));
    EXPECT_NE(folder.refusal().find("model.safetensors: "), std::string::npos) << size;
    EXPECT_EQ(folder.refusal().find('\n'), std::string::npos);
  }
  std::filesystem::remove(folder.at("model.safetensors"));
  std::filesystem::create_directory(folder.at("model.safetensors"));
  EXPECT_NE(folder.refusal().find("expected a regular file, found a folder"), std::string::npos) << folder.refusal();
}

std::shared_ptr<const Trace> answer_of(const std::shared_ptr<const Model>& model, int threads) {
  Progress progress;
  const auto answer = forward(request_for(model, tokens_of_ids({3, 9, 27, 44, 3})), progress, nullptr, threads);
  EXPECT_TRUE(answer) << (answer ? "" : answer.error().message());
  return answer ? *answer : nullptr;
}

TEST(HalfWeights, AnswerFromTheirFileAsWhenWidened) {
  for (const char* name : {"bert-prefixed-f16", "llama-gqa-bf16", "family-llama3-sharded"}) {
    Progress progress;
    const auto widened_all = read_checkpoint(kGolden / name, progress);
    const auto in_file = read_checkpoint(kGolden / name, progress, 0);
    ASSERT_TRUE(widened_all && in_file) << name;
    const Linear& ours = in_file->model->blocks[1].self.query;
    const Linear& theirs = widened_all->model->blocks[1].self.query;
    ASSERT_TRUE(ours.stored && !theirs.stored) << name;
    EXPECT_EQ(ours.weight.size(), 0);
    EXPECT_EQ(ours.outputs(), theirs.outputs());
    EXPECT_EQ(ours.inputs(), theirs.inputs());
    EXPECT_TRUE(same(weight_rows(ours, 0, ours.outputs()), weight_rows(theirs, 0, theirs.outputs())));
    EXPECT_TRUE(same(weight_rows(ours, 3, 4), weight_rows(theirs, 3, 4)));
    const auto &our_table = in_file->model->embeddings.tokens, &their_table = widened_all->model->embeddings.tokens;
    EXPECT_TRUE(our_table->stored && their_table->panels && same_weights(*our_table, *their_table));
    EXPECT_EQ(their_table->panels->halves != nullptr, our_table->stored->kind == StoredMatrix::Kind::bfloat16);
    EXPECT_TRUE(ours.bias.size() == theirs.bias.size() && (ours.bias.size() == 0 || same(ours.bias, theirs.bias)));
    const auto a = answer_of(widened_all->model, 1), b = answer_of(in_file->model, 1), c = answer_of(in_file->model, 3);
    ASSERT_TRUE(a && b && c);
    EXPECT_LE((a->last_hidden_state() - b->last_hidden_state()).cwiseAbs().maxCoeff(), 1e-5f) << name;
    EXPECT_TRUE(same(b->last_hidden_state(), c->last_hidden_state())) << "threads change no bit";
  }
}

/// Weights in the file are packed while answers go on: no bit of any of them changes.
TEST(WeightsInTheirFile, AnswerAsThePackedOnesDoHoweverOftenTheyAreUsed) {
  for (const char* name : {"bert", "gpt2", "bert-prefixed-f16", "llama-gqa-bf16", "family-phi3", "family-bloom",
                           "family-albert", "family-mixtral"}) {
    Progress progress;
    const auto whole = read_checkpoint(kGolden / name, progress);
    ASSERT_TRUE(whole) << name;
    ASSERT_TRUE(whole->model->blocks[0].self.output.panels) << name;
    const auto expected = answer_of(whole->model, 1);
    for (const int threads : {1, 3}) {
      const auto used = read_checkpoint(kGolden / name, progress, kMostWidenedBytes, Reading::as_used);
      ASSERT_TRUE(used) << name;
      const Linear& weight = used->model->blocks[0].self.output;
      ASSERT_TRUE(weight.stored && weight.stored->panels) << name;
      EXPECT_TRUE(same_weights(weight, whole->model->blocks[0].self.output)) << name;
      for (int time = 0; time < 5; ++time) {
        const auto answer = answer_of(used->model, threads);
        ASSERT_TRUE(answer && expected);
        EXPECT_TRUE(same(answer->last_hidden_state(), expected->last_hidden_state())) << name << ", " << time;
        EXPECT_TRUE(same(answer->blocks.back().self.query, expected->blocks.back().self.query)) << name << ", " << time;
      }
      EXPECT_TRUE(weight.stored->panels->packed) << name;
    }
  }
}

TEST(WeightsInTheirFile, ThatAreShortenedMeanwhileAreNoAnswer) {
  const CopiedFolder folder("gpt2");
  Progress progress;
  const auto used = read_checkpoint(folder.path(), progress, kMostWidenedBytes, Reading::as_used);
  ASSERT_TRUE(used);
  std::filesystem::resize_file(folder.at("model.safetensors"), 4096);
  const auto answer = forward(request_for(used->model, tokens_of_ids({3, 9, 27})), progress);
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message().find("one that was shortened meanwhile"), std::string::npos)
      << answer.error().message();
}

TEST(WeightsInTheirFile, AreFiniteOrNotWhereverTheNumberStands) {
  using Kind = StoredMatrix::Kind;
  struct Case {
    Kind kind;
    std::size_t size;
    std::vector<std::uint32_t> finite, others;
  };
  for (const Case& of : {Case{Kind::float32, 4, {0x7F7FFFFF, 0xFF7FFFFF, 0, 0x80000000}, {0x7F800000, 0xFF800001}},
                         Case{Kind::bfloat16, 2, {0x7F7F, 0xFF7F, 0, 0x8000}, {0x7F80, 0xFF80, 0x7FC0, 0xFF81}},
                         Case{Kind::float16, 2, {0x7BFF, 0xFBFF, 0, 0x8000}, {0x7C00, 0xFC00, 0x7E00, 0xFC01}}})
    for (const std::size_t count : {1u, 3u, 4u, 9u})
      for (std::size_t place = 0; place < count; ++place) {
        std::string bytes(1 + count * of.size, '\0');  // on an odd address
        for (std::size_t i = 0; i < count; ++i)
          std::memcpy(bytes.data() + 1 + i * of.size, &of.finite[i % of.finite.size()], of.size);
        EXPECT_TRUE(all_finite(of.kind, bytes.data() + 1, count, Threads(1)));
        for (const std::uint32_t other : of.others) {
          std::memcpy(bytes.data() + 1 + place * of.size, &other, of.size);
          EXPECT_FALSE(all_finite(of.kind, bytes.data() + 1, count, Threads(1))) << std::hex << other;
        }
      }
}

TEST(HalfWeights, ArePlacedOnAnyAddressAndChecked) {
  const Matrix numbers = (Matrix(3, 2) << 1, -2, 0.5f, 65504, -0.0f, 3).finished();
  const std::uint16_t bits[] = {0x3c00, 0xc000, 0x3800, 0x7bff, 0x8000, 0x4200};
  std::string bytes(1, 'x');
  bytes.append(reinterpret_cast<const char*>(bits), sizeof bits);
  const StoredMatrix half{.kind = StoredMatrix::Kind::float16, .rows = 3, .cols = 2, .bytes = bytes.data() + 1};
  EXPECT_TRUE(same(widened(half, 0, 3), numbers));
  EXPECT_TRUE(same(widened(half, 2, 1), numbers.row(2)));
  Linear linear_half, linear_whole;
  linear_half.stored = std::make_shared<const StoredMatrix>(half);
  linear_whole.weight = numbers;
  const Matrix x = Matrix::Constant(4, 2, 0.25f);
  EXPECT_FALSE(linear_half.is_identity());
  EXPECT_TRUE(same(linear(x, linear_half), linear(x, linear_whole)));

  const CopiedFolder folder("llama-gqa-bf16");
  std::string file = *read_file(folder.at("model.safetensors"));
  const auto stored = locate_safetensors("m", file);
  ASSERT_TRUE(stored);
  const auto& query = stored->arrays.at("model.layers.1.self_attn.q_proj.weight");
  const std::size_t place = static_cast<std::size_t>(query.bytes.data() - file.data()) + 2 * (24 * 5 + 7);
  file[place] = static_cast<char>(0x80);
  file[place + 1] = static_cast<char>(0xff);
  folder.write("model.safetensors", file);
  for (const std::size_t most_widened : {kMostWidenedBytes, std::size_t{0}}) {
    Progress progress;
    const auto refused = read_checkpoint(folder.path(), progress, most_widened);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("q_proj.weight[5, 7]: expected a finite number, found -inf"),
              std::string::npos)
        << refused.error().message();
  }
}

TEST(Loading, ShowsHowFarItIsAndCanBeStopped) {
  Progress progress;
  progress.done = 0.5f;
  ASSERT_TRUE(read_checkpoint(kGolden / "gpt2", progress));
  EXPECT_EQ(progress.done, 1.0f);
  progress.stop = true;
  const auto stopped = read_checkpoint(kGolden / "gpt2", progress);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->model, nullptr);
  EXPECT_LT(progress.done, 1.0f);
}

}  // namespace
}  // namespace headlight
