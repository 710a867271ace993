#include <cstdio>

#include "cli/commands.h"
#include "cli/request_options.h"
#include "session/start.h"
#include "train/alignment.h"
#include "train/relations_json.h"

namespace headlight {
namespace {

struct Options {
  explicit Options(CLI::App& command) : request(command) {}
  RequestOptions request;
  std::string grammar, format = "text";
  bool relations = false;
  RelationOptions wanted = {};
};

std::string as_text(const RelationReport& report) {
  char line[256];
  std::string text = "relation  head   direction   score  weight   hard   random  offset  per kind  sentences\n";
  for (const RelationScore& one : report.relations) {
    const std::string head = std::to_string(one.chosen.layer) + "." + std::to_string(one.chosen.head);
    std::snprintf(line, sizeof line, "  %-5s  %s   %.3f  %.3f   %.3f   %.3f   %.3f   %.3f     %ld   ", head.c_str(),
                  one.chosen.reversed ? "key→query" : "query→key", one.score.accuracy, one.score.weight, one.score.hard,
                  one.random, one.offset, one.kind_offset, static_cast<long>(one.sentences));
    std::string name = one.relation;
    if (name.size() < 8) name.resize(8, ' ');
    text += name + line + one.en + "\n";
  }
  if (!report.alignment.heads.empty()) text += alignment_text(report.alignment);
  if (report.next_word.words > 0) text += next_word_text(report.next_word);
  if (report.pairs > 0) {
    std::snprintf(line, sizeof line, "minimal pairs with both sentences right: %ld of %ld\n",
                  static_cast<long>(report.pairs_right), static_cast<long>(report.pairs));
    text += line;
  }
  for (const LiteralScore& one : report.literals) {
    text += one.relation + ": " + one.query + " → " + one.key + ": ";
    if (one.shown) {
      std::snprintf(line, sizeof line, "head %ld.%ld%s, weight %.2f", static_cast<long>(one.best.layer),
                    static_cast<long>(one.best.head), one.best.reversed ? " backwards" : "", one.weight);
      text += line;
    } else {
      text += "no head";
    }
    text += "   (" + one.text + ")\n";
  }
  return text;
}

Result<int> run(Options& options) {
  if (!options.relations) return bad_input("heads", "", "--relations", "nothing to measure");
  if (options.wanted.validation_seed == options.wanted.test_seed)
    return bad_input("--test-seed", "", "another seed than that of the validation sentences",
                     std::to_string(options.wanted.test_seed));
  const auto start = options.request.start();
  if (!start) return start.error();
  const auto grammar = options.grammar.empty() ? read_grammar() : read_grammar(options.grammar);
  if (!grammar) return grammar.error();
  const auto& model = start->session.document.model;
  if (!model) return bad_input("heads --relations", "SOURCE", "a trained model with a vocabulary", "fresh weights");
  options.wanted.threads = options.request.threads();
  Progress progress;
  const auto report = measure_relations(model, **grammar, options.wanted, progress);
  if (!report) return report.error();
  if ((*report)->unknown_words > 0) {
    std::fprintf(stderr, "warning: %ld of %zu words of the grammar are unknown to this model\n",
                 static_cast<long>((*report)->unknown_words), (*grammar)->words.size());
  }
  return print(options.format == "json" ? relations_json(**report).dump() + "\n" : as_text(**report));
}

}  // namespace

Run add_heads(CLI::App& program) {
  CLI::App& command =
      *program.add_subcommand("heads", "what each head does: its scores on the relations of the grammar");
  auto options = std::make_shared<Options>(command);
  command.add_flag("--relations", options->relations,
                   "held-out scores of every relation, beside chance and position alone");
  command.add_option("--test-seed", options->wanted.test_seed, "draws other test sentences");
  command.add_option("--validation-seed", options->wanted.validation_seed,
                     "draws other sentences for choosing heads by");
  command.add_option("--sentences", options->wanted.sentences, "of validation, and of test")
      ->check(CLI::Range(1, 1000000));
  command.add_option("--pairs", options->wanted.pairs, "minimal pairs")->check(CLI::Range(0, 1000000));
  command.add_flag("--scrambled", options->wanted.scrambled,
                   "replaces every word by another of its kind: what is left when the words' own ties are cut");
  command.add_option("--grammar", options->grammar, "a grammar of your own");
  command.add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  return [options] { return run(*options); };
}

}  // namespace headlight
