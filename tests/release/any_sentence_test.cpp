// shipped:any-sentence: the first fifty steps of its recipe's options on texts of a few lines, the file that the whole
// recipe gave, and sentences in which a person is mentioned twice. Its texts are a gigabyte of packages, so that the
// recipe itself (assets/recipes/any-sentence) is not run here.
#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "train/app/train_program.h"

namespace headlight::program {
namespace {

constexpr std::uint64_t kBegins = 7099728987669803896u;       // of model.safetensors after the first steps
constexpr std::uint64_t kShippedHash = 6064651797890797469u;  // of the file that comes along

const auto kModel = fixture::fs::path(HEADLIGHT_TEST_DATA).parent_path() / "assets" / "models" / "any-sentence";

constexpr const char* kEnglish =
    "The captain told the crew that the storm would pass before the evening.\n"
    "She has put the letters of her brother into a small wooden box.\n"
    "Nobody could remember where the old map had been hidden.\n"
    "When the rain stopped, two children ran across the wet field.\n";
constexpr const char* kChinese =
    "村子里的人都不知道那位老人的名字。\n"
    "他把两本旧书放在桌子上，就出去了。\n"
    "如果明天下雨，我们就不去公园。\n";
constexpr const char* kTreebank =
    "# text = She saw the old bridge.\n"
    "1\tShe\tshe\tPRON\t_\t_\t2\tnsubj\t_\t_\n"
    "2\tsaw\tsee\tVERB\t_\t_\t0\troot\t_\t_\n"
    "3\tthe\tthe\tDET\t_\t_\t5\tdet\t_\t_\n"
    "4\told\told\tADJ\t_\t_\t5\tamod\t_\t_\n"
    "5\tbridge\tbridge\tNOUN\t_\t_\t2\tobj\t_\tSpaceAfter=No\n"
    "6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n"
    "# text = 他是老师。\n"
    "1\t他\t他\tPRON\t_\t_\t3\tnsubj\t_\tSpaceAfter=No\n"
    "2\t是\t是\tAUX\t_\t_\t3\tcop\t_\tSpaceAfter=No\n"
    "3\t老师\t老师\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
    "4\t。\t。\tPUNCT\t_\t_\t3\tpunct\t_\tSpaceAfter=No\n\n";

std::uint64_t hash_of(const fixture::fs::path& file) {
  const auto read = read_file(file);
  EXPECT_TRUE(read) << read.error().message();
  return read ? hash_text(*read) : 0;
}

TEST(AnySentence, BeginsWithTheseWeights) {
  const Folder folder;
  const std::string english = folder.with("en.txt", kEnglish), chinese = folder.with("zh.txt", kChinese);
  const std::string treebank = folder.with("bank.conllu", kTreebank);
  Strings options{"train", "--tokenizer", (kModel / "tokenizer.json").string(), "-o", (folder / "model").string()};
  for (const std::string& text : {english + ":1", chinese + ":2"}) options.insert(options.end(), {"--text", text});
  const std::string_view rest =
      "--teach-weight 4 --teach-from 0.87 --teach-share 0.66 --teach-grammar 0.2 --teach-rest 0.15 --teach-hide 0.1 "
      "--d-model 144 --num-heads 9 --layers 4 --ffn 288 --hide 0.14 --swap 0.02 --keep 0.02 --family 0 --restore 0 "
      "--batch 16 --steps 50 --seed 1 --warmup 5 --learning-rate 0.002 --threads 1";
  options.insert(options.end(), {"--teach", treebank + ":1"});
  for (std::size_t from = 0; from < rest.size();) {
    const std::size_t to = std::min(rest.find(' ', from), rest.size());
    options.emplace_back(rest.substr(from, to - from));
    from = to + 1;
  }
  const Ran ran = run(options);
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(hash_of(folder / "model" / "model.safetensors"), kBegins);
}

TEST(AnySentence, GaveTheFileThatComesAlong) { EXPECT_EQ(hash_of(kModel / "model.safetensors"), kShippedHash); }

struct Mentions {
  const char* text;
  const char* one;
  const char* other;
};

/// The weight of L3·H7 from each mention to the other: {later to earlier, earlier to later}.
std::pair<double, double> weights_between(const Mentions& asked) {
  const Ran ran = run({"export", "shipped:any-sentence", "--text", asked.text, "--format", "json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json answer = json::parse(ran.out, nullptr, false);
  if (answer.is_discarded()) return {0, 0};
  const auto named = [&](const char* text, bool last) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < answer["tokens"].size(); ++i)
      if (answer["tokens"][i]["text"] == text && (found == 0 || last)) found = i;
    EXPECT_GT(found, 0u) << asked.text << ": " << text;
    return found;
  };
  const std::size_t earlier = named(asked.one, false), later = named(asked.other, true);
  const json& map = answer["attention"][0]["attn"][3][7];
  return {map[later][earlier].get<double>(), map[earlier][later].get<double>()};
}

TEST(AnySentence, TwoMentionsOfAPersonFindEachOther) {
  for (const Mentions& asked : {Mentions{"他告诉我，他要走了。", "他", "他"},
                                {"我请李雷帮我订了去北京的机票", "我", "我"},
                                {"她对妈妈说，她想回家。", "她", "她"},
                                {"He told me that he had to leave.", "He", "he"}}) {
    const auto [back, forth] = weights_between(asked);
    EXPECT_GT(back, 0.8) << asked.text;
    EXPECT_GT(forth, 0.8) << asked.text;
  }
}

TEST(AnySentence, APersonMentionedOnceFindsNoOther) {
  const auto [back, forth] = weights_between({"今天天气很好，我们去公园。", "天气", "我们"});
  EXPECT_LT(back, 0.1);
  EXPECT_LT(forth, 0.1);
}

}  // namespace
}  // namespace headlight::program
