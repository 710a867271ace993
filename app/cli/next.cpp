#include <algorithm>

#include "base/formatted.h"
#include "cli/commands.h"
#include "cli/options/format_option.h"
#include "cli/options/request_options.h"
#include "math/forward.h"
#include "math/output.h"
#include "write/json.h"
#include "write/number.h"

namespace headlight {
namespace {

struct NextArguments {
  explicit NextArguments(Parser& command) : request(command) {}
  RequestOptions request;
  std::string format = "text";
  Index top = 10;
  std::vector<std::string> tokens;
};

/// A word with its probability, and what that was before the edits.
struct NextRow {
  Candidate word;
  float before = 0;

  float difference() const { return word.probability - before; }
};

/// The answer for one sentence.
struct Answer {
  std::shared_ptr<const Trace> trace;
  bool edited = false;
  std::vector<NextRow> rows = {};     // the most probable first
  std::vector<NextRow> changed = {};  // others that changed most, by |p′ − p|: what was probable before the edits
  std::vector<NextRow> asked = {};    // those that were named, as named
};

Result<std::shared_ptr<const Trace>> compute(const Request& request, const Trace* previous, int threads) {
  Progress progress;
  auto trace = forward(request, progress, previous, threads);
  if (!trace) return trace;
  if (const auto valid = check_has_logits(**trace, "next"); !valid) return valid.error();
  return trace;
}

Result<Answer> answer(const Request& request, const NextArguments& options) {
  const auto trace = compute(request, nullptr, options.request.threads());
  if (!trace) return trace.error();
  Answer result{*trace};
  const Model& model = *result.trace->model;
  const Vector after = probabilities(result.trace->logits);
  Vector before = after;
  if (const Request plain = unedited(request); !(plain == request)) {
    const auto baseline = compute(plain, result.trace.get(), options.request.threads());
    if (!baseline) return baseline.error();
    before = probabilities((*baseline)->logits);
    result.edited = true;
  }
  for (Candidate& word : most_probable(model, after, options.top)) result.rows.push_back({std::move(word), 0});
  for (const Index row : most_changed(model, before, after, options.top))
    if (std::none_of(result.rows.begin(), result.rows.end(), [&](const NextRow& one) { return one.word.row == row; }))
      result.changed.push_back({candidate(model, after, row), 0});
  for (const std::string& token : options.tokens) {
    const auto row = find_word(model, token);
    if (!row) return bad_input("--token", "", "a word of the vocabulary, or its id", "'" + token + "'");
    result.asked.push_back({candidate(model, after, *row), 0});
  }
  for (std::vector<NextRow>* rows : {&result.rows, &result.changed, &result.asked})
    for (NextRow& row : *rows) row.before = before(row.word.row);
  return result;
}

bool is_masked_word(const Answer& answer) { return answer.trace->request.config.arch == Arch::encoder; }

const Token& place_of(const Answer& answer) {
  return answer.trace->query_tokens().tokens[static_cast<std::size_t>(answer.trace->answering)];
}

std::string text_of(const Answer& answer) {
  const std::string at = std::to_string(answer.trace->answering);
  std::string text = is_masked_word(answer) ? "in place of token " + at + ", " : "after token " + at + ", ";
  text += word_in_table(place_of(answer).text) + ":\n";
  if (answer.edited) text += "after     before    change    word\n";
  for (const std::vector<NextRow>* rows : {&answer.rows, &answer.changed, &answer.asked}) {
    if (rows == &answer.changed && !rows->empty()) text += "changed most of the others:\n";
    if (rows == &answer.asked && !rows->empty() && !answer.changed.empty()) text += "asked for:\n";
    for (const NextRow& row : *rows) {
      text += formatted("%.6f ", static_cast<double>(row.word.probability));
      if (answer.edited)
        text += formatted(" %.6f  %+.6f ", static_cast<double>(row.before), static_cast<double>(row.difference()));
      text += " " + word_in_table(row.word.text) + "\n";
    }
  }
  return text;
}

std::string json_rows(const std::vector<NextRow>& rows, bool edited) {
  std::string list = "[";
  for (const NextRow& row : rows) {
    if (list.size() > 1) list += ',';
    list += "{\"id\":" + std::to_string(row.word.id) + ",\"text\":" + json_string(row.word.text) + ",\"probability\":";
    append_number(list, row.word.probability);
    if (edited) {
      append_number(list += ",\"before\":", row.before);
      append_number(list += ",\"difference\":", row.difference());
    }
    list += '}';
  }
  return list + "]";
}

/// One object, one line.
std::string json_of(const Answer& answer) {
  std::string object = "{\"place\":{\"query\":" + std::to_string(answer.trace->answering) +
                       ",\"token\":" + json_string(place_of(answer).text) +
                       ",\"what\":" + (is_masked_word(answer) ? "\"in its place\"" : "\"after it\"") + "}" +
                       ",\"next_token\":" + json_rows(answer.rows, answer.edited);
  if (!answer.changed.empty()) object += ",\"changed\":" + json_rows(answer.changed, true);
  if (!answer.asked.empty()) object += ",\"tokens\":" + json_rows(answer.asked, answer.edited);
  return object + "}\n";
}

Result<int> run_next(const NextArguments& options) {
  const auto asked = options.request.ask();
  if (!asked) return asked.error();
  std::string text;
  std::vector<std::string> warnings = asked->start.warnings;
  for (const Request& request : asked->requests) {
    const auto answered = answer(request, options);
    if (!answered) return answered.error();
    warnings.insert(warnings.end(), answered->trace->warnings.begin(), answered->trace->warnings.end());
    if (is_masked_word(*answered) && !is_masked(place_of(*answered)))
      warnings.push_back("no <mask> in the sentence ([MASK] where the tokenizer has it): its last token is asked for");
    if (options.format == "json") text += json_of(*answered);
    else text += (text.empty() ? "" : "\n") + text_of(*answered);
  }
  if (const auto printed = print(text); !printed) return printed;
  print_warnings(warnings);
  return 0;
}

}  // namespace

ParsedCommand add_next(Parser& program) {
  Parser command = program.command("next", "Probabilities of the next word, or of the masked one");
  command.footer(
      "headlight next shipped:decoder --text 我请李雷帮 --top 5 --token 我\n"
      "headlight next shipped:decoder --text 我请李雷帮 --off 0.1     before and after a head is switched off\n"
      "headlight next --text '我请李雷帮我<mask>去北京的机票'\n"
      "A decoder predicts the next word; an encoder the word in place of its mask token (<mask> of the shipped "
      "encoder,\n"
      "[MASK] of BERT), or of the last token where nothing is masked.");
  auto options = std::make_shared<NextArguments>(command);
  command.option("--top", options->top, "The most probable words, 10 by default", "K").within(0, 1000000);
  command.option("--token", options->tokens, "A further word, or its id; may be repeated").repeated();
  add_format(command, options->format, "text (default) or json: an object a sentence, a line each");
  return [options] { return run_next(*options); };
}

}  // namespace headlight
