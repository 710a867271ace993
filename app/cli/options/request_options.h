// [SOURCE] [REQUEST]: the options that state the question of every command, and the Document that they make.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/parser.h"
#include "question/question_fields.h"
#include "session/loop/startup.h"

namespace headlight {

/// The start that the options ask for, and its requests.
struct Asked {
  Lexicon lexicon;
  Startup start;
  std::vector<Request> requests;
  std::string source = {};  // as it was given

  const Document& document() const { return start.session.document; }
};

class RequestOptions {
 public:
  /// Adds the options of the table to a command, as the topic kRequestTopic.
  explicit RequestOptions(Parser& command, const QuestionFields& fields = question_fields());

  /// The document that the options ask for, after parsing.
  Result<Startup> start() const { return start(true); }
  /// The same for a window: a checkpoint folder alone is left for the window to open, where its progress is seen.
  Result<Startup> start_of_window() const;
  /// start() without ids and without the text of `--text -`: lines that are read one by one.
  Result<Startup> start_of_lines() const { return start(false); }
  bool reads_standard_input() const {
    return (given("--text") && words_.at("--text").front() == "-") || id_lines() == "-";
  }
  /// What --ids was given.
  std::optional<std::string> id_lines() const {
    return given("--ids") ? std::optional(words_.at("--ids").front()) : std::nullopt;
  }
  /// Whether the sentence chooses its model (document/model_choice.h): no SOURCE and no shape was asked for.
  bool sentence_chooses_model() const { return source_.empty() && uses_shipped_model(); }
  /// start(), and what it asks. Errors also name a weight set by hand that lies outside the sentence.
  Result<Asked> ask() const;
  int threads() const { return threads_; }
  /// SOURCE as it was given, with --as-stored and --adapter behind it (parts_of_source); empty: none.
  std::string source() const;

 private:
  void add(const FieldOption& option);
  GivenOptions given_options(bool reads_text) const;
  Result<Startup> start(bool reads_text) const;
  bool of_arrays(const char* option) const;
  Status check_source_options() const;
  bool given(const char* option) const { return command_.given(option); }
  bool gives_shape() const;
  bool uses_shipped_model() const;
  Result<Startup> opened_source(const GivenOptions& given_words) const;
  Result<Startup> shipped_or_fresh(const GivenOptions& given_words, Startup start) const;
  /// The heads of a file that does not have their number.
  std::optional<Index> num_heads() const;
  /// An Error names the first option with another value than the model that was opened.
  Status check_model(const Document& document, const GivenOptions& given_words) const;
  Status agree(const Document& asked, const Document& there) const;

  Parser command_;
  const QuestionFields& fields_;
  std::string source_;
  std::map<std::string, std::vector<std::string>> words_;  // by option
  std::map<std::string, bool> flags_;
  bool as_stored_ = false;
  std::string part_;
  std::vector<std::string> adapters_;
  std::map<std::string, std::string> numbers_;  // by option: files of numbers
  int threads_ = 0;
};

}  // namespace headlight
