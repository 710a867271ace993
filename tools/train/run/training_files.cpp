#include "train/run/training_files.h"

#include <algorithm>
#include <concepts>

#include "assets/assets.h"
#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "base/utf8.h"
#include "models/open_model.h"
#include "question/document.h"
#include "question/tokenizers.h"
#include "read/tokenizer/tokenizer_json.h"
#include "text/characters.h"
#include "train/measure/arc_fit.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostListed = 64;
constexpr int kMostOfAName = 1000;
/// White space at the end of a line is a separate token, but no word.
bool is_blank(const std::string& text) {
  const std::vector<char32_t> characters = code_points(text);
  return std::ranges::all_of(characters, is_white_space);
}

Result<Corpus> corpus_of_text(const CorpusChoice& choice, Progress& progress) {
  const bool standard_input = choice.text == "-";
  const auto text = TRY(standard_input ? read_standard_input(kMostTextBytes) : read_file(choice.text, kMostTextBytes));
  const std::string where = standard_input ? "standard input" : choice.text;
  const auto lexicon = TRY(read_lexicon());
  std::vector<std::vector<std::string>> all;
  for (const Line line : sentences(text)) {
    if (progress.stop) return cancelled(where);
    const TextInput input{.text = text.substr(line.begin, line.end - line.begin)};
    const auto tokens = TRY(tokens_of_lines(where, input, lexicon, kMaxTokens));
    auto& words = all.emplace_back();
    for (const Token& token : tokens.front().tokens)
      if (!is_blank(token.text)) words.push_back(token.text);
  }
  return corpus_of(where, all, choice.most_words, kLongestSentence);
}

struct WeightedFile {
  std::string name, text;
  float weight = 1;
};

/// "FILE:WEIGHT" or "FILE".
Result<WeightedFile> weighted_file(const char* option, const std::string& choice, std::size_t most_bytes) {
  const std::size_t colon = std::min(choice.rfind(':'), choice.size());
  const auto weight = parse_number<float>(std::string_view(choice).substr(std::min(colon + 1, choice.size())));
  if (weight && !(*weight > 0 && *weight <= 1e6f))
    return bad_input(option, "", "a weight above 0 and at most 1e6", "'" + choice + "'");
  WeightedFile file{.name = weight ? choice.substr(0, colon) : choice, .text = {}, .weight = weight.value_or(1)};
  file.text = TRY(read_file(file.name, most_bytes));
  return file;
}

Result<Corpus> corpus_of_tokens(const CorpusChoice& choice, Progress& progress, const Teaching& teaching) {
  if (choice.texts.empty()) return bad_input("--tokenizer", "", "texts for it", "none");
  if (!choice.grammar.empty() && teaching.grammar <= 0)
    return bad_input("--grammar", "", "no tokenizer, or a share of it that teaches (--teach-grammar)",
                     choice.tokenizer);
  constexpr std::size_t kMostTokenizerBytes = std::size_t{1} << 28;
  auto bytes = TRY(read_file(choice.tokenizer, kMostTokenizerBytes));
  auto parsed = TRY(parse_tokenizer_json(choice.tokenizer, bytes));
  const auto tokenizer = std::make_shared<const Tokenizer>(std::move(parsed.tokenizer));
  TRY(check_trainable(choice.tokenizer, *tokenizer));
  std::vector<CorpusText> texts;
  for (const std::string& one : choice.texts) {
    const auto file = TRY(weighted_file("--text", one, kMostTextBytes));
    texts.push_back(TRY(tokenized_text(file.name, file.text, file.weight, *tokenizer, progress)));
  }
  Corpus corpus = corpus_of(tokenizer, std::move(bytes), std::move(texts));
  std::shared_ptr<const Grammar> grammar;
  if (teaching.grammar > 0) grammar = TRY(choice.grammar.empty() ? read_grammar() : read_grammar(choice.grammar));
  for (const std::string& one : choice.treebanks) {
    const auto file = TRY(weighted_file("--teach", one, kMostTreebankBytes));
    const auto treebank = TRY(parse_conllu(file.name, file.text));
    if (progress.stop) return cancelled(file.name);
    TaughtText taught{.name = file.name, .weight = file.weight};
    taught.sentences = taught_sentences(treebank, *tokenizer, teaching.heads, grammar.get());
    if (std::ranges::none_of(taught.sentences, [](const auto& own) { return !own.arcs.empty(); }))
      return bad_input(file.name, "relations", "at least one that a head is taught", "none");
    corpus.taught.push_back(std::move(taught));
  }
  corpus.taught_grammar = std::move(grammar);
  return corpus;
}

TrainedFolder looked_into(const fs::path& folder) {
  TrainedFolder found{.folder = folder.string(), .name = folder.filename().string()};
  const auto card = read_card(folder);
  if (!card) {
    found.problem = card.error();
    return found;
  }
  found.unfinished = path_exists(folder / "resume.safetensors");
  if (!*card) {
    found.problem =
        bad_input(folder.string(), "", "training.json of a model trained here", "none", ErrorCode::no_training);
    return found;
  }
  found.corpus = (*card)->corpus;
  found.step = (*card)->step;
  found.steps = (*card)->plan.steps();
  return found;
}

/// A line of a command that grows option by option.
struct CommandLine {
  std::string text;

  void add(const char* option, const std::string& value) {
    text += std::string(" ") + option + " " + shell_word(value);
  }
  void add(const char* option, std::string_view value) { add(option, std::string(value)); }
  void add(const char* option, float value) { add(option, shortest_text(value)); }
  template <std::integral Number>
  void add(const char* option, Number value) {
    add(option, std::to_string(value));
  }
  void add_unusual(const char* option, float value, float usually) {
    if (value != usually) add(option, value);
  }
};

void add_data(CommandLine& line, const TrainingPlan& plan, const CorpusChoice& corpus) {
  if (!corpus.text.empty()) line.add("--text", corpus.text);
  if (!corpus.text.empty() && corpus.most_words != CorpusChoice{}.most_words) line.add("--words", corpus.most_words);
  if (!corpus.tokenizer.empty()) line.add("--tokenizer", corpus.tokenizer);
  for (const std::string& text : corpus.texts) line.add("--text", text);
  for (const std::string& treebank : corpus.treebanks) line.add("--teach", treebank);
  if (const Teaching& teaching = plan.teaching; !teaching.heads.empty()) {
    line.add("--teach-share", teaching.share);
    line.add("--teach-from", teaching.from);
    line.add("--teach-grammar", teaching.grammar);
    line.add("--teach-weight", plan.recipe.objective.attention);
    line.add("--teach-rest", teaching.rest);
    line.add("--teach-hide", teaching.hide);
    const auto usually_taught = usual_taught_heads(plan.config.num_layers, plan.config.num_heads);
    if (!usually_taught || *usually_taught != teaching.heads)
      for (const TaughtHead& head : teaching.heads) line.add("--teach-head", spelled(head));
  }
  if (!corpus.grammar.empty()) line.add("--grammar", corpus.grammar);
}

void add_shape(CommandLine& line, const Config& config) {
  line.add("--arch", headlight::name(config.arch));
  line.add("--d-model", config.d_model);
  line.add("--num-heads", config.num_heads);
  if (config.head_dim > 0) line.add("--head-dim", config.head_dim);
  line.add("--layers", config.num_layers);
  if (config.encoder_layers > 0) line.add("--encoder-layers", config.encoder_layers);
  line.add("--ffn", config.ffn);
  line.add("--norm", headlight::name(config.norm));
  line.add("--activation", headlight::name(config.activation));
  line.add("--position", headlight::name(config.position));
  if (!config.bias.any()) line.text += " --no-bias";
  if (!config.tied) line.text += " --untied";
}

}  // namespace

Result<std::shared_ptr<const Grammar>> read_grammar(const std::filesystem::path& path) {
  const auto text = TRY(read_file(path, kLargestAsset));
  auto grammar = TRY(parse_grammar(path.string(), text));
  return std::make_shared<const Grammar>(std::move(grammar));
}

Result<std::shared_ptr<const Grammar>> read_grammar() {
  const auto folder = TRY(asset_folder());
  return read_grammar(folder / "assets" / "grammar.json");
}

Result<Corpus> read_corpus(const CorpusChoice& choice, Task task, Progress& progress, const Teaching& teaching) {
  if (!choice.tokenizer.empty()) return corpus_of_tokens(choice, progress, teaching);
  if (choice.text == kRepeatedRandom) return repeated_random_corpus();
  if (!choice.text.empty()) return corpus_of_text(choice, progress);
  return corpus_of(TRY(choice.grammar.empty() ? read_grammar() : read_grammar(choice.grammar)), task);
}

Status check_plan(const TrainingPlan& plan) {
  if (const Status trainable = check_trainable(plan.config); !trainable) return trainable;
  if (plan.config.bias.any() && !(plan.config.bias == Biases{}))
    return bad_input("bias", "", "all of them or none", "some", ErrorCode::biases_differ);
  if (plan.task == Task::causal) return Done{};
  const Corruption& asked = plan.corruption;
  const float sum = asked.mask + asked.swap + asked.keep, all = 1 + 1e-6f;  // shares are rounded
  if (sum > all) return bad_input("hide, swap, keep", "", "at most 1 together", "more", ErrorCode::hides_more_than_all);
  if (plan.task == Task::masked && sum <= 0)
    return bad_input("hide, swap, keep", "", "one above 0", "none", ErrorCode::hides_nothing);
  return Done{};
}

std::string training_command(const TrainingPlan& plan, const CorpusChoice& corpus, const std::string& name, bool half) {
  CommandLine line{"headlight train"};
  add_data(line, plan, corpus);
  if (!name.empty()) line.add("--name", name);
  add_shape(line, plan.config);
  line.add("--steps", plan.steps());
  line.add("--batch", plan.batch);
  line.add("--learning-rate", plan.recipe.schedule.peak);
  line.add("--warmup", plan.recipe.schedule.warmup);
  const TrainingPlan usual = default_plan(plan.config);
  const TrainingRecipe& usually = usual.recipe;
  line.add_unusual("--decay", plan.recipe.adamw.decay, usually.adamw.decay);
  line.add_unusual("--clip", plan.recipe.clip, usually.clip);
  line.add_unusual("--dropout", plan.recipe.objective.dropout, usually.objective.dropout);
  line.add_unusual("--label-smoothing", plan.recipe.objective.label_smoothing, usually.objective.label_smoothing);
  if (plan.task != Task::causal) {
    line.add("--hide", plan.corruption.mask);
    line.add("--swap", plan.corruption.swap);
  }
  if (plan.task == Task::masked) {
    line.add("--keep", plan.corruption.keep);
    line.add_unusual("--family", plan.corruption.family, usual.corruption.family);
    line.add("--restore", plan.corruption.restore);
  }
  line.add("--seed", plan.config.seed);
  if (half) line.text += " --half";
  return line.text + " -o DIR";
}

std::vector<TrainedFolder> list_trained(const fs::path& base) {
  std::vector<std::pair<fs::file_time_type, fs::path>> folders;
  std::error_code error, gone;
  for (fs::directory_iterator at(base, error), end; !error && at != end; at.increment(error))
    if (is_folder(*at) && !is_locked(at->path() / kLockFile))
      folders.emplace_back(at->last_write_time(gone), at->path());
  std::ranges::sort(folders, std::greater<>());
  if (folders.size() > kMostListed) folders.resize(kMostListed);
  std::vector<TrainedFolder> list;
  for (const auto& [time, folder] : folders) list.push_back(looked_into(folder));
  return list;
}

Result<FileLock> lock_folder(const fs::path& folder) {
  auto lock = TRY(FileLock::take(folder / kLockFile));
  if (!lock)
    return bad_input(folder.string(), "", "a folder that nothing is trained in", "another training in it",
                     ErrorCode::folder_in_use);
  sweep_temporaries(folder);
  return *std::move(lock);
}

Result<fs::path> fresh_folder(const fs::path& base, const Config& config) {
  std::error_code error;
  fs::create_directories(base, error);
  if (error)
    return bad_input(base.string(), "", "a folder that can be made", error.message(), write_fault(error.value()));
  const std::string stem = std::string(name(config.arch)) + "-d" + std::to_string(config.d_model) + "-h" +
                           std::to_string(config.num_heads) + "-l" + std::to_string(config.num_layers) + "-s" +
                           std::to_string(config.seed);
  for (int number = 1; number <= kMostOfAName; ++number) {
    const fs::path folder = base / (number == 1 ? stem : stem + "-" + std::to_string(number));
    if (fs::create_directory(folder, error)) return folder;
    if (error)
      return bad_input(folder.string(), "", "a folder that can be made", error.message(), write_fault(error.value()));
  }
  return bad_input((base / stem).string(), "", "a name that is free", "a thousand of them");
}

Result<std::vector<HeldOutTreebank>> read_treebanks(const std::vector<std::string>& files) {
  std::vector<HeldOutTreebank> treebanks;
  for (const std::string& choice : files) {
    const auto file = TRY(weighted_file("--teach", choice, kMostTreebankBytes));
    auto sentences = TRY(parse_conllu(file.name, file.text));
    treebanks.push_back({file.name, std::move(sentences)});
  }
  return treebanks;
}

Status fit_labels(const std::shared_ptr<const Model>& model, const Tokenizer& tokenizer,
                  const std::vector<std::string>& teaching, const std::vector<HeldOutTreebank>& scored, int threads,
                  TrainingCard& card, Progress& progress) {
  auto taught_by = TRY(read_treebanks(teaching));
  const auto grammar = TRY(read_grammar());
  const ArcFitQuestion question{.model = model,
                                .tokenizer = &tokenizer,
                                .taught = card.plan.teaching.heads,
                                .teaching = std::move(taught_by),
                                .scored = scored,
                                .grammar = grammar.get(),
                                .threads = threads};
  auto labels = teaching.empty() && card.arcs ? measured_labels(question, *card.arcs, progress)
                                              : fit_arc_labels(question, progress);
  if (!labels) return labels.error();
  if (*labels) card.arcs = std::make_shared<const ArcLabels>(**std::move(labels));
  return Done{};
}

Status begin_with_weights(const std::filesystem::path& source, const Corpus& corpus, Training& training) {
  const auto opened = TRY(open_model(source));
  const auto& model = opened.document.model;
  const auto differs = [&](std::string_view what, std::string_view expected, std::string_view found) {
    return bad_input("--from " + source.string(), what, expected, found);
  };
  if (!model || !model->vocabulary || !model->output) return differs("model", "one that Headlight trained", "another");
  auto network = TRY(network_of(*model));
  const Network& fresh = training.network;
  network.config.seed = fresh.config.seed;
  if (network.config != fresh.config) return differs("shape", "that of this training", "another");
  if (model->vocabulary->words != trained_model(training, corpus, "")->vocabulary->words)
    return differs("words", "those of this training", "others");
  const auto same = [](const Parameter& a, const Parameter& b) { return a.name == b.name && a.size() == b.size(); };
  if (!std::equal(network.parameters.begin(), network.parameters.end(), fresh.parameters.begin(),
                  fresh.parameters.end(), same))
    return differs("shape", "that of this training", "another");
  training.network.values = std::move(network.values);
  return Done{};
}

Result<std::shared_ptr<const std::vector<RelationScore>>> measure_layers(const std::shared_ptr<const Model>& model,
                                                                         const Grammar* grammar, Progress& progress) {
  if (!grammar) return bad_input("relations", "grammar", "the grammar that comes with the program", "none");
  TRY(check(model->config, kMostMeasured));
  RelationOptions options;
  options.pairs = 0;  // the scores of the relations do not depend on them
  auto report = TRY(measure_relations(model, *grammar, options, progress));
  if (!report) return std::shared_ptr<const std::vector<RelationScore>>();
  return std::make_shared<const std::vector<RelationScore>>(std::move(report->relations));
}

}  // namespace headlight
