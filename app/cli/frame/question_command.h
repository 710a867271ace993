// The frame of the commands that ask a question: `headlight COMMAND [SOURCE] [REQUEST] [--format …]`. A command adds
// its options to the parser and gives a function from a question to an Answer; the frame asks, computes and prints.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/frame/commands.h"
#include "cli/frame/values.h"
#include "cli/options/head_option.h"
#include "cli/options/request_options.h"

namespace headlight {

/// What is asked about one sentence, and its trace. Warnings that are added are printed once the command is done.
struct Question {
  const Asked& asked;
  std::shared_ptr<const Trace> trace;
  HeadRef head = {};   // of --layer, --head and --stack, where the command takes them; it exists
  CellRef cell = {};   // of --query and --key, where the command takes them; it exists
  std::string format;  // of --format
  int threads = 0;
  std::vector<Error>& warnings;

  bool wants(std::string_view name) const { return format == name; }
};

using AnswerQuestion = std::function<Result<Answer>(const Question&)>;
using CheckOptions = std::function<Status()>;

/// What is answered: every sentence of the text, in order; the only one, several being an Error; all of them at once,
/// without a trace.
enum class SentencesAsked { each, one, all };

/// Every copy is the same command.
class QuestionCommand {
 public:
  /// Adds the options of a question to the command's parser.
  explicit QuestionCommand(const Parser& parser);

  const RequestOptions& request() const;
  /// Whether an option was given, and its value.
  const Parser& parser() const;

  /// Adds --layer, --head and --stack.
  void take_head(bool required = false) const;
  /// … and --query and --key, all required; where an option may stand in place of the cell, that names both.
  void take_cell(const char* instead = nullptr) const;
  /// Adds --format; the first of the formats is the default.
  void take_format(const std::vector<std::string>& formats, const char* help) const;
  /// The format that was given, or the default one; after parsing.
  const std::string& format() const;

  /// Runs the command. `check` runs before anything is computed.
  ParsedCommand answers(SentencesAsked of, const AnswerQuestion& answer, const CheckOptions& check = {}) const;

  /// The head that was given. Errors: text that is no head, a layer that is missing.
  Result<HeadRef> head() const;
  /// The cell that was given; (0, 0) where the command takes none.
  CellRef cell() const;
  /// An Error names what was given and the answer does not have: the head, the cell.
  Status check_answer(const Trace& trace) const;
  /// The answer to one of the requests; `known`, an earlier answer, is reused where it fits. Its warnings are appended.
  /// Errors also: a head or a cell that it does not have.
  Result<std::shared_ptr<const Trace>> trace_of(const Request& request, std::vector<Error>& warnings,
                                                const Trace* known = nullptr) const;

 private:
  struct State;

  Result<int> run(SentencesAsked of, const AnswerQuestion& answer) const;

  std::shared_ptr<State> state_;
};

}  // namespace headlight
