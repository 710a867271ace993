#include "base/within.h"
#include "cli/commands.h"
#include "cli/explain_text.h"
#include "cli/options/against_option.h"
#include "cli/options/format_option.h"
#include "cli/options/head_option.h"
#include "cli/options/request_options.h"
#include "math/forward.h"

namespace headlight {
namespace {

struct ExplainArguments {
  explicit ExplainArguments(Parser& command) : request(command), head(command, true) {}
  RequestOptions request;
  HeadOption head;
  std::string format = "text";
  std::optional<std::string> against;
  CellRef cell;
};

/// The answer to what --against asks; null where it is not given.
Result<std::shared_ptr<const Trace>> other_trace(const ExplainArguments& options, const Asked& asked) {
  if (!options.against) return std::shared_ptr<const Trace>();
  if (asked.requests.size() > 1)
    return bad_input("--against", "", "one sentence to compare", std::to_string(asked.requests.size()));
  const auto answer = answer_of(*options.against, asked.lexicon);
  if (!answer) return answer.error();
  return answer->trace;
}

Status check_cell(const Trace& trace, const HeadRef& head, const CellRef& cell) {
  if (const auto valid = check_head_options(trace, head); !valid) return valid;
  const Mask& mask = *trace.attention(head.stack, head.layer).mask;
  if (const auto valid = check_within("--query", "", cell.query, mask.queries()); !valid) return valid;
  return check_within("--key", "", cell.key, mask.keys());
}

Result<int> run_explain(const ExplainArguments& options) {
  const auto asked = options.request.ask();
  if (!asked) return asked.error();
  const auto parts = options.head.parts();
  if (!parts) return parts.error();
  const HeadRef head = parts->ref();
  const auto before = other_trace(options, *asked);
  if (!before) return before.error();
  std::string text;
  print_warnings(asked->start.warnings);
  for (const Request& request : asked->requests) {
    if (const auto valid = check_stack_option(request, head); !valid) return valid.error();
    Progress progress;
    const auto trace = forward(request, progress, nullptr, options.request.threads());
    if (!trace) return trace.error();
    if (const auto valid = check_cell(**trace, head, options.cell); !valid) return valid.error();
    print_warnings((*trace)->warnings);
    const std::vector<Step> steps = steps_of(**trace, head, options.cell);
    if (options.format == "json") text += explain_json(**trace, steps, before->get());
    else text += (text.empty() ? "" : "\n") + explain_text(**trace, head, options.cell, steps, before->get());
  }
  return print(text);
}

}  // namespace

ParsedCommand add_explain(Parser& program) {
  Parser command = program.command("explain", "Every number behind one weight, step by step");
  command.footer(
      "headlight explain --text 我请李雷帮我订了去北京的机票 --head 0.1 --query 7 --key 4\n"
      "headlight explain --head 0.1 --query 7 --key 4 --against '--text 我请李雷帮我订了去上海的机票'\n"
      "With --format json: [{\"name\", \"shape\", \"value\", \"terms\": [{\"from\", \"value\"}]}], a list a "
      "sentence; a blocked score is the string \"-inf\".");
  auto options = std::make_shared<ExplainArguments>(command);
  command.section("The weight");
  const auto add_place = [&](const char* option, Index& place, const char* help) {
    command.option(option, place, help, "N").required();
  };
  add_place("--query", options->cell.query, "The token that attends, from 0");
  add_place("--key", options->cell.key, "The token that it attends to, from 0");
  command.section();
  command.option("--against", options->against,
                 "Another question, in one string, --against '--text \"a b c\"': of each matrix of the layer the rows "
                 "that differ",
                 "'[SOURCE] [REQUEST]'");
  add_format(command, options->format);
  return [options] { return run_explain(*options); };
}

}  // namespace headlight
