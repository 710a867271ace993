// For the tests of what the window says: sentences that are drawn, and an answer read a second time, its maps merged to
// words in double.
#pragma once

#include <cmath>
#include <cstdlib>
#include <regex>
#include <set>

#include <nlohmann/json.hpp>

#include "app/session_fixture.h"
#include "base/random.h"
#include "base/utf8.h"
#include "derived/fold.h"
#include "math/attention.h"
#include "math/forward.h"
#include "names/named_arcs.h"
#include "text/characters.h"

namespace headlight::utterances {

namespace fs = std::filesystem;
using nlohmann::json;
using Strings = std::vector<std::string>;

inline const fs::path kTree = fs::path(HEADLIGHT_TEST_DATA).parent_path();

/// Sentences of a text: what stands between full stops and line breaks, without marks of Markdown.
inline void add_sentences(const std::string& text, std::set<std::string>& sentences) {
  std::string plain;
  for (const char c : text)
    if (std::string_view("*`|#>[]").find(c) == std::string_view::npos) plain += c;
  const std::regex ends(R"((\n|\. |。|！|？))");
  for (std::sregex_token_iterator one(plain.begin(), plain.end(), ends, -1), end; one != end; ++one) {
    std::string sentence = one->str();
    sentence.erase(0, sentence.find_first_not_of(" -"));
    if (sentence.size() > 8 && sentence.size() < 160) sentences.insert(sentence);
  }
}

struct Drawn {
  Strings prose, code;

  Drawn() {
    std::set<std::string> sentences, lines;
    for (const auto& entry : fs::directory_iterator(kTree / "docs"))
      if (entry.path().extension() == ".md") add_sentences(*read_file(entry.path()), sentences);
    for (const char* name : {"README.md", "README.zh.md", "tests/gui/sentence/sentences.txt"})
      add_sentences(*read_file(kTree / name), sentences);
    for (const auto& entry : fs::directory_iterator(kTree / "assets" / "lessons"))
      if (entry.path().extension() == ".json") {
        const json lesson = json::parse(*read_file(entry.path()));
        for (const json& value : lesson.flatten())
          if (value.is_string()) add_sentences(value.get<std::string>(), sentences);
      }
    for (const auto& entry : fs::directory_iterator(kTree / "core" / "math"))
      if (entry.path().extension() == ".cpp") add_sentences(*read_file(entry.path()), lines);
    prose.assign(sentences.begin(), sentences.end());
    code.assign(lines.begin(), lines.end());
  }

  /// Of five, three are sentences, one is a line of a program, one has the words of two sentences in no order.
  std::string sentence(Random& random) const {
    const auto one_of = [&](const Strings& all) { return all[random.next() % all.size()]; };
    const auto kind = random.next() % 5;
    if (kind < 3) return one_of(prose);
    if (kind == 3) return one_of(code);
    Strings words;
    for (const std::string& text : {one_of(prose), one_of(prose)})
      for (const auto word : split_at(' ', text)) words.emplace_back(word);
    for (std::size_t i = words.size(); i > 1; --i) std::swap(words[i - 1], words[random.next() % i]);
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text.size() < 160 ? text : text.substr(0, text.find(' ', 100));
  }
};

struct Word {
  Index first = 0, count = 0;
  std::string text;
  bool special = false, letters = false;
  std::vector<std::int64_t> ids = {};  // of its tokens
};

/// The answer to a sentence, and its maps merged to words in double.
struct Answer {
  Document document;
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const FoldedMaps> folded;
  SentenceArcs arcs;
  std::vector<Word> words;

  explicit Answer(Document asked) : document(std::move(asked)) {
    trace = *forward(requests_of(document, fixture::lexicon())->front());
    folded = folded_maps(trace, {.special = true, .words = true});
    arcs = named_arcs(document, *trace);
    const Tokens& tokens = trace->query_tokens();
    for (Index i = 0; i < std::ssize(tokens.tokens); ++i) {
      const Token& token = tokens.tokens[static_cast<std::size_t>(i)];
      if (token.continues) ++words.back().count;
      else words.push_back({i, 1, {}, token.special, false});
      words.back().ids.push_back(token.id);
      if (token.special) words.back().text = token.text;
    }
    for (Word& word : words) {
      if (word.special) continue;
      const auto& pieces = tokens.tokens;
      const std::size_t begin = pieces[static_cast<std::size_t>(word.first)].begin,
                        end = pieces[static_cast<std::size_t>(word.first + word.count - 1)].end;
      word.text = tokens.text.substr(begin, end - begin);
      word.text.erase(0, std::min(word.text.size(), word.text.find_first_not_of(" \t")));
      word.letters = std::ranges::any_of(code_points(word.text), is_word_character);
    }
  }

  const FoldedStack* stack() const { return folded && folded->stacks[0] ? &*folded->stacks[0] : nullptr; }
  /// The word of a token.
  Index word_of(Index token) const {
    return std::ranges::find_if(words, [&](const Word& one) { return token < one.first + one.count; }) - words.begin();
  }
  const Word& word(Index index) const { return words[static_cast<std::size_t>(index)]; }
  /// (words, words): of the rows of a word the mean, of the columns the sum.
  Eigen::MatrixXd merged(const HeadRef& head) const {
    const Matrix rows = attention_rows(*trace, head, 0, trace->queries());
    Eigen::MatrixXd map(std::ssize(words), std::ssize(words));
    for (Index i = 0; i < map.rows(); ++i)
      for (Index j = 0; j < map.cols(); ++j)
        map(i, j) = rows.block(word(i).first, word(j).first, word(i).count, word(j).count).cast<double>().sum() /
                    static_cast<double>(word(i).count);
    return map;
  }
};

/// “37 %”, “0.4 %” or “<0.1 %” of this number.
inline bool is_share(const std::string& text, double share) {
  if (text == "<0.1 %") return share > 0 && share < 0.001005;
  const double printed = std::strtod(text.c_str(), nullptr) / 100;
  const bool tenths = text.find('.') != text.npos;
  return text.ends_with(" %") && std::abs(printed - share) <= (tenths ? 0.000501 : 0.00501);
}

/// A word as a line shows it: its text, or what stands for white space and long words.
inline bool shows(const std::string& shown, const Word& word) {
  return shown == word.text || shown.ends_with("…") || shown.find_first_not_of(" ") == shown.npos ||
         word.text.find_first_of("\t\n\r ") != word.text.npos || !word.letters;
}

/// The lower end of Wilson's interval of 95 %.
inline double wilson(double right, double of) {
  constexpr double z = 1.959963984540054;
  const double share = right / of;
  return (share + z * z / (2 * of) - z * std::sqrt(share * (1 - share) / of + z * z / (4 * of * of))) /
         (1 + z * z / of);
}

}  // namespace headlight::utterances
