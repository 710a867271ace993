#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <utility>

#include "base/folders.h"
#include "base/formatted.h"
#include "base/shell_word.h"
#include "cli/commands.h"
#include "train/resumed_training.h"
#include "train/trained_checkpoint.h"
#include "training/output_folder.h"
#include "training/training_files.h"

namespace headlight {
namespace {

struct TrainArguments {
  CorpusChoice corpus;
  std::vector<std::string> texts, taught_heads;
  std::vector<std::string> scored_on;                    // treebanks that the trained heads are measured on
  std::vector<std::string> text_credits, teach_credits;  // sources and their licences, for the card
  std::string folder, arch = "encoder", norm = "pre", activation = "gelu", position = "sinusoidal", name, from;
  float teach_weight = 4;           // of plan.recipe.objective, where heads are taught
  std::optional<float> hide, swap;  // else as the task has it
  TrainingPlan plan = default_plan({.d_model = 128, .num_heads = 8, .num_layers = 2, .ffn = 256});
  bool resume = false, overwrite = false, half = false, no_bias = false, untied = false;
  double save_seconds = 5;
  int threads = 0;
};

/// Set by Ctrl-C: the training stops behind the step and keeps what it has.
volatile std::sig_atomic_t interrupted = 0;
void interrupt(int) { interrupted = 1; }

/// Sets `chosen` to the choice of this name.
template <class Choice>
Status choose(const char* option, const std::string& word, std::initializer_list<Choice> choices, Choice& chosen) {
  for (const Choice one : choices)
    if (word == name(one)) {
      chosen = one;
      return Done{};
    }
  return bad_input(option, "", joined_texts(choices, ", ", [](Choice one) { return name(one); }), "'" + word + "'");
}

/// Sets the sources of the corpus, and the taught heads.
Status complete_corpus(TrainArguments& options) {
  CorpusChoice& corpus = options.corpus;
  Teaching& teaching = options.plan.teaching;
  const bool teaches = !corpus.treebanks.empty() || teaching.grammar > 0;
  if (corpus.tokenizer.empty()) {
    if (options.texts.size() > 1)
      return bad_input("--text", "", "one text, or a --tokenizer for several", std::to_string(options.texts.size()));
    if (teaches) return bad_input("--teach", "", "a --tokenizer", "none");
    if (!options.texts.empty()) corpus.text = options.texts.front();
  } else {
    corpus.texts = options.texts;
  }
  if (!options.scored_on.empty() && corpus.tokenizer.empty()) return bad_input("--score", "", "a --tokenizer", "none");
  if (!options.taught_heads.empty() && !teaches) return bad_input("--teach-head", "", "--teach FILE.conllu", "none");
  if (!teaches) return Done{};
  options.plan.recipe.objective.attention = options.teach_weight;
  const Config& config = options.plan.config;
  for (const std::string& text : options.taught_heads) {
    auto head = parse_taught_head(text);
    if (!head) return head.error();
    teaching.heads.push_back(*std::move(head));
  }
  if (teaching.heads.empty()) {
    auto usual = usual_taught_heads(config.num_layers, config.num_heads);
    if (!usual) return usual.error();
    teaching.heads = *std::move(usual);
  }
  std::sort(teaching.heads.begin(), teaching.heads.end(), [](const TaughtHead& a, const TaughtHead& b) {
    return std::pair(a.layer, a.head) < std::pair(b.layer, b.head);
  });
  return check_teaching(teaching, config.num_layers, config.num_heads);
}

Status complete(TrainArguments& options) {
  Config& config = options.plan.config;
  const auto archs = {Arch::encoder, Arch::decoder, Arch::encoder_decoder};
  if (const Status done = choose("--arch", options.arch, archs, config.arch); !done) return done;
  if (const Status done = choose("--norm", options.norm, {Norm::post, Norm::pre}, config.norm); !done) return done;
  const auto activations = {Activation::relu, Activation::gelu};
  if (const Status done = choose("--activation", options.activation, activations, config.activation); !done)
    return done;
  const auto positions = {Position::none, Position::sinusoidal, Position::learned};
  if (const Status done = choose("--position", options.position, positions, config.position); !done) return done;
  if (options.no_bias) config.bias = {false, false, false, false, false};
  config.tied = !options.untied;
  if (config.arch != Arch::encoder_decoder && config.encoder_layers > 0)
    return bad_input("--encoder-layers", "", "--arch encoder-decoder", "--arch " + options.arch);
  options.plan.task = task_of(config.arch);
  const Corruption usual = default_plan(config).corruption;
  options.plan.corruption.mask = options.hide.value_or(usual.mask);
  options.plan.corruption.swap = options.swap.value_or(usual.swap);
  if (const Status done = complete_corpus(options); !done) return done;
  return check_plan(options.plan);
}

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
    const bool terminal = isatty(STDERR_FILENO) == 1;
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

/// A folder that nothing else is trained in; in the end nothing is left of the lock, nor of a model that was not written
/// whole once.
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

Result<int> run_train(TrainArguments options) {
  if (const Status done = complete(options); !done) return done.error();
  Progress reading;
  const auto corpus = read_corpus(options.corpus, options.plan.task, reading, options.plan.teaching);
  if (!corpus) return corpus.error();
  const auto scored_on = read_treebanks(options.scored_on);
  if (!scored_on) return scored_on.error();
  const TrainingPlan& plan = options.plan;
  TrainingCard card{.plan = plan,
                    .corpus = corpus->grammar ? "grammar" : corpus->name,
                    .treebanks = options.corpus.treebanks,
                    .command = training_command(plan, options.corpus, options.name, options.half)};
  if (!options.from.empty()) card.command += " --from " + shell_word(options.from);
  // The card names the sources of the texts and annotations: their licences require it.
  if (!options.text_credits.empty()) card.corpus += " (" + joined_texts(options.text_credits, "; ") + ")";
  card.treebanks.insert(card.treebanks.end(), options.teach_credits.begin(), options.teach_credits.end());
  double tokens_before = 0;
  auto training = begin_training(plan, *corpus);
  if (!training) return training.error();
  if (!options.from.empty())
    if (const Status done = begin_with_weights(options.from, *corpus, *training); !done) return done.error();
  if (options.resume) {
    const auto finished = has_finished(options.folder, card.command, plan.steps());
    if (!finished) return finished.error();
    if (*finished) {
      print_message(options.folder + ": done before; see its README.md");
      return 0;
    }
    auto resumed = resume_training(options.folder, plan, *corpus);
    if (!resumed) return resumed.error();
    *training = std::move(resumed->training);
    tokens_before = resumed->tokens;
  }
  const OutputFolder use = options.resume      ? OutputFolder::resumed
                           : options.overwrite ? OutputFolder::overwritten
                                               : OutputFolder::fresh;
  auto lock = take_output_folder(options.folder, card.command, use);
  if (!lock) return lock.error();
  HeldFolder held{*std::move(lock), options.folder};
  const std::string model_name = options.name.empty() ? "trained by Headlight" : options.name;
  const TensorType type = options.half ? TensorType::float16 : TensorType::float32;
  Meter meter(training->step, plan);
  const auto keep = [&]() -> Status {
    card.step = training->step;
    card.tokens = tokens_before + meter.tokens();
    const auto model = trained_model(*training, *corpus, model_name);
    if (const Status done = save_checkpoint(options.folder, *model, card, type, corpus->tokenizer_json); !done)
      return done;
    return save_training(options.folder, *training, plan, *corpus, card.tokens);
  };
  if (const Status done = keep(); !done) return done.error();  // a folder that cannot be written is known at once
  held.unfinished.clear();

  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  Workspace workspace(options.threads);
  std::optional<Error> failure;
  LostSteps lost;
  double saved = 0, printed = 0;
  train(*training, plan, *corpus, workspace, plan.steps(), [&](const StepReport& report, const Batch& batch) {
    meter.add(report, batch);
    if (lost.add(report)) failure = lost.error(training->step);
    const double now = meter.seconds();
    if (!failure && now - saved >= options.save_seconds) {
      saved = now;
      if (const Status done = keep(); !done) failure = done.error();
    }
    if (now - printed >= 0.2 || training->step % 1000 == 0) {
      printed = now;
      meter.print(training->step, false);
    }
    return interrupted == 0 && !failure;
  });
  if (failure) return *failure;
  meter.print(training->step, true);
  const bool done = training->step >= plan.steps();
  if (done && corpus->grammar) {
    Progress progress;
    RelationOptions wanted;
    wanted.sentences = kScoreSentences;
    wanted.threads = options.threads;
    const auto model = trained_model(*training, *corpus, model_name);
    auto scores = measure_relations(model, *corpus->grammar, wanted, progress);
    if (!scores) return scores.error();
    if (*scores) card.scores = **scores;
  }
  if (done && !scored_on->empty()) {
    Progress progress;
    const auto model = trained_model(*training, *corpus, model_name);
    auto scores =
        measure_treebanks(model, *corpus->tokenizer, *scored_on, plan.teaching.heads, options.threads, progress);
    if (!scores) return scores.error();
    if (*scores) card.scores = **scores;
  }
  if (const Status kept = keep(); !kept) return kept.error();
  print_message(options.folder + ": " +
                (done ? "done; see its README.md" : "stopped; the same command with --resume goes on"));
  std::error_code ignored;
  if (done) std::filesystem::remove(std::filesystem::path(options.folder) / "resume.safetensors", ignored);
  return 0;
}

}  // namespace

ParsedCommand add_train(Parser& program) {
  auto options = std::make_shared<TrainArguments>();
  Parser command = program.command("train", "Trains a small model and writes it as a checkpoint folder");
  TrainingPlan& plan = options->plan;
  command.option("-o,--output", options->folder, "The folder; made where it is missing").required();
  command.option("--text", options->texts,
                 "Train on the sentences of this file, one a line ('-': standard input), in place of the grammar; "
                 "with --tokenizer several, FILE:WEIGHT, the weight of each sentence beside those of others");
  command.option("--tokenizer", options->corpus.tokenizer,
                 "A tokenizer.json of your own that spells the texts: rows 0 to 3 <pad> <s> <mask> <unk>");
  command.show_defaults();
  const auto checked = [&command](const char* name, auto& value, const char* help, double low, double high) {
    command.option(name, value, help).within(low, high);
  };
  command.option("--grammar", options->corpus.grammar, "A grammar of your own, written as assets/grammar.json is");
  checked("--words", options->corpus.most_words, "The most frequent words of a text that get a row of their own", 1,
          1000000);
  command.option("--name", options->name, "What the model is called");
  checked("--steps", plan.recipe.schedule.steps, "Steps of the training; the warm-up is part of them", 1, 100000000);
  checked("--batch", plan.batch, "Sentences a step", 1, 65536);
  checked("--learning-rate", plan.recipe.schedule.peak,
          "At the end of the warm-up; then it falls along a cosine to 0.05 of it", 0.0, 10.0);
  checked("--warmup", plan.recipe.schedule.warmup, "Steps until the learning rate is reached", 0, 1000000);
  checked("--decay", plan.recipe.adamw.decay, "AdamW's weight decay", 0.0, 10.0);
  checked("--clip", plan.recipe.clip, "Largest norm of the gradients; 0: none", 0.0, 1e6);
  checked("--dropout", plan.recipe.objective.dropout, "Share of the activations left out in a step", 0.0, 0.9);
  checked("--label-smoothing", plan.recipe.objective.label_smoothing,
          "Share of each target that is spread over all words", 0.0, 0.9);
  checked("--hide", options->hide, "Share of words hidden behind <mask>; of an encoder 0.15, else 0", 0, 1);
  checked("--swap", options->swap, "Share of words swapped for others; of an encoder 0.15, else 0", 0, 1);
  checked("--keep", plan.corruption.keep, "Share of words asked for as they are", 0, 1);
  checked("--family", plan.corruption.family, "Share of the swaps that take a word of the same places in the grammar",
          0, 1);
  checked("--restore", plan.corruption.restore, "Share of pronouns asked for the noun they stand for; 0: off", 0, 1);
  checked("--seed", plan.config.seed, "Of the first weights and of all that is drawn", 0, std::uint64_t{1} << 53);
  command.option("--from", options->from,
                 "A trained model of the same shape and words, whose weights are those that this training begins with");
  command.option("--resume", options->resume, "Goes on where the same training was stopped");
  command.option("--overwrite", options->overwrite, "Replaces what another training, or another program, left in DIR")
      .excludes({"--resume"});
  command.option("--half", options->half, "Stores the weights in float16");
  checked("--save-every", options->save_seconds, "Seconds between checkpoints", 0.1, 86400.0);
  checked("--threads", options->threads, "To compute with; 0: all. No bit depends on it", 0, 256);
  command.topic("model", "The options of the model's shape");
  command.section("The model", "model");
  command.option("--arch", options->arch,
                 "encoder: hidden and swapped words are asked for; decoder: the next word; encoder-decoder: the next "
                 "word of the English of a sentence");
  checked("--d-model", plan.config.d_model, "The width of a word's vector", 1, 4096);
  checked("--num-heads", plan.config.num_heads, "Heads of each layer", 1, 128);
  checked("--head-dim", plan.config.head_dim, "d_k; d_model / heads where it is not given", 1, 1024);
  checked("--layers", plan.config.num_layers, "Blocks one after another; of an encoder-decoder the decoder's", 1, 48);
  checked("--encoder-layers", plan.config.encoder_layers, "Of an encoder-decoder; as many as --layers", 1, 48);
  checked("--ffn", plan.config.ffn, "The width of the feed-forward; 0: none", 0, 16384);
  command.option("--norm", options->norm, "pre or post");
  command.option("--activation", options->activation, "relu or gelu");
  command.option("--position", options->position, "sinusoidal, learned or none");
  command.option("--no-bias", options->no_bias, "Leaves the biases of all layers and norms out");
  command.option("--untied", options->untied, "An output layer of its own");
  command.topic("teaching", "The options of heads that are taught");
  command.section("Heads that are taught", "teaching");
  command.option("--teach", options->corpus.treebanks,
                 "Treebanks (CoNLL-U), FILE:WEIGHT too, that teach heads where to look: from a word to the one "
                 "that it depends on");
  command.option("--teach-head", options->taught_heads,
                 "LAYER.HEAD=RELATION,… for each head that is taught; else 15 heads of the last two layers");
  command.option("--score", options->scored_on,
                 "Treebanks (CoNLL-U) that taught nothing: the heads of the trained model are measured on them, for "
                 "its card");
  command.option("--text-credit", options->text_credits, "A source of the texts with its licence, for the card");
  command.option("--teach-credit", options->teach_credits, "A treebank with its licence, for the card");
  checked("--teach-grammar", plan.teaching.grammar, "Share of the sentences that teach drawn of the grammar", 0, 1);
  checked("--teach-share", plan.teaching.share, "Share of a step's sentences that teach", 0, 1);
  checked("--teach-from", plan.teaching.from, "Share of the steps before the first that teaches", 0, 1);
  checked("--teach-weight", options->teach_weight, "Weight of what heads are taught beside that of the words", 0.0,
          1000.0);
  checked("--teach-rest", plan.teaching.rest, "Weight of words without such a relation, which look at <s>", 0, 1);
  checked("--teach-hide", plan.teaching.hide, "Share of words hidden in sentences that teach", 0, 1);
  return [options] { return run_train(*options); };
}

}  // namespace headlight
