// [SOURCE] [REQUEST]: the options by which every command says what is asked, and the Document they make.
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/cli.h"

namespace headlight {

class RequestOptions {
 public:
  /// Adds the options to a command.
  explicit RequestOptions(CLI::App& command);

  /// The document that the options ask for, after parsing.
  Result<Start> start() const;
  int threads() const { return threads_; }

 private:
  bool given(const char* option) const { return command_.count(option) > 0; }
  Status apply_text(Document& document) const;
  Status apply_model(Config& config) const;
  Status apply_mask(Document& document) const;

  CLI::App& command_;
  std::string source_, text_, tokens_, split_, arch_, position_, norm_, activation_, mask_;
  Config config_;
  bool no_bias_ = false, random_ = false;
  std::size_t pad_ = 0;
  float scale_ = 0;
  int threads_ = 0;
};

}  // namespace headlight
