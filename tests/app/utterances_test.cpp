// What the window says of an answer is read back from its words and held against the answer. The table below has each
// sentence that it can say with the condition under which that is true; sentences of documents, lessons and programs,
// in two languages, and words in no order are drawn. HEADLIGHT_UTTERANCES: the seed (11), and the counts are printed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <regex>
#include <set>

#include <nlohmann/json.hpp>

#include "app/session_fixture.h"
#include "app/shipped.h"
#include "base/formatted.h"
#include "base/random.h"
#include "base/utf8.h"
#include "derived/guess.h"
#include "derived/head_stats.h"
#include "derived/word_changes.h"
#include "figure/change_words.h"
#include "figure/head_name.h"
#include "math/attention.h"
#include "math/forward.h"
#include "models/open_model.h"
#include "text/characters.h"
#include "view/change_source.h"
#include "words/grid_words.h"
#include "words/head_name_words.h"
#include "words/text_words.h"
#include "words/words.h"

namespace headlight::utterances {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Strings = std::vector<std::string>;

const fs::path kTree = fs::path(HEADLIGHT_TEST_DATA).parent_path();

// ---- sentences that are drawn

/// Sentences of a text: what stands between full stops and line breaks, without marks of Markdown.
void add_sentences(const std::string& text, std::set<std::string>& sentences) {
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

// ---- a second reading of the answer

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
bool is_share(const std::string& text, double share) {
  if (text == "<0.1 %") return share > 0 && share < 0.001005;
  const double printed = std::strtod(text.c_str(), nullptr) / 100;
  const bool tenths = text.find('.') != text.npos;
  return text.ends_with(" %") && std::abs(printed - share) <= (tenths ? 0.000501 : 0.00501);
}

/// A word as a line shows it: its text, or what stands for white space and long words.
bool shows(const std::string& shown, const Word& word) {
  return shown == word.text || shown.ends_with("…") || shown.find_first_not_of(" ") == shown.npos ||
         word.text.find_first_of("\t\n\r ") != word.text.npos || !word.letters;
}

/// The lower end of Wilson's interval of 95 %.
double wilson(double right, double of) {
  constexpr double z = 1.959963984540054;
  const double share = right / of;
  return (share + z * z / (2 * of) - z * std::sqrt(share * (1 - share) / of + z * z / (4 * of * of))) /
         (1 + z * z / of);
}

// ---- the table

/// One utterance: what it is about, and the values that stand in its words.
struct Said {
  const Answer& answer;
  Language language;
  HeadRef head;
  CellRef cell = {};
  const NamedArc* arc = nullptr;
  const HeadName* name = nullptr;
  Strings values = {};
};

using Holds = bool (*)(const Said& said);

bool of_cell(const Said& said) {
  const Index from = said.answer.word_of(said.cell.query), to = said.answer.word_of(said.cell.key);
  return shows(said.values[0], said.answer.word(from)) && shows(said.values[1], said.answer.word(to)) &&
         is_share(said.values[2], said.answer.merged(said.head)(from, to));
}

bool looks_at(const Said& said) {
  const Index from = said.answer.word_of(said.cell.query), to = said.answer.word_of(said.cell.key);
  return of_cell(said) && from != to && !said.answer.word(to).special;
}

bool rests(const Said& said) { return of_cell(said) && said.answer.word(said.answer.word_of(said.cell.key)).special; }

bool looks_at_itself(const Said& said) {
  const Index word = said.answer.word_of(said.cell.query);
  return word == said.answer.word_of(said.cell.key) && shows(said.values[0], said.answer.word(word)) &&
         is_share(said.values[1], said.answer.merged(said.head)(word, word));
}

/// No two words have more; the words have letters or, of `strongest_cell`, one of them has none.
bool is_strongest(const Said& said, bool letters) {
  const Answer& answer = said.answer;
  const Eigen::MatrixXd map = answer.merged(said.head);
  const Index from = answer.word_of(said.cell.query), to = answer.word_of(said.cell.key);
  for (Index i = 0; i < map.rows(); ++i)
    for (Index j = 0; j < map.cols(); ++j)
      if (!answer.word(i).special && !answer.word(j).special && map(i, j) > map(from, to) + 1e-6) return false;
  return letters == (answer.word(from).letters && answer.word(to).letters);
}
bool strongest(const Said& said) { return is_strongest(said, true); }
bool strongest_cell(const Said& said) { return is_strongest(said, false); }

/// A row of the model's card has this head and relation, right often enough, and this is how often.
bool is_measured(const Said& said, const std::string& relation, const std::string& right, const std::string& count,
                 bool enough) {
  static const json card = json::parse(*read_file(kTree / "assets/models/any-sentence/training.json"));
  const std::string head = std::to_string(said.head.layer) + "." + std::to_string(said.head.head);
  const std::string language = is_in_chinese(said.answer.trace->query_tokens()) ? "zh" : "en";
  for (const json& one : card.at("arcs")) {
    if (one.at("head") != head || one.at("relation") != said.arc->relation || one.at("language") != language) continue;
    const double all = one.at("named").get<double>(), good = one.at("right").get<double>();
    return (wilson(good, all) >= 0.6 || !enough) && std::abs(std::stod(right) - 100 * good / all) <= 0.501 &&
           (count.empty() || std::stod(count) == all) && !relation.empty();
  }
  return false;
}

/// A name of a cell: the head points from word to word, with the least weight or more; neither is a special token.
bool points(const Said& said) {
  const Answer& answer = said.answer;
  const Index from = answer.word_of(said.cell.query), to = answer.word_of(said.cell.key);
  return answer.merged(said.head)(from, to) >= 0.3 - 1e-6 && !answer.word(from).special && !answer.word(to).special;
}
bool relation(const Said& said) { return points(said) && is_measured(said, said.values[0], said.values[1], "", true); }
bool right_in(const Said& said) {
  return points(said) && is_measured(said, said.values[0], said.values[1], said.values[2], true);
}
bool right_in_texts(const Said& said) {
  const Answer& answer = said.answer;
  const Index from = answer.word_of(said.cell.query), to = answer.word_of(said.cell.key);
  return points(said) && to < from && answer.merged(said.head)(from, to) >= 0.8 - 1e-6 &&
         is_measured(said, said.values[0], said.values[1], said.values[2], false);
}

/// How many words with letters that have no name here have no more anywhere than on the first token; `near`: less than
/// this more is no more.
int resting_words(const Said& said, double near) {
  const Answer& answer = said.answer;
  const Matrix rows = attention_rows(*answer.trace, said.head, 0, answer.trace->queries());
  const Eigen::MatrixXd map = answer.merged(said.head);
  int count = 0;
  for (Index i = 0; i < map.rows(); ++i) {
    const Word& word = answer.word(i);
    const auto is_from = [&](const NamedArc& arc) { return arc.head == said.head && arc.from.first == word.first; };
    if (word.special || !word.letters || std::ranges::any_of(answer.arcs.named, is_from)) continue;
    const double rest = map(i, 0) + near;
    bool most = near < 0 || rows.middleRows(word.first, word.count).cast<double>().colwise().mean().maxCoeff() <= rest;
    for (Index j = 1; j < map.cols(); ++j) most = most && (answer.word(j).special || map(i, j) <= rest);
    count += most;
  }
  return count;
}
bool resting(const Said& said) {
  const int said_to_rest = said.values.size() == 1 ? 1 : std::stoi(said.values[0]);
  return resting_words(said, -1e-6) <= said_to_rest && said_to_rest <= resting_words(said, 1e-6) &&
         said.values.back() == said.answer.word(0).text;
}

/// The measures by which a head without a relation is named, in rows of words.
std::map<std::string, double> measures_of_words(const Said& said) {
  const Answer& answer = said.answer;
  const Eigen::MatrixXd map = answer.merged(said.head);
  const Index n = map.cols();
  std::map<std::string, std::pair<double, int>> sums;
  const auto add = [&](const char* name, double value) { sums[name].first += value, ++sums[name].second; };
  Eigen::VectorXd columns = Eigen::VectorXd::Zero(n);
  int rows = 0;
  for (Index i = 0; i < n; ++i) {
    if (answer.word(i).special) continue;
    ++rows;
    columns += map.row(i).transpose();
    double entropy = 0, special = 0, again = 0;
    for (Index j = 0; j < n; ++j) {
      const double p = map(i, j) / map.row(i).sum();
      entropy -= p > 0 ? p * std::log(p) : 0;
      special += answer.word(j).special ? map(i, j) : 0;
      again += j < i && answer.word(j).ids == answer.word(i).ids ? map(i, j) : 0;
    }
    add("normalized", entropy / std::log(static_cast<double>(n)));
    add("special", special);
    add("first", map(i, 0));
    add("same", map(i, i));
    if (i > 0 && !answer.word(i - 1).special) add("previous", map(i, i - 1));
    if (i + 1 < n && !answer.word(i + 1).special) add("next", map(i, i + 1));
    const auto is_same = [&](const Word& one) { return one.ids == answer.word(i).ids; };
    if (std::find_if(answer.words.begin(), answer.words.begin() + i, is_same) != answer.words.begin() + i)
      sums["duplicate"].first += again, ++sums["duplicate"].second;
  }
  std::map<std::string, double> means;
  for (const auto& [name, sum] : sums)
    if (2 * sum.second >= rows) means[name] = sum.first / sum.second;
  Index key = 0;
  means["sink"] = columns.maxCoeff(&key) / rows;
  means["sink key"] = static_cast<double>(key);
  return means;
}

/// More than half of the weight goes there, and no less than to any other pattern.
bool is_named_by(const Said& said, const char* measure) {
  const auto means = measures_of_words(said);
  if (!means.contains(measure) || means.at(measure) <= 0.5 - 1e-5) return false;
  for (const char* other : {"previous", "next", "same", "special", "first", "duplicate"})
    if (means.contains(other) && means.at(other) > means.at(measure) + 1e-5) return false;
  return means.at("normalized") <= 0.95 + 1e-5;
}
bool previous(const Said& said) { return is_named_by(said, "previous"); }
bool next(const Said& said) { return is_named_by(said, "next"); }
bool same(const Said& said) { return is_named_by(said, "same"); }
bool special(const Said& said) { return is_named_by(said, "special"); }
bool first(const Said& said) { return is_named_by(said, "first"); }
bool duplicate(const Said& said) { return is_named_by(said, "duplicate"); }
bool spread(const Said& said) { return measures_of_words(said).at("normalized") > 0.85 - 1e-5; }
bool sink(const Said& said) {
  const auto means = measures_of_words(said);
  const Word& word = said.answer.word(static_cast<Index>(means.at("sink key")));
  return means.at("sink") > 2.0 / static_cast<double>(said.answer.words.size()) - 1e-5 && shows(said.values[0], word);
}
bool mixed(const Said& said) {
  const auto means = measures_of_words(said);
  for (const char* measure : {"previous", "next", "same", "special", "first", "duplicate"})
    if (means.contains(measure) && means.at(measure) > 0.5 + 1e-5) return false;
  return means.at("normalized") <= 0.85 + 1e-5;
}
/// All words with letters rest on the first token.
bool all_rest(const Said& said) {
  Said all{said};
  int letters = 0;
  for (const Word& word : said.answer.words) letters += !word.special && word.letters;
  all.values = {std::to_string(letters), said.answer.word(0).text};
  return resting(all);
}

/// The sentence with the change made is asked: the row's largest weight is on that word, and is what is printed.
bool moved(const Said& said, const WordChange& change) {
  Document document = said.answer.document;
  document.source.text = change.text;
  const Answer after(std::move(document));
  const auto& tokens = said.answer.trace->query_tokens().tokens;
  const Index shift = after.trace->queries() - said.answer.trace->queries();
  const Index query = said.cell.query + (change.token < said.cell.query ? shift : 0);
  const Index key = change.key + (change.token < change.key ? shift : 0);
  const Eigen::MatrixXd map = after.merged(said.head), before = said.answer.merged(said.head);
  const Index row = after.word_of(query), column = after.word_of(key);
  bool most = true;
  for (Index j = 0; j < map.cols(); ++j)
    most = most && (after.word(j).special || !after.word(j).letters || map(row, j) <= map(row, column) + 1e-6);
  return tokens[static_cast<std::size_t>(change.token)].text == said.values[0] && change.to == said.values[1] &&
         (most || !change.moves) && std::abs(map(row, column) - static_cast<double>(change.after)) < 1e-4 &&
         std::abs(before(said.answer.word_of(said.cell.query), said.answer.word_of(change.key)) -
                  static_cast<double>(change.before)) < 1e-4;
}

struct Row {
  const char* words;  // of words.json
  const char* when;   // what it states
  Holds holds;
};
constexpr Row kTable[] = {
    {"StageWords.looks_at", "of two words, the weight of the map of words", looks_at},
    {"StageWords.points_at", "the same", looks_at},
    {"StageWords.looks_at_itself", "of one word, its weight on itself", looks_at_itself},
    {"StageWords.rests", "the key is a special token", rests},
    {"StageWords.strongest", "no two words of the head have more; both have letters", strongest},
    {"StageWords.strongest_cell", "no two have more; one of them is a mark", strongest_cell},
    {"StageWords.relation", "weight of .3 and more; the card's share, its lower end .6 and more", relation},
    {"StageWords.relation_close", "the same", relation},
    {"TextWords.right_in", "the same, and of how many cells", right_in},
    {"TextWords.right_in_texts", "a word before it, weight of .8 and more; the card's share and count", right_in_texts},
    {"HeadNameWords.resting", "so many words with letters have most on the first token", resting},
    {"HeadNameWords.resting_one", "one has", resting},
    {"HeadNameWords.rests", "all have", all_rest},
    {"HeadNameWords.previous", "more than half of the weight, and no less than elsewhere", previous},
    {"HeadNameWords.next", "the same", next},
    {"HeadNameWords.same", "the same", same},
    {"HeadNameWords.first", "the same", first},
    {"HeadNameWords.special", "the same", special},
    {"HeadNameWords.duplicate", "the same, of words that stand there before", duplicate},
    {"HeadNameWords.spread", "normalized entropy above .85", spread},
    {"HeadNameWords.sink", "the column with most has twice an even share, and that is its word", sink},
    {"HeadNameWords.mixed", "none of these", mixed},
};

class Reader {
 public:
  Reader() : table_(json::parse(*read_file(kTree / "app/words/words.json"))) {}

  /// The values that stand in a text that these words begin; the rest of the text is left. Nothing where they do not.
  std::optional<Strings> begins(std::string& text, const std::string& name, Language language) const {
    const std::size_t dot = name.find('.');
    const std::string group = name.substr(0, dot);
    for (const auto& [file, groups] : table_.items()) {
      if (!groups.is_object() || !groups.contains(group)) continue;
      const std::string words = groups[group].at(name.substr(dot + 1))[language == Language::zh ? 1 : 0];
      std::string pattern;
      for (const char c : words) {
        if (c == '%') pattern += "(.*?)";
        else
          pattern += std::string_view(".[]{}()*+?^$|\\").find(c) == std::string_view::npos ? std::string(1, c)
                                                                                           : std::string("\\") + c;
      }
      const bool ends = words.ends_with('%');
      std::smatch found;
      if (!std::regex_search(text, found,
                             std::regex("^" + pattern + (ends ? "(?=$|: |：|; |；|, |，| \\(|（|。|\\.$)" : ""))))
        return std::nullopt;
      Strings values;
      for (std::size_t i = 1; i < found.size(); ++i) values.push_back(found[i].str());
      text = found.suffix().str();
      return values;
    }
    ADD_FAILURE() << name << ": expected in words.json";
    return std::nullopt;
  }

 private:
  json table_;
};

const Reader& reader() {
  static const Reader read;
  return read;
}

std::map<std::string, int> counts;

/// Reads the text by rows of the table, one after another, until nothing is left; each must hold.
void expect_true(std::string text, Said said, const std::vector<const char*>& possible) {
  const std::string whole = text, sentence = said.answer.document.source.text;
  const std::string stop = words(said.language, kStageWords.full_stop);
  while (!text.empty() && text != stop) {
    const std::string before = text;
    for (const Row& row : kTable) {
      if (std::ranges::none_of(possible, [&](const char* one) { return std::string_view(one) == row.words; })) continue;
      const auto values = reader().begins(text, row.words, said.language);
      if (!values) continue;
      said.values = *values;
      EXPECT_TRUE(row.holds(said)) << row.words << " (" << row.when << "): " << whole << "\n  in: " << sentence;
      ++counts[row.words];
      break;
    }
    if (text == before) {
      ADD_FAILURE() << "no row of the table says: " << text << "\n  of: " << whole << "\n  in: " << sentence;
      return;
    }
  }
}

// ---- what is said

const std::vector<const char*> kOfCells{
    "StageWords.strongest", "StageWords.strongest_cell", "StageWords.looks_at_itself", "StageWords.rests",
    "StageWords.looks_at",  "StageWords.points_at",      "StageWords.relation_close",  "StageWords.relation"};
const std::vector<const char*> kOfNames{"HeadNameWords.previous",    "HeadNameWords.next",   "HeadNameWords.same",
                                        "HeadNameWords.special",     "HeadNameWords.first",  "HeadNameWords.rests",
                                        "HeadNameWords.duplicate",   "HeadNameWords.spread", "HeadNameWords.mixed",
                                        "HeadNameWords.resting_one", "HeadNameWords.resting"};

void cells_are_true(const Answer& answer, Language language, const HeadRef& head, Random& random) {
  const FoldedStack* folded = answer.stack();
  const CellRef strongest = strongest_cell(*answer.trace, head, folded);
  const auto line = [&](const CellRef& cell, const NamedArc* arc, bool chosen) {
    return lines_of_cell(language, cell_of(*answer.trace, head, cell, folded), arc, chosen);
  };
  expect_true(line(strongest, nullptr, false).front(), {answer, language, head, strongest}, kOfCells);
  const auto tokens = static_cast<std::uint64_t>(answer.trace->queries());
  const CellRef any{1 + static_cast<Index>(random.next() % (tokens - 1)), static_cast<Index>(random.next() % tokens)};
  expect_true(line(any, nullptr, true).front(), {answer, language, head, any}, kOfCells);
}

void arcs_are_true(const Answer& answer, Language language) {
  for (const NamedArc& arc : answer.arcs.named) {
    const Said said{answer, language, arc.head, arc.cell, &arc};
    const auto lines = lines_of_cell(language, cell_of(*answer.trace, arc.head, arc.cell, answer.stack()), &arc, true);
    expect_true(lines.front(), said, kOfCells);
    expect_true(measured_in_words(language, kTextWords.right_in, arc), said, {"TextWords.right_in"});
  }
  for (const NamedArc& arc : answer.arcs.referring)
    expect_true(measured_in_words(language, kTextWords.right_in_texts, arc),
                {answer, language, arc.head, arc.cell, &arc}, {"TextWords.right_in_texts"});
}

void names_are_true(const Answer& answer, Language language) {
  const std::vector<HeadRef> heads = heads_of(*answer.trace);
  const std::vector<HeadName> names = names_of(language, answer.document, *answer.trace, heads);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const HeadName& name = names[i];
    Said said{answer, language, heads[i], {}, nullptr, &name};
    if (name.words.empty()) continue;
    if (name.measure == Measure::sink) {
      const std::string colon = words(language, kHeadNameWords.colon);
      const std::size_t at = name.words.find(colon);
      said.values = {at == name.words.npos ? "…" : name.words.substr(at + colon.size())};
      EXPECT_TRUE(sink(said)) << name.words << "\n  in: " << answer.document.source.text;
      ++counts["HeadNameWords.sink"];
      continue;
    }
    std::string text = name.words;
    if (name.named) {  // the numbers before the relations, together, are the arcs of the head
      const std::string semicolon = words(language, kHeadNameWords.semicolon);
      const std::size_t end = text.find(semicolon);
      int count = 0;
      const std::string relations = text.substr(0, end), comma = words(language, kHeadNameWords.comma);
      for (std::size_t at = 0; at < relations.size();) {
        count += std::max(1, std::atoi(relations.c_str() + at));
        const std::size_t next_comma = relations.find(comma, at);
        at = next_comma == relations.npos ? relations.size() : next_comma + comma.size();
      }
      EXPECT_EQ(count, std::ssize(answer.arcs.of(heads[i]))) << name.words << "\n  in: " << answer.document.source.text;
      text = end == text.npos ? "" : text.substr(end + semicolon.size());
    }
    expect_true(text, said, kOfNames);
  }
}

/// Of the row of a cell that has a name: other words there may well move it.
void changes_are_true(const Answer& answer, Language language, Random& random) {
  if (answer.arcs.named.empty()) return;
  const NamedArc& arc = answer.arcs.named[random.next() % answer.arcs.named.size()];
  const HeadRef head = arc.head;
  const Word& word = answer.word(answer.word_of(arc.cell.query));
  if (!may_change_words(answer.document, *answer.trace) || !may_change_row(*answer.trace, {}, head, word.first)) return;
  const ChangeSource source = change_source(answer.document, fixture::shipped().get(), fixture::lexicon(), 0);
  const auto changes = find_changes({answer.trace, head, word.first}, source, unwatched());
  for (const WordChange& change : changes->best) {
    const std::string label = change_label(language, change, [](const std::string& text) { return text; });
    std::string text = label;
    const auto values = reader().begins(text, "StageWords.moved", language);
    ASSERT_TRUE(values && text.empty()) << label << "|" << text;
    const Said said{answer, language, head, {word.first, change.key}, nullptr, nullptr, *values};
    EXPECT_TRUE(moved(said, change)) << label << "\n  in: " << answer.document.source.text;
    ++counts["StageWords.moved"];
  }
  EXPECT_TRUE(changes->best.empty() ==
                  (no_change_line(language, *changes, "", [](const std::string& text) { return text; }) != "") ||
              changes->tried == 0);
}

/// The words that are guessed in the place of a hidden one have the probabilities of an answer with that word hidden.
void guess_is_true(const Answer& answer, Random& random) {
  const auto token = static_cast<Index>(random.next() % static_cast<std::uint64_t>(answer.trace->queries()));
  if (!can_hide(*answer.trace, token)) return;
  const auto guess = make_guess({answer.trace, token}, unwatched());
  ASSERT_TRUE(guess);
  const Eigen::VectorXd logits = (*forward(with_hidden(*answer.trace, token)))->logits.cast<double>();
  const double most = logits.maxCoeff(), all = (logits.array() - most).exp().sum();
  ASSERT_FALSE(guess->words.empty());
  EXPECT_EQ(logits(guess->words.front().word.row), most);
  for (const GuessedWord& one : guess->words) {
    const std::string share = share_text(static_cast<double>(one.word.probability));
    const double own = std::exp(logits(one.word.row) - most) / all;
    EXPECT_TRUE(is_share(share, own) || (own < 1e-9 && share == "0 %")) << one.word.text << share << own;
  }
  ++counts["StageWords.in_place"];
}

TEST(Utterances, AreTrueOfTheAnswer) {
  const char* asked = std::getenv("HEADLIGHT_UTTERANCES");
  const auto opened = open_model(std::string(kAnySentence));
  ASSERT_TRUE(opened);
  const Drawn drawn;
  ASSERT_GT(drawn.prose.size(), 1000u);
  ASSERT_GT(drawn.code.size(), 200u);
  Random random(asked ? static_cast<std::uint64_t>(std::atoi(asked)) : 11);
  for (int i = 0; i < 300 && !testing::Test::HasFailure(); ++i) {
    Document document = opened->document;
    document.mask.causal = false;
    set_text(document, TextSide::source, drawn.sentence(random), fixture::lexicon());
    const Answer answer(std::move(document));
    if (answer.words.size() < 3) continue;
    const Language language = i % 2 == 0 ? Language::en : Language::zh;
    const HeadRef head{static_cast<Index>(random.next() % 4), static_cast<Index>(random.next() % 9)};
    cells_are_true(answer, language, head, random);
    arcs_are_true(answer, language);
    names_are_true(answer, language);
    if (i % 30 == 0) changes_are_true(answer, language, random);
    if (i % 10 == 0) guess_is_true(answer, random);
  }
  for (const auto& [row, times] : counts) RecordProperty(row, times);
  if (asked)
    for (const auto& [row, times] : counts) std::printf("%7d %s\n", times, row.c_str());
}

}  // namespace
}  // namespace headlight::utterances
