#include <algorithm>
#include <cstdio>

#include "base/formatted.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/head_table.h"
#include "cli/head_text.h"
#include "cli/options/format_option.h"
#include "cli/options/request_options.h"
#include "document/tokenizers.h"
#include "model/head_text.h"
#include "train/measure/alignment.h"
#include "train/measure/relations_json.h"
#include "train/trained_checkpoint.h"
#include "training/training_files.h"
#include "words/relation_words.h"

namespace headlight {
namespace {

struct HeadsArguments {
  explicit HeadsArguments(Parser& command) : request(command) {}
  RequestOptions request;
  std::string grammar, format = "text";
  std::vector<std::string> treebanks;
  bool relations = false;
  std::string by;  // layer, or empty
  RelationOptions wanted = {};

  HeadsWanted measures = {};
  bool descending = false;
  WordPair words = {};
};

constexpr const char* kOrders[] = {"effect", "learned", "found"};  // beside layer and the measures

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

/// The same of treebanks in place of the grammar.
Result<int> run_treebanks(const HeadsArguments& options, const Document& document) {
  if (!document.tokenizers || !document.tokenizers->source)
    return bad_input("heads --relations --treebank", "SOURCE", "a model with a tokenizer", "none");
  const auto treebanks = read_treebanks(options.treebanks);
  if (!treebanks) return treebanks.error();
  Progress progress;
  const auto taught = document.card ? document.card->plan.teaching.heads : std::vector<TaughtHead>();
  const auto report = measure_treebanks(document.model, *document.tokenizers->source, *treebanks, taught,
                                        options.wanted.threads, progress);
  if (!report) return report.error();
  return print(options.format == "json" ? relations_json(**report, taught).dump() + "\n"
                                        : as_text_of_treebanks(**report, taught));
}

Result<int> run_relations(HeadsArguments& options) {
  if (options.format == "csv") return bad_input("--format", "", "text or json with --relations", "csv");
  if (options.wanted.validation_seed == options.wanted.test_seed)
    return bad_input("--test-seed", "", "another seed than that of the validation sentences",
                     std::to_string(options.wanted.test_seed));
  const auto start = options.request.start();
  if (!start) return start.error();
  const auto grammar = options.grammar.empty() ? read_grammar() : read_grammar(options.grammar);
  if (!grammar) return grammar.error();
  const auto& model = start->session.document.model;
  if (!model) return bad_input("heads --relations", "SOURCE", "a trained model with a vocabulary", "fresh weights");
  if (!options.by.empty() && model->config.arch == Arch::encoder_decoder)
    return bad_input("--by layer", "SOURCE", "a model of one sentence", "one that translates");
  options.wanted.threads = options.request.threads();
  Progress progress;
  if (!options.treebanks.empty()) return run_treebanks(options, start->session.document);
  const auto report = measure_relations(model, **grammar, options.wanted, progress);
  if (!report) return report.error();
  if ((*report)->unknown_words > 0) {
    std::fprintf(stderr, "warning: %ld of %zu words of the grammar are unknown to this model\n",
                 static_cast<long>((*report)->unknown_words), (*grammar)->words.size());
  }
  if (options.by.empty())
    return print(options.format == "json" ? relations_json(**report).dump() + "\n" : as_text(**report));
  return print(options.format == "json" ? layers_json(**report).dump() + "\n" : as_text_by_layer(**report));
}

Status check_order(const HeadsWanted& wanted) {
  std::vector<std::string> names{"layer"};
  for (const Measure measure : kMeasures) names.emplace_back(name(measure));
  names.insert(names.end(), std::begin(kOrders), std::end(kOrders));
  if (std::find(names.begin(), names.end(), wanted.sort) == names.end())
    return bad_input("--sort", "", joined_texts(names, ", "), wanted.sort);
  if (wanted.sort == "found" && !wanted.words)
    return bad_input("--sort found", "", "--from, --to or --above", "nothing to find");
  return Done{};
}

Result<int> run_measures(const HeadsArguments& options) {
  if (const auto valid = check_order(options.measures); !valid) return valid.error();
  const auto asked = options.request.ask();
  if (!asked) return asked.error();
  std::vector<std::string> warnings = asked->start.warnings;
  const auto table = measure_table(*asked, options.measures, options.request.threads(), warnings);
  if (!table) return table.error();
  const auto text = options.format == "json"  ? json_table(*table)
                    : options.format == "csv" ? csv_table(*table)
                                              : text_table(*table);
  if (!text) return text.error();
  if (const auto printed = print(*text); !printed) return printed;
  print_warnings(warnings);
  return 0;
}

Result<int> run_heads(HeadsArguments& options, const Parser& command) {
  if (options.relations) {
    for (const char* text : {"--text", "--tokens", "--ids"})
      if (command.given(text)) return bad_input(text, "", "no --relations, which has sentences of its own", text);
    return run_relations(options);
  }
  if (command.given("--from") || command.given("--to") || command.given("--above"))
    options.measures.words = options.words;
  return run_measures(options);
}

/// Options that mean something for relations alone, and those that do for measures alone.
void add_relation_options(Parser& command, HeadsArguments& options) {
  command.option("--relations", options.relations,
                 "Held-out scores of every relation, beside chance and position alone");
  command.topic("relations", "The options of --relations");
  command.section("Relations", "relations");
  const auto ours = [](Option option) { return option.needs("--relations"); };
  ours(command.option("--by", options.by, "layer: each relation in each layer, by its best head", "layer"))
      .one_of({"layer"});
  ours(command.option("--test-seed", options.wanted.test_seed, "Draws other test sentences"));
  ours(command.option("--validation-seed", options.wanted.validation_seed,
                      "Draws other sentences for choosing heads by"));
  ours(command.option("--sentences", options.wanted.sentences, "Of validation, and of test")).within(1, 1000000);
  ours(command.option("--pairs", options.wanted.pairs, "Minimal pairs")).within(0, 1000000);
  ours(command.option("--scrambled", options.wanted.scrambled,
                      "Replaces every word by another of its kind: what is left when the words' own ties are cut"));
  ours(command.option("--grammar", options.grammar, "A grammar of your own"));
  ours(command.option("--treebank", options.treebanks,
                      "Treebanks (CoNLL-U) in place of the grammar: sentences with even numbers choose the heads "
                      "that were not taught, the others are scored"))
      .excludes({"--grammar", "--by"});
  command.section();
}

void add_measure_options(Parser& command, HeadsArguments& options) {
  command.section("Measures");
  const auto ours = [](Option option) { return option.excludes({"--relations"}); };
  ours(command.option("--sort", options.measures.sort, "layer (default), a measure's name, effect, learned or found",
                      "METRIC"));
  ours(command.option("--ascending", options.measures.ascending, "The smallest first"));
  ours(command.option("--descending", options.descending, "The largest first, as by default"))
      .excludes({"--ascending"});
  ours(command.option("--effect", options.measures.effect,
                      "What the answer loses when each head is switched off in turn"));
  ours(command.option("--from", options.words.from, "Only heads in which this word looks …", "WORD"));
  ours(command.option("--to", options.words.to, "… at this one …", "WORD"));
  ours(command.option("--above", options.measures.above, "… with more than this weight, 0.3 by default", "X"))
      .within(0, 1);
  command.section();
}

}  // namespace

ParsedCommand add_heads(Parser& program) {
  Parser command = program.command("heads",
                                   "What each head does: its measures, or its scores on the relations "
                                   "of the grammar");
  command.footer(
      "headlight heads --text 我请李雷帮我订了去北京的机票 --sort entropy --ascending\n"
      "headlight heads --from 订了 --to 机票 --above 0.5\n"
      "headlight heads CHECKPOINT --text 'The cat sat' --effect --sort effect --format json\n"
      "The measures are defined in docs/guide.md. Several sentences make one table: their rows count alike, and\n"
      "effects are the mean over the sentences.");
  auto options = std::make_shared<HeadsArguments>(command);
  add_relation_options(command, *options);
  add_measure_options(command, *options);
  add_format(command, options->format, "text (default), json, or csv", {"text", "json", "csv"});
  return [options, command] { return run_heads(*options, command); };
}

}  // namespace headlight
