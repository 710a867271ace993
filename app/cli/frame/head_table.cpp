#include "cli/frame/head_table.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "card/relation_scores.h"
#include "card/training_card.h"
#include "cli/options/print.h"
#include "math/attention.h"
#include "models/bundled_models.h"
#include "models/open_model.h"
#include "write/arrays.h"

namespace headlight {
namespace {

/// The sums over the sentences so far.
struct Gathered {
  MeasureSums sums = {};
  std::vector<HeadEffect> effects = {};  // summed
  std::vector<std::optional<FoundCell>> found = {};
  bool from_known = false, to_known = false;  // some sentence has the word
  std::vector<std::string> stacks = {};       // of every head
  SentenceArcs arcs = {};
  std::vector<ValueNorms> values = {};  // of every head
  std::vector<MovedHead> moved = {};    // summed, of every head
  std::vector<HeadWeights> weights = {};
};

/// The fields of an effect beside its size: each where it was asked for.
constexpr std::optional<float> HeadEffect::*kMoreOfEffect[] = {&HeadEffect::top_word, &HeadEffect::metric,
                                                               &HeadEffect::spread};

void add_effects(const std::vector<HeadEffect>& effects, Gathered& all) {
  if (all.effects.empty()) {
    all.effects = effects;
    return;
  }
  for (std::size_t i = 0; i < effects.size(); ++i) {
    all.effects[i].change += effects[i].change;
    for (const auto field : kMoreOfEffect)
      if (effects[i].*field) all.effects[i].*field = (all.effects[i].*field).value_or(0) + *(effects[i].*field);
  }
}

void add_found(const Trace& trace, const WordPair& words, Index sentence, int threads, Gathered& all) {
  for (const Stack stack : kStacks) {
    if (!trace.has(stack)) continue;
    all.from_known = all.from_known || !positions_of(trace.query_tokens(stack), words.from).empty();
    all.to_known = all.to_known || !positions_of(trace.key_tokens(stack), words.to).empty();
  }
  const auto cells = strongest_cells(trace, words, unwatched(), threads);
  all.found.resize(cells->size());
  for (std::size_t i = 0; i < cells->size(); ++i) {
    const StrongestCell& one = (*cells)[i];
    if (one.cell && (!all.found[i] || one.weight > all.found[i]->weight))
      all.found[i] = FoundCell{sentence, *one.cell, one.weight};
  }
}

void add_arcs(const SentenceArcs& arcs, SentenceArcs& all) {
  all.named.insert(all.named.end(), arcs.named.begin(), arcs.named.end());
  all.rest = arcs.rest.empty() ? all.rest : arcs.rest;
  for (const SentenceArcs::Resting& one : arcs.resting) {
    const auto known = std::ranges::find(all.resting, one.head, &SentenceArcs::Resting::head);
    if (known == all.resting.end()) all.resting.push_back(one);
    else known->words += one.words, known->all = known->all && one.all;
  }
}

void add_values(const Trace& trace, Gathered& all) {
  const std::vector<HeadRef> heads = heads_of(trace);
  all.values.resize(heads.size());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const AttentionTrace& attention = trace.attention(heads[i].stack, heads[i].layer);
    if (attention.patterns) return;
    const auto& tokens = trace.key_tokens(heads[i].stack).tokens;
    const auto values = head_columns(attention.value, attention.kv_head(heads[i].head), attention.num_kv_heads);
    ValueNorms& norms = all.values[i];
    bool begun = false;
    for (Index key = 0; key < values.rows(); ++key) {
      const Token& token = tokens[static_cast<std::size_t>(key)];
      if (token.pad) continue;
      const double norm = static_cast<double>(values.row(key).norm());
      if (!begun) norms.first += norm, ++norms.num_first;
      else if (!token.special) norms.others += norm, ++norms.num_others;
      begun = true;
    }
  }
}

/// Adds the rows of one head that are no padding.
void add_rows(const Trace& a, const Trace& b, const HeadRef& head, MovedHead& moved) {
  const auto& tokens = a.query_tokens(head.stack).tokens;
  const auto queries = static_cast<Index>(tokens.size());
  for (Index first = 0; first < queries; first += kRowBlock) {
    const Index count = std::min(kRowBlock, queries - first);
    const Matrix one = attention_rows(a, head, first, count), other = attention_rows(b, head, first, count);
    for (Index row = 0; row < count; ++row) {
      if (tokens[static_cast<std::size_t>(first + row)].pad) continue;
      Index strongest = 0, strongest_other = 0;
      one.row(row).maxCoeff(&strongest), other.row(row).maxCoeff(&strongest_other);
      moved.distance += 0.5 * (one.row(row).cast<double>() - other.row(row).cast<double>()).cwiseAbs().sum();
      moved.changed += strongest != strongest_other;
      ++moved.rows;
    }
  }
}

/// The model that --against names: with the same heads, reading the same words under the same ids.
Result<std::shared_ptr<const Model>> other_model(const std::string& source, const Model& own) {
  Progress progress;
  const ProgressReport report("against", &progress);
  const auto opened = TRY(open_model(source, std::nullopt, progress, Reading::as_used));
  const auto& other = opened.document.model;
  const Config& mine = own.config;
  const bool heads = other && !other->given && other->config.arch == mine.arch &&
                     other->config.num_layers == mine.num_layers && other->config.num_heads == mine.num_heads;
  if (!heads || other->config.layers_of_encoder() != mine.layers_of_encoder())
    return bad_input(
        "--against", "",
        "a model of " + std::to_string(mine.num_layers) + " layers of " + std::to_string(mine.num_heads) + " heads",
        "'" + source + "'");
  const bool same_words = !own.vocabulary || !other->vocabulary || own.vocabulary->words == other->vocabulary->words;
  const auto rows = [](const Model& model) { return model.embeddings.tokens ? model.embeddings.tokens->outputs() : 0; };
  if (!same_words || rows(own) != rows(*other))
    return bad_input("--against", "", "a model that reads the same words", "'" + source + "'");
  return other;
}

Status add_moved(const Trace& trace, const Request& request, std::shared_ptr<const Model> other, int threads,
                 Gathered& all) {
  Request same_tokens = request;
  same_tokens.config = other->config;
  same_tokens.model = std::move(other);
  const auto answered = TRY(forward(same_tokens, unwatched(), nullptr, threads));
  const std::vector<HeadRef> heads = heads_of(trace);
  all.moved.resize(heads.size());
  parallel_for(static_cast<Index>(heads.size()), threads, [&](Index at) {
    const auto i = static_cast<std::size_t>(at);
    add_rows(trace, *answered, heads[i], all.moved[i]);
  });
  return Done{};
}

/// What the weights alone say; a warning says where it is not defined.
void add_weights(const Trace& trace, const HeadsWanted& wanted, const Model* other, int threads, Gathered& all,
                 std::vector<Error>& warnings) {
  const Model& model = *trace.model;
  const std::vector<HeadRef> heads = heads_of(trace);
  all.weights.resize(heads.size());
  const auto of_stack = [&](Stack stack) {
    const auto first = std::ranges::find(heads, stack, &HeadRef::stack);
    return all.weights.begin() + (first - heads.begin());
  };
  if (wanted.sort == "copying") {
    const auto scores = copying_scores(model, threads);
    if (!scores) warnings.push_back(scores.error());
    auto row = of_stack(Stack::self);
    if (scores)
      for (const auto& score : *scores) (row++)->copying = score;
  }
  for (const Stack stack : kStacks) {
    if (!trace.has(stack) || model.given) continue;
    if (wanted.sort == "composition" && stack != Stack::cross) {
      if (const Status qk = check_qk(model, stack, "composition of query and key"); !qk) warnings.push_back(qk.error());
      auto row = of_stack(stack);
      for (const Composition& one : compositions(model, stack, threads)) (row++)->composition = one;
    }
    auto row = of_stack(stack);
    for (Index layer = 0; other && layer < trace.num_layers(stack); ++layer)
      for (const CircuitChange& one :
           circuit_changes(circuit_factors(model, stack, layer), circuit_factors(*other, stack, layer)))
        (row++)->change = one;
  }
}

/// How far each head lies above the others, and the name that follows.
void name_by_probe(std::vector<HeadRow>& rows) {
  for (std::size_t which = 0; which < std::size(kProbed); ++which) {
    double sum = 0, squares = 0;
    Index count = 0;
    for (const HeadRow& row : rows)
      if (const auto value = row.measures[kProbed[which]]) {
        const double number = static_cast<double>(*value);
        sum += number, squares += number * number, ++count;
      }
    for (HeadRow& row : rows) {
      const auto value = row.measures[kProbed[which]];
      if (!value || count < 3) continue;
      const double own = static_cast<double>(*value), others = static_cast<double>(count - 1);
      const double mean = (sum - own) / others;
      const double spread = std::sqrt(std::max(0.0, (squares - own * own) / others - mean * mean));
      if (spread > 0) row.above_others[which] = static_cast<float>((own - mean) / spread);
    }
  }
  constexpr const char* kNames[] = {"previous token", "duplicate token", "induction"};
  for (HeadRow& row : rows) {
    row.name.words.clear();
    const auto best = std::ranges::max_element(row.above_others);
    if (*best && **best >= kNamedAbove)
      row.name.words = kNames[best - row.above_others.begin()] + formatted(", z %.1f", static_cast<double>(**best));
  }
}

Result<Gathered> gather(const Asked& asked, const HeadsWanted& wanted, int threads, std::vector<Error>& warnings) {
  Gathered all;
  std::shared_ptr<const Model> other;
  if (!wanted.against.empty()) {
    const auto& own = asked.requests.front().model;
    if (!own || own->given) return bad_input("--against", "", "beside a model", "none");
    other = TRY(other_model(wanted.against, *own));
  }
  for (std::size_t sentence = 0; sentence < asked.requests.size(); ++sentence) {
    Progress progress;
    const auto answered = TRY(forward(asked.requests[sentence], progress, nullptr, threads));
    const Trace& trace = *answered;
    warnings.insert(warnings.end(), trace.warnings.begin(), trace.warnings.end());
    add_sentence(all.sums, trace, progress, threads);
    if (wanted.effect || wanted.sort == "effect") {
      const ProgressReport report("effect", &progress);
      EffectWanted own = wanted.effects;
      if (wanted.take_metric) TRY(wanted.take_metric(trace, own));
      const auto effects = TRY(head_effects(trace, progress, threads, own));
      if (!all.effects.empty() && all.effects.front().top_word.has_value() != effects->front().top_word.has_value())
        return bad_input("--effect", "sentence " + std::to_string(sentence),
                         "a masked word in all sentences or in none", "some of both");
      add_effects(*effects, all);
    }
    if (wanted.words) add_found(trace, *wanted.words, static_cast<Index>(sentence), threads, all);
    if (wanted.value_norms) add_values(trace, all);
    if (sentence == 0) add_weights(trace, wanted, other.get(), threads, all, warnings);
    if (other) TRY(add_moved(trace, asked.requests[sentence], other, threads, all));
    add_arcs(named_arcs(asked.document(), trace), all.arcs);
    if (!all.stacks.empty()) continue;
    for (const StackNames& names : stacks_of(trace))
      all.stacks.insert(all.stacks.end(), heads_of(trace, names.stack).size(), std::string(names.label));
  }
  return all;
}

HeadRow row_of(const Gathered& all, std::size_t at, const HeadMeasures& measures, const Asked& asked) {
  HeadRow row{.measures = measures, .stack = all.stacks[at], .learned = relations_of(asked.document(), measures.head)};
  const auto opposites = opposites_of(asked.document(), measures.head);
  row.learned.insert(row.learned.end(), opposites.begin(), opposites.end());
  row.name = head_name(Language::en, all.arcs, measures.head, &measures);
  for (const RelationScore* one : row.learned) {
    row.taught.push_back(was_taught(asked.document().card->plan.teaching.heads, *one));
    row.doubted.push_back(std::ranges::none_of(row.name.arcs, [&](const NamedArc* arc) {
      return arc->relation == plain_name(*one) && arc->reversed == one->chosen.reversed;
    }));
  }
  row.name.arcs.clear();
  if (!all.found.empty()) row.found = all.found[at];
  row.weights = all.weights[at];
  if (!all.values.empty()) row.values = all.values[at];
  if (!all.moved.empty() && all.moved[at].rows > 0) {
    MovedHead& moved = row.moved.emplace(all.moved[at]);
    moved.distance /= static_cast<double>(moved.rows);
    moved.changed /= static_cast<double>(moved.rows);
  }
  const auto effect = std::ranges::find(all.effects, measures.head, &HeadEffect::head);
  if (effect == all.effects.end()) return row;
  const auto sentences = static_cast<float>(asked.requests.size());
  row.effect = *effect;
  row.effect->change /= sentences;
  for (const auto field : kMoreOfEffect)
    if (auto& mean = (*row.effect).*field) *mean /= sentences;
  return row;
}

std::optional<float> value_of(const HeadRow& row, const std::string& order) {
  for (const Measure measure : kMeasures)
    if (order == name(measure)) return row.measures[measure];
  if (order == "effect" && row.effect) return row.effect->change;
  if (order == "found" && row.found) return row.found->weight;
  if (order == "moved" && row.moved) return static_cast<float>(row.moved->distance);
  if (order == "copying") return row.weights.copying;
  if (const auto part = row.weights.composition.strongest(); order == "composition" && part)
    return row.weights.composition.most[*part];
  std::optional<float> best;
  for (const RelationScore* one : row.learned)
    if (order == "learned" && is_worn(*one)) best = std::max(best.value_or(0), static_cast<float>(one->score.accuracy));
  return best;
}

/// The indices of the rows in the order that is wanted.
std::vector<std::size_t> order_of(const std::vector<HeadRow>& rows, const HeadsWanted& wanted) {
  std::vector<std::optional<float>> values;
  for (const HeadRow& row : rows) values.push_back(value_of(row, wanted.sort));
  return ranking(values, wanted.ascending);
}

}  // namespace

Result<HeadTable> measure_table(const Asked& asked, const HeadsWanted& wanted, int threads,
                                std::vector<Error>& warnings) {
  const auto gathered = TRY(gather(asked, wanted, threads, warnings));
  const auto missing = [](const char* option, const std::string& word) {
    return bad_input(option, "", "a word of the text", "'" + word + "'");
  };
  if (wanted.words && !gathered.from_known) return missing("--from", wanted.words->from);
  if (wanted.words && !gathered.to_known) return missing("--to", wanted.words->to);
  HeadTable table{.sentences = static_cast<Index>(asked.requests.size()), .words = wanted.words, .above = wanted.above};
  std::vector<HeadRow> rows;
  for (const HeadMeasures& measures : measures_of(gathered.sums))
    rows.push_back(row_of(gathered, rows.size(), measures, asked));
  if (wanted.probe) name_by_probe(rows);
  table.heads = static_cast<Index>(rows.size());
  table.of_words = !gathered.effects.empty() && gathered.effects.front().top_word;
  for (const std::size_t at : order_of(rows, wanted))
    if ((!wanted.words || (rows[at].found && rows[at].found->weight > wanted.above)) &&
        (gathered.effects.empty() || rows[at].effect))
      table.rows.push_back(std::move(rows[at]));
  return table;
}

}  // namespace headlight
