// Many pairs of sentences: what they have in common, rows that are wrong, and going on where a study was interrupted.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "app/program.h"
#include "read/array/npz.h"
#include "study/study.h"

namespace headlight {
namespace {

using namespace program;
using fixture::golden;

const Strings kPairs[] = {{"我请李雷帮我喝了最好的", "我请李雷帮我看了最好的"},
                          {"我请李雷帮我看了最好的", "我请李雷帮我订了最好的"},
                          {"我请李雷帮我订了最好的", "我请李雷帮我喝了最好的"}};

std::string csv_of_pairs() {
  std::string text = "clean,corrupt\n";
  for (const Strings& pair : kPairs) text += pair[0] + ",\"" + pair[1] + "\"\n";
  return text;
}

Strings studied(const std::string& file, Strings more, const std::string& format = "json") {
  Strings words{"patch", "shipped:decoder", "--at", "heads", "--pairs", file, "--format", format};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json answered(const Strings& words) {
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json object = json::parse(ran.out, nullptr, false);
  EXPECT_TRUE(object.is_object()) << ran.out.substr(0, 200);
  return object;
}

json cell_of(const json& study, const std::string& what, int layer, int head) {
  for (const json& cell : study["cells"])
    if (cell["what"] == what && cell["layer"] == layer && cell["head"] == head) return cell;
  ADD_FAILURE() << "no such cell: " << what;
  return {};
}

/// What a cell restores of each pair alone, and clean − corrupt of that pair.
struct Alone {
  std::vector<double> shares, wholes;

  double sum_of_differences() const {
    double sum = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) sum += shares[i] * wholes[i];
    return sum;
  }
};

Alone alone_of(int layer, int head) {
  Alone alone;
  for (const Strings& pair : kPairs) {
    const json one = answered({"patch", "shipped:decoder", "--text", pair[0], "--from", "--text " + pair[1], "--at",
                               "heads", "--format", "json"});
    alone.wholes.push_back(one["clean"].get<double>() - one["corrupt"].get<double>());
    for (const json& cell : one["cells"])
      if (cell["layer"] == layer && cell["head"] == head) alone.shares.push_back(cell["restored"].get<double>());
  }
  return alone;
}

TEST(Study, ItsMeanIsTheShareOfTheMeanDifferences) {
  const Folder folder;
  const std::string pairs = folder.with("pairs.csv", csv_of_pairs());
  const json total = answered(studied(pairs, {})), of_pairs = answered(studied(pairs, {"--normalise", "pairs"})),
             none = answered(studied(pairs, {"--normalise", "none"}));
  EXPECT_EQ(total["pairs"], 3);
  EXPECT_EQ(total["normalise"], "total");
  EXPECT_EQ(total["draws"], 2000);
  EXPECT_EQ(total["seed"], 0);
  EXPECT_EQ(total["direction"], "denoise");
  for (const auto& [layer, head] : {std::pair(0, 1), {1, 3}, {1, 7}}) {
    Alone alone = alone_of(layer, head);
    ASSERT_EQ(alone.shares.size(), 3u);
    const double whole = alone.wholes[0] + alone.wholes[1] + alone.wholes[2], sum = alone.sum_of_differences();
    const json cell = cell_of(total, "restored", layer, head);
    EXPECT_NEAR(cell["mean"].get<double>(), sum / whole, 1e-6);
    EXPECT_NEAR(cell["difference"].get<double>(), sum / 3, 1e-5);
    EXPECT_NEAR(cell_of(of_pairs, "restored", layer, head)["mean"].get<double>(),
                (alone.shares[0] + alone.shares[1] + alone.shares[2]) / 3, 1e-6);
    EXPECT_NEAR(cell_of(none, "restored", layer, head)["mean"].get<double>(), sum / 3, 1e-5);
    std::sort(alone.shares.begin(), alone.shares.end());
    EXPECT_NEAR(cell["median"].get<double>(), alone.shares[1], 1e-6);
    EXPECT_NEAR(cell["lower_quartile"].get<double>(), (alone.shares[0] + alone.shares[1]) / 2, 1e-6);
    EXPECT_GE(cell["low"].get<double>(), alone.shares[0] - 1e-6);
    EXPECT_LE(cell["high"].get<double>(), alone.shares[2] + 1e-6);
    EXPECT_EQ(cell["n"], 3);
  }
  EXPECT_TRUE(total["cells"][0]["difference"].is_null()) << "of the clean answer, which is no share";
}

TEST(Study, OfPairsBothWaysIsAShareOfNothing) {
  const Folder folder;
  const std::string both = folder.with("both.csv", "clean,corrupt\n" + kPairs[0][0] + "," + kPairs[0][1] + "\n" +
                                                       kPairs[0][1] + "," + kPairs[0][0] + "\n");
  const Strings more{"--metric", "probability", "--answers", "牛奶"};
  const json found = json::parse(run(studied(both, more)).out, nullptr, false);
  EXPECT_TRUE(cell_of(found, "restored", 0, 1)["mean"].is_null()) << found;
  const std::string text = run(studied(both, more, "text")).out;
  EXPECT_TRUE(contains(text, "—")) << text;
  EXPECT_FALSE(contains(text, "inf") || contains(text, "nan")) << text;
  EXPECT_EQ(run(studied(both, more, "npz")).status, 0);
}

/// Every place is tested against random places of the same pairs, and the p of all places are corrected together.
TEST(Study, OfAControlIsTested) {
  const Folder folder;
  const json study = answered(studied(folder.with("pairs.csv", csv_of_pairs()), {"--control", "random:4"}));
  EXPECT_EQ(study["control"]["n"], 3);
  EXPECT_EQ(study["control"]["test"], "signed-rank, paired, Holm over all places");
  int tested = 0;
  for (const json& cell : study["cells"]) {
    if (cell["what"] != "restored") {
      EXPECT_TRUE(cell["p"].is_null()) << cell["what"];
      continue;
    }
    ++tested;
    const double p = cell["p"].get<double>();
    EXPECT_TRUE(p == 0.25 || p == 0.5 || p == 0.75 || p == 1) << p << ": of three pairs";
    EXPECT_GE(cell["p_holm"].get<double>(), std::min(1.0, p));
  }
  EXPECT_EQ(tested, 16);
}

/// Random places are drawn as many at once as were chosen: what the chosen ones do together is tested, and that alone.
TEST(Study, ChosenPlacesAreTestedTogether) {
  const Folder folder;
  const json study = answered(studied(folder.with("pairs.csv", csv_of_pairs()),
                                      {"--control", "random:4", "--at-heads", "0.1,1.2", "--direction", "both"}));
  std::set<std::string> tested;
  for (const json& cell : study["cells"]) {
    if (cell["p"].is_null()) continue;
    EXPECT_TRUE(tested.insert(cell["what"]).second) << cell;
    EXPECT_GE(cell["p_holm"].get<double>(), cell["p"].get<double>());
  }
  EXPECT_EQ(tested, (std::set<std::string>{"together", "together_lost"}));
}

TEST(Study, OfOnePairThereIsNoInterval) {
  const Folder folder;
  const std::string pairs = folder.with("pairs.csv", "clean,corrupt\n" + kPairs[0][0] + "," + kPairs[0][1] + "\n");
  const json cell = cell_of(answered(studied(pairs, {})), "restored", 0, 1);
  EXPECT_TRUE(cell["low"].is_null() && cell["high"].is_null()) << cell;
  const Ran text = run(studied(pairs, {}, "text"));
  EXPECT_TRUE(contains(text.out, ", 1 pair\n")) << text.out;
  EXPECT_TRUE(contains(text.out, "  —  ")) << text.out;
  EXPECT_TRUE(contains(run(studied(pairs, {}, "csv")).out, ",,,1,,\n"));
}

TEST(Study, GoesOnWhereItWasInterrupted) {
  const Folder folder;
  const std::string pairs = folder.with("pairs.csv", csv_of_pairs()), kept = (folder / "rows.jsonl").string();
  const Ran whole = run(studied(pairs, {}));
  EXPECT_EQ(run(studied(pairs, {"--resume", kept})).out, whole.out);
  std::string rows = *read_file(kept);
  EXPECT_EQ(lines_of(rows), 3);
  // Interrupted within the third row.
  rows.resize(rows.rfind('\n', rows.size() - 2) + 20);
  ASSERT_TRUE(write_file(kept, rows));
  EXPECT_EQ(run(studied(pairs, {"--resume", kept})).out, whole.out);
  EXPECT_EQ(lines_of(*read_file(kept)), 3);
  // What is there is taken: a row that was changed by hand shows.
  rows = *read_file(kept);
  const std::size_t digits = rows.find("0.");
  rows.replace(digits, 2, "9.");
  ASSERT_TRUE(write_file(kept, rows));
  EXPECT_NE(run(studied(pairs, {"--resume", kept})).out, whole.out);
  // Another question is asked anew.
  EXPECT_EQ(run(studied(pairs, {"--resume", kept, "--metric", "kl"})).out, run(studied(pairs, {"--metric", "kl"})).out);
  ASSERT_TRUE(write_file(kept, "something else\n"));
  EXPECT_TRUE(contains(refused(studied(pairs, {"--resume", kept})), "expected what --resume wrote"));
  const Ran unkept = run(studied(pairs, {"--resume", kept + ".missing/rows.jsonl"}));
  EXPECT_EQ(unkept.out, run(studied(pairs, {})).out) << "what was computed is printed where nothing could be kept";
  EXPECT_EQ(unkept.status, 0);
  EXPECT_TRUE(contains(unkept.err, "rows.jsonl: write: expected room to write")) << unkept.err;
  EXPECT_EQ(std::count(unkept.err.begin(), unkept.err.end(), '\n'), 1) << unkept.err;
  const std::string full = refused(studied(pairs, {"--resume", "/dev/full"}));
  EXPECT_TRUE(contains(full, "/dev/full: ")) << full;
}

/// The most bytes that this process writes into a file, as a disk that is full from there on.
class FullFrom {
 public:
  explicit FullFrom(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FullFrom() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(Study, ADiskThatFillsMidwayKeepsTheRowsBefore) {
  const Folder folder;
  const std::string pairs = folder.with("pairs.csv", csv_of_pairs()), kept = (folder / "rows.jsonl").string();
  const Ran whole = run(studied(pairs, {"--resume", kept}, "csv"));
  const std::string rows = *read_file(kept);
  std::filesystem::remove(kept);
  ::signal(SIGXFSZ, SIG_IGN);  // as the program does
  Ran full;
  {
    const FullFrom limit(rows.size() - 20);  // the table, which is shorter, still fits
    full = run(studied(pairs, {"--resume", kept}, "csv"));
  }
  EXPECT_EQ(full.status, 0);
  EXPECT_EQ(full.out, whole.out);
  EXPECT_TRUE(contains(full.err, "rows.jsonl: write: expected room to write")) << full.err;
  EXPECT_EQ(lines_of(*read_file(kept)), 2);
  EXPECT_EQ(run(studied(pairs, {"--resume", kept}, "csv")).out, whole.out);
  EXPECT_EQ(*read_file(kept), rows);
}

TEST(Study, ARowThatIsWrongIsNamedAndTheRestGoesOn) {
  const Folder folder;
  const std::string file =
      folder.with("pairs.csv", csv_of_pairs() + "one field\n我请李雷,\n" + kPairs[0][0] + "," + kPairs[0][0] + "\n");
  const Ran ran = run(studied(file, {}));
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(json::parse(ran.out, nullptr, false)["pairs"], 3);
  EXPECT_TRUE(contains(ran.err, "row 4: fields: expected 2, found 1")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "row 5: corrupt: expected a sentence, found none")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "row 6: patch: expected a question with another answer")) << ran.err;
  const std::string lines =
      folder.with("pairs.jsonl", "{\"clean\": \"" + kPairs[0][0] + "\", \"corrupt\": \"" + kPairs[0][1] +
                                     "\", \"right\": \"牛奶\", \"wrong\": \"no such\"}\n" + "[1]\n{\"clean\": \"" +
                                     kPairs[0][0] + "\", \"corrupt\": \"" + kPairs[0][1] + "\"}\n");
  const Ran mixed = run(studied(lines, {}));
  EXPECT_EQ(json::parse(mixed.out, nullptr, false)["pairs"], 1);
  EXPECT_TRUE(contains(mixed.err, "row 1: right") ||
              contains(mixed.err, "row 1: wrong: expected a word of the vocabulary"))
      << mixed.err;
  EXPECT_TRUE(contains(mixed.err, "row 2: expected an object, found another value")) << mixed.err;
}

TEST(Study, RefusesInOneLine) {
  const Folder folder;
  const std::string pairs = folder.with("pairs.csv", csv_of_pairs());
  EXPECT_TRUE(contains(refused(studied(folder.with("pairs.txt", "x"), {})), "ending: expected .csv or .jsonl"));
  EXPECT_TRUE(contains(refused(studied(folder.with("names.csv", "a,b\n1,2\n"), {})), "expected the names of columns"));
  EXPECT_TRUE(contains(refused(studied((folder / "none.csv").string(), {})), "none.csv"));
  EXPECT_TRUE(contains(refused(studied(folder.with("empty.csv", "clean,corrupt\n"), {})), "expected at least one"));
  EXPECT_TRUE(contains(refused(studied(pairs, {"--metric", "loss"})), "--metric: expected logit-difference, "));
  EXPECT_TRUE(contains(refused(studied(pairs, {"--control", "random"})), "--control: expected random:N"));
  EXPECT_TRUE(contains(refused(studied(pairs, {"--from", "no such model"})), "--from: no such model"));
  EXPECT_TRUE(contains(refused({"heads", "--pairs", pairs}), "--pairs: expected --effect beside it"));
}

TEST(Study, EveryFormatHasTheSameNumbers) {
  const Folder folder;
  const std::string pairs = folder.with("pairs.csv", csv_of_pairs());
  const json study = answered(studied(pairs, {}));
  const Ran csv = run(studied(pairs, {}, "csv"));
  EXPECT_EQ(csv.out.substr(0, csv.out.find('\n')),
            "what,layer,head,token,mean,difference,median,lower_quartile,upper_quartile,low,high,n,"
            "difference_low,difference_high");
  EXPECT_EQ(static_cast<std::size_t>(lines_of(csv.out)), study["cells"].size() + 1);
  EXPECT_TRUE(contains(run(studied(pairs, {}, "text")).out, ", 3 pairs\nwhat "));
  const std::string file = folder.with("study.npz", "");
  EXPECT_EQ(run(studied(pairs, {}, "npz"), "", file.c_str()).status, 0);
  const std::string bytes = *read_file(file);
  EXPECT_TRUE(contains(bytes, "'descr': '<U")) << "names are texts";
  EXPECT_TRUE(contains(bytes, "summary.npy"));
}

/// What has no number is NaN: the interval of one pair, and the cells that one of two pairs lacks.
TEST(Study, AsArraysHasGaps) {
  const Folder folder;
  const std::string one = folder.with("one.csv", "clean,corrupt\n" + kPairs[0][0] + "," + kPairs[0][1] + "\n");
  const std::string uneven = folder.with(
      "uneven.csv", "clean,corrupt\nthe cat sat,the dog sat\nthe cat sat on the mat,the dog sat on the mat\n");
  const std::string file = folder.with("study.npz", "");
  const auto summary_in = [&](const Strings& words) {
    Strings all = words;
    all.insert(all.end(), {"--format", "npz"});
    const Ran ran = run(all, "", file.c_str());
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string bytes = *read_file(file);
    EXPECT_TRUE(contains(bytes, "summary.npy"));
    EXPECT_TRUE(write_file(file, ""));
    return bytes;
  };
  for (const Strings& words : {Strings{"patch", "--at", "heads"},
                               {"patch", "--from-head", "1.3", "--to", "output"},
                               {"lens"},
                               {"why", "--layer", "1", "--head", "3", "--query", "6", "--key", "2"},
                               {"heads", "--effect"}}) {
    Strings all = words;
    all.insert(all.begin() + 1, "shipped:decoder");
    all.insert(all.end(), {"--pairs", one});
    EXPECT_TRUE(contains(summary_in(all), std::string("\0\0\xC0\x7F", 4))) << words[0] << ": NaN";
  }
  for (const std::string at : {"heads", "residual", "ffn", "pattern", "q", "k", "v"})
    for (const char* direction : {"denoise", "both"}) {
      const std::string bytes = summary_in(
          {"patch", "shipped:encoder", "--pairs", uneven, "--at", at, "--at-tokens", "all", "--direction", direction});
      EXPECT_FALSE(contains(bytes, "values.npy")) << at << ": not every cell has a value of each pair";
    }
}

TEST(Study, OfTheLensOfAScoreAndOfEffects) {
  const Folder folder;
  const std::string pairs =
      folder.with("pairs.csv", "clean,right,wrong\n" + kPairs[0][0] + ",牛奶,比赛\n" + kPairs[1][0] + ",牛奶,比赛\n");
  const json lens = answered({"lens", "shipped:decoder", "--pairs", pairs, "--format", "json"});
  double sum = 0, last = 0;
  for (const json& cell : lens["cells"]) {
    if (cell["what"] == "logit") sum += cell["mean"].get<double>();
    if (cell["what"] == "difference") last = cell["mean"].get<double>();
  }
  EXPECT_NEAR(sum, last, 1e-4 * std::max(1.0, std::abs(last)))
      << "what writers add is the difference after the last layer";
  const json why = answered(
      {"why", "shipped:decoder", "--head", "1.3", "--query", "6", "--key", "2", "--pairs", pairs, "--format", "json"});
  double score = 0, terms = 0;
  for (const json& cell : why["cells"]) (cell["what"] == "score" ? score : terms) += cell["mean"].get<double>();
  EXPECT_NEAR(score, terms, 1e-4 * std::max(1.0, std::abs(score)));
  const json effects = answered({"heads", "shipped:decoder", "--effect", "--pairs", pairs, "--format", "json"});
  EXPECT_EQ(cell_of(effects, "effect", 1, 3)["n"], 2);
  EXPECT_FALSE(cell_of(effects, "metric", 1, 3)["mean"].is_null());
}

/// The word of row 7 is a colon, and the digit 7 is a word, too.
TEST(Study, ARightWordIsNotTheDigitsOfItsId) {
  const Folder folder;
  const json study =
      answered({"lens", "shipped:any-sentence", "--pairs",
                folder.with("pairs.csv", "clean,right\nThe cat sat on the mat,:\n"), "--format", "json"});
  const json alone = answered(
      {"lens", "shipped:any-sentence", "--text", "The cat sat on the mat", "--token", ":", "--format", "json"});
  json last;
  for (const json& cell : study["cells"])
    if (cell["what"] == "probability") last = cell["mean"];
  EXPECT_EQ(alone["word"]["id"], 7);
  EXPECT_EQ(last, alone["word"]["probability"]);
}

TEST(Study, OfEffectsRefusesAMetricThatCannotBeRead) {
  const Folder folder;
  const std::string ids = folder.with("ids.csv", "clean\n\"5,9,3\"\n");
  const std::string bare =
      refused({"heads", golden("bert").string(), "--effect", "--metric", "probability", "--pairs", ids});
  EXPECT_TRUE(contains(bare, "row 1: --metric: output layer: expected a model with scores")) << bare;
  const std::string pairs = folder.with("pairs.csv", csv_of_pairs());
  const std::string query =
      refused({"heads", "shipped:decoder", "--effect", "--metric", "probability", "--query", "99", "--pairs", pairs});
  EXPECT_TRUE(contains(query, "row 1: --query: expected 0 to ")) << query;
}

/// The heads of the table off together, beside as many others; of all heads one at a time.
TEST(Study, OfEffectsHasAControl) {
  const Strings asked{"heads", "shipped:decoder", "--text", kPairs[0][0], "--effect", "--format", "json", "--control"};
  const auto with = [&](const Strings& more) {
    Strings words = asked;
    words.insert(words.end(), more.begin(), more.end());
    return answered(words);
  };
  const json all = with({"random:5"});
  EXPECT_FALSE(all["control"].contains("together") && !all["control"]["together"].is_null());
  ASSERT_EQ(all["control"]["random"].size(), 5u);
  for (const json& one : all["control"]["random"]) {
    const auto is_it = [&](const json& head) {
      return std::abs(head["top_word"].get<double>() - one.get<double>()) < 1e-6;
    };
    EXPECT_TRUE(std::any_of(all["heads"].begin(), all["heads"].end(), is_it)) << one;
  }
  const json some = with({"random:3", "--from", "喝了", "--above", "0.9999"});
  const std::size_t count = some["heads"].size();
  ASSERT_GT(count, 1u);
  EXPECT_EQ(some["control"]["places"], count);
  EXPECT_GT((std::set<json>(some["control"]["random"].begin(), some["control"]["random"].end())).size(), 1u)
      << "each draw is of its own heads";
  std::string off;
  for (const json& head : some["heads"])
    off += (off.empty() ? "" : ",") + head["layer"].dump() + "." + head["head"].dump();
  const json next = answered({"next", "shipped:decoder", "--text", kPairs[0][0], "--format", "json", "--top", "1"}),
             after = answered({"next", "shipped:decoder", "--text", kPairs[0][0], "--format", "json", "--off", off,
                               "--token", next["next_token"][0]["text"].get<std::string>()});
  const json share = with({"random:3", "--from", "喝了", "--above", "0.9999", "--metric", "probability"});
  const double was = next["next_token"][0]["probability"].get<double>();
  EXPECT_NEAR(share["control"]["together"].get<double>(), after["tokens"][0]["probability"].get<double>() - was, 1e-5);
  EXPECT_TRUE(contains(refused({"heads", "--control", "random:3"}), "--control: expected --effect beside it"));
  // Beside all heads of one of two layers there are those of the other alone, in each draw.
  const json upper = with({"random:3", "--at-layers", "1"});
  const json lower = with({"random:1", "--at-layers", "0"});
  for (const json& one : upper["control"]["random"])
    EXPECT_NEAR(one.get<double>(), lower["control"]["together"].get<double>(), 1e-6);
}

TEST(Study, TheIntervalOfAMean) {
  const Summary same = summary_of({2, 2, 2});
  EXPECT_EQ(same.mean, 2);
  EXPECT_EQ(same.low, 2);
  EXPECT_EQ(same.high, 2);
  std::vector<double> values;
  for (int i = 0; i < 101; ++i) values.push_back(i);
  const Summary many = summary_of(values);
  EXPECT_DOUBLE_EQ(many.median, 50);
  EXPECT_DOUBLE_EQ(many.lower_quartile, 25);
  EXPECT_DOUBLE_EQ(many.upper_quartile, 75);
  // 1.96 standard errors of the mean: 29.15 / √101 · 1.96 = 5.69.
  EXPECT_NEAR(many.high.value() - many.mean, 5.69, 0.6);
  EXPECT_NEAR(many.mean - many.low.value(), 5.69, 0.6);
}

}  // namespace
}  // namespace headlight
