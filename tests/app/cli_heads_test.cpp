// `headlight heads`: the measures of every head, sorted, searched and in three formats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "app/program.h"
#include "base/file.h"
#include "base/utf8.h"
#include "read/array/safetensors.h"

namespace headlight {
namespace {

using namespace program;

json measured(Strings words, const std::string& in = "") {
  words.insert(words.begin(), "heads");
  words.insert(words.end(), {"--format", "json"});
  const Ran ran = run(words, in);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json object = json::parse(ran.out, nullptr, false);
  EXPECT_TRUE(object.is_object() && object.contains("heads")) << ran.out.substr(0, 200);
  return object;
}

/// Two heads over a|b|a: one looks at the token before, one at the first.
std::string patterns_file(const fixture::Folder& folder) {
  return folder.with("patterns.json", R"({"attention": [{"name": "Self", "left_text": ["a", "b", "a"],
    "right_text": ["a", "b", "a"], "attn": [[[[1, 0, 0], [1, 0, 0], [0, 1, 0]], [[1, 0, 0], [1, 0, 0], [1, 0,
                     0]]]]}]})");
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

TEST(CliHeads, MeasuresGivenPatterns) {
  const fixture::Folder folder;
  const json heads = measured({patterns_file(folder)})["heads"];
  ASSERT_EQ(heads.size(), 2u);
  EXPECT_EQ(heads[0]["stack"], "Self");
  EXPECT_EQ(heads[1]["head"], 1);
  EXPECT_EQ(heads[0]["previous"], 1.0);
  EXPECT_EQ(heads[1]["previous"], 0.5);
  EXPECT_EQ(heads[1]["first"], 1.0);
  EXPECT_EQ(heads[0]["entropy"], 0.0);
  EXPECT_EQ(heads[0]["duplicate"], 0.0);
  EXPECT_EQ(heads[0]["induction"], 1.0);
  EXPECT_EQ(heads[1]["duplicate"], 1.0);
  EXPECT_FALSE(heads[0].contains("special")) << "what there is not is not written";
  EXPECT_FALSE(heads[0].contains("effect"));
}

/// The maps of an export against those of another, by the definition: half of the sum of |a − b| a row, and whether the
/// strongest key is another; means over the rows.
std::pair<double, double> moved_rows_of(const json& a, const json& b) {
  double distance = 0, changed = 0;
  for (std::size_t row = 0; row < a.size(); ++row) {
    const auto one = a[row].get<std::vector<double>>(), other = b[row].get<std::vector<double>>();
    for (std::size_t key = 0; key < one.size(); ++key) distance += std::abs(one[key] - other[key]) / 2;
    changed += std::max_element(one.begin(), one.end()) - one.begin() !=
               std::max_element(other.begin(), other.end()) - other.begin();
  }
  return {distance / static_cast<double>(a.size()), changed / static_cast<double>(a.size())};
}

TEST(CliHeads, AgainstAnotherModelTellHowFarTheirRowsMoved) {
  const fixture::Folder folder;
  const std::string own = fixture::golden("gpt2").string(), other = (folder / "other").string();
  fixture::fs::copy(own, other);
  json config = json::parse(*read_file(own + "/config.json"));
  config["layer_norm_epsilon"] = 0.5;
  folder.with("other/config.json", config.dump());
  const Strings ids{"--ids", "5,9,3,44,9,12,7"};
  for (const json& row : measured({own, ids[0], ids[1], "--against", own})["heads"]) {
    EXPECT_EQ(row["moved"], 0.0);
    EXPECT_EQ(row["key_changed"], 0.0);
  }
  const auto maps = [&](const std::string& source) {
    return json::parse(run({"export", source, ids[0], ids[1]}).out)["attention"][0]["attn"];
  };
  const json a = maps(own), b = maps(other);
  const json heads = measured({own, ids[0], ids[1], "--against", other, "--sort", "moved"})["heads"];
  double before = 1;
  for (const json& row : heads) {
    const std::size_t layer = row["layer"], head = row["head"];
    const auto [distance, changed] = moved_rows_of(a[layer][head], b[layer][head]);
    EXPECT_NEAR(row["moved"].get<double>(), distance, 1e-6);
    EXPECT_NEAR(row["key_changed"].get<double>(), changed, 1e-6);
    EXPECT_LE(row["moved"].get<double>(), before);
    before = row["moved"];
  }
  EXPECT_GT(heads[0]["moved"], 0.0);
  EXPECT_TRUE(contains(run({"heads", own, ids[0], ids[1], "--against", other}).out, "moved: the total variation"));
  EXPECT_TRUE(contains(refused({"heads", own, ids[0], ids[1], "--sort", "moved"}), "--sort moved: expected --against"));
  EXPECT_TRUE(contains(refused({"heads", own, ids[0], ids[1], "--against", fixture::golden("llama-gqa").string()}),
                       "--against: expected a model of 2 layers of 3 heads"));
}

TEST(CliHeads, ATableForPeopleNamesTheStackOfAHead) {
  const Ran ran = run({"heads", "shipped:translator", "--text", "小猫请李雷订了去北京的机票"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  for (const char* label : {"encoder L0·H0 ", "\nL0·H0 ", "cross L0·H0 "})
    EXPECT_TRUE(contains(ran.out, label)) << label;
}

TEST(CliHeads, PrintsATableForPeople) {
  const fixture::Folder folder;
  const Ran ran = run({"heads", patterns_file(folder), "--sort", "first"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto table = lines(ran.out);
  ASSERT_EQ(table.size(), 3u) << ran.out;
  EXPECT_TRUE(table[0].starts_with("head   entropy")) << table[0];
  EXPECT_FALSE(contains(table[0], "special"));
  EXPECT_TRUE(table[1].starts_with("L0·H1 "));
  EXPECT_TRUE(table[2].starts_with("L0·H0 "));
  EXPECT_TRUE(table[0].ends_with("  name")) << table[0];
  EXPECT_TRUE(table[1].ends_with("  first word")) << table[1];
  EXPECT_TRUE(table[2].ends_with("  previous word")) << table[2];
  const std::size_t names = code_points(table[0]).size() - 4;
  EXPECT_EQ(code_points(table[1]).size() - 10, names) << "columns are aligned";
  EXPECT_EQ(code_points(table[2]).size() - 13, names);
  const Ran turned = run({"heads", patterns_file(folder), "--sort", "first", "--ascending"});
  EXPECT_TRUE(lines(turned.out)[1].starts_with("L0·H0 "));
}

TEST(CliHeads, SortsByAnyMeasureAndCsvHasTheSameNumbers) {
  const json object = measured(small({"--text", kSentence, "--sort", "entropy", "--ascending"}));
  double before = 0;
  for (const json& head : object["heads"]) {
    EXPECT_GE(head["entropy"].get<double>(), before);
    before = head["entropy"];
    EXPECT_LE(head["normalized"].get<double>(), 1);
  }
  Strings words = small({"heads", "--text", kSentence, "--sort", "entropy", "--ascending", "--format", "csv"});
  const auto table = lines(run(words).out);
  ASSERT_EQ(table.size(), 3u);
  EXPECT_TRUE(
      table[0].starts_with("stack,layer,head,entropy,normalized,distance,confidence,previous,next,same,first,"
                           "special,duplicate,induction,largest,sink,effect,top_word,found,learned"));
  const json& first = object["heads"][0];
  const std::string start = "Self,0," + std::to_string(first["head"].get<int>()) + ",";
  ASSERT_TRUE(table[1].starts_with(start)) << table[1];
  EXPECT_EQ(std::stof(table[1].substr(start.size())), first["entropy"].get<float>());
}

TEST(CliHeads, SaysWhatIsLostWithoutEachHead) {
  const json hidden = measured(small({"--text", kSentence, "--effect", "--sort", "effect"}));
  EXPECT_EQ(hidden["effect_on"], "last_hidden_state");
  EXPECT_GE(hidden["heads"][0]["effect"].get<double>(), hidden["heads"][1]["effect"].get<double>());
  EXPECT_GT(hidden["heads"][1]["effect"].get<double>(), 0);
  EXPECT_FALSE(hidden["heads"][0].contains("top_word"));
  const json off = measured(small({"--text", kSentence, "--effect", "--off", "0.1"}));
  EXPECT_EQ(off["heads"][1]["effect"], 0.0);
  EXPECT_GT(off["heads"][0]["effect"].get<double>(), 0);

  // The same as `next` reports with and without the head.
  const json words = measured({"--arch", "decoder", "--text", "我请李雷帮", "--effect", "--layers", "1"});
  EXPECT_EQ(words["effect_on"], "words");
  const Ran next = run({"next", "--arch", "decoder", "--text", "我请李雷帮", "--layers", "1", "--off", "0.2", "--top",
                        "100000", "--format", "json"});
  EXPECT_EQ(next.status, 0) << next.err;
  double divergence = 0, most = 0, change = 0;
  const json answer = json::parse(next.out);
  for (const json& row : answer["next_token"]) {
    const double before = row["before"], after = row["probability"];
    divergence += before * std::log(before / after);
    if (before > most) most = before, change = after - before;
  }
  EXPECT_NEAR(words["heads"][2]["effect"].get<double>(), divergence, 1e-6);
  EXPECT_NEAR(words["heads"][2]["top_word"].get<double>(), change, 1e-7);

  const fixture::Folder folder;
  EXPECT_TRUE(contains(refused({"heads", patterns_file(folder), "--effect"}),
                       "effect: expected a model, in which heads can be switched off, found attention alone"));
}

TEST(CliHeads, AHeadRestsInABatchWhereItDoesInEverySentence) {
  const std::string resting = "The trophy does not fit in the suitcase because it is too big.";
  const std::string other = "I don't know who called him yesterday.";
  const auto names = [](const std::string& text) {
    std::vector<std::string> all;
    for (const json& head : measured({"shipped:any-sentence", "--text", text})["heads"]) all.push_back(head["name"]);
    return all;
  };
  EXPECT_EQ(names(resting + "\n" + other), names(other + "\n" + resting));
}

TEST(CliHeads, EffectsOnWordsAndOnHiddenStatesAreNotAveraged) {
  const std::string text = "The teacher gave <mask> students a test.\nI do not know who called him.";
  EXPECT_TRUE(contains(refused({"heads", "shipped:any-sentence", "--text", text, "--effect"}),
                       "--effect: sentence 1: expected a masked word in all sentences or in none, found some of both"));
}

TEST(CliHeads, FindsHeadsByTheWordsTheyLookFromAndAt) {
  const fixture::Folder folder;
  const std::string file = patterns_file(folder);
  const json found = measured({file, "--from", "b", "--to", "a", "--above", "0.9"});
  ASSERT_EQ(found["heads"].size(), 2u);
  EXPECT_EQ(found["heads"][0]["found"], 1.0);
  EXPECT_EQ(found["heads"][0]["cell"], (json{{"sentence", 0}, {"query", 1}, {"key", 0}}));
  EXPECT_EQ(found["find"]["from"], "b");
  const json one = measured({file, "--from", "a", "--to", "b"});
  ASSERT_EQ(one["heads"].size(), 1u);
  EXPECT_EQ(one["heads"][0]["head"], 0);
  const Ran text = run({"heads", file, "--from", "b", "--to", "b"});
  EXPECT_EQ(text.out, "0 of 2 heads look from b at b with more than 0.3\n");
  EXPECT_TRUE(run({"heads", file, "--from", "a", "--to", "b"})
                  .out.ends_with("1 of 2 heads looks from a at b with more than 0.3\n"));
  const Ran most = run({"heads", file, "--from", "b", "--above", "0.9999"});
  EXPECT_TRUE(most.out.ends_with("2 of 2 heads look from b at any word with more than 0.9999\n")) << most.out;
  EXPECT_EQ(measured({file, "--to", "b", "--sort", "found"})["heads"].size(), 1u);
  EXPECT_TRUE(contains(refused({"heads", file, "--from", "x"}), "--from: expected a word of the text, found 'x'"));
  EXPECT_TRUE(contains(refused({"heads", file, "--to", "y"}), "--to: expected a word of the text, found 'y'"));
}

TEST(CliHeads, SeveralSentencesMakeOneTable) {
  const json both = measured(small({"--text", "a b c\nb c d e f"}));
  EXPECT_EQ(both["sentences"], 2);
  ASSERT_EQ(both["heads"].size(), 2u);
  const json first = measured(small({"--text", "a b c"})), second = measured(small({"--text", "b c d e f"}));
  for (std::size_t head = 0; head < 2; ++head)
    EXPECT_NEAR(
        both["heads"][head]["confidence"].get<double>(),
        (3 * first["heads"][head]["confidence"].get<double>() + 5 * second["heads"][head]["confidence"].get<double>()) /
            8,
        1e-6)
        << "padding is left out";
}

TEST(CliHeads, OfSeveralSentencesAnEffectIsTheMeanAndACellTheStrongest) {
  const auto heads = [](const char* text) {
    return measured(small({"--text", text, "--effect", "--from", "b", "--to", "c", "--above", "0"}))["heads"];
  };
  const json both = heads("a b c\nb c a e f"), first = heads("a b c"), second = heads("b c a e f");
  ASSERT_EQ(both.size(), 2u);
  for (std::size_t head = 0; head < 2; ++head) {
    const auto number = [head](const json& of, const char* name) { return of[head][name].get<double>(); };
    EXPECT_NEAR(number(both, "effect"), (number(first, "effect") + number(second, "effect")) / 2, 1e-6);
    const bool later = number(second, "found") > number(first, "found");
    EXPECT_NEAR(number(both, "found"), std::max(number(first, "found"), number(second, "found")), 1e-6);
    EXPECT_EQ(both[head]["cell"],
              (json{{"sentence", later ? 1 : 0}, {"query", later ? 0 : 1}, {"key", later ? 1 : 2}}));
  }
}

TEST(CliHeads, TheTrainedModelsLearnedRelationsStandBeside) {
  const json heads = measured({"--text", kSentence, "--sort", "learned"})["heads"];
  ASSERT_EQ(heads.size(), 16u);
  ASSERT_TRUE(heads[0].contains("learned"));
  EXPECT_GT(heads[0]["learned"][0]["accuracy"].get<double>(), 0.9);
  EXPECT_FALSE(heads[15].contains("learned"));
}

TEST(CliHeads, ARelationThatNoCellHasIsMarked) {
  const auto doubted = [](const char* text, const char* relation) {
    const json answer = measured({"shipped:any-sentence", "--text", text});
    for (const json& head : answer["heads"])
      for (const json& one : head.value("learned", json::array()))
        if (one["relation"] == relation) return one["doubted"].get<bool>();
    ADD_FAILURE() << relation;
    return false;
  };
  EXPECT_FALSE(doubted("The cat sat on the mat.", "nsubj"));
  EXPECT_TRUE(doubted("The cat sat on the mat.", "aux")) << "there is no auxiliary";
  EXPECT_TRUE(doubted("Der Hund schläft unter dem Tisch in der Küche.", "nsubj"));
  const Ran ran = run({"heads", "shipped:any-sentence", "--text", "Der Hund schläft unter dem Tisch in der Küche."});
  EXPECT_FALSE(contains(ran.out, "determiner")) << ran.out;
  EXPECT_TRUE(contains(ran.err, "warning: the text is of no kind that the model was measured on")) << ran.err;
}

TEST(CliHeads, EncoderDecodersHaveThreeStacks) {
  const json heads = measured({"--random", "--arch", "encoder-decoder", "--text", "a b c", "--target", "x y",
                               "--layers", "1", "--num-heads", "2", "--d-model", "8", "--ffn", "0"})["heads"];
  ASSERT_EQ(heads.size(), 6u);
  EXPECT_EQ(heads[0]["stack"], "Encoder");
  EXPECT_EQ(heads[2]["stack"], "Decoder");
  EXPECT_EQ(heads[5]["stack"], "Cross");
  EXPECT_FALSE(heads[5].contains("distance"));
  EXPECT_TRUE(heads[5].contains("entropy"));
}

TEST(CliHeads, ComparesLayersByRelation) {
  const Ran text = run({"heads", "--relations", "--by", "layer", "--sentences", "200", "--pairs", "0"});
  EXPECT_EQ(text.status, 0) << text.err;
  const Ran ran = run({"heads", "--relations", "--by", "layer", "--sentences", "200", "--format", "json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json layers = json::parse(ran.out, nullptr, false);
  const Ran whole = run({"heads", "--relations", "--sentences", "200", "--format", "json"});
  const json relations = json::parse(whole.out, nullptr, false)["relations"];
  ASSERT_EQ(layers["relations"].size(), relations.size());
  EXPECT_EQ(layers["test_seed"], 2);
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const json& one = layers["relations"][r];
    EXPECT_EQ(one["relation"], relations[r]["relation"]);
    EXPECT_EQ(one["random"], relations[r]["random"]);
    ASSERT_EQ(one["layers"].size(), 2u);
    if (one["relation"] != "IT") continue;  // chosen alone, not apart from others
    for (const char* field : {"layer", "head", "direction", "accuracy", "weight", "hard"})
      EXPECT_EQ(one["layers"][1][field], relations[r][field]) << field;
    EXPECT_LT(one["layers"][0]["accuracy"], one["layers"][1]["accuracy"]) << "the second layer reads the first";
    char cell[32];
    std::snprintf(cell, sizeof cell, "H%d  %.3f", one["layers"][0]["head"].get<int>(),
                  one["layers"][0]["accuracy"].get<double>());
    EXPECT_TRUE(contains(text.out, cell)) << text.out;
  }
  EXPECT_TRUE(contains(text.out, "relation ")) << text.out;
  EXPECT_TRUE(contains(refused({"heads", "--by", "layer"}), "--relations"));
  EXPECT_TRUE(contains(refused({"heads", "--relations", "--by", "kind"}), "--by"));
  EXPECT_TRUE(contains(refused({"heads", "shipped:translator", "--relations", "--by", "layer"}),
                       "--by layer: SOURCE: expected a model of one sentence"));
}

TEST(CliHeads, ASinkHasItsTokenAndHowLongItsValueIs) {
  const Strings asked{"heads", "--random", "--arch", "decoder", "--text", "a b c d e", "--sort", "sink"};
  Strings words = asked;
  words.insert(words.end(), {"--format", "json"});
  const json heads = json::parse(run(words).out, nullptr, false)["heads"];
  double before = 1;
  for (const json& head : heads) {
    EXPECT_LE(head["sink"], before);
    before = head["sink"];
    EXPECT_GT(head["value_sink"].get<double>(), 0);
    EXPECT_GE(head["sink_key"].get<int>(), 0);
    EXPECT_FALSE(head["sink_token"].get<std::string>().empty());
  }
  EXPECT_TRUE(contains(run(asked).out, "value sink"));
  EXPECT_FALSE(
      json::parse(run({"heads", "--random", "--text", "a b\nc d", "--format", "json"}).out, nullptr, false)["heads"][0]
          .contains("sink_key"))
      << "of several sentences each has its own";
}

TEST(CliHeads, RefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(contains(
      refused({"heads", "--sort", "size"}),
      "--sort: expected layer, entropy, normalized, distance, confidence, previous, next, same, first, "
      "special, duplicate, induction, largest, sink, effect, learned, found, moved, copying, composition, found size"));
  EXPECT_TRUE(contains(refused({"heads", "--sort", "found"}), "--sort found: expected --from, --to or --above"));
  EXPECT_TRUE(contains(refused({"heads", "--above", "1.5"}), "--above"));
  EXPECT_TRUE(contains(refused({"heads", "--relations", "--sort", "entropy"}), "--sort"));
  EXPECT_TRUE(contains(refused({"heads", "--test-seed", "4"}), "--relations"));
  EXPECT_TRUE(contains(refused({"heads", "--relations", "--format", "csv"}), "--format: expected text or json"));
}

TEST(CliHeads, RepeatedRandomTokensNameAHead) {
  const Ran ran = run({"heads", "shipped:decoder", "--probe", "repeated-random:4x6", "--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json heads = json::parse(ran.out, nullptr, false);
  EXPECT_EQ(heads["sentences"], 4);
  for (const json& head : heads["heads"]) {
    for (const char* measure : {"previous", "duplicate", "induction"}) {
      // How far it lies above the others, by hand.
      double sum = 0, squares = 0;
      for (const json& other : heads["heads"])
        if (other["layer"] != head["layer"] || other["head"] != head["head"]) {
          const double value = other[measure].get<double>();
          sum += value, squares += value * value;
        }
      const double count = static_cast<double>(heads["heads"].size() - 1), mean = sum / count;
      const double spread = std::sqrt(squares / count - mean * mean);
      EXPECT_NEAR(head[std::string(measure) + "_z"].get<double>(), (head[measure].get<double>() - mean) / spread, 1e-2);
    }
    const bool named = head["previous_z"] >= 3 || head["duplicate_z"] >= 3 || head["induction_z"] >= 3;
    EXPECT_EQ(head.contains("name"), named);
  }
  EXPECT_EQ(run({"heads", "shipped:decoder", "--probe", "repeated-random:4x6", "--format", "json"}).out, ran.out);
  EXPECT_EQ(run({"heads", "shipped:induction", "--probe", "repeated-random:4x6"}).err, "") << "no text is read";
  EXPECT_TRUE(contains(refused({"heads", "--probe", "random"}), "--probe: expected repeated-random:SEQUENCESxTOKENS"));
}

TEST(CliHeads, ValuesBesideTheSink) {
  const Ran ran = run({"heads", "shipped:decoder", "--text", kSentence, "--value-norms", "--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json heads = json::parse(ran.out, nullptr, false);
  for (const json& head : heads["heads"]) {
    EXPECT_GT(head["value_first"].get<double>(), 0);
    EXPECT_GT(head["value_others"].get<double>(), 0);
  }
  const fixture::Folder folder;
  const std::string file = (folder.path() / "v.safetensors").string();
  EXPECT_EQ(run({"export", "shipped:decoder", "--text", kSentence, "--with", "qkv", "-o", file}).status, 0);
  const auto exported = read_safetensors(file);
  ASSERT_TRUE(exported) << exported.error().message();
  const Array& values = exported->arrays.at("values");  // (layers, heads, tokens, d_v)
  const auto tokens = static_cast<std::size_t>(values.shape[2]), width = static_cast<std::size_t>(values.shape[3]);
  for (std::size_t head = 0; head < heads["heads"].size(); ++head) {
    std::vector<double> norms;
    for (std::size_t token = 0; token < tokens; ++token) {
      double squares = 0;
      for (std::size_t i = 0; i < width; ++i) {
        const double value = static_cast<double>(values.values[(head * tokens + token) * width + i]);
        squares += value * value;
      }
      norms.push_back(std::sqrt(squares));
    }
    EXPECT_NEAR(heads["heads"][head]["value_first"].get<double>(), norms[0], 1e-5);
    double others = 0;
    for (std::size_t token = 1; token < tokens; ++token) others += norms[token] / static_cast<double>(tokens - 1);
    EXPECT_NEAR(heads["heads"][head]["value_others"].get<double>(), others, 1e-5);
  }
  EXPECT_FALSE(json::parse(run({"heads", "--format", "json"}).out, nullptr, false)["heads"][0].contains("value_first"));
}

TEST(CliHeads, AnEffectAgainstOtherSentences) {
  const Folder folder;
  const auto effects = [&](Strings more) {
    Strings words{"heads", "shipped:decoder", "--text", kSentence, "--effect", "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return json::parse(ran.out, nullptr, false)["heads"];
  };
  // A head replaced by itself changes nothing, by resampling and, of a token alone, by the mean.
  const std::string same = folder.with("same.txt", kSentence + "\n"),
                    two = folder.with("two.txt", kSentence + "\n我去北京\n");
  for (const json& head : effects({"--baseline", "resample:" + same}))
    EXPECT_NEAR(head["effect"].get<double>(), 0, 1e-6);
  const json resampled = effects({"--baseline", "resample:" + two}), plain = effects({}),
             mean = effects({"--baseline", "mean:" + two, "--metric", "probability"});
  double spread = 0;
  for (const json& head : resampled) spread = std::max(spread, head["spread"].get<double>());
  EXPECT_GT(spread, 0);
  EXPECT_NE(mean[3]["effect"], plain[3]["effect"]);
  EXPECT_NEAR(mean[3]["metric"].get<double>(), mean[3]["top_word"].get<double>(), 1e-5) << "of the likeliest word";
  EXPECT_TRUE(contains(refused({"heads", "--effect", "--baseline", "noise:x"}),
                       "--baseline: expected mean:FILE, resample:FILE or position:FILE"));
  const json chosen = effects({"--baseline", "position:" + same, "--at-heads", "0.1,1.*", "--at-layers", "1"});
  ASSERT_EQ(chosen.size(), 8u) << "those of the layer alone";
  for (const json& head : chosen) {
    EXPECT_EQ(head["layer"], 1);
    EXPECT_NEAR(head["effect"].get<double>(), 0, 1e-6) << "by itself, position for position";
  }
  EXPECT_TRUE(contains(refused({"heads", "shipped:decoder", "--text", kSentence, "--effect", "--baseline",
                                "position:" + folder.with("short.txt", "我去北京\n")}),
                       "--baseline position: expected a sentence of at least"));
  EXPECT_TRUE(contains(refused({"heads", "--at-heads", "0.1"}), "--at-heads: expected --effect beside it, found none"));
}

}  // namespace
}  // namespace headlight
