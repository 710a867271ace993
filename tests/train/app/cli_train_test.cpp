// `headlight train` and `headlight heads`: a model made, asked and measured.
#include <algorithm>
#include <sstream>

#include "train/app/train_program.h"
#include "train/grammars.h"

namespace headlight::program {
namespace {

TEST(CliTrain, MakesAModelOfTheGrammarThatIsAskedAndMeasured) {
  const Folder folder;
  const auto model = folder / "model";
  const Ran ran = run(train({"--steps", "30", "--seed", "3", "--threads", "2"}, model));
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(contains(ran.err, "step 30 of 30")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "done")) << ran.err;
  std::vector<std::string> files;
  for (const auto& entry : fixture::fs::directory_iterator(model)) files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (Strings{"README.md", "config.json", "model.safetensors", "tokenizer.json", "training.json"}))
      << "and nothing to go on from: it is done";
  const json card = read_json(model / "training.json");
  EXPECT_EQ(card["step"], 30);
  EXPECT_EQ(card["corpus"], "grammar");
  EXPECT_EQ(card["scores"]["relations"].size(), 9u);
  EXPECT_GT(card["tokens"], 30 * 8 * 4);
  EXPECT_TRUE(contains(card["command"], "--seed 3 -o DIR"));

  const json object = exported({model.string(), "--text", "我请李雷帮我订了去北京的机票"});
  EXPECT_EQ(texts(object["tokens"]), (Strings{"我", "请", "李雷", "帮", "我", "订了", "去", "北京", "的", "机票"}));
  EXPECT_EQ(object["model"]["d_model"], 16);
  EXPECT_EQ(object["model"]["num_heads"], 2);
  EXPECT_EQ(object["attention"][0]["attn"].size(), 1u);
  for (const json& token : object["tokens"]) EXPECT_TRUE(token["known"]) << token;

  const Strings ask{"heads", model.string(), "--relations", "--sentences", "60", "--pairs", "10", "--format", "json"};
  const Ran measured = run(ask);
  ASSERT_EQ(measured.status, 0) << measured.err;
  const json report = json::parse(measured.out, nullptr, false);
  ASSERT_TRUE(report.is_object()) << measured.out;
  EXPECT_EQ(report["test_seed"], 2);
  EXPECT_EQ(report["pairs"]["count"], 10);
  EXPECT_TRUE(report["pairs"]["both_right"].is_number());
  Strings relations;
  for (const json& row : report["relations"]) {
    relations.push_back(row["relation"]);
    EXPECT_EQ(row["layer"], 0);
    EXPECT_LT(row["head"], 2);
    EXPECT_TRUE(row["direction"] == "query→key" || row["direction"] == "key→query") << row;
    EXPECT_FALSE(row["supervised"]);
    EXPECT_TRUE(row["label"].is_string());
    EXPECT_NE(row["opposite"]["direction"], row["direction"]);
    EXPECT_TRUE(row["opposite"]["accuracy"].is_number());
    EXPECT_LE(row["sentences"], 180);
    EXPECT_GT(row["sentences"], 0);
    for (const char* field : {"accuracy", "weight", "hard", "random", "offset", "family_offset"}) {
      ASSERT_TRUE(row[field].is_number()) << field;
      EXPECT_GE(row[field], 0.0) << field;
      EXPECT_LE(row[field], 1.0) << field;
    }
  }
  EXPECT_EQ(relations, (Strings{"CO", "DP", "IT", "MN", "PA", "SP", "ST", "TA", "VO"}));
  Strings other = ask, threads = ask;
  other.insert(other.end(), {"--test-seed", "5"});
  threads.insert(threads.end(), {"--threads", "3"});
  const json drawn = json::parse(run(other).out, nullptr, false);
  EXPECT_EQ(drawn["test_seed"], 5);
  EXPECT_NE(drawn["relations"], report["relations"]);
  EXPECT_EQ(run(threads).out, measured.out);

  const Ran text = run({"heads", model.string(), "--relations", "--sentences", "60", "--pairs", "10"});
  EXPECT_EQ(text.status, 0);
  EXPECT_TRUE(contains(text.out, "relation  ")) << text.out;
  EXPECT_TRUE(contains(text.out, "verb → its object") || contains(text.out, "object → its verb")) << text.out;
  for (const char* code : {"VO", "SP", "DP", "CO", "IT"})
    EXPECT_FALSE(contains(text.out, code)) << "a reader cannot know what " << code << " means";
  EXPECT_TRUE(contains(text.out, "minimal pairs with both sentences right:")) << text.out;
}

TEST(CliTrain, MakesAModelThatTranslatesAndSaysWhereWordsComeFrom) {
  const Folder folder;
  const auto model = folder / "model";
  const std::string grammar = folder.with("toy.json", grammars::translated_toy().dump());
  const Ran ran = run(train({"--grammar", grammar, "--arch", "encoder-decoder", "--encoder-layers", "2", "--steps",
                             "20", "--hide", "0.05", "--threads", "2"},
                            model));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json config = read_json(model / "config.json"), card = read_json(model / "training.json");
  EXPECT_EQ(config["arch"], "encoder-decoder");
  EXPECT_EQ(config["encoder_layers"], 2);
  EXPECT_EQ(config["num_hidden_layers"], 1);
  EXPECT_EQ(card["plan"]["task"], "translation");
  EXPECT_TRUE(contains(card["command"], "--encoder-layers 2")) << card["command"];
  EXPECT_TRUE(contains(card["command"], "--hide 0.05 --swap 0.3")) << card["command"];
  EXPECT_EQ(card["scores"]["alignment"]["heads"].size(), 2u);

  const json object = exported({model.string(), "--text", "naa reads bookaa", "--target", "an opentomeaa Naa"});
  EXPECT_EQ(texts(object["target_tokens"]), (Strings{"<s>", "an", "opentomeaa", "Naa"}));
  EXPECT_EQ(texts(object["tokens"]), (Strings{"naa", "reads", "bookaa"}));
  for (const char* side : {"tokens", "target_tokens"})
    for (const json& token : object[side]) EXPECT_TRUE(token["known"]) << token;

  const Strings ask{"heads",       model.string(), "--relations", "--grammar", grammar,
                    "--sentences", "40",           "--format",    "json"};
  const Ran measured = run(ask);
  ASSERT_EQ(measured.status, 0) << measured.err;
  const json report = json::parse(measured.out, nullptr, false);
  ASSERT_EQ(report["relations"].size(), 2u) << measured.out;
  for (const json& row : report["relations"]) {
    EXPECT_EQ(row["stack"], "Cross");
    EXPECT_TRUE(row["relation"] == "OWN" || row["relation"] == "NEXT") << row;
    EXPECT_EQ(row["sentences"], 40);
  }
  EXPECT_GE(report["next_word"]["perplexity"], 1.0);
  EXPECT_GT(report["alignment"]["words"], 100);
  Strings other = ask;
  other.insert(other.end(), {"--test-seed", "5"});
  EXPECT_NE(json::parse(run(other).out, nullptr, false)["alignment"], report["alignment"]);
  const Ran text = run({"heads", model.string(), "--relations", "--grammar", grammar, "--sentences", "40"});
  EXPECT_TRUE(contains(text.out, "next word: right")) << text.out;
  EXPECT_TRUE(contains(text.out, "a diagonal: ")) << text.out;

  // An empty target: it writes from its start token on, to the end token or to `--count` words.
  const Ran said = run({"generate", model.string(), "--text", "naa reads bookaa", "--target", "", "--count", "3"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(contains(said.out, "1\t")) << said.out;
}

TEST(CliGenerate, StopsWhereTheModelSaysThatItsTextEnds) {
  const Strings ask{"generate", "shipped:translator", "--target", "", "--count", "30"};
  const Ran said = run(ask);
  ASSERT_EQ(said.status, 0) << said.err;
  Strings words;
  std::istringstream lines(said.out);
  for (std::string line; std::getline(lines, line);)
    words.push_back(line.substr(line.find('\t') + 1, line.rfind('\t') - line.find('\t') - 1));
  EXPECT_EQ(words, (Strings{"I", "asked", "Li", "Lei", "to", "book", "me", "a", "ticket", "to", "Beijing", "</s>"}));
  Strings as_json = ask;
  as_json.insert(as_json.end(), {"--format", "json"});
  const json object = json::parse(run(as_json).out, nullptr, false);
  EXPECT_EQ(object["steps"].size(), 12u);
  EXPECT_EQ(object["tokens"].size(), 12u) << "<s> and the words, without the end";
}

TEST(CliTrain, ReadsATextOfOnesOwn) {
  const Folder folder;
  const std::string text = folder.with("my.txt", kTrainingText);
  const Ran ran = run(train({"--text", text, "--steps", "20", "--words", "5", "--arch", "decoder", "--half", "--norm",
                             "post", "--position", "learned", "--untied", "--name", "cats", "--decay", "0.123"},
                            folder / "model"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json config = read_json(folder / "model" / "config.json");
  EXPECT_EQ(config["vocab_size"], 9) << "five words and the special ones";
  EXPECT_EQ(config["arch"], "decoder");
  EXPECT_EQ(config["tie_word_embeddings"], false);
  EXPECT_TRUE(contains(*read_file(folder / "model" / "README.md"), "# cats\n"));
  const json card = read_json(folder / "model" / "training.json");
  EXPECT_EQ(card["corpus"], text);
  EXPECT_FALSE(card.contains("scores")) << "no relations are known of it";
  EXPECT_EQ(card["plan"]["task"], "causal");
  const json object = exported({(folder / "model").string(), "--text", "the cat sat on"});
  EXPECT_EQ(texts(object["tokens"]), (Strings{"<s>", "the", "cat", "sat", "on"}));
  EXPECT_TRUE(contains(ran.err, "done"));

  // The command in the card makes it again.
  const std::string command = card["command"];
  EXPECT_EQ(command,
            "headlight train --text " + text +
                " --words 5 --name cats --arch decoder --d-model 16 "
                "--num-heads 2 --layers 1 --ffn 16 --norm post --activation gelu --position learned --untied "
                "--steps 20 --batch 8 --learning-rate 0.002 --warmup 500 --decay 0.123 --seed 0 --half -o DIR");
  Strings again;
  std::istringstream words(command.substr(std::string("headlight ").size()));
  for (std::string word; words >> word;) again.push_back(word == "DIR" ? (folder / "again").string() : word);
  ASSERT_EQ(run(again).status, 0);
  EXPECT_EQ(*read_file(folder / "again" / "model.safetensors"), *read_file(folder / "model" / "model.safetensors"));

  // White space is no word, wherever it stands.
  const std::string spaced = folder.with("spaced.txt", "the cat  \n  \n\tthe dog \n\xE3\x80\x80 \n\"the\" cat\t\n");
  ASSERT_EQ(run(train({"--text", spaced, "--steps", "2"}, folder / "spaced")).status, 0);
  const json tokenizer = read_json(folder / "spaced" / "tokenizer.json");
  Strings known;
  for (const auto& [word, row] : tokenizer["model"]["vocab"].items()) known.push_back(word);
  EXPECT_EQ(known, (Strings{"\"", "<mask>", "<pad>", "<s>", "<unk>", "cat", "dog", "the"}));

  // The same from standard input.
  const Ran piped = run(train({"--text", "-", "--steps", "20"}, folder / "other"), kTrainingText);
  ASSERT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(read_json(folder / "other" / "training.json")["corpus"], "standard input");
  EXPECT_TRUE(
      contains(refused({"heads", (folder / "other").string(), "--relations", "--grammar", folder.with("g.json", "{}")}),
               "g.json: relations: expected an object, found nothing"));
}

TEST(CliTrain, NoOptionTakesWhatIsNoNumber) {
  const Folder folder;
  for (const char* option :
       {"--dropout", "--hide", "--swap", "--keep", "--family", "--restore", "--clip", "--decay", "--learning-rate",
        "--label-smoothing", "--save-every", "--teach-share", "--teach-weight"}) {
    for (const char* number : {"nan", "-nan", "inf"}) {
      const std::string line = refused({"train", option, number, "--steps", "2", "-o", (folder / "model").string()});
      EXPECT_TRUE(contains(line, option) && contains(line, "expected")) << line;
    }
  }
  EXPECT_FALSE(fixture::fs::exists(folder / "model"));
}

TEST(CliTrain, RefusesWrongUseAndWritesNothing) {
  const Folder folder;
  const auto model = folder / "model";
  const std::string text = folder.with("my.txt", kTrainingText), nothing = folder.with("empty.txt", "\n\n"),
                    broken = folder.with("broken.json", "{\"relations\": 1}"),
                    bytes = folder.with("latin.txt", "caf\xe9\n");
  const auto says = [&](Strings words, const std::string& part) {
    for (const char* word : {"-o", model.c_str()}) words.push_back(word);
    words.insert(words.begin(), "train");
    const std::string line = refused(words);
    EXPECT_TRUE(contains(line, part)) << line << "expected: " << part;
    EXPECT_FALSE(fixture::fs::exists(model)) << words[1];
  };
  EXPECT_TRUE(contains(refused({"train", "--steps", "3"}), "--output is required"));
  says({"--arch", "both"}, "--arch: expected encoder, decoder, encoder-decoder, found 'both'");
  says({"--arch", "encoder-decoder", "--text", text},
       "corpus: expected a grammar with English sentences, which an encoder-decoder learns to say, found ");
  says({"--arch", "decoder", "--encoder-layers", "2"},
       "--encoder-layers: expected --arch encoder-decoder, found --arch decoder");
  says({"--norm", "none"}, "--norm: expected post, pre, found 'none'");
  says({"--activation", "silu"}, "--activation: expected relu, gelu, found 'silu'");
  says({"--position", "rotary"}, "--position: expected none, sinusoidal, learned, found 'rotary'");
  says({"--d-model", "10", "--num-heads", "3"}, "expected");
  says({"--hide", "0.9", "--swap", "0.2"}, "hide, swap, keep: expected at most 1 together, found more");
  says({"--hide", "0", "--swap", "0", "--keep", "0"}, "hide, swap, keep: expected one above 0, found none");
  says({"--hide", "2"}, "--hide");
  says({"--steps", "0"}, "--steps");
  says({"--seed", "9007199254740993"}, "--seed");
  says({"--text", (folder / "none.txt").string()}, "none.txt: open: expected a readable file");
  says({"--text", nothing}, "empty.txt: ");
  says({"--text", bytes}, "latin.txt: ");
  says({"--grammar", broken}, "broken.json: relations: expected an object, found 1");
  says({"--text", text, "--resume"}, "resume.safetensors");
  EXPECT_TRUE(contains(refused({"train", "--text", text, "--steps", "3", "-o", text}), "my.txt"));
  EXPECT_EQ(*read_file(text), kTrainingText);
}

TEST(CliHeads, SaysWhatItNeeds) {
  EXPECT_TRUE(contains(refused({"heads", "--random", "--relations"}),
                       "heads --relations: SOURCE: expected a trained model with a vocabulary, found fresh weights"));
  EXPECT_TRUE(contains(refused({"heads", "--random", "--relations", "--test-seed", "4", "--validation-seed", "4"}),
                       "--test-seed: expected another seed than that of the validation sentences, found 4"));
  EXPECT_TRUE(contains(refused({"heads", fixture::golden("bert").string(), "--relations"}), "relations: "));
}

}  // namespace
}  // namespace headlight::program
