// The options that shape a model, one for each field of a Config (model/config_fields.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parser.h"
#include "model/config.h"

namespace headlight {

/// The names of these options, without --random.
std::vector<const char*> model_options();

/// An Error names the first given option whose value in `asked` differs from that of `model`.
Status agree(const Parser& command, const Config& asked, const Config& model);

class ModelOptions {
 public:
  /// Adds the options and --random to a command.
  void add(Parser& command);

  /// Puts the values of the given options into `config`.
  Status take(const Parser& command, Config& config) const;

  /// A Config with the given sizes and seed; its other fields have their defaults.
  const Config& sizes() const { return config_; }

 private:
  Config config_;
  std::map<std::string, std::string> choices_;  // by option: the fields that take a word
  std::map<std::string, bool> flags_;
  std::vector<std::string> bias_;
  bool no_bias_ = false, random_ = false;
};

}  // namespace headlight
