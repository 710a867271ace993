// What folders of other programs are said to be.
#include "read/hub/folder_kind.h"

#include "core/checkpoints.h"
#include "read/tokenizer/tokenizer_file.h"

namespace headlight::folder_kind_test {
namespace {

using namespace checkpoints;

class KindOfFolder : public testing::Test {
 protected:
  KindOfFolder()
      : folder_(std::filesystem::path(testing::TempDir()) /
                (std::string("kind_") + testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~KindOfFolder() override { std::filesystem::remove_all(folder_); }

  void put(const std::string& name, const std::string& bytes = "x") const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    EXPECT_TRUE(write_file(folder_ / name, bytes));
  }

  std::filesystem::path folder_;
};

TEST_F(KindOfFolder, IsThatOfItsFiles) {
  const std::tuple<std::vector<const char*>, const char*, const char*> cases[] = {
      {{"params.json", "consolidated.00.pth", "tokenizer.model"}, "Meta's own layout", "convert_llama_weights_to_hf"},
      {{"bert_config.json", "vocab.txt", "bert_model.ckpt.index"}, "a checkpoint of TensorFlow", "transformers makes"},
      {{"config.json", "tf_model.h5"}, "TensorFlow's weights", "from_tf=True"},
      {{"config.json", "flax_model.msgpack"}, "Flax' weights", "from_flax=True"},
      {{"config.json", "openvino_model.bin", "openvino_model.xml"}, "OpenVINO", "exported from"},
      {{"config.json", "onnx/model.onnx"}, "onnx/model.onnx, an ONNX file", ""},
      {{"adapter_config.json", "tokenizer.json"}, "an adapter", "with its base"},
      {{"config.json", "a.Q4_0.gguf", "b.Q8_0.gguf"}, "2 GGUF files (a.Q4_0.gguf, b.Q8_0.gguf)", "by its own path"},
      {{"consolidated.safetensors", "params.json", "tekken.json"}, "Mistral's own layout", "convert_mistral_weights"},
      {{"original/params.json", "original/consolidated.00.pth"}, "original/Meta's own layout", "convert_llama"},
      {{"checkpoint", "model.ckpt-1000.index"}, "a checkpoint of TensorFlow", "transformers makes"},
      {{"config.json", "model.weights.h5"}, "a model of Keras", "layout of transformers"},
      {{"config.json", "openvino_encoder_model.xml"}, "OpenVINO", "exported from"},
      {{"config.json", "openvino/openvino_model.bin"}, "openvino/OpenVINO", "exported from"},
      {{"config.json", "model.bin", "vocabulary.json"}, "a model of CTranslate2", "converted from"},
      {{"latest", "zero_to_fp32.py"}, "a checkpoint of DeepSpeed", "zero_to_fp32.py . pytorch_model.bin"},
      {{".metadata", "__0_0.distcp"}, "shards of torch.distributed.checkpoint", "dcp_to_torch"},
      {{"model_index.json", "text_encoder/config.json"}, "a pipeline of diffusers", "text encoder"},
      {{"checkpoint-10/config.json", "checkpoint-20/config.json"}, "2 folders with config.json (checkpoint-10", "own"},
      {{"refs/main", "snapshots/abc/config.json"}, "a model of Hugging Face's cache", "by its name"},
      {{"ckpt-500.pt"}, "ckpt-500.pt without config.json", "nanoGPT"},
      {{"tokenizer.json"}, "a tokenizer alone, no config.json", ""},
      {{"ckpt.pt"}, "ckpt.pt without config.json", "nanoGPT"},
      {{"events.out.tfevents.1700000000.host"}, "the log of a training", "checkpoint folders"},
  };
  for (const auto& [files, what, way] : cases) {
    std::filesystem::remove_all(folder_);
    for (const char* file : files) put(file);
    const FolderKind kind = kind_of_folder(folder_);
    EXPECT_TRUE(kind.what.starts_with(what)) << kind.what;
    EXPECT_NE(kind.way.find(way), std::string::npos) << kind.way;
    EXPECT_EQ(kind.line().find('\n'), std::string::npos);
  }
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
  put("notes.txt");
  EXPECT_EQ(kind_of_folder(folder_).what, "");
}

TEST_F(KindOfFolder, OfSentenceTransformersHasItsModelInside) {
  put("modules.json", R"([{"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"},
                          {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  put("0_Transformer/config.json", "{}");
  EXPECT_EQ(kind_of_folder(folder_).inside, folder_ / "0_Transformer");
  put("0_BERT/config.json", "{}");
  put("modules.json", R"([{"path": "0_BERT", "type": "sentence_transformers.models.BERT"}])");
  EXPECT_EQ(kind_of_folder(folder_).inside, folder_ / "0_BERT");
  put("modules.json", R"([{"path": "../elsewhere", "type": "sentence_transformers.models.Transformer"}])");
  EXPECT_EQ(kind_of_folder(folder_).inside, "");
}

TEST_F(KindOfFolder, PointersOfGitLfsAreNamedWhereverTheyStand) {
  const char* pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 3000000\n";
  for (const char* name : {"config.json", "merges.txt", "tokenizer_config.json"}) {
    std::filesystem::remove_all(folder_);
    std::filesystem::copy(kGolden / "gpt2", folder_, std::filesystem::copy_options::recursive);
    std::filesystem::remove(folder_ / "tokenizer.json");
    put("vocab.json", R"({"a": 0})");
    put("merges.txt");
    put(name, pointer);
    const bool weights = std::string_view(name) == "config.json";
    const std::string message =
        weights ? read_checkpoint(folder_).error().message() : read_tokenizer(folder_).error().message();
    EXPECT_NE(message.find(std::string(name) + ": expected the file itself, found a Git LFS pointer to a file of 3 MB"),
              message.npos)
        << message;
  }
}

TEST_F(KindOfFolder, OfAnUnknownConfigurationIsThatOfItsFiles) {
  put("config.json", R"({"bos_token": "<s>"})");
  EXPECT_EQ(read_checkpoint(folder_).error().message().find("nearest"), std::string::npos);
  put("shared_vocabulary.json");
  const std::string message = read_checkpoint(folder_).error().message();
  EXPECT_NE(message.find("CTranslate2"), message.npos) << message;
}

TEST_F(KindOfFolder, ShardsAreReadWithoutTheirIndex) {
  std::filesystem::copy(kGolden / "family-llama3-sharded", folder_,
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  const auto listed = read_checkpoint(folder_);
  ASSERT_TRUE(listed) << listed.error().message();
  std::filesystem::remove(folder_ / "model.safetensors.index.json");
  const auto unlisted = read_checkpoint(folder_);
  ASSERT_TRUE(unlisted) << unlisted.error().message();
  EXPECT_EQ(weight_rows(unlisted->model->blocks[0].self.query, 0, 1),
            weight_rows(listed->model->blocks[0].self.query, 0, 1));
}

TEST(TurnedLayers, OfNanoGptAreReadAsTheyLie) {
  Parts gpt2("gpt2");
  const auto usual = gpt2.load();
  ASSERT_TRUE(usual);
  for (auto& [name, array] : gpt2.file.arrays) {
    const bool linear =
        name.ends_with("c_attn.weight") || name.ends_with("c_proj.weight") || name.ends_with("c_fc.weight");
    if (!linear) continue;
    Array turned{.shape = {array.shape[1], array.shape[0]}, .values = array.values};
    for (Index row = 0; row < array.shape[0]; ++row)
      for (Index column = 0; column < array.shape[1]; ++column)
        turned.values[static_cast<std::size_t>(column * array.shape[0] + row)] =
            array.values[static_cast<std::size_t>(row * array.shape[1] + column)];
    array = std::move(turned);
  }
  const auto turned = gpt2.load();
  ASSERT_TRUE(turned) << turned.error().message();
  for (const auto& [a, b] : {std::pair(&usual->model->blocks[1].self.output, &turned->model->blocks[1].self.output),
                             std::pair(&usual->model->blocks[1].up, &turned->model->blocks[1].up)})
    EXPECT_EQ(weight_rows(*a, 0, a->outputs()), weight_rows(*b, 0, b->outputs()));
}

TEST(Prefixes, OfAnyNameAreDroppedWhereOneStandsBeforeTheTable) {
  Parts gpt2("gpt2");
  const std::map<std::string, Array> plain = gpt2.file.arrays;
  const auto under = [&](const std::string& prefix) {
    for (const auto& [name, array] : plain) gpt2.file.arrays[prefix + name] = array;
  };
  gpt2.file.arrays.clear();
  under("student.decoder.");
  const auto one = gpt2.load();
  EXPECT_TRUE(one) << one.error().message();
  under("teacher.decoder.");
  EXPECT_FALSE(gpt2.load()) << "which of two is meant is not known";
}

}  // namespace
}  // namespace headlight::folder_kind_test
