#include <algorithm>

#include "base/formatted.h"
#include "cli/frame/question_command.h"
#include "math/forward.h"
#include "math/output.h"

namespace headlight {
namespace {

struct NextOptions {
  Index top = 10;
  std::vector<std::string> tokens = {};
};

/// A word with its probability, and what that was before the edits.
struct NextRow {
  Candidate word;
  float before = 0;

  float difference() const { return word.probability - before; }
};

/// The answer for one sentence.
struct Next {
  bool classes = false;  // the words are classes of all tokens as one
  bool masked = false;   // of an encoder: the words replace the token, else they follow it
  bool edited = false;
  Index query = 0;
  std::string token = {};
  std::vector<NextRow> rows = {};     // the most probable first
  std::vector<NextRow> changed = {};  // others that changed most, by |p′ − p|: what was probable before the edits
  std::vector<NextRow> asked = {};    // those that were named, as named
};

Result<Next> next_of(const Question& question, const NextOptions& options) {
  const Trace& trace = *question.trace;
  const Model& model = *trace.model;
  TRY(check_has_logits(trace, "next"));
  const Token& token = trace.query_tokens().tokens[static_cast<std::size_t>(trace.answering)];
  const bool classes = classifies(model);
  Next next{.classes = classes,
            .masked = !classes && trace.request.config.arch == Arch::encoder,
            .query = trace.answering,
            .token = token.text};
  const Vector after = probabilities(trace.logits);
  Vector before = after;
  if (const Request plain = unedited(trace.request); !(plain == trace.request)) {
    const auto baseline = TRY(forward(plain, unwatched(), &trace, question.threads));
    before = probabilities(baseline->logits);
    next.edited = true;
  }
  for (Candidate& word : most_probable(model, after, options.top)) next.rows.push_back({std::move(word), 0});
  for (const Index row : most_changed(model, before, after, options.top))
    if (std::ranges::none_of(next.rows, [&](const NextRow& one) { return one.word.row == row; }))
      next.changed.push_back({candidate(model, after, row), 0});
  for (const std::string& word : options.tokens) {
    const auto row = find_word(model, word);
    if (!row) return bad_input("--token", "", "a word of the vocabulary, or its id", "'" + word + "'");
    next.asked.push_back({candidate(model, after, *row), 0});
  }
  for (std::vector<NextRow>* rows : {&next.rows, &next.changed, &next.asked})
    for (NextRow& row : *rows) row.before = before(row.word.row);
  if (next.masked && !is_masked(token))
    question.warnings.emplace_back(
        ErrorCode::bad_value,
        "no <mask> in the sentence ([MASK] where the tokenizer has it): its last token is asked for");
  return next;
}

std::string next_text(const Next& next) {
  std::string text = next.classes ? "taken for:\n"
                                  : (next.masked ? "in place of token " : "after token ") + std::to_string(next.query) +
                                        ", " + word_in_table(next.token) + ":\n";
  if (next.edited) text += std::string("after     before    change    ") + (next.classes ? "class\n" : "word\n");
  for (const std::vector<NextRow>* rows : {&next.rows, &next.changed, &next.asked}) {
    if (rows == &next.changed && !rows->empty()) text += "changed most of the others:\n";
    if (rows == &next.asked && !rows->empty() && !next.changed.empty()) text += "asked for:\n";
    for (const NextRow& row : *rows) {
      text += formatted("%.6f ", static_cast<double>(row.word.probability));
      if (next.edited)
        text += formatted(" %.6f  %+.6f ", static_cast<double>(row.before), static_cast<double>(row.difference()));
      text += " " + word_in_table(row.word.text) + "\n";
    }
  }
  return text;
}

Value next_json(const Next& next) {
  const auto row_json = [&](const NextRow& row) {
    Members members{{"id", row.word.id}, {"text", row.word.text}, {"probability", row.word.probability}};
    if (next.edited) members.insert(members.end(), {{"before", row.before}, {"difference", row.difference()}});
    return json_object(members);
  };
  const Value cell =
      json_object({{"query", next.query}, {"token", next.token}, {"what", next.masked ? "in its place" : "after it"}});
  Members members;
  if (!next.classes) members.emplace_back("place", cell);
  members.emplace_back(next.classes ? "classes" : "next_token", json_list(next.rows, row_json));
  if (!next.changed.empty()) members.emplace_back("changed", json_list(next.changed, row_json));
  if (!next.asked.empty()) members.emplace_back("tokens", json_list(next.asked, row_json));
  return json_object(members);
}

Result<Answer> answer(const Question& question, const NextOptions& options) {
  const auto next = TRY(next_of(question, options));
  return question.wants("json") ? Answer(next_json(next)) : Answer(next_text(next));
}

ParsedCommand add_next(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<NextOptions>();
  parser.option("--top", options->top, "The most probable words, 10 by default", "K").within(0, 1e6);
  parser.option("--token", options->tokens, "A further word, or its id; may be repeated").repeated();
  command.take_format({"text", "json"}, "text (default) or json: an object a sentence, a line each");
  return command.answers(SentencesAsked::each,
                         [options](const Question& question) { return answer(question, *options); });
}

}  // namespace

const NamedCommand kNext{"next", "Probabilities of the next word, or of the masked one", R"(
headlight next shipped:decoder --text 我请李雷帮 --top 5 --token 我
headlight next shipped:decoder --text 我请李雷帮 --off 0.1     before and after a head is switched off
headlight next --text '我请李雷帮我<mask>去北京的机票'
A decoder predicts the next word; an encoder the word in place of its mask token (<mask> of the shipped encoder,
[MASK] of BERT), or of the last token where nothing is masked; a classifier of pictures the class.)",
                         add_next};

}  // namespace headlight
