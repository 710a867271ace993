#include "base/within.h"
#include "cli/commands.h"
#include "cli/explain_text.h"
#include "cli/options/format_option.h"
#include "cli/options/head_option.h"
#include "cli/options/request_options.h"
#include "math/forward.h"
#include "model/head_text.h"

namespace headlight {
namespace {

struct ExplainArguments {
  explicit ExplainArguments(CLI::App& command) : request(command), head(command, true) {}
  RequestOptions request;
  HeadOption head;
  std::string format = "text";
  CellRef cell;
};

Status check_cell(const Trace& trace, const HeadRef& head, const CellRef& cell) {
  if (const auto valid = check_within("--layer", "", head.layer, trace.num_layers(head.stack)); !valid) return valid;
  const AttentionTrace& attention = trace.attention(head.stack, head.layer);
  if (const auto valid = check_within("--head", "", head.head, attention.num_heads()); !valid) return valid;
  if (const auto valid = check_within("--query", "", cell.query, attention.mask->queries()); !valid) return valid;
  return check_within("--key", "", cell.key, attention.mask->keys());
}

Result<int> run_explain(const ExplainArguments& options) {
  const auto asked = options.request.ask();
  if (!asked) return asked.error();
  const auto parts = options.head.parts();
  if (!parts) return parts.error();
  const HeadRef head = parts->ref();
  std::string text;
  print_warnings(asked->start.warnings);
  for (const Request& request : asked->requests) {
    if (!has_stack(request, head.stack))
      return bad_input("--stack", "", "self, the only attention of this model", stack_name(head.stack));
    Progress progress;
    const auto trace = forward(request, progress, nullptr, options.request.threads());
    if (!trace) return trace.error();
    if (const auto valid = check_cell(**trace, head, options.cell); !valid) return valid.error();
    print_warnings((*trace)->warnings);
    const std::vector<Step> steps = steps_of(**trace, head, options.cell);
    if (options.format == "json") text += explain_json(**trace, steps);
    else text += (text.empty() ? "" : "\n") + explain_text(**trace, head, options.cell, steps);
  }
  return print(text);
}

}  // namespace

ParsedCommand add_explain(CLI::App& program) {
  CLI::App* command = program.add_subcommand("explain", "Every number behind one weight, step by step");
  command->footer(
      "headlight explain --text 我请李雷帮我订了去北京的机票 --head 0.1 --query 7 --key 4\n"
      "With --format json: [{\"name\", \"shape\", \"value\", \"terms\": [{\"from\", \"value\"}]}], a list a "
      "sentence; a blocked score is the string \"-inf\".");
  auto options = std::make_shared<ExplainArguments>(*command);
  const auto add_place = [&](const char* option, Index& place, const char* help) {
    command->add_option(option, place, help)->required()->type_name("N")->group("The weight");
  };
  add_place("--query", options->cell.query, "The token that attends, from 0");
  add_place("--key", options->cell.key, "The token that it attends to, from 0");
  add_format(*command, options->format);
  return [options] { return run_explain(*options); };
}

}  // namespace headlight
