#include "train/cli/train_options.h"

#include <algorithm>

#include "base/formatted.h"

namespace headlight {
namespace {

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
  for (const std::string& text : options.taught_heads) teaching.heads.push_back(TRY(parse_taught_head(text)));
  if (teaching.heads.empty()) teaching.heads = TRY(usual_taught_heads(config.num_layers, config.num_heads));
  std::ranges::sort(teaching.heads, [](const TaughtHead& a, const TaughtHead& b) {
    return std::pair(a.layer, a.head) < std::pair(b.layer, b.head);
  });
  return check_teaching(teaching, config.num_layers, config.num_heads);
}

/// An option that takes the name of one of these.
template <class Choice>
void add_choice_of(Parser& parser, const char* option, Choice& chosen, const std::vector<Choice>& choices,
                   const char* help) {
  const TakeWord take = [&chosen, choices](const std::string& word) -> std::string {
    const auto named = [&](Choice one) { return word == name(one); };
    const auto at = std::ranges::find_if(choices, named);
    if (at == choices.end())
      return "expected " + joined_texts(choices, ", ", [](Choice one) { return name(one); }) + ", found '" + word + "'";
    chosen = *at;
    return {};
  };
  parser.option(option, take, help);
}

/// Adds options that take a number from a range.
auto number_options_of(Parser& parser) {
  return [&parser](const char* name, auto& value, const char* help, double low, double high) {
    parser.option(name, value, help).within(low, high);
  };
}

void add_model_options(Parser& parser, TrainArguments& options) {
  const auto checked = number_options_of(parser);
  Config& config = options.plan.config;
  parser.topic("model", "The options of the model's shape");
  parser.section("The model", "model");
  add_choice_of(
      parser, "--arch", config.arch, {Arch::encoder, Arch::decoder, Arch::encoder_decoder},
      "encoder (default): hidden and swapped words are asked for; decoder: the next word; encoder-decoder: the next "
      "word of the English of a sentence");
  checked("--d-model", config.d_model, "The width of a word's vector", 1, 4096);
  checked("--num-heads", config.num_heads, "Heads of each layer", 1, 128);
  checked("--head-dim", config.head_dim, "d_k; d_model / heads where it is not given", 1, 1024);
  checked("--layers", config.num_layers, "Blocks one after another; of an encoder-decoder the decoder's", 1, 48);
  checked("--encoder-layers", config.encoder_layers, "Of an encoder-decoder; as many as --layers", 1, 48);
  checked("--ffn", config.ffn, "The width of the feed-forward; 0: none", 0, 16384);
  add_choice_of(parser, "--norm", config.norm, {Norm::post, Norm::pre}, "pre (default) or post");
  add_choice_of(parser, "--activation", config.activation, {Activation::relu, Activation::gelu},
                "relu or gelu (default)");
  add_choice_of(parser, "--position", config.position, {Position::none, Position::sinusoidal, Position::learned},
                "sinusoidal (default), learned or none");
  parser.option("--no-bias", options.no_bias, "Leaves the biases of all layers and norms out");
  parser.option("--untied", options.untied, "An output layer of its own");
}

void add_teaching_options(Parser& parser, TrainArguments& options) {
  const auto checked = number_options_of(parser);
  Teaching& teaching = options.plan.teaching;
  parser.topic("teaching", "The options of heads that are taught");
  parser.section("Heads that are taught", "teaching");
  parser.option("--teach", options.corpus.treebanks,
                "Treebanks (CoNLL-U), FILE:WEIGHT too, that teach heads where to look: from a word to the one "
                "that it depends on");
  parser.option("--teach-head", options.taught_heads,
                "LAYER.HEAD=RELATION,… for each head that is taught; else 15 heads of the last two layers");
  parser.option("--score", options.scored_on,
                "Treebanks (CoNLL-U) that taught nothing: the heads of the trained model are measured on them, for "
                "its card");
  parser.option("--labels", options.labels,
                "Takes no step: the labels by which arcs are named are fitted anew to the trained model in DIR, on the "
                "treebanks of --teach, calibrated and measured on those of --score; without --teach those of the model "
                "are measured on --score, which is to have taught and calibrated nothing");
  parser.option("--text-credit", options.text_credits, "A source of the texts with its licence, for the card");
  parser.option("--teach-credit", options.teach_credits, "A treebank with its licence, for the card");
  checked("--teach-grammar", teaching.grammar, "Share of the sentences that teach drawn of the grammar", 0, 1);
  checked("--teach-share", teaching.share, "Share of a step's sentences that teach", 0, 1);
  checked("--teach-from", teaching.from, "Share of the steps before the first that teaches", 0, 1);
  checked("--teach-weight", options.teach_weight, "Weight of what heads are taught beside that of the words", 0.0,
          1000.0);
  checked("--teach-rest", teaching.rest, "Weight of words without such a relation, which look at <s>", 0, 1);
  checked("--teach-hide", teaching.hide, "Share of words hidden in sentences that teach", 0, 1);
}

}  // namespace

void add_train_options(Parser& parser, TrainArguments& options) {
  TrainingPlan& plan = options.plan;
  const auto checked = number_options_of(parser);
  parser.option("-o,--output", options.folder, "The folder; made where it is missing").required();
  parser.option("--text", options.texts,
                "Train on the sentences of this file, one a line ('-': standard input), in place of the grammar, or on "
                "random words that come again (repeated-random); with --tokenizer several, FILE:WEIGHT, the weight of "
                "each sentence beside those of others");
  parser.option("--tokenizer", options.corpus.tokenizer,
                "A tokenizer.json of your own that spells the texts: rows 0 to 3 <pad> <s> <mask> <unk>");
  parser.show_defaults();
  parser.option("--grammar", options.corpus.grammar, "A grammar of your own, written as assets/grammar.json is");
  checked("--words", options.corpus.most_words, "The most frequent words of a text that get a row of their own", 1,
          1000000);
  parser.option("--name", options.name, "What the model is called");
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
  checked("--hide", options.hide, "Share of words hidden behind <mask>; of an encoder 0.15, else 0", 0, 1);
  checked("--swap", options.swap, "Share of words swapped for others; of an encoder 0.15, else 0", 0, 1);
  checked("--keep", plan.corruption.keep, "Share of words asked for as they are", 0, 1);
  checked("--family", plan.corruption.family, "Share of the swaps that take a word of the same places in the grammar",
          0, 1);
  checked("--restore", plan.corruption.restore, "Share of pronouns asked for the noun they stand for; 0: off", 0, 1);
  checked("--seed", plan.config.seed, "Of the first weights and of all that is drawn", 0, std::uint64_t{1} << 53);
  parser.option("--from", options.from,
                "A trained model of the same shape and words, whose weights are those that this training begins with");
  parser.option("--resume", options.resume, "Goes on where the same training was stopped");
  parser.option("--overwrite", options.overwrite, "Replaces what another training, or another program, left in DIR")
      .excludes({"--resume"});
  parser.option("--half", options.half, "Stores the weights in float16");
  checked("--save-every", options.save_seconds, "Seconds between checkpoints", 0.1, 86400.0);
  checked("--threads", options.threads, "To compute with; 0: all. No bit depends on it", 0, 256);
  add_model_options(parser, options);
  add_teaching_options(parser, options);
}

Status complete(TrainArguments& options) {
  Config& config = options.plan.config;
  if (options.no_bias) config.bias = {false, false, false, false, false};
  config.tied = !options.untied;
  if (config.arch != Arch::encoder_decoder && config.encoder_layers > 0)
    return bad_input("--encoder-layers", "", "--arch encoder-decoder", "--arch " + std::string(name(config.arch)));
  options.plan.task = task_of(config.arch);
  const Corruption usual = default_plan(config).corruption;
  options.plan.corruption.mask = options.hide.value_or(usual.mask);
  options.plan.corruption.swap = options.swap.value_or(usual.swap);
  TRY(complete_corpus(options));
  return check_plan(options.plan);
}

}  // namespace headlight
