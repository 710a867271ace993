#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/formatted.h"
#include "cli/frame/head_columns.h"
#include "cli/frame/study.h"
#include "cli/frame/tool_commands.h"
#include "model/head_text.h"
#include "models/bundled_models.h"

namespace headlight {
namespace {

/// What was measured of the head, as scripts read it; in brackets what it is not named by.
std::string learned_fields(const HeadRow& row) {
  std::string text;
  for (std::size_t i = 0; i < row.learned.size(); ++i) {
    const RelationScore& score = *row.learned[i];
    const std::string one =
        score.relation + formatted(" %.3f", score.score.accuracy) + (row.taught[i] ? " taught" : "");
    text.append(text.empty() ? "" : ", ").append(is_worn(score) ? one : "(" + one + ")");
  }
  return text;
}

std::string three_decimals(const std::optional<float>& value) {
  if (!value) return "—";
  const double number = static_cast<double>(*value);
  return formatted(number != 0 && std::abs(number) < 0.0005 ? "%.1e" : "%.3f", number);
}

/// An Error that names a number that is not finite.
Status check_finite(const HeadTable& table, const std::vector<HeadColumn>& all) {
  for (const HeadRow& row : table.rows)
    for (const HeadColumn& column : all)
      if (const auto value = column.value(row); value && !std::isfinite(*value))
        return bad_input("heads", column.name + " of head " + head_label(row.measures.head), "a finite number",
                         "an overflow");
  return Done{};
}

std::string quoted_word(const std::string& word) { return word.empty() ? "any word" : word_in_table(word); }

/// Aligned columns for people; those that no head has are left out. What was looked for and what
/// an effect is stand below.
std::string heads_text(const HeadTable& table) {
  const std::vector<HeadColumn> shown = head_columns(table, false);
  std::vector<std::vector<std::string>> lines{{"head"}};
  for (const HeadColumn& column : shown) std::ranges::replace(lines[0].emplace_back(column.name), '_', ' ');
  const bool with_partner = composes(table);
  if (with_partner) lines[0].emplace_back("reads");
  lines[0].emplace_back("name");
  for (const HeadRow& row : table.rows) {
    const HeadRef& head = row.measures.head;
    const std::string stack = head.stack == Stack::self ? "" : std::string(stack_name(head.stack)) + " ";
    std::vector<std::string>& line = lines.emplace_back(
        1, stack + (table.summed ? summed_title(Language::en, *parse_reduction(table.summed->by), head)
                                 : head_label(head)));
    for (const HeadColumn& column : shown) line.push_back(three_decimals(column.value(row)));
    if (with_partner) line.push_back(composes_with(row, true));
    line.push_back(row.name.words);
  }
  std::vector<bool> right(lines[0].size(), true);
  right.front() = right.back() = right[right.size() - 1 - with_partner] = false;
  std::string text = table.rows.empty() ? "" : aligned_text(lines, right);
  if (table.words)
    text += std::to_string(table.rows.size()) + " of " + counted(table.heads, "head") +
            (table.rows.size() == 1 ? " looks from " : " look from ") + quoted_word(table.words->from) + " at " +
            quoted_word(table.words->to) + " with more than " + shortest_text(table.above) + "\n";
  if (table.summed) text += table.summed->english + "\n";
  if (table.sentences > 1) text += "measured over " + std::to_string(table.sentences) + " sentences\n";
  if (!table.rows.empty() && table.rows.front().effect)
    text += table.of_words ? "effect: what the word's distribution loses with the head off, as KL divergence in nats; "
                             "top word: the change of its probability\n"
                           : "effect: the relative change of the last hidden states with the head off\n";
  if (!table.rows.empty() && table.rows.front().moved)
    text +=
        "moved: the total variation between a head's row in this model and in the other, the mean of all rows; key "
        "changed: the share of rows whose strongest key is another\n";
  if (!table.rows.empty() && table.rows.front().weights.change)
    text += "qk change, ov change: how far the head's W_QK and W_OV are from the other model's, Frobenius norms\n";
  if (std::ranges::any_of(table.rows, [](const HeadRow& row) { return row.weights.copying.has_value(); }))
    text +=
        "copying: the sum of the eigenvalues of W_U W_OV W_E over that of their sizes, 1 where words raise "
        "themselves\n";
  if (with_partner)
    text +=
        "composition: the share of what query, key or value read that a head below writes, of random weights 1 / "
        "sqrt(d_model); of rotary positions at distance 0\n";
  return table.control ? text + study_ways()->control_text(*table.control) : text;
}

/// stack,layer,head, every measure, effect, top_word, found, learned: an empty field where a head has none. Errors name
/// a number that is not finite.
Result<Table> heads_table(const HeadTable& heads) {
  const std::vector<HeadColumn> all = head_columns(heads, true);
  TRY(check_finite(heads, all));
  Table table{{"stack", "layer", "head"}};
  for (const HeadColumn& column : all) table.columns.push_back(column.name);
  table.columns.emplace_back("learned");
  const bool with_partner = composes(heads);
  if (with_partner) table.columns.emplace_back("composes_with");
  for (const HeadRow& head : heads.rows) {
    std::vector<Value>& row = table.rows.emplace_back();
    row = {head.stack, head.measures.head.layer, head.measures.head.head};
    for (const HeadColumn& column : all) row.emplace_back(column.value(head));
    row.push_back(learned_fields(head));
    if (with_partner) row.push_back(composes_with(head));
  }
  return table;
}

/// (heads, columns), NaN never: what a head does not have is -1; and the columns' names, the heads and their stacks.
Arrays heads_arrays(const HeadTable& table) {
  const std::vector<HeadColumn> all = head_columns(table, false);
  std::vector<std::string> names, stacks, words, partners;
  std::vector<float> numbers, heads;
  for (const HeadColumn& column : all) names.push_back(column.name);
  for (const HeadRow& row : table.rows) {
    stacks.push_back(row.stack), words.push_back(row.name.words);
    partners.push_back(composes_with(row));
    for (const Index number : {row.measures.head.layer, row.measures.head.head})
      heads.push_back(static_cast<float>(number));
    for (const HeadColumn& column : all) numbers.push_back(column.value(row).value_or(-1.0f));
  }
  const auto count = static_cast<Index>(table.rows.size());
  if (count == 0) return {array_of_texts("columns", names)};
  Arrays arrays;
  if (table.control) study_ways()->add_control(*table.control, arrays);
  if (composes(table)) arrays.push_back(array_of_texts("composes_with", partners));
  arrays.insert(arrays.end(), {array_of_texts("columns", names), array_of_texts("stacks", stacks),
                               array_of_texts("names", words), array_of("heads", {count, 2}, std::move(heads)),
                               array_of("measures", {count, static_cast<Index>(names.size())}, std::move(numbers))});
  return arrays;
}

Value learned_json(const HeadRow& row) {
  std::vector<Value> list;
  for (std::size_t i = 0; i < row.learned.size(); ++i) {
    const RelationScore& one = *row.learned[i];
    list.push_back(json_object({{"relation", one.relation},
                                {"label", one.en},
                                {"direction", one.chosen.reversed ? "key→query" : "query→key"},
                                {"accuracy", one.score.accuracy},
                                {"position", position_alone(one)},
                                {"worn", is_worn(one)},
                                {"supervised", row.taught[i] != 0},
                                {"doubted", row.doubted[i] != 0}}));
  }
  return json_list(list);
}

Value head_json(const HeadRow& row, const std::vector<HeadColumn>& all) {
  const HeadRef& head = row.measures.head;
  Members members{{"stack", row.stack}, {"layer", head.layer}, {"head", head.head}};
  for (const HeadColumn& column : all)
    if (const auto value = column.value(row)) members.emplace_back(column.name, *value);
  if (const SinkColumn& sink = row.measures.sink; sink.key) {
    members.emplace_back("sink_key", *sink.key);
    members.emplace_back("sink_token", sink.text);
  }
  if (row.found)
    members.emplace_back("cell", json_object({{"sentence", row.found->sentence},
                                              {"query", row.found->cell.query},
                                              {"key", row.found->cell.key}}));
  if (const std::string with = composes_with(row); !with.empty()) members.emplace_back("composes_with", with);
  if (!row.name.words.empty()) members.emplace_back("name", row.name.words);
  if (!row.learned.empty()) members.emplace_back("learned", learned_json(row));
  return json_object(members);
}

/// {"heads": [{"stack", "layer", "head", …}], "sentences": …}; what a head does not have is not there. Errors as
/// heads_table.
Result<Value> heads_json(const HeadTable& table) {
  const std::vector<HeadColumn> all = head_columns(table, true);
  TRY(check_finite(table, all));
  const auto row_json = [&](const HeadRow& row) { return head_json(row, all); };
  Members members{{"heads", json_list(table.rows, row_json, ",\n")}, {"sentences", table.sentences}};
  if (!table.rows.empty() && table.rows.front().effect)
    members.emplace_back("effect_on", table.of_words ? "words" : "last_hidden_state");
  if (table.summed) members.emplace_back("reduce", table.summed->by);
  if (table.words)
    members.emplace_back("find",
                         json_object({{"from", table.words->from}, {"to", table.words->to}, {"above", table.above}}));
  if (table.control) members.emplace_back("control", study_ways()->control_json(*table.control));
  return json_object(members);
}

struct HeadsOptions {
  HeadsWanted measures = {};
  bool descending = false;
  WordPair words = {};
  std::string probe, reduce;
  EffectOptions effects;
};

constexpr const char* kOrders[] = {"effect", "learned", "found",
                                   "moved",  "copying", "composition"};  // beside layer and the measures

Status check_order(const HeadsWanted& wanted) {
  std::vector<std::string> names{"layer"};
  for (const Measure measure : kMeasures) names.emplace_back(name(measure));
  names.insert(names.end(), std::begin(kOrders), std::end(kOrders));
  if (std::ranges::find(names, wanted.sort) == names.end())
    return bad_input("--sort", "", joined_texts(names, ", "), wanted.sort);
  if (wanted.sort == "found" && !wanted.words)
    return bad_input("--sort found", "", "--from, --to or --above", "nothing to find");
  if (wanted.sort == "moved" && wanted.against.empty())
    return bad_input("--sort moved", "", "--against", "nothing to compare with");
  return Done{};
}

template <class Form>
Result<Answer> answer_of(Result<Form> form) {
  return form ? Result<Answer>(*std::move(form)) : form.error();
}

/// The control of --effect: the mean over the sentences.
Status take_control(const Asked& asked, const HeadsWanted& wanted, const EffectOptions& options, int threads,
                    HeadTable& table) {
  const auto draws = TRY(draws_of(options.control));
  std::vector<HeadRef> chosen;
  for (const HeadRow& row : table.rows) chosen.push_back(row.measures.head);
  const double share = 1 / static_cast<double>(asked.requests.size());
  for (std::size_t i = 0; draws > 0 && !chosen.empty() && i < asked.requests.size(); ++i) {
    const auto trace = TRY(forward(asked.requests[i], unwatched(), nullptr, threads));
    EffectWanted own = wanted.effects;
    if (wanted.take_metric) TRY(wanted.take_metric(*trace, own));
    const auto one = TRY(study_ways()->effect_control(*trace, chosen, draws, own, threads));
    if (!table.control) table.control = PatchControl{one.cells, {}, std::vector<double>(one.restored.size())};
    for (std::size_t at = 0; at < one.restored.size(); ++at) table.control->restored[at] += share * one.restored[at];
    if (one.together) table.control->together = table.control->together.value_or(0) + share * *one.together;
  }
  return Done{};
}

/// The maps that --reduce leaves, whose rows and columns must still be tokens or words.
Result<std::optional<Asked>> summed_up(const Question& question, const HeadsOptions& options) {
  if (options.reduce.empty()) return std::optional<Asked>();
  if (TRY(parse_reduction(options.reduce)).tokens)
    return bad_input("--reduce", "",
                     "heads, layers, words or sentences: between blocks of tokens nothing is previous, "
                     "next or far (export --reduce has their numbers)",
                     options.reduce);
  return std::optional(TRY(reduced_question(question.asked, options.reduce, question.threads, question.warnings)));
}

Result<Answer> answer(const Question& question, const HeadsOptions& options) {
  HeadsWanted wanted = options.measures;
  wanted.probe = !options.probe.empty();
  wanted.value_norms = wanted.value_norms || wanted.sort == name(Measure::sink);
  std::optional<Asked> probed;
  if (wanted.probe) {
    auto requests = TRY(study_ways()->probing(question.asked.requests.front(), options.probe));
    probed = question.asked;
    probed->requests = std::move(requests);
  }
  const auto summed = TRY(summed_up(question, options));
  const Asked& asked = summed ? *summed : probed ? *probed : question.asked;
  if (const StudyWays* ways = study_ways(); ways && (wanted.effect || wanted.sort == "effect")) {
    TRY(ways->take_effects(options.effects, asked.document(), asked.lexicon, question.threads, wanted.effects));
    if (options.effects.metric.given())
      wanted.take_metric = [ways, &options](const Trace& trace, EffectWanted& effects) {
        return ways->take_metric(options.effects, trace, effects, {}, {});
      };
  } else {
    for (const auto& [option, given] : {std::pair("--metric, --answers, --query", options.effects.metric.given()),
                                        {"--control", !options.effects.control.empty()},
                                        {"--baseline", !options.effects.baseline.empty()},
                                        {"--at-layers", !options.effects.layers.empty()},
                                        {"--at-heads", !options.effects.heads.empty()}})
      if (given) return bad_input(option, "", "--effect beside it", "none");
  }
  auto heads = TRY(measure_table(asked, wanted, question.threads, question.warnings));
  TRY(take_control(asked, wanted, options.effects, question.threads, heads));
  if (summed) heads.summed = asked.document().model->given->summed_up;
  if (question.wants("json")) return answer_of(heads_json(heads));
  if (question.wants("csv")) return answer_of(heads_table(heads));
  if (question.wants("npz")) return Answer(heads_arrays(heads));
  return Answer(heads_text(heads));
}

/// Options that mean something for measures alone.
void add_measure_options(Parser& parser, HeadsOptions& options) {
  parser.section("Measures");
  const bool beside_relations = parser.has("--relations");
  const auto ours = [&](Option option) { return beside_relations ? option.excludes({"--relations"}) : option; };
  const bool studies = study_ways() != nullptr;
  ours(parser.option("--sort", options.measures.sort,
                     "layer (default), a measure's name, effect, learned, found, moved, copying (whether what the "
                     "head reads raises itself) or composition (with which head below it works)",
                     "METRIC"));
  ours(parser.option("--ascending", options.measures.ascending, "The smallest first"));
  ours(parser.option("--descending", options.descending, "The largest first, as by default")).excludes({"--ascending"});
  ours(parser.option("--effect", options.measures.effect,
                     "What the answer loses when each head is switched off in turn"));
  if (studies) {
    ours(parser.option(
        "--baseline", options.effects.baseline,
        "Of --effect, what stands in place of a head: mean:FILE, its mean over the sentences of a file, "
        "position:FILE, the same at each position by itself, or resample:FILE, its numbers in each of these sentences, "
        "with their spread; --off-as has zero and mean",
        "KIND:FILE"));
    ours(parser.option("--at-layers", options.effects.layers, "Of --effect: these layers alone", "LAYERS").list());
    ours(parser
             .option("--at-heads", options.effects.heads,
                     "Of --effect: these heads alone, 0.3,1.*, of another stack cross:0.3", "HEADS")
             .list());
    ours(parser.option(
        "--probe", options.probe,
        "In place of a text N sequences of T random tokens, each twice, and by how many standard deviations "
        "a head lies above the others; its name follows",
        "repeated-random:NxT"));
  }
  ours(parser.option("--value-norms", options.measures.value_norms,
                     "How long the values of the first token, of the most looked-at one and of the others are, beside "
                     "`first`, `sink` and `special`"));
  ours(parser.option("--from", options.words.from, "Only heads in which this word looks …", "WORD"));
  ours(parser.option("--to", options.words.to, "… at this one …", "WORD"));
  ours(parser.option("--above", options.measures.above, "… with more than this weight, 0.3 by default", "X"))
      .within(0, 1);
  ours(parser.option("--against", options.measures.against,
                     "Another model that reads the same words, as the same one quantized: how far each head's rows "
                     "moved, over all sentences; --sort moved",
                     "SOURCE"));
  ours(parser.option("--reduce", options.reduce, "The measures of maps that sum up others: mean:heads, max:layers, …",
                     "BY:OVER"))
      .excludes({"--effect", "--value-norms", "--against"});
  if (!studies) return;
  parser.section("What is compared");
  add_metric_options(parser, options.effects.metric);
  add_control_option(parser, options.effects.control,
                     "Of --effect: all heads of the table off, and N times as many others; of all heads one");
  study_ways()->add_options(parser, options.effects.study, "; with --relations N, how many minimal pairs");
}

ParsedCommand add_heads(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<HeadsOptions>();
  const auto add_relations = of_tools(&ToolCommands::relations);
  const InPlace relations = add_relations ? add_relations(command) : InPlace();
  add_measure_options(parser, *options);
  command.take_format({"text", "json", "csv", "npz"}, "text (default), json, csv, or npz");
  const ParsedCommand measures = command.answers(
      SentencesAsked::all, [options](const Question& question) { return answer(question, *options); },
      [options] { return check_order(options->measures); });
  return [options, command, relations, measures]() -> Result<int> {
    const Parser& given = command.parser();
    if (relations) {
      const auto done = TRY(relations());
      if (done) return *done;
    }
    if (options->effects.study.given()) {
      if (!options->measures.effect) return bad_input("--pairs", "", "--effect beside it", "none");
      return study_ways()->effects(command, options->effects);
    }
    if (given.given("--from") || given.given("--to") || given.given("--above"))
      options->measures.words = options->words;
    return measures();
  };
}

}  // namespace

const NamedCommand kHeads{"heads", "What each head does: its measures, or its scores on the relations of the grammar",
                          R"(
headlight heads --from 订了 --to 机票 --above 0.5
headlight heads CHECKPOINT --text 'The cat sat' --effect --sort effect --format json
The measures are defined in docs/guide.md. Of several sentences all rows count alike; effects are the mean.)",
                          add_heads};

}  // namespace headlight
