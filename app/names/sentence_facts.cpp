#include "names/sentence_facts.h"

#include <algorithm>
#include <set>

#include "assets/assets.h"
#include "base/file.h"
#include "base/random.h"
#include "base/utf8.h"
#include "heads/arc_labels.h"
#include "text/characters.h"

namespace headlight {
namespace {

/// Of the grammar's millions of sentences so many are compared: enough to have one of every kind and length.
constexpr int kDrawn = 2000;
constexpr std::uint64_t kDrawnSeed = 1;

bool is_ascii(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Words changed, put in or taken out (Levenshtein distance over words).
std::size_t distance(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// Whether most words are in letters of ASCII: a sentence of the other script is no neighbour.
bool is_latin(const std::vector<std::string>& words) {
  const auto latin = std::count_if(words.begin(), words.end(), [](const std::string& word) { return is_ascii(word); });
  return 2 * latin > static_cast<std::ptrdiff_t>(words.size());
}

/// Spaces between the words of scripts that have them.
std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool sign = word.size() == 1 && (word[0] == '.' || word[0] == ',' || word[0] == '!' || word[0] == '?');
    if (!text.empty() && !sign && is_ascii(word) && is_ascii(text.substr(text.size() - 1))) text += ' ';
    text += word;
  }
  return text;
}

/// Words that begin with a Chinese character, and those in letters: whole words of the list, and others.
struct WordCounts {
  Index chinese = 0, listed = 0, others = 0;
  Index unknown_characters = 0;  // Chinese, spelt in bytes
};

WordCounts counted_words(const Tokens& tokens) {
  constexpr std::string_view kFirstByte = "<0xE";  // of the three of a Chinese character
  WordCounts words;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens.tokens[i];
    words.unknown_characters += token.raw.starts_with(kFirstByte);
    const std::vector<char32_t> letters = code_points(token.text);
    if (token.special || token.pad || token.continues || letters.empty()) continue;
    if (!is_word_character(letters[0]) || is_numeric(letters[0])) continue;
    const bool goes_on = i + 1 < tokens.size() && tokens.tokens[i + 1].continues;
    if (is_chinese_character(letters[0])) ++words.chinese;
    else ++(goes_on || token.id >= tokens.word_rows ? words.others : words.listed);
  }
  return words;
}

/// Brackets, operators, options, dots inside names, keywords in capitals: two of them for what prose hardly has.
Index signs_of_programs(const std::vector<char32_t>& text) {
  constexpr std::u32string_view kSigns = U"{}[]<>\\|&^~_#`";
  const auto is_small = [](char32_t c) { return c >= U'a' && c <= U'z'; };
  Index count = 0, keywords = 0, capitals = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto at = [&](std::size_t j) { return j < text.size() ? text[j] : U'\n'; };
    const char32_t c = text[i], before = at(i - 1), after = at(i + 1);
    const bool calls = c == U'(' && is_word_character(before) && !is_chinese_character(before);
    const bool ends = c == U';' && after == U'\n', option = c == U'-' && before == U' ' && is_small(after);
    const bool dotted = c == U'.' && is_small(at(i - 2)) && is_small(before) && is_small(after) && is_small(at(i + 2));
    count += dotted || option || c == U'=' ? 2 : calls || ends || kSigns.find(c) != kSigns.npos;
    capitals = c >= U'A' && c <= U'Z' ? capitals + 1 : 0;
    keywords += capitals == 4;
  }
  return keywords >= 3 && std::any_of(text.begin(), text.end(), is_small) ? count + 2 * keywords : count;
}

bool begins_in_ascii(std::string_view word) { return static_cast<unsigned char>(word.front()) < 0x80; }

bool is_special(std::string_view word) { return word.size() > 2 && word.front() == '<' && word.back() == '>'; }

/// Punctuation is known to every model and carries no information.
bool tells(std::string_view word) {
  const char first = word.front();
  const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
  return !begins_in_ascii(word) || letter;
}

/// The words of a text and their tokens.
struct TextWords {
  std::vector<std::string_view> words;
  std::vector<Index> tokens;
  Index unknown = 0;
};

TextWords words_of(const Tokens& tokens) {
  TextWords text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens.tokens[i];
    if (token.special || token.pad) continue;
    text.unknown += !token.known;
    text.words.push_back(token.text);
    text.tokens.push_back(static_cast<Index>(i));
  }
  return text;
}

}  // namespace

bool is_of_measured_kind(const Tokens& tokens) {
  if (tokens.word_rows == 0) return true;
  const WordCounts words = counted_words(tokens);
  const Index all = words.chinese + words.listed + words.others;
  const Index letters = words.listed + words.others;
  const std::vector<char32_t> characters = code_points(tokens.text);
  const auto chinese = std::count_if(characters.begin(), characters.end(), is_chinese_character);
  return 2 * words.others <= all && (words.chinese == 0 || 4 * letters < all) &&
         (words.unknown_characters == 0 || 12 * words.unknown_characters < chinese) &&
         10 * signs_of_programs(characters) <= static_cast<Index>(spelt_words(tokens).size());
}

SentenceFacts sentence_facts(const Tokens& tokens, const Grammar* grammar) {
  const TextWords text = words_of(tokens);
  SentenceFacts facts{.words = static_cast<Index>(text.words.size()),
                      .unknown = text.unknown,
                      .measured_kind = is_of_measured_kind(tokens)};
  if (!grammar || facts.unknown > 0) return facts;
  const auto match = match_sentence(*grammar, text.words);
  if (!match) return facts;
  facts.of_grammar = true;
  for (const Gold& gold : match->gold)
    facts.relations.push_back(
        {grammar->relations[at(gold.relation)].name, text.tokens[at(gold.query)], text.tokens[at(gold.key)]});
  return facts;
}

std::vector<RelatedWords> translated_words(const Grammar& grammar, const Tokens& sentence, const Tokens& translation) {
  const TextWords text = words_of(sentence), target = words_of(translation);
  const auto match = match_sentence(grammar, text.words);
  if (!match) return {};
  const Translation english = translation_of(grammar, *match);
  std::vector<RelatedWords> pairs;
  for (std::size_t i = 0; i < target.words.size(); ++i) {
    if (i >= english.words.size() || target.words[i] != target_word(grammar, english.words[i])) return {};
    if (english.made_of[i] < 0) continue;
    const Index source = text.tokens[at(english.made_of[i])];
    pairs.push_back({"OWN", target.tokens[i], source});
    if (i > 0) pairs.push_back({"NEXT", target.tokens[i - 1], source});
  }
  return pairs;
}

const Grammar* shipped_grammar() {
  static const std::optional<Grammar> kept = []() -> std::optional<Grammar> {
    const auto folder = asset_folder();
    if (!folder) return std::nullopt;
    const auto path = *folder / "assets" / "grammar.json";
    const auto text = read_file(path, kLargestAsset);
    if (!text) return std::nullopt;
    auto grammar = parse_grammar(path.string(), *text);
    if (!grammar) return std::nullopt;
    return std::move(*grammar);
  }();
  return kept ? &*kept : nullptr;
}

std::string nearest_known_sentence(const std::vector<std::string>& words, const Vocabulary& vocabulary,
                                   const Grammar& grammar, const std::vector<std::vector<std::string>>& samples) {
  const std::set<std::string> known(vocabulary.words.begin(), vocabulary.words.end());
  const bool latin = is_latin(words);
  if (!latin && !std::ranges::any_of(words, has_chinese)) return {};  // of another script there is none
  std::vector<std::string> nearest;
  std::size_t least = 0;
  const auto consider = [&](const std::vector<std::string>& candidate) {
    if (candidate.empty() || is_latin(candidate) != latin) return;
    const auto is_known = [&](const std::string& word) { return known.contains(word); };
    if (!std::all_of(candidate.begin(), candidate.end(), is_known)) return;
    const std::size_t apart = distance(words, candidate);
    if (!nearest.empty() && apart >= least) return;
    nearest = candidate;
    least = apart;
  };
  for (const auto& sample : samples) consider(sample);
  Random random(kDrawnSeed);
  for (int i = 0; i < kDrawn; ++i) {
    const Sentence sentence = draw_sentence(grammar, CorpusPart::training, random);
    std::vector<std::string> drawn;
    for (const std::int32_t word : sentence.words) drawn.push_back(grammar.words[at(word)]);
    consider(drawn);
  }
  return joined(nearest);
}

std::vector<WordFamily> known_families(const Grammar& grammar, const Vocabulary& vocabulary) {
  const std::set<std::string> known(vocabulary.words.begin(), vocabulary.words.end());
  std::vector<WordFamily> families;
  for (std::size_t i = 0; i < grammar.families.size(); ++i) {
    WordFamily family{grammar.family_names[i], {}};
    for (const std::int32_t word : grammar.families[i])
      if (known.contains(grammar.words[at(word)])) family.words.push_back(grammar.words[at(word)]);
    if (!family.words.empty()) families.push_back(std::move(family));
  }
  return families;
}

KnownWords known_words(const Vocabulary& vocabulary, std::string_view like, std::size_t most) {
  KnownWords known;
  std::vector<const std::string*> alike;
  const bool ascii = like.empty() || begins_in_ascii(like);
  for (const std::string& word : vocabulary.words) {
    if (word.empty() || is_special(word)) continue;
    ++known.count;
    if (begins_in_ascii(word) == ascii && tells(word)) alike.push_back(&word);
  }
  if (known.count > kMostWholeWords) return known;
  const std::size_t count = std::min(most, alike.size());
  for (std::size_t i = 0; i < count; ++i) known.examples.push_back(*alike[i * alike.size() / count]);
  return known;
}

std::string unknown_words_line(const std::vector<Request>& requests) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> unknown;
  std::string read_as = "<unk>";  // where the token is spelt as the text
  for (const Request& request : requests)
    for (const Tokens* tokens : {&request.tokens, &request.target})
      for (const Token& token : tokens->tokens)
        if (!token.known && !token.special && !token.pad &&
            std::find(unknown.begin(), unknown.end(), token.text) == unknown.end())
          unknown.push_back(token.text), read_as = token.raw.find_first_of("<[") == 0 ? token.raw : read_as;
  if (unknown.empty()) return {};
  std::string line = unknown.size() == 1 ? "1 word is" : std::to_string(unknown.size()) + " words are";
  line += " unknown to the model and read as " + read_as;
  for (std::size_t i = 0; i < std::min(unknown.size(), kMostNamed); ++i)
    line += (i == 0 ? ": " : ", ") + printable(unknown[i]);
  return line + (unknown.size() > kMostNamed ? ", …" : "");
}

}  // namespace headlight
