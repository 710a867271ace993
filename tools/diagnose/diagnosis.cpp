#include "diagnose/diagnosis.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "diagnose/known.h"
#include "diagnose/rounding.h"
#include "diagnose/search.h"

namespace headlight {
namespace {

/// Which arrays are judged: those with `before` in front of their kind, of one layer.
struct Subject {
  std::string before;
  Index layer = 0;
  double tolerance = 0;
};

std::optional<std::size_t> step_of(const std::string& name) {
  const std::string kind = parse_array_name(name).kind;
  for (std::size_t step = 0; step < kSteps; ++step)
    if (kind == kStepNames[step]) return step;
  return std::nullopt;
}

std::string before_kind(const std::string& name) {
  return name.substr(0, name.size() - parse_array_name(name).kind.size());
}

/// The first layer of the first stack that differs.
std::optional<Subject> subject_of(const FileComparison& comparison) {
  std::optional<Subject> subject;
  for (const ComparedArray& array : comparison.arrays) {
    if (array.equal() || !step_of(array.name)) continue;
    const Index layer = array.first && array.first->at.size() == 4 ? array.first->at[0] : 0;
    const std::string before = before_kind(array.name);
    const bool layered = axes_of(parse_array_name(array.name).kind).size() == 4;
    if (!subject) subject = Subject{.before = before, .layer = layered ? layer : 0};
    else if (subject->before == before && layered) subject->layer = std::min(subject->layer, layer);
  }
  return subject;
}

/// One layer of both files.
struct Layer {
  Known known;
  LayerArrays found;
  std::vector<JudgedArray> judged = {};

  bool differs() const {
    return std::any_of(judged.begin(), judged.end(), [](const JudgedArray& one) { return one.differs; });
  }
};

Layer layer_of(const ExportFile& right, const ExportFile& found, const Subject& subject, Index at) {
  Layer layer{.known = known_of(right, found, subject.before, at), .found = arrays_of(found, subject.before, at)};
  if (layer.known.right[SlipStep::weights].empty()) return layer;
  for (std::size_t step = 0; step < kSteps; ++step)
    if ((layer.known.stored & bit(static_cast<SlipStep>(step))) == 0) layer.found.of[step].clear();
  layer.judged = judged_arrays(layer.known, layer.found, subject.tolerance);
  // Numbers of half precision may differ by more, once it is decided whether they differ.
  for (JudgedArray& one : layer.judged)
    if (const std::string type = precision_of(layer.known.right[one.step], layer.found[one.step]);
        !type.empty() && have_digits(layer.found[one.step]))
      one.tolerance = std::max(one.tolerance, static_cast<double>(tolerance_of(type)));
  return layer;
}

std::string name_of(const Subject& subject, SlipStep step) {
  return subject.before + kStepNames[static_cast<std::size_t>(step)];
}

std::vector<ArrayProof> proof_of(const Subject& subject, const Layer& layer, const std::vector<double>& after) {
  std::vector<ArrayProof> proof;
  for (std::size_t at = 0; at < layer.judged.size(); ++at)
    proof.push_back({.array = name_of(subject, layer.judged[at].step),
                     .before = layer.judged[at].before,
                     .after = std::isnan(after[at]) ? std::nullopt : std::optional(after[at])});
  return proof;
}

/// The array that differs first in the data's way.
const ArrayProof& first_of(const Layer& layer, const std::vector<ArrayProof>& proof) {
  for (const SlipStep step : {SlipStep::weights, SlipStep::scores, SlipStep::queries, SlipStep::keys, SlipStep::values})
    for (std::size_t at = 0; at < proof.size(); ++at)
      if (layer.judged[at].step == step && layer.judged[at].differs) return proof[at];
  return proof.back();
}

/// Mistakes that leave `after` of each judged array.
Verdict verdict_of(const Subject& subject, const Layer& layer, std::vector<Mistake> mistakes,
                   const std::vector<double>& after) {
  Verdict verdict{.mistakes = std::move(mistakes),
                  .proof = proof_of(subject, layer, after),
                  .heads = {},
                  .layers = {subject.layer}};
  const ArrayProof& first = first_of(layer, verdict.proof);
  for (Mistake& one : verdict.mistakes) one.array = first.array, one.before = first.before, one.after = first.after;
  return verdict;
}
Verdict verdict_of(const Subject& subject, const Layer& layer, const Explanation& explanation) {
  std::vector<Mistake> mistakes;
  for (std::size_t i = 0; i < explanation.slips.size(); ++i)
    mistakes.push_back(
        {.code = explanation.slips[i]->code, .text = explanation.texts[i], .role = explanation.slips[i]->role});
  Verdict verdict = verdict_of(subject, layer, std::move(mistakes), explanation.after);
  verdict.heads = explanation.heads;
  verdict.decoys = explanation.decoys;
  return verdict;
}

/// Whether the weights agree and the stored scores do not.
bool only_scores_differ(const Layer& layer) {
  bool scores = false, weights = false, others = false;
  for (const JudgedArray& one : layer.judged) {
    scores = scores || (one.step == SlipStep::scores && one.differs);
    weights = weights || (one.step == SlipStep::weights && !one.differs);
    others = others || (one.step != SlipStep::scores && one.differs);
  }
  return scores && weights && !others;
}

Found found_in(const Layer& layer, double cells, bool hidden) {
  return search(layer.known, layer.found, layer.judged,
                {.cells = cells, .hidden = hidden, .stored = !hidden && only_scores_differ(layer)});
}

/// Other layers that differ: those that the same mistakes explain, and a line about the rest.
void take_other_layers(const ExportFile& right, const ExportFile& found, const Subject& subject,
                       const Explanation& explanation, Diagnosis& diagnosis) {
  Index layers = 0;
  for (const auto& [name, array] : right.arrays)
    if (step_of(name) && before_kind(name) == subject.before && array.shape.size() == 4)
      layers = std::max(layers, array.shape[0]);
  std::vector<std::string> rest;
  for (Index at = subject.layer + 1; at < layers; ++at) {
    const Layer layer = layer_of(right, found, subject, at);
    if (!layer.differs()) continue;
    const bool same = explain(layer.known, layer.found, layer.judged, explanation.slips, explanation.heads,
                              {.stored = only_scores_differ(layer)})
                          .has_value();
    if (same) diagnosis.verdicts.front().layers.push_back(at);
    else rest.push_back(std::to_string(at));
  }
  if (!rest.empty())
    diagnosis.unchecked.push_back(words(rest.size() == 1 ? phrases::layer_left : phrases::layers_left,
                                        joined_texts(rest, ", "), std::to_string(subject.layer)));
}

Bilingual with_heads(const Bilingual& text, const std::vector<Index>& heads) {
  if (heads.empty()) return text;
  const std::string names = joined_texts(heads, ", ", [](Index head) { return std::to_string(head); });
  return words(heads.size() == 1 ? phrases::in_head : phrases::in_heads, text, names);
}

}  // namespace

Bilingual Verdict::text() const {
  std::vector<Bilingual> all;
  for (const Mistake& mistake : mistakes) all.push_back(mistake.text);
  return with_heads(joined(all, words(phrases::semicolon_and)), heads);
}

Bilingual Diagnosis::line() const {
  if (!named()) return {};
  return of_a ? words(phrases::of_a, first().text()) : first().text();
}

Diagnosis diagnose(const ExportFile& right, const ExportFile& found, const FileComparison& comparison, double cells) {
  Diagnosis diagnosis;
  auto subject = subject_of(comparison);
  if (!subject) return diagnosis;
  subject->tolerance = static_cast<double>(comparison.tolerance);
  diagnosis.layer = subject->layer;
  const Layer layer = layer_of(right, found, *subject, subject->layer);
  if (layer.known.right[SlipStep::weights].empty() || !layer.differs()) return diagnosis;
  const auto rounding = rounding_of(layer.known, layer.found, layer.judged);
  Found answer = found_in(layer, rounding ? 0.25 * cells : cells, false);
  if (rounding && (answer.explanations.empty() || answer.explanations.front().slips.size() > 1)) {
    const Mistake none{.code = mistakes::rounding, .text = words(mistakes::rounding, rounding->text)};
    diagnosis.rounding = verdict_of(*subject, layer, {none}, rounding->after);
    return diagnosis;
  }
  diagnosis.stopped = answer.stopped;
  for (const Explanation& one : answer.explanations) diagnosis.verdicts.push_back(verdict_of(*subject, layer, one));
  const auto& computed = right.computed ? right.computed : found.computed;
  if (diagnosis.verdicts.empty() && computed && computed->mask().heads() > 0)
    diagnosis.unchecked.push_back(words(phrases::mask_of_heads));
  if (diagnosis.verdicts.empty()) return diagnosis;
  for (const ArrayProof& one : diagnosis.verdicts.front().proof)
    if (!one.after) diagnosis.unchecked.push_back(words(phrases::not_computed, one.array));
  take_other_layers(right, found, *subject, answer.explanations.front(), diagnosis);
  return diagnosis;
}

Diagnosis hidden_mistake(const ExportFile& right, const ExportFile& found) {
  Diagnosis diagnosis;
  const FileComparison comparison = compare(right, found, 0);
  const auto subject = subject_of(comparison);
  if (!subject) return diagnosis;
  Layer layer = layer_of(right, found, *subject, subject->layer);
  std::erase_if(layer.judged, [](const JudgedArray& one) { return one.step < SlipStep::scores; });
  // What rounding alone does not reach is looked into: nine tenths of the effect of a mistake must be there.
  constexpr double kLeast = 1.8e-6;
  const bool reaches = std::any_of(layer.judged.begin(), layer.judged.end(), [&](const JudgedArray& one) {
    return one.before >= kLeast * largest_of(layer.known.right[one.step]);
  });
  if (!layer.known.direct || !reaches) return diagnosis;
  diagnosis.layer = subject->layer;
  for (const Explanation& one : found_in(layer, kSearchCells, true).explanations)
    diagnosis.verdicts.push_back(verdict_of(*subject, layer, one));
  return diagnosis;
}

std::vector<Mistake> Examination::mistakes() const {
  if (comparison.equal() || diagnosis.rounding) return {};
  std::vector<Mistake> all;
  for (const Verdict& verdict : diagnosis.verdicts)
    for (const Mistake& mistake : verdict.mistakes) {
      all.push_back(mistake);
      all.back().text = with_heads(mistake.text, verdict.heads);
    }
  if (!all.empty()) return all;
  const ComparedArray& array = comparison.arrays[*comparison.first];
  const auto before = array.largest ? std::optional(static_cast<double>(array.largest->difference())) : std::nullopt;
  const Bilingual from = b.own_answers && a.own_answers ? Bilingual() : words(phrases::from_inputs);
  const Bilingual what = !array.same_shape() ? words(phrases::differ_in_shape, array.name, from)
                         : before && std::isfinite(*before)
                             ? words(phrases::differ_by, array.name, formatted("%.2g", *before), from)
                             : words(phrases::differ_infinitely, array.name, from);
  return {{.code = mistakes::unexplained,
           .text = words(mistakes::unexplained, what),
           .array = array.name,
           .before = before,
           .after = before}};
}

Examination examine(ExportFile a, ExportFile b, float tolerance, RightSide right, double cells) {
  Examination result{std::move(a), std::move(b)};
  result.comparison = compare(result.a, result.b, tolerance);
  const auto of_a = [&] {
    Diagnosis diagnosis = diagnose(result.b, result.a, result.comparison, cells);
    diagnosis.of_a = true;
    return diagnosis;
  };
  if (!result.comparison.equal()) {
    result.diagnosis = right == RightSide::b ? of_a() : diagnose(result.a, result.b, result.comparison, cells);
    if (right == RightSide::either) result.otherwise = of_a();
  } else if (tolerance <= kCompareTolerance && right != RightSide::b) {
    result.diagnosis = hidden_mistake(result.a, result.b);
    if (!result.diagnosis.named()) return result;
    result.hidden_by = tolerance;
    result.comparison =
        compare(result.a, result.b, static_cast<float>(*result.diagnosis.verdicts.front().mistakes.front().before / 2));
    if (result.comparison.equal()) result.comparison = compare(result.a, result.b, 0);
  }
  return result;
}

}  // namespace headlight
