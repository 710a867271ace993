// --layer, --head and --stack: the head that a command is asked about.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parser.h"
#include "model/trace.h"

namespace headlight {

/// The parts of a head that were given.
struct HeadParts {
  std::optional<Stack> stack = {};
  std::optional<Index> layer = {}, head = {};

  /// Missing parts are 0, and self.
  HeadRef ref() const { return {layer.value_or(0), head.value_or(0), stack.value_or(Stack::self)}; }
};

class HeadOption {
 public:
  /// Adds the three options to a command, in a separate group.
  explicit HeadOption(Parser& command, bool required = false);

  /// `--layer 1 --head 2`, or in one `--head 1.2`, `--head L1.H2`, `--head cross:1.2`. Errors: text that is no head; a
  /// layer or a stack that the options state differently; a missing layer where a head is required.
  Result<HeadParts> parts() const;

 private:
  bool required_;
  std::optional<Index> layer_;
  std::string head_, stack_;
};

/// An Error naming --stack where the question has no such attention.
Status check_stack_option(const Request& request, const HeadRef& head);
/// An Error naming --layer or --head where the answer has no such head.
Status check_head_options(const Trace& trace, const HeadRef& head);

/// `3,7-9`: numbers of tokens or layers, ascending, each once. Below `count`; errors name the option.
Result<std::vector<Index>> numbers_of(const char* option, const std::string& what,
                                      const std::vector<std::string>& texts, Index count);

}  // namespace headlight
