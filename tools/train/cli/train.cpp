#include <unistd.h>  // isatty

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <utility>

#include "base/folders.h"
#include "base/formatted.h"
#include "cli/frame/commands.h"
#include "models/open_model.h"
#include "read/hub/checkpoint.h"
#include "train/cli/train_options.h"
#include "train/run/training_files.h"
#include "train/run/training_job.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

/// Ctrl-C stops it: the training ends behind the step, or what is measured is left out, and what there is is kept.
Progress running;
void interrupt(int) { running.stop = true; }

/// The line that is written over and over while it goes on.
class Meter {
 public:
  Meter(Index first, const TrainingPlan& plan)
      : first_(first), plan_(plan), begin_(Clock::now()), before_(first, 0.0), mark_(first, 0.0) {}

  void add(const StepReport& report, const Batch& batch) {
    if (std::exchange(printed_, false)) {
      steps_ = right_ = targets_ = looks_ = 0;
      sum_ = looked_ = 0;
    }
    ++steps_;
    sum_ += report.loss.mean;
    right_ += report.loss.right;
    targets_ += report.loss.targets;
    tokens_ += static_cast<double>(batch.input.tokens());
    looked_ += report.loss.looked * static_cast<double>(report.loss.looks);
    looks_ += report.loss.looks;
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  double tokens() const { return tokens_; }

  void print(Index step, bool last) {
    const double spent = seconds();
    const double left = pace(step, spent) * static_cast<double>(plan_.steps() - step);
    const bool terminal = isatty(STDERR_FILENO) != 0;
    if (!terminal && (printed_ || (!last && step % 1000 != 0))) return;
    std::string looked;
    if (looks_ > 0) looked = formatted("   taught heads %.1f %%", 100 * looked_ / static_cast<double>(looks_));
    std::fprintf(stderr, "%sstep %ld of %ld   loss %.3f   right %.1f %%%s   %.0f words/s   %.0f s left%s",
                 terminal ? "\r" : "", static_cast<long>(step), static_cast<long>(plan_.steps()),
                 sum_ / static_cast<double>(std::max<Index>(1, steps_)),
                 100.0 * static_cast<double>(right_) / static_cast<double>(std::max<Index>(1, targets_)),
                 looked.c_str(), tokens_ / std::max(spent, 1e-9), left, terminal && !last ? "   " : "\n");
    printed_ = true;
  }

 private:
  /// Seconds that a step takes now: over the last minute or two, as other steps, and other programs, have another pace.
  double pace(Index step, double spent) {
    constexpr double kMinute = 60;
    if (spent - mark_.second > kMinute) before_ = std::exchange(mark_, {step, spent});
    return (spent - before_.second) / static_cast<double>(std::max<Index>(1, step - before_.first));
  }

  using Clock = std::chrono::steady_clock;
  Index first_;
  const TrainingPlan& plan_;
  Clock::time_point begin_;
  bool printed_ = true;  // the sums below; the next step begins them anew
  Index steps_ = 0, right_ = 0, targets_ = 0, looks_ = 0;
  double sum_ = 0, tokens_ = 0, looked_ = 0;
  std::pair<Index, double> before_, mark_;  // steps and seconds, at most two minutes and at most one ago
};

/// A folder that nothing else is trained in; in the end nothing is left of the lock, nor of a model that was not
/// written whole once.
struct HeldFolder {
  FileLock lock;
  std::filesystem::path file;
  std::vector<std::filesystem::path> unfinished;

  HeldFolder(FileLock taken, const std::filesystem::path& folder)
      : lock(std::move(taken)), file(folder / kLockFile), unfinished(files_to_come(folder)) {}
  HeldFolder(const HeldFolder&) = delete;
  ~HeldFolder() {
    std::error_code ignored;
    for (const auto& one : unfinished) std::filesystem::remove(one, ignored);
    std::filesystem::remove(file, ignored);
  }
};

/// Whether this very training came to its end in the folder. An Error where another one did.
Result<bool> has_finished(const std::string& folder, const std::string& command, Index steps) {
  if (path_exists(std::filesystem::path(folder) / "resume.safetensors")) return false;
  const auto card = read_card(folder);
  if (!card || !*card || (*card)->step < (*card)->plan.steps()) return false;
  if ((*card)->command == command && (*card)->step == steps) return true;
  return bad_input(
      folder, "", "a training that was interrupted",
      "one that took all its " + std::to_string((*card)->step) + " steps; --from begins another with its weights");
}

TrainingCard card_of(const TrainArguments& options, const Corpus& corpus) {
  TrainingCard card{.plan = options.plan,
                    .corpus = corpus.grammar ? "grammar" : corpus.name,
                    .treebanks = options.corpus.treebanks,
                    .command = training_command(options.plan, options.corpus, options.name, options.half)};
  if (!options.from.empty()) card.command += " --from " + shell_word(options.from);
  // The card names the sources of the texts and annotations: their licences require it.
  if (!options.text_credits.empty()) card.corpus += " (" + joined_texts(options.text_credits, "; ") + ")";
  card.treebanks.insert(card.treebanks.end(), options.teach_credits.begin(), options.teach_credits.end());
  return card;
}

/// A training with what it is kept with.
struct Run {
  const TrainArguments& options;
  const Corpus& corpus;
  TrainingCard card;
  Training training;
  double tokens_before;  // that earlier runs of a resumed training took
  Meter meter{training.step, options.plan};

  std::shared_ptr<const Model> model() const {
    return trained_model(training, corpus, options.name.empty() ? "trained by Headlight" : options.name);
  }

  Status keep() {
    card.step = training.step;
    card.tokens = tokens_before + meter.tokens();
    const TensorType type = options.half ? TensorType::float16 : TensorType::float32;
    const auto kept = save_checkpoint(options.folder, *model(), card, type, corpus.tokenizer_json);
    return kept ? save_training(options.folder, training, options.plan, corpus, card.tokens) : kept;
  }

  /// Trains to the end of the plan or until it is interrupted.
  Status take_steps() {
    const ProgressReport quiet("");
    Workspace workspace(options.threads);
    std::optional<Error> failure;
    LostSteps lost;
    double saved = 0, printed = 0;
    train(training, options.plan, corpus, workspace, options.plan.steps(),
          [&](const StepReport& report, const Batch& batch) {
            meter.add(report, batch);
            if (lost.add(report)) failure = lost.error(training.step);
            const double now = meter.seconds();
            if (!failure && now - saved >= options.save_seconds) {
              saved = now;
              if (const Status done = keep(); !done) failure = done.error();
            }
            if (now - printed >= 0.2 || training.step % 1000 == 0) {
              printed = now;
              meter.print(training.step, false);
            }
            return !running.stop && !failure;
          });
    if (failure) return *failure;
    meter.print(training.step, true);
    return Done{};
  }

  /// Measures the heads for the card: on the grammar, where that is the corpus, and on these treebanks.
  Status measure(const std::vector<HeldOutTreebank>& treebanks) {
    const auto take = [&](const Result<std::optional<RelationReport>>& scores) -> Status {
      if (!scores) return scores.error();
      if (*scores) card.scores = **scores;
      return Done{};
    };
    RelationOptions wanted;
    wanted.sentences = kScoreSentences;
    wanted.threads = options.threads;
    if (corpus.grammar)
      if (const Status done = take(measure_relations(model(), *corpus.grammar, wanted, running)); !done) return done;
    if (treebanks.empty()) return Done{};
    if (const Status done = take(measure_treebanks(model(), *corpus.tokenizer, treebanks, options.plan.teaching.heads,
                                                   options.threads, running));
        !done || options.corpus.treebanks.empty())
      return done;
    if (const Status kept = keep(); !kept) return kept;
    const auto stored = TRY(read_checkpoint(options.folder));
    // As it is stored: the labels are those of the model that is read back.
    return fit_labels(stored.model, *corpus.tokenizer, options.corpus.treebanks, treebanks, options.threads, card,
                      running);
  }
};

/// The training before its first step, or as it was stopped; nothing where it came to its end before.
Result<std::optional<ResumedTraining>> first_training(const TrainArguments& options, const Corpus& corpus,
                                                      const std::string& command) {
  ResumedTraining begun{.training = TRY(begin_training(options.plan, corpus))};
  if (!options.from.empty()) TRY(begin_with_weights(options.from, corpus, begun.training));
  if (!options.resume) return std::optional(std::move(begun));
  if (TRY(has_finished(options.folder, command, options.plan.steps()))) return std::optional<ResumedTraining>();
  return std::optional(TRY(resume_training(options.folder, options.plan, corpus)));
}

/// Fits the labels of arcs anew to the model in the folder, or measures those that it has. Nothing else of it changes.
Result<int> run_labels(const TrainArguments& options) {
  const auto opened = TRY(open_model(options.folder));
  const Document& document = opened.document;
  if (!document.card || document.card->plan.teaching.heads.empty() || !document.tokenizers)
    return bad_input(options.folder, "", "a model that was trained here, with heads that were taught", "another");
  if (options.scored_on.empty() || (options.corpus.treebanks.empty() && !document.card->arcs))
    return bad_input("--labels", "", "treebanks: --teach and --score, or --score and a model that has labels",
                     "others");
  const auto scored_on = TRY(read_treebanks(options.scored_on));
  HeldFolder held{TRY(lock_folder(options.folder)), options.folder};
  held.unfinished.clear();
  TrainingCard card = *document.card;
  TRY(fit_labels(document.model, *document.tokenizers->source, options.corpus.treebanks, scored_on, options.threads,
                 card, running));
  TRY(save_card(options.folder, *document.model, card));
  print_message(options.folder + ": done; see its README.md");
  return 0;
}

Result<int> run_train(TrainArguments options) {
  if (options.labels) return run_labels(options);
  TRY(complete(options));
  const auto corpus = TRY(read_corpus(options.corpus, options.plan.task, running, options.plan.teaching));
  const auto scored_on = TRY(read_treebanks(options.scored_on));
  TrainingCard card = card_of(options, corpus);
  auto first = TRY(first_training(options, corpus, card.command));
  if (!first) {
    print_message(options.folder + ": done before; see its README.md");
    return 0;
  }
  const OutputFolder use = options.resume      ? OutputFolder::resumed
                           : options.overwrite ? OutputFolder::overwritten
                                               : OutputFolder::fresh;
  HeldFolder held{TRY(take_output_folder(options.folder, card.command, use)), options.folder};
  Run run{options, corpus, std::move(card), std::move(first->training), first->tokens};
  TRY(run.keep());  // a folder that cannot be written is known at once
  held.unfinished.clear();
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  TRY(run.take_steps());
  bool done = run.training.step >= options.plan.steps();
  if (done && options.half && !scored_on.empty()) {  // what is measured are the weights as they are stored
    TRY(run.keep());
    TRY(begin_with_weights(options.folder, corpus, run.training));
  }
  if (done) TRY(run.measure(scored_on));
  done = done && !running.stop;
  TRY(run.keep());
  print_message(options.folder + ": " +
                (done ? "done; see its README.md" : "stopped; the same command with --resume goes on"));
  std::error_code ignored;
  if (done) std::filesystem::remove(std::filesystem::path(options.folder) / "resume.safetensors", ignored);
  return 0;
}

ParsedCommand add_train(Parser& parser, const Frontend&) {
  const auto options = std::make_shared<TrainArguments>();
  add_train_options(parser, *options);
  return [options] { return run_train(*options); };
}

}  // namespace

extern const NamedCommand kTrain{"train", "Trains a small model and writes it as a checkpoint folder", "", add_train};

}  // namespace headlight
