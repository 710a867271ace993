#include "train/alignment.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <unordered_map>

#include "base/parallel.h"
#include "math/attention.h"
#include "math/output.h"
#include "train/speller.h"

namespace headlight {
namespace {

std::size_t at(Index index) { return static_cast<std::size_t>(index); }

/// A sentence with its English.
struct Pair {
  std::vector<std::int32_t> words;
  Translation english;
  int kind = 0;
};

/// A word of some pair's English that was made of a word of its sentence.
struct Aligned {
  const Pair* of;
  int place, source;
  int distance() const { return source - place; }
};

/// What one head shows for one word in one kind of row.
struct Look {
  bool right = false;
  float weight = 0;
};

/// Of a head the columns 2·head (the word's own row) and 2·head + 1 (the row before).
using Looks = std::vector<std::vector<Look>>;  // [aligned word of all pairs, in order][column]

std::vector<Pair> pairs_of(const Grammar& grammar, const RelationOptions& options, std::uint64_t seed,
                           std::set<std::vector<std::int32_t>>& seen) {
  Random random(derive_seed(seed, "alignment"));
  std::vector<Pair> pairs;
  const Index most_tries = options.sentences * 40;
  for (Index tries = 0; tries < most_tries && static_cast<Index>(pairs.size()) < options.sentences; ++tries) {
    Sentence sentence = draw_sentence(grammar, Part::held_out, random);
    Translation english = translation_of(grammar, sentence);
    if (english.words.empty() || !seen.insert(sentence.words).second) continue;
    pairs.push_back({std::move(sentence.words), std::move(english), sentence.kind});
  }
  return pairs;
}

std::vector<Aligned> aligned_words(const std::vector<Pair>& pairs) {
  std::vector<Aligned> words;
  for (const Pair& pair : pairs)
    for (std::size_t i = 0; i < pair.english.words.size(); ++i)
      if (pair.english.made_of[i] >= 0) words.push_back({&pair, static_cast<int>(i), pair.english.made_of[i]});
  return words;
}

/// Where a sentence says a word twice, both are it.
bool is_source(const Pair& pair, Index place, int source) {
  const auto count = static_cast<Index>(pair.words.size());
  return place >= 0 && place < count && pair.words[at(place)] == pair.words[at(source)];
}

Look look(const Matrix& weights, Index row, const Pair& pair, int source) {
  Index strongest = 0;
  weights.row(row).maxCoeff(&strongest);
  Look look{.right = is_source(pair, strongest, source)};
  for (Index place = 0; place < weights.cols(); ++place)
    if (is_source(pair, place, source)) look.weight += weights(row, place);
  return look;
}

/// All cross heads on all pairs; empty where it was stopped.
Result<Looks> looks_of(const std::shared_ptr<const Model>& model, const Speller& speller,
                       const std::vector<Pair>& pairs, int threads, Progress& progress, float share) {
  std::vector<std::size_t> begin(pairs.size() + 1, 0);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto& made_of = pairs[p].english.made_of;
    const auto count = std::count_if(made_of.begin(), made_of.end(), [](int place) { return place >= 0; });
    begin[p + 1] = begin[p] + static_cast<std::size_t>(count);
  }
  Looks looks(begin.back());
  std::vector<std::optional<Error>> errors(pairs.size());
  const float done = progress.done;
  std::atomic<std::size_t> answered = 0;
  parallel_for(static_cast<Index>(pairs.size()), threads, [&](Index p) {
    if (progress.stop) return;
    const Pair& pair = pairs[at(p)];
    Progress own;
    const auto trace = forward(speller.request(model, pair.words, pair.english.words), own, nullptr, 1);
    if (!trace) {
      errors[at(p)] = trace.error();
      return;
    }
    const Index layers = (*trace)->num_layers(Stack::cross), heads = (*trace)->num_heads(Stack::cross);
    const Index rows = (*trace)->queries(Stack::cross);
    for (Index column = 0; column < layers * heads; ++column) {
      const HeadRef head{.layer = column / heads, .head = column % heads, .stack = Stack::cross};
      const Matrix weights = attention_rows(**trace, head, 0, rows);
      std::size_t word = begin[at(p)];
      for (std::size_t i = 0; i < pair.english.words.size(); ++i) {
        const int source = pair.english.made_of[i];
        if (source < 0) continue;
        const Index row = static_cast<Index>(i) + speller.first();
        looks[word].resize(at(layers * heads * 2));
        looks[word][at(2 * column)] = look(weights, row, pair, source);
        looks[word][at(2 * column + 1)] = look(weights, std::max<Index>(0, row - 1), pair, source);
        ++word;
      }
    }
    progress.done = done + share * static_cast<float>(++answered) / static_cast<float>(pairs.size());
  });
  for (const auto& error : errors)
    if (error) return *error;
  return progress.stop ? Looks{} : looks;
}

HeadScore score_of(const Looks& looks, std::size_t column, const std::vector<bool>& hard) {
  HeadScore score;
  Index hard_right = 0;
  for (std::size_t word = 0; word < looks.size(); ++word) {
    const Look& one = looks[word][column];
    score.accuracy += one.right;
    score.weight += one.weight;
    if (hard.empty() || !hard[word]) continue;
    ++score.hard_count;
    hard_right += one.right;
  }
  const double count = std::max<double>(1, static_cast<double>(looks.size()));
  score.accuracy /= count;
  score.weight /= count;
  if (score.hard_count > 0) score.hard = static_cast<double>(hard_right) / static_cast<double>(score.hard_count);
  return score;
}

/// The most frequent distance from word to source; 0 where there is none.
int best_offset(const std::vector<Aligned>& words, std::optional<int> kind) {
  std::map<int, Index> counts;
  for (const Aligned& one : words)
    if (!kind || one.of->kind == *kind) ++counts[one.distance()];
  int best = 0;
  Index most = 0;
  for (const auto& [distance, count] : counts)
    if (count > most) best = distance, most = count;
  return best;
}

/// As far along the sentence as the word stands in the English.
bool on_diagonal(const Aligned& word) {
  const double share = static_cast<double>(word.place) /
                       std::max(1.0, static_cast<double>(word.of->english.words.size()) - 1.0);
  return is_source(*word.of, std::lround(share * (static_cast<double>(word.of->words.size()) - 1.0)), word.source);
}

/// What positions alone give: the best distance of all validation sentences and of those of each kind, on test ones.
struct Positions {
  double offset = 0, kind_offset = 0, diagonal = 0;
  std::vector<bool> hard;   // where both distances are wrong
};

Positions positions_of(const std::vector<Aligned>& validation, const std::vector<Aligned>& test) {
  Positions positions;
  const int offset = best_offset(validation, std::nullopt);
  std::map<int, int> of_kind;
  for (const Aligned& one : validation)
    if (!of_kind.contains(one.of->kind)) of_kind[one.of->kind] = best_offset(validation, one.of->kind);
  for (const Aligned& one : test) {
    const auto found = of_kind.find(one.of->kind);
    const bool right = is_source(*one.of, one.place + offset, one.source);
    const bool kind_right = found != of_kind.end() && is_source(*one.of, one.place + found->second, one.source);
    positions.offset += right;
    positions.kind_offset += kind_right;
    positions.diagonal += on_diagonal(one);
    positions.hard.push_back(!right && !kind_right);
  }
  const double count = std::max<double>(1, static_cast<double>(test.size()));
  positions.offset /= count;
  positions.kind_offset /= count;
  positions.diagonal /= count;
  return positions;
}

std::string english_text(const Grammar& grammar, const std::vector<std::int32_t>& words) {
  std::string text;
  for (const std::int32_t word : words) text += (text.empty() ? "" : " ") + std::string(target_word(grammar, word));
  return text;
}

}  // namespace

Result<std::optional<RelationReport>> measure_alignment(const std::shared_ptr<const Model>& model,
                                                        const Grammar& grammar, const RelationOptions& options,
                                                        Progress& progress) {
  if (!has_translations(grammar)) return bad_input("alignment", "grammar", "sentences with English", "none");
  const Speller speller(*model, grammar);
  const auto untrained = untrained_model(*model);
  std::set<std::vector<std::int32_t>> seen;
  const std::vector<Pair> validation = pairs_of(grammar, options, options.validation_seed, seen);
  const std::vector<Pair> test = pairs_of(grammar, options, options.test_seed, seen);
  std::vector<Pair> literals;
  for (const Literal& literal : grammar.literals)
    if (!literal.english.words.empty()) literals.push_back({literal.words, literal.english, 0});
  Looks looks[5];
  const std::pair<const std::shared_ptr<const Model>*, const std::vector<Pair>*> wanted[] = {
      {&model, &validation}, {&model, &test}, {&untrained, &validation}, {&untrained, &test}, {&model, &literals}};
  for (std::size_t i = 0; i < std::size(wanted); ++i) {
    const float share = i < 4 ? 0.22f : 0.02f;
    auto found = looks_of(*wanted[i].first, speller, *wanted[i].second, options.threads, progress, share);
    if (!found) return found.error();
    if (progress.stop) return std::optional<RelationReport>();
    looks[i] = *std::move(found);
  }
  const auto& [of_validation, of_test, fresh_validation, fresh_test, of_literals] = looks;

  const std::vector<Aligned> chosen_on = aligned_words(validation), scored_on = aligned_words(test);
  const Positions positions = positions_of(chosen_on, scored_on);
  std::optional<RelationReport> result;
  RelationReport& report = result.emplace();
  report.test_seed = options.test_seed;
  report.unknown_words = speller.unknown;
  AlignmentReport& alignment = report.alignment;
  alignment.words = static_cast<Index>(scored_on.size());
  alignment.diagonal = positions.diagonal;
  const Index heads = model->config.num_heads, columns = heads * model->config.num_layers;
  for (Index column = 0; column < columns; ++column)
    alignment.heads.push_back({column / heads, column % heads, score_of(of_test, at(2 * column), positions.hard),
                               score_of(of_test, at(2 * column + 1), positions.hard)});
  double validated[2];
  for (const bool next : {false, true}) {
    RelationScore score{.relation = next ? "NEXT" : "OWN", .en = next ? "next word → its source" : "word → its source",
                        .zh = next ? "下一个词 → 原词" : "词 → 原词", .stack = Stack::cross};
    double best = -1, best_untrained = -1;
    for (Index column = 0; column < columns; ++column) {
      const std::size_t rows = at(2 * column) + next;
      const CrossHead& head = alignment.heads[at(column)];
      score.directed.push_back({head.layer, head.head, false});
      score.heads.push_back(next ? head.next : head.own);
      if (const double one = score_of(of_validation, rows, {}).accuracy; one > best) {
        best = one;
        score.chosen = score.directed.back();
        score.score = score.heads.back();
      }
      if (const double one = score_of(fresh_validation, rows, {}).accuracy; one > best_untrained) {
        best_untrained = one;
        score.random = score_of(fresh_test, rows, {}).accuracy;
      }
    }
    score.offset = positions.offset;
    score.kind_offset = positions.kind_offset;
    score.sentences = static_cast<Index>(test.size());
    validated[next ? 1 : 0] = best;
    report.relations.push_back(std::move(score));
  }
  const bool next = validated[1] > validated[0];
  if (next) std::swap(report.relations[0], report.relations[1]);
  const DirectedHead& chosen = report.relations.front().chosen;
  const std::size_t column = at(2 * (chosen.layer * heads + chosen.head)) + next;
  std::size_t word = 0;
  for (const Pair& literal : literals) {
    LiteralAlignment one{.text = text_of(grammar, Sentence{.words = literal.words}),
                         .english = english_text(grammar, literal.english.words)};
    one.words = std::count_if(literal.english.made_of.begin(), literal.english.made_of.end(),
                              [](int place) { return place >= 0; });
    for (Index i = 0; i < one.words; ++i) one.right += of_literals[word++][column].right;
    alignment.literals.push_back(std::move(one));
  }
  if (!model->output) return result;
  std::vector<Request> requests;
  for (const Pair& pair : test) requests.push_back(speller.request(model, pair.words, pair.english.words));
  const auto foretold = measure_next_words(requests, options.threads, progress);
  if (!foretold) return foretold.error();
  if (progress.stop) return std::optional<RelationReport>();
  report.next_word = *foretold;
  return result;
}

Result<NextWordScore> measure_next_words(const std::vector<Request>& requests, int threads, Progress& progress) {
  NextWordScore score;
  if (requests.empty()) return score;
  const Model& model = *requests.front().model;
  std::unordered_map<std::int64_t, Index> rows;
  if (model.vocabulary)
    for (std::size_t row = 0; row < model.vocabulary->ids.size(); ++row)
      rows.emplace(model.vocabulary->ids[row], static_cast<Index>(row));
  const auto row_of = [&](std::int64_t id) {
    const auto found = rows.find(id);
    return found == rows.end() ? static_cast<Index>(id) : found->second;
  };
  std::vector<std::optional<Error>> errors(requests.size());
  std::vector<NextWordScore> each(requests.size());
  std::vector<double> nats(requests.size(), 0);
  parallel_for(static_cast<Index>(requests.size()), threads, [&](Index i) {
    if (progress.stop) return;
    Progress own;
    const auto trace = forward(requests[at(i)], own, nullptr, 1);
    if (!trace) {
      errors[at(i)] = trace.error();
      return;
    }
    const std::vector<Token>& tokens = (*trace)->query_tokens().tokens;
    const Matrix logits = logit_rows(**trace, 0, static_cast<Index>(tokens.size()) - 1);
    for (std::size_t place = 1; place < tokens.size(); ++place) {
      const Index right = row_of(tokens[place].id);
      if (right < 0 || right >= logits.cols()) continue;
      const Vector chances = probabilities(logits.row(static_cast<Index>(place) - 1));
      Index best = 0;
      chances.maxCoeff(&best);
      ++each[at(i)].words;
      each[at(i)].accuracy += best == right;
      nats[at(i)] -= std::log(std::max(1e-30, static_cast<double>(chances(right))));
    }
  });
  for (const auto& error : errors)
    if (error) return *error;
  double sum = 0;
  for (std::size_t i = 0; i < each.size(); ++i) {
    score.words += each[i].words;
    score.accuracy += each[i].accuracy;
    sum += nats[i];
  }
  const double count = std::max<double>(1, static_cast<double>(score.words));
  score.accuracy /= count;
  score.perplexity = std::exp(sum / count);
  return score;
}

std::string alignment_text(const AlignmentReport& report) {
  char line[160];
  std::string text = "cross head   its own row: right  weight   the row before: right  weight\n";
  for (const CrossHead& head : report.heads) {
    const std::string name = std::to_string(head.layer) + "." + std::to_string(head.head);
    std::snprintf(line, sizeof line, "  %-18s      %.3f   %.3f                    %.3f   %.3f\n", name.c_str(),
                  head.own.accuracy, head.own.weight, head.next.accuracy, head.next.weight);
    text += line;
  }
  std::snprintf(line, sizeof line, "a diagonal: %.3f of %ld words\n", report.diagonal, static_cast<long>(report.words));
  text += line;
  for (const LiteralAlignment& one : report.literals)
    text += std::to_string(one.right) + " of " + std::to_string(one.words) + ": " + one.text + " / " + one.english +
            "\n";
  return text;
}

std::string next_word_text(const NextWordScore& score) {
  char line[120];
  std::snprintf(line, sizeof line, "next word: right %.3f, perplexity %.3f, of %ld words\n", score.accuracy,
                score.perplexity, static_cast<long>(score.words));
  return line;
}

}  // namespace headlight
