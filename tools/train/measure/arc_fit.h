// Fits the labels of arcs (heads/arc_labels.h) beside heads that were taught, and measures how often each is right.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "card/grammar.h"
#include "heads/arc_labels.h"
#include "text/tokenizer.h"
#include "train/corpus/teaching.h"
#include "train/measure/treebank_scores.h"

namespace headlight {

/// Whether the treebank has this relation, subtypes counted with it as in universal_relations(), between a word that
/// the one spelt word covers and one that the other covers.
bool has_relation(const TreebankSentence& sentence, const SpeltWord& from, const SpeltWord& to,
                  const std::string& relation);

struct ArcFitQuestion {
  std::shared_ptr<const Model> model;
  const Tokenizer* tokenizer = nullptr;
  std::vector<TaughtHead> taught = {};
  std::vector<HeldOutTreebank> teaching = {};  // the labels are fitted on these …
  std::vector<HeldOutTreebank> scored = {};    // … and calibrated on these, which taught nothing
  const Grammar* grammar = nullptr;            // of the taught heads' other relations; null: none
  int threads = 0;
};

/// Softmax regression with weight decay over the pairs at which taught heads point, separately for each language;
/// some words are hidden as in training, since the heads are surer of sentences that taught them than of others. The
/// order of words is judged by a second regression, on the sentences that teach and the same shuffled. The sentences
/// of `scored` decide how far a probability is to be believed, and from which one on a label is given: English labels
/// are then right in kEnglishGoal of the cases, Chinese ones in kChineseGoal. The precision of each head, relation
/// and language is measured on either half of them with the other half's calibration. A language without a treebank
/// to score has no labels. Of the grammar's relations the precision is that of their heads on its sentences. The same
/// with any number of threads. Nothing where it was stopped. Errors: a model without words, or with cross-attention;
/// no taught head.
inline constexpr double kEnglishGoal = 0.92, kChineseGoal = 0.722;
Result<std::optional<ArcLabels>> fit_arc_labels(const ArcFitQuestion& question, Progress& progress);

/// The same labels with the precisions that they have on the treebanks `scored`, which neither taught nor calibrated
/// anything; those of other languages and of relations without labels stay. Nothing where it was stopped.
Result<std::optional<ArcLabels>> measured_labels(const ArcFitQuestion& question, ArcLabels labels, Progress& progress);

}  // namespace headlight
