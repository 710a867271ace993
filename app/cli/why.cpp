#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/formatted.h"
#include "base/utf8.h"
#include "cli/frame/study.h"
#include "derived/writer_split.h"
#include "explain/score_split.h"
#include "heads/head_measures.h"
#include "model/head_text.h"
#include "views/inside/rival_words.h"

namespace headlight {
namespace {

/// The split of a cell, or the mean of those of all rows with the token that a head looks at most.
struct Asking {
  ScoreSplit split = {};
  CellRef cell = {};
  Index rows = 0;                     // of the mean; 0: a cell
  std::optional<Rivals> rivals = {};  // of a cell, for people and as JSON
};

/// Why this word and not its strongest rival, as the window says it.
std::string rivals_text(const Trace& trace, Stack stack, const Rivals& rivals) {
  const RivalWords words = rivals_in_words(Language::en, trace, stack, rivals);
  std::vector<std::vector<std::string>> rows;
  for (const RivalWords::Line& line : words.lines) rows.push_back({"  " + line.text, line.favours, line.off});
  rows.push_back({"  all others", words.rest, ""});
  return words.title + "\n" + words.carried + "\n" + aligned_text(rows) + "\n";
}

Value rivals_json(const Trace& trace, Stack stack, const Rivals& rivals) {
  const RivalWords words = rivals_in_words(Language::en, trace, stack, rivals);
  Table lines{{"writer", "value", "weight_without", "rival_weight_without"}};
  for (const Rivals::Line& line : rivals.lines)
    lines.rows.push_back(
        {line.writer ? writer_name(*line.writer) : "pieces", line.value, line.weight, line.rival_weight});
  return json_object({{"word", words.word},
                      {"rival", words.rival},
                      {"weight", rivals.weight},
                      {"rival_weight", rivals.rival_weight},
                      {"difference", rivals.difference},
                      {"side", rivals.of_query ? "query" : "key"},
                      {"lines", json_rows(lines)},
                      {"rest", rivals.rest}});
}

std::string why_text(const Question& question, const Asking& asked, Index most) {
  const ScoreSplit& split = asked.split;
  const auto& [query, key] = asked.cell;
  const Stack stack = question.head.stack;
  const auto word = [](const Tokens& tokens, Index at) {
    return word_in_table(tokens.tokens[static_cast<std::size_t>(at)].text);
  };
  const std::string from =
      asked.rows > 0 ? "the mean of " + counted(asked.rows, "row") : word(question.trace->query_tokens(stack), query);
  std::string text = asked.rivals ? rivals_text(*question.trace, stack, *asked.rivals) : "";
  text += from + " → " + word(question.trace->key_tokens(stack), key) + "\n";
  text += std::string(stack_name(stack)) + ", " + head_label(question.head) +
          (asked.rows > 0 ? "" : ", query " + std::to_string(query)) + ", key " + std::to_string(key) + "\n";
  text += formatted("score %.6f, the sum of %s: %.6f", split.score, counted(std::ssize(split.terms), "term").c_str(),
                    split.sum);
  text += split.blocked ? " (before the mask, which blocks it)\n" : "\n";
  std::size_t widest = 5;
  for (const Writer& writer : split.queries) widest = std::max(widest, code_points(writer_name(writer)).size());
  text += "       value  " + padded("query", widest + 2) + "key\n";
  std::vector<NamedTerm> terms;
  for (const ScoreTerm& term : split.terms)
    terms.push_back({padded(writer_name(term.query), widest + 2) + writer_name(term.key), term.value});
  return text + largest_terms(std::move(terms), most);
}

Table why_table(const ScoreSplit& split) {
  Table table{{"query", "key", "value"}};
  for (const ScoreTerm& term : split.terms)
    table.rows.push_back({writer_name(term.query), writer_name(term.key), term.value});
  return table;
}

Arrays why_arrays(const Trace& trace, Stack stack, const ScoreSplit& split) {
  const auto index_of = [](const std::vector<Writer>& writers, const Writer& one) {
    return static_cast<std::size_t>(std::ranges::find(writers, one) - writers.begin());
  };
  std::vector<float> terms(split.queries.size() * split.keys.size(), 0.0f);
  for (const ScoreTerm& term : split.terms)
    terms[index_of(split.queries, term.query) * split.keys.size() + index_of(split.keys, term.key)] =
        static_cast<float>(term.value);
  return {array_of_tokens("query_tokens", trace.query_tokens(stack)),
          array_of_tokens("key_tokens", trace.key_tokens(stack)),
          array_of("score", {1}, {static_cast<float>(split.score)}),
          array_of("terms", {static_cast<Index>(split.queries.size()), static_cast<Index>(split.keys.size())}, terms),
          array_of_writers("query_writers", split.queries),
          array_of_writers("key_writers", split.keys)};
}

/// The mean over all rows that may look at the token that the head looks at most.
Result<Asking> split_of_sink(const Question& question) {
  const Trace& trace = *question.trace;
  const HeadRef& head = question.head;
  MeasureSums sums{{head}, std::vector<MeasureSums::OfHead>(1)};
  add_sentence(sums, trace, unwatched(), question.threads);
  const auto key = measures_of(sums).front().sink.key;
  if (!key) return bad_input("--sink", head_label(head), "a row that attends to anything", "none");
  Asking mean{.cell = {.query = 0, .key = *key}};
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (Index query = 0; query < trace.queries(head.stack); ++query) {
    if (trace.query_tokens(head.stack).tokens[static_cast<std::size_t>(query)].pad ||
        !trace.mask_of(head).allowed(query, *key))
      continue;
    const auto one = TRY(split_score(trace, head, {query, *key}));
    ++mean.rows;
    mean.split.score += one.score, mean.split.sum += one.sum;
    for (const ScoreTerm& term : one.terms) {
      const auto [place, fresh] =
          places.try_emplace({writer_name(term.query), writer_name(term.key)}, mean.split.terms.size());
      if (fresh) mean.split.terms.push_back(term);
      else mean.split.terms[place->second].value += term.value;
    }
    for (const auto list : {&ScoreSplit::queries, &ScoreSplit::keys})
      for (const Writer& writer : one.*list)
        if (std::ranges::find(mean.split.*list, writer) == (mean.split.*list).end())
          (mean.split.*list).push_back(writer);
  }
  if (mean.rows == 0) return bad_input("--sink", head_label(head), "a row that may look at its sink", "none");
  for (double* sum : {&mean.split.score, &mean.split.sum}) *sum /= static_cast<double>(mean.rows);
  for (ScoreTerm& term : mean.split.terms) term.value /= static_cast<double>(mean.rows);
  return mean;
}

Result<Asking> asked_split(const Question& question, bool sink) {
  if (sink) return split_of_sink(question);
  Asking asked{.cell = question.cell};
  asked.split = TRY(split_score(*question.trace, question.head, question.cell));
  if (question.wants("text") || question.wants("json"))
    asked.rivals = TRY(rivals_of(*question.trace, question.head, question.cell, unwatched()));
  return asked;
}

Result<Answer> answer(const Question& question, Index most, bool sink) {
  const auto asked = TRY(asked_split(question, sink));
  const ScoreSplit& split = asked.split;
  if (question.wants("csv")) return Answer(why_table(split));
  if (question.wants("npz")) return Answer(why_arrays(*question.trace, question.head.stack, split));
  if (question.wants("json")) {
    Members members{{"score", split.score}, {"terms", json_rows(why_table(split))}, {"sum", split.sum}};
    if (asked.rivals) members.emplace_back("rivals", rivals_json(*question.trace, question.head.stack, *asked.rivals));
    if (sink) members.emplace_back("key", asked.cell.key), members.emplace_back("rows", asked.rows);
    return Answer(json_object(members));
  }
  return Answer(why_text(question, asked, most));
}

Result<std::vector<StudyCell>> cells_of(const StudyTraces& traces, const QuestionCommand& command,
                                        const HeadRef& head) {
  TRY(command.check_answer(*traces.clean));
  const auto split = TRY(split_score(*traces.clean, head, command.cell()));
  std::vector<StudyCell> cells{{{"score", "", ""}, split.score}};
  for (const ScoreTerm& term : split.terms)
    cells.push_back({{"term", writer_name(term.query), writer_name(term.key)}, term.value});
  return cells;
}

ParsedCommand add_why(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  command.take_cell("--sink");
  const auto sink = std::make_shared<bool>(false);
  parser
      .option("--sink", *sink,
              "In place of a cell the mean of all rows, at the token that the head looks at most (`sink` of `heads`)")
      .excludes({"--query", "--key"});
  const auto study = std::make_shared<StudyOptions>();
  if (const StudyWays* ways = study_ways()) ways->add_options(parser, *study, "");
  const auto most = std::make_shared<Index>(20);
  parser.option("--top", *most, "Of text, how many of the largest terms, 20 by default", "K").within(0, 1e6);
  command.take_format({"text", "csv", "json", "npz"}, "text (default), csv, json or npz: all terms");
  const ParsedCommand each = command.answers(
      SentencesAsked::each, [most, sink](const Question& question) { return answer(question, *most, *sink); });
  return [study, command, sink, each]() -> Result<int> {
    if (!study->given()) return each();
    if (*sink) return bad_input("--sink", "", "a sentence", "--pairs");
    const auto head = TRY(command.head());
    const CellRef cell = command.cell();
    const std::string of =
        head_text(head) + " query " + std::to_string(cell.query) + ", key " + std::to_string(cell.key);
    return study_ways()->run(command, *study,
                             {.columns = {"what", "query", "key"},
                              .title = "the score of head " + of + ", and what wrote it",
                              .options = "why|" + of,
                              .with_corrupt = false,
                              .answer = [&](const StudyTraces& traces) { return cells_of(traces, command, head); }});
  };
}

}  // namespace

const NamedCommand kWhy{"why", "A score split over what wrote it: words, positions, earlier heads", R"(
headlight why --head 1.5 --query 9 --key 5
headlight why CHECKPOINT --text 'the cat sat' --layer 1 --head 0 --query 3 --key 1 --format csv
headlight why --head 1.2 --sink
The score before the softmax is the sum over all pairs of a writer at the query and a writer at the key: embedding,
position, type, L0·H3, L0·ffn, bias, relative (what the distance adds). Norms are frozen at the size that their row
gave them. Above them, why this word and not the one with the next largest weight. With --format json:
{"score", "terms": [{"query", "key", "value"}], "sum", "rivals"}, a line a sentence.)",
                        add_why};

}  // namespace headlight
