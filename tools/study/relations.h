// `headlight heads --relations`: the heads of a trained model, measured on held-out sentences.
#pragma once

#include <string>
#include <vector>

#include "cli/options/request_options.h"
#include "train/measure/relations.h"

namespace headlight {

struct RelationArguments {
  bool on = false;
  std::string grammar, by;  // by: layer, or empty
  std::vector<std::string> treebanks;
  RelationOptions wanted = {};
};

/// Adds the options of --relations to a command.
void add_relation_options(Parser& parser, RelationArguments& options);

/// Measures and prints, as text or JSON.
Result<int> run_relations(const RequestOptions& request, RelationArguments options, const std::string& format);

}  // namespace headlight
