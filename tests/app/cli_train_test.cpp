// `headlight train` and `headlight heads`: a model made, asked, interrupted and measured.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "app/program.h"
#include "core/grammars.h"
#include "core/own_tokenizer.h"

namespace headlight::program {
namespace {

const char* const kText = "the cat sat on the mat\nthe dog sat on the rug\na cat saw a dog\nthe dog saw the cat\n";

Strings train(Strings words, const fixture::fs::path& folder) {
  words.insert(words.begin(), "train");
  for (const char* word : {"--d-model", "16", "--num-heads", "2", "--layers", "1", "--ffn", "16", "--batch", "8", "-o"})
    words.push_back(word);
  words.push_back(folder.string());
  return words;
}

json read_json(const fixture::fs::path& path) {
  const auto text = read_file(path);
  return text ? json::parse(*text, nullptr, false) : json();
}

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
  EXPECT_EQ(card["scores"]["relations"].size(), 5u);
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
    EXPECT_LE(row["sentences"], 180);
    EXPECT_GT(row["sentences"], 0);
    for (const char* field : {"accuracy", "weight", "hard", "random", "offset", "family_offset"}) {
      ASSERT_TRUE(row[field].is_number()) << field;
      EXPECT_GE(row[field], 0.0) << field;
      EXPECT_LE(row[field], 1.0) << field;
    }
  }
  EXPECT_EQ(relations, (Strings{"CO", "DP", "IT", "SP", "VO"}));
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

  // Nothing said yet: it writes from its start token on, to the end that it says or as far as it was asked.
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
  const std::string text = folder.with("my.txt", kText);
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

  // Its own command makes it again.
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
  const Ran piped = run(train({"--text", "-", "--steps", "20"}, folder / "other"), kText);
  ASSERT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(read_json(folder / "other" / "training.json")["corpus"], "standard input");
  EXPECT_TRUE(
      contains(refused({"heads", (folder / "other").string(), "--relations", "--grammar", folder.with("g.json", "{}")}),
               "g.json: relations: expected an object, found nothing"));
}

/// Starts the program, interrupts it once it has taken steps, and gives its exit status.
int interrupted_run(const Strings& words, const fixture::fs::path& model, Index step_before) {
  const pid_t process = start(words, "/dev/null", "/dev/null", "/dev/null");
  for (int tries = 0; tries < 3000; ++tries) {
    const json card = read_json(model / "training.json");
    if (card.is_object() && card["step"] > step_before) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(process, SIGINT);
  return status_of(process);
}

TEST(CliTrain, GoesOnWhereItWasInterruptedToTheSameBits) {
  const Folder folder;
  const std::string text = folder.with("my.txt", kText);
  const Strings options{"--text", text, "--steps", "6000", "--save-every", "0.1", "--threads", "1"};
  ASSERT_EQ(interrupted_run(train(options, folder / "model"), folder / "model", 0), 0);
  const Index step = read_json(folder / "model" / "training.json")["step"];
  ASSERT_LT(step, 6000) << "interrupted before its end";
  ASSERT_TRUE(fixture::fs::exists(folder / "model" / "resume.safetensors"));
  exported({(folder / "model").string(), "--text", "the cat"});

  Strings resume = options, other = options;
  resume.push_back("--resume");
  other.insert(other.end(), {"--resume", "--seed", "9"});
  EXPECT_TRUE(contains(refused(train(other, folder / "model")), "plan: expected the options and the corpus"));
  const Ran ran = run(train(resume, folder / "model"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Ran whole = run(train(options, folder / "whole"));
  ASSERT_EQ(whole.status, 0) << whole.err;
  EXPECT_EQ(*read_file(folder / "model" / "model.safetensors"), *read_file(folder / "whole" / "model.safetensors"));
  const json resumed_card = read_json(folder / "model" / "training.json");
  EXPECT_EQ(resumed_card, read_json(folder / "whole" / "training.json")) << "and read as many words";
  EXPECT_FALSE(fixture::fs::exists(folder / "model" / "resume.safetensors"));
}

TEST(CliTrain, KilledAtAnyMomentItGoesOnToTheSameBytes) {
  const Folder folder;
  const std::string text = folder.with("my.txt", kText);
  const Strings options{"--text", text, "--steps", "12000", "--save-every", "0.1", "--threads", "1"};
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_EQ(run(train(options, folder / "whole")).status, 0);
  const auto whole = std::chrono::steady_clock::now() - begun;
  const auto model = folder / "model";
  const Strings fresh = train(options, model);
  Strings words = fresh;
  const auto may_go_on = [&] { return fixture::fs::exists(model / "resume.safetensors"); };
  for (int kills = 0; kills < 4; ++kills) {
    const pid_t process = start(words, "/dev/null", "/dev/null", "/dev/null");
    std::this_thread::sleep_for(whole * (kills + 2) / 20);
    kill(process, SIGKILL);
    status_of(process);
    words = fresh;
    if (may_go_on()) words.push_back("--resume");
  }
  if (may_go_on()) {
    // As a kill between the card and the state leaves it: the card is ahead.
    json card = read_json(model / "training.json");
    card["tokens"] = card["tokens"].get<double>() + 1000;
    ASSERT_TRUE(write_file(model / "training.json", card.dump()));
  }
  const Ran ran = run(words);
  ASSERT_EQ(ran.status, 0) << ran.err;
  Strings files;
  for (const auto& entry : fixture::fs::directory_iterator(model)) files.push_back(entry.path().filename());
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (Strings{"README.md", "config.json", "model.safetensors", "tokenizer.json", "training.json"}));
  for (const std::string& file : files)
    EXPECT_TRUE(*read_file(model / file) == *read_file(folder / "whole" / file)) << file;
}

TEST(CliTrain, OverwritesNothingThatIsNotItsOwn) {
  const Folder folder;
  const std::string text = folder.with("my.txt", kText);
  const auto model = folder / "model";
  fixture::fs::create_directory(model);
  ASSERT_TRUE(write_file(model / "README.md", "mine"));
  ASSERT_TRUE(write_file(model / "notes.txt", "mine too"));
  const Strings options{"--text", text, "--steps", "2"};
  EXPECT_TRUE(
      contains(refused(train(options, model)), "expected an empty folder, --resume or --overwrite, found README.md"));
  EXPECT_EQ(*read_file(model / "README.md"), "mine");
  EXPECT_FALSE(fixture::fs::exists(model / "config.json"));
  EXPECT_FALSE(fixture::fs::exists(model / "training.lock"));

  Strings over = options;
  over.push_back("--overwrite");
  ASSERT_EQ(run(train(over, model)).status, 0);
  EXPECT_NE(*read_file(model / "README.md"), "mine");
  EXPECT_EQ(*read_file(model / "notes.txt"), "mine too");
  EXPECT_EQ(run(train(options, model)).status, 0) << "the very same training, again";

  const std::string before = *read_file(model / "model.safetensors");
  Strings other = options;
  other.insert(other.end(), {"--seed", "9"});
  EXPECT_TRUE(contains(refused(train(other, model)), "found training.json of another training"));
  EXPECT_TRUE(*read_file(model / "model.safetensors") == before);
}

TEST(CliTrain, TwoDoNotShareAFolder) {
  const Folder folder;
  const std::string text = folder.with("my.txt", kText);
  const auto model = folder / "model";
  const Strings options{"--text", text, "--steps", "1000000"};
  const pid_t first = start(train(options, model), "/dev/null", "/dev/null", "/dev/null");
  for (int tries = 0; tries < 3000 && !fixture::fs::exists(model / "resume.safetensors"); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (const char* option : {"--resume", "--overwrite"}) {
    Strings words = options;
    words.push_back(option);
    EXPECT_TRUE(contains(refused(train(words, model)), "expected a folder that nothing is trained in")) << option;
  }
  kill(first, SIGINT);
  EXPECT_EQ(status_of(first), 0);
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
  const std::string text = folder.with("my.txt", kText), nothing = folder.with("empty.txt", "\n\n"),
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
  EXPECT_EQ(*read_file(text), kText);
}

TEST(CliHeads, SaysWhatItNeeds) {
  EXPECT_TRUE(contains(refused({"heads", "--random", "--relations"}),
                       "heads --relations: SOURCE: expected a trained model with a vocabulary, found fresh weights"));
  EXPECT_TRUE(contains(refused({"heads", "--random", "--relations", "--test-seed", "4", "--validation-seed", "4"}),
                       "--test-seed: expected another seed than that of the validation sentences, found 4"));
  EXPECT_TRUE(contains(refused({"heads", fixture::golden("bert").string(), "--relations"}), "relations: "));
}

/// A folder with a tokenizer of one's own, a text and a treebank.
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
               {"--score", held_out, "--text-credit", "my diary: CC0", "--teach-credit", "my bank: CC BY"});
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
