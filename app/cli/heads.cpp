#include <algorithm>

#include "base/formatted.h"
#include "cli/head_text.h"
#include "cli/question_command.h"
#include "cli/relations.h"

namespace headlight {
namespace {

struct HeadsOptions {
  RelationArguments relations = {};
  HeadsWanted measures = {};
  bool descending = false;
  WordPair words = {};
};

constexpr const char* kOrders[] = {"effect", "learned", "found"};  // beside layer and the measures

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

template <class Form>
Result<Answer> answer_of(Result<Form> form) {
  return form ? Result<Answer>(*std::move(form)) : form.error();
}

Result<Answer> answer(const Question& question, const HeadsWanted& wanted) {
  const auto heads = measure_table(question.asked, wanted, question.threads, question.warnings);
  if (!heads) return heads.error();
  if (question.wants("json")) return answer_of(heads_json(*heads));
  if (question.wants("csv")) return answer_of(heads_table(*heads));
  return Answer(heads_text(*heads));
}

/// Options that mean something for measures alone.
void add_measure_options(Parser& parser, HeadsOptions& options) {
  parser.section("Measures");
  const auto ours = [](Option option) { return option.excludes({"--relations"}); };
  ours(parser.option("--sort", options.measures.sort, "layer (default), a measure's name, effect, learned or found",
                     "METRIC"));
  ours(parser.option("--ascending", options.measures.ascending, "The smallest first"));
  ours(parser.option("--descending", options.descending, "The largest first, as by default")).excludes({"--ascending"});
  ours(parser.option("--effect", options.measures.effect,
                     "What the answer loses when each head is switched off in turn"));
  ours(parser.option("--from", options.words.from, "Only heads in which this word looks …", "WORD"));
  ours(parser.option("--to", options.words.to, "… at this one …", "WORD"));
  ours(parser.option("--above", options.measures.above, "… with more than this weight, 0.3 by default", "X"))
      .within(0, 1);
  parser.section();
}

ParsedCommand add_heads(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<HeadsOptions>();
  add_relation_options(parser, options->relations);
  add_measure_options(parser, *options);
  command.take_format({"text", "json", "csv"}, "text (default), json, or csv");
  const ParsedCommand measures =
      command.all([options](const Question& question) { return answer(question, options->measures); },
                  [options] { return check_order(options->measures); });
  return [options, command, measures]() -> Result<int> {
    const Parser& given = command.parser();
    if (options->relations.on) {
      for (const char* text : {"--text", "--tokens", "--ids"})
        if (given.given(text)) return bad_input(text, "", "no --relations, which has sentences of its own", text);
      return run_relations(command.request(), options->relations, given.value("--format"));
    }
    if (given.given("--from") || given.given("--to") || given.given("--above"))
      options->measures.words = options->words;
    return measures();
  };
}

}  // namespace

const NamedCommand kHeads{"heads", "What each head does: its measures, or its scores on the relations of the grammar",
                          R"(
headlight heads --text 我请李雷帮我订了去北京的机票 --sort entropy --ascending
headlight heads --from 订了 --to 机票 --above 0.5
headlight heads CHECKPOINT --text 'The cat sat' --effect --sort effect --format json
The measures are defined in docs/guide.md. Several sentences make one table: their rows count alike, and
effects are the mean over the sentences.)",
                          add_heads};

}  // namespace headlight
