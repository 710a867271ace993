// What a study adds to the commands of a question: the same asked of many pairs of sentences (--pairs), and of heads
// that are switched off. A tool gives it (ToolCommands::study); without one the options are not there.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/question_command.h"
#include "cli/options/metric_options.h"
#include "explain/patch/patching.h"
#include "figure/figure.h"
#include "heads/head_effects.h"

namespace headlight {

struct StudyOptions {
  std::string pairs, resume, shard, gather;
  bool partial = false;

  bool given() const { return !pairs.empty(); }
};

/// A number of one pair, under the same key in all of them: a field for each of the study's columns.
struct StudyCell {
  std::vector<std::string> key = {};
  double value = 0;
};

/// The answers to a pair.
struct StudyTraces {
  std::shared_ptr<const Trace> clean, corrupt;  // corrupt: null where it is not asked for
  std::optional<Index> right = {}, wrong = {};  // rows of the output layer
  int threads = 0;
};

/// How shares of many pairs become one number. total: the mean difference over the mean of all that could be restored,
/// so that no pair is divided by its own small difference; pairs: the mean of the pairs' shares; none: the mean
/// difference.
enum class Normalise { total, pairs, none };

struct StudyQuestion {
  std::vector<std::string> columns = {};
  std::string title = {};    // of the text: what is averaged
  std::string options = {};  // all that the numbers depend on beside the pair and the request
  bool with_corrupt = true;
  /// Cells but `clean` and `corrupt` are shares of what lies between these two, and this is how they are averaged.
  std::optional<Normalise> normalise = {};
  Members more = {};  // of the JSON
  /// What all rows share, once; empty: nothing. The document is that of the request.
  std::function<Status(const Document& document, const Lexicon& lexicon)> prepare = {};
  std::function<Result<std::vector<StudyCell>>(const StudyTraces&)> answer = {};
};

/// heads --effect: by what a head is replaced, and what is compared; of one text or of many.
struct EffectOptions {
  std::string baseline;                    // mean:FILE, resample:FILE or position:FILE; empty: Edits::off_as
  std::string control;                     // random:N
  std::vector<std::string> layers, heads;  // these alone
  MetricOptions metric;
  StudyOptions study;
};

/// The functions of the tool; what each does stands with it.
struct StudyWays {
  void (*add_options)(Parser& parser, StudyOptions& options, const std::string& more);
  Result<int> (*run)(const QuestionCommand& command, const StudyOptions& options, const StudyQuestion& question);

  // Of heads.
  Result<std::vector<Request>> (*probing)(const Request& like, const std::string& probe);
  Status (*take_effects)(const EffectOptions& options, const Document& document, const Lexicon& lexicon, int threads,
                         EffectWanted& effects);
  Status (*take_metric)(const EffectOptions& options, const Trace& trace, EffectWanted& effects,
                        std::optional<Index> right, std::optional<Index> wrong);
  Result<PatchControl> (*effect_control)(const Trace& trace, const std::vector<HeadRef>& chosen, Index draws,
                                         const EffectWanted& effects, int threads);
  Result<int> (*effects)(const QuestionCommand& command, const EffectOptions& options);
  std::string (*control_text)(const PatchControl& control);
  Value (*control_json)(const PatchControl& control);
  void (*add_control)(const PatchControl& control, Arrays& arrays);

  /// Of `figure`; nothing where it is asked for no picture of a study.
  std::optional<Result<int>> (*draw)(const QuestionCommand& command, const FigureOptions& options,
                                     const std::string& file, const std::string& font);
};

/// Those of this build; null where it has no such tool.
const StudyWays* study_ways();

}  // namespace headlight
