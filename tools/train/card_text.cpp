#include "train/trained_checkpoint.h"

#include "base/formatted.h"
#include "model/head_text.h"
#include "train/measure/treebank_scores.h"

namespace headlight {
namespace {

std::string shape_text(const Model& model) {
  const Config& config = model.config;
  const std::string layers =
      config.arch == Arch::encoder_decoder
          ? counted(config.layers_of_encoder(), "layer") +
                formatted(" of the encoder and %ld of the decoder", static_cast<long>(config.num_layers))
          : counted(config.num_layers, "layer");
  return formatted(
      "A standard Transformer %s: d_model %ld, %s of d_k %ld, %s, feed-forward %ld, %s-norm, %s positions, %zu words.",
      std::string(name(config.arch)).c_str(), static_cast<long>(config.d_model),
      counted(config.num_heads, "head").c_str(), static_cast<long>(config.d_k()), layers.c_str(),
      static_cast<long>(config.ffn), std::string(name(config.norm)).c_str(), std::string(name(config.position)).c_str(),
      model.vocabulary->words.size());
}

std::string task_text(const TrainingCard& card) {
  const TrainingPlan& plan = card.plan;
  if (plan.task == Task::causal) return "Every place is asked for the next word.";
  const Corruption& corruption = plan.corruption;
  const auto percent = [](float share) { return static_cast<double>(share) * 100; };
  if (plan.task == Task::translation) {
    std::string text =
        "The decoder is asked for the next word of the English of a sentence, whose Chinese the encoder reads.";
    if (corruption.mask + corruption.swap > 0)
      text += formatted(
          " Of the words that it reads some are hidden (%.0f %%) or swapped for others (%.0f %%): there it is "
          "asked for the word itself, which only the Chinese can tell.",
          percent(corruption.mask), percent(corruption.swap));
    return text;
  }
  std::string text = formatted(
      "Words are hidden (%.0f %%), swapped for others (%.0f %%) or left as they are (%.0f %%), and "
      "asked for in their places.",
      percent(corruption.mask), percent(corruption.swap), percent(corruption.keep));
  if (corruption.restore > 0 && card.corpus == "grammar") {
    text += formatted(
        " In %.0f %% of the cases a pronoun is asked for the noun that it stands for, as if it had replaced "
        "that noun: the answer is a word of the sentence, told by the grammar.",
        percent(corruption.restore));
  }
  return text;
}

/// How the sentence about the loss ends, and which heads were taught.
std::string teaching_text(const TrainingCard& card) {
  const TrainingPlan& plan = card.plan;
  const Teaching& teaching = plan.teaching;
  if (teaching.heads.empty()) return " and nothing else: nothing was asked of any attention.";
  std::string text = formatted(
      "; behind %.0f %% of the steps, in %.0f %% of the sentences, it is also asked where some heads look: %g times "
      "the weighted mean of −ln of the weight that a head gives to the right word (pieces of words summed). A word "
      "without such a relation is to look at <s>, with weight %g; %.0f %% of the words of these sentences are hidden "
      "and asked for.\n\n## Heads that were taught\n\n",
      100 * static_cast<double>(teaching.from), 100 * static_cast<double>(teaching.share),
      static_cast<double>(plan.recipe.objective.attention), static_cast<double>(teaching.rest),
      100 * static_cast<double>(teaching.hide));
  text +=
      "These heads did not find their relations by themselves; they were told where to look, from the dependent to "
      "its head. All other heads were asked nothing.\n\n| head | relations |\n| --- | --- |\n";
  for (const TaughtHead& head : teaching.heads) {
    const std::string relations = joined_texts(head.relations, ", ");
    text +=
        formatted("| %ld.%ld | %s |\n", static_cast<long>(head.layer), static_cast<long>(head.head), relations.c_str());
  }
  text += "\nTaught by:";
  const char* separator = " ";
  for (const std::string& treebank : card.treebanks) {
    text += separator + treebank;
    separator = "; ";
  }
  if (teaching.grammar > 0)
    text += formatted("%ssentences of the grammar (%.0f %%)", separator, 100 * static_cast<double>(teaching.grammar));
  return text + ".";
}

std::string treebank_scores_text(const RelationReport& report, const std::vector<TaughtHead>& taught) {
  std::string text =
      "\n## Scores\n\nOn treebanks that taught nothing (zh: those in Chinese): of the words with a relation, the share "
      "whose strongest word, itself and special tokens left out, is the right one. Heads that were not taught were "
      "chosen on the other half of the sentences.\n\n"
      "| relation | head | score | weight | random weights | best distance | arcs |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const RelationScore& one : report.relations)
    text += formatted("| %s, %s | %s %s%s | %.3f | %.2f | %.2f | %.2f | %ld |\n", one.relation.c_str(), one.en.c_str(),
                      head_label({one.chosen.layer, one.chosen.head}).c_str(),
                      one.chosen.reversed ? "key→query" : "query→key", was_taught(taught, one) ? ", taught" : "",
                      one.score.accuracy, one.score.weight, one.random, one.offset, static_cast<long>(one.sentences));
  return text;
}

/// How often cells with a name were right.
std::string precisions_text(const std::vector<ArcPrecision>& precisions) {
  std::string text =
      "\n## Named cells\n\nA cell in which a head points from one word at another with a weight of 0.3 or more gets a "
      "relation by a linear classifier of the two words (arcs.safetensors), fitted on the treebanks that taught. On "
      "treebanks that taught nothing: of such cells those that were right. Where that may be less than 0.6, by the "
      "lower end of the interval of 95 %, nothing is named. IT of a language: of the pronouns that the window shows "
      "without a name, those that look at what they stand for.\n\n"
      "| head | relation | language | named | right | precision |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const ArcPrecision& one : precisions)
    text += formatted("| %s | %s | %s | %ld | %ld | %.2f |\n", head_label(one.head).c_str(), one.relation.c_str(),
                      kArcLanguages[static_cast<std::size_t>(one.language)], static_cast<long>(one.named),
                      static_cast<long>(one.right), one.share());
  return text;
}

/// Of relations of the grammar or of translations.
std::string scores_text(const RelationReport& scores) {
  std::string text =
      formatted(!scores.alignment.heads.empty()
                    ? "\n## Scores\n\nOn held-out sentences (test seed %llu): the share of English words for which the "
                      "head's strongest word of the Chinese is the one that they were made of, in the row that reads "
                      "the word and in the row before, which says it. Heads were chosen on other sentences.\n\n"
                    : "\n## Scores\n\nOn held-out sentences (test seed %llu): the share in which the head's strongest "
                      "target, itself and special tokens left out, is the right word. Heads were chosen on other "
                      "sentences.\n\n",
                static_cast<unsigned long long>(scores.test_seed));
  text +=
      "| relation | head | score | weight | hard | random weights | best offset | offset per kind | sentences |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  const auto add_row = [&](const RelationScore& one) {
    text += formatted("| %s | %s %s | %.3f | %.2f | %.3f | %.2f | %.2f | %.2f | %ld |\n", one.en.c_str(),
                      head_label({one.chosen.layer, one.chosen.head}).c_str(),
                      one.chosen.reversed ? "key→query" : "query→key", one.score.accuracy, one.score.weight,
                      one.score.hard, one.random, one.offset, one.kind_offset, static_cast<long>(one.sentences));
  };
  for (const RelationScore& one : scores.relations) {
    add_row(one);
    if (const RelationScore* other = opposite_of(scores, one)) add_row(*other);
  }
  if (const AlignmentReport& alignment = scores.alignment; !alignment.heads.empty()) {
    text += formatted(
        "\n%ld words; a diagonal would be right for %.2f of them.\n\n"
        "| cross head | own row | the row before |\n| --- | --- | --- |\n",
        static_cast<long>(alignment.words), alignment.diagonal);
    for (const CrossHead& head : alignment.heads)
      text += formatted("| %s | %.3f | %.3f |\n", head_label({head.layer, head.head}).c_str(), head.own.accuracy,
                        head.next.accuracy);
  }
  if (const NextWordScore& next = scores.next_word; next.words > 0)
    text += formatted("\nThe next word: %.1f %% of %ld right, perplexity %.2f.\n", 100 * next.accuracy,
                      static_cast<long>(next.words), next.perplexity);
  if (scores.pairs > 0) {
    text += formatted("\nMinimal pairs with both sentences right: %ld of %ld.\n", static_cast<long>(scores.pairs_right),
                      static_cast<long>(scores.pairs));
  }
  return text;
}

}  // namespace

std::string card_text(const Model& model, const TrainingCard& card) {
  const TrainingRecipe& recipe = card.plan.recipe;
  std::string text = "# " + (model.name.empty() ? std::string("A model trained by Headlight") : model.name) + "\n\n";
  text += shape_text(model) + "\n\n## Training\n\n";
  text +=
      "Corpus: " +
      (card.corpus == "grammar" ? std::string("sentences of Headlight's grammar (assets/grammar.json)") : card.corpus) +
      ".\n\n";
  text += task_text(card) + " The loss is the cross-entropy of those words" + teaching_text(card) + "\n\n";
  text += formatted(
      "%ld of %ld steps, %ld sentences each, %.1f million words, seed %llu. AdamW, learning rate %g, β %g and "
      "%g, decay %g, %ld steps of warm-up, cosine to %g of it, gradients clipped to %g",
      static_cast<long>(card.step), static_cast<long>(card.plan.steps()), static_cast<long>(card.plan.batch),
      card.tokens / 1e6, static_cast<unsigned long long>(card.plan.config.seed),
      static_cast<double>(recipe.schedule.peak), static_cast<double>(recipe.adamw.beta1),
      static_cast<double>(recipe.adamw.beta2), static_cast<double>(recipe.adamw.decay),
      static_cast<long>(recipe.schedule.warmup), static_cast<double>(recipe.schedule.floor),
      static_cast<double>(recipe.clip));
  if (recipe.objective.dropout > 0) text += formatted(", dropout %g", static_cast<double>(recipe.objective.dropout));
  if (recipe.objective.label_smoothing > 0)
    text += formatted(", label smoothing %g", static_cast<double>(recipe.objective.label_smoothing));
  text += ".\n";
  if (!card.command.empty()) text += "\n```\n" + card.command + "\n```\n";
  if (card.scores && !card.scores->relations.empty() && is_universal(card.scores->relations.front()))
    text += treebank_scores_text(*card.scores, card.plan.teaching.heads);
  else if (card.scores) text += scores_text(*card.scores);
  return card.arcs ? text + precisions_text(card.arcs->precisions) : text;
}

}  // namespace headlight
