// Where trainings get their sentences and where they are kept, for the window and the command line alike: the corpus,
// the command that makes a model again, the folders of models that were trained in the window.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file_lock.h"
#include "math/forward.h"
#include "train/measure/relations.h"
#include "train/measure/treebank_scores.h"
#include "train/plan.h"

namespace headlight {

struct TrainingCard;  // train/trained_checkpoint.h

/// The data of a training.
struct CorpusChoice {
  std::string text = {};          // a file of sentences, one a line; "-": standard input; kRepeatedRandom; empty: …
  std::string grammar = {};       // … the grammar of this file; empty: the one that comes along
  std::size_t most_words = 4000;  // the most frequent words of a text: each has a row

  std::string tokenizer = {};               // a tokenizer.json that spells `texts` and `treebanks`; empty: neither
  std::vector<std::string> texts = {};      // "FILE" or "FILE:WEIGHT", the weight of each of its sentences
  std::vector<std::string> treebanks = {};  // CoNLL-U files that teach heads, alike

  friend bool operator==(const CorpusChoice&, const CorpusChoice&) = default;
};

/// Reads it for a task; a text without a tokenizer is cut into words as the window cuts it. `teaching` chooses the arcs
/// of treebanks, and whether the grammar teaches. Errors are those of the files; `cancelled` where it was stopped.
Result<Corpus> read_corpus(const CorpusChoice& choice, Task task, Progress& progress, const Teaching& teaching = {});

/// The grammar of the shipped models, or another one.
Result<std::shared_ptr<const Grammar>> read_grammar();
Result<std::shared_ptr<const Grammar>> read_grammar(const std::filesystem::path& path);

/// An Error naming the first thing about a plan that cannot be carried out: its shape, or what is asked for.
Status check_plan(const TrainingPlan& plan);

/// The `headlight train` that carries out a plan again, for the card; options that equal their default are left out.
std::string training_command(const TrainingPlan& plan, const CorpusChoice& corpus, const std::string& name, bool half);

/// Sentences that the scores in a card are measured on, of validation and of test each.
inline constexpr Index kScoreSentences = 2000;

/// The folder of an earlier training.
struct TrainedFolder {
  std::string folder, name;
  std::string corpus = {};    // from its card
  Index step = 0, steps = 0;  // taken, and planned
  bool unfinished = false;    // it can be continued
  std::optional<Error> problem = {};

  friend bool operator==(const TrainedFolder&, const TrainedFolder&) = default;
};

/// The trained folders in `base`, the newest first, without those whose lock a training holds. Empty where `base` does
/// not exist.
std::vector<TrainedFolder> list_trained(const std::filesystem::path& base);

inline constexpr const char* kLockFile = "training.lock";

/// Holds a folder that is trained in. Errors: another training holds it, or nothing can be written there.
Result<FileLock> lock_folder(const std::filesystem::path& folder);

/// Makes a folder in `base` that is named after the shape; a number is added where there is such a one.
Result<std::filesystem::path> fresh_folder(const std::filesystem::path& base, const Config& config);

/// CoNLL-U files of at most kMostTreebankBytes, "FILE" or "FILE:WEIGHT". Errors are those of the files.
Result<std::vector<HeldOutTreebank>> read_treebanks(const std::vector<std::string>& files);

/// Fits the labels of arcs (train/measure/arc_fit.h) to a model whose heads these treebanks taught, for its card;
/// without such treebanks the labels that it has are measured anew. Where it is stopped the card stays as it is.
/// Errors: those of the files and of fit_arc_labels.
Status fit_labels(const std::shared_ptr<const Model>& model, const Tokenizer& tokenizer,
                  const std::vector<std::string>& teaching, const std::vector<HeldOutTreebank>& scored, int threads,
                  TrainingCard& card, Progress& progress);

/// Puts the weights of `source` (what open_model takes) instead of a training's fresh ones; the step stays, and
/// the moments of the other training are unknown. Errors: those of open_model, and what differs from `training` and
/// `corpus`: the shape, or the words of the rows.
Status begin_with_weights(const std::filesystem::path& source, const Corpus& corpus, Training& training);

/// Larger models are not measured in the window: it would also make fresh weights of the same shape, and take minutes.
inline constexpr Index kMostMeasured = Index{1} << 27;  // numbers of a model's layers

/// Of a model what `headlight heads --relations --by layer` measures, on the same sentences. Null where it was stopped.
/// Errors: the grammar is null, or the model too large.
Result<std::shared_ptr<const std::vector<RelationScore>>> measure_layers(const std::shared_ptr<const Model>& model,
                                                                         const Grammar* grammar, Progress& progress);

}  // namespace headlight
