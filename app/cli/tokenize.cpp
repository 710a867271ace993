#include <cstdio>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/request_options.h"
#include "write/json.h"

namespace headlight {
namespace {

struct Options {
  explicit Options(CLI::App& command) : request(command) {}
  RequestOptions request;
  std::string format = "text";
};

/// A tensors file brings its tokens along.
const Tokens& tokens_of(const Request& request) {
  return request.model && request.model->given ? request.model->given->query_tokens : request.tokens;
}

/// `id  begin  end  token`, a line each, a blank line between sentences.
std::string table(const std::vector<Request>& requests) {
  std::string text;
  for (const Request& request : requests) {
    if (!text.empty()) text += '\n';
    for (const Token& token : tokens_of(request).tokens)
      text += std::to_string(token.id) + '\t' + std::to_string(token.begin) + '\t' + std::to_string(token.end) + '\t' +
              token.text + '\n';
  }
  return text;
}

Result<int> run(const Options& options) {
  const auto lexicon = read_lexicon();
  if (!lexicon) return lexicon.error();
  const auto start = options.request.start();
  if (!start) return start.error();
  const auto requests = requests_of(start->session.document, *lexicon);
  if (!requests) return requests.error();
  std::string text;
  if (options.format == "json")
    for (const Request& request : *requests) text += "{\"tokens\":" + json_tokens(tokens_of(request)) + "}\n";
  else text = table(*requests);
  Output output = Output::to_standard_output();
  output.write(text);
  if (const auto written = output.commit(); !written) return written.error();
  return 0;
}

}  // namespace

Run add_tokenize(CLI::App& program) {
  CLI::App* command = program.add_subcommand("tokenize", "The tokens of a text: id, byte range, token");
  command->footer("headlight tokenize --text 我请李雷帮我订了去北京的机票 --format json");
  auto options = std::make_shared<Options>(*command);
  command->add_option("--format", options->format, "text (default) or json")->check(CLI::IsMember({"text", "json"}));
  return [options] { return run(*options); };
}

}  // namespace headlight
