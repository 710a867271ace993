#include "train/measure/relations.h"

#include <algorithm>
#include <map>
#include <set>

#include "train/corpus/corpus.h"
#include "train/measure/head_scores.h"

namespace headlight {
namespace {

/// The strongest target from `from`, itself and what is before `first` left out; none where it sees no other.
HeadLook look(const Matrix& weights, int from, int to, int first) {
  Index strongest = -1;
  float most = 0;
  for (Index key = first; key < weights.cols(); ++key) {
    if (key != from && weights(from, key) > most) strongest = key, most = weights(from, key);
  }
  return {strongest == to, weights(from, to)};
}

/// Every word replaced by another of its family, a word that stands twice by the same word twice.
void scramble(const Grammar& grammar, Sentence& sentence, Random& random) {
  std::map<std::int32_t, std::int32_t> other;
  for (std::size_t i = 0; i < sentence.words.size(); ++i) {
    if (sentence.families[i] < 0) continue;
    const auto& family = grammar.families[at(sentence.families[i])];
    const auto found = other.emplace(sentence.words[i], family[random.next() % family.size()]).first;
    sentence.words[i] = found->second;
  }
}

/// A sentence; each of its golds is read from its query to its key and back.
MeasuredCase case_of(const std::shared_ptr<const Model>& model, const Speller& speller,
                     const std::vector<std::int32_t>& words, const std::vector<Gold>& golds, int kind) {
  MeasuredCase one{.request = speller.request(model, words)};
  for (const Gold& gold : golds) one.golds.push_back({gold.relation, gold.key - gold.query, kind});
  one.look = [golds, first = speller.first()](const Matrix& weights, std::size_t gold) -> std::array<HeadLook, 2> {
    const int query = golds[gold].query + first, key = golds[gold].key + first;
    return {look(weights, query, key, first), look(weights, key, query, first)};
  };
  return one;
}

std::vector<MeasuredCase> cases_of(const std::shared_ptr<const Model>& model, const Speller& speller,
                                   const Grammar& grammar, const RelationOptions& options, std::uint64_t seed,
                                   std::set<std::vector<std::int32_t>>& seen) {
  Random random(derive_seed(seed, "relations")), scrambling(derive_seed(seed, "scrambled"));
  std::vector<MeasuredCase> cases;
  const Index most_tries = options.sentences * 20;
  for (Index tries = 0; tries < most_tries && static_cast<Index>(cases.size()) < options.sentences; ++tries) {
    Sentence sentence = draw_sentence(grammar, CorpusPart::held_out, random);
    if (!seen.insert(sentence.words).second) continue;
    if (options.scrambled) scramble(grammar, sentence, scrambling);
    cases.push_back(case_of(model, speller, sentence.words, sentence.gold, sentence.kind));
  }
  return cases;
}

/// Different heads for the relations of `wanted`, so that the sum of their validation scores is largest.
void assign(const std::vector<std::vector<double>>& value, std::size_t r, std::vector<std::size_t>& now, double sum,
            std::vector<std::size_t>& best, double& best_sum) {
  if (r == value.size()) {
    if (sum > best_sum) best_sum = sum, best = now;
    return;
  }
  for (std::size_t head = 0; head < value[r].size(); ++head) {
    if (std::find(now.begin(), now.end(), head) != now.end()) continue;
    now.push_back(head);
    assign(value, r + 1, now, sum + value[r][head], best, best_sum);
    now.pop_back();
  }
}

/// Heads of the last layer by their validation scores, [relation][layer · heads + head]: the relations that are wanted
/// apart on different ones, each other on its best.
void choose_heads(std::vector<RelationScore>& relations, const std::vector<std::vector<double>>& validated,
                  const std::vector<std::string>& wanted_apart) {
  if (relations.empty()) return;
  const auto heads = static_cast<std::size_t>(relations.front().directed.back().head) + 1;
  const std::size_t last = relations.front().directed.size() - heads;
  const auto choose = [&](std::size_t relation, std::size_t head) {
    relations[relation].chosen = relations[relation].directed[last + head];
    relations[relation].score = relations[relation].heads[last + head];
  };
  std::vector<std::size_t> apart;
  std::vector<std::vector<double>> values;
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const auto begin = validated[r].begin() + static_cast<std::ptrdiff_t>(last);
    const bool is_apart =
        std::find(wanted_apart.begin(), wanted_apart.end(), relations[r].relation) != wanted_apart.end();
    if (is_apart && apart.size() < heads) {
      apart.push_back(r);
      values.emplace_back(begin, validated[r].end());
    } else {
      choose(r, static_cast<std::size_t>(std::max_element(begin, validated[r].end()) - begin));
    }
  }
  std::vector<std::size_t> now, best;
  double best_sum = -1;
  assign(values, 0, now, 0, best, best_sum);
  for (std::size_t i = 0; i < apart.size(); ++i) choose(apart[i], best[i]);
}

/// The score of the head of the last layer that looks best, by validation, against the direction of the one chosen.
RelationScore turned_round(const RelationScore& score, const RelationMeasure& measure) {
  RelationScore opposite = score;
  const auto heads = static_cast<std::size_t>(score.directed.back().head) + 1;
  std::size_t best = 2 * (score.directed.size() - heads) + (score.chosen.reversed ? 0 : 1);
  for (std::size_t column = best; column < 2 * score.directed.size(); column += 2)
    if (measure.validated(column) > measure.validated(best)) best = column;
  const DirectedHead& head = score.directed[best / 2];
  opposite.chosen = {head.layer, head.head, !score.chosen.reversed};
  opposite.score = measure.tested(best);
  opposite.directed.clear();
  opposite.heads.clear();
  opposite.best_of_layer.clear();
  return opposite;
}

LiteralLook best_look(const std::vector<HeadLook>& looks, Index heads, bool reversed) {
  LiteralLook best{.head = {.reversed = reversed}};
  for (std::size_t column = reversed ? 1 : 0; column < looks.size(); column += 2) {
    if (!looks[column].right || (best.shown && looks[column].weight <= best.weight)) continue;
    const auto head = static_cast<Index>(column / 2);
    best = {{head / heads, head % heads, reversed}, true, looks[column].weight};
  }
  return best;
}

std::size_t column_of(const DirectedHead& head, Index heads) {
  return at((head.layer * heads + head.head) * 2 + (head.reversed ? 1 : 0));
}

/// The score of each head in its better direction, by validation; `validated` is set to that accuracy of each.
RelationScore score_of_relation(const Relation& relation, const RelationMeasure& measure, const Config& shape,
                                std::vector<double>& validated) {
  RelationScore score{.relation = relation.name, .en = relation.en, .zh = relation.zh};
  measure.add_baselines(score);
  const Index heads = shape.num_heads;
  for (Index h = 0; h < shape.num_layers * heads; ++h) {
    const double one = measure.validated(at(h * 2)), other = measure.validated(at(h * 2 + 1));
    score.directed.push_back({h / heads, h % heads, other > one});
    validated.push_back(std::max(one, other));
    score.heads.push_back(measure.tested(at(h * 2) + (other > one ? 1 : 0)));
  }
  for (Index layer = 0; layer < shape.num_layers; ++layer) {
    const auto begin = validated.begin() + layer * heads;
    score.best_of_layer.push_back(at(std::max_element(begin, begin + heads) - validated.begin()));
  }
  return score;
}

/// Minimal pairs: both sentences of one and the next, with what the pronoun stands for.
std::vector<MeasuredCase> minimal_pairs(const std::shared_ptr<const Model>& model, const Speller& speller,
                                        const Grammar& grammar, const RelationOptions& options) {
  std::vector<MeasuredCase> pairs;
  const auto& kinds = grammar.kinds;
  if (std::none_of(kinds.begin(), kinds.end(), [](const SentenceKind& kind) { return kind.pair.has_value(); }))
    return pairs;
  Random random(derive_seed(options.test_seed, "pairs"));
  for (Index p = 0; p < options.pairs; ++p) {
    for (const Sentence& one : draw_minimal_pair(grammar, random)) {
      const auto stands_for = [&](const Gold& gold) { return one.stands_for[at(gold.query)] == gold.key; };
      const auto pronoun = std::find_if(one.gold.begin(), one.gold.end(), stands_for);
      pairs.push_back(
          case_of(model, speller, one.words, {pronoun == one.gold.end() ? one.gold.front() : *pronoun}, one.kind));
    }
  }
  return pairs;
}

/// `looks`: of the golds of all literals, one after the other.
void add_literals(const Grammar& grammar, const HeadLooks& looks, Index heads, RelationReport& report) {
  std::size_t row = 0;
  for (const Literal& literal : grammar.literals) {
    for (const Gold& gold : literal.gold) {
      const RelationScore& relation = report.relations[at(gold.relation)];
      LiteralScore score{.text = text_of(grammar, Sentence{.words = literal.words}),
                         .relation = relation.relation,
                         .query = grammar.words[at(literal.words[at(gold.query)])],
                         .key = grammar.words[at(literal.words[at(gold.key)])]};
      const std::vector<HeadLook>& of_heads = looks[row++];
      score.best = best_look(of_heads, heads, false);
      score.other = best_look(of_heads, heads, true);
      if (score.other.weight > score.best.weight) std::swap(score.best, score.other);
      score.by_chosen = of_heads[column_of(relation.chosen, heads)].right;
      report.literals.push_back(std::move(score));
    }
  }
}

/// The minimal pairs, by the head of what pronouns stand for, and the sentences that are never trained on. False where
/// it was stopped.
Result<bool> add_sentences(const std::shared_ptr<const Model>& model, const Speller& speller, const Grammar& grammar,
                           const RelationOptions& options, Progress& progress, RelationReport& report) {
  const std::vector<MeasuredCase> pairs = minimal_pairs(model, speller, grammar, options);
  std::vector<MeasuredCase> literals;
  for (const Literal& literal : grammar.literals)
    literals.push_back(case_of(model, speller, literal.words, literal.gold, 0));
  const auto pair_looks = TRY(looks_of(model, pairs, Stack::self, options.threads, progress, 0.1f));
  const auto literal_looks = TRY(looks_of(model, literals, Stack::self, options.threads, progress, 0.02f));
  if (progress.stop) return false;
  for (std::size_t p = 0; p + 1 < pairs.size(); p += 2) {
    const DirectedHead& chosen = report.relations[at(pairs[p].golds.front().relation)].chosen;
    const std::size_t column = column_of(chosen, model->config.num_heads);
    ++report.pairs;
    report.pairs_right += pair_looks[p][column].right && pair_looks[p + 1][column].right;
  }
  add_literals(grammar, literal_looks, model->config.num_heads, report);
  return true;
}

}  // namespace

Result<std::optional<RelationReport>> measure_relations(const std::shared_ptr<const Model>& model,
                                                        const Grammar& grammar, const RelationOptions& options,
                                                        Progress& progress) {
  if (!model->vocabulary || !model->embeddings.tokens) {
    return bad_input("relations", "model", "a trained model with a vocabulary",
                     !model->vocabulary ? "no vocabulary" : "fresh weights");
  }
  const Speller speller(*model, grammar);
  if (speller.unknown == static_cast<Index>(grammar.words.size())) {
    return bad_input("relations", "vocabulary", "words of the grammar", "none of them");
  }
  if (model->config.arch == Arch::encoder_decoder) return measure_alignment(model, grammar, options, progress);

  std::set<std::vector<std::int32_t>> seen;
  Measured measured{.validation = cases_of(model, speller, grammar, options, options.validation_seed, seen),
                    .test = {}};
  measured.test = cases_of(model, speller, grammar, options, options.test_seed, seen);
  std::vector<Foretold> foretold;
  const auto looked =
      TRY(measured.look(model, Stack::self, options.threads, progress, 0.22f, foretells(*model) ? &foretold : nullptr));
  if (!looked) return std::optional<RelationReport>();

  std::optional<RelationReport> result;
  RelationReport& report = result.emplace();
  report.test_seed = options.test_seed;
  report.unknown_words = speller.unknown;
  std::vector<std::vector<double>> validated(grammar.relations.size());  // [relation][layer · heads + head]
  std::vector<RelationMeasure> measures;
  for (std::size_t r = 0; r < grammar.relations.size(); ++r) {
    const RelationMeasure& measure = measures.emplace_back(measured, static_cast<int>(r));
    report.relations.push_back(score_of_relation(grammar.relations[r], measure, model->config, validated[r]));
  }
  choose_heads(report.relations, validated, options.apart);
  for (std::size_t r = 0; r < measures.size(); ++r)
    report.opposite.push_back(turned_round(report.relations[r], measures[r]));
  const auto added = TRY(add_sentences(model, speller, grammar, options, progress, report));
  if (!added) return std::optional<RelationReport>();
  report.next_word = next_word_score(foretold);
  return result;
}

}  // namespace headlight
