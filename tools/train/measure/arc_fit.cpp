#include "train/measure/arc_fit.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/parallel.h"
#include "base/random.h"
#include "base/utf8.h"
#include "text/characters.h"
#include "train/corpus/tokenized.h"
#include "train/measure/regression.h"

namespace headlight {
namespace {

constexpr std::uint64_t kHiddenSeed = 1;
constexpr float kHidden = 0.15f;              // share of the words
constexpr std::size_t kMostSentences = 4000;  // of a treebank that are learned from: evenly spread, …
constexpr std::size_t kHidings = 4;           // … or so often each, with other words hidden
constexpr int kGrammarSentences = 1000;
constexpr Index kFewestNamed = 10;         // cells: a relation of a head has a precision from so many on
constexpr float kMostLeast = 0x1.ffcp-1f;  // the largest number below 1 of those that labels are stored as
constexpr double kSilenced = 0.04;         // share of scored sentences whose order is taken for none

/// The pairs of a sentence.
struct Example {
  bool chinese = false;
  std::string text = {};
  std::vector<SpeltWord> words = {};
  std::vector<PointedPair> pairs = {};
  const TreebankSentence* sentence = nullptr;
  Vector order = {}, shuffled = {};  // order_features of the sentence, and of its words in another order
};

Result<std::shared_ptr<const Trace>> answer(const ArcFitQuestion& question, Tokens tokens) {
  Request request{.model = question.model, .config = question.model->config, .tokens = std::move(tokens)};
  request.mask.causal = question.model->config.arch == Arch::decoder;
  Progress progress;
  return forward(request, progress, nullptr, 1);
}

/// The same words in another order, the mark at the end in its position.
Tokens shuffled(Tokens tokens, const std::vector<SpeltWord>& words, Random& random) {
  std::vector<Token> others;
  std::vector<SpeltWord> order = words;
  const SpeltWord& last = words.back();
  const auto letters = code_points(std::string_view(tokens.text).substr(last.begin, last.end - last.begin));
  const bool ends = !letters.empty() && !is_word_character(letters.front());
  for (std::size_t left = words.size() - ends; left > 1; --left)
    std::swap(order[left - 1], order[static_cast<std::size_t>(random.uniform() * static_cast<float>(left))]);
  for (const SpeltWord& word : order)
    others.insert(others.end(), tokens.tokens.begin() + word.first, tokens.tokens.begin() + word.first + word.count);
  std::copy(others.begin(), others.end(), tokens.tokens.begin() + words.front().first);
  return tokens;
}

Status add_example(const ArcFitQuestion& question, const std::vector<HeadRef>& heads, const TreebankSentence& sentence,
                   std::size_t number, bool hides, Example& example) {
  auto tokens = encode(*question.tokenizer, sentence.text, true);
  if (!tokens || tokens->size() > kMostArcTokens) return Done{};
  example.chinese = is_in_chinese(*tokens);
  example.text = tokens->text;
  example.words = spelt_words(*tokens);
  example.sentence = &sentence;
  Random random(derive_seed(kHiddenSeed, "arcs " + std::to_string(number)));
  if (hides)
    for (Token& token : tokens->tokens)
      if (!token.special && random.uniform() < kHidden) token.id = kMaskRow;
  const auto trace = TRY(answer(question, *tokens));
  example.pairs = pointed_pairs(*trace, heads, example.words);
  if (example.words.size() < kFewestInOrder) return Done{};
  example.order = order_features(*trace, example.words);
  const auto other = TRY(answer(question, shuffled(*std::move(tokens), example.words, random)));
  example.shuffled = order_features(*other, spelt_words(other->query_tokens()));
  return Done{};
}

/// Whether the treebank has most of these relations: with few, nothing is known of the words without them.
bool says_all(const HeldOutTreebank& treebank, const std::vector<std::string>& relations) {
  std::set<std::string_view> known;
  for (const TreebankSentence& sentence : treebank.sentences)
    for (const TreebankSentence::Arc& arc : sentence.arcs) known.insert(universal_name(arc.relation));
  known.erase("");
  return 2 * known.size() > relations.size();
}

/// Of every sentence of each treebank; of those that `teach`, where they have most relations, kHidings of each, at most
/// kMostSentences in all. Empty where it was stopped.
Result<std::vector<std::vector<Example>>> examples_of(const ArcFitQuestion& question, const ArcLabels& labels,
                                                      const std::vector<HeldOutTreebank>& treebanks, bool teach,
                                                      const Progress& progress) {
  std::vector<std::vector<Example>> examples;
  for (const HeldOutTreebank& treebank : treebanks) {
    if (teach && !says_all(treebank, labels.relations)) continue;
    const std::size_t all = treebank.sentences.size(), count = teach ? std::min(all * kHidings, kMostSentences) : all;
    std::vector<Example>& own = examples.emplace_back(count);
    std::vector<Status> failed(count, Done{});
    parallel_for(static_cast<Index>(count), Threads(question.threads, &progress.stop), [&](Index i) {
      const auto at = static_cast<std::size_t>(i), number = at * all / count;
      failed[at] =
          add_example(question, labels.heads, treebank.sentences[number], count > all ? at : number, teach, own[at]);
    });
    for (const Status& one : failed)
      if (!one) return one.error();
  }
  if (progress.stop) examples.clear();
  return examples;
}

bool is_right(const Example& example, const PointedPair& pair, const std::string& relation) {
  return has_relation(*example.sentence, example.words[static_cast<std::size_t>(pair.from)],
                      example.words[static_cast<std::size_t>(pair.to)], relation);
}

Cases cases_of(const std::vector<const Example*>& examples, const std::vector<std::string>& relations) {
  Index count = 0;
  for (const Example* one : examples) count += static_cast<Index>(one->pairs.size());
  Cases cases;
  for (const Example* one : examples)
    for (const PointedPair& pair : one->pairs) {
      if (cases.features.size() == 0) cases.features.resize(count, pair.features.size());
      cases.features.row(static_cast<Index>(cases.classes.size())) = pair.features;
      const auto right = std::find_if(relations.begin(), relations.end(),
                                      [&](const std::string& relation) { return is_right(*one, pair, relation); });
      cases.classes.push_back(right == relations.end() ? 0 : right - relations.begin() + 1);
    }
  return cases;
}

/// Sentences that teach (class 1), and the same shuffled.
Cases orders_of(const std::vector<const Example*>& examples) {
  Cases cases;
  const auto add = [&](const Vector& features, Index of) {
    if (features.size() == 0) return;
    if (cases.features.size() == 0) cases.features.resize(2 * std::ssize(examples), features.size());
    cases.features.row(std::ssize(cases.classes)) = features;
    cases.classes.push_back(of);
  };
  for (const Example* one : examples) add(one->order, 1), add(one->shuffled, 0);
  cases.features.conservativeResize(std::ssize(cases.classes), cases.features.cols());
  return cases;
}

/// ArcLabels::OfLanguage::order: below 0 for kSilenced of the sentences that judge.
Matrix order_weights(const std::vector<const Example*>& learned, const std::vector<const Example*>& judges) {
  const Matrix classes = regression(orders_of(learned), 2);
  Matrix order = classes.row(1) - classes.row(0);
  std::vector<float> scores;
  for (const Example* one : judges)
    if (one->order.size() > 0) scores.push_back(order.row(0).dot(one->order));
  if (scores.empty()) return {};
  std::sort(scores.begin(), scores.end());
  order(0, 0) -= scores[static_cast<std::size_t>(kSilenced * static_cast<double>(scores.size()))];
  return rounded(order);
}

/// A label of a scored sentence: its logit, and whether it is right.
struct Judged {
  std::size_t relation = 0;
  double score = 0;
  bool right = false;
};

/// a, b of σ(a·score + b) nearest to what was right, drawn to (`a`, `b`) as by `prior` cases: Newton's method.
std::pair<double, double> believed(const std::vector<Judged>& judged, double a, double b, double prior) {
  const double first_a = a, first_b = b;
  for (int round = 0; round < 30; ++round) {
    double grad_a = prior * (a - first_a), grad_b = prior * (b - first_b);
    double aa = prior + 1e-3, ab = 0, bb = prior + 1e-3;
    for (const Judged& one : judged) {
      const double p = sigmoid(a * one.score + b), curve = p * (1 - p), error = p - one.right;
      grad_a += error * one.score, grad_b += error;
      aa += curve * one.score * one.score, ab += curve * one.score, bb += curve;
    }
    const double area = aa * bb - ab * ab;
    a -= std::clamp((bb * grad_a - ab * grad_b) / area, -1.0, 1.0);
    b -= std::clamp((aa * grad_b - ab * grad_a) / area, -1.0, 1.0);
  }
  return {a, b};
}

/// The lowest probability from which on this share of such labels is right; 1: there is none.
float least_right(std::vector<Judged> labels, double share, const std::function<bool(const Judged&)>& counts) {
  std::stable_sort(labels.begin(), labels.end(), [](const auto& x, const auto& y) { return x.score > y.score; });
  float least = 1;
  double all = 0, right = 0;
  for (const Judged& one : labels) {
    if (!counts(one)) continue;
    right += one.right;
    if (right >= share * ++all) least = std::min(static_cast<float>(sigmoid(one.score)), kMostLeast);
  }
  return least;
}

/// Sets the calibration and the least probability of one language.
void calibrate(ArcLabels& labels, ArcLanguage language, const std::vector<const Example*>& examples) {
  constexpr double kTrusted = 0.63;  // of each relation: more than given labels need, which is measured on others
  constexpr double kPrior = 3, kLeastBelieved = 0.4;  // less likely labels are wrong in another way
  ArcLabels::OfLanguage& own = labels.languages[static_cast<std::size_t>(language)];
  const auto judge = [&](bool any) {
    std::vector<Judged> judged;
    for (const Example* one : examples)
      for (const LabelledPair& label : labelled_pairs(labels, language, one->pairs, any)) {
        if (any && label.probability < kLeastBelieved) continue;
        judged.push_back({label.relation, logit(label.probability),
                          is_right(*one, one->pairs[label.pair], labels.relations[label.relation])});
      }
    return judged;
  };
  const std::vector<Judged> judged = judge(true);
  const auto [a, b] = believed(judged, 1, 0, 0);
  own.calibration = Matrix::Zero(static_cast<Index>(labels.relations.size()), 3);
  for (std::size_t relation = 0; relation < labels.relations.size(); ++relation) {
    std::vector<Judged> those;
    std::copy_if(judged.begin(), judged.end(), std::back_inserter(those),
                 [&](const Judged& one) { return one.relation == relation; });
    const auto [own_a, own_b] = believed(those, a, b, kPrior);
    own.calibration(static_cast<Index>(relation), 0) = static_cast<float>(own_a);
    own.calibration(static_cast<Index>(relation), 1) = static_cast<float>(own_b);
  }
  own.least = 0;
  const std::vector<Judged> sure = judge(false);
  for (std::size_t relation = 0; relation < labels.relations.size(); ++relation)
    own.calibration(static_cast<Index>(relation), 2) =
        least_right(sure, kTrusted, [&](const Judged& one) { return one.relation == relation; });
  own.calibration = rounded(own.calibration);
  own.least = least_right(judge(false), language == ArcLanguage::chinese ? kChineseGoal : kEnglishGoal,
                          [](const Judged&) { return true; });
}

using Counts = std::map<std::pair<std::size_t, std::string>, std::pair<Index, Index>>;  // head, relation: named, right

void add_precisions(ArcLabels& labels, ArcLanguage language, const Counts& counts) {
  for (const auto& [what, count] : counts)
    if (count.first >= kFewestNamed)
      labels.precisions.push_back({labels.heads[what.first], what.second, language, count.first, count.second});
}

void measure(const ArcLabels& labels, ArcLanguage language, const std::vector<const Example*>& examples,
             Counts& counts) {
  for (const Example* one : examples)
    for (const LabelledPair& label : agreeing_pairs(labels, language, one->pairs, one->text, one->words)) {
      const PointedPair& pair = one->pairs[label.pair];
      const std::string& relation = labels.relations[label.relation];
      for (std::size_t head = 0; head < labels.heads.size(); ++head) {
        if (!pair.pointed[head]) continue;
        auto& [named, right] = counts[{head, relation}];
        ++named;
        right += is_right(*one, pair, relation);
      }
    }
}

/// Heads of the grammar's relations, on its sentences: of the words with such a relation from which the head points
/// somewhere, those where it points at the right word.
Status measure_grammar(const ArcFitQuestion& question, ArcLabels& labels, const Progress& progress) {
  std::vector<Counts::key_type> asked;
  std::vector<TaughtHead> heads;  // one for each relation
  for (std::size_t head = 0; head < question.taught.size(); ++head)
    for (const std::string& relation : question.taught[head].relations) {
      asked.emplace_back(head, relation);
      heads.push_back({question.taught[head].layer, question.taught[head].head, {relation}});
    }
  Random random(derive_seed(kHiddenSeed, "arcs of the grammar"));
  Counts counts;
  for (int i = 0; i < kGrammarSentences && !progress.stop; ++i) {
    const Sentence sentence = draw_sentence(*question.grammar, CorpusPart::held_out, random);
    auto tokens = encode(*question.tokenizer, text_of(*question.grammar, sentence), true);
    const auto arcs = taught_sentence(*question.grammar, sentence, *question.tokenizer, heads).arcs;
    if (!tokens || arcs.empty()) continue;
    const std::vector<SpeltWord> words = spelt_words(*tokens);
    const auto trace = TRY(answer(question, *std::move(tokens)));
    for (const PointedPair& pair : pointed_pairs(*trace, labels.heads, words)) {
      const SpeltWord &from = words[static_cast<std::size_t>(pair.from)],
                      &to = words[static_cast<std::size_t>(pair.to)];
      for (const TaughtSentence::Arc& arc : arcs) {
        const auto& one = asked[static_cast<std::size_t>(arc.head)];
        if (arc.query != from.first || !pair.pointed[one.first]) continue;
        auto& [named, right] = counts[one];
        ++named;
        right += to.has(arc.first);
      }
    }
  }
  add_precisions(labels, ArcLanguage::grammar, counts);
  return Done{};
}

/// The examples of one language; of scored treebanks every second sentence, from `first` on.
std::vector<const Example*> of_language(const std::vector<std::vector<Example>>& treebanks, bool chinese,
                                        std::size_t first = 0, std::size_t step = 1) {
  std::vector<const Example*> chosen;
  for (const auto& treebank : treebanks)
    for (std::size_t i = first; i < treebank.size(); i += step)
      if (treebank[i].chinese == chinese && !treebank[i].pairs.empty()) chosen.push_back(&treebank[i]);
  return chosen;
}

/// A text that is judged to be no sentence has no names.
void leave_out_disordered(const ArcLabels::OfLanguage& own, bool chinese,
                          std::vector<std::vector<Example>>& treebanks) {
  for (auto& treebank : treebanks)
    for (Example& one : treebank)
      if (one.chinese == chinese && one.order.size() > 0 && own.order.size() > 0 && own.order.row(0).dot(one.order) < 0)
        one.pairs.clear();
}

}  // namespace

bool has_relation(const TreebankSentence& sentence, const SpeltWord& from, const SpeltWord& to,
                  const std::string& relation) {
  const auto covers = [&](const SpeltWord& spelt, std::int32_t word) {
    const TreebankSentence::Word& own = sentence.words[static_cast<std::size_t>(word)];
    return std::max(spelt.begin, own.begin) < std::min(spelt.end, own.end);
  };
  return std::any_of(sentence.arcs.begin(), sentence.arcs.end(), [&](const TreebankSentence::Arc& arc) {
    return universal_name(arc.relation) == relation && covers(from, arc.dependent) && covers(to, arc.head);
  });
}

Result<std::optional<ArcLabels>> fit_arc_labels(const ArcFitQuestion& question, Progress& progress) {
  if (question.model->config.arch == Arch::encoder_decoder || !question.model->embeddings.tokens)
    return bad_input("arcs", "model", "one stack of attention, and words", "another");
  if (question.taught.empty()) return bad_input("arcs", "heads", "one that was taught", "none");
  std::optional<ArcLabels> result;
  ArcLabels& labels = result.emplace();
  for (const TaughtHead& head : question.taught) labels.heads.push_back({head.layer, head.head});
  for (const UniversalRelation& one : universal_relations())
    if (taught_head(question.taught, one.name)) labels.relations.emplace_back(one.name);
  const auto teaching = TRY(examples_of(question, labels, question.teaching, true, progress));
  auto scored = TRY(examples_of(question, labels, question.scored, false, progress));
  for (const ArcLanguage language : {ArcLanguage::english, ArcLanguage::chinese}) {
    const bool chinese = language == ArcLanguage::chinese;
    const auto learned = of_language(teaching, chinese), judges = of_language(scored, chinese);
    if (learned.empty() || judges.empty()) continue;
    ArcLabels::OfLanguage& own = labels.languages[static_cast<std::size_t>(language)];
    own.weights =
        rounded(regression(cases_of(learned, labels.relations), static_cast<Index>(labels.relations.size()) + 1));
    own.order = order_weights(learned, judges);
    leave_out_disordered(own, chinese, scored);
    // No sentence is judged by what it calibrated: each half by the other.
    Counts counts;
    for (const std::size_t half : {0, 1}) {
      calibrate(labels, language, of_language(scored, chinese, half, 2));
      measure(labels, language, of_language(scored, chinese, 1 - half, 2), counts);
    }
    add_precisions(labels, language, counts);
    calibrate(labels, language, of_language(scored, chinese));
  }
  if (question.grammar) TRY(measure_grammar(question, labels, progress));
  if (progress.stop) return std::optional<ArcLabels>();
  return result;
}

Result<std::optional<ArcLabels>> measured_labels(const ArcFitQuestion& question, ArcLabels labels, Progress& progress) {
  auto measured = TRY(examples_of(question, labels, question.scored, false, progress));
  for (const ArcLanguage language : {ArcLanguage::english, ArcLanguage::chinese}) {
    const bool chinese = language == ArcLanguage::chinese;
    leave_out_disordered(labels.languages[static_cast<std::size_t>(language)], chinese, measured);
    const auto examples = of_language(measured, chinese);
    if (examples.empty()) continue;
    const auto& names = labels.relations;
    std::erase_if(labels.precisions, [&](const ArcPrecision& one) {
      return one.language == language && std::find(names.begin(), names.end(), one.relation) != names.end();
    });
    Counts counts;
    measure(labels, language, examples, counts);
    add_precisions(labels, language, counts);
  }
  return progress.stop ? std::optional<ArcLabels>() : std::optional(std::move(labels));
}

}  // namespace headlight
