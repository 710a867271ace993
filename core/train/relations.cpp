#include "train/relations.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "base/parallel.h"
#include "math/attention.h"
#include "train/alignment.h"
#include "train/corpus.h"
#include "train/speller.h"

namespace headlight {
namespace {

std::size_t at(Index index) { return static_cast<std::size_t>(index); }

/// What one head does with one gold relation.
struct Look {
  bool right = false;
  float weight = 0;
};

/// The strongest target from `from`, itself and what is before `first` left out; none where it sees no other.
Look look(const Matrix& weights, int from, int to, int first) {
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

using Looks = std::vector<std::vector<Look>>;  // [gold of all cases, in order][(layer · heads + head) · 2 + reversed]

/// All heads on all cases; empty where it was stopped.
Result<Looks> looks_of(const std::shared_ptr<const Model>& model, const Speller& speller,
                       const std::vector<Case>& cases, int threads, Progress& progress, float share) {
  std::vector<std::size_t> begin(cases.size() + 1, 0);
  for (std::size_t c = 0; c < cases.size(); ++c) begin[c + 1] = begin[c] + cases[c].gold.size();
  Looks looks(begin.back());
  std::vector<std::optional<Error>> errors(cases.size());
  const float done = progress.done;
  std::atomic<std::size_t> answered = 0;
  parallel_for(static_cast<Index>(cases.size()), threads, [&](Index c) {
    if (progress.stop) return;
    const Case& one = cases[at(c)];
    const Request request = speller.request(model, one.words);
    Progress own;
    const auto trace = forward(request, own, nullptr, 1);
    if (!trace) {
      errors[at(c)] = trace.error();
      return;
    }
    const Index layers = (*trace)->num_layers(), heads = (*trace)->num_heads(), count = (*trace)->queries();
    for (Index layer = 0; layer < layers; ++layer) {
      for (Index head = 0; head < heads; ++head) {
        const Matrix weights = attention_rows(**trace, {.layer = layer, .head = head}, 0, count);
        for (std::size_t g = 0; g < one.gold.size(); ++g) {
          const int query = one.gold[g].query + speller.first(), key = one.gold[g].key + speller.first();
          auto& row = looks[begin[at(c)] + g];
          row.resize(at(layers * heads * 2));
          row[at((layer * heads + head) * 2)] = look(weights, query, key, speller.first());
          row[at((layer * heads + head) * 2 + 1)] = look(weights, key, query, speller.first());
        }
      }
    }
    progress.done = done + share * static_cast<float>(++answered) / static_cast<float>(cases.size());
  });
  for (const auto& error : errors) {
    if (error) return *error;
  }
  return progress.stop ? Looks{} : looks;
}

std::vector<Case> cases_of(const Grammar& grammar, const RelationOptions& options, std::uint64_t seed,
                           std::set<std::vector<std::int32_t>>& seen) {
  Random random(derive_seed(seed, "relations")), scrambling(derive_seed(seed, "scrambled"));
  std::vector<Case> cases;
  const Index most_tries = options.sentences * 20;
  for (Index tries = 0; tries < most_tries && static_cast<Index>(cases.size()) < options.sentences; ++tries) {
    Sentence sentence = draw_sentence(grammar, Part::held_out, random);
    if (!seen.insert(sentence.words).second) continue;
    if (options.scrambled) scramble(grammar, sentence, scrambling);
    cases.push_back({std::move(sentence.words), std::move(sentence.gold), sentence.kind});
  }
  return cases;
}

/// The golds of one relation among all: which case, which gold, which row of Looks.
struct Instance {
  const Case* of;
  const Gold* gold;
  std::size_t row;
  int distance() const { return gold->key - gold->query; }
};

std::vector<Instance> instances_of(const std::vector<Case>& cases, int relation) {
  std::vector<Instance> instances;
  std::size_t row = 0;
  for (const Case& one : cases) {
    for (const Gold& gold : one.gold) {
      if (gold.relation == relation) instances.push_back({&one, &gold, row});
      ++row;
    }
  }
  return instances;
}

HeadScore score_of(const std::vector<Instance>& instances, const Looks& looks, std::size_t column,
                   const std::vector<bool>& hard) {
  HeadScore score;
  Index hard_right = 0;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const Look& one = looks[instances[i].row][column];
    score.accuracy += one.right;
    score.weight += one.weight;
    if (!hard.empty() && hard[i]) {
      ++score.hard_count;
      hard_right += one.right;
    }
  }
  const double count = std::max<double>(1, static_cast<double>(instances.size()));
  score.accuracy /= count;
  score.weight /= count;
  if (score.hard_count > 0) score.hard = static_cast<double>(hard_right) / static_cast<double>(score.hard_count);
  return score;
}

/// The most frequent distance from query to key; 0 where there is none.
int best_offset(const std::vector<Instance>& instances, std::optional<int> kind) {
  std::map<int, Index> counts;
  for (const Instance& one : instances) {
    if (!kind || one.of->kind == *kind) ++counts[one.distance()];
  }
  int best = 0;
  Index most = 0;
  for (const auto& [distance, count] : counts) {
    if (count > most) best = distance, most = count;
  }
  return best;
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
  Looks looks;
};

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
  const auto untrained = untrained_model(*model);

  std::set<std::vector<std::int32_t>> seen;
  Measured validation{cases_of(grammar, options, options.validation_seed, seen), {}};
  Measured test{cases_of(grammar, options, options.test_seed, seen), {}};
  Measured untrained_validation{validation.cases, {}}, untrained_test{test.cases, {}};
  for (auto& [measured, one] : {std::pair<Measured*, std::shared_ptr<const Model>>{&validation, model}, {&test, model},
                               {&untrained_validation, untrained}, {&untrained_test, untrained}}) {
    auto looks = looks_of(one, speller, measured->cases, options.threads, progress, 0.22f);
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
  for (std::size_t r = 0; r < grammar.relations.size(); ++r) {
    const Relation& relation = grammar.relations[r];
    RelationScore score{.relation = relation.name, .en = relation.en, .zh = relation.zh};
    const auto chosen_on = instances_of(validation.cases, static_cast<int>(r));
    const auto scored_on = instances_of(test.cases, static_cast<int>(r));
    score.sentences = static_cast<Index>(scored_on.size());
    const int offset = best_offset(chosen_on, std::nullopt);
    std::map<int, int> kind_offsets;
    for (const Instance& one : chosen_on) {
      if (!kind_offsets.contains(one.of->kind)) kind_offsets[one.of->kind] = best_offset(chosen_on, one.of->kind);
    }
    std::vector<bool> hard;
    Index by_offset = 0, by_kind = 0;
    for (const Instance& one : scored_on) {
      const auto of_kind = kind_offsets.find(one.of->kind);
      const bool right = one.distance() == offset;
      const bool kind_right = of_kind != kind_offsets.end() && one.distance() == of_kind->second;
      by_offset += right;
      by_kind += kind_right;
      hard.push_back(!right && !kind_right);
    }
    const double count = std::max<double>(1, static_cast<double>(scored_on.size()));
    score.offset = static_cast<double>(by_offset) / count;
    score.kind_offset = static_cast<double>(by_kind) / count;
    double best_untrained = -1;
    for (Index h = 0; h < layers * heads; ++h) {
      const auto forwards = at(h * 2), backwards = at(h * 2 + 1);
      const double one = score_of(chosen_on, validation.looks, forwards, {}).accuracy;
      const double other = score_of(chosen_on, validation.looks, backwards, {}).accuracy;
      score.directed.push_back({h / heads, h % heads, other > one});
      validated[r].push_back(std::max(one, other));
      score.heads.push_back(score_of(scored_on, test.looks, other > one ? backwards : forwards, hard));
      for (const std::size_t column : {forwards, backwards}) {
        const double plain = score_of(chosen_on, untrained_validation.looks, column, {}).accuracy;
        if (plain > best_untrained) {
          best_untrained = plain;
          score.random = score_of(scored_on, untrained_test.looks, column, {}).accuracy;
        }
      }
    }
    report.relations.push_back(std::move(score));
  }

  choose_heads(report.relations, validated, options.apart);

  // Minimal pairs, by the head of what pronouns stand for; and the sentences that are never trained on.
  std::vector<Case> pairs;
  const auto& kinds = grammar.kinds;
  if (std::any_of(kinds.begin(), kinds.end(), [](const SentenceKind& kind) { return kind.pair.has_value(); })) {
    Random random(derive_seed(options.test_seed, "pairs"));
    for (Index p = 0; p < options.pairs; ++p) {
      for (Sentence& one : draw_minimal_pair(grammar, random)) {
        pairs.push_back({std::move(one.words), {one.gold.begin(), one.gold.begin() + 1}, one.kind});
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
      LiteralScore score{.text = text_of(grammar, sentence), .relation = relation.relation,
                         .query = grammar.words[at(literal.words[at(gold.query)])],
                         .key = grammar.words[at(literal.words[at(gold.key)])]};
      const std::vector<Look>& looks = (*literal_looks)[row++];
      for (std::size_t column = 0; column < looks.size(); ++column) {
        if (!looks[column].right || (score.shown && looks[column].weight <= score.weight)) continue;
        const auto head = static_cast<Index>(column / 2);
        score.best = {head / heads, head % heads, column % 2 == 1};
        score.shown = true;
        score.weight = looks[column].weight;
      }
      score.by_chosen = looks[column_of(relation.chosen)].right;
      report.literals.push_back(std::move(score));
    }
  }
  if (model->config.arch == Arch::decoder && model->output) {
    std::vector<Request> requests;
    for (const Case& one : test.cases) requests.push_back(speller.request(model, one.words));
    const auto next = measure_next_words(requests, options.threads, progress);
    if (!next) return next.error();
    if (progress.stop) return std::optional<RelationReport>();
    report.next_word = *next;
  }
  return result;
}

}  // namespace headlight
