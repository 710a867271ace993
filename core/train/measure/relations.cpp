#include "train/measure/relations.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "math/attention.h"
#include "train/corpus/corpus.h"
#include "train/grammar/speller.h"
#include "train/measure/alignment.h"
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

struct Case {
  std::vector<std::int32_t> words;
  std::vector<Gold> gold;
  int kind = 0;
};

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

/// All heads on all cases; empty where it was stopped. Of a head the columns 2·head and, from key to query, 2·head + 1.
/// `foretold`, if not null, is given what each case's words foretell of each other.
Result<HeadLooks> looks_of(const std::shared_ptr<const Model>& model, const Speller& speller,
                           const std::vector<Case>& cases, int threads, Progress& progress, float share,
                           std::vector<Foretold>* foretold = nullptr) {
  std::vector<Request> requests;
  std::vector<std::size_t> num_golds;
  for (const Case& one : cases) {
    requests.push_back(speller.request(model, one.words));
    num_golds.push_back(one.gold.size());
  }
  const auto rows = foretold ? rows_of_ids(*model) : std::unordered_map<std::int64_t, Index>();
  if (foretold) foretold->resize(cases.size());
  const auto read = [&](const Trace& trace, std::size_t c, std::span<std::vector<HeadLook>> golds) {
    const Index columns = trace.num_layers() * trace.num_heads(), first = speller.first();
    for (Index column = 0; column < columns; ++column) {
      const HeadRef head{.layer = column / trace.num_heads(), .head = column % trace.num_heads()};
      const Matrix weights = attention_rows(trace, head, 0, trace.queries());
      for (std::size_t g = 0; g < golds.size(); ++g) {
        const Gold& gold = cases[c].gold[g];
        const int query = gold.query + static_cast<int>(first), key = gold.key + static_cast<int>(first);
        golds[g].resize(at(columns * 2));
        golds[g][at(2 * column)] = look(weights, query, key, static_cast<int>(first));
        golds[g][at(2 * column + 1)] = look(weights, key, query, static_cast<int>(first));
      }
    }
    if (foretold) (*foretold)[c] = foretold_words(trace, rows);
  };
  return look_at_all(requests, num_golds, read, threads, progress, share);
}

std::vector<Case> cases_of(const Grammar& grammar, const RelationOptions& options, std::uint64_t seed,
                           std::set<std::vector<std::int32_t>>& seen) {
  Random random(derive_seed(seed, "relations")), scrambling(derive_seed(seed, "scrambled"));
  std::vector<Case> cases;
  const Index most_tries = options.sentences * 20;
  for (Index tries = 0; tries < most_tries && static_cast<Index>(cases.size()) < options.sentences; ++tries) {
    Sentence sentence = draw_sentence(grammar, CorpusPart::held_out, random);
    if (!seen.insert(sentence.words).second) continue;
    if (options.scrambled) scramble(grammar, sentence, scrambling);
    cases.push_back({std::move(sentence.words), std::move(sentence.gold), sentence.kind});
  }
  return cases;
}

/// The golds of one relation among all, by their rows of HeadLooks, and where their words stand.
struct Instances {
  std::vector<std::size_t> golds;
  std::vector<GoldPair> places;
};

Instances instances_of(const std::vector<Case>& cases, int relation) {
  Instances instances;
  std::size_t row = 0;
  for (const Case& one : cases) {
    for (const Gold& gold : one.gold) {
      if (gold.relation == relation) {
        instances.golds.push_back(row);
        instances.places.push_back({gold.key - gold.query, one.kind});
      }
      ++row;
    }
  }
  return instances;
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

struct Measured {
  std::vector<Case> cases;
  HeadLooks looks;
};

/// What the heads of the last layer are to one relation.
struct OfRelation {
  std::vector<std::size_t> golds;  // of test sentences
  std::vector<bool> hard;
  std::vector<double> validated = {};  // [2 · (layer · heads + head) + reversed]
};

/// The score of the head of the last layer that looks best, by validation, against the direction of the one chosen.
RelationScore turned_round(const RelationScore& score, const OfRelation& relation, const HeadLooks& test) {
  RelationScore opposite = score;
  const auto heads = static_cast<std::size_t>(score.directed.back().head) + 1;
  std::size_t best = relation.validated.size() - 2 * heads + (score.chosen.reversed ? 0 : 1);
  for (std::size_t column = best; column < relation.validated.size(); column += 2)
    if (relation.validated[column] > relation.validated[best]) best = column;
  const DirectedHead& head = score.directed[best / 2];
  opposite.chosen = {head.layer, head.head, !score.chosen.reversed};
  opposite.score = score_of(test, relation.golds, best, relation.hard);
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

}  // namespace

const RelationScore* opposite_of(const RelationReport& report, const RelationScore& relation) {
  const auto found = std::find_if(report.opposite.begin(), report.opposite.end(),
                                  [&](const RelationScore& one) { return one.relation == relation.relation; });
  return found == report.opposite.end() ? nullptr : &*found;
}

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
  const auto untrained = untrained_model(*model);

  std::set<std::vector<std::int32_t>> seen;
  Measured validation{cases_of(grammar, options, options.validation_seed, seen), {}};
  Measured test{cases_of(grammar, options, options.test_seed, seen), {}};
  Measured untrained_validation{validation.cases, {}}, untrained_test{test.cases, {}};
  std::vector<Foretold> foretold;
  const bool foretells = model->config.arch == Arch::decoder && model->output;
  for (auto& [measured, one] : {std::pair<Measured*, std::shared_ptr<const Model>>{&validation, model},
                                {&test, model},
                                {&untrained_validation, untrained},
                                {&untrained_test, untrained}}) {
    auto looks = looks_of(one, speller, measured->cases, options.threads, progress, 0.22f,
                          measured == &test && foretells ? &foretold : nullptr);
    if (!looks) return looks.error();
    if (progress.stop) return std::optional<RelationReport>();
    measured->looks = *std::move(looks);
  }

  const Index heads = model->config.num_heads, layers = model->config.num_layers;
  std::optional<RelationReport> result;
  RelationReport& report = result.emplace();
  report.test_seed = options.test_seed;
  report.unknown_words = speller.unknown;
  std::vector<std::vector<double>> validated(grammar.relations.size());  // [relation][layer · heads + head]
  std::vector<OfRelation> parts;
  for (std::size_t r = 0; r < grammar.relations.size(); ++r) {
    const Relation& relation = grammar.relations[r];
    RelationScore score{.relation = relation.name, .en = relation.en, .zh = relation.zh};
    const auto chosen_on = instances_of(validation.cases, static_cast<int>(r));
    const auto scored_on = instances_of(test.cases, static_cast<int>(r));
    score.sentences = static_cast<Index>(scored_on.golds.size());
    const PositionScores positions =
        position_scores(chosen_on.places, scored_on.places,
                        [&](std::size_t gold, int distance) { return scored_on.places[gold].distance == distance; });
    score.offset = positions.offset;
    score.kind_offset = positions.kind_offset;
    OfRelation& part = parts.emplace_back(OfRelation{scored_on.golds, positions.hard});
    double best_untrained = -1;
    for (Index h = 0; h < layers * heads; ++h) {
      const auto forwards = at(h * 2), backwards = at(h * 2 + 1);
      const double one = score_of(validation.looks, chosen_on.golds, forwards, {}).accuracy;
      const double other = score_of(validation.looks, chosen_on.golds, backwards, {}).accuracy;
      score.directed.push_back({h / heads, h % heads, other > one});
      validated[r].push_back(std::max(one, other));
      part.validated.insert(part.validated.end(), {one, other});
      score.heads.push_back(score_of(test.looks, scored_on.golds, other > one ? backwards : forwards, positions.hard));
      for (const std::size_t column : {forwards, backwards}) {
        const double plain = score_of(untrained_validation.looks, chosen_on.golds, column, {}).accuracy;
        if (plain > best_untrained) {
          best_untrained = plain;
          score.random = score_of(untrained_test.looks, scored_on.golds, column, {}).accuracy;
        }
      }
    }
    for (Index layer = 0; layer < layers; ++layer) {
      const auto begin = validated[r].begin() + layer * heads;
      score.best_of_layer.push_back(at(std::max_element(begin, begin + heads) - validated[r].begin()));
    }
    report.relations.push_back(std::move(score));
  }

  choose_heads(report.relations, validated, options.apart);
  for (std::size_t r = 0; r < parts.size(); ++r)
    report.opposite.push_back(turned_round(report.relations[r], parts[r], test.looks));

  // Minimal pairs, by the head of what pronouns stand for; and the sentences that are never trained on.
  std::vector<Case> pairs;
  const auto& kinds = grammar.kinds;
  if (std::any_of(kinds.begin(), kinds.end(), [](const SentenceKind& kind) { return kind.pair.has_value(); })) {
    Random random(derive_seed(options.test_seed, "pairs"));
    for (Index p = 0; p < options.pairs; ++p) {
      for (Sentence& one : draw_minimal_pair(grammar, random)) {
        const auto stands_for = [&](const Gold& gold) { return one.stands_for[at(gold.query)] == gold.key; };
        const auto pronoun = std::find_if(one.gold.begin(), one.gold.end(), stands_for);
        const Gold asked = pronoun == one.gold.end() ? one.gold.front() : *pronoun;
        pairs.push_back({std::move(one.words), {asked}, one.kind});
      }
    }
  }
  std::vector<Case> literals;
  for (const Literal& literal : grammar.literals) literals.push_back({literal.words, literal.gold, 0});
  const auto pair_looks = looks_of(model, speller, pairs, options.threads, progress, 0.1f);
  if (!pair_looks) return pair_looks.error();
  const auto literal_looks = looks_of(model, speller, literals, options.threads, progress, 0.02f);
  if (!literal_looks) return literal_looks.error();
  if (progress.stop) return std::optional<RelationReport>();
  const auto column_of = [&](const DirectedHead& head) {
    return at((head.layer * heads + head.head) * 2 + (head.reversed ? 1 : 0));
  };
  for (std::size_t p = 0; p + 1 < pairs.size(); p += 2) {
    const std::size_t column = column_of(report.relations[at(pairs[p].gold.front().relation)].chosen);
    ++report.pairs;
    report.pairs_right += (*pair_looks)[p][column].right && (*pair_looks)[p + 1][column].right;
  }
  std::size_t row = 0;
  for (const Case& literal : literals) {
    Sentence sentence{.words = literal.words};
    for (const Gold& gold : literal.gold) {
      const RelationScore& relation = report.relations[at(gold.relation)];
      LiteralScore score{.text = text_of(grammar, sentence),
                         .relation = relation.relation,
                         .query = grammar.words[at(literal.words[at(gold.query)])],
                         .key = grammar.words[at(literal.words[at(gold.key)])]};
      const std::vector<HeadLook>& looks = (*literal_looks)[row++];
      score.best = best_look(looks, heads, false);
      score.other = best_look(looks, heads, true);
      if (score.other.weight > score.best.weight) std::swap(score.best, score.other);
      score.by_chosen = looks[column_of(relation.chosen)].right;
      report.literals.push_back(std::move(score));
    }
  }
  report.next_word = next_word_score(foretold);
  return result;
}

}  // namespace headlight
