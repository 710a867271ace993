// English beside the sentences of a grammar: how it is written, and of which word each of its words was made.
#include "card/grammar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "train/grammars.h"

namespace headlight::translations_test {
namespace {

using grammars::parsed;
using grammars::shipped;
using grammars::translated_toy;
using nlohmann::json;

/// `word:index` where a word was made of a word of the sentence, at that index.
std::string shown(const Grammar& grammar, const Translation& english) {
  std::string text;
  for (std::size_t i = 0; i < english.words.size(); ++i) {
    text += (i > 0 ? " " : "") + std::string(target_word(grammar, english.words[i]));
    if (english.made_of[i] >= 0) text += ":" + std::to_string(english.made_of[i]);
  }
  return text;
}

const char* const kNear = "/kinds/0/variants/0/english";

using WordList = std::vector<std::string>;

/// The toy with another pattern for its first kind and for the English of that.
json with(const std::string& words, const std::string& english) {
  json toy = translated_toy();
  toy["kinds"][0]["variants"][0]["words"] = words;
  toy["kinds"][0]["variants"][0]["english"] = english;
  return toy;
}

/// Draws sentences of the first kind and holds each one's English against what `expected` makes of its words.
template <class Expected>
void each(const json& toy, Expected expected) {
  const auto grammar = parsed(toy);
  ASSERT_NE(grammar, nullptr);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Sentence sentence = sentence_of(*grammar, 0, 0, seed);
    WordList words;
    for (const std::int32_t word : sentence.words) words.push_back(grammar->words[static_cast<std::size_t>(word)]);
    EXPECT_EQ(shown(*grammar, translation_of(*grammar, sentence)), expected(words)) << text_of(*grammar, sentence);
  }
}

std::string english_of(const std::string& person) {
  return (person[2] % 2 == 'a' % 2 ? "N" : "one") + person.substr(1);
}
std::string english_of_object(const std::string& object) {
  if (object.starts_with("food")) return "meal" + object.substr(4);
  return (object[5] % 2 == 'a' % 2 ? "opentome" : "tome") + object.substr(4);
}
bool is_name(const std::string& english) { return english[0] == 'N'; }

TEST(Translation, IsAPatternOfFormsAndArticles) {
  each(translated_toy(), [](const WordList& words) {
    const std::string object = english_of_object(words[2]), person = english_of(words[0]);
    return std::string(object[0] == 'o' ? "an " : "a ") + object + ":2 " + (is_name(person) ? "" : "the ") + person +
           ":0 had:1 " + words[1] + ":1";
  });
  each(with("{w:who} {v:a.verb} {o:a.object}", "{w.The} {w} {o.many} {v.unheard}"), [](const WordList& words) {
    const std::string person = english_of(words[0]), letters = words[2].substr(4);
    const std::string object =
        words[2].starts_with("food") ? "meals:2 of:2 the " + letters + "s:2" : english_of_object(words[2]) + ":2";
    return (is_name(person) ? "" : "The ") + person + ":0 " + object + " did" + words[1] + ":1";
  });
}

TEST(Translation, LeavesOutWhatTheSentenceLeavesOut) {
  each(with("[.5 {place}] {w:who} {v:a.verb} [.5 {x:place}] {o:a.object}",
            "{o} [from {place} ,] {w} [not {x} nor {place} ;] {v}"),
       [](const WordList& words) {
         const bool first = words[0][0] == 'p', second = words[words.size() - 2][0] == 'p';
         const int who = first ? 1 : 0, object = static_cast<int>(words.size()) - 1;
         const auto at = [](int place) { return ":" + std::to_string(place); };
         const auto place = [&](int i) {
           return "at" + at(i) + " P" + words[static_cast<std::size_t>(i)].substr(1) + at(i);
         };
         std::string text = english_of_object(words.back()) + at(object);
         if (first) text += " from " + place(0) + " ,";
         text += " " + english_of(words[static_cast<std::size_t>(who)]) + at(who);
         if (first && second) text += " not " + place(object - 1) + " nor " + place(0) + " ;";
         return text + " did" + words[static_cast<std::size_t>(who) + 1] + at(who + 1);
       });
}

TEST(Translation, RefersToWrittenRepeatedAndSecondWords) {
  json toy =
      with("{w:who} and {who} {v:a.verb} and [.5 {again:=w}] {o:a.object}", "{'and'#2} {who} {w} {'and'} {again} {v}");
  toy["english"]["and"] = "as well as";
  each(toy, [](const WordList& words) {
    std::string text =
        "as:4 well:4 as:4 " + english_of(words[2]) + ":2 " + english_of(words[0]) + ":0 as:1 well:1 as:1";
    if (words.size() == 7) text += " " + english_of(words[0]) + ":5";
    return text + " did" + words[3] + ":3";
  });
  toy["kinds"][0]["variants"][0]["words"] = "{who} {v:a.verb} {who} {o:a.object}";
  toy["kinds"][0]["variants"][0]["english"] = "{who#2} {v} {who}";
  toy["english"].erase("and");
  each(toy, [](const WordList& words) {
    return english_of(words[2]) + ":2 did" + words[1] + ":1 " + english_of(words[0]) + ":0";
  });
}

TEST(Translation, IsEmptyWhereNobodySaysHow) {
  json toy = translated_toy();
  toy["kinds"][0]["variants"][0].erase("english");
  each(toy, [](const WordList&) { return std::string(); });
  EXPECT_TRUE(has_translations(*parsed(toy))) << "of the other kind";
  EXPECT_FALSE(has_translations(*parsed(grammars::toy())));
  EXPECT_TRUE(parsed(grammars::toy())->dictionary.words.empty());
}

TEST(Translation, ChangesNoSentence) {
  const auto plain = parsed(grammars::toy()), translated = parsed(translated_toy());
  EXPECT_EQ(plain->words, translated->words);
  Random a(1), b(1);
  for (int i = 0; i < 200; ++i) {
    const Sentence one = draw_sentence(*plain, CorpusPart::training, a),
                   other = draw_sentence(*translated, CorpusPart::training, b);
    EXPECT_EQ(one.words, other.words);
    EXPECT_EQ(one.gold, other.gold);
  }
}

TEST(Translation, OfALiteralIsWrittenWithItsPlaces) {
  json toy = translated_toy();
  toy["literals"] = {{{"words", "naa reads bookaa"},
                      {"english", "an opentomeaa:2 Naa:0 had:1 reads:1 now"},
                      {"relations", json::object()}}};
  const auto grammar = parsed(toy);
  ASSERT_NE(grammar, nullptr);
  EXPECT_EQ(shown(*grammar, grammar->literals[0].english), "an opentomeaa:2 Naa:0 had:1 reads:1 now");
}

std::string refusal(const char* pointer, const json& value) {
  json toy = translated_toy();
  toy[json::json_pointer(pointer)] = value;
  const auto read = parse_grammar("toy.json", toy.dump());
  EXPECT_FALSE(read) << pointer << " " << value;
  return read ? std::string() : read.error().message();
}

TEST(Translation, IsRefusedInOneLineThatNamesThePlace) {
  const char* const english = "/kinds/0/variants/0/english";
  const auto says = [&](const char* pointer, const json& value, const std::string& part) {
    const std::string message = refusal(pointer, value);
    EXPECT_TRUE(message.starts_with("toy.json: ")) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nexpected: " << part;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  };
  says(english, "{x} {w}", "names of words in this variant, not \"{x}\"");
  says(english, "{w} {who#2}", "names of words in this variant, not \"{who#2}\"");
  says(english, "{w} {w#0}", "{name.form}");
  says(english, "{w} {w.}", "{name.form}");
  says(english, "{w} {", "{name.form}");
  says(english, "{w} w}", "{name.form}");
  says(english, "{w} (the)", "{name.form}");
  says(english, "{w} [by {o}", "a ] behind each [");
  says(english, "{w} [by [{o}]", "no group in another");
  says(english, "{w} by]", "groups as [for {name}]");
  says(english, "{w} [by]", "a {name} in every group");
  says(english, "[by {w}]", "a word that is always there");
  says(english, "", "a word that is always there");
  says(english, 3, "kinds.0.variants.0.english: expected a string, found 3");
  says("/english/reads", json(), "english.reads: expected a string, found nothing");
  says("/english/reads", "", "English words, articles as (the)");
  says("/english/reads", "(the", "English words, articles as (the)");
  says("/english/reads", {{"past", "read"}}, "a form called plain");
  says("/english/horse", "horse", "English for words of the grammar, not \"horse\"");
  says("/english", "reads", "english: expected an object");
  says("/literals", {{{"words", "naa reads bookaa"}, {"english", "Naa:0 reads:3"}, {"relations", json::object()}}},
       "each with the place of the word");
  says("/literals", {{{"words", "naa reads bookaa"}, {"english", " "}, {"relations", json::object()}}},
       "English words");
  json poor = translated_toy();
  poor["english"].erase("reads");
  const auto without = parse_grammar("toy.json", poor.dump());
  ASSERT_FALSE(without);
  EXPECT_NE(without.error().message().find("expected a dictionary with \"reads\" (past)"), std::string::npos)
      << without.error().message();
  // A pattern that is empty for all names.
  json toy = with("{w:who} {v:a.verb} {o:a.object}", "{w.the}");
  toy["kinds"].erase(1);
  for (int i = 0; i < 40; ++i)
    toy["english"][std::string("n") + static_cast<char>('a' + i / 26) + static_cast<char>('a' + i % 26)] = "Name";
  const auto read = parse_grammar("toy.json", toy.dump());
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message().find("sentences with English"), std::string::npos) << read.error().message();
}

// What the program shows first, and what the tutorials write beside it.
TEST(ShippedEnglish, HasTheDefaultSentenceAndItsTranslation) {
  const Grammar& grammar = *shipped();
  const Literal& ticket = grammar.literals.front();
  EXPECT_EQ(text_of(grammar, Sentence{.words = ticket.words}), "我请李雷帮我订了去北京的机票");
  EXPECT_EQ(shown(grammar, ticket.english), "I:0 asked:1 Li:2 Lei:2 to book:5 me:4 a ticket:9 to:6 Beijing:7");
  // A sentence of the same kind is translated in the same way.
  bool found = false;
  for (std::uint64_t seed = 0; seed < 4000 && !found; ++seed) {
    const Sentence sentence = sentence_of(grammar, 0, 0, seed);
    WordList words;
    for (const std::int32_t word : sentence.words) words.push_back(grammar.words[static_cast<std::size_t>(word)]);
    if (words[0] != "我" || std::count(words.begin(), words.end(), "我") != 2) continue;
    found = true;
    const std::string english = shown(grammar, translation_of(grammar, sentence));
    EXPECT_TRUE(english.starts_with("I:0 ")) << english;
    const auto again = std::find(words.begin() + 1, words.end(), "我") - words.begin();
    EXPECT_NE(english.find(" me:" + std::to_string(again) + " a"), std::string::npos) << english;
  }
  EXPECT_TRUE(found);
}

TEST(ShippedEnglish, IsThereForEveryChineseSentenceAndSaysAllThatIsTold) {
  const Grammar& grammar = *shipped();
  for (const SentenceKind& kind : grammar.kinds)
    for (const SentencePattern& pattern : kind.patterns)
      EXPECT_EQ(pattern.target.items.empty(), kind.language == "en") << kind.name;
  Random random(3);
  double reversed = 0, pairs = 0;
  for (int i = 0; i < 2000; ++i) {
    const Sentence sentence = draw_sentence(grammar, i % 2 ? CorpusPart::training : CorpusPart::held_out, random);
    const Translation english = translation_of(grammar, sentence);
    if (grammar.kinds[static_cast<std::size_t>(sentence.kind)].language == "en") continue;
    ASSERT_FALSE(english.words.empty());
    EXPECT_LE(english.words.size(), 40u);
    std::set<int> told;
    int before = -1;
    for (const int place : english.made_of) {
      ASSERT_LT(place, static_cast<int>(sentence.words.size()));
      if (place < 0) continue;
      told.insert(place);
      if (before >= 0 && place != before) ++pairs, reversed += place < before;
      before = place;
    }
    // All words that were drawn, but those that English does without: 帮 of a ticket, the first 它 of a story.
    int untold = 0;
    for (std::size_t place = 0; place < sentence.words.size(); ++place)
      untold += sentence.families[place] >= 0 && !told.contains(static_cast<int>(place));
    EXPECT_LE(untold, 1) << text_of(grammar, sentence);
  }
  EXPECT_GT(reversed / pairs, 0.2) << "English has another order";
}

// The encoder that comes along knows these and no others.
TEST(ShippedEnglish, IsApartFromTheWordsOfSentences) {
  const Grammar& grammar = *shipped();
  EXPECT_EQ(grammar.words.size(), 615u);
  const std::set<std::string> own(grammar.words.begin(), grammar.words.end());
  for (const std::string& word : grammar.dictionary.words) EXPECT_FALSE(own.contains(word)) << word;
  EXPECT_FALSE(own.contains("Beijing"));
  EXPECT_GT(grammar.dictionary.words.size(), 400u);
}

}  // namespace
}  // namespace headlight::translations_test
