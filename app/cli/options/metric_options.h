// --metric, --answers and --query: by which number two answers are compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/parser.h"
#include "explain/patch/patch_metric.h"

namespace headlight {

struct MetricOptions {
  std::optional<Metric> metric = {};
  std::vector<std::string> answers;  // RIGHT, or RIGHT and WRONG
  std::optional<Index> query = {};

  bool given() const { return metric || query || !answers.empty(); }
  /// `right` and `wrong` replace the words of --answers. Errors: a word that the model does not have, more than two.
  Result<MetricWanted> wanted(const Model& model, std::optional<Index> right = {},
                              std::optional<Index> wrong = {}) const;
  /// All that is asked for, as a text.
  std::string text() const;
};

void add_metric_options(Parser& parser, MetricOptions& options);

/// --control random:N, and N; 0 where it was not given.
void add_control_option(Parser& parser, std::string& control, const char* help);
Result<Index> draws_of(const std::string& control);

/// The row of the output layer of a word. Errors name the option.
Result<Index> answer_row(const Model& model, const std::string& option, const std::string& word);

}  // namespace headlight
