// The command `what`: a line that says what a file or folder is.
#include "app/program.h"

namespace headlight {
namespace {

using namespace program;
namespace fs = std::filesystem;

struct SaidOfPath {
  int status;
  std::string first, second;
};

SaidOfPath said_of(const std::string& path) {
  const Ran ran = run({"what", path});
  EXPECT_EQ(ran.err, "");
  const auto end = ran.out.find('\n');
  return {ran.status, ran.out.substr(0, end), ran.out.substr(end + 1)};
}

TEST(What, CheckpointsAndAttentionOpen) {
  const SaidOfPath bert = said_of(fixture::golden("bert"));
  EXPECT_EQ(bert.status, 0);
  EXPECT_TRUE(bert.first.starts_with("a checkpoint of the family bert, ")) << bert.first;
  EXPECT_EQ(bert.second, "");
  EXPECT_EQ(said_of(fixture::golden("family-bart")).first,
            "a checkpoint of the family bart, encoder 1 layer of 2 heads, decoder 2 layers of 3 heads, float32");
  const Folder folder;
  const std::string file = (folder / "attention.json").string();
  ASSERT_EQ(run(small({"export", "--random", "--text", "a b", "-o", file})).status, 0);
  const SaidOfPath attention = said_of(file);
  EXPECT_EQ(attention.status, 0);
  EXPECT_EQ(attention.first, "attention: 1 layer, 2 heads, 2 × 2 tokens");
}

TEST(What, OtherLayoutsAreNamedWithTheWayFromThem) {
  const Folder folder;
  folder.with("params.json", "{}");
  folder.with("consolidated.00.pth", "x");
  const SaidOfPath meta = said_of(folder.path().string());
  EXPECT_EQ(meta.status, 1);
  EXPECT_EQ(meta.first, "Meta's own layout (params.json)");
  EXPECT_TRUE(contains(meta.second, "convert_llama_weights_to_hf.py"));
  EXPECT_TRUE(contains(refused({"export", folder.path().string(), "--ids", "1"}), "Meta's own layout (params.json): "));

  const std::string pointer =
      folder.with("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 437955512\n");
  EXPECT_TRUE(said_of(pointer).first.starts_with("a Git LFS pointer to a file of 438 MB")) << said_of(pointer).first;
}

TEST(What, ATokenizerThatCannotBeReadIsSaid) {
  const Folder folder;
  std::filesystem::copy(fixture::golden("bert"), folder / "bert");
  EXPECT_EQ(said_of((folder / "bert").string()).second, "");
  folder.with("bert/tokenizer.json", "version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 437955512\n");
  const SaidOfPath said = said_of((folder / "bert").string());
  EXPECT_EQ(said.status, 0);
  EXPECT_TRUE(contains(said.second, "tokenizer.json: expected the file itself, found a Git LFS pointer"))
      << said.second;
}

TEST(What, AFamilyIsKnownByTheArchitecturesToo) {
  const Folder folder;
  std::filesystem::copy(fixture::golden("bert"), folder / "bert");
  json config = json::parse(*read_file(folder / "bert/config.json"));
  config.erase("model_type");
  folder.with("bert/config.json", config.dump());
  EXPECT_TRUE(said_of((folder / "bert").string()).first.starts_with("a checkpoint of the family bert, 2 layers"));
}

TEST(What, AGgufFileIsOneAlsoWhereItIsDamaged) {
  const Folder folder;
  const SaidOfPath damaged = said_of(folder.with("m.gguf", "GGUF"));
  EXPECT_EQ(damaged.status, 1);
  EXPECT_EQ(damaged.first, "a GGUF file");
  EXPECT_TRUE(contains(damaged.second, "more bytes at 4")) << damaged.second;
}

TEST(What, WeightsUnderANameOfTheirOwnOpenWhereTheyAreTheOnlyOnes) {
  const Folder folder;
  std::filesystem::copy(fixture::golden("bert"), folder / "bert");
  const std::string bert = (folder / "bert").string();
  std::filesystem::rename(folder / "bert/model.safetensors", folder / "bert/model.fp16.safetensors");
  folder.with("bert/training_args.bin", "x");
  EXPECT_EQ(said_of(bert).status, 0) << said_of(bert).second;
  std::filesystem::copy(folder / "bert/model.fp16.safetensors", folder / "bert/other.safetensors");
  const SaidOfPath two = said_of(bert);
  EXPECT_EQ(two.status, 1);
  EXPECT_TRUE(
      contains(two.second, "found 2 (model.fp16.safetensors, other.safetensors): each is opened by its own path"))
      << two.second;
}

TEST(What, AFolderOfOtherFilesNamesThoseThatOpen) {
  const Folder folder;
  ASSERT_EQ(run(small({"export", "--random", "--text", "a b", "-o", (folder / "a.npz").string()})).status, 0);
  folder.with("notes.txt", "x");
  const SaidOfPath said = said_of(folder.path().string());
  EXPECT_EQ(said.first, "a folder without config.json, with 1 file of attention or weights");
  EXPECT_EQ(said.second, "attention opens by its path, weights beside a config.json: a.npz\n");
  EXPECT_EQ(said.status, 1);
}

TEST(What, FilesOfOtherKindsAreNamed) {
  const Folder folder;
  for (const auto& [name, bytes, says] :
       {std::tuple{"a.xlsx", "PK\3\4", "an Excel workbook; saved as .csv it is read"},
        {"a.parquet", "PAR1", "a Parquet table; saved as .csv it is read"},
        {"a.h5", "\x89HDF\r\n", "an HDF5 file; arrays are read from numpy.savez, models in the layout of transformers"},
        {"a.npy.gz", "\x1f\x8b", "a gzip archive; what is in it is read once it is unpacked"},
        {"a.PNG", "\x89PNG\r\n\x1a\n", "a picture, about which a model of pictures is asked by --picture"},
        {"a.txt", "0.5 0.5", "a text; a table of weights is read as .csv"},
        {"a.json", "{}", "a JSON file without attention: lists of numbers in lists, or an object with attentions"},
        {"a.xyz", "?", "another file"}}) {
    const std::string path = folder.with(name, bytes);
    EXPECT_EQ(said_of(path).first, says);
    EXPECT_TRUE(contains(refused({"export", path}), std::string("found ") + says)) << name;
  }
}

TEST(What, NothingIsRefused) {
  EXPECT_TRUE(contains(refused({"what", "no/such/path.npz"}), "found no such file"));
  const Folder folder;
  EXPECT_EQ(said_of(folder.path().string()).first,
            "a folder without config.json, with nothing of a model that is known");
}

}  // namespace
}  // namespace headlight
