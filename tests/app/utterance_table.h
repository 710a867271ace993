// Each sentence that the window can say of an answer, with the condition under which it is true.
#pragma once

#include <map>

#include "app/answer_in_words.h"
#include "derived/word_changes.h"
#include "figure/head_name.h"

namespace headlight::utterances {

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

inline bool of_cell(const Said& said) {
  const Index from = said.answer.word_of(said.cell.query), to = said.answer.word_of(said.cell.key);
  return shows(said.values[0], said.answer.word(from)) && shows(said.values[1], said.answer.word(to)) &&
         is_share(said.values[2], said.answer.merged(said.head)(from, to));
}

inline bool looks_at(const Said& said) {
  const Index from = said.answer.word_of(said.cell.query), to = said.answer.word_of(said.cell.key);
  return of_cell(said) && from != to && !said.answer.word(to).special;
}

inline bool rests(const Said& said) {
  return of_cell(said) && said.answer.word(said.answer.word_of(said.cell.key)).special;
}

inline bool looks_at_itself(const Said& said) {
  const Index word = said.answer.word_of(said.cell.query);
  return word == said.answer.word_of(said.cell.key) && shows(said.values[0], said.answer.word(word)) &&
         is_share(said.values[1], said.answer.merged(said.head)(word, word));
}

/// No two words have more; the words have letters or, of `strongest_cell`, one of them has none.
inline bool is_strongest(const Said& said, bool letters) {
  const Answer& answer = said.answer;
  const Eigen::MatrixXd map = answer.merged(said.head);
  const Index from = answer.word_of(said.cell.query), to = answer.word_of(said.cell.key);
  for (Index i = 0; i < map.rows(); ++i)
    for (Index j = 0; j < map.cols(); ++j)
      if (!answer.word(i).special && !answer.word(j).special && map(i, j) > map(from, to) + 1e-6) return false;
  return letters == (answer.word(from).letters && answer.word(to).letters);
}
inline bool strongest(const Said& said) { return is_strongest(said, true); }
inline bool strongest_cell(const Said& said) { return is_strongest(said, false); }

/// Whether the grammar has all words: its sentences were measured by themselves.
inline bool has_words_of_grammar(const Answer& answer) {
  static const json words = json::parse(*read_file(kTree / "assets/models/encoder/tokenizer.json"))["model"]["vocab"];
  return std::ranges::all_of(answer.words, [](const Word& word) { return word.special || words.contains(word.text); });
}

/// A row of the model's card has this head and relation, right often enough, and this is how often.
inline bool is_measured(const Said& said, const std::string& relation, const std::string& right,
                        const std::string& count, bool enough) {
  static const json card = json::parse(*read_file(kTree / "assets/models/any-sentence/training.json"));
  const std::string head = std::to_string(said.head.layer) + "." + std::to_string(said.head.head);
  const std::string language = is_in_chinese(said.answer.trace->query_tokens()) ? "zh" : "en";
  for (const json& one : card.at("arcs")) {
    if (one.at("head") != head || one.at("relation") != said.arc->relation) continue;
    const bool of_grammar = one.at("language") == "grammar" && has_words_of_grammar(said.answer);
    if (one.at("language") != language && !of_grammar) continue;
    const double all = one.at("named").get<double>(), good = one.at("right").get<double>();
    if ((wilson(good, all) >= 0.6 || !enough) && std::abs(std::stod(right) - 100 * good / all) <= 0.501 &&
        (count.empty() || std::stod(count) == all) && !relation.empty())
      return true;
  }
  return false;
}

/// A name of a cell: the head points from word to word, with the least weight or more; neither is a special token.
inline bool points(const Said& said) {
  const Answer& answer = said.answer;
  const Index from = answer.word_of(said.cell.query), to = answer.word_of(said.cell.key);
  return answer.merged(said.head)(from, to) >= 0.3 - 1e-6 && !answer.word(from).special && !answer.word(to).special;
}
inline bool relation(const Said& said) {
  return points(said) && is_measured(said, said.values[0], said.values[1], "", true);
}
inline bool right_in(const Said& said) {
  return points(said) && is_measured(said, said.values[0], said.values[1], said.values[2], true);
}
inline bool right_in_texts(const Said& said) {
  const Answer& answer = said.answer;
  const Index from = answer.word_of(said.cell.query), to = answer.word_of(said.cell.key);
  return points(said) && to < from && answer.merged(said.head)(from, to) >= 0.8 - 1e-6 &&
         is_measured(said, said.values[0], said.values[1], said.values[2], false);
}

/// How many words with letters that have no name here have no more anywhere than on the first token; `near`: less than
/// this more is no more.
inline int resting_words(const Said& said, double near) {
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
inline bool resting(const Said& said) {
  const int said_to_rest = said.values.size() == 1 ? 1 : std::stoi(said.values[0]);
  return resting_words(said, -1e-6) <= said_to_rest && said_to_rest <= resting_words(said, 1e-6) &&
         said.values.back() == said.answer.word(0).text;
}

/// The measures by which a head without a relation is named, in rows of words.
inline std::map<std::string, double> measures_of_words(const Said& said) {
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
inline bool is_named_by(const Said& said, const char* measure) {
  const auto means = measures_of_words(said);
  if (!means.contains(measure) || means.at(measure) <= 0.5 - 1e-5) return false;
  for (const char* other : {"previous", "next", "same", "special", "first", "duplicate"})
    if (means.contains(other) && means.at(other) > means.at(measure) + 1e-5) return false;
  return means.at("normalized") <= 0.95 + 1e-5;
}
inline bool previous(const Said& said) { return is_named_by(said, "previous"); }
inline bool next(const Said& said) { return is_named_by(said, "next"); }
inline bool same(const Said& said) { return is_named_by(said, "same"); }
inline bool special(const Said& said) { return is_named_by(said, "special"); }
inline bool first(const Said& said) { return is_named_by(said, "first"); }
inline bool duplicate(const Said& said) { return is_named_by(said, "duplicate"); }
inline bool spread(const Said& said) { return measures_of_words(said).at("normalized") > 0.85 - 1e-5; }
inline bool sink(const Said& said) {
  const auto means = measures_of_words(said);
  const Word& word = said.answer.word(static_cast<Index>(means.at("sink key")));
  return means.at("sink") > 2.0 / static_cast<double>(said.answer.words.size()) - 1e-5 && shows(said.values[0], word);
}
inline bool mixed(const Said& said) {
  const auto means = measures_of_words(said);
  for (const char* measure : {"previous", "next", "same", "special", "first", "duplicate"})
    if (means.contains(measure) && means.at(measure) > 0.5 + 1e-5) return false;
  return means.at("normalized") <= 0.85 + 1e-5;
}
/// All words with letters rest on the first token.
inline bool all_rest(const Said& said) {
  Said all{said};
  int letters = 0;
  for (const Word& word : said.answer.words) letters += !word.special && word.letters;
  all.values = {std::to_string(letters), said.answer.word(0).text};
  return resting(all);
}

/// The sentence with the change made is asked: the row's largest weight is on that word, and is what is printed.
inline bool moved(const Said& said, const WordChange& change) {
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
inline constexpr Row kTable[] = {
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

}  // namespace headlight::utterances
