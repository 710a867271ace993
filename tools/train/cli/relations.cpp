#include "train/cli/relations.h"

#include <algorithm>

#include "base/formatted.h"
#include "base/utf8.h"
#include "cli/frame/question_command.h"
#include "cli/options/print.h"
#include "model/head_text.h"
#include "train/measure/relations.h"
#include "train/measure/relations_json.h"
#include "train/run/training_files.h"
#include "words/relation_words.h"

namespace headlight {
namespace {

struct RelationArguments {
  bool on = false;
  std::string grammar, by;  // by: layer, or empty
  std::vector<std::string> treebanks;
  RelationOptions wanted = {};
};

constexpr std::size_t kWidestName = 22;
constexpr std::size_t kLayerCell = 15;  // characters of `H12 1.000 →` and what is between two columns

std::string row_of_relation(const RelationScore& one) {
  return padded(relation_in_words(Language::en, one), kWidestName) +
         formatted("  %s   %.3f  %.3f   %.3f   %.3f   %.3f   %.3f     %ld\n",
                   head_label({one.chosen.layer, one.chosen.head}).c_str(), one.score.accuracy, one.score.weight,
                   one.score.hard, one.random, one.offset, one.kind_offset, static_cast<long>(one.sentences));
}

/// "机票 → 订了: right in L1·H6, weight 1.00".
std::string look_of_literal(const LiteralScore& one, const LiteralLook& look) {
  const std::string words = look.head.reversed ? one.key + " → " + one.query : one.query + " → " + one.key;
  if (!look.shown) return words + ": right in no head";
  return words +
         formatted(": right in %s, weight %.2f", head_label({look.head.layer, look.head.head}).c_str(), look.weight);
}

std::string as_text(const RelationReport& report) {
  std::string text = "relation                head    score  weight   hard   random  offset  per kind  sentences\n";
  for (const RelationScore& one : report.relations) {
    text += row_of_relation(one);
    if (const RelationScore* other = opposite_of(report, one)) text += row_of_relation(*other);
  }
  if (!report.alignment.heads.empty()) text += alignment_text(report.alignment);
  if (report.next_word.words > 0) text += next_word_text(report.next_word);
  if (report.pairs > 0)
    text += formatted("minimal pairs with both sentences right: %ld of %ld\n", static_cast<long>(report.pairs_right),
                      static_cast<long>(report.pairs));
  for (const LiteralScore& one : report.literals) {
    RelationScore relation;
    relation.relation = relation.en = one.relation;
    relation.chosen = one.best.head;
    text += relation_in_words(Language::en, relation) + ": " + look_of_literal(one, one.best);
    if (one.best.shown) {
      text += one.by_chosen ? ", as in the head above; " : ", not in the head above; ";
      text += look_of_literal(one, one.other);
    }
    text += "   (" + one.text + ")\n";
  }
  return text;
}

std::string layer_cell(const DirectedHead& head, double accuracy) {
  return formatted("H%-2ld %.3f %s", static_cast<long>(head.head), accuracy, head.reversed ? "←" : "→");
}

/// A row for each relation, a column for each layer: the head that looks best there, its score on test sentences, and
/// the direction in which it looks; beside them what random weights and position alone reach.
std::string as_text_by_layer(const RelationReport& report) {
  std::size_t widest = std::string("relation").size();
  for (const RelationScore& one : report.relations) widest = std::max(widest, code_points(one.en).size());
  std::string text = padded("relation", widest + 2);
  const std::size_t layers = report.relations.empty() ? 0 : report.relations.front().best_of_layer.size();
  for (std::size_t layer = 0; layer < layers; ++layer) text += padded("L" + std::to_string(layer), kLayerCell);
  text += "random  per kind  sentences\n";
  for (const RelationScore& one : report.relations) {
    text += padded(one.en, widest + 2);
    for (const std::size_t best : one.best_of_layer)
      text += padded(layer_cell(one.directed[best], one.heads[best].accuracy), kLayerCell);
    text += formatted("%.3f   %.3f     %ld\n", one.random, one.kind_offset, static_cast<long>(one.sentences));
  }
  return text +
         "in each layer the head that looks best, by validation: → from the first word of the relation to the second, "
         "← back\n";
}

std::string as_text_of_treebanks(const RelationReport& report, const std::vector<TaughtHead>& taught) {
  std::string text = "relation      head     direction   score  weight   hard   random  offset  arcs\n";
  for (const RelationScore& one : report.relations)
    text += formatted("%-12s  %-7s  %s   %.3f  %.3f   %.3f   %.3f   %.3f   %-6ld%s  %s\n", one.relation.c_str(),
                      head_label({one.chosen.layer, one.chosen.head}).c_str(),
                      one.chosen.reversed ? "key→query" : "query→key", one.score.accuracy, one.score.weight,
                      one.score.hard, one.random, one.offset, static_cast<long>(one.sentences),
                      was_taught(taught, one) ? "taught" : "      ", one.en.c_str());
  return text;
}

Result<int> print_relations(const std::string& format, const nlohmann::ordered_json& json, const std::string& text) {
  return print(format == "json" ? json.dump() + "\n" : text);
}

/// The same of treebanks instead of the grammar.
Result<int> run_treebanks(const RelationArguments& options, const Document& document, const std::string& format) {
  if (!document.tokenizers || !document.tokenizers->source)
    return bad_input("heads --relations --treebank", "SOURCE", "a model with a tokenizer", "none");
  const auto treebanks = TRY(read_treebanks(options.treebanks));
  const auto taught = document.card ? document.card->plan.teaching.heads : std::vector<TaughtHead>();
  const auto report = TRY(measure_treebanks(document.model, *document.tokenizers->source, treebanks, taught,
                                            options.wanted.threads, unwatched()));
  return print_relations(format, relations_json(*report, taught), as_text_of_treebanks(*report, taught));
}

/// Adds the options of --relations to a command.
void add_relation_options(Parser parser, RelationArguments& options) {
  parser.option("--relations", options.on, "Held-out scores of every relation, beside chance and position alone");
  parser.topic("relations", "The options of --relations");
  parser.section("Relations", "relations");
  const auto ours = [](Option option) { return option.needs("--relations"); };
  ours(parser.option("--by", options.by, "layer: each relation in each layer, by its best head", "layer"))
      .one_of({"layer"});
  ours(parser.option("--test-seed", options.wanted.test_seed, "Draws other test sentences"));
  ours(parser.option("--validation-seed", options.wanted.validation_seed,
                     "Draws other sentences for choosing heads by"));
  ours(parser.option("--sentences", options.wanted.sentences, "Of validation, and of test")).within(1, 1000000);
  ours(parser.option("--scrambled", options.wanted.scrambled,
                     "Replaces every word by another of its kind: what is left when the words' own ties are cut"));
  ours(parser.option("--grammar", options.grammar, "A grammar of your own"));
  ours(parser.option("--treebank", options.treebanks,
                     "Treebanks (CoNLL-U) in place of the grammar: sentences with even numbers choose the heads "
                     "that were not taught, the others are scored"))
      .excludes({"--grammar", "--by"});
  parser.section();
}

/// Measures and prints, as text or JSON.
Result<int> run_relations(const RequestOptions& request, RelationArguments options, const std::string& format) {
  if (format == "csv") return bad_input("--format", "", "text or json with --relations", "csv");
  if (options.wanted.validation_seed == options.wanted.test_seed)
    return bad_input("--test-seed", "", "another seed than that of the validation sentences",
                     std::to_string(options.wanted.test_seed));
  const auto start = TRY(request.start());
  const auto grammar = TRY(options.grammar.empty() ? read_grammar() : read_grammar(options.grammar));
  const auto& model = start.session.document.model;
  if (!model) return bad_input("heads --relations", "SOURCE", "a trained model with a vocabulary", "fresh weights");
  if (!options.by.empty() && model->config.arch == Arch::encoder_decoder)
    return bad_input("--by layer", "SOURCE", "a model of one sentence", "one that translates");
  options.wanted.threads = request.threads();
  if (!options.treebanks.empty()) return run_treebanks(options, start.session.document, format);
  const auto report = TRY(measure_relations(model, *grammar, options.wanted, unwatched()));
  if (report->unknown_words > 0)
    print_warnings({Error(ErrorCode::bad_value, std::to_string(report->unknown_words) + " of " +
                                                    std::to_string(grammar->words.size()) +
                                                    " words of the grammar are unknown to this model")});
  if (options.by.empty()) return print_relations(format, relations_json(*report), as_text(*report));
  return print_relations(format, layers_json(*report), as_text_by_layer(*report));
}

}  // namespace

InPlace add_relations(const QuestionCommand& command) {
  const auto options = std::make_shared<RelationArguments>();
  add_relation_options(command.parser(), *options);
  return [options, command]() -> Result<std::optional<int>> {
    if (!options->on) return std::optional<int>();
    const Parser& given = command.parser();
    for (const char* text : {"--text", "--tokens", "--ids"})
      if (given.given(text)) return bad_input(text, "", "no --relations, which has sentences of its own", text);
    const std::string pairs = given.has("--pairs") ? given.value("--pairs") : "";  // here their number
    const auto number = pairs.empty() ? options->wanted.pairs : parse_index(pairs).value_or(-1);
    if (number < 0 || number > 1000000) return bad_input("--pairs", "", "0 to 1000000 beside --relations", pairs);
    options->wanted.pairs = number;
    return std::optional(TRY(run_relations(command.request(), *options, given.value("--format"))));
  };
}

}  // namespace headlight
