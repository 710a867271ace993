#include "names/named_arcs.h"

#include <algorithm>
#include <tuple>

#include "base/utf8.h"
#include "card/training_card.h"
#include "math/attention.h"
#include "math/forward.h"
#include "models/bundled_models.h"
#include "text/characters.h"

namespace headlight {
namespace {

/// How many of the first layers attend as without the edits.
Index unedited_layers(const Request& request) {
  const Edits& edits = request.edits;
  Index layers = request.config.num_layers;
  if (edits == Edits{}) return layers;
  if (edits.scale || !edits.layers.empty() || edits.dropout > 0 || request.config.arch == Arch::encoder_decoder)
    return 0;
  for (const HeadRef& head : edits.off) layers = std::min(layers, head.layer + 1);
  for (const WeightEdit& weight : edits.weights) layers = std::min(layers, weight.head.layer);
  return layers;
}

/// Whether nothing but the model, the sentence and its edits made the answer.
bool has_usual_masks(const Request& request) {
  const MaskSpec usual{.causal = is_causal_by_default(request.config.arch),
                       .padding = request.mask.padding,
                       .sentences = request.mask.sentences};
  return request.mask == usual && request.encoder_mask == MaskSpec{} && request.cross_mask == MaskSpec{};
}

/// Two words, and the cell with the most weight between them; nothing where one looks too little at the other.
std::optional<NamedArc> pointing(const Trace& trace, const HeadRef& head, const SpeltWord& from, const SpeltWord& to) {
  const Matrix rows = attention_rows(trace, head, from.first, from.count);
  const float weight = word_weight(rows, to);
  if (weight < kLeastPointing) return std::nullopt;
  Index row = 0, column = 0;
  rows.middleCols(to.first, to.count).maxCoeff(&row, &column);
  return NamedArc{head, {from.first + row, to.first + column}, weight, from, to, {}};
}

/// A head, and how often it was right where it showed a relation of the grammar.
struct Shown {
  HeadRef head;
  bool reversed = false;
  double precision = 0;
  Index measured = 0;
};

std::vector<Shown> heads_of_relation(const TrainingCard& card, Stack stack, const std::string& relation) {
  std::vector<Shown> shown;
  if (card.scores)
    for (const auto* scores : {&card.scores->relations, &card.scores->opposite})
      for (const RelationScore& one : *scores)
        if (one.relation == relation && one.stack == stack && is_worn(one))
          shown.push_back(
              {{one.chosen.layer, one.chosen.head, one.stack}, one.chosen.reversed, one.score.accuracy, one.sentences});
  if (card.arcs)
    for (const ArcPrecision& one : card.arcs->precisions)
      if (one.head.stack == stack && one.relation == relation && one.language == ArcLanguage::grammar)
        shown.push_back({one.head, false, one.share(), one.named});
  return shown;
}

SpeltWord word_with(const std::vector<SpeltWord>& words, Index token) {
  return *std::find_if(words.begin(), words.end(), [&](const SpeltWord& word) { return word.has(token); });
}

/// Words that the grammar relates, in a stack whose rows and columns are these.
void add_grammar(const TrainingCard& card, const Trace& trace, Stack stack, const std::vector<RelatedWords>& pairs,
                 const std::vector<SpeltWord>& rows, const std::vector<SpeltWord>& columns,
                 std::vector<NamedArc>& arcs) {
  for (const RelatedWords& pair : pairs)
    for (const Shown& one : heads_of_relation(card, stack, pair.relation)) {
      if (one.precision < kLeastPrecision || one.head.layer >= trace.num_layers() ||
          one.head.head >= trace.num_heads() || (one.reversed && stack == Stack::cross))
        continue;
      auto arc = pointing(trace, one.head, word_with(rows, one.reversed ? pair.key : pair.query),
                          word_with(columns, one.reversed ? pair.query : pair.key));
      if (!arc) continue;
      arc->relation = pair.relation;
      arc->reversed = one.reversed;
      arc->precision = one.precision;
      arc->measured = one.measured;
      arcs.push_back(*std::move(arc));
    }
}

/// Whether it is a mark that is not read as a word, as % and & are: the period of “Dr.” is no noun.
bool is_mark_alone(const std::string& word) {
  constexpr std::u32string_view kRead = U"&%$#@+*/=";
  const auto is_silent = [&](char32_t c) { return is_punctuation(c) && kRead.find(c) == std::u32string_view::npos; };
  return std::ranges::all_of(code_points(word), is_silent);
}

void add_labelled(const ArcLabels& labels, const Trace& trace, const std::vector<SpeltWord>& words,
                  ArcLanguage language, std::vector<NamedArc>& arcs) {
  const std::vector<PointedPair> pairs = pointed_pairs(trace, labels.heads, words);
  const std::string& text = trace.query_tokens().text;
  for (const LabelledPair& label : agreeing_pairs(labels, language, pairs, text, words)) {
    const PointedPair& pair = pairs[label.pair];
    const auto is_mark = [&](Index word) {
      const SpeltWord& spelt = words[static_cast<std::size_t>(word)];
      return is_mark_alone(text.substr(spelt.begin, spelt.end - spelt.begin));
    };
    if (is_mark(pair.from) || is_mark(pair.to)) continue;
    const std::string& relation = labels.relations[label.relation];
    for (std::size_t head = 0; head < labels.heads.size(); ++head) {
      const ArcPrecision* measured = labels.precision(labels.heads[head], relation, language);
      if (!pair.pointed[head] || !measured) continue;
      auto arc = pointing(trace, labels.heads[head], words[static_cast<std::size_t>(pair.from)],
                          words[static_cast<std::size_t>(pair.to)]);
      if (!arc) continue;
      arc->relation = relation;
      arc->precision = measured->share();
      arc->measured = measured->named;
      arc->probability = label.probability;
      arcs.push_back(*std::move(arc));
    }
  }
}

/// Whether a word is a pronoun that may stand for a noun before it.
bool is_of_third_person(std::string word) {
  constexpr std::string_view kThird =
      " it its itself he him his himself she her hers herself they them their theirs themselves "
      "它 他 她 它们 他们 她们 自己 ";
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
  return kThird.find(" " + word + " ") != std::string_view::npos;
}

void add_referring(const ArcLabels& labels, const Trace& trace, const std::vector<SpeltWord>& words,
                   ArcLanguage language, SentenceArcs& arcs) {
  for (const ArcPrecision& one : labels.precisions) {
    if (one.relation != kPronounRelation || one.language != language || one.named == 0) continue;
    for (const PointedPair& pair : pointed_pairs(trace, {one.head}, words)) {
      const SpeltWord& from = words[static_cast<std::size_t>(pair.from)];
      const std::string& text = trace.query_tokens().text;
      if (pair.to > pair.from || !is_of_third_person(text.substr(from.begin, from.end - from.begin))) continue;
      auto arc = pointing(trace, one.head, from, words[static_cast<std::size_t>(pair.to)]);
      if (!arc || arc->weight < kLeastReferring || arcs.at(arc->head, arc->cell)) continue;
      arc->relation = kPronounRelation;
      arc->precision = one.share();
      arc->measured = one.named;
      arcs.referring.push_back(*std::move(arc));
    }
  }
}

/// The words, without marks.
std::vector<SpeltWord> without_marks(const Tokens& tokens, std::vector<SpeltWord> words) {
  std::erase_if(words, [&](const SpeltWord& word) {
    const auto letters = code_points(tokens.text.substr(word.begin, word.end - word.begin));
    return std::none_of(letters.begin(), letters.end(), is_word_character);
  });
  return words;
}

/// The words whose largest weight is on the first token, in the map of whole words; without those that have a name.
Index resting_words(const Trace& trace, const HeadRef& head, const std::vector<SpeltWord>& spoken,
                    const std::vector<SpeltWord>& words, const SentenceArcs& arcs) {
  const Matrix weights = attention_rows(trace, head, 0, trace.queries());
  const auto rests = [&](const SpeltWord& word) {
    const Matrix rows = weights.middleRows(word.first, word.count);
    const Vector mean = rows.colwise().mean();
    const auto has_less = [&](const SpeltWord& other) { return word_weight(rows, other) <= mean(0); };
    const auto is_of_word = [&](const NamedArc& arc) { return arc.head == head && arc.from == word; };
    return mean.maxCoeff() == mean(0) && std::all_of(words.begin(), words.end(), has_less) &&
           std::none_of(arcs.named.begin(), arcs.named.end(), is_of_word);
  };
  return std::count_if(spoken.begin(), spoken.end(), rests);
}

const NamedArc* arc_at(const std::vector<NamedArc>& arcs, const HeadRef& head, const CellRef& cell) {
  const auto found = std::find_if(arcs.begin(), arcs.end(), [&](const NamedArc& arc) {
    return arc.head == head && arc.from.has(cell.query) && arc.to.has(cell.key);
  });
  return found == arcs.end() ? nullptr : &*found;
}

}  // namespace

std::vector<const NamedArc*> SentenceArcs::of(const HeadRef& head) const {
  std::vector<const NamedArc*> arcs;
  for (const NamedArc& arc : named)
    if (arc.head == head) arcs.push_back(&arc);
  return arcs;
}

const NamedArc* SentenceArcs::at(const HeadRef& head, const CellRef& cell) const { return arc_at(named, head, cell); }

const NamedArc* SentenceArcs::referring_at(const HeadRef& head, const CellRef& cell) const {
  return arc_at(referring, head, cell);
}

SentenceArcs named_arcs(const TrainingCard& card, const Trace& trace) {
  SentenceArcs arcs;
  const Tokens& tokens = trace.query_tokens();
  const Index layers = trace.request.model ? unedited_layers(trace.request) : 0;
  if (layers == 0 || !has_usual_masks(trace.request) || !trace.has(Stack::self)) return arcs;
  if (trace.request.edits != Edits{}) {  // labels read all layers
    Request plain = trace.request;
    plain.edits = {};
    const auto answer = forward(plain);
    if (!answer) return arcs;
    arcs = named_arcs(card, **answer);
    for (auto* cells : {&arcs.named, &arcs.referring})
      std::erase_if(*cells, [&](const NamedArc& arc) { return arc.head.layer >= layers; });
    std::erase_if(arcs.resting, [&](const SentenceArcs::Resting& one) { return one.head.layer >= layers; });
    return arcs;
  }
  const bool labelled = card.arcs && fit(*card.arcs, trace.request.config);
  if (tokens.size() > kMostArcTokens) return {.unnamed = labelled ? Unnamed::length : Unnamed::no_relation};
  const std::vector<SpeltWord> words = spelt_words(tokens);
  const std::vector<SpeltWord> spoken = without_marks(tokens, words);
  const SentenceFacts facts = sentence_facts(tokens, shipped_grammar());
  add_grammar(card, trace, Stack::self, facts.relations, words, words, arcs.named);
  if (const Grammar* grammar = shipped_grammar(); grammar && trace.has(Stack::cross)) {
    const Tokens& sentence = trace.key_tokens(Stack::cross);
    add_grammar(card, trace, Stack::cross, translated_words(*grammar, sentence, tokens), words, spelt_words(sentence),
                arcs.named);
  }
  const ArcLanguage language = is_in_chinese(tokens) ? ArcLanguage::chinese : ArcLanguage::english;
  if (labelled && !facts.measured_kind) arcs.unnamed = Unnamed::kind;
  else if (labelled && !are_in_order(*card.arcs, language, trace, words)) arcs.unnamed = Unnamed::order;
  else if (labelled) {
    add_labelled(*card.arcs, trace, words, language, arcs.named);
    add_referring(*card.arcs, trace, spoken, language, arcs);
  }
  const auto order = [](const NamedArc& arc) { return std::tuple(arc.head, arc.from.first, arc.to.first); };
  const auto earlier = [&](const NamedArc& a, const NamedArc& b) { return order(a) < order(b); };
  const auto same = [&](const NamedArc& a, const NamedArc& b) { return order(a) == order(b); };
  std::stable_sort(arcs.named.begin(), arcs.named.end(), earlier);
  arcs.named.erase(std::unique(arcs.named.begin(), arcs.named.end(), same), arcs.named.end());
  if (!labelled || !facts.measured_kind || tokens.tokens.empty() || !tokens.tokens.front().special) return arcs;
  arcs.rest = tokens.tokens.front().text;
  for (const HeadRef& head : card.arcs->heads) {
    const Index resting = resting_words(trace, head, spoken, words, arcs);
    arcs.resting.push_back({head, resting, resting == std::ssize(spoken)});
  }
  return arcs;
}

SentenceArcs named_arcs(const Document& document, const Trace& trace) {
  const bool own = document.card && document.model == trace.request.model;
  return own ? named_arcs(*document.card, trace) : SentenceArcs{};
}

}  // namespace headlight
