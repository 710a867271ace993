// The options of a REQUEST that say what the model reads: text, tokens, ids or a conversation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/parser.h"
#include "document/document.h"

namespace headlight {

class TextOptions {
 public:
  /// Adds the options to a command.
  void add(Parser& command);

  bool reads_standard_input() const { return text_ == "-"; }

  /// Puts what is given into a document that has its model already; `source` is the SOURCE, for messages. Without
  /// `reads_text` the text of `--text -` is left on standard input.
  Status apply(Document& document, const std::string& source, bool reads_text) const;

 private:
  bool given(const char* option) const { return command_->given(option); }
  Status check_text_option(const char* option, const Document& document) const;
  Status apply_text(Document& document, bool reads_text) const;
  Status apply_ids(Document& document, const std::string& source) const;
  Status apply_chat(Document& document, const std::string& source) const;

  std::optional<Parser> command_;
  std::string text_, second_, tokens_, target_, target_tokens_, split_;
  std::vector<std::string> chat_;
  bool chat_open_ = false;
  std::vector<std::int64_t> ids_, decoder_ids_;
  std::vector<int> token_types_;
  std::size_t pad_ = 0;
};

/// Of a document that has its own inputs: what it came from.
std::string inputs_in_words(const Document& document);
/// Where its model is from, as a message names it: of numbers not the numbers.
std::string source_in_words(const Document& document);

}  // namespace headlight
