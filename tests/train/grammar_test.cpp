#include "card/grammar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "text/words.h"
#include "train/grammars.h"

namespace headlight {
namespace {

using grammars::parsed;
using grammars::shipped;
using grammars::toy;
using nlohmann::json;

std::vector<std::string> spelt(const Grammar& grammar, const std::vector<std::int32_t>& words) {
  std::vector<std::string> texts;
  for (const std::int32_t word : words) texts.push_back(grammar.words[static_cast<std::size_t>(word)]);
  return texts;
}

/// The error of the toy grammar with `value` at `pointer`.
std::string grammar_refusal(const char* pointer, const json& value) {
  json grammar = toy();
  grammar[json::json_pointer(pointer)] = value;
  const auto read = parse_grammar("toy.json", grammar.dump());
  EXPECT_FALSE(read) << pointer << " " << value;
  return read ? std::string() : read.error().message();
}

const char* const kWords = "/kinds/0/variants/0/words";

json with_words(const std::string& words) {
  json grammar = toy();
  grammar[json::json_pointer(kWords)] = words;
  return grammar;
}

TEST(Grammar, OfTheShippedModelsIsWhole) {
  const Grammar& grammar = *shipped();
  EXPECT_GE(grammar.words.size(), 594u);
  EXPECT_EQ(std::set(grammar.words.begin(), grammar.words.end()).size(), grammar.words.size());
  std::vector<std::string> relations;
  for (const Relation& relation : grammar.relations) relations.push_back(relation.name);
  EXPECT_EQ(relations, (std::vector<std::string>{"CO", "DP", "IT", "MN", "PA", "SP", "ST", "TA", "VO"}));
  EXPECT_EQ(grammar.literals.size(), 7u);
  std::set<PatternItem::Kind> constructs;
  std::set<int> asked;
  bool groups = false, pronouns = false, pairs = false, distinct = false;
  for (const SentenceKind& kind : grammar.kinds) {
    pairs = pairs || kind.pair;
    distinct = distinct || std::count(kind.distinct.begin(), kind.distinct.end(), true) > 1;
    for (const SentencePattern& pattern : kind.patterns) {
      for (const PatternItem& item : pattern.items) {
        constructs.insert(item.kind);
        groups = groups || item.group >= 0;
        pronouns = pronouns || item.stands_for >= 0;
      }
      EXPECT_FALSE(kind.patterns.empty());
      for (const PatternRelation& relation : pattern.relations) asked.insert(relation.relation);
    }
  }
  EXPECT_EQ(constructs.size(), 4u);
  EXPECT_EQ(asked.size(), grammar.relations.size());
  EXPECT_TRUE(groups && pronouns && pairs && distinct);
}

/// A word without a name draws by the list it is drawn from; a separate name would draw another sentence, and every
/// training would give other weights.
TEST(Grammar, ARelationMaySpeakOfAWordByItsList) {
  json said = toy();
  said["kinds"] = {{{"name", "deed"},
                    {"language", "en"},
                    {"weight", 1},
                    {"choose", {{"a", "act"}}},
                    {"relations", {{"VO", "v o"}}},
                    {"variants", {{{"words", "[.5 {place}] {who} {v:a.verb} {place} {o:a.object}"}}}}}};
  const Grammar plain = *parsed(said);
  said["relations"]["PA"] = {{"en", "place → action"}, {"zh", "地点 → 动作"}};
  said["kinds"][0]["relations"]["PA"] = "place v";
  const Grammar asked = *parsed(said);
  const int place = static_cast<int>(
      std::find_if(asked.relations.begin(), asked.relations.end(), [](const auto& one) { return one.name == "PA"; }) -
      asked.relations.begin());
  Index found = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Sentence before = sentence_of(plain, 0, 0, seed), now = sentence_of(asked, 0, 0, seed);
    EXPECT_EQ(spelt(plain, before.words), spelt(asked, now.words)) << seed;
    for (const Gold& gold : now.gold) {
      if (gold.relation != place) continue;
      ++found;
      EXPECT_EQ(gold.query, 0) << "the first of the two";
      EXPECT_EQ(gold.key, 2);
    }
    EXPECT_EQ(now.gold.size(), before.gold.size() + (now.words.size() == 5 ? 1 : 0));
  }
  EXPECT_GT(found, 10);
  EXPECT_LT(found, 40);
}

TEST(Grammar, AVerbTakesAnObjectOfItsClass) {
  const auto grammar = parsed(toy());
  Random random(1);
  std::set<std::vector<std::int32_t>> lengths[5];
  for (int i = 0; i < 300; ++i) {
    const Sentence sentence = draw_sentence(*grammar, CorpusPart::training, random);
    const auto texts = spelt(*grammar, sentence.words);
    ASSERT_TRUE(texts.size() == 3 || texts.size() == 4);
    const bool reading = texts[1] == "reads" || texts[1] == "writes" || texts[1] == "opens";
    EXPECT_EQ(texts.back().starts_with("book"), reading) << texts[1] << " " << texts.back();
    EXPECT_EQ(texts.back().starts_with("food"), !reading);
    EXPECT_EQ(sentence.kind, texts.size() == 3 ? 0 : 1);
    const Gold object{1, 1, static_cast<int>(texts.size()) - 1};
    EXPECT_EQ(sentence.gold, (std::vector<Gold>{{0, 0, 1}, object}));
  }
}

TEST(Grammar, ASentenceIsAFunctionOfItsSeed) {
  const Grammar& grammar = *shipped();
  std::set<std::vector<std::int32_t>> drawn;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Sentence one = sentence_of(grammar, 0, 0, seed), again = sentence_of(grammar, 0, 0, seed);
    EXPECT_EQ(one.words, again.words);
    EXPECT_EQ(one.gold, again.gold);
    drawn.insert(one.words);
  }
  EXPECT_GT(drawn.size(), 195u) << "other seeds give other sentences";
  Random a(5), b(5);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(draw_sentence(grammar, CorpusPart::training, a).words,
              draw_sentence(grammar, CorpusPart::training, b).words);
}

TEST(Grammar, KindsAndPatternsComeByTheirWeights) {
  const auto grammar = parsed(toy());
  Random random(3);
  int near = 0;
  for (int i = 0; i < 2000; ++i) near += draw_sentence(*grammar, CorpusPart::training, random).kind == 0;
  EXPECT_NEAR(near / 2000.0, 0.75, 0.04);
}

// No word is repeated by accident: what a pattern repeats, and words that it writes, occur twice on purpose.
TEST(Grammar, NoWordIsDrawnTwiceIntoASentence) {
  const Grammar& grammar = *shipped();
  Random random(7);
  for (int i = 0; i < 3000; ++i) {
    const Sentence sentence = draw_sentence(grammar, i % 2 ? CorpusPart::training : CorpusPart::held_out, random);
    std::set<int> repeated;
    for (const Gold& gold : sentence.gold) {
      if (sentence.words[static_cast<std::size_t>(gold.query)] == sentence.words[static_cast<std::size_t>(gold.key)])
        repeated.insert(gold.query);
    }
    std::set<std::int32_t> said;
    for (std::size_t place = 0; place < sentence.words.size(); ++place) {
      if (sentence.families[place] < 0 || repeated.contains(static_cast<int>(place))) continue;
      EXPECT_TRUE(said.insert(sentence.words[place]).second) << text_of(grammar, sentence);
    }
  }
}

bool has_held_out_pair(const Grammar& grammar, const Sentence& sentence) {
  const auto texts = spelt(grammar, sentence.words);
  return std::any_of(sentence.gold.begin(), sentence.gold.end(), [&](const Gold& gold) {
    return grammar.relations[static_cast<std::size_t>(gold.relation)].held_out &&
           is_held_out(texts[static_cast<std::size_t>(gold.query)], texts[static_cast<std::size_t>(gold.key)]);
  });
}

TEST(HeldOut, PairsAreInNoTrainingSentenceAndInEveryOther) {
  const Grammar& grammar = *shipped();
  std::set<std::vector<std::int32_t>> literals;
  for (const Literal& literal : grammar.literals) literals.insert(literal.words);
  Random random(11);
  for (int i = 0; i < 3000; ++i) {
    const Sentence seen = draw_sentence(grammar, CorpusPart::training, random);
    EXPECT_FALSE(seen.held_out);
    EXPECT_FALSE(has_held_out_pair(grammar, seen)) << text_of(grammar, seen);
    const Sentence kept = draw_sentence(grammar, CorpusPart::held_out, random);
    EXPECT_TRUE(kept.held_out);
    EXPECT_TRUE(has_held_out_pair(grammar, kept) || grammar.kinds[static_cast<std::size_t>(kept.kind)].held_out)
        << text_of(grammar, kept);
    EXPECT_FALSE(literals.contains(seen.words));
    EXPECT_FALSE(literals.contains(kept.words));
  }
}

TEST(HeldOut, IsAnEighthOfAllPairsAndHasADirection) {
  int pairs = 0, both = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string first = "verb" + std::to_string(i), second = "object" + std::to_string(i * 7);
    pairs += is_held_out(first, second);
    both += is_held_out(first, second) && is_held_out(second, first);
  }
  EXPECT_NEAR(pairs / 4000.0, 0.125, 0.02);
  EXPECT_LT(both, pairs / 2);
}

TEST(HeldOut, ALiteralIsNeverDrawn) {
  json grammar = toy();
  grammar["lists"]["who"] = "ann bob";
  grammar["links"]["act"] = {{{"verb", "reads"}, {"object", grammars::words("book", 12)}}};
  const auto all = parsed(grammar);
  Random random(1);
  std::set<std::string> drawn;
  for (int i = 0; i < 2000; ++i) {
    drawn.insert(text_of(*all, draw_sentence(*all, CorpusPart::training, random)));
    drawn.insert(text_of(*all, draw_sentence(*all, CorpusPart::held_out, random)));
  }
  ASSERT_TRUE(drawn.contains("ann reads bookac"));
  grammar["literals"] = {{{"words", "ann reads bookac"}, {"relations", {{"VO", {1, 2}}}}}};
  const auto without = parsed(grammar);
  ASSERT_EQ(without->literals.size(), 1u);
  EXPECT_EQ(without->literals[0].gold, (std::vector<Gold>{{1, 1, 2}}));
  for (int i = 0; i < 2000; ++i) {
    EXPECT_NE(text_of(*without, draw_sentence(*without, CorpusPart::training, random)), "ann reads bookac");
    EXPECT_NE(text_of(*without, draw_sentence(*without, CorpusPart::held_out, random)), "ann reads bookac");
  }
}

TEST(MinimalPairs, DifferInTheWordThatDecidesAndInWhatThePronounStandsFor) {
  const Grammar& grammar = *shipped();
  Random random(13);
  std::set<std::string> languages;
  for (int i = 0; i < 500; ++i) {
    const auto [one, other] = draw_minimal_pair(grammar, random);
    ASSERT_EQ(one.words.size(), other.words.size());
    languages.insert(grammar.kinds[static_cast<std::size_t>(one.kind)].language);
    EXPECT_TRUE(one.held_out && other.held_out);
    std::vector<std::size_t> differ;
    for (std::size_t place = 0; place < one.words.size(); ++place)
      if (one.words[place] != other.words[place]) differ.push_back(place);
    ASSERT_EQ(differ.size(), 1u) << text_of(grammar, one) << " / " << text_of(grammar, other);
    const auto family = static_cast<std::size_t>(one.families[differ[0]]);
    EXPECT_TRUE(grammar.family_names[family].ends_with(".adjective")) << grammar.family_names[family];
    std::vector<Gold> pronouns;
    for (const Sentence* sentence : {&one, &other}) {
      const auto stands_for = [&](const Gold& gold) {
        return sentence->stands_for[static_cast<std::size_t>(gold.query)] == gold.key;
      };
      ASSERT_EQ(std::count_if(sentence->gold.begin(), sentence->gold.end(), stands_for), 1);
      pronouns.push_back(*std::find_if(sentence->gold.begin(), sentence->gold.end(), stands_for));
    }
    EXPECT_EQ(pronouns[0].query, pronouns[1].query);
    EXPECT_NE(one.words[static_cast<std::size_t>(pronouns[0].key)],
              other.words[static_cast<std::size_t>(pronouns[1].key)]);
  }
  EXPECT_EQ(languages.size(), 2u);
}

TEST(Grammar, AWordIsOfItsFamily) {
  const Grammar& grammar = *shipped();
  Random random(17);
  int of_a_family = 0, pronouns = 0;
  for (int i = 0; i < 2000; ++i) {
    const Sentence sentence = draw_sentence(grammar, CorpusPart::training, random);
    ASSERT_EQ(sentence.families.size(), sentence.words.size());
    ASSERT_EQ(sentence.stands_for.size(), sentence.words.size());
    for (std::size_t place = 0; place < sentence.words.size(); ++place) {
      pronouns += sentence.stands_for[place] >= 0;
      if (sentence.families[place] < 0) continue;
      ++of_a_family;
      const auto& family = grammar.families[static_cast<std::size_t>(sentence.families[place])];
      EXPECT_NE(std::find(family.begin(), family.end(), sentence.words[place]), family.end());
    }
  }
  EXPECT_GT(of_a_family, 10000);
  EXPECT_GT(pronouns, 300);
}

std::vector<std::string> cut(const std::string& text, const Lexicon& lexicon) {
  std::vector<std::string> texts;
  for (const Token& token : tokens_between(text, cut_points(text, Split::words, lexicon)).tokens)
    texts.push_back(token.text);
  return texts;
}

TEST(Grammar, ATextIsCutBackIntoItsWords) {
  const Grammar& grammar = *shipped();
  const Lexicon lexicon = lexicon_of(grammar.words);
  std::map<std::string, std::vector<std::string>> wrong;
  Random random(19);
  const auto check = [&](const Sentence& sentence) {
    const std::string text = text_of(grammar, sentence);
    const auto words = spelt(grammar, sentence.words);
    if (cut(text, lexicon) != words) wrong[text] = cut(text, lexicon);
  };
  for (std::size_t kind = 0; kind < grammar.kinds.size(); ++kind)
    for (std::size_t pattern = 0; pattern < grammar.kinds[kind].patterns.size(); ++pattern)
      for (int i = 0; i < 60; ++i)
        check(sentence_of(grammar, static_cast<int>(kind), static_cast<int>(pattern), random.next()));
  for (const Literal& literal : grammar.literals) check({.words = literal.words});
  for (const auto& [text, words] : wrong) {
    std::string cuts;
    for (const std::string& word : words) cuts += "|" + word;
    ADD_FAILURE() << text << " is cut " << cuts;
  }
}

TEST(Grammar, ATextHasSpacesBetweenWordsThatHaveThem) {
  const Grammar& grammar = *shipped();
  const auto text = [&](std::size_t literal) { return text_of(grammar, {.words = grammar.literals[literal].words}); };
  EXPECT_EQ(text(0), "我请李雷帮我订了去北京的机票");
  EXPECT_EQ(text(3), "那只动物没有过马路，因为它太累了。");
  EXPECT_EQ(text(5), "The animal didn't cross the street because it was too tired.");
}

TEST(Grammar, RefusesWhatItCannotReadInOneLine) {
  const auto says = [](const char* pointer, const json& value, const std::string& part) {
    const std::string message = grammar_refusal(pointer, value);
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nexpected: " << part;
    EXPECT_TRUE(message.starts_with("toy.json: ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  };
  says("/relations", 1, "relations: expected an object, found 1");
  says("/lists/who", "", "lists.who: expected words with spaces between them");
  says("/links/act", json::array(), "links.act: expected at least one class with fields");
  says("/links/act/1", {{"verb", "eats"}, {"thing", "bread"}},
       "links.act.1: expected the fields that the first class has");
  says("/kinds", json::array(), "kinds: expected at least one kind of sentence");
  says("/kinds/0/weight", 0, "kinds.0.weight: expected a whole number from 1 to 1000");
  says("/kinds/0/choose/a", "nothing", "kinds.0.choose.a: expected a name under links");
  says("/kinds/0/distinct", "b", "kinds.0.distinct: expected names under choose");
  says("/kinds/0/distinct", "a a a", "no more names than the link has classes");
  says("/kinds/0/variants", json::array(), "kinds.0.variants: expected at least one");
  says("/kinds/0/pairs", {0}, "kinds.0.pairs: expected two variants");
  says("/kinds/0/pairs", {0, 1}, "kinds.0.pairs.1: expected a whole number from 0 to 0");
  says("/kinds/0/held_out", "w nobody", "kinds.0.held_out: expected two names of words in the variants");
  says("/kinds/0/variants/0/share", 0, "share: expected a number above 0");
  says("/kinds/0/variants/0/share", "half", "share: expected a number above 0");
  says("/kinds/0/relations", {{"XY", "w v"}}, "kinds.0.relations.XY: expected a name under relations");
  says("/kinds/0/relations", {{"VO", "w"}}, "kinds.0.relations.VO: expected two names of words");
  for (const char* item :
       {"{nobody}", "{w:a.thing}", "{w:b.verb}", "{w:=nobody}", "{w:who", "w}ho", "{}", "{a b}", "x[y", "{\u0001}"})
    says(kWords, std::string("{w:who} ") + item, "expected words, {list}, {name:class.field}");
  for (const char* group :
       {"[half {who}]", "[1.5 {who}]", "[0 {who}]", "[.5 {who} [.5 {place}] ]", "[.5x {who}]", "[nan {who}]"})
    says(kWords, std::string("{w:who} ") + group, "expected groups as [.25 …], none in another");
  for (const char* space : {"\n", "\t", " \r\n "})
    EXPECT_TRUE(parsed(with_words("{w:who}" + std::string(space) + "{v:a.verb} {o:a.object}"))) << "any white space";
  says(kWords, "{w:who} {v:a.verb}]", "expected a [ before each ]");
  says(kWords, "{w:who} [.5 {v:a.verb}", "expected a ] behind each [");
  says(kWords, "", "expected a word that is always there");
  says(kWords, "[.5 {who}]", "expected a word that is always there");
  std::string long_one = "{w:who}";
  for (int i = 0; i < 120; ++i) long_one += " and";
  says(kWords, long_one, "expected at most 120 words");
  says("/literals/0", {{"words", "nobody reads"}, {"relations", json::object()}},
       "words of the grammar, not \"nobody\"");
  says("/literals/0", {{"words", ""}, {"relations", json::object()}}, "expected words with spaces between them");
  says("/literals/0", {{"words", "reads"}, {"relations", {{"VO", {0, 1}}}}}, "expected a whole number from 0 to 0");
  says("/literals/0", {{"words", "reads"}, {"relations", {{"VO", {0}}}}}, "a relation's name and two places");
  EXPECT_NE(parse_grammar("toy.json", "{").error().message().find("toy.json"), std::string::npos);
}

// Otherwise drawing would never end.
TEST(Grammar, RefusesWhatNothingCouldBeDrawnOf) {
  json grammar = toy();
  grammar["relations"]["VO"].erase("held_out");
  auto read = parse_grammar("toy.json", grammar.dump());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message(),
            "toy.json: sentences with a held-out pair of words: expected at least one in 200 of "
            "those that are drawn, found fewer or none");

  // One pair of words only, and that is held out.
  std::string object = "a";
  while (!is_held_out("reads", object)) object += "a";
  grammar = toy();
  grammar["links"]["act"] = {{{"verb", "reads"}, {"object", object}}};
  read = parse_grammar("toy.json", grammar.dump());
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message().find("sentences without a held-out pair"), std::string::npos)
      << read.error().message();

  // A pair with a pronoun that refers to no word of the sentence.
  grammar = toy();
  grammar["kinds"][0]["pairs"] = {0, 0};
  grammar["kinds"][0]["relations"] = json::object();
  read = parse_grammar("toy.json", grammar.dump());
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message().find("held-out pairs of variants"), std::string::npos) << read.error().message();
}

}  // namespace
}  // namespace headlight
