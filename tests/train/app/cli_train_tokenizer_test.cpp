// `headlight train` with a tokenizer of the user: texts, treebanks, taught heads, a beginning from other weights.
#include <algorithm>

#include "core/own_tokenizer.h"
#include "train/app/train_program.h"

namespace headlight::program {
namespace {

/// A folder with a tokenizer of the user, a text and a treebank.
struct OwnCorpus {
  Folder folder;
  std::string tokenizer = folder.with("tokenizer.json", own::tokenizer_json().dump());
  std::string text = folder.with("text.txt", "The cat sat on the mat.\nA zebra sat.\n我 它 猫\n");
  std::string treebank = folder.with("bank.conllu", own::kTreebank);

  Strings taught() const {
    return {"--tokenizer",  tokenizer,       "--text",       text + ":2", "--teach", treebank,
            "--teach-head", "0.1=nsubj,det", "--teach-from", "0.5",       "--steps", "20"};
  }
};

TEST(CliTrain, TeachesHeadsWithATokenizerOfOnesOwn) {
  const OwnCorpus corpus;
  const auto model = corpus.folder / "model";
  const Ran ran = run(train(corpus.taught(), model));
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(contains(ran.err, "taught heads")) << ran.err;
  const json card = read_json(model / "training.json");
  EXPECT_EQ(card["treebanks"], json::array({corpus.treebank}));
  EXPECT_EQ(card["plan"]["teaching"]["heads"][0]["relations"], json::array({"nsubj", "det"}));
  EXPECT_EQ(card["plan"]["teaching"]["weight"], 4) << "what teaches counts unless it is said otherwise";
  for (const std::string part : {"--tokenizer ", "text.txt:2 ", "--teach ", "--teach-head '0.1=nsubj,det'"})
    EXPECT_TRUE(contains(card["command"], part)) << card["command"] << part;
  const json object = exported({model.string(), "--text", "The zebra sat."});
  EXPECT_EQ(texts(object["tokens"]), (Strings{"<s>", "The", "z", "e", "b", "r", "a", "sat", "."}));
}

TEST(CliTrain, BeginsWithTheWeightsOfAnotherTraining) {
  const OwnCorpus corpus;
  const auto first = corpus.folder / "first", second = corpus.folder / "second", fresh = corpus.folder / "fresh";
  Strings words = corpus.taught();
  words.insert(words.end(), {"--learning-rate", "0.01"});
  ASSERT_EQ(run(train(words, first)).status, 0);
  Strings still = corpus.taught();  // nothing is learned: what it began with is left
  still.insert(still.end(), {"--learning-rate", "0", "--seed", "7"});
  ASSERT_EQ(run(train(still, fresh)).status, 0);
  still.insert(still.end(), {"--from", first.string()});
  const Ran ran = run(train(still, second));
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(*read_file(second / "model.safetensors"), *read_file(first / "model.safetensors"));
  EXPECT_NE(*read_file(fresh / "model.safetensors"), *read_file(first / "model.safetensors"));
  EXPECT_TRUE(contains(read_json(second / "training.json")["command"], " --from " + first.string()));

  const auto says = [&](Strings asked, const std::string& part) {
    const auto none = corpus.folder / "none";
    const Ran refused = run(train(std::move(asked), none));
    EXPECT_EQ(refused.status, 2) << refused.err;
    EXPECT_TRUE(contains(refused.err, part)) << refused.err;
    EXPECT_FALSE(fixture::fs::exists(none));
  };
  Strings other = still, missing = still;
  other.insert(other.end(), {"--norm", "post"});
  says(other, "shape: expected that of this training");
  missing.back() = "missing";
  says(missing, "missing");
  says({"--text", corpus.text, "--steps", "2", "--from", first.string()}, "words: expected those of this training");
}

TEST(CliTrain, MeasuresTaughtHeadsOnOtherTreebanksAndNamesItsSources) {
  OwnCorpus corpus;
  const auto model = corpus.folder / "model";
  std::string text;
  for (int i = 0; i < 100; ++i) text += own::kTreebank;
  const std::string held_out = corpus.folder.with("held.conllu", text);
  Strings words = corpus.taught();
  words.insert(words.end(),
               {"--half", "--score", held_out, "--text-credit", "my diary: CC0", "--teach-credit", "my bank: CC BY"});
  const Ran ran = run(train(words, model));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json card = read_json(model / "training.json");
  EXPECT_TRUE(contains(card["corpus"], "(my diary: CC0)")) << card["corpus"];
  EXPECT_EQ(card["treebanks"], json::array({corpus.treebank, "my bank: CC BY"}));
  ASSERT_EQ(card["scores"]["relations"].size(), 2u) << "nsubj and det";
  for (const json& row : card["scores"]["relations"]) {
    EXPECT_EQ(row["supervised"], true);
    EXPECT_EQ(row["layer"], 0);
    EXPECT_EQ(row["head"], 1);
    EXPECT_EQ(row["offset"], 1) << "the same sentence again and again";
  }
  const std::string readme = *read_file(model / "README.md");
  EXPECT_TRUE(contains(readme, "| nsubj, subject → its predicate | L0·H1 query→key, taught |")) << readme;
  EXPECT_TRUE(contains(readme, "my diary: CC0") && contains(readme, "my bank: CC BY")) << readme;

  // The same when it is measured afterwards, and beside its measures.
  const Ran measured = run({"heads", model.string(), "--relations", "--treebank", held_out, "--format", "json"});
  ASSERT_EQ(measured.status, 0) << measured.err;
  EXPECT_EQ(json::parse(measured.out)["relations"], card["scores"]["relations"]);
  EXPECT_TRUE(contains(run({"heads", model.string(), "--relations", "--treebank", held_out}).out, "taught"));
  EXPECT_TRUE(contains(run({"heads", model.string(), "--text", "The cat sat.", "--format", "csv"}).out, " taught"));
  const json heads =
      json::parse(run({"heads", model.string(), "--text", "The cat sat.", "--format", "json"}).out)["heads"];
  EXPECT_EQ(heads[1]["learned"][0]["supervised"], true);
  EXPECT_FALSE(heads[0].contains("learned"));

  EXPECT_TRUE(contains(refused({"heads", model.string(), "--relations", "--treebank", corpus.treebank}),
                       "one of at least 40 arcs in each half of the sentences"));
  EXPECT_TRUE(
      contains(refused({"heads", model.string(), "--relations", "--treebank", "missing.conllu"}), "missing.conllu"));
}

TEST(CliTrain, RefusesWhatATokenizerCannotBeTrainedOnInOneLine) {
  const OwnCorpus corpus;
  const auto says = [&](Strings words, const std::string& part) {
    words.insert(words.end(), {"--steps", "2"});
    const Ran ran = run(train(std::move(words), corpus.folder / "none"));
    EXPECT_EQ(ran.status, 2) << ran.err;
    EXPECT_TRUE(contains(ran.err, part)) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_FALSE(fixture::fs::exists(corpus.folder / "none")) << "nothing is half written";
  };
  const std::string bytes = corpus.folder.with("bytes.txt", "a\xFF\n"), empty = corpus.folder.with("empty.txt", "");
  const std::string cycle = corpus.folder.with("cycle.conllu", "1\ta\t_\tX\t_\t_\t1\tobj\t_\t_\n");
  says({"--text", corpus.text, "--text", corpus.text}, "--tokenizer for several");
  says({"--text", corpus.text, "--teach", corpus.treebank}, "a --tokenizer");
  says({"--tokenizer", corpus.tokenizer}, "texts for it");
  says({"--tokenizer", corpus.text, "--text", corpus.text}, "text.txt");
  says({"--tokenizer", corpus.tokenizer, "--text", bytes}, "UTF-8");
  says({"--tokenizer", corpus.tokenizer, "--text", empty}, "at least one of 1 to 120 tokens");
  says({"--tokenizer", corpus.tokenizer, "--text", corpus.text + ":-1"}, "a weight above 0");
  const std::string huge = corpus.folder.with("huge.txt", "");
  fixture::fs::resize_file(huge, std::uintmax_t{10} << 30);  // a hole: no byte of it is on the disk
  says({"--tokenizer", corpus.tokenizer, "--text", huge}, "huge.txt");
  says({"--tokenizer", corpus.tokenizer, "--text", corpus.text, "--teach", huge, "--teach-head", "0.0=obj"},
       "huge.txt");
  says({"--tokenizer", corpus.tokenizer, "--text", corpus.text, "--score", huge}, "huge.txt");
  says({"--text", corpus.text, "--score", corpus.treebank}, "a --tokenizer");
  says({"--tokenizer", corpus.tokenizer, "--text", "missing.txt"}, "missing.txt");
  says({"--tokenizer", corpus.tokenizer, "--text", corpus.text, "--teach", cycle, "--teach-head", "0.0=obj"},
       "a cycle");
  says({"--tokenizer", corpus.tokenizer, "--text", corpus.text, "--teach", corpus.treebank, "--teach-head", "0.0=obj"},
       "at least one that a head is taught");
  says({"--tokenizer", corpus.tokenizer, "--text", corpus.text, "--teach", corpus.treebank, "--teach-head", "7.0=det"},
       "a head of 1 layers of 2");
  says({"--tokenizer", corpus.tokenizer, "--text", corpus.text, "--teach", corpus.treebank}, "--teach-head for each");
  says({"--tokenizer", corpus.tokenizer, "--text", corpus.text, "--teach-head", "0.0=det"}, "--teach FILE");
  says({"--tokenizer", corpus.tokenizer, "--text", corpus.text, "--arch", "decoder", "--teach", corpus.treebank,
        "--teach-head", "0.0=det"},
       "an encoder, and a treebank");
}

}  // namespace
}  // namespace headlight::program
