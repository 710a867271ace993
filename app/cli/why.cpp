#include <algorithm>

#include "base/formatted.h"
#include "base/utf8.h"
#include "cli/frame/study.h"
#include "explain/score_split.h"
#include "model/head_text.h"

namespace headlight {
namespace {

std::string why_text(const Question& question, const ScoreSplit& split, Index most) {
  const auto& [query, key] = question.cell;
  const Stack stack = question.head.stack;
  const auto word = [](const Tokens& tokens, Index at) {
    return word_in_table(tokens.tokens[static_cast<std::size_t>(at)].text);
  };
  std::string text =
      word(question.trace->query_tokens(stack), query) + " → " + word(question.trace->key_tokens(stack), key) + "\n";
  text += std::string(stack_name(stack)) + ", " + head_label(question.head) + ", query " + std::to_string(query) +
          ", key " + std::to_string(key) + "\n";
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

Result<Answer> answer(const Question& question, Index most) {
  const auto split = TRY(split_score(*question.trace, question.head, question.cell));
  if (question.wants("csv")) return Answer(why_table(split));
  if (question.wants("npz")) return Answer(why_arrays(*question.trace, question.head.stack, split));
  if (question.wants("json"))
    return Answer(json_object({{"score", split.score}, {"terms", json_rows(why_table(split))}, {"sum", split.sum}}));
  return Answer(why_text(question, split, most));
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
  command.take_cell();
  const auto study = std::make_shared<StudyOptions>();
  if (const StudyWays* ways = study_ways()) ways->add_options(parser, *study, "");
  const auto most = std::make_shared<Index>(20);
  parser.option("--top", *most, "Of text, how many of the largest terms, 20 by default", "K").within(0, 1e6);
  command.take_format({"text", "csv", "json", "npz"}, "text (default), csv, json or npz: all terms");
  const ParsedCommand each =
      command.answers(SentencesAsked::each, [most](const Question& question) { return answer(question, *most); });
  return [study, command, each]() -> Result<int> {
    if (!study->given()) return each();
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
The score before the softmax is the sum over all pairs of a writer at the query and a writer at the key: embedding,
position, type, L0·H3, L0·ffn, bias, relative (what the distance adds). Norms are frozen at the size that their row
gave them. With --format json: {"score", "terms": [{"query", "key", "value"}], "sum"}, a line a sentence.)",
                        add_why};

}  // namespace headlight
