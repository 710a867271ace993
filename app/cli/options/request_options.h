// [SOURCE] [REQUEST]: the options by which every command says what is asked, and the Document they make.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/options/edit_options.h"
#include "cli/options/model_options.h"
#include "cli/options/text_options.h"
#include "session/startup.h"

namespace headlight {

/// The start that the options ask for, and its requests.
struct Asked {
  Lexicon lexicon;
  Startup start;
  std::vector<Request> requests;

  const Document& document() const { return start.session.document; }
};

class RequestOptions {
 public:
  /// Adds the options to a command.
  explicit RequestOptions(Parser& command);

  /// The document that the options ask for, after parsing.
  Result<Startup> start() const { return start(true); }
  /// The same for a window: a checkpoint folder alone is left for the window to open, where its progress is seen.
  Result<Startup> start_of_window() const;
  /// start() without the text of `--text -`, which is left on standard input, to be read line by line.
  Result<Startup> start_of_lines() const { return start(false); }
  bool reads_standard_input() const { return texts_.reads_standard_input(); }
  /// Whether the sentence chooses its model (document/model_choice.h): no SOURCE and no shape was asked for.
  bool sentence_chooses_model() const { return source_.empty() && uses_shipped_model(); }
  /// start(), and what it asks. Errors also name a weight set by hand that lies outside the sentence.
  Result<Asked> ask() const;
  int threads() const { return threads_; }
  /// SOURCE as it was given; empty: none.
  const std::string& source() const { return source_; }

 private:
  Result<Startup> start(bool reads_text) const;
  bool given(const char* option) const { return command_.given(option); }
  bool uses_shipped_model() const;
  Result<Startup> opened_source() const;
  /// An Error names the first option that says something else than the model that was opened.
  Status check_model(const Document& document) const;

  Parser command_;
  std::string source_;
  TextOptions texts_;
  ModelOptions model_;
  std::map<std::string, std::string> numbers_;  // by option: files of numbers
  EditOptions edits_;
  int threads_ = 0;
};

}  // namespace headlight
